// What more of something cannot do, of jobs in which it did.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "api.h"
#include "near.h"

using namespace fourfold;
using tests::json;

namespace {

double step(Json job, const char* key, const Json& value) {
    job[key] = value;
    const Json answer = json(api::estimate(job.dump()));
    REQUIRE(answer["ok"] == true);
    return answer["step_seconds"];
}

}  // namespace

TEST_CASE("laws: gradients that are sent during the backward pass do not take longer than those sent after it") {
    const Json job = json(R"({"model": "gpt-oss-20b", "gpu": "a100-pcie-80gb", "gpus": 256, "sequence_length": 1024, "global_batch": 512,
        "framework": "litgpt", "tensor_parallel": 1, "context_parallel": 1, "pipeline_parallel": 1, "expert_parallel": 1, "micro_batch": 1,
        "zero": "optimizer", "recompute": "full"})");
    CHECK(step(job, "overlap_gradients", true) <= step(job, "overlap_gradients", false));
}

TEST_CASE("laws: traffic that pairs hide does not hide the CPU's time") {
    Json job =
        json(R"({"model": "gpt-oss-120b", "gpu": "mi355x-288gb", "global_batch": 256, "sequence_length": 2048, "framework": "pytorch",
        "expert_parallel": 4, "tensor_parallel": 4, "pipeline_parallel": 2, "context_parallel": 1, "micro_batch": 1, "schedule": "dualpipev",
        "virtual_stages": 2, "recompute": "full", "zero": "optimizer", "layout": "equal"})");
    CHECK(step(job, "expert_imbalance", 2) >= step(job, "expert_imbalance", 1));
    const Json slow = {{"name", "x"}, {"base", "mi355x-288gb"}, {"link_gbyte_per_s", 268.5}},
               fast = {{"name", "x"}, {"base", "mi355x-288gb"}};
    CHECK(step(job, "gpu", slow) >= step(job, "gpu", fast));
    job["framework"] = "nanotron";  // here it runs ahead of the GPU
    CHECK(step(job, "gpu", slow) >= step(job, "gpu", fast));
}

TEST_CASE("laws: slower element-wise work never makes slices of tokens faster") {
    const Json job = json(R"({"model": "qwen3.5-397b-a17b", "gpu": "h200-sxm-141gb", "gpus": 1024, "global_batch": 128,
        "framework": "nanotron", "precision": "fp16", "layout": "weights", "expert_parallel": 8, "tensor_parallel": 2, "context_parallel": 1,
        "pipeline_parallel": 16, "micro_batch": 4, "token_slices": 4, "recompute": "none", "zero": "optimizer"})");
    CHECK(step(job, "time_element", 1.5) >= step(job, "time_element", 1));
}

TEST_CASE("laws: where activations wait on the host, more memory never makes the fastest plan slower") {
    Json job = json(R"({"model": "phi-3-medium", "gpu": "b200-sxm-180gb", "gpus": 16, "global_batch": 256, "sequence_length": 4096,
        "activation_offload": 0.5})");
    const Json large = {{"name", "x"}, {"base", "b200-sxm-180gb"}, {"memory_gib", 225}};
    CHECK(step(job, "gpu", large) <= step(job, "gpu", "b200-sxm-180gb"));
}

