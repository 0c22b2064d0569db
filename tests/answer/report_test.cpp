// What an estimate says beside its numbers: notes, the fullest stage, the basis of its band, a calibration that cannot be.
#include <doctest/doctest.h>

#include "api.h"
#include "base/formula_reader.h"
#include "contract.h"
#include "near.h"

using namespace fourfold;
using tests::json;
using tests::near;
using tests::said;

namespace {

Json estimate(const std::string& request) {
    const std::string answer = api::estimate(request);
    CHECK(tests::answer_defect(answer, "estimate") == "");
    return json(answer);
}

// Of the request's answer, one text behind the other; what is assumed comes with the field that changes it.
std::string notes(const char* which, const std::string& request) {
    std::string all;
    const Json answer = estimate(request);
    for (const Json& note : tests::at(answer, which)) {
        if (!all.empty()) all += ", ";
        all += note.contains("text") ? said(note["text"]) + " <- " + note["field"].get<std::string>() : said(note);
    }
    return all;
}

}  // namespace

TEST_CASE("estimate: what was taken from the request") {
    CHECK(notes("used", R"({"pipeline_parallel": 1, "recompute": "none", "moments": "fp32", "zero": "optimizer"})") ==
          "used.zero.optimizer, used.gradients.fp32, used.recompute.none");
    CHECK(notes("used", R"({"model": "llama-3.1-70b", "gpus": 64, "pipeline_parallel": 4, "virtual_stages": 5, "layout": "equal",
                            "schedule": "1f1b", "recompute": "selective", "recompute_modules": "core_attn,mlp", "moments": "16-bit",
                            "gradients_in_fp32": false, "zero": "none"})") ==
          R"(used.zero.none, used.moments {"format":{"id":"choice.moments.16-bit"}}, used.gradients.16_bit, )"
          R"(used.schedule {"chunks":5,"schedule":{"id":"choice.schedule.interleaved"},)"
          R"("summary":{"id":"choice.schedule.interleaved.summary"}}, )"
          R"(used.recompute.selective {"modules":[{"id":"choice.recompute_modules.core_attn"},{"id":"choice.recompute_modules.mlp"}]})");
    const auto recomputes = [](const std::string& setting) {
        return notes("used", R"({"framework": "pytorch", "zero": "weights", "pipeline_parallel": 1, "recompute": )" + setting + "}");
    };
    const std::string before = "used.zero.weights, used.gradients.fp32, ";
    CHECK(recomputes(R"("full", "recompute_layers": 2)") == before + R"(used.recompute.full {"layers":2})");
    CHECK(recomputes(R"("block", "recompute_layers": 3)") == before + R"(used.recompute.block {"layers":3})");
    CHECK(recomputes(R"("selective", "recompute_modules": "")") == before + "used.recompute.nothing_selected");
}

TEST_CASE("estimate: a calibration is said, and so is one that no card can reach") {
    const std::string request = R"({"site": "own", "site_network": 0.5, "site_pipeline": 0.25, "site_fixed": 0.1, "site_stall": 0.002,
                                    "time_factor": 0.2, "pipeline_parallel": 1})";
    CHECK(notes("used", request)
              .ends_with(R"(used.calibration.site {"fixed":0.1,"network":0.5,"pipeline":0.25,"stall":0.002}, )"
                         R"(used.calibration.factor {"factor":0.2})"));
    const Json own = estimate(request);
    CHECK(said(own["time"]["basis"]) == R"(band.calibrated {"runs":120})");
    CHECK(said(estimate("{}")["time"]["basis"]) == R"(band.hopper {"runs":120})");
    CHECK(tests::brief(own["warnings"]) == "time_factor faster_than_peak 0.2 -> null");
    if (own["warnings"].empty()) return;
    const Json& warning = own["warnings"][0];
    CHECK(warning["message"]["id"] == "problem.faster_than_peak");
    CHECK(warning["message"]["args"]["step"] == own["step_seconds"]);
    CHECK(warning["message"]["args"]["arithmetic"] > own["step_seconds"]);
    CHECK(said(warning["suggestion"]) == "suggestion.check_calibration");
}

