// The floating-point operations of a step, which a rate is counted in. Based on
//   K. Fujii et al., arXiv 2411.06465: the count of FLOP
#include "base/numbers.h"
#include "time/step_time.h"

#include <algorithm>

#include "model/operations.h"
#include "plan/kept_outputs.h"

namespace fourfold {

// Tokens that a token attends to, the average over a document of s tokens (or a whole sequence) and over the layers. A causal mask leaves
// half of a square; with a window of w tokens, w of every token but the first w, which see half as many.
static double attended(const Model& m, double s, FlopConvention convention) {
    const double w = std::min(number(m.window.tokens), s), part = windowed_share(m);
    const bool causal = convention == FlopConvention::causal;
    const double all = causal ? s / 2 : s;
    const double within = !causal ? w : m.window.chunks ? w / 2 : w - w * w / (2 * s);
    return part > 0 ? (1 - part) * all + part * within : all;
}

// The router's own multiplications are not counted, as in Megatron-LM's count (0.3 % of DeepSeek-V3's).
double model_flop(const Model& m, const Plan& p, FlopConvention convention) {
    const double h = number(m.hidden), s = number(p.sequence_length), matrices = m.gated ? 3 : 2;
    const double seen = attended(m, number(p.document()), convention) * score_width(m), attention = attention_weights(m) + seen;
    const double dense = matrices * h * number(m.ffn);
    const double expert = expert_weights(m);
    const double with_experts = layers_with_experts(m);  // there, experts alone
    const double logits = h * number(padded_vocabulary(m, p.tensor_parallel));
    // a layer that predicts a further token: what joins its two inputs, a layer like the last one, and logits of its own
    const bool ends_with_experts = with_experts > 0 && m.expert_layers.back() != 0;
    const double further = 2 * h * h + attention + (ends_with_experts ? expert : dense) + logits;
    const double per_token = number(m.plain_layers()) * attention + number(m.dense_layers()) * dense + with_experts * expert + logits +
                             m.multi_token_layers * further;
    if (!p.freezes()) return 6 * number(p.global_batch) * s * per_token;  // multiply and add, forward and both gradients
    // frozen weights have one gradient, that of their input; adapters, which are left out as a few tenths of a percent, and scores have
    // both
    const double scores = (number(m.plain_layers()) + m.multi_token_layers) * seen;
    return (4 * (per_token - scores) + 6 * scores) * number(p.global_batch) * s;
}

// Multiplications of a token with the matrices from which latent attention unfolds queries, keys and values.
static double latent_up(const Model& m) {
    const LatentAttention& l = m.latent;
    const double queries = number(l.q_rank) * number(l.nope_dim + l.rope_dim),
                 others = number(l.kv_rank) * number(l.nope_dim + l.value_dim);
    return number(m.heads) * (queries + others);
}

// Multiplications of a token whose outputs are not kept where a layer is computed again operation by operation.
static double lost_flop(const Model& m, bool expert) {
    const KeptOutputs kept(m, expert);
    const LatentAttention& l = m.latent;
    const double h = number(m.hidden), a = number(m.heads), d = number(m.head_dim), groups = number(m.kv_heads) * d * h;
    const double ffn = h * number(expert ? m.experts.shared_ffn : m.ffn), query = l.kv_rank > 0 ? number(l.nope_dim + l.rope_dim) : d;
    double sum = 0;
    const auto lose = [&](LayerMatrix matrix, double weights) { sum += kept.has(matrix) ? 0 : weights; };
    lose(LayerMatrix::query_down, h * number(l.q_rank));
    lose(LayerMatrix::query, a * query * (l.q_rank > 0 ? number(l.q_rank) : h));
    lose(LayerMatrix::output, h * a * (l.kv_rank > 0 ? number(l.value_dim) : d));
    if (l.kv_rank > 0) {
        lose(LayerMatrix::kv_down, h * number(l.kv_rank + l.rope_dim));
        lose(LayerMatrix::kv_up, number(l.kv_rank) * a * number(l.nope_dim + l.value_dim));
    } else {
        lose(LayerMatrix::key, groups);
        lose(LayerMatrix::value, groups);
    }
    if (m.gated) lose(LayerMatrix::gate, ffn);
    lose(LayerMatrix::up, ffn);
    lose(LayerMatrix::down, ffn);
    if (expert) sum += expert_weights(m) - (m.gated ? 3 : 2) * h * number(m.experts.shared_ffn);
    return sum;
}

double recomputed_flop(const Model& m, const Plan& p) {
    const double s = number(p.sequence_length), matrices = m.gated ? 3 : 2, h = number(m.hidden);
    const double scores = attended(m, number(p.document()), FlopConvention::full) * score_width(m),
                 attention = attention_weights(m) + scores;
    const double dense = matrices * h * number(m.ffn), shared = matrices * h * number(m.experts.shared_ffn);
    const double expert = expert_weights(m);
    const double layers = number(m.plain_layers()), with_experts = layers_with_experts(m), without = number(m.dense_layers());
    const double whole = layers * attention + without * dense + with_experts * expert;
    double per_token = 0;
    if (p.recompute == Recompute::full) per_token = whole;
    if (p.recompute == Recompute::block) per_token = whole * std::min(1.0, number(p.recompute_layers * p.chunks()) / number(m.layers));
    if (p.recompute == Recompute::operations) {
        per_token = without * lost_flop(m, false) + (with_experts > 0 ? with_experts * lost_flop(m, true) : 0);
        if (p.attention == Attention::plain) per_token += layers * scores;
    }
    if (p.recomputes(core_attn)) per_token += layers * scores;
    if (p.recomputes(mla_up_proj)) per_token += layers * latent_up(m);
    if (p.recomputes(mlp)) per_token += without * dense;
    if (p.recomputes(moe))
        per_token += with_experts * expert;
    else if (p.recomputes(shared_experts))
        per_token += with_experts * shared;
    return 2 * number(p.global_batch) * s * per_token;  // multiply and add, forward once more
}

}  // namespace fourfold
