#include "answer/changes.h"

#include <doctest/doctest.h>

#include "api.h"
#include "job/job.h"
#include "memory/curve.h"
#include "model/catalog.h"
#include "plan/rules.h"
#include "support.h"

using namespace fourfold;

namespace {

struct Example {
    const Model& model;
    const Gpu& gpu;
    Plan plan;
    SearchSpace space() const { return {model, plan, gpu, Method::detailed}; }
};

Example llama_70b() {
    Example e{catalog().model("llama-3.1-70b")->model, *catalog().gpu("h100-sxm-80gb"), {}};
    e.plan.gpus = 64;
    e.plan.gpus_per_node = 8;
    e.plan.tensor_parallel = 8;
    e.plan.context_parallel = 1;
    e.plan.pipeline_parallel = 4;
    e.plan.micro_batch = 2;
    return e;
}

}  // namespace

TEST_CASE("changes: token slices, where the batch is smaller than the pipeline") {
    Example e = llama_70b();
    e.plan.pipeline_parallel = 8, e.plan.micro_batch = 1, e.plan.sequence_length = 65'536;
    for (const std::int64_t batch : {4, 8}) {
        e.plan.global_batch = batch;
        bool slices = false;
        for (const Change& change : changes_that_save(e.space(), e.plan, estimated(e.space(), e.plan)))
            if (change.set == Json{{"token_slices", 8}}) {
                CHECK(change.lost_seconds < 0);
                CHECK(tests::said(change.touches) == "touches.needs_token_slices");
                slices = true;
            }
        CHECK(slices == (batch == 4));
    }
}

