#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "api.h"
#include "contract.h"
#include "model/catalog.h"
#include "plan/rules.h"
#include "pools/mixed.h"
#include "time/timed_plan.h"

using namespace fourfold;
using tests::json;

namespace {

Json pooled(const Json& request) {
    const Json answer = json(api::pools(request.dump()));
    CHECK(tests::answer_defect(answer, "pools") == "");
    if (answer["ok"] == true) CHECK(tests::request_defect(request, "pools") == "");
    return answer;
}
const Json* way_of(const Json& answer, const char* kind) {
    for (const Json& way : answer["ways"])
        if (way["way"] == kind) return &way;
    return nullptr;
}
double step(const Json* way) { return way == nullptr ? INFINITY : (*way)["step_seconds"].get<double>(); }
double fastest(const Json& answer) { return answer["ways"].empty() ? INFINITY : step(&answer["ways"][0]); }
Json job_8b(const char* gpu, int gpus) {
    return {{"version", 2}, {"model", "llama-3.1-8b"}, {"gpu", gpu}, {"gpus", gpus}, {"global_batch", 512}};
}
Json with(Json job, const char* gpu, int gpus) {
    job["more_pools"] = Json::array({{{"gpu", gpu}, {"gpus", gpus}}});
    return job;
}
Job read(const Json& request) {
    Problems problems;
    auto job = read_parsed_job(request, Request::estimate, problems);
    REQUIRE(job.has_value());
    return *job;
}
// As pools_answer() makes them, of cards with the same network.
Pools pools_of(const Json& first, const Json& second) {
    Pools pools{{read(first), 0}, {read(second), 0}};
    for (Pool& pool : pools) pool.gpus = pool.job.plan.gpus;
    for (Pool& pool : pools) pool.job.plan.gpus = pools[0].gpus + pools[1].gpus;
    return pools;
}
Plan shape(const Job& job, std::int64_t tensor, std::int64_t pipeline) {
    Plan plan = job.plan;
    plan.open = 0;
    plan.tensor_parallel = tensor, plan.pipeline_parallel = pipeline, plan.context_parallel = 1, plan.micro_batch = 1;
    plan.virtual_stages = plan.expert_parallel = plan.expert_tensor_parallel = plan.recompute_layers = 1;
    plan.virtual_stage_group = kAuto;
    return plan;
}

}  // namespace

TEST_CASE("pools: two of one kind are the run on all of them, as copies and as stages") {
    const Job all = read(job_8b("h100-sxm-80gb", 32));
    const Json half = job_8b("h100-sxm-80gb", 16);
    const Pools pools = pools_of(half, half);
    for (const std::int64_t tensor : {1, 2, 4}) {
        for (const std::int64_t pipeline : {1, 2, 4}) {
            const Plan plan = shape(all, tensor, pipeline);
            Plan halves = plan;
            halves.gpus_per_node = std::min<std::int64_t>(8, 16 / pipeline);  // copies of two pools never stand in one node
            const Estimated today = estimated(all.space(), halves);
            const auto copies = as_copies(pools, plan, INFINITY);
            if (!may_run(all.space(), today.verdict)) {
                CHECK_FALSE(copies.has_value());
                continue;
            }
            REQUIRE(copies.has_value());
            CHECK(copies->seconds == doctest::Approx(today.seconds).epsilon(1e-12));
            for (const PoolShare& share : copies->shares) {
                CHECK(share.micro_batches == plan.micro_batches());
                CHECK(share.more == 0);
                CHECK(share.fullest.bytes == today.bytes);
            }
            if (pipeline == 1) continue;
            const auto stages = as_stages(pools, {0, 1}, plan, INFINITY);
            REQUIRE(stages.has_value());
            Plan laid_out = plan;
            laid_out.layout = stages->plan.layout;
            const Estimated same = estimated(all.space(), laid_out);
            CHECK(stages->seconds == doctest::Approx(same.seconds).epsilon(1e-12));
            CHECK(std::max(stages->shares[0].fullest.bytes, stages->shares[1].fullest.bytes) == same.bytes);
        }
    }
}

