// Based on
//   K. Fujii, K. Watanabe, R. Yokota: Accelerating Large Language Model Training with 4D Parallelism and Memory Consumption Estimator,
//   arXiv 2411.06465 (2024), and the estimator that its authors publish in their fork of Megatron-LM.
// Legend
//   s sequence length   b micro-batch   h hidden size   f feed-forward width   a attention heads   k KV heads   d head width   L layers
//   v padded vocabulary   t, p, c, D tensor, pipeline, context, data parallel   V chunks per GPU   m micro-batches per step
#include <algorithm>
#include <optional>

#include "memory/memory.h"

namespace fourfold {

template <class N>
static N number(const char* symbol, const char* meaning, const char* unit, std::int64_t value) {
    return quantity<N>({symbol, meaning, unit}, static_cast<double>(value));
}

// For schedules that hold more, or steps that hold less, than p micro-batches.
template <class N>
static std::optional<N> relative_in_flight(const Plan& plan, const N& p) {
    if (plan.virtual_stages > 1) {
        const N V = number<N>("V", "virtual_stages", "", plan.virtual_stages);
        return named<N>({"i", "relative_in_flight", ""}, 1 + (p - 1) / (p * V));
    }
    if (plan.token_slices > 1 && !row_of(plan.schedule).keeps_all) {
        using std::min;
        const N n = number<N>("n_s", "token_slices", "", plan.token_slices), m = number<N>("m", "micro_batches", "", plan.micro_batches());
        return named<N>({"i", "relative_in_flight", ""}, min((p + n - 1) / n, m) / p);
    }
    if (plan.global_batch < plan.micro_batch * plan.data_parallel() * plan.pipeline_parallel) {  // m < p
        const N m = number<N>("m", "micro_batches", "", plan.micro_batches());
        return named<N>({"i", "relative_in_flight", ""}, m / p);
    }
    return std::nullopt;
}

template <class N>
Items<N> fujii2024(const Model& model, const Plan& plan) {
    const N L = number<N>("L", "layers", "", model.layers);
    const N h = number<N>("h", "hidden_size", "values_per_token", model.hidden);
    const N f = number<N>("f", "feed_forward_width", "values_per_token", model.ffn);
    const N a = number<N>("a", "attention_heads", "", model.heads);
    const N k = number<N>("k", "kv_heads", "", model.kv_heads);
    const N d = number<N>("d", "head_width", "values", model.head_dim);
    const N v = number<N>("v", "padded_vocabulary", "words", padded_vocabulary(model, plan.tensor_parallel));
    const N s = number<N>("s", "sequence_length", "tokens", plan.sequence_length);
    const N b = number<N>("b", "micro_batch", "sequences", plan.micro_batch);
    const N t = number<N>("t", "tensor_parallel", "gpus", plan.tensor_parallel);
    const N p = number<N>("p", "pipeline_parallel", "stages", plan.pipeline_parallel);
    const N c = number<N>("c", "context_parallel", "gpus", plan.context_parallel);
    const N D = number<N>("D", "data_parallel", "model_copies", plan.data_parallel());
    const bool one_stage = plan.pipeline_parallel == 1;
    Items<N> items;

    // parameters: all layers with the final norm; then the share of the heaviest GPU
    const N layers = named<N>({"W", "all_layer_parameters", ""},
                              2 * L * squared(h) * ((1 + k / a) * (d * a / h) + (model.gated ? 1.5 : 1.0) * f / h + 1 / h) + h);
    N heaviest = ((layers - h) / p + h * v) / t;
    if (one_stage && !model.tied) heaviest = heaviest + h * v / t + h;
    const N P = named<N>({"P", "most_parameters", ""}, heaviest);

    // states
    items.add(Item::weights, 2 * P);
    items.add(Item::gradients, (plan.gradients_in_fp32 ? 4 : 2) * P);
    items.add(Item::optimizer, plan.shards_optimizer() ? 12 / (D * c) * P : 12 * P);

    // activations of the first stage
    const N x = named<N>({"x", "sequence_tokens", "tokens"}, s / c);
    const std::optional<N> in_flight = relative_in_flight<N>(plan, p);
    const auto add = [&](Item item, const N& bytes) { items.add(item, in_flight ? bytes * *in_flight : bytes); };

    add(Item::attention_activations, L / t * (x * b * (h * (12 + 4 * k / a))));
    add(Item::feed_forward_activations, L / t * (x * b * (8 * f)));
    if (plan.keeps_scores()) add(Item::attention_scores, L / t * ((plan.attention_dropout ? 5 : 4) * b * a * squared(x)));
    if (plan.hidden_dropout) add(Item::dropout_masks, L / t * (2 * x * b * h));
    add(Item::embedding_activations, 8 * x * b * h * p / t);
    if (plan.hidden_dropout) add(Item::embedding_dropout_mask, s * b * h * p);
    if (one_stage) items.add(Item::head_activations, 4 * x * b * h * (1 + v / h) / t);
    if (plan.has_calibrated_memory()) calibrate(items, memory_calibration(plan, items.total()));
    return items;
}

#ifdef FOURFOLD_TRACED
template Items<Traced> fujii2024<Traced>(const Model&, const Plan&);
#else
template Items<double> fujii2024<double>(const Model&, const Plan&);
#endif

}  // namespace fourfold
