// What a step's items are called, and how far measured runs lie from the estimate.
#include "time/step_time.h"

#include <cmath>

namespace fourfold {

static constexpr std::array<TimeText, static_cast<std::size_t>(TimeItem::count)> kTexts = {{
    {"multiplications", "compute", Paper::matrix_guide, "tile_and_wave_quantization"},
    {"attention", "compute", Paper::flash, "3.2"},
    {"element_wise", "compute", Paper::memory_guide, "memory_limited_operations"},
    {"recomputation", "compute", Paper::recomputation, "5"},
    {"accumulation", "compute", Paper::memory_guide, "memory_limited_operations"},
    {"head", "compute", Paper::matrix_guide, "tile_and_wave_quantization"},
    {"tensor_traffic", "tensor", Paper::recomputation, "4.2.2"},
    {"context_traffic", "context", Paper::ring, "overlap_of_rings_and_attention"},
    {"expert_traffic", "other", Paper::experts, "expert_and_data_parallelism"},
    {"weight_traffic", "data", Paper::fsdp, "3.3"},
    {"activation_offload", "other", Paper::karma, "swapped_blocks"},
    {"host", "other", Paper::fujii, "fitted_to_its_published_runs"},
    {"bubble", "bubble", Paper::pipeline, "2.2"},
    {"pipeline_traffic", "pipeline", Paper::pipette, "critical_path"},
    {"data_traffic", "data", Paper::zero, "7"},
    {"optimizer", "compute", Paper::memory_guide, "memory_limited_operations"},
    {"host_optimizer", "other", Paper::deep_optimizer_states, "update_on_host"},
    {"stalls", "other", Paper::fujii, "fitted_to_its_published_runs"},
    {"fixed", "other", Paper::fujii, "fitted_to_its_published_runs"},
}};
const TimeText& text(TimeItem item) { return kTexts[static_cast<std::size_t>(item)]; }

static Band band_on_gpus(const Model& model, const Plan& plan, const Machine& machine) {
    const FrameworkRow& row = row_of(plan.framework);
    const bool elsewhere = row.elsewhere && (plan.gpus > 1 || machine.architecture != Architecture::hopper);
    const std::optional<Band>& band = elsewhere ? row.elsewhere : row.band;
    if (model.linear.kind != Mixer::delta) return {0.6, 2, "mixers", 0};  // assumed
    if (model.linear.any()) return {0.8, 1.9, "linear_attention", 8};
    if (band && band->of_all && machine.architecture <= Architecture::blackwell_ultra) return *band;
    if (plan.freezes()) return {0.85, 2.14, "adapters", 39};
    if (machine.architecture > Architecture::blackwell_ultra) return {0.7, 1.5, "no_run", 0};
    if (model.experts.count > 0 && model.attention_sinks) return {0.78, 2.05, "gpt_oss", 21};
    if (model.experts.count > 0) return {0.7, 1.4, "experts", 120};
    if (band) return *band;
    if (machine.architecture == Architecture::blackwell_ultra) return {0.92, 1.08, "blackwell_ultra", 11};
    if (machine.architecture == Architecture::blackwell) return {0.88, 1.15, "blackwell", 42};
    if (machine.architecture == Architecture::hopper && machine.multiplies_in_8_bits) return {0.91, 1.11, "hopper_fp8", 64};
    if (plan.zero > Zero::optimizer) return {0.79, 1.3, "sharded", 0};  // assumed: as far as runs with it lie in other frameworks
    if (machine.architecture == Architecture::ampere) return {0.89, 1.25, "ampere", 43};
    return {0.88, 1.1, "hopper", 120};
}
// The part of the step on the host has a band of its own, which holds fourteen of fifteen runs with offload: the longest update took 2.64
// times its estimate (Deep Optimizer States' log), the shortest step 0.76 times (fsdp_qlora's of 24,000 tokens on RTX 4090).
static Band published_band(const Model& model, const Plan& plan, const Machine& machine, double host_share) {
    constexpr Band kHost{0.76, 2.7, "offload", 15};
    const Band gpus = band_on_gpus(model, plan, machine);
    if (host_share == 0) return gpus;
    const auto both = [&](double of_gpus, double of_host) { return of_gpus + host_share * (of_host - of_gpus); };
    return {both(gpus.low, kHost.low), both(gpus.high, kHost.high), kHost.basis, kHost.runs};
}
Band band_of(const Model& model, const Plan& plan, const Machine& machine, double host_share) {
    Band band = published_band(model, plan, machine, host_share);
    if (plan.is_calibrated()) band.basis = "calibrated";
    if (plan.time_spread == 1) return band;
    // as many times as far, as logarithms: twice as long and half as long are equally far
    return {std::pow(band.low, plan.time_spread), std::pow(band.high, plan.time_spread), "widened", band.runs};
}

const FlopText& text(FlopConvention convention) {
    static constexpr std::array<FlopText, static_cast<std::size_t>(FlopConvention::count)> kConventions = {{
        {"full"},
        {"causal"},
    }};
    return kConventions[static_cast<std::size_t>(convention)];
}

}  // namespace fourfold
