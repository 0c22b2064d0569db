// The time model against published step times. Families apart; "in the fit" and "predicted" apart.
#include "time/step_time.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "memory/judged_runs.h"
#include "model/catalog.h"
#include "near.h"
#include "random_cases.h"
#include "time/timed_runs.h"

using namespace fourfold;
using tests::Run;
using tests::seconds_of;

namespace {

struct Error {
    int rows = 0;
    double sum = 0, most = 0, bias = 0;
    double mean() const { return rows == 0 ? 0 : sum / rows; }
    void add(double estimated, double measured) {  // of the rate, as the sources print TFLOP/s
        const double error = measured / estimated - 1;
        ++rows;
        sum += std::abs(error);
        bias += error;
        most = std::max(most, std::abs(error));
    }
};

template <class Keep>
Error error_of(const char* name, Keep&& keep, const Timing* own = nullptr) {
    Error error;
    for (const Run& run : tests::measured_runs())
        if (run.ran() && run.step_time_s > 0 && layers_per_chunk(run.model, run.plan) && keep(run))
            error.add(seconds_of(run, own), run.step_time_s);
    MESSAGE(std::string(name) << ": " << error.rows << " runs, mean error of TFLOP/s " << 100 * error.mean() << " %, most "
                              << 100 * error.most << " %, bias " << 100 * error.bias / std::max(error.rows, 1) << " %");
    return error;
}

Timing paper_fit(const char* gpu) {
    const Json& fit = tests::measured_table("step_time_paper_fit")[gpu];
    const auto get = [&](const char* name) { return fit[name].get<double>(); };
    return {.gemm = get("gemm"),
            .eight_bits = 1,
            .tile_fill = get("tile_fill"),
            .wave_mix = get("wave_mix"),
            .small_tile = get("small_tile"),
            .unaligned = 1,
            .grouped = 1,
            .grouped_waves = get("wave_mix"),
            .attention = get("attention"),
            .attention_backward = get("attention_backward"),
            .attention_tail = get("attention_tail"),
            .attention_start = 0,
            .attention_narrow = 0,
            .element_wise = get("element_wise"),
            .plain_norms = 1,
            .cross_entropy = get("cross_entropy"),
            .link = get("link"),
            .link_latency = get("link_latency"),
            .network = get("network"),
            .network_latency = get("network_latency"),
            .spanning_latency = 0,
            .spanning_network = 0,
            .shard_latency = 0,
            .bucket_latency = 0,
            .tensor_exposed = get("tensor_exposed"),
            .tensor_overlap_exposed = get("tensor_overlap_exposed"),
            .data_exposed = get("data_exposed"),
            .context_correction = get("context_correction"),
            .ring_link = get("ring_link"),
            .ring_latency = get("ring_latency"),
            .ring_network = get("ring_network"),
            .ring_network_latency = 0,
            .host_layer = get("host_layer"),
            .host_experts = 0,
            .host_expert = 0,
            .host_linear = 0,
            .host_adapter = 0,
            .host_shard = 0,
            .host_partition = 0,
            .graphed_host = 1,
            .fixed = get("fixed"),
            .straggler = get("straggler"),
            .stall = get("stall"),
            .noise_groups = 0.1 / get("stall"),  // that fit's form: no delay beyond 0.1 s
            .pipeline = get("pipeline"),
            .accumulation = get("accumulation"),
            .micro_batch = get("micro_batch")};
}

bool a100(const Run& r) { return r.family == "fujii" && r.gpu == "a100-sxm-40gb"; }
bool h100(const Run& r) { return r.family == "fujii" && r.gpu == "h100-sxm-94gb"; }

}  // namespace

TEST_CASE("step time: the paper's table, with constants fitted to that table alone") {
    const Timing on_a100 = paper_fit("a100-sxm-40gb"), on_h100 = paper_fit("h100-sxm-94gb");
    CHECK(error_of("paper fit, A100 (in the fit)", a100, &on_a100).mean() <= 0.04);
    CHECK(error_of("paper fit, H100 (in the fit)", h100, &on_h100).mean() <= 0.019);
}

