// What headline, list, map and limits make of the search: asked through the requests.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "answer/limits.h"
#include "api.h"
#include "contract.h"
#include "search/asked_job.h"
#include "search/search.h"

using namespace fourfold;
using tests::job_of;
using tests::json;

TEST_CASE("DeepSeek-V3 on 2,048 H800 as a stranger asks it: split as NVIDIA's recipe splits it, near what was published") {
    // Megatron-Bridge, recipe of DeepSeek-V3 on 1,024 H100: TP 2, PP 8, EP 64, several chunks. arXiv 2412.19437: 14.8 T tokens in 2.664 M
    // hours, 15,360 sequences of 4,096 tokens a step: 19.9 s, with fp8 and a schedule of its own
    const Json job = {
        {"model", "deepseek-v3"}, {"gpu", "h800-sxm-80gb"}, {"gpus", 2'048}, {"global_batch", 15'360}, {"sequence_length", 4'096}};
    const Json answer = json(api::estimate(job.dump()));
    CHECK(answer["job"]["tensor_parallel"] == 2);
    CHECK(answer["job"]["pipeline_parallel"] == 8);
    CHECK(answer["job"]["expert_parallel"] == 64);
    CHECK(answer["job"]["expert_overlap"] == true);
    CHECK(std::count(answer["auto"].begin(), answer["auto"].end(), "expert_overlap") == 1);
    CHECK(answer["time"]["low_seconds"].get<double>() < 19.9);
    CHECK(answer["time"]["high_seconds"].get<double>() > 19.9);
    CHECK(json(api::estimate(Json{{"model", "llama-3.1-70b"}, {"gpus", 64}}.dump()))["job"]["expert_overlap"] == false);
}

TEST_CASE("what is shown where nothing fits keeps every rule: no whole layer is computed again beneath hidden traffic") {
    for (const char* modules : {"auto", "moe"}) {
        const Json asked = {{"model", "kimi-k2"},     {"gpu", "h100-nvl-94gb"},   {"gpus", 256},
                            {"global_batch", 1'024},  {"sequence_length", 4'096}, {"recompute_modules", modules},
                            {"expert_overlap", true}, {"explain", false}};
        const Json answer = json(api::estimate(asked.dump()));
        CHECK(answer["equally_good"]["count"] == 0);
        CHECK(answer["job"]["recompute"] == (std::string_view(modules) == "moe" ? "none" : "selective"));
        const Json again = json(api::estimate(answer["job"].dump()));
        REQUIRE(again["ok"] == true);
        CHECK(again["whole_bytes"] == answer["whole_bytes"]);
    }
}

TEST_CASE("what NVIDIA's and DeepSeek's recipes recompute of such models is chosen for them") {
    // Megatron-Bridge, recipes of DeepSeek-V3 on H100; arXiv 2412.19437, section 3.2.3: norms, the activation, the up-projections
    const Json job = {
        {"model", "deepseek-v3"}, {"gpu", "h800-sxm-80gb"}, {"gpus", 2'048}, {"global_batch", 15'360}, {"sequence_length", 4'096}};
    const Json chosen = json(api::estimate(job.dump()));
    CHECK(chosen["job"]["recompute"] == "selective");
    CHECK(chosen["job"]["recompute_modules"] == "layernorm,moe_act,mla_up_proj");
    CHECK(std::count(chosen["auto"].begin(), chosen["auto"].end(), "recompute_modules") == 1);
    Json attention = job;
    attention["recompute_modules"] = "core_attn";
    const Json before = json(api::estimate(attention.dump()));
    CHECK(chosen["step_seconds"].get<double>() < 0.9 * before["step_seconds"].get<double>());
    // nothing to choose: where norms and matrices are one (dense models), where the framework has no such option
    CHECK(json(api::estimate(Json{{"model", "llama-3.1-70b"}, {"gpus", 64}}.dump()))["job"]["recompute_modules"] == "core_attn");
    Json pytorch = job;
    pytorch["framework"] = "pytorch";
    CHECK(json(api::estimate(pytorch.dump()))["job"]["recompute_modules"] == "core_attn");
}

TEST_CASE("through the requests: estimate, rank, search and limits name the same plan") {
    constexpr const char* kAsked[] = {
        R"({"model": "llama-3.1-8b", "gpus": 24, "global_batch": 96})",
        R"({"model": "mixtral-8x7b", "gpus": 72, "gpu": "gb200-186gb", "global_batch": 144})",
        R"({"model": "llama-3.1-405b", "gpus": 512})",
        R"({"model": "llama-3.1-70b", "gpus": 64, "global_batch": 256})",
        R"({"model": "qwen3-235b-a22b", "gpus": 256})",
        R"({"model": "deepseek-v3", "gpus": 1024, "global_batch": 4096})",
    };
    for (const char* request : std::span(kAsked).first(tests::kSlowBuild ? 2 : std::size(kAsked))) {
        Json job = json(request);
        const Json estimate = json(api::estimate(job.dump())), ranking = json(api::rank(job.dump()));
        CHECK(estimate["ok"] == true);
        if (estimate["ok"] == false) continue;
        CHECK(estimate["class"] == "fits");
        for (const auto& entry : ranking["plans"].items()) {
            const std::string key = entry.key();
            const Json& first = entry.value()[0];
            if (estimate["job"].contains(key)) CHECK_MESSAGE(estimate["job"][key] == first, key << " " << request);
            if (estimate.contains(key)) CHECK_MESSAGE(estimate[key] == first, key << " " << request);
        }
        CHECK(estimate["equally_good"]["count"] == ranking["equally_good"]);
        const Json given = estimate["job"];  // set as told: nothing moves
        Json set = given;
        for (const char* key : {"leave_out", "risk"}) set.erase(key);
        const Json again = json(api::estimate(set.dump()));
        CHECK(again["total_bytes"] == estimate["total_bytes"]);
        CHECK(again["step_seconds"] == estimate["step_seconds"]);
        CHECK(again["auto"].empty());
        job["gpu_counts"] = Json::array({job["gpus"]});
        const api::SearchAnswer map = api::search(job.dump());
        const Json summary = json(map.summary);
        const auto entry = summary["sizes"][0]["entry"].get<std::size_t>();
        CHECK(map.columns.step_seconds[entry] == estimate["step_seconds"]);
        CHECK(map.columns.tensor_parallel[entry] == estimate["job"]["tensor_parallel"]);
        CHECK(map.columns.row[entry] == summary["auto"][0]["row"]);
    }
}

TEST_CASE("the famous questions" * doctest::test_suite("quality")) {
    const auto ask = [](Json request) { return json(api::estimate(request.dump())); };
    // Llama 3.1 405B: TP 8 and PP 16 on 16,384 H100, with CP 1 at 8,192 tokens (arXiv 2407.21783, table 4)
    const Json llama = ask({{"model", "llama-3.1-405b"}, {"gpus", 16'384}, {"global_batch", 2'048}});
    CHECK(llama["class"] == "fits");
    CHECK(llama["job"]["tensor_parallel"] == 8);
    CHECK(llama["job"]["pipeline_parallel"] == 16);
    // its 400 TFLOP/s per GPU: 6 FLOP per parameter and token, and 6 per layer, hidden value and token before it
    const double published = 2'048.0 * 8'192 * (6 * 405e9 + 6.0 * 126 * 16'384 * 8'192) / (16'384 * 400e12);
    MESSAGE("Llama 3.1 405B on 16,384 H100: ", llama["step_seconds"].get<double>(), " s, published ", published, " s");
    CHECK(std::abs(llama["step_seconds"].get<double>() / published - 1) < 0.25);
    const Json seventy = ask({{"model", "llama-3.1-70b"}, {"gpus", 64}});
    CHECK(seventy["class"] == "fits");
    CHECK(seventy["job"]["tensor_parallel"] <= 8);
    // 61 layers, 3 of them dense, and one that predicts a further token: a pipeline is found for them
    const Json deepseek =
        ask({{"model", "deepseek-v3"}, {"gpus", 2'048}, {"global_batch", 15'360}, {"sequence_length", 4'096}, {"precision", "fp8"}});
    CHECK(deepseek["class"] == "fits");
    CHECK(deepseek["job"]["pipeline_parallel"] > 1);
    CHECK(deepseek["job"]["layout"].get<std::string>().find('m') != std::string::npos);
    // with the schedule of its makers, whose two directions split 61 layers unevenly too; and with those that bend back
    for (const char* schedule : {"dualpipe", "dualpipev", "zb-v", "zb-h1"})
        CHECK_MESSAGE(ask({{"model", "deepseek-v3"}, {"gpus", 2'048}, {"global_batch", 15'360}, {"schedule", schedule}})["class"] == "fits",
                      schedule);
}

TEST_CASE("zero bubble let in where the framework has none: the answer says so") {
    const auto says_so = [](const char* framework, const char* leave_out) {
        const Json answer = json(api::estimate(Json{{"framework", framework}, {"leave_out", leave_out}}.dump()));
        return std::any_of(answer["assumed"].begin(), answer["assumed"].end(),
                           [](const Json& note) { return note["text"]["id"] == "assumed.no_zero_bubble"; });
    };
    CHECK(says_so("megatron-2025", ""));
    CHECK(!says_so("megatron-2025", "zero_bubble"));
    CHECK(!says_so("pytorch", ""));
}

// NVIDIA trains Llama 3 70B on 64 GB200 so (tests/evidence/nvidia-rates.jsonl, n24 to n37).
TEST_CASE("Megatron FSDP: tried where it is let in, with Megatron's releases that have it, without a pipeline") {
    const auto asked = [](const char* framework, const char* leave_out) {
        return json(api::estimate(Json{
            {"model", "llama-3.1-70b"},
            {"gpu", "gb200-186gb"},
            {"cluster", "gb200-nvl72"},
            {"gpus", 64},
            {"global_batch", 256},
            {"precision", "fp8_weights"},
            {"framework", framework},
            {"leave_out", leave_out}}.dump()));
    };
    const Json usual = asked("megatron-2025", "zero_bubble,megatron_fsdp"), let_in = asked("megatron-2025", "zero_bubble");
    CHECK(usual["job"]["zero"] == "optimizer");
    CHECK(let_in["job"]["zero"] == "weights");
    CHECK(let_in["job"]["pipeline_parallel"] == 1);
    CHECK(let_in["time"]["step_seconds"] < usual["time"]["step_seconds"]);
    CHECK(asked("megatron-2025", "zero_bubble,sharding")["time"]["step_seconds"] == usual["time"]["step_seconds"]);
    const auto says_so = [](const Json& answer) {
        return std::any_of(answer["assumed"].begin(), answer["assumed"].end(),
                           [](const Json& note) { return note["text"]["id"] == "assumed.no_sharding"; });
    };
    CHECK(says_so(usual));
    CHECK(!says_so(let_in));
    CHECK(asked("megatron-2024", "")["job"]["zero"] == "optimizer");
}

TEST_CASE("fewest GPUs: the smallest number whose ranking is not empty") {
    for (const char* request :
         {R"({"model": "llama-3.1-8b", "gpu": "a100-sxm-40gb"})", R"({"model": "llama-3.1-70b"})", R"({"model": "qwen3-30b-a3b"})",
          R"({"model": "llama-2-13b", "gpu": "a100-pcie-40gb", "global_batch": 96})"}) {
        Job job = job_of(json(request));
        const FewestGpus fewest = fewest_gpus(job);
        CHECK(fewest.fits.has_value());
        if (!fewest.fits) continue;
        for (const std::int64_t gpus : gpu_counts_to_try(job.plan)) {
            job.plan.gpus = gpus;
            const bool ranked = !search(job.space(), {.plans = 200}).plans.empty();
            CHECK(ranked == (gpus == fewest.fits->plan.gpus));
            if (ranked) break;
        }
    }
}

TEST_CASE("numbers of GPUs and batches that are no powers of two have plans") {
    const auto ask = [](Json request) { return json(api::estimate(request.dump())); };
    CHECK(ask({{"gpus", 24}, {"global_batch", 96}})["class"] == "fits");
    CHECK(ask({{"gpus", 48}, {"global_batch", 1'024}})["class"] == "fits");  // three does not divide the batch, but the layers
    CHECK(ask({{"gpus", 3}, {"gpu", "h200-sxm-141gb"}})["class"] == "fits");
    CHECK(ask({{"gpus", 6}, {"sequence_length", 6'144}, {"global_batch", 1'024}})["ok"] == true);
    const Json three = ask({{"gpus", 8}, {"global_batch", 96}, {"model", "llama-3.2-3b"}, {"gpu", "h200-sxm-141gb"}, {"micro_batch", 3}});
    CHECK(three["ok"] == true);
}

TEST_CASE("Transformers splits a sequence only where nothing fits in one piece") {
    Json job = {{"model", "llama-3.1-8b"}, {"gpu", "h100-sxm-80gb"}, {"gpus", 8}, {"global_batch", 8}, {"framework", "transformers"}};
    const auto answer = [&](std::int64_t sequence, std::int64_t gpus, Json context = "auto") {
        job["sequence_length"] = sequence, job["gpus"] = gpus, job["context_parallel"] = std::move(context);
        return json(api::estimate(job.dump()));
    };
    CHECK(answer(8'192, 8)["job"]["context_parallel"] == 1);
    CHECK(answer(8'192, 8)["class"] == "fits");
    CHECK(answer(131'072, 8, 1)["class"] == "does_not_fit");
    CHECK(answer(131'072, 8)["job"]["context_parallel"] == 8);
    CHECK(answer(131'072, 8)["class"] == "fits");
    CHECK(answer(8'192, 16)["job"]["context_parallel"] == 2);  // a batch of 8 sequences, 16 GPUs
    job["framework"] = "litgpt";                               // has none
    CHECK(answer(131'072, 8)["job"]["context_parallel"] == 1);
}

TEST_CASE("Transformers sends gradients after every micro-batch only where nothing else fits, or is as fast") {
    Json job = {{"model", "llama-3.1-70b"}, {"gpu", "h100-sxm-80gb"}, {"gpus", 64}, {"framework", "transformers"}};
    const auto answer = [&](const char* sync) {
        job["sync_each_micro_batch"] = sync;
        return json(api::estimate(job.dump()));
    };
    const auto synced = [](const Json& one) { return one["job"]["sync_each_micro_batch"]; };
    // whole gradients of 16 bits are 141 GB
    CHECK(answer("off")["class"] == "does_not_fit");
    CHECK(answer("auto")["class"] == "fits");
    CHECK(synced(answer("auto")) == "on");
    CHECK(answer("auto")["time"] == answer("on")["time"]);
    job["sync_each_micro_batch"] = "auto";
    const Json ranked = json(api::rank(job.dump())), limits = json(api::limits(job.dump()));
    for (const Json& one : ranked["plans"]["sync_each_micro_batch"]) CHECK(one == "on");
    CHECK(ranked["plans"]["step_seconds"][0] == answer("auto")["time"]["step_seconds"]);
    CHECK(limits["fewest_gpus"]["gpus"] == 32);
    CHECK(limits["fewest_gpus"]["plan"]["sync_each_micro_batch"] == "on");
    job["global_batch"] = 64;  // one micro-batch for each GPU
    CHECK(answer("auto")["class"] == "fits");
    CHECK(synced(answer("auto")) == "auto");
    job["global_batch"] = 1'024, job["gpus"] = 8;  // what needs least
    CHECK(answer("auto")["class"] == "does_not_fit");
    CHECK(synced(answer("auto")) == "on");
    job["gpus"] = 64, job["framework"] = "litgpt";  // its scripts cannot
    CHECK(synced(answer("auto")) == "auto");
    // more risk lets another plan fit without it, which takes 1.6 times as long: the fast one stays
    job = {{"model", "qwen3-30b-a3b"}, {"gpu", "h100-nvl-94gb"},    {"gpus", 24},
           {"global_batch", 204},      {"sequence_length", 40'960}, {"framework", "transformers"}};
    const double careful = answer("auto")["step_seconds"];
    job["risk"] = 0.5;
    CHECK(answer("auto")["step_seconds"] <= careful);
    CHECK(synced(answer("auto")) == "on");
    CHECK(answer("off")["step_seconds"] > 1.5 * careful);
}

TEST_CASE("a larger micro-batch is found where it alone fits") {
    // Whole gradients are held while micro-batches are added up: 8B on 8 cards of 24 GB fits with the whole batch at once, not in parts.
    int alone = 0;
    for (const char* framework : {"transformers", "litgpt", "pytorch"})
        for (const char* model : {"llama-3.1-8b", "phi-4", "qwen3-30b-a3b"})
            for (const char* gpu : {"rtx-4090-24gb", "h100-sxm-80gb"})
                for (const std::int64_t batch : {16, 64, 256}) {
                    Json job = {{"model", model},          {"gpu", gpu}, {"gpus", 8}, {"global_batch", batch}, {"framework", framework},
                                {"sequence_length", 1'024}};
                    const bool found = has_plan(job_of(job).space());
                    bool any = false, smallest = false;
                    for (std::int64_t b = 1; b <= batch; b *= 2) {
                        job["micro_batch"] = b;
                        any = any || has_plan(job_of(job).space());
                        if (b == 1) smallest = any;
                    }
                    CAPTURE(job.dump());
                    CHECK(found == any);
                    if (any && !smallest) ++alone;
                }
    CHECK(alone >= 2);
}

TEST_CASE("the largest sequence where the GPUs have an odd factor: none of the next that split as well fits") {
    for (const std::int64_t gpus : {10, 12, 24, 40, 96}) {
        const Job job = job_of({{"gpus", gpus}, {"global_batch", 240}});
        const auto found = largest_sequence(job.space());
        REQUIRE(found);
        CHECK(found->step == 1'024);
        std::int64_t odd = gpus;
        while (odd % 2 == 0) odd /= 2;
        Plan plan = job.plan;
        for (const std::int64_t step : {1'024 * odd, std::int64_t{1'024}})
            for (std::int64_t i = 1; i <= 12; ++i) {
                plan.sequence_length = (found->value / step + i) * step;
                CAPTURE(gpus);
                CAPTURE(plan.sequence_length);
                CHECK(!has_plan({job.model, plan, *job.gpu, job.method, job.cluster, job.exploration}));
            }
    }
    CHECK(largest_sequence(job_of({{"gpus", 24}}).space())->value >= 983'040);
}