TEST_CASE("laws: the same cards in smaller nodes are never faster" * doctest::test_suite("quality")) {
    // (But for cards that bridges join in pairs in nodes of 4: two of them alone have a link that a larger node does not reach.)
    const char* jobs[] = {
        R"({"model": "llama-3.1-8b", "zero": "weights"})",
        R"({"model": "llama-3.1-8b", "zero": "optimizer", "trained": "lora", "framework": "pytorch"})",
        R"({"model": "llama-3.1-8b", "tensor_parallel": 8})",
        R"({"model": "llama-3.1-8b", "tensor_parallel": 2, "tensor_columns": 2})",
        R"({"model": "llama-3.1-8b", "context_parallel": 8})",
        R"({"model": "llama-3.1-8b", "context_parallel": 8, "context_parallel_kind": "all_to_all"})",
        R"({"model": "llama-3.1-8b", "pipeline_parallel": 4})",
        R"({"model": "qwen3-30b-a3b", "expert_parallel": 16})",
    };
    for (const char* gpu : {"l40s-48gb", "rtx-4090-24gb", "mi300x-192gb", "h100-sxm-80gb", "a100-pcie-80gb", "h100-nvl-94gb"})
        for (const char* text : jobs) {
            Json job = json(R"({"gpus": 32, "sequence_length": 4096, "global_batch": 64, "micro_batch": 1, "tensor_parallel": 1,
                "context_parallel": 1, "pipeline_parallel": 1, "expert_parallel": 1, "schedule": "1f1b", "virtual_stages": 1,
                "recompute": "none", "zero": "optimizer", "layout": "equal"})");
            job["gpu"] = gpu;
            job.update(json(text));
            double before = INFINITY;
            for (const int node : {1, 2, 4, 8}) {
                INFO(job.dump(), " in nodes of ", node);
                const double now = step(job, "gpus_per_node", node);
                const bool beyond_pairs = node == 4 && (std::string(gpu) == "a100-pcie-80gb" || std::string(gpu) == "h100-nvl-94gb");
                if (!beyond_pairs) CHECK(now <= before);
                before = now;
            }
        }
}

TEST_CASE("laws: a degree of experts that is set gives no faster plan than the search finds") {
    // the fastest has its layers balanced for experts that are split as it splits them
    Json job = json(R"({"model": "gpt-oss-20b", "gpus": 16, "framework": "pytorch", "sequence_length": 4096, "global_batch": 512,
        "gpu": {"name": "x", "base": "a100-pcie-40gb", "bf16_dense_tflop_per_s": 405.6}})");
    const auto fastest = [&] { return json(api::rank(job.dump()))["plans"]["step_seconds"][0].get<double>(); };
    const double all = fastest();
    job["expert_tensor_parallel"] = 4;
    CHECK(fastest() >= all);
}

TEST_CASE("a pipeline of DeepSpeed evens out layers that its stages do not divide: BLOOM's 70 on 12") {
    Json job = json(R"({"model": "bloom-176b", "gpu": "a100-sxm-80gb", "gpus": 384, "sequence_length": 2048, "global_batch": 2048,
        "framework": "megatron-deepspeed", "pipeline_parallel": 12})");
    const Json answer = json(api::estimate(job.dump()));
    REQUIRE(answer["ok"] == true);
    CHECK(answer["job"]["layout"] == "front");
    CHECK(answer["class"] == "fits");
    job["pipeline_parallel"] = 14;  // which divides 70 as before
    job["gpus"] = 448, job["global_batch"] = 2048;
    CHECK(json(api::estimate(job.dump()))["job"]["layout"] == "equal");
}

TEST_CASE("laws: a faster GPU does not take longer where another stage then sets the pace") {
    // 20 layers of one stage work as long as 16 and the output layer of the other: gradients hide beneath the first, which holds more
    const Json job = json(R"({"model": "qwen3-4b", "gpus": 8, "sequence_length": 4096, "global_batch": 64, "optimizer": "sgd",
        "tensor_parallel": 1, "context_parallel": 1, "pipeline_parallel": 2, "micro_batch": 1, "virtual_stages": 1, "schedule": "1f1b",
        "layout": "Et*20|t*16L", "recompute": "none", "zero": "optimizer"})");
    const auto with = [](double peak) { return Json{{"name", "x"}, {"base", "rtx-6000-ada-48gb"}, {"bf16_dense_tflop_per_s", peak}}; };
    CHECK(step(job, "gpu", with(366.0)) <= step(job, "gpu", with(364.5)));
}

TEST_CASE("laws: recomputation that is set as the search chooses it leaves the plan as fast") {
    // with it the balanced layout is the equal one, whose last stage is too full: its layers go to others
    Json job = json(R"({"model": "qwen3-30b-a3b", "gpu": "gh200-96gb", "gpus": 8, "sequence_length": 16384, "global_batch": 1024,
        "framework": "pytorch", "optimizer": "sgd"})");
    const auto fastest = [&] { return json(api::rank(job.dump()))["plans"]["step_seconds"][0].get<double>(); };
    const double all = fastest();
    job["recompute"] = "full";
    CHECK(fastest() == all);
}
