// Whatever text comes in, a function of the core answers with the JSON that api.h promises. One executable per function
// (tests/CMakeLists.txt):
//   cmake --preset fuzz && cmake --build --preset fuzz
//   mkdir -p build/corpus/estimate
//   build/fuzz/tests/fuzz_estimate -max_total_time=180 -max_len=4096 build/corpus/estimate tests/fuzz/corpus/estimate
// read_measurement is read_links with the bytes as they come for its "text"; tests/links holds its seeds.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>

#include "../answer_schema.h"
#include "api.h"

namespace {

using namespace fourfold::api;

[[maybe_unused]] std::string answer(const std::string& text) { return text; }
[[maybe_unused]] std::string answer(const SearchAnswer& search) { return search.summary; }

[[maybe_unused]] std::string read_measurement(std::string_view text) {
    for (const char* unit : {"auto", "gbyte_per_s"}) {
        const fourfold::Json request = {{"text", text}, {"unit", unit}};
        std::string read = read_links(request.dump(-1, ' ', false, fourfold::Json::error_handler_t::replace));
        if (read.find("\"ok\":true") != std::string::npos || unit[0] == 'g') return read;
    }
    return "";
}

// Ten billion moves may be asked for; the search ends when it asks for the third time.
[[maybe_unused]] bool twice(void* asked, const std::string&) { return ++*static_cast<int*>(asked) < 3; }

template <class Function>
auto call(Function function, std::string_view text) {
    if constexpr (std::is_invocable_v<Function, std::string_view>) {
        return function(text);
    } else {
        int asked = 0;
        return function(text, &twice, &asked, LinkColumns{});
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::string defect = fourfold::tests::answer_defect(answer(call(&FOURFOLD_FUNCTION, text)), FOURFOLD_SHAPE);
    if (!defect.empty()) {
        std::fprintf(stderr, "%s\n", defect.c_str());
        std::abort();
    }
    return 0;
}
