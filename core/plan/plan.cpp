#include "plan/plan.h"

#include <algorithm>
#include <array>

namespace fourfold {

// ---- choices, in the order of their enums
static constexpr Choice kFrameworks[] = {
    {"megatron-2025"},
    {"megatron-2024"},
    {"pytorch"},
};
static constexpr Choice kAttentions[] = {
    {"auto"},
    {"flash"},
    {"cudnn"},
    {"plain"},
};
static constexpr Choice kLosses[] = {
    {"auto"}, {"plain"}, {"native_fused"}, {"te_fused"}, {"gathered"},
};
static const auto kSchedules = [] {
    std::array<Choice, kChosenSchedules> choices{};
    for (std::size_t i = 0; i < choices.size(); ++i) {
        const ScheduleRow& row = row_of(static_cast<ScheduleKind>(i));
        choices[i] = {row.id};
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
    {"none"},
    {"selective"},
    {"full"},
    {"block"},
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
const std::span<const Choice> kFrameworkChoices = kFrameworks, kAttentionChoices = kAttentions, kLossChoices = kLosses,
                              kScheduleChoices = kSchedules, kZeroChoices = kZeros, kRecomputeChoices = kRecomputes,
                              kPrecisionChoices = kPrecisions, kMomentsChoices = kMomentFormats, kModuleChoices = kModules,
                              kSiteChoices = kSites;

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

// ---- rules
static constexpr std::array<RuleText, static_cast<std::size_t>(Rule::count)> kRules = {{
    {"heads_divide", "tensor_parallel"},
    {"kv_heads_divide", "tensor_parallel"},
    {"ffn_divides", "tensor_parallel"},
    {"experts_divide", "expert_parallel"},
    {"gpus_divide", "gpus"},
    {"expert_gpus_divide", "expert_parallel"},
    {"layers_divide", "pipeline_parallel"},
    {"sequence_divides", "context_parallel"},
    {"context_needs_flash", "attention"},
    {"interleaving_needs_stages", "virtual_stages"},
    {"schedule_has_chunks", "virtual_stages"},
    {"schedule_needs_stages", "pipeline_parallel"},
    {"replicas_divide", "shard_replicas"},
    {"batch_divides", "micro_batch"},
    {"interleaving_needs_batches", "virtual_stages"},
    {"schedule_needs_batches", "global_batch"},
}};

const RuleText& text(Rule rule) { return kRules[static_cast<std::size_t>(rule)]; }

void close_options(Plan& plan) {
    const Plan closed;
    if ((plan.open & open_schedule) != 0) plan.schedule = closed.schedule;
    if ((plan.open & open_layout) != 0) plan.layout = nullptr, plan.split = closed.split;
    if ((plan.open & open_zero) != 0) plan.zero = closed.zero;
    if ((plan.open & open_recompute) != 0) plan.recompute = closed.recompute;
    if ((plan.open & open_moments) != 0) plan.moments = closed.moments;
    if ((plan.open & open_sequence_parallel) != 0) plan.sequence_parallel = closed.sequence_parallel;
    plan.open = 0;
    for (std::int64_t Plan::*number : {&Plan::virtual_stages, &Plan::expert_tensor_parallel, &Plan::recompute_layers})
        if (plan.*number == kAuto) plan.*number = 1;
}

bool is_legal(const Model& model, const Plan& plan) {
    return check_rules(model, plan, [](Rule, bool holds) { return holds; });
}

static bool holds(Rule wanted, const Model& model, const Plan& plan) {
    bool result = true;
    check_rules(model, plan, [&](Rule rule, bool ok) {
        if (rule == wanted) result = ok;
        return true;
    });
    return result;
}

static std::string schedule_name(const Plan& p) { return std::string(row_of(p.schedule).id); }

static std::string explain(Rule rule, const Model& m, const Plan& p) {
    const std::string tp = grouped(p.tensor_parallel), cp = grouped(p.context_parallel), pp = grouped(p.pipeline_parallel);
    switch (rule) {
        case Rule::heads_divide:
            return "The " + grouped(m.heads) + " attention heads cannot be shared evenly among " + tp + " tensor-parallel GPUs.";
        case Rule::kv_heads_divide:
            return "The " + grouped(m.kv_heads) + " KV heads and " + tp +
                   " tensor-parallel GPUs do not fit: one number must be a multiple of the other.";
        case Rule::ffn_divides:
            return "The feed-forward width " + grouped(m.ffn % p.tensor_parallel != 0 ? m.ffn : m.experts.shared_ffn) +
                   " cannot be split evenly over " + tp + " tensor-parallel GPUs.";
        case Rule::experts_divide:
            if (m.experts.count == 0) return "This model has no experts: expert parallel and expert tensor parallel must be 1.";
            return "The " + grouped(m.experts.count) + " experts of width " + grouped(m.experts.ffn) +
                   " cannot be shared evenly: expert parallel " + grouped(p.expert_parallel) +
                   " must divide their number, expert tensor parallel " + grouped(p.expert_tensor_parallel) + " their width.";
        case Rule::expert_gpus_divide:
            return grouped(p.gpus) +
                   " GPUs cannot be divided by expert parallel × expert tensor parallel × PP = " + grouped(p.expert_parallel) + " × " +
                   grouped(p.expert_tensor_parallel) + " × " + pp + ".";
        case Rule::gpus_divide:
            return grouped(p.gpus) + " GPUs cannot be divided by TP × CP × PP = " + tp + " × " + cp + " × " + pp + " = " +
                   grouped(p.model_parallel()) + ": every copy of the model takes that many.";
        case Rule::layers_divide:
            if (p.layout)
                return "The layout has " + grouped(static_cast<std::int64_t>(p.layout->chunks())) + " chunks; " + pp +
                       " pipeline stages with " + grouped(p.virtual_stages) + (p.virtual_stages == 1 ? " chunk" : " chunks") +
                       " each have " + grouped(p.chunks()) + ".";
            if (p.split == Split::front)
                return "The " + grouped(m.layers) + " layers are fewer than the " + grouped(p.chunks()) + " chunks of the pipeline.";
            return "The " + grouped(m.layers) + " layers" +
                   (p.count_embedding_as_layer || p.count_loss_as_layer ? " and what counts as one" : "") +
                   (p.first_stage_layers > 0 ? ", " + grouped(p.first_stage_layers) + " in the first stage," : "") +
                   (p.last_stage_layers > 0 ? ", " + grouped(p.last_stage_layers) + " in the last stage," : "") +
                   " cannot be split evenly over " + pp + " pipeline stages" +
                   (p.virtual_stages == 1 ? "." : " with " + grouped(p.virtual_stages) + " chunks each.");
        case Rule::sequence_divides:
            return "Sequences of " + grouped(p.sequence_length) + " tokens cannot be cut evenly for context parallel " + cp +
                   " and tensor parallel " + tp +
                   (p.context_parallel == 1 ? "." : ": the length must be a multiple of 2 × " + cp + " and of " + cp + " × " + tp + ".");
        case Rule::context_needs_flash:
            return "Context parallel " + cp + " needs flash attention: plain attention cannot be split along the sequence.";
        case Rule::interleaving_needs_stages:
            return grouped(p.virtual_stages) + " chunks per GPU need at least two pipeline stages.";
        case Rule::schedule_has_chunks:
            return row_of(p.schedule).chunks == 2
                       ? "The schedule " + schedule_name(p) + " has two chunks per GPU."
                       : "The schedule " + schedule_name(p) + " has one chunk per GPU: only 1F1B and the V schedules have several.";
        case Rule::schedule_needs_stages:
            return "The schedule " + schedule_name(p) +
                   " needs an even number of pipeline stages: micro-batches from both ends meet in the middle.";
        case Rule::replicas_divide:
            return grouped(p.gpus / std::max<std::int64_t>(p.tensor_parallel * p.pipeline_parallel, 1)) +
                   " data- and context-parallel GPUs cannot hold " + grouped(p.shard_replicas) + " whole copies of the shards.";
        case Rule::batch_divides:
            return "A batch of " + grouped(p.global_batch) + " sequences cannot be shared evenly among " + grouped(p.data_parallel()) +
                   " copies of the model in micro-batches of " + grouped(p.micro_batch) + ": it must be a multiple of " +
                   grouped(p.micro_batch * std::max<std::int64_t>(p.data_parallel(), 1)) + ".";
        case Rule::interleaving_needs_batches:
            if (p.framework == FrameworkKind::megatron_2025)
                return "The interleaved schedule passes micro-batches on in groups of " + grouped(p.group_of_micro_batches()) +
                       ": a group, and what is left of the " + grouped(p.micro_batches()) + " micro-batches per step after whole groups, " +
                       "must not be smaller than the " + pp + " pipeline stages.";
            return "The interleaved schedule needs the micro-batches per step to be a multiple of the " + pp + " pipeline stages.";
        case Rule::schedule_needs_batches:
            return "The schedule " + schedule_name(p) + " needs " +
                   (row_of(p.schedule).batches_by > 1 ? "an even number of micro-batches per step, and at least two"
                                                      : "at least two micro-batches per step") +
                   " for each of the " + pp + " pipeline stages.";
        case Rule::count:
            break;
    }
    return {};
}

// Where to look for a value that works: the member that a field name stands for, and the grid on which such values lie.
struct Grid {
    std::int64_t* value;
    std::int64_t step;
    std::int64_t max;
};
static Grid grid(Plan& plan, std::string_view field) {
    if (field == "tensor_parallel") return {&plan.tensor_parallel, 1, 1'024};
    if (field == "context_parallel") return {&plan.context_parallel, 1, 4'096};
    if (field == "pipeline_parallel") return {&plan.pipeline_parallel, 1, 2'000};
    if (field == "micro_batch") return {&plan.micro_batch, 1, 65'536};
    if (field == "virtual_stages") return {&plan.virtual_stages, 1, 128};
    if (field == "expert_parallel") return {&plan.expert_parallel, 1, 4'096};
    if (field == "expert_tensor_parallel") return {&plan.expert_tensor_parallel, 1, 1'024};
    if (field == "shard_replicas") return {&plan.shard_replicas, 1, 1'048'576};
    if (field == "gpus") return {&plan.gpus, plan.model_parallel(), 1'048'576};
    if (field == "global_batch")
        return {&plan.global_batch, plan.micro_batch * std::max<std::int64_t>(plan.data_parallel(), 1), 16'777'216};
    return {nullptr, 1, 0};
}

// The value of `field` nearest to the given one with which every rule holds, else with which `rule` holds, else null.
static Json nearest_value(Rule rule, std::string_view field, const Model& model, const Plan& plan) {
    Plan trial = plan;
    if (rule == Rule::experts_divide && model.experts.count == 0) return 1;
    const auto [value, step, max] = grid(trial, field);
    if (value == nullptr) return nullptr;
    const std::int64_t given = *value;
    const std::int64_t start = field == "micro_batch" ? std::min(given, plan.global_batch) : given;  // none above the batch divides it
    const std::int64_t below = start / step * step;
    std::int64_t keeps_rule = 0;
    const auto works = [&, value = value, max = max](std::int64_t candidate) {
        if (candidate < 1 || candidate > max || candidate == given) return false;
        *value = candidate;
        if (is_legal(model, trial)) return true;
        if (keeps_rule == 0 && holds(rule, model, trial)) keeps_rule = candidate;
        return false;
    };
    constexpr std::int64_t kSteps = 4'096;  // the whole range of every degree
    for (std::int64_t i = 0; i < kSteps; ++i) {
        const std::int64_t low = below - i * step, high = below + (i + 1) * step;
        const bool low_works = works(low), high_works = works(high);
        if (low_works && (!high_works || given - low <= high - given)) return low;
        if (high_works) return high;
    }
    return keeps_rule == 0 ? Json() : Json(keeps_rule);
}

static Json value_of_field(std::string_view field, const Plan& plan) {
    Json all = Json::object();
    visit_fields(plan, FieldWriter(all));
    return all[std::string(field)];
}

static Problem problem(Rule rule, const Model& model, const Plan& plan, std::string_view field, Json nearest) {
    std::string suggestion;
    if (rule == Rule::context_needs_flash) {
        nearest = "flash";
        suggestion = "Choose flash attention, or context parallel 1.";
    }
    return {std::string(field),         std::string(text(rule).id), value_of_field(field, plan),
            explain(rule, model, plan), std::move(suggestion),      std::move(nearest)};
}

Problems broken_rules(const Model& model, const Plan& plan) {
    Problems problems;
    check_rules(model, plan, [&](Rule rule, bool ok) {
        if (ok) return true;
        std::string_view field = text(rule).field;
        const bool one_expert_rank =
            plan.expert_parallel == 1 || (model.experts.count > 0 && model.experts.count % plan.expert_parallel == 0);
        if (rule == Rule::experts_divide && one_expert_rank) field = "expert_tensor_parallel";
        if (rule == Rule::sequence_divides && plan.context_parallel == 1) field = "tensor_parallel";
        Json nearest = nearest_value(rule, field, model, plan);
        // a batch that no micro-batch divides needs another batch
        if (rule == Rule::batch_divides && nearest.is_null()) {
            field = "global_batch";
            nearest = nearest_value(rule, field, model, plan);
        }
        problems.push_back(problem(rule, model, plan, field, std::move(nearest)));
        return true;
    });
    return problems;
}

Problem first_broken_rule(const Model& model, const Plan& plan) {
    Problem first;
    check_rules(model, plan, [&](Rule rule, bool ok) {
        if (!ok) first = problem(rule, model, plan, text(rule).field, nullptr);
        return ok;
    });
    return first;
}

Problems warnings(const Model& model, const Plan& plan) {
    Problems list;
    const auto warn = [&](const char* field, const char* id, std::int64_t value, std::string message, std::string suggestion) {
        list.push_back({field, id, value, std::move(message), std::move(suggestion), nullptr});
    };
    if (plan.tensor_parallel > plan.gpus_per_node)
        warn("tensor_parallel", "tensor_parallel_across_nodes", plan.tensor_parallel,
             "Tensor parallel " + grouped(plan.tensor_parallel) + " reaches beyond one node of " + grouped(plan.gpus_per_node) +
                 " GPUs: it fits or not just the same, but the links between nodes make it slow.",
             "Prefer pipeline parallel across nodes.");
    if (model.max_positions > 0 && plan.sequence_length > model.max_positions)
        warn("sequence_length", "sequence_beyond_model", plan.sequence_length,
             "The model was made for sequences of up to " + grouped(model.max_positions) + " tokens.", "");
    if (plan.gpus > plan.gpus_per_node && plan.gpus % plan.gpus_per_node != 0)
        warn("gpus", "partly_used_node", plan.gpus,
             grouped(plan.gpus) + " GPUs do not fill nodes of " + grouped(plan.gpus_per_node) + "; one node is used in part.", "");
    if (plan.pipeline_parallel > 1 && (plan.zero == Zero::gradients || plan.zero == Zero::weights))
        warn("zero", "sharding_with_pipeline", plan.pipeline_parallel,
             "ZeRO-2 and ZeRO-3 exchange gradients or weights for every micro-batch of a pipeline: few frameworks combine them.",
             "Use ZeRO-1 with a pipeline.");
    if (plan.zero == Zero::none && plan.optimizer_offload > 0)
        warn("optimizer_offload", "offload_of_whole_optimizer", 0,
             "Every GPU keeps its whole optimizer state in host memory: with ZeRO-1 the GPUs would share it out.", "");
    if (plan.micro_batches() < plan.pipeline_parallel)
        warn("global_batch", "idle_stages", plan.global_batch,
             "Only " + grouped(plan.micro_batches()) + " micro-batches per step for " + grouped(plan.pipeline_parallel) +
                 " pipeline stages: most stages wait most of the time.",
             "Use fewer stages or a larger batch.");
    return list;
}

}  // namespace fourfold
