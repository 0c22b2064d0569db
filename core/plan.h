// How a training run is split over GPUs, and the rules that such a split must keep (Megatron-style training).
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>

#include "fields.h"
#include "hardware.h"
#include "model.h"

namespace fourfold {

enum class Attention { flash, selective, plain };
inline constexpr Choice kAttentionChoices[] = {
    {"flash", "Flash attention", "Never writes the table of attention scores to memory."},
    {"selective", "Plain, recomputed", "Plain attention whose scores are computed again in the backward pass (selective recomputation)."},
    {"plain", "Plain", "Keeps the table of attention scores, which grows with the square of the sequence."},
};

// Every whole number may be kAuto until search.h has chosen it.
struct Plan {
    std::int64_t gpus = 8;
    std::int64_t gpus_per_node = kAuto;
    std::int64_t sequence_length = 8'192;  // tokens
    std::int64_t global_batch = 1'024;     // sequences per optimizer step
    std::int64_t tensor_parallel = kAuto;
    std::int64_t context_parallel = kAuto;
    std::int64_t pipeline_parallel = kAuto;
    std::int64_t micro_batch = kAuto;  // sequences that pass through a GPU at once
    std::int64_t virtual_stages = 1;   // model chunks per GPU in the interleaved schedule
    bool distributed_optimizer = true;
    bool gradients_in_fp32 = true;
    Attention attention = Attention::flash;
    bool hidden_dropout = false;
    bool attention_dropout = false;
    bool sequence_parallel = true;  // has an effect with tensor parallelism alone
    std::int64_t expert_parallel = 1;
    std::int64_t expert_tensor_parallel = 1;
    std::int64_t optimizer_instances = 1;  // copies of the distributed optimizer's shards

