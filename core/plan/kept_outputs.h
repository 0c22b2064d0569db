// Which matrices' outputs stay where layers are computed again operation by operation. Based on torchtitan,
// distributed/activation_checkpoint.py (_apply_op_sac), and the operations that its models name (models/llama3/infra/parallelize.py,
// December 2024; models/llama4 and deepseek_v3, 2025): of matrix multiplications every second one is kept, the first of a layer to begin
// with, and what scaled_dot_product_attention, reduce_scatter and all_to_all return. A matrix with a bias is another operation (addmm), the
// router's is always computed again, and experts in groups are another one too: these three are neither kept nor counted.
#pragma once
#include <cstddef>
#include <cstdint>

#include "model/model.h"

namespace fourfold {

// In the order in which a layer multiplies with them (models/llama3/model.py, models/deepseek_v3/model.py). Latent attention has
// query_down, query, kv_down, kv_up and output; where it does not pack its queries, no query_down.
enum class LayerMatrix : std::uint8_t { query_down, query, kv_down, kv_up, key, value, output, gate, up, down, count };

class KeptOutputs {
 public:
    // Of a dense layer, or of one with experts: then gate, up and down are those of the shared experts.
    KeptOutputs(const Model& m, bool expert) {
        const bool latent = m.latent.kv_rank > 0, feeds = !expert || m.experts.shared_ffn > 0;
        if (latent && m.latent.q_rank > 0) next(LayerMatrix::query_down, m.qkv_bias);
        next(LayerMatrix::query, m.qkv_bias);
        if (latent) {
            next(LayerMatrix::kv_down, m.qkv_bias);
            next(LayerMatrix::kv_up, m.qkv_bias);
        } else {
            next(LayerMatrix::key, m.qkv_bias);
            next(LayerMatrix::value, m.qkv_bias);
        }
        next(LayerMatrix::output, m.attention_out_bias);
        if (!feeds) return;
        if (m.gated) next(LayerMatrix::gate, m.mlp_bias);
        next(LayerMatrix::up, m.mlp_bias);
        next(LayerMatrix::down, m.mlp_bias);
    }
    bool has(LayerMatrix matrix) const { return (kept_ >> static_cast<std::uint32_t>(matrix) & 1U) != 0; }

 private:
    void next(LayerMatrix matrix, bool bias) {
        if (bias) return;
        if (keeps_next_) kept_ |= 1U << static_cast<std::uint32_t>(matrix);
        keeps_next_ = !keeps_next_;
    }
    std::uint32_t kept_ = 0;
    bool keeps_next_ = true;
};

}  // namespace fourfold
