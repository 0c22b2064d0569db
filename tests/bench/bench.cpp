// Native benchmarks. Build and run:  cmake --workflow --preset release && build/release/tests/fourfold_bench
#include <benchmark/benchmark.h>

#include "api.h"
#include "base/random.h"
#include "memory/memory.h"
#include "model/catalog.h"
#include "placement/annealing.h"
#include "placement/model.h"

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
        "leave_out": ""})";
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

// Moves of the search for a placement, square pipelines x stages, Pipette's cost; items_per_second is moves per second.
static void placement_moves(benchmark::State& state) {
    const auto n = static_cast<std::size_t>(state.range(0));
    fourfold::Random random(1);
    fourfold::Links links;
    for (std::size_t i = 0; i < n; ++i) links.names.push_back("n" + std::to_string(i));
    for (std::size_t i = 0; i < n * n; ++i) links.byte_per_s.push_back(1e9 * (5 + random.below(40)));
    std::int64_t side = 4;
    while (side * side < state.range(0)) side *= 2;
    const auto shape = fourfold::pipette_shape({side, side, side, 1, 0.03e9, 1.7e9, 0}, links);
    constexpr std::int64_t kMoves = 1'000'000;
    for (auto _ : state) benchmark::DoNotOptimize(fourfold::anneal(shape, {.seed = 1, .moves = kMoves, .restarts = 1}).seconds);
    state.SetItemsProcessed(state.iterations() * kMoves);
}
BENCHMARK(placement_moves)->Arg(16)->Arg(64)->Arg(1024)->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();