TEST_CASE("pools: copies share out the batch as well as any way does, and the micro-batches add up") {
    // A100 and H100, two copies each of eight GPUs; every other way to share out 64 micro-batches is tried.
    Json a = job_8b("a100-sxm-80gb", 16), h = job_8b("h100-sxm-80gb", 16);
    a["global_batch"] = h["global_batch"] = 64;
    const Pools pools = pools_of(a, h);
    const Plan plan = shape(pools[0].job, 4, 2);
    const auto best = as_copies(pools, plan, INFINITY);
    REQUIRE(best.has_value());
    const PoolShare &slow = best->shares[0], &fast = best->shares[1];
    CHECK(slow.copies * slow.micro_batches + slow.more + fast.copies * fast.micro_batches + fast.more == 64);
    CHECK(slow.micro_batches < fast.micro_batches);
    const auto seconds = [&](const Pool& pool, std::int64_t micro_batches) {
        Plan one = in_nodes_of(pool, plan);
        one.global_batch = micro_batches * one.data_parallel();
        return estimated(pool.job.space(), one).seconds;
    };
    double least = INFINITY;  // of the two copies of a kind the fuller one counts: 64 = 2·here + 2·there, or an odd one more on both
    for (std::int64_t here = 1; here < 32; ++here) least = std::min(least, std::max(seconds(pools[0], here), seconds(pools[1], 32 - here)));
    CHECK(best->seconds == doctest::Approx(least).epsilon(1e-12));
    CHECK(best->seconds == std::max(slow.fullest.seconds, fast.fullest.seconds));
}

TEST_CASE("pools: stages split their layers as well as any way does") {
    Json a = job_8b("a100-sxm-80gb", 8), h = job_8b("h100-sxm-80gb", 8);
    const Pools pools = pools_of(a, h);
    const Plan plan = shape(pools[0].job, 8, 2);
    const auto best = as_stages(pools, {0, 1}, plan, INFINITY);
    REQUIRE(best.has_value());
    const std::int64_t first = best->shares[0].layers[0];
    CHECK(first + best->shares[1].layers[0] == 32);
    CHECK(first < 16);
    // The pipeline's seconds by hand: both stages once, and 511 times the slower one; the rest is not larger than on either kind alone.
    const auto with_first = [&](std::int64_t layers, const Pool& pool) {
        Plan one = in_nodes_of(pool, plan);
        one.layout = std::make_shared<const Layout>(
            std::vector<std::int32_t>{static_cast<std::int32_t>(layers), static_cast<std::int32_t>(32 - layers)});
        const TimedPlan<double> timed(pool.job.model, *pool.job.gpu, nullptr, one);
        const Stages stages(pool.job.model, one);
        const auto each = pace_of(pool.job.model, one, timed.machine, timed.timing, timed.layers, stages, true).stage_seconds;
        const double pipeline = each[0] + each[1] + 511 * std::max(each[0], each[1]);
        return std::array<double, 3>{each[0], each[1], timed.step().seconds - pipeline};
    };
    double least = INFINITY;
    for (std::int64_t layers = 1; layers < 32; ++layers) {
        const auto slow = with_first(layers, pools[0]), fast = with_first(layers, pools[1]);
        const double step = slow[0] + fast[1] + 511 * std::max(slow[0], fast[1]) + std::max(slow[2], fast[2]);
        if (layers == first) CHECK(best->seconds == doctest::Approx(step).epsilon(1e-12));
        least = std::min(least, step);
    }
    CHECK(best->seconds <= least * 1.001);
}

TEST_CASE("pools: where memory is short, layers go to the larger card") {
    // Llama 3.1 8B, one GPU a stage: 16 bytes a parameter and more; 40 GB hold about half of what 80 GB hold.
    Json small = job_8b("a100-sxm-40gb", 4), large = job_8b("a100-sxm-80gb", 4);
    small["sequence_length"] = large["sequence_length"] = 4'096;
    const Pools pools = pools_of(small, large);
    for (const std::vector<std::size_t>& order : {std::vector<std::size_t>{0, 1}, {1, 0}}) {
        const auto best = as_stages(pools, order, shape(pools[0].job, 1, 8), INFINITY);
        REQUIRE(best.has_value());
        std::int64_t held[2] = {0, 0};
        for (const PoolShare& share : best->shares) {
            for (const std::int64_t layers : share.layers) held[share.pool] += layers;
            CHECK(may_run(pools[share.pool].job.space(), share.fullest.verdict));
        }
        CHECK(held[0] + held[1] == 32);
        CHECK(held[0] <= held[1]);
    }
}

