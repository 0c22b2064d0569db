// Rewrites golden files with what the native build answers now; the diff says what moved.
//   cmake --build --preset release --target fourfold_goldens && build/release/tests/fourfold_goldens tests/golden/*.json
#include <cstdio>
#include <fstream>
#include <sstream>

#include "golden/answer.h"

int main(int count, char** paths) {
    using fourfold::Json;
    for (int i = 1; i < count; ++i) {
        std::stringstream text;
        text << std::ifstream(paths[i]).rdbuf();
        Json golden = Json::parse(text.str(), nullptr, false);
        if (!golden.is_object() || !golden.contains("function") || !golden.contains("request")) {
            std::fprintf(stderr, "%s: a golden is {\"function\": …, \"request\": …}\n", paths[i]);
            return 1;
        }
        const Json answer = fourfold::golden_answer(golden);
        golden["response"] = answer["response"];
        if (!answer["columns"].is_null()) golden["columns"] = answer["columns"];
        std::ofstream(paths[i]) << golden.dump(1) << '\n';
    }
}
