// What the other programs would refuse is not written for them, and what they can say in words of their own is.
#include <string>

#include "formats/formats.h"
#include "settings.h"

using namespace fourfold;
using tests::json;

namespace {

// A job that is complete: Llama 3.1 8B on 16 GPUs, with `changes`, written in `format`.
Json written_job(const char* format, const char* changes, const char* release = "") {
    Json request = json(
        R"({"model": "llama-3.1-8b", "gpus": 16, "sequence_length": 8192, "global_batch": 64, "micro_batch": 1, "tensor_parallel": 2,
            "pipeline_parallel": 1, "context_parallel": 1, "virtual_stages": 1, "schedule": "1f1b", "layout": "equal", "zero": "optimizer",
            "recompute": "none", "recompute_layers": 1, "moments": "fp32", "sequence_parallel": true, "expert_parallel": 1,
            "expert_tensor_parallel": 1})");
    request.update(json(changes));
    Json whole = json(api::estimate(request.dump()));
    REQUIRE_MESSAGE(whole["ok"] == true, whole.dump());
    whole = whole["job"];
    whole["format"] = format;
    if (*release != 0) whole["release"] = release;
    const Json answer = json(api::export_plan(whole.dump()));
    CHECK(tests::answer_defect(answer, "export_plan") == "");
    REQUIRE_MESSAGE(answer["ok"] == true, answer.dump());
    return answer;
}
bool writes(const Json& answer, const char* part) { return answer["text"].get<std::string>().find(part) != std::string::npos; }
bool lists(const Json& answer, const char* part) { return answer["left_out"].dump().find(part) != std::string::npos; }

}  // namespace

TEST_CASE("Megatron-LM: experts and fp16, biases, gates and recordings") {
    const auto experts = [](const char* changes, const char* release = "") {
        Json job = json(R"({"model": "mixtral-8x7b", "expert_parallel": 4})");
        job.update(json(changes));
        return written_job("megatron", job.dump().c_str(), release);
    };
    const Json half = experts(R"({"precision": "fp16"})");
    CHECK((writes(half, "--bf16\n") && !writes(half, "--fp16") && lists(half, "choice.precision.fp16")));
    const Json alone = experts(R"({"precision": "fp16", "expert_parallel": 1, "grouped_gemm": "off"})");
    CHECK((writes(alone, "--fp16\n") && !lists(alone, "field.precision")));
    const Json step = experts(R"({"cuda_graphs": "step"})");
    CHECK((!writes(step, "cuda-graph") && lists(step, "choice.cuda_graphs.step")));
    CHECK(writes(experts(R"({"cuda_graphs": "layers"})"), "--cuda-graph-scope attn moe_router moe_preprocess\n"));
    const char* split = R"({"model": "gpt-oss-20b", "expert_tensor_parallel": 2, "expert_parallel": 2})";
    CHECK((writes(experts(split), "--disable-bias-linear\n") && lists(experts(split), "export.left_out.biases")));
    const char* gated = R"({"model": "qwen3.5-35b-a3b"})";
    CHECK(writes(experts(gated), "--moe-shared-expert-gate\n"));
    CHECK(lists(experts(gated, "0.15"), "\"--moe-shared-expert-gate\""));
    CHECK(lists(experts(R"({"model": "deepseek-v3", "gpus": 64, "expert_parallel": 16})", "0.10"), "--moe-router-enable-expert-bias"));
}

TEST_CASE("before Megatron-LM had FSDP, the optimizer's state at least is shared out") {
    const Json older = written_job("megatron", R"({"zero": "weights"})", "0.11");
    CHECK((writes(older, "--use-distributed-optimizer\n") && writes(older, "--overlap-param-gather\n") && lists(older, "field.zero")));
}
