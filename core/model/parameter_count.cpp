#include <algorithm>

#include "model/model.h"

namespace fourfold {

// (No part of many formulas: the module is downloaded.) With both gates and beta; with one gate and the step; with beta and the insides of
// two gates.
[[gnu::noinline]] std::int64_t LinearAttention::in() const {
    if (is_convolution()) return 3 * values();
    return is_kimi() ? mixed() + value_heads + 2 * value_dim : 2 * (keys() + values()) + (is_mamba() ? 1 : 2) * value_heads;
}
[[gnu::noinline]] std::int64_t LinearAttention::mixed() const { return 2 * keys() + values(); }
[[gnu::noinline]] std::int64_t LinearAttention::gates() const { return is_kimi() ? value_dim * (keys() + values()) : 0; }

// Per value that a norm reads.
static std::int64_t norm_parameters(const Model& m) { return m.layer_norm ? 2 : 1; }

static std::int64_t attention_parameters(const Model& m) {
    const std::int64_t out_bias = m.attention_out_bias ? m.hidden : 0, norm = m.qk_norm ? norm_parameters(m) : 0;
    if (const LatentAttention& l = m.latent; l.kv_rank > 0) {
        const std::int64_t q = m.heads * (l.nope_dim + l.rope_dim);
        const std::int64_t query = l.q_rank > 0 ? l.q_rank * (m.hidden + q) : m.hidden * q;
        const std::int64_t down = l.kv_rank + l.rope_dim;
        const std::int64_t up = l.kv_rank * m.heads * (l.nope_dim + l.value_dim);
        // biases are at the projections down to the latents, norms at their ends
        return query + m.hidden * down + up + m.heads * l.value_dim * m.hidden + (m.qkv_bias ? l.q_rank + down : 0) + out_bias +
               norm * (l.q_rank + l.kv_rank);
    }
    const std::int64_t q = m.heads * m.head_dim, kv = m.kv_heads * m.head_dim;
    const std::int64_t normed = m.qk_norm_whole ? q + kv : 2 * m.head_dim, sinks = m.attention_sinks ? m.heads : 0;
    return m.hidden * ((m.attention_gate ? 2 : 1) * q + 2 * kv) + q * m.hidden + (m.qkv_bias ? q + 2 * kv : 0) + out_bias + norm * normed +
           sinks;
}

// Two matrices; a convolution over each value that queries, keys and values have; a decay and its bias per head, and a norm over a head.
// Mamba-2 has a third number per head, and mostly a norm over all values; Kimi's the matrices of its gates, and a bias for each value of a
// key.
[[gnu::noinline]] static std::int64_t linear_attention_parameters(const Model& m) {
    const LinearAttention& l = m.linear;
    const std::int64_t own = l.is_mamba()         ? 3 * l.value_heads + (l.norm ? l.values() : 0)
                             : l.is_kimi()        ? l.value_heads + l.keys() + l.value_dim
                             : l.is_convolution() ? 0
                                                  : 2 * l.value_heads + l.value_dim;
    return m.hidden * (l.in() + l.values()) + l.gates() + (l.taps + (l.bias ? 1 : 0)) * l.mixed() + own;
}

static std::int64_t feed_forward_parameters(const Model& m, std::int64_t width, std::int64_t hidden) {
    return (m.gated ? 3 : 2) * hidden * width + (m.mlp_bias ? (m.gated ? 2 : 1) * width + hidden : 0);
}

static std::int64_t expert_layer_parameters(const Model& m) {
    const Experts& e = m.experts;
    const std::int64_t router = e.count * (m.hidden + (e.router_bias ? 1 : 0));
    const std::int64_t shared = e.shared_ffn > 0 ? feed_forward_parameters(m, e.shared_ffn, m.hidden) + (e.shared_gate ? m.hidden : 0) : 0;
    return e.count * feed_forward_parameters(m, e.ffn, m.expert_hidden()) + 2 * e.latent * m.hidden + router + shared;
}

std::int64_t parameter_count(const Model& m) {
    const std::int64_t norm = norm_parameters(m) * m.hidden;
    const std::int64_t positions = m.learned_positions ? m.max_positions * m.hidden : 0;
    const std::int64_t with_experts = m.expert_layers.count(), linear = m.linear.count;
    return (m.plain_layers() - m.feed_forward_layers - (m.linear.beside ? 0 : linear)) * attention_parameters(m) +
           (linear > 0 ? linear * linear_attention_parameters(m) : 0) + m.layers * (m.norms_per_layer * norm) +
           with_experts * expert_layer_parameters(m) + m.dense_layers() * feed_forward_parameters(m, m.ffn, m.hidden) +
           (m.embedding_norm ? 2 : 1) * norm + (m.tied ? 1 : 2) * m.vocabulary * m.hidden + positions;
}

std::int64_t active_parameters(const Model& m) {
    const std::int64_t with_experts = m.expert_layers.count();
    return parameter_count(m) -
           with_experts * (m.experts.count - m.experts.per_token) * feed_forward_parameters(m, m.experts.ffn, m.expert_hidden());
}

}  // namespace fourfold