TEST_CASE("pools: the famous questions; more GPUs are never slower, nor is a faster card" * doctest::test_suite("quality")) {
    Json job{{"version", 2}, {"model", "llama-3.1-70b"}, {"gpu", "a100-sxm-80gb"}, {"gpus", 64}, {"global_batch", 1'024}};
    const Json both = pooled(with(job, "h100-sxm-80gb", 32));
    const Json *copies = way_of(both, "copies"), *stages = way_of(both, "stages");
    REQUIRE((copies != nullptr && stages != nullptr));
    const double together = fastest(both), one = step(way_of(both, "alone"));
    CHECK(together < one);
    CHECK(together == doctest::Approx(std::min(step(copies), step(stages))));
    CHECK((*stages)["shares"].size() == 2);
    CHECK(fastest(pooled(with(job, "h200-sxm-141gb", 32))) <= together * (1 + 1e-9));
    // far fewer of the slow ones than can help: the other kind alone is told
    const Json few = pooled(with(
        {{"version", 2}, {"model", "llama-3.1-70b"}, {"gpu", "a100-sxm-80gb"}, {"gpus", 1}, {"global_batch", 1'024}}, "h100-sxm-80gb", 64));
    CHECK(step(way_of(few, "alone")) < INFINITY);
    CHECK(fastest(few) <= step(way_of(few, "alone")));
}

TEST_CASE("pools: the network between kinds is never a link inside a node") {
    // Four and four GPUs are two halves of no node: a slow network is felt, however the work is split.
    Json four = with(job_8b("h100-sxm-80gb", 4), "a100-sxm-80gb", 4), slow = four;
    slow["measured_inter_gb_s"] = 1;
    const Json fast_answer = pooled(four), slow_answer = pooled(slow);
    for (const char* way : {"copies", "stages"}) CHECK(step(way_of(slow_answer, way)) > 1.1 * step(way_of(fast_answer, way)));
    CHECK(step(way_of(slow_answer, "alone")) == step(way_of(fast_answer, "alone")));
}

TEST_CASE("pools: one more kind never makes it slower: who does not help does nothing") {
    const Json two = with(job_8b("h100-sxm-80gb", 8), "a100-sxm-80gb", 8);
    Json three = two;
    three["more_pools"].push_back({{"gpu", "a100-sxm-40gb"}, {"gpus", 1}});
    const Json answer = pooled(three);
    CHECK(fastest(answer) <= fastest(pooled(two)));
    CHECK(answer["pools"].size() == 3);
    CHECK(answer["ways"][0]["shares"].size() == 2);
}

TEST_CASE("pools: GPUs of one kind are one pool, and the answer is the one on all of them") {
    const Json answer = pooled(with(job_8b("h100-sxm-80gb", 8), "h100-sxm-80gb", 24));
    REQUIRE(answer["ways"].size() == 1);
    CHECK(answer["pools"].size() == 1);
    CHECK(answer["pools"][0]["gpus"] == 32);
    const Json all = json(api::estimate(job_8b("h100-sxm-80gb", 32).dump()));
    CHECK(fastest(answer) == all["time"]["step_seconds"].get<double>());
}

TEST_CASE("pools: no library joins GPUs of NVIDIA and AMD") {
    const Json answer = pooled(with(job_8b("h100-sxm-80gb", 8), "mi300x-192gb", 8));
    CHECK(answer["problems"][0]["field"] == "more_pools[0].gpu");
    CHECK(answer["problems"][0]["message"]["id"] == "problem.pools_makers");
    CHECK(pooled(with(job_8b("mi300x-192gb", 8), "mi325x-256gb", 8))["ok"] == true);
}

TEST_CASE("pools: copies that talk in every micro-batch do as many") {
    const Pools pools = pools_of(job_8b("a100-sxm-80gb", 8), job_8b("h100-sxm-80gb", 8));
    Plan fsdp = shape(pools[0].job, 1, 1);
    fsdp.framework = FrameworkKind::pytorch;
    fsdp.zero = Zero::weights;
    fsdp.recompute = Recompute::full;
    const auto best = as_copies(pools, fsdp, INFINITY);
    REQUIRE(best.has_value());
    for (const PoolShare& share : best->shares) CHECK((share.micro_batches == 32 && share.more == 0));
}

TEST_CASE("pools: every mistake is named at its place") {
    const Json bad = pooled({{"gpus", 0}, {"cluster", ""}, {"more_pools", Json::array({{{"gpu", "nobody"}, {"gpus", 0}}, 3})}});
    std::vector<std::string> fields;
    for (const Json& problem : bad["problems"]) fields.push_back(problem["field"]);
    CHECK(fields == std::vector<std::string>{"gpus", "more_pools[0].gpu", "more_pools[0].gpus", "more_pools[1]"});
    for (const Json& pools : {Json(), Json::array(), Json(3), Json::array({1, 2, 3, 4})}) {
        Json job = job_8b("h100-sxm-80gb", 8);
        if (!pools.is_null()) job["more_pools"] = pools;
        CHECK(pooled(job)["problems"][0]["field"] == "more_pools");
    }
    Json placed = with(job_8b("h100-sxm-80gb", 8), "a100-sxm-80gb", 8);
    placed["cluster"] = "dgx-h100";
    CHECK(pooled(placed)["problems"][0]["field"] == "cluster");
}
