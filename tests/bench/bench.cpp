// Native benchmarks. Build and run:  cmake --workflow --preset release && build/release/tests/fourfold_bench
#include <benchmark/benchmark.h>

#include "api.h"
#include "catalog.h"
#include "memory.h"

namespace api = fourfold::api;

// The rate that a search can reach; items_per_second is estimates per second.
static void raw_estimates(benchmark::State& state) {
    constexpr int kBatch = 10'000;
    for (auto _ : state) benchmark::DoNotOptimize(api::benchmark_estimates(kBatch));
    state.SetItemsProcessed(state.iterations() * kBatch);
}
BENCHMARK(raw_estimates);

// One answer for the page: JSON in, formulas and neighbours worked out, JSON out.
static void estimate_as_text(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(api::estimate("{}"));
}
BENCHMARK(estimate_as_text);

// The whole matrix of plans of a large model on 16,384 GPUs and around; items_per_second is complete configurations (rules, memory, time).
static void search_405b(benchmark::State& state) {
    std::size_t plans = 0;
    for (auto _ : state) plans += api::search(R"({"model": "llama-3.1-405b", "gpus": 16384, "global_batch": 2048})").columns.row.size();
    state.SetItemsProcessed(static_cast<std::int64_t>(plans));
}
BENCHMARK(search_405b);

// Everything that can be varied for that model on 16,384 GPUs; items_per_second is legal plans.
static void rank_405b(benchmark::State& state) {
    constexpr const char* kRequest = R"({"model": "llama-3.1-405b", "gpus": 16384, "global_batch": 2048,
        "explore": "virtual_stages,schedule,recompute,zero,sequence_parallel,expert_parallel,stage_layers"})";
    std::int64_t plans = 0;
    for (auto _ : state) plans += fourfold::Json::parse(api::rank(kRequest))["legal"].get<std::int64_t>();
    state.SetItemsProcessed(plans);
}
BENCHMARK(rank_405b);

// The reverse questions, as text: of the page's first job, and of the largest.
static void limits(benchmark::State& state, const char* request) {
    for (auto _ : state) benchmark::DoNotOptimize(api::limits(request));
}
BENCHMARK_CAPTURE(limits, first_job, R"({"token_budget": 1e12, "days": 30})")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(limits, 405b_on_16384,
                  R"({"model": "llama-3.1-405b", "gpus": 16384, "global_batch": 2048, "token_budget": 15.6e12, "days": 54})")
    ->Unit(benchmark::kMillisecond);

// All 14 stages of one plan of Llama 3.1 405B by the detailed estimator: in numbers, and with every formula kept.
template <class N>
static void detailed_all_stages(benchmark::State& state) {
    const fourfold::Model& model = fourfold::catalog().model("llama-3.1-405b")->model;
    fourfold::Plan plan;
    plan.tensor_parallel = 8;
    plan.context_parallel = 1;
    plan.pipeline_parallel = 14;
    plan.micro_batch = 1;
    plan.gpus = 8 * 14 * 64;
    for (auto _ : state)
        for (std::int32_t stage = 0; stage < 14; ++stage)
            benchmark::DoNotOptimize(fourfold::detailed<N>(model, plan, {}, fourfold::Stages(model, plan).moments(stage)[0]).peak_bytes);
}
BENCHMARK(detailed_all_stages<double>);
BENCHMARK(detailed_all_stages<fourfold::Traced>);

BENCHMARK_MAIN();
