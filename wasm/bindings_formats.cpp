// The face of the second module: what api.h reads of the configurations of others.
#include <emscripten/bind.h>

#include "api.h"

EMSCRIPTEN_BINDINGS(fourfold_formats) {
    emscripten::function("import_plan",
                         emscripten::optional_override([](const std::string& request) { return fourfold::api::import_plan(request); }));
}
