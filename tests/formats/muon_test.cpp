// Arguments of Megatron-LM that are not those of a usual plan: Muon by release, and every degree.
#include <doctest/doctest.h>

#include <string>

#include "api.h"
#include "contract.h"

using namespace fourfold;

// Llama 3.1 8B on 16 GPUs, with `job` of its plan, as a script.
static Json script_of(const char* job, const Json& asked) {
    Json request = json(R"({"model": "llama-3.1-8b", "gpus": 16, "global_batch": 64, "micro_batch": 1, "tensor_parallel": 2,
                            "pipeline_parallel": 2, "context_parallel": 1, "virtual_stages": 1, "schedule": "1f1b", "layout": "equal",
                            "zero": "optimizer", "recompute": "none", "moments": "fp32", "sequence_parallel": true})");
    request.update(json(job));
    Json whole = json(api::estimate(request.dump()))["job"];
    whole.update(asked);
    Json answer = json(api::export_plan(whole.dump()));
    REQUIRE_MESSAGE(answer["ok"] == true, answer.dump());
    return answer;
}
static bool has_line(const Json& answer, const std::string& line) {
    return answer["text"].get<std::string>().find("    " + line + "\n") != std::string::npos;
}

TEST_CASE("the whole plan, for a script of which half is here: degrees of 1 too") {
    const char* const one = R"({"tensor_parallel": 1, "pipeline_parallel": 1, "sequence_parallel": false})";
    CHECK(!has_line(script_of(one, Json::object()), "--tensor-model-parallel-size 1"));
    const Json whole = script_of(one, {{"whole", true}});
    for (const char* degree : {"tensor-model", "pipeline-model", "context"})
        CHECK(has_line(whole, std::string("--") + degree + "-parallel-size 1"));
    for (const char* none : {"expert", "virtual"}) CHECK(whole["text"].get<std::string>().find(none) == std::string::npos);
    CHECK(has_line(script_of("{}", {{"whole", true}}), "--num-virtual-stages-per-pipeline-rank 1"));
}

TEST_CASE("Muon: since 0.16, where nothing overlaps; its state is shared out under another name before 0.19") {
    const auto of = [](const char* release, const std::string& zero = "optimizer") {
        return script_of(("{\"optimizer\": \"muon\", \"zero\": \"" + zero + "\"}").c_str(), {{"release", release}});
    };
    const auto says = [](const Json& answer, const char* part) {
        return answer["text"].get<std::string>().find(part) != std::string::npos;
    };
    const Json newest = of("0.19"), older = of("0.17"), oldest = of("0.16");
    for (const char* line : {"--optimizer muon", "--use-distributed-optimizer", "--overlap-grad-reduce", "--overlap-param-gather"})
        CHECK(has_line(newest, line));
    CHECK((newest["needs"]["args"]["version"] == "0.19" && older["needs"]["args"]["version"] == "0.16"));
    CHECK((has_line(older, "--optimizer dist_muon") && has_line(older, "--overlap-grad-reduce") && !says(older, "--use-distributed")));
    CHECK((has_line(oldest, "--optimizer dist_muon") && !says(oldest, "overlap")));
    CHECK(oldest["left_out"].dump().find("field.overlap_gradients") != std::string::npos);
    CHECK(has_line(of("0.16", "none"), "--optimizer muon"));
    CHECK(!says(of("0.15"), "muon"));
    CHECK(of("0.15")["left_out"].dump().find("--optimizer muon") != std::string::npos);
    CHECK(of("0.19", "weights")["left_out"].dump().find("field.zero") != std::string::npos);
}