TEST_CASE("estimate: what is assumed, and which field changes it") {
    CHECK(notes("assumed", R"({"tensor_parallel": 2, "pipeline_parallel": 1, "sequence_parallel": true})") ==
          R"(assumed.precision {"precision":{"id":"choice.precision.bf16"}} <- precision, assumed.card <- , )"
          R"(assumed.sequence_parallel <- sequence_parallel, )"
          R"(assumed.framework {"framework":{"id":"choice.framework.megatron-2025"}} <- framework, )"
          R"(assumed.no_sharding <- zero, assumed.attention.cudnn <- attention, assumed.loss.plain {"bytes":6.0} <- loss)");
    CHECK(notes("assumed", R"({"model": "gpt-oss-20b", "framework": "transformers", "trained": "lora", "frozen_weights": "nf4"})")
              .find("assumed.packed_experts <- frozen_weights") != std::string::npos);
    CHECK(notes("assumed", R"({"model": "qwen3.5-27b", "gpus": 64})").find("assumed.linear_attention <- framework") != std::string::npos);
    CHECK(notes("assumed", R"({"model": "mixtral-8x7b", "gpus": 64, "expert_imbalance": 1.5})")
              .ends_with(R"(, assumed.routing.uneven {"times":1.5} <- expert_imbalance)"));
    CHECK(notes("assumed", R"({"method": "fujii2024", "model": "llama-2-7b", "tensor_parallel": 8, "attention": "plain"})") ==
          R"(assumed.precision_bf16 <- , assumed.card <- , assumed.sequence_parallel <- tensor_parallel, )"
          R"(assumed.vocabulary {"padded":32768,"words":32000} <- tensor_parallel, )"
          R"(assumed.scores_kept <- attention, assumed.no_full_recomputation <- )");
}

TEST_CASE("estimate: what is not counted") {
    CHECK(notes("not_counted", "{}") == "not_counted.data");
    CHECK(notes("not_counted", R"({"method": "fujii2024", "model": "llama-2-7b", "pipeline_parallel": 2, "gpus": 48,
                                   "global_batch": 96, "layout": "equal", "virtual_stages": 1, "schedule": "gpipe", "recompute": "full",
                                   "zero": "none", "optimizer_offload": 0.5, "precision": "fp8"})") ==
          "not_counted.last_stage, not_counted.outside, "
          "not_counted.recompute, not_counted.precision, not_counted.moments, not_counted.schedule");
    for (const char* method : {"detailed", "fujii2024"}) {
        const auto with = [&](const char* mask) {
            return notes("not_counted", R"({"method": ")" + std::string(method) + R"(", "attention_mask": ")" + mask + R"("})");
        };
        CHECK((with("on").find("not_counted.habits") != std::string::npos) == (std::string_view(method) == "fujii2024"));
        CHECK(with("auto").find("not_counted.habits") == std::string::npos);
    }
    for (const char* newer : {R"("trained": "lora")", R"("optimizer": "muon")", R"("activation_offload": 0.5)",
                              R"("feed_forward_tiles": 2)", R"("context_parallel": 2, "context_parallel_kind": "all_to_all")"})
        for (const char* method : {"detailed", "fujii2024"}) {
            const std::string said = notes("not_counted", R"({"gpus": 8, "method": ")" + std::string(method) + R"(", )" + newer + "}");
            CHECK((said.find("not_counted.newer") != std::string::npos) == (std::string_view(method) == "fujii2024"));
        }
}

