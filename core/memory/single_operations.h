// What layers keep that are made up of PyTorch's single operations. For memory_detailed.cpp. Based on
//   transformers 5.17, models/llama/modeling_llama.py: LlamaRMSNorm works in 32 bits and keeps its input so, and the normalised values
//   before
//     they are scaled; modeling_qwen3.py has the same norm for queries and keys
//   PyTorch, torch.autocast: what is cast for a multiplication is cast for each by itself; layer_norm works in 32 bits
// and on measured runs (tests/evidence/transformers.jsonl).
#pragma once
#include "memory/memory.h"
#include "plan/stage.h"
#include "plan/symbols.h"

namespace fourfold {

// PyTorch's attention with a window gets a mask, unless all of a sequence lies in it; the package flash-attn, which "flash" asks for, takes
// the window as it is (transformers, modeling_flash_attention_utils.py).
inline bool gives_mask(const Model& m, const Plan& p) {
    return row_of(p.framework).masks_windows && p.attention != Attention::flash && windowed_share(m) > 0 &&
           m.window.tokens <= p.sequence_length;
}

template <class N>
class SingleOperations : Symbols<N> {
 public:
    SingleOperations(const Model& model, const Plan& plan, const Stage& stage)
        : Symbols<N>(model, plan, stage.longest_slice),
          autocast_(row_of(plan.framework).autocast && !fully_shards(plan)) {}  // FSDP casts by itself

    // Of all norms of a layer, bytes. Their input is a copy of 32 bits, or what flows where that has 32: two that read the same keep it
    // once.
    [[gnu::noinline]] N norm_copies() const {
        const bool once = m_.parallel_norms && m_.layer_norm && (flow() == 4 || !autocast_);
        return norm_bytes() * (once ? 1 : m_.norms_per_layer) * split_tokens() * h();
    }
    // What the matrices behind the two norms read: once, or cast for each.
    [[gnu::noinline]] N norm_outputs() const {
        const bool each = flow() == 4 || (m_.layer_norm && autocast_);
        return 2 * (each ? attention_matrices() + (m_.gated && !m_.joined_qkv ? 2 : 1) : 2) * split_tokens() * h();
    }
    // Behind the last layer: the same, for the one matrix of the head.
    [[gnu::noinline]] N last_norm() const { return (norm_bytes() + (p_.freezes() ? 0 : 2)) * split_tokens() * h(); }
    // Heads that attention keeps of queries, keys and values. Rotary positions give new queries and keys; values of a joined matrix keep
    // its whole output alive. Where there are scores or a mask, keys and values are repeated for every query head.
    [[gnu::noinline]] N heads(bool scores) const {
        const N k = number("k_m", "kv_heads", "", as_double(m_.kv_heads));
        if (scores || gives_mask(m_, p_)) return 3 * a();
        return m_.joined_qkv && !m_.learned_positions ? 2 * a() + 3 * k : a() + 2 * k;
    }
    // Of attention's output, in the order that the projection reads: where rotary positions are put together with values that have none.
    bool copies_output() const { return m_.joined_qkv && !m_.learned_positions; }
    // GELU in steps keeps its input and three values in between, two of them and the input in 32 bits under autocast, beside its output.
    [[gnu::noinline]] N gelu_steps(const N& width) const {
        return m_.gelu_steps ? (autocast_ ? 4 + 4 + 2 + 4 - 2 : 2 + 2 + 2) * tokens() * width / t() : N(0.0);
    }
    // Norms of queries and keys, each over a head.
    [[gnu::noinline]] N query_and_key_norms() const {
        return (4 + scaled_bytes(2)) * tokens() * (a() + number("k_m", "kv_heads", "", as_double(m_.kv_heads))) * d() / t();
    }

 private:
    using L = Symbols<N>;
    using L::as_double, L::m_, L::p_, L::number, L::tokens, L::split_tokens, L::h, L::a, L::d, L::t;

    double attention_matrices() const { return m_.joined_qkv ? 1 : 3; }
    // Of a value of a norm: what it reads, and, where its scale learns, the normalised value before that. LayerNorm is one kernel.
    double norm_bytes() const { return m_.layer_norm ? (autocast_ ? 4 : 2) : 4 + scaled_bytes(flow()); }
    double scaled_bytes(double of_input) const { return p_.freezes() ? 0 : m_.norms_in_32_bits ? 4 : of_input; }
    double flow() const { return flow_bytes(p_); }

    const bool autocast_;
};

}  // namespace fourfold
