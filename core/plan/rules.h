// The rules that a split must keep, what is said when one is broken, and what is legal but slow or unusual.
#pragma once
#include <algorithm>
#include <string_view>

#include "plan/framework.h"
#include "plan/token_slices.h"

namespace fourfold {

enum class Rule {
    heads_divide,
    kv_heads_divide,
    ffn_divides,
    experts_divide,
    gpus_divide,
    expert_gpus_divide,
    layers_divide,
    sequence_divides,
    heads_swap,
    context_needs_flash,
    interleaving_needs_stages,
    schedule_has_chunks,
    schedule_needs_stages,
    replicas_divide,
    grid_applies,
    batch_divides,
    interleaving_needs_batches,
    schedule_needs_batches,
    slices_apply,
    overlap_applies,
    operations_apply,
    count
};
struct RuleText {
    std::string_view id;
    std::string_view field;  // the field to change
};
const RuleText& text(Rule rule);

// The rules, each one `require`: require(rule, holds) returns whether to go on. Grouped by what they look at, so that a search can reject
// whole families of plans at once. All take plans without kAuto. Sources: Megatron-LM d98e8a64dd, training/arguments.py,
// core/transformer/transformer_config.py, core/pipeline_parallel/schedules.py; Megatron pads and splits evenly, so remainders are errors.
template <class Require>
bool check_tensor_rules(const Model& m, const Plan& p, Require&& require) {
    const std::int64_t t = p.tensor_parallel;
    return require(Rule::heads_divide, m.heads % t == 0 && m.linear.key_heads % t == 0) &&
           require(Rule::kv_heads_divide, m.kv_heads % t == 0 || t % m.kv_heads == 0) &&
           require(Rule::ffn_divides, m.ffn % t == 0 && m.experts.shared_ffn % t == 0);
}
template <class Require>
bool check_expert_rules(const Model& m, const Plan& p, Require&& require) {
    const std::int64_t e = p.expert_tensor_parallel;
    return require(Rule::experts_divide, m.experts.count > 0 ? m.experts.count % p.expert_parallel == 0 && m.experts.ffn % e == 0
                                                             : p.expert_parallel == 1 && e == 1) &&
           require(Rule::expert_gpus_divide,
                   m.experts.count == 0 || p.gpus % (p.expert_parallel * p.expert_tensor_parallel * p.pipeline_parallel) == 0);
}
// Whether a sequence can be cut so. Ring attention cuts it into 2*CP pieces to share the causal work evenly; sequence parallelism cuts each
// rank's part by TP.
inline bool cuts_sequence(const Plan& p, bool sequence_parallel) {
    const std::int64_t pieces = p.context_parallel * (sequence_parallel ? p.tensor_parallel : 1);
    return p.sequence_length % pieces == 0 &&
           (p.context_parallel == 1 || p.swaps_heads() || p.sequence_length % (2 * p.context_parallel) == 0);
}
// Whether matrices can be split both ways: those of dense layers that learn as a whole. (AxoNN's experts, and adapters in a grid, are not
// estimated.)
bool has_grid(const Model& m, const Plan& p);
// Whether every GPU of a sequence gets as many heads; keys and values are copied where they have fewer.
bool swaps_heads(const Model& m, const Plan& p);
template <class Require>
bool check_split_rules(const Model& m, const Plan& p, Require&& require) {
    return require(Rule::gpus_divide, p.gpus % p.model_parallel() == 0) &&
           require(Rule::sequence_divides, cuts_sequence(p, splits_sequence(p))) &&
           require(Rule::heads_swap, !p.swaps_heads() || swaps_heads(m, p)) &&
           require(Rule::context_needs_flash, p.context_parallel == 1 || p.attention != Attention::plain) &&
           require(Rule::replicas_divide, p.gpus / (p.tensor_grid() * p.pipeline_parallel) % p.shard_replicas == 0) &&
           require(Rule::grid_applies, p.tensor_columns == 1 || has_grid(m, p));
}
template <class Require>
bool check_batch_rules(const Model&, const Plan& p, Require&& require) {
    const std::int64_t at_once = p.micro_batch * std::max<std::int64_t>(p.data_parallel(), 1);
    return require(Rule::batch_divides, p.global_batch % at_once == 0);
}
// Whether so many micro-batches can be interleaved. Megatron-Core from 0.11 on works in groups (microbatch_group_size_per_virtual_
// pipeline_stage, at least PP): the last group may be smaller, but not smaller than PP (core/pipeline_parallel/schedules.py, the checks at
// the beginning of forward_backward_pipelining_with_interleaving). Others need a multiple of PP.
inline bool interleaves(const Plan& p) {
    const std::int64_t stages = p.pipeline_parallel, micro_batches = p.micro_batches(), group = p.group_of_micro_batches();
    if (!row_of(p.framework).any_group) return group == stages && micro_batches % stages == 0;
    return row_of(p.schedule_kind()).takes(stages, micro_batches, group);
}
// Of schedule, chunks and layers: of the plan without its micro-batches, and with them.
// Whether sequences may be cut into slices of tokens. Context parallelism has cut them already, each rank with early and late tokens; what
// waits on the host would be missed by the next slice; plain attention has no kernel here for a part of the queries.
inline bool has_slices(const Plan& p) {
    return p.pipeline_parallel > 1 && p.context_parallel == 1 && p.virtual_stages == 1 && row_of(p.schedule).slices &&
           p.attention != Attention::plain && p.activation_offload == 0 && p.sequence_length / p.token_slices >= kShortestSlice;
}
// Whether the framework can let tokens on their way to experts travel beneath the work of another micro-batch; whether it may compute whole
// layers again beside that; and whether such an overlap, where it is set, applies.
bool may_overlap_experts(const Model& m, const Plan& p);
bool may_recompute_layers(const Model& m, const Plan& p);
bool overlap_applies(const Model& m, const Plan& p);
template <class Require>
bool check_pipeline_rules(const Model& m, const Plan& p, Require&& require) {
    const ScheduleRow& schedule = row_of(p.schedule_kind());
    return require(Rule::layers_divide, holds_layers(m, p)) &&
           require(Rule::interleaving_needs_stages, p.virtual_stages == 1 || p.pipeline_parallel > 1) &&
           require(Rule::schedule_has_chunks, schedule.chunks == 0 || p.virtual_stages == schedule.chunks) &&
           require(Rule::schedule_needs_stages, p.pipeline_parallel % schedule.stages_by == 0) &&
           require(Rule::slices_apply, p.token_slices == 1 || has_slices(p)) &&
           require(Rule::overlap_applies, !p.expert_overlap || overlap_applies(m, p)) &&
           require(Rule::operations_apply, p.recompute != Recompute::operations || may_recompute_operations(m, p));
}
template <class Require>
bool check_schedule_rules(const Model&, const Plan& p, Require&& require) {
    const std::int64_t m = p.micro_batches();
    const ScheduleRow& row = row_of(p.schedule_kind());
    return require(Rule::interleaving_needs_batches, !row.turns || interleaves(p)) &&
           require(Rule::schedule_needs_batches, row.turns || row.takes(p.pipeline_parallel, m, p.group_of_micro_batches()));
}
template <class Require>
bool check_rules(const Model& m, const Plan& p, Require&& require) {
    const bool copies_are_whole = p.gpus % p.model_parallel() == 0;  // otherwise there is no data-parallel size to judge a batch by
    return check_tensor_rules(m, p, require) && check_expert_rules(m, p, require) && check_split_rules(m, p, require) &&
           check_pipeline_rules(m, p, require) &&
           (!copies_are_whole || (check_batch_rules(m, p, require) && check_schedule_rules(m, p, require)));
}

// ---- asking them
bool is_legal(const Model& model, const Plan& plan);

// Every broken rule, with what it means for this plan and the nearest value of its field that works. Empty = legal.
Problems broken_rules(const Model& model, const Plan& plan);

// The first broken rule alone, without the search for a nearest value; for lists of many plans.
Problem first_broken_rule(const Model& model, const Plan& plan);

// Legal, but slow or unusual.
Problems warnings(const Model& model, const Plan& plan);

}  // namespace fourfold
