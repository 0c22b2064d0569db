// Whatever text comes in, import_config() answers with the JSON that api.h promises. Build and run on one core for three minutes:
//   cmake --preset fuzz && cmake --build --preset fuzz
//   mkdir -p build/corpus/import_config
//   build/fuzz/tests/fuzz_import_config -max_total_time=180 -max_len=4096 build/corpus/import_config tests/fuzz/corpus/import_config
#include <cstdio>
#include <cstdlib>

#include "../answer_schema.h"
#include "api.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::string answer = fourfold::api::import_config(text);
    const std::string defect = fourfold::tests::answer_defect(answer, "model");
    if (!defect.empty()) {
        std::fprintf(stderr, "%s\n", defect.c_str());
        std::abort();
    }
    return 0;
}
