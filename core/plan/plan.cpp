#include "plan/plan.h"

#include <algorithm>
#include <array>

#include "plan/framework.h"

namespace fourfold {

// ---- choices, in the order of their enums
static const auto kFrameworks = [] {
    std::array<Choice, kFrameworkKinds> choices{};
    for (std::size_t i = 0; i < choices.size(); ++i) choices[i] = {kFrameworkRows[i].id};
    return choices;
}();
static constexpr Choice kAttentions[] = {
    {"auto"},
    {"flash"},
    {"cudnn"},
    {"plain"},
};
static constexpr Choice kLosses[] = {
    {"auto"}, {"plain"}, {"native_fused"}, {"te_fused"}, {"gathered"}, {"chunked"}, {"tiled"}, {"parallel"},
};
static const auto kSchedules = [] {
    std::array<Choice, kChosenSchedules> choices{};
    for (std::size_t i = 0; i < choices.size(); ++i) {
        choices[i] = {kScheduleRows[i].id};
    }
    return choices;
}();
static constexpr Choice kZeros[] = {
    {"none"},
    {"optimizer"},
    {"gradients"},
    {"weights"},
};
static constexpr Choice kRecomputes[] = {
    {"none"}, {"selective"}, {"full"}, {"block"}, {"operations"},
};
static constexpr Choice kPrecisions[] = {
    {"bf16"},
    {"fp16"},
    {"fp8"},
    {"fp8_weights"},
};
static constexpr Choice kMomentFormats[] = {
    {"fp32"},
    {"16-bit"},
    {"8-bit"},
};
static constexpr Choice kModules[] = {
    {"core_attn"}, {"layernorm"}, {"mlp"}, {"moe_act"}, {"moe"}, {"shared_experts"}, {"mla_up_proj"},
};
static constexpr Choice kSites[] = {
    {"measured"},
    {"quiet"},
    {"shared"},
    {"own"},
};
static constexpr Choice kTrainedKinds[] = {{"full"}, {"lora"}};
static constexpr Choice kFrozenFormats[] = {{"bf16"}, {"fp8"}, {"nf4"}, {"nf4_single"}};
static constexpr Choice kOptimizers[] = {{"adam"}, {"adam_8bit"}, {"muon"}, {"sgd"}};
static constexpr Choice kTargets[] = {{"query"}, {"key"}, {"value"}, {"output"}, {"gate"}, {"up"}, {"down"}};
static constexpr Choice kDispatches[] = {{"auto"}, {"all_to_all"}, {"deepep"}};
static constexpr Choice kGraphs[] = {{"none"}, {"layers"}, {"step"}};
static constexpr Choice kOffloadTargets[] = {{"host"}, {"nvme"}};
static constexpr Choice kOffloadOverlaps[] = {{"none"}, {"overlapped"}, {"interleaved"}};
static constexpr Choice kContexts[] = {{"ring"}, {"all_to_all"}};
static constexpr Choice kHabitNames[] = {
    {"auto"},
    {"on"},
    {"off"},
};
const std::span<const Choice> kFrameworkChoices = kFrameworks, kAttentionChoices = kAttentions, kLossChoices = kLosses,
                              kScheduleChoices = kSchedules, kZeroChoices = kZeros, kRecomputeChoices = kRecomputes,
                              kPrecisionChoices = kPrecisions, kMomentsChoices = kMomentFormats, kModuleChoices = kModules,
                              kSiteChoices = kSites, kHabitChoices = kHabitNames, kDispatchChoices = kDispatches,
                              kTrainedChoices = kTrainedKinds, kFrozenChoices = kFrozenFormats, kOptimizerChoices = kOptimizers,
                              kTargetChoices = kTargets, kOffloadTargetChoices = kOffloadTargets, kOffloadOverlapChoices = kOffloadOverlaps,
                              kContextChoices = kContexts, kGraphChoices = kGraphs;

// ---- the layout's text
void set_notation(Plan& plan, const std::string& text, Problems& problems) {
    plan.layout = nullptr;
    plan.open &= ~open_layout;
    if (text == "auto") {
        plan.open |= open_layout;
        return;
    }
    for (std::size_t i = 0; i < kSplitChoices.size(); ++i)
        if (kSplitChoices[i].id == text) {
            plan.split = static_cast<Split>(i);
            return;
        }
    if (auto layout = read_layout(text, problems)) plan.layout = std::make_shared<const Layout>(std::move(*layout));
}

std::string notation_of(const Plan& plan) {
    if (plan.layout) return layout_text(*plan.layout);
    return (plan.open & open_layout) != 0 ? "auto" : std::string(kSplitChoices[static_cast<std::size_t>(plan.split)].id);
}

void close_options(Plan& plan) {
    const Plan closed;
    if ((plan.open & open_schedule) != 0) plan.schedule = closed.schedule;
    if ((plan.open & open_layout) != 0) plan.layout = nullptr, plan.split = closed.split;
    if ((plan.open & open_zero) != 0) plan.zero = closed.zero;
    if ((plan.open & open_recompute) != 0) plan.recompute = closed.recompute;
    if ((plan.open & open_recompute_modules) != 0) plan.recompute_modules = closed.recompute_modules;
    if ((plan.open & open_moments) != 0) plan.moments = closed.moments;
    if ((plan.open & open_activation_offload) != 0) plan.activation_offload = closed.activation_offload;
    if ((plan.open & open_sequence_parallel) != 0) plan.sequence_parallel = closed.sequence_parallel;
    if ((plan.open & open_expert_overlap) != 0) plan.expert_overlap = closed.expert_overlap;
    if ((plan.open & open_shard_replicas) != 0) plan.shard_replicas = closed.shard_replicas;
    plan.open &= open_pipeline_overlap;
    for (std::int64_t Plan::*number : {&Plan::virtual_stages, &Plan::expert_tensor_parallel, &Plan::recompute_layers})
        if (plan.*number == kAuto) plan.*number = 1;
}

}  // namespace fourfold
