#include "model/operations.h"

#include <algorithm>

#include "base/numbers.h"

namespace fourfold {

// Of a token with the states of linear attention: keys and queries with them, values into them, and what they forget. (A state space
// forgets by one number for a head.)
[[gnu::noinline]] static double linear_weights(const Model& m) {
    const LinearAttention& l = m.linear;
    return number(m.hidden * (l.in() + l.values()) + l.gates() + l.taps * l.mixed() + (l.is_mamba() ? 2 : 4) * l.values() * l.key_dim);
}

static double full_attention_weights(const Model& m) {
    const double h = number(m.hidden), a = number(m.heads);
    const LatentAttention& l = m.latent;
    if (l.kv_rank == 0) return h * ((m.attention_gate ? 3 : 2) * a + 2 * number(m.kv_heads)) * number(m.head_dim);
    const double qk = number(l.nope_dim + l.rope_dim), rank = number(l.q_rank);
    const double queries = rank > 0 ? rank * (h + a * qk) : h * a * qk;
    const double down = h * number(l.kv_rank + l.rope_dim), up = number(l.kv_rank) * a * number(l.nope_dim + l.value_dim);
    return queries + down + up + a * number(l.value_dim) * h;
}

double attention_weights(const Model& m) {
    const double part = linear_part(m);
    return part == 0 ? full_attention_weights(m) : full_part(m) * full_attention_weights(m) + part * linear_weights(m);
}

double score_width(const Model& m) {
    const LatentAttention& l = m.latent;
    return full_part(m) * number(m.heads) * (l.kv_rank > 0 ? number(l.nope_dim + l.rope_dim + l.value_dim) : 2 * number(m.head_dim));
}

double expert_weights(const Model& m) {
    const Experts& e = m.experts;
    return (m.gated ? 3 : 2) * (number(m.expert_hidden()) * number(e.per_token * e.ffn) + number(m.hidden) * number(e.shared_ffn)) +
           2 * number(m.hidden) * number(e.latent);
}

double layers_with_experts(const Model& m) { return number(m.expert_layers.count()); }

double attended_together(const Model& m, double s) {
    const double w = std::min(number(m.window.tokens), s), part = windowed_share(m), all = s * s / 2;
    if (part == 0) return all;
    return (1 - part) * all + part * (m.window.chunks ? w * s / 2 : w * s - w * w / 2);
}

}  // namespace fourfold
