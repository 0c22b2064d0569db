// Whatever the framework, the model and the options: a formula shown with its symbols gives the number shown, and nothing is listed twice.
#include <doctest/doctest.h>

#include <set>

#include "api.h"
#include "base/formula_reader.h"

namespace fourfold {

static void check_shown_formulas(const Json& answer) {
    REQUIRE(answer["ok"] == true);
    std::set<std::string> ids;
    const auto check = [&](const Json& item, const char* amount) {
        CAPTURE(item["id"].get<std::string>());
        CHECK(tests::formula_defect(item[amount], item["formula"], item["numbers"], item["where"]) == "");
        CHECK(ids.insert(item["id"].get<std::string>()).second);
    };
    for (const Json& group : answer["groups"])
        for (const Json& item : group["items"]) check(item, "bytes");
    ids.clear();
    for (const Json& item : answer["time"]["items"]) check(item, "seconds");
}

TEST_CASE("formulas: every framework's give the numbers beside them") {
    const Json catalog = Json::parse(api::catalog(false));
    for (const Json& field : catalog["fields"]) {
        if (field["key"] != "framework") continue;
        for (const Json& framework : field["choices"])
            for (const char* job : {
                     R"({"model": "llama-3.1-8b", "gpu": "b200-sxm-180gb", "gpus": 4, "global_batch": 64})",
                     R"({"model": "qwen3-14b", "gpu": "h100-sxm-80gb", "gpus": 16, "trained": "lora", "global_batch": 32})",
                     R"({"model": "deepseek-v2-lite", "gpu": "gb200-186gb", "gpus": 16, "trained": "lora", "global_batch": 64})",
                     R"({"model": "glm-4.5", "gpu": "h20-sxm-96gb", "gpus": 64, "global_batch": 128, "sequence_length": 4096})",
                     R"({"model": "qwen3.5-35b-a3b", "gpu": "h200-sxm-141gb", "gpus": 64, "global_batch": 128})",
                     R"({"model": "qwen3.5-35b-a3b", "gpu": "h200-sxm-141gb", "gpus": 64, "global_batch": 16, "context_parallel": 4,
                         "context_parallel_kind": "all_to_all"})",
                     R"({"model": "falcon-40b", "gpu": "h200-sxm-141gb", "gpus": 128, "global_batch": 2048, "sequence_length": 2048,
                         "zero": "none"})",
                 }) {
                Json request = Json::parse(job);
                request["framework"] = framework["id"];
                CAPTURE(request.dump());
                check_shown_formulas(Json::parse(api::estimate(request.dump())));
            }
    }
}

}  // namespace fourfold