// 70.6 B parameters: whole gradients of 16 bits are 141 GB, a 64th of them in 32 bits is 4.4.
TEST_CASE("changes: gradients after every micro-batch, where FSDP adds up whole ones") {
    Example e = llama_70b();
    e.plan.framework = FrameworkKind::transformers, e.plan.zero = Zero::weights, e.plan.recompute = Recompute::full;
    e.plan.tensor_parallel = e.plan.pipeline_parallel = e.plan.micro_batch = 1;
    for (const std::int64_t batch : {64, 1'024}) {  // one micro-batch for each GPU, or 16
        e.plan.global_batch = batch;
        bool proposed = false;
        for (const Change& change : changes_that_save(e.space(), e.plan, estimated(e.space(), e.plan)))
            if (change.set == Json{{"sync_each_micro_batch", "on"}}) {
                CHECK(change.saved_bytes == doctest::Approx(141e9 - 4.4e9).epsilon(0.1));
                proposed = true;
            }
        CHECK(proposed == (batch == 1'024));
    }
}

TEST_CASE("changes: ZeRO of DeepSpeed, where FSDP2 has cannot share out experts evenly") {
    const auto changes_of = [](const char* model) {
        return tests::json(api::alternatives(R"({"gpu": "h100-sxm-80gb", "gpus": 64, "sequence_length": 4096, "global_batch": 512,
            "framework": "transformers", "model": ")" +
                                             std::string(model) + "\"}"))["changes"];
    };
    const Json mixtral = changes_of("mixtral-8x7b").front();  // 8 experts: with FSDP2 it fits on no number of GPUs
    CHECK(tests::said(mixtral["label"]) == "change.flat_shards");
    CHECK(mixtral["set"] == Json{{"fully_shard", "off"}, {"sync_each_micro_batch", "on"}});
    CHECK(mixtral["class"] == "fits");
    for (const Json& other : changes_of("qwen3-30b-a3b")) CHECK(tests::said(other["label"]) != "change.flat_shards");  // 128
}

TEST_CASE("changes: each is one step, legal, and saves; first what makes it fit, then what costs no time, then by bytes per second lost") {
    const Example e = llama_70b();
    const Estimated now = estimated(e.space(), e.plan);
    const auto changes = changes_that_save(e.space(), e.plan, now);
    CHECK(changes.size() >= 6);
    bool recomputes = false, smaller = false;
    double worth = INFINITY, saved = INFINITY, lost = -INFINITY;
    bool fit_before = now.verdict.fit != Fit::fits, here = true;
    for (const Change& change : changes) {
        CHECK(is_legal(e.model, change.after.plan));
        CHECK(change.saved_bytes >= 0.01 * e.gpu.memory_bytes);
        CHECK(change.saved_bytes == now.verdict.whole_bytes - change.after.verdict.whole_bytes);
        CHECK(change.after.seconds == doctest::Approx(now.seconds + change.lost_seconds));
        const bool makes_fit = now.verdict.fit != Fit::fits && change.after.verdict.fit == Fit::fits;
        CHECK(makes_fit <= fit_before);
        fit_before = makes_fit;
        if (makes_fit) {
            if (change.set.contains("gpus") && here) here = false, lost = -INFINITY;
            CHECK(change.set.contains("gpus") != here);  // on as many GPUs before others
            CHECK(change.lost_seconds >= lost);
            lost = change.lost_seconds;
        } else {
            const bool free = change.lost_seconds <= 0.001 * now.seconds;
            const double of_it = free ? INFINITY : change.saved_bytes / change.lost_seconds;
            CHECK(of_it <= worth);
            if (free) CHECK(change.saved_bytes <= saved);
            worth = of_it;
            saved = change.saved_bytes;
        }
        CHECK(!change.set.empty());
        CHECK(!change.label.empty());
        if (change.set == Json{{"recompute", "full"}}) {
            CHECK(tests::said(change.label) == "change.recompute_all");
            CHECK(tests::said(change.touches) == "touches.third_computing");
            recomputes = true;
        }
        if (change.set == Json{{"micro_batch", 1}}) {
            CHECK(tests::said(change.label) == R"(change.micro_batch {"value":1})");
            smaller = true;
        }
    }
    CHECK(recomputes);
    CHECK(smaller);
}

// Llama 3.1 70B trains 70.6 B weights at 16 bytes and more: no plan holds that on one GPU. Frozen in 16 bits they are 141 GB, in 4 bits 36.
TEST_CASE("changes: another training is proposed only where nothing else makes the run fit") {
    Example e = llama_70b();
    e.plan = open_plan();
    const auto proposed = [&](std::int64_t gpus) {
        e.plan.gpus = gpus, e.plan.gpus_per_node = 8, e.plan.sequence_length = 4'096, e.plan.global_batch = 16;
        std::vector<std::string> labels;
        const auto chosen = choose(e.space());
        if (!chosen) return labels;
        const Estimated& now = chosen->estimate;
        for (const Change& change : changes_that_save(e.space(), now.plan, now))
            if (change.set.contains("trained"))
                labels.push_back(tests::said(change.label) + (change.after.verdict.fit == Fit::fits ? " fits" : ""));
        return labels;
    };
    CHECK(proposed(1) == std::vector<std::string>{"change.adapters_nf4 fits", "change.adapters"});
    CHECK(proposed(2) == std::vector<std::string>{"change.adapters_nf4 fits", "change.adapters"});
    CHECK(proposed(4) == std::vector<std::string>{"change.adapters fits"});
    CHECK(proposed(64).empty());  // it fits as it is
}

TEST_CASE("changes: who trains adapters is proposed a base of 4 bits, and no parts of layers where a framework has none") {
    Example e = llama_70b();
    e.plan = open_plan();
    e.plan.gpus = 2, e.plan.gpus_per_node = 8, e.plan.sequence_length = 4'096, e.plan.global_batch = 16;
    e.plan.trained = TrainedPart::lora, e.plan.framework = FrameworkKind::transformers, e.plan.attention = Attention::plain;
    const auto proposed = [&](const char* label) {
        const Estimated now = choose(e.space()).value().estimate;
        Plan shown = now.plan;
        shown.recompute = Recompute::none;
        const auto all = changes_that_save(e.space(), shown, now);
        return std::any_of(all.begin(), all.end(), [&](const Change& one) { return tests::said(one.label) == label; });
    };
    CHECK(proposed("change.adapters_nf4"));
    CHECK_FALSE(proposed("change.recompute_attention"));
    e.plan.frozen_weights = FrozenWeights::nf4;
    CHECK_FALSE(proposed("change.adapters_nf4"));
}

// Adapters of Gemma 3 12B on four cards of 24 GB: 30 GB with the loss in tiles, 39 GB shared out, 15 GB with both.
TEST_CASE("changes: two together where none alone makes it fit on the same GPUs") {
    Example e{catalog().model("gemma-3-12b")->model, *catalog().gpu("rtx-4090-24gb"), {}};
    e.plan.gpus = e.plan.gpus_per_node = 4, e.plan.sequence_length = 4'096, e.plan.global_batch = 64, e.plan.micro_batch = 2;
    e.plan.tensor_parallel = e.plan.context_parallel = e.plan.pipeline_parallel = 1;
    e.plan.framework = FrameworkKind::transformers, e.plan.trained = TrainedPart::lora, e.plan.lora_rank = 32;
    e.plan.recompute = Recompute::full, e.plan.zero = Zero::none;
    const auto proposed = [&] {
        const Estimated now = choose(e.space()).value().estimate;
        return changes_that_save(e.space(), now.plan, now);
    };
    const auto is_pair = [](const Change& one) { return tests::said(one.label).find("change.both ") == 0; };
    std::vector<Change> all = proposed();
    REQUIRE(is_pair(all.front()));
    CHECK(all.front().set == Json{{"loss", "tiled"}, {"zero", "weights"}});
    for (const Change& one : all) CHECK((is_pair(one) || one.set.contains("gpus") || one.after.verdict.fit != Fit::fits));
    for (const Change& one : all) CHECK((!is_pair(one) || one.after.verdict.fit == Fit::fits));
    e.plan.zero = Zero::weights, e.plan.micro_batch = 1;  // now one is enough
    all = proposed();
    CHECK(all.front().after.verdict.fit == Fit::fits);
    CHECK(std::none_of(all.begin(), all.end(), is_pair));
}

TEST_CASE("changes: what is already done is not proposed") {
    Example e = llama_70b();
    e.plan.recompute = Recompute::full;
    e.plan.gradients_in_fp32 = false;
    e.plan.optimizer_offload = 1;
    e.plan.micro_batch = 1;
    for (const Change& change : changes_that_save(e.space(), e.plan, estimated(e.space(), e.plan)))
        for (const char* key : {"recompute", "gradients_in_fp32", "optimizer_offload", "micro_batch"}) CHECK(!change.set.contains(key));
}

TEST_CASE("changes: where the host is too small, what it holds, drives, or the GPU") {
    const auto changes = [](double offload) {
        const Json job = {
            {"model", "llama-3.1-70b"}, {"gpu", "h100-sxm-80gb"}, {"gpus", 16}, {"host_memory_gib", 256}, {"optimizer_offload", offload}};
        return Json::parse(api::alternatives(job.dump()), nullptr, false)["changes"];
    };
    bool part = false, drives = false;
    for (const Json& change : changes(1)) {
        const Json& set = change["set"];
        part = part || (set.contains("optimizer_offload") && set["optimizer_offload"] == 0.4 && change["class"] == "fits");
        drives = drives || (set == Json{{"optimizer_offload_target", "nvme"}} && change["class"] == "fits");
        CHECK(set != Json{{"gpus", 32}});  // 32 GPUs hold twice as much, and each host as much as before
    }
    CHECK((part && drives));
    for (const Json& change : changes(0)) CHECK(change["set"] != Json{{"optimizer_offload", 1.0}});
}

TEST_CASE("changes: a larger degree is never faster than the plan that was called the fastest" * doctest::test_suite("quality")) {
    int proposed = 0;
    for (const char* request : {R"({"model": "llama-3.1-405b", "gpu": "h100-sxm-80gb", "gpus": 16384, "global_batch": 2048})",
                                R"({"model": "llama-3.1-70b", "gpu": "h100-sxm-80gb", "gpus": 64, "global_batch": 1024})",
                                R"({"model": "deepseek-v3", "gpu": "h800-sxm-80gb", "gpus": 2048, "global_batch": 15360})",
                                R"({"model": "llama-3.1-70b", "gpu": "mi300x-192gb", "gpus": 64, "global_batch": 1024})"}) {
        CAPTURE(request);
        const double chosen = Json::parse(api::estimate(request), nullptr, false)["step_seconds"];
        const Json answer = Json::parse(api::alternatives(request), nullptr, false);
        for (const Json& change : answer["changes"])
            for (const char* degree : {"tensor_parallel", "pipeline_parallel", "context_parallel", "expert_parallel", "micro_batch"}) {
                if (change["set"].size() != 1 || !change["set"].contains(degree)) continue;
                CHECK(change["step_seconds"] >= chosen);
                ++proposed;
            }
    }
    CHECK(proposed > 0);
}

TEST_CASE("curve: starts at the states, ends at the states, peaks at the estimate") {
    Example e = llama_70b();
    const Framework framework = framework_of(e.model, e.plan, e.gpu);
    for (std::int32_t stage = 0; stage < 4; ++stage) {
        const auto curve = memory_curve(e.model, e.plan, framework, stage);
        CHECK(curve.has_value());
        if (!curve) continue;
        CHECK(curve->micro_batches == 10);  // 2p + 2 of 64
        CHECK(curve->ops.size() == 20);
        CHECK(curve->bytes.size() == curve->ops.size());
        CHECK(curve->start.size() == curve->ops.size());
        const StageMemory<double> peak = detailed<double>(e.model, e.plan, framework, Stages(e.model, e.plan).moments(stage)[0]);
        double most = 0;
        for (std::size_t i = 0; i < curve->bytes.size(); ++i) {
            most = std::max(most, curve->bytes[i]);
            CHECK(curve->end[i] > curve->start[i]);
            if (i > 0) CHECK(curve->start[i] >= curve->end[i - 1]);
        }
        CHECK(most == doctest::Approx(peak.peak_bytes).epsilon(1e-12));
    }
    e.plan.pipeline_parallel = 1;
    e.plan.gpus = 8;
    const auto alone = memory_curve(e.model, e.plan, framework, 0);
    CHECK((alone && alone->micro_batches == 4));
}

namespace {

// What alternatives() proposes for a job; null: nothing of that label.
Json change_called(const Json& job, const char* label) {
    const Json answer = Json::parse(api::alternatives(job.dump()), nullptr, false);
    for (const Json& change : answer["changes"])
        if (change["label"]["id"] == label) return change;
    return nullptr;
}
const Json kTwoCards = {{"model", "llama-3.1-70b"}, {"gpu", "rtx-4090-24gb"},     {"gpus", 2},
                        {"sequence_length", 2'048}, {"global_batch", 16},         {"trained", "lora"},
                        {"frozen_weights", "nf4"},  {"framework", "transformers"}};

}  // namespace

// Two cards of 24 GB hold 36 GB in 4 bits, and nothing beside them.
TEST_CASE("changes: weights to the host, where a framework shares them out; FSDP takes the optimizer with them") {
    const Json weights = change_called(kTwoCards, "change.weights_offload");
    REQUIRE(weights.is_object());
    CHECK(weights["set"] == Json{{"weights_offload", true}});
    CHECK(weights["class"] == "fits");
    Json job = kTwoCards;
    job["framework"] = "pytorch", job["tensor_parallel"] = job["pipeline_parallel"] = job["context_parallel"] = 1;
    job["zero"] = "weights";
    CHECK(change_called(job, "change.weights_offload").is_null());
    CHECK(change_called(job, "change.all_offload")["set"] == Json{{"weights_offload", true}, {"optimizer_offload", 1.0}});
    job["framework"] = "megatron-2025";
    CHECK(change_called(job, "change.all_offload").is_null());
    job = kTwoCards;
    job["weights_offload"] = true;
    CHECK(change_called(job, "change.weights_offload").is_null());
}

TEST_CASE("changes: a plan that is chosen anew is named") {
    const Json weights = change_called(kTwoCards, "change.weights_offload");
    CHECK(weights["plan"]["micro_batch"] == 2);  // where nothing fitted, the plan shown is the one that needs least: of 1
    Json job = kTwoCards;
    for (const char* degree : {"tensor_parallel", "context_parallel", "pipeline_parallel", "micro_batch"}) job[degree] = 1;
    job["recompute"] = "full", job["zero"] = "weights", job["sync_each_micro_batch"] = "on";
    CHECK(change_called(job, "change.weights_offload")["plan"].is_null());
}

// Of four copies of 8B on four cards: one sum of gradients per step, whole, or a micro-batch of a quarter of the batch.
TEST_CASE("changes: gradients after every micro-batch, where a micro-batch is as large as it is to avoid their sum") {
    Json job = {{"model", "llama-3.1-8b"}, {"gpu", "rtx-4090-24gb"}, {"gpus", 4}, {"sequence_length", 2'048}, {"global_batch", 16},
                {"trained", "lora"},       {"framework", "litgpt"}};
    const Json synced = change_called(job, "change.sync_each_micro_batch");
    REQUIRE(synced.is_object());
    CHECK(synced["class"] == "fits");
    CHECK(tests::said(synced["touches"]) == "touches.gradients_often_by_hand");
    CHECK(synced["plan"]["micro_batch"] == 2);
}

TEST_CASE("changes: what is enough on the same GPUs comes before more of them") {
    Json job = {{"model", "llama-3.1-8b"},  {"gpu", "rtx-4090-24gb"},     {"gpus", 1},
                {"sequence_length", 8'192}, {"global_batch", 16},         {"trained", "lora"},
                {"frozen_weights", "nf4"},  {"framework", "transformers"}};
    const Json changes = Json::parse(api::alternatives(job.dump()), nullptr, false)["changes"];
    CHECK(changes[0]["label"]["id"] == "change.tiled_loss");
    CHECK(changes[0]["class"] == "fits");
}
