// What a step's items are called, and how far measured runs lie from the estimate.
#include "time/step_time.h"

namespace fourfold {

static constexpr std::array<TimeText, static_cast<std::size_t>(TimeItem::count)> kTexts = {{
    {"multiplications", "compute", "Matrix multiplications", "The layers' weights times what flows through them, forward and backward.",
     Paper::matrix_guide, "tile and wave quantization"},
    {"attention", "compute", "Attention", "Every token against every earlier one.", Paper::flash, "3.2"},
    {"element_wise", "compute", "Element-wise work", "Norms, activation functions, residuals: limited by memory, not by arithmetic.",
     Paper::memory_guide, "memory-limited operations"},
    {"recomputation", "compute", "Recomputation", "What was not kept is computed again.", Paper::recomputation, "5"},
    {"accumulation", "compute", "Adding up gradients", "Every micro-batch adds to the gradients of all weights.", Paper::memory_guide,
     "memory-limited operations"},
    {"head", "compute", "Embedding, logits, loss", "Both ends of the model, on the stage that sets the pace.", Paper::matrix_guide,
     "tile and wave quantization"},
    {"tensor_traffic", "tensor", "Tensor-parallel traffic", "Exchanges inside every layer that no work hides.", Paper::recomputation,
     "4.2.2"},
    {"context_traffic", "context", "Context-parallel traffic", "Keys and values on their way round, as far as nothing hides it.",
     Paper::ring, "overlap of rings and attention"},
    {"expert_traffic", "other", "Expert traffic", "Tokens to their experts and back. No published run tells it apart.", Paper::experts,
     "expert and data parallelism"},
    {"weight_traffic", "data", "Gathering weights",
     "FSDP gathers weights for every micro-batch. Eight published runs with it were predicted within 10 %.", Paper::fsdp, "3.3"},
    {"host", "other", "Waiting for the CPU", "Small pieces of work finish faster than the CPU can launch the next.", Paper::fujii,
     "fitted to its published runs"},
    {"bubble", "bubble", "Pipeline bubble", "Stages wait while the pipeline fills and drains.", Paper::pipeline, "2.2"},
    {"pipeline_traffic", "pipeline", "Pipeline traffic", "Hand-overs between stages on the critical path.", Paper::pipette,
     "critical path"},
    {"data_traffic", "data", "Data-parallel traffic", "Gradients added up over all copies of the model, and new weights handed out.",
     Paper::zero, "7"},
    {"optimizer", "compute", "Optimizer", "Adam's update of the weights.", Paper::memory_guide, "memory-limited operations"},
    {"stalls", "other", "Stalls", "Noise of machine and network: everybody waits for the slowest.", Paper::fujii,
     "fitted to its published runs"},
    {"fixed", "other", "Fixed work per step", "Data, logging, bookkeeping.", Paper::fujii, "fitted to its published runs"},
}};
const TimeText& text(TimeItem item) { return kTexts[static_cast<std::size_t>(item)]; }

static Band published_band(const Model& model, const Plan& plan, const Machine& machine) {
    if (model.experts.count > 0)
        return {
            0.8, 3.1,
            "From 14 rates that NVIDIA publishes for models with experts, none of them fitted: where experts are small, steps took up to "
            "three times as long."};
    if (plan.framework == FrameworkKind::pytorch)
        return {0.95, 1.6, "Frameworks other than Megatron-LM took 1.1 to 1.6 times as long in 216 published runs."};
    if (machine.architecture == Architecture::blackwell)
        return {0.88, 1.15, "From 44 published runs on B200 and GB200: 16 on one node were fitted, NVIDIA's 28 in fp8 were not."};
    if (machine.architecture == Architecture::hopper && machine.multiplies_in_8_bits)
        return {0.94, 1.15, "From 20 runs that NVIDIA publishes for H100 in fp8, none of them fitted."};
    if (machine.architecture == Architecture::ampere) return {0.89, 1.25, "From 84 published Megatron-LM runs on A100."};
    return {0.91, 1.1,
            "From 102 published Megatron-LM runs on H100; 93 were in the fit, and at sites that were not, some lie up to a tenth off."};
}
Band band_of(const Model& model, const Plan& plan, const Machine& machine) {
    Band band = published_band(model, plan, machine);
    if (plan.is_calibrated()) band.basis = "Calibrated with your own runs; the band is that of the published ones.";
    return band;
}

const FlopText& text(FlopConvention convention) {
    static constexpr std::array<FlopText, static_cast<std::size_t>(FlopConvention::count)> kConventions = {{
        {"full", "attention counted whole (as in the first paper)",
         "Every token against every other one. Logits count, recomputation does not."},
        {"causal", "attention counted half (causal)",
         "Every token against the earlier ones alone, as a causal mask leaves it. Logits count, recomputation does not."},
    }};
    return kConventions[static_cast<std::size_t>(convention)];
}

}  // namespace fourfold
