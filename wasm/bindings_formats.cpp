// The face of the second module: what api.h reads of the configurations of others, and of what runs and other tools printed.
#include <emscripten/bind.h>

#include "api.h"

EMSCRIPTEN_BINDINGS(fourfold_formats) {
    emscripten::function("import_plan",
                         emscripten::optional_override([](const std::string& request) { return fourfold::api::import_plan(request); }));
    emscripten::function("export_plan",
                         emscripten::optional_override([](const std::string& request) { return fourfold::api::export_plan(request); }));
    emscripten::function("find_models",
                         emscripten::optional_override([](const std::string& request) { return fourfold::api::find_models(request); }));
    emscripten::function("read_run",
                         emscripten::optional_override([](const std::string& request) { return fourfold::api::read_run(request); }));
    emscripten::function("read_links",
                         emscripten::optional_override([](const std::string& request) { return fourfold::api::read_links(request); }));
}
