// What the copies of the model share out, and what travels for it beneath the passes: Megatron-LM d98e8a64dd,
// megatron/training/arguments.py.
#include "formats/megatron/arguments.h"

namespace fourfold {

// Muon's state is shared out by whole matrices. Before 0.19 another name says so, and 0.16 has neither overlap (pull request 3524).
static bool is_muon(const MegatronArguments& to) { return to.plan.optimizer == Optimizer::muon && to.is_from(16); }
static bool is_older_muon(const MegatronArguments& to) { return is_muon(to) && !to.is_from(19); }

bool megatron_has_fsdp(const MegatronArguments& to) {
    return to.plan.shards_gradients() && !is_muon(to) && (to.knows("--use-megatron-fsdp") || to.knows("--use-custom-fsdp"));
}
// Averages of fewer bits, and a part of them in host memory, are Adam's alone (optimizer_config.py, __post_init__). The weights of the
// distributed optimizer alone are in fp8 (arguments.py).
bool megatron_has_small_moments(const MegatronArguments& to) { return to.plan.moments != Moments::fp32 && !is_muon(to); }
bool megatron_offloads(const MegatronArguments& to) { return to.plan.optimizer_offload > 0 && !is_muon(to); }
bool megatron_has_fp8_weights(const MegatronArguments& to) { return to.plan.precision == Precision::fp8_weights && !is_muon(to); }

// What this release knows of what its optimizer shares out or not at all.
static bool shares_anyway(const MegatronArguments& to) {
    return (megatron_has_small_moments(to) && to.knows("--use-precision-aware-optimizer")) || megatron_has_fp8_weights(to) ||
           (megatron_offloads(to) && to.knows("--optimizer-cpu-offload"));
}
void megatron_optimizer(MegatronArguments& to, std::string_view field) {
    if (to.plan.optimizer != Optimizer::muon) return to.leave_changed(field);
    to.flag(to.plan.zero != Zero::none && is_older_muon(to) ? "--optimizer dist_muon" : "--optimizer muon");
}

void megatron_zero(MegatronArguments& to, std::string_view) {
    if (is_muon(to) && to.plan.zero != Zero::none) {
        if (to.plan.shards_gradients()) to.leave_field("zero");  // arguments.py refuses both kinds of FSDP
        if (is_older_muon(to)) return;
        to.since_release(19, "--optimizer muon --use-distributed-optimizer");
        return to.flag("--use-distributed-optimizer");
    }
    switch (to.plan.zero) {
        case Zero::none:
            if (!shares_anyway(to)) return;
            to.leave_field("zero");
            return to.flag("--use-distributed-optimizer");
        case Zero::optimizer:
            return to.flag("--use-distributed-optimizer");
        case Zero::gradients:
        case Zero::weights:
            to.flag("--use-distributed-optimizer");  // arguments.py of 0.12 and 0.13 asserts it, and optimizer_config.py of all
            if (!megatron_has_fsdp(to)) return to.leave_field("zero");
            to.flag(to.knows("--use-megatron-fsdp") ? "--use-megatron-fsdp" : "--use-custom-fsdp");  // its older name
            to.flag("--data-parallel-sharding-strategy", to.plan.zero == Zero::weights ? "optim_grads_params" : "optim_grads");
            if (to.knows("--ckpt-format")) to.flag("--ckpt-format", "fsdp_dtensor");  // arguments.py asserts it
    }
}

void megatron_replicas(MegatronArguments& to, std::string_view field) {
    if (to.plan.shard_replicas == 1) return;
    // with experts since 0.13 (CHANGELOG.md)
    if (to.plan.zero == Zero::optimizer && replicas_divide(to.job) && (to.model.experts.count == 0 || to.is_from(13)))
        to.number("--num-distributed-optimizer-instances", to.plan.shard_replicas);
    else
        to.leave_field(field);
}

static bool refuses_overlap(const MegatronArguments& to) { return is_muon(to) && !to.is_from(17) && to.plan.overlap_gradients; }
void megatron_gradient_overlap(MegatronArguments& to, std::string_view field) {
    if (refuses_overlap(to)) return to.leave_field(field);
    to.when(to.plan.overlap_gradients, "--overlap-grad-reduce");
}

// Weights are gathered by the distributed optimizer alone, and under the passes only where gradients are sent under them too.
void megatron_parameter_overlap(MegatronArguments& to, std::string_view field) {
    if (!to.plan.overlap_parameters || (to.plan.zero == Zero::none && !shares_anyway(to) && !refuses_overlap(to))) return;
    if (to.plan.overlap_gradients && !is_older_muon(to))
        to.flag("--overlap-param-gather");
    else
        to.leave_field(field);
}

}  // namespace fourfold
