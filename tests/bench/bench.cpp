// Native benchmarks. Build and run:  cmake --workflow --preset release && build/release/tests/fourfold_bench
#include <benchmark/benchmark.h>

#include "api.h"

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

// The whole matrix of plans of a large model.
static void search_405b(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(api::search(R"({"model": "llama-3.1-405b", "gpus": 2048})"));
}
BENCHMARK(search_405b);

BENCHMARK_MAIN();