// Memory verdict, then the fastest: from all configurations of a job of the paper's table, those with a dash included.
TEST_CASE("end to end: the choice for every job of the paper's table is a configuration that ran") {
    struct Choice {
        double seconds = INFINITY;
        bool ran = false;
        std::string id;
    };
    std::map<std::int64_t, Choice> jobs;
    for (const tests::JudgedRun& row : tests::judged_runs()) {
        if (row.run.family != "fujii" || row.verdict.fit != Fit::fits || row.dash_looks_not_run) continue;
        const double seconds = seconds_of(row.run);
        Choice& choice = jobs[row.run.job];
        if (seconds < choice.seconds) choice = {seconds, row.run.ran(), row.run.id};
    }
    CHECK(jobs.size() >= 10);
    for (const auto& job : jobs) {
        CAPTURE(job.second.id);
        CHECK(job.second.ran);
    }
}

TEST_CASE("FLOP of a step: Llama 3.1 8B by hand, and the conventions differ in the attention scores alone") {
    Plan plan;
    plan.sequence_length = 8'192;
    plan.global_batch = 1'024;
    plan.tensor_parallel = 1;
    const Model& llama = catalog().model("llama-3.1-8b")->model;
    // per token, twice for multiply and add, three times for forward and backward: QKV and output, feed-forward, logits; then the scores
    const double weights = 32.0 * (4'096 * (4'096 + 2 * 1'024) + 4'096 * 4'096 + 3 * 4'096 * 14'336) + 4'096.0 * 128'256;
    const double scores = 32.0 * 2 * 8'192 * 4'096, tokens = 8'192.0 * 1'024;
    CHECK(model_flop(llama, plan, FlopConvention::full) == tests::near(6 * tokens * (weights + scores)));
    CHECK(model_flop(llama, plan, FlopConvention::causal) == tests::near(6 * tokens * (weights + scores / 2)));
}

TEST_CASE("step time: traced and plain agree, the terms sum to the step, none is negative or infinite") {
    tests::Random random(31);
    const Gpu& gpu = *catalog().gpu("h100-sxm-80gb");
    const Cluster* cluster = catalog().cluster("dgx-h100");
    for (int i = 0; i < 1'000; ++i) {
        const Model model = tests::random_model(random);
        const Plan plan = tests::random_legal_plan(random, model);
        const Framework framework = framework_of(model, plan, gpu);
        const Machine machine = machine_of(gpu, random.coin() ? cluster : nullptr, plan);
        const Timing timing = timing_of(machine, cluster, plan, framework.attention);
        const LayerTimes layers = layer_times(model, plan, framework, machine, timing);
        const StepTime<double> plain = step_time<double>(model, plan, framework, machine, timing, layers);
        const StepTime<Traced> traced =
            step_time<Traced>(model, plan, framework, machine, timing, layer_times<Traced>(model, plan, framework, machine, timing));
        double sum = 0;
        for (std::size_t k = 0; k < plain.items.size(); ++k) {
            CHECK(std::isfinite(plain.items[k]));
            CHECK(plain.items[k] >= -1e-9 * plain.seconds);
            CHECK(plain.items[k] == traced.items[k].value());
            sum += plain.items[k];
        }
        CHECK(sum == tests::near(plain.seconds, 1e-9));
        CHECK(plain.seconds >= model_flop(model, plan, FlopConvention::causal) / (machine.peak * static_cast<double>(plan.gpus)));
        for (double Machine::*const one :
             {&Machine::peak, &Machine::peak_16, &Machine::memory, &Machine::link, &Machine::node, &Machine::host}) {
            Machine faster = machine;
            faster.*one *= 1.3;
            const StepTime<double> quick =
                step_time<double>(model, plan, framework, faster, timing, layer_times(model, plan, framework, faster, timing));
            // slices are cut by operations: where the CPU sets a layer's pace, shorter attention leaves them less even
            if (plan.token_slices > 1 && quick.seconds > plain.seconds) {
                const auto uneven = [](const StepTime<double>& step) {
                    return step.items[static_cast<std::size_t>(TimeItem::bubble)] + step.items[static_cast<std::size_t>(TimeItem::stalls)];
                };
                CHECK(quick.seconds - uneven(quick) <= (plain.seconds - uneven(plain)) * (1 + 1e-12));
                continue;
            }
            CHECK(quick.seconds <= plain.seconds * (1 + 1e-12));
        }
    }
}