TEST_CASE("estimate: why a stage is the fullest") {
    const auto why = [](const std::string& settings) {
        return said(estimate(R"({"model": "llama-3.1-70b", "gpus": 64, "tensor_parallel": 8, "context_parallel": 1, "micro_batch": 1, )" +
                             settings + "}")["worst_why"]);
    };
    CHECK(why(R"("pipeline_parallel": 1)") == "");
    CHECK(why(R"("pipeline_parallel": 4)") == R"(fullest.activations {"stage":1})");
    CHECK(why(R"("pipeline_parallel": 4, "recompute": "full", "loss": "gathered")") == R"(fullest.loss {"stage":4})");
}

TEST_CASE("a rack's trays are no nodes: the answer says so, and what fills its NVLink domain evenly") {
    const auto told = [](const char* more) {
        Json request = json(R"({"model": "llama-3.1-8b", "gpu": "gb200-186gb", "gpus": 256, "global_batch": 256})");
        request.update(json(more));
        const Json answer = estimate(request.dump());
        for (const Json& warning : answer["warnings"])
            if (warning["rule"] == "nvlink_domain") return warning["value"].dump() + " -> " + warning["nearest"].dump();
        return std::string();
    };
    CHECK(told(R"({"gpus_per_node": 4})") == "4 -> 64");
    CHECK(told(R"({"gpus_per_node": 4, "gpus": 144, "global_batch": 144})") == "4 -> 72");
    CHECK(told(R"({"gpus_per_node": 64})").empty());
    CHECK(told(R"({"gpus_per_node": 4, "gpus": 4})").empty());  // one tray
    CHECK(told("{}").empty());
    CHECK(told(R"({"gpu": "h100-sxm-80gb", "gpus_per_node": 4})").empty());
}

TEST_CASE(
    "estimate: what the time goes into sums to the step where pairs hide traffic, of layers computed again and before a slow CPU too") {
    for (const char* schedule : {"dualpipe", "dualpipev"})
        for (const char* framework : {"hai-llm", "nanotron"})
            for (const char* recompute : {"none", "full", "block"})
                for (const char* model : {"deepseek-v2-lite", "qwen2.5-32b"}) {
                    Json job = json(R"({"gpu": "h100-sxm-80gb", "gpus": 16, "sequence_length": 4096, "global_batch": 64, "micro_batch": 1,
                        "tensor_parallel": 4, "context_parallel": 1, "pipeline_parallel": 2, "explain": false})");
                    job["schedule"] = schedule, job["framework"] = framework, job["recompute"] = recompute, job["model"] = model;
                    CAPTURE(job.dump());
                    const Json time = json(api::estimate(job.dump()))["time"];
                    double sum = 0;
                    for (const Json& item : time["items"]) sum += item["seconds"].get<double>();
                    CHECK(sum == near(time["step_seconds"].get<double>(), 1e-9));
                }
}

TEST_CASE("host: its numbers and its verdict are of the stage that offloads most, whichever stage is shown") {
    Json job = json(R"({"model": "gemma-3-12b", "gpu": "gh200-96gb", "gpus": 16, "tensor_parallel": 2, "pipeline_parallel": 2,
        "context_parallel": 1, "micro_batch": 1, "layout": "Et*26|t*22L", "recompute": "none", "zero": "optimizer", "activation_offload": 1})");
    for (const char* stage : {"\"auto\"", "0", "1"}) {
        job["stage"] = json(stage);
        const Json answer = estimate(job.dump());
        CHECK(answer["worst_stage"] == 1);  // the second stage holds more on the GPU, the first one more on the host
        const Json& host = answer["host"];
        CHECK(host["bytes_per_node"] == host["verdict"]["args"]["need"]);
        CHECK(host["bytes_per_node"] == 4 * host["bytes_per_gpu"].get<double>());
        CHECK(host["bytes_per_gpu"].get<double>() > 30 * 1024.0 * 1024 * 1024);
        CHECK(tests::formula_defect(host["bytes_per_gpu"], host["formula"], host["numbers"], host["where"]) == "");
    }
}
