// Whatever text comes in, a function of the core answers with the JSON that api.h promises. One executable per function
// (tests/CMakeLists.txt):
//   cmake --preset fuzz && cmake --build --preset fuzz
//   mkdir -p build/corpus/estimate
//   build/fuzz/tests/fuzz_estimate -max_total_time=180 -max_len=4096 build/corpus/estimate tests/fuzz/corpus/estimate
#include <cstdio>
#include <cstdlib>
#include <string>

#include "../answer_schema.h"
#include "api.h"

namespace {

[[maybe_unused]] std::string answer(const std::string& text) { return text; }
[[maybe_unused]] std::string answer(const fourfold::api::SearchAnswer& search) { return search.summary; }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::string defect = fourfold::tests::answer_defect(answer(fourfold::api::FOURFOLD_FUNCTION(text)), FOURFOLD_SHAPE);
    if (!defect.empty()) {
        std::fprintf(stderr, "%s\n", defect.c_str());
        std::abort();
    }
    return 0;
}