    std::int64_t model_parallel() const { return tensor_parallel * context_parallel * pipeline_parallel; }
    std::int64_t data_parallel() const { return gpus / model_parallel(); }
    std::int64_t micro_batches() const { return global_batch / (micro_batch * data_parallel()); }  // per step and pipeline
};

static_assert(std::is_trivially_copyable_v<Plan>, "a search copies plans by the million");

// Rows of the embedding as Megatron pads them, so that every GPU of a tensor group gets a multiple of 128.
inline std::int64_t padded_vocabulary(const Model& model, std::int64_t tensor_parallel) {
    const std::int64_t multiple = 128 * tensor_parallel;
    return (model.vocabulary + multiple - 1) / multiple * multiple;
}

// The one list of the plan's fields (FieldReader, FieldWriter, FieldDescriber).
template <class AnyPlan, class Visitor>
void visit_fields(AnyPlan& p, Visitor&& v) {
    v.integer({"gpus", "gpus", "GPUs", "How many GPUs train together, over all nodes.", "GPUs"}, p.gpus, {1, 1'048'576});
    v.integer({"sequence_length", "seq", "Sequence length", "Tokens in one training sequence.", "tokens"}, p.sequence_length,
              {1, 16'777'216});
    v.integer({"global_batch", "batch", "Sequences per batch (global batch)",
               "Sequences that the whole cluster works through per optimizer step.", "sequences"},
              p.global_batch, {1, 16'777'216});
    v.integer({"tensor_parallel", "tp", "Tensor parallel (TP)", "Every layer is split over this many GPUs.", "GPUs"}, p.tensor_parallel,
              {1, 1'024}, true);
    v.integer({"context_parallel", "cp", "Context parallel (CP)", "Every sequence is split over this many GPUs.", "GPUs"},
              p.context_parallel, {1, 4'096}, true);
    v.integer(
        {"pipeline_parallel", "pp", "Pipeline parallel (PP)", "The layers are split into this many stages, one after the other.", "stages"},
        p.pipeline_parallel, {1, 2'000}, true);
    v.integer({"micro_batch", "mb", "Micro-batch", "Sequences that pass through a GPU at once.", "sequences"}, p.micro_batch, {1, 65'536},
              true);
    v.integer({"virtual_stages", "vp", "Chunks per GPU (virtual pipeline)",
               "With more than one, every GPU holds several smaller pieces of the pipeline (interleaved schedule).", "chunks"},
              p.virtual_stages, {1, 128});
    v.integer({"gpus_per_node", "node", "GPUs per node", "GPUs in one machine, joined by fast links.", "GPUs"}, p.gpus_per_node, {1, 256},
              true);
    v.boolean({"distributed_optimizer", "distopt", "Distributed optimizer (ZeRO-1)",
               "The optimizer's state is shared out among the data-parallel GPUs instead of copied to each.", ""},
              p.distributed_optimizer);
    v.boolean({"gradients_in_fp32", "grad32", "Gradients in fp32", "Gradients are added up with 4 bytes each instead of 2.", ""},
              p.gradients_in_fp32);
    v.choice({"attention", "attn", "Attention", "How attention scores are computed and kept.", ""}, p.attention,
             std::span(kAttentionChoices));
    v.boolean({"hidden_dropout", "drop", "Dropout", "Random zeros after attention and feed-forward; their masks are kept.", ""},
              p.hidden_dropout);
    v.boolean({"attention_dropout", "attndrop", "Attention dropout", "Random zeros among the attention scores.", ""}, p.attention_dropout);
}

// ---- rules
enum class Rule {
    heads_divide,
    kv_heads_divide,
    ffn_divides,
    gpus_divide,
    layers_divide,
    sequence_divides,
    context_needs_flash,
    interleaving_needs_stages,
    batch_divides,
    interleaving_needs_batches,
    count
};
struct RuleText {
    std::string_view id;
    std::string_view label;  // what a plan that breaks it does: "3,960 … do not divide the GPUs"
    std::string_view field;  // the field to change
};
const RuleText& text(Rule rule);

// The rules, each one `require`: require(rule, holds) returns whether to go on. Grouped by what they look at, so that a search can reject
// whole families of plans at once. All take plans without kAuto. Sources: Megatron-LM d98e8a64dd, training/arguments.py,
// core/transformer/transformer_config.py, core/pipeline_parallel/schedules.py; Megatron pads and splits evenly, so remainders are errors.
template <class Require>
bool check_tensor_rules(const Model& m, const Plan& p, Require&& require) {
    return require(Rule::heads_divide, m.heads % p.tensor_parallel == 0) &&
           require(Rule::kv_heads_divide, m.kv_heads % p.tensor_parallel == 0 || p.tensor_parallel % m.kv_heads == 0) &&
           require(Rule::ffn_divides, m.ffn % p.tensor_parallel == 0);
}
template <class Require>
bool check_split_rules(const Model& m, const Plan& p, Require&& require) {
    // ring attention cuts a sequence into 2*CP pieces to share the causal work evenly; sequence parallelism cuts each rank's part by TP
    const std::int64_t pieces = p.context_parallel == 1 ? p.tensor_parallel : p.context_parallel * p.tensor_parallel;
    const bool even = p.sequence_length % pieces == 0 && (p.context_parallel == 1 || p.sequence_length % (2 * p.context_parallel) == 0);
    return require(Rule::gpus_divide, p.gpus % p.model_parallel() == 0) &&
           require(Rule::layers_divide, m.layers % (p.pipeline_parallel * p.virtual_stages) == 0) &&
           require(Rule::sequence_divides, even) &&
           require(Rule::context_needs_flash, p.context_parallel == 1 || p.attention == Attention::flash) &&
           require(Rule::interleaving_needs_stages, p.virtual_stages == 1 || p.pipeline_parallel > 1);
}
template <class Require>
bool check_batch_rules(const Model&, const Plan& p, Require&& require) {
    const std::int64_t at_once = p.micro_batch * std::max<std::int64_t>(p.data_parallel(), 1);
    return require(Rule::batch_divides, p.global_batch % at_once == 0) &&
           require(Rule::interleaving_needs_batches, p.virtual_stages == 1 || p.global_batch / at_once % p.pipeline_parallel == 0);
}
template <class Require>
bool check_rules(const Model& m, const Plan& p, Require&& require) {
    const bool copies_are_whole = p.gpus % p.model_parallel() == 0;  // otherwise there is no data-parallel size to judge a batch by
    return check_tensor_rules(m, p, require) && check_split_rules(m, p, require) && (!copies_are_whole || check_batch_rules(m, p, require));
}

bool is_legal(const Model& model, const Plan& plan);

// Every broken rule, with what it means for this plan and the nearest value of its field that works. Empty = legal.
Problems broken_rules(const Model& model, const Plan& plan);

// The first broken rule alone, without the search for a nearest value; for lists of many plans.
Problem first_broken_rule(const Model& model, const Plan& plan);

// Legal, but slow or unusual.
Problems warnings(const Model& model, const Plan& plan);

}  // namespace fourfold
