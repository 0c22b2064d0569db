// What a layer reads and writes beside its multiplications: norms, residuals, dropout, rotary positions, activation functions. For
// layer_time.cpp. Based on
//   the operations of Megatron-Core and PyTorch, counted
//   Megatron-Core, core/transformer/moe/experts.py, TEGroupedMLP._apply_bias: the second matrix of experts has a bias that is multiplied
//   with
//     the router's probability, added, joined and turned back into 16 bits by single kernels; DeepEP gives probabilities of 32 bits
//   Megatron-Core, moe/token_dispatcher.py: sort_chunks_by_idxs between permute and unpermute; HybridEP: dispatch_with_permute; NVIDIA
//     Megatron-Bridge, training/flex_dispatcher_backend.py: which card has which
//   Megatron-Core, core/fusions/fused_bias_geglu.py, weighted_bias_quick_geglu_impl: limits what the gate reads in two copies, beside the
//     kernel that is fused
#pragma once
#include "time/layer_time.h"
#include "time/time_symbols.h"

namespace fourfold {

template <class N>
class ElementWise : TimeSymbols<N> {
 public:
    ElementWise(const Model& model, const Plan& plan, const Framework& framework, const Machine& machine, const Timing& timing)
        : TimeSymbols<N>(model, plan, machine, timing), fw_(framework) {}

    void add_to(LayerTimeOf<N>& layer, bool expert, const Part* kind) const {
        const N forward = named<N>({"V_f", "element_bytes_forward", "bytes", kind}, bytes(kForward, expert));
        N backward = named<N>({"V_b", "element_bytes_backward", "bytes", kind}, bytes(kBackward, expert));
        if (p_.token_slices > 1) backward = backward + slice_gradients();
        if (!expert && p_.feed_forward_tiles > 1) backward = backward + 2 * M_ * activation_values() * L::f() / t_;  // computed again
        layer.element_forward = seconds(forward);
        layer.element_backward = seconds(backward);
    }

    // Of modules that are computed again: the up projections of latent attention, the whole feed-forward part, its shared experts.
    N again(bool expert, const Part* kind, bool up, bool whole, bool shared) const {
        N values = 0.0, inner = 0.0;
        if (const int again = norms_recomputed(m_, p_, fw_, expert); again > 0) {  // of the two
            const N norms = again == 2 && !m_.one_part ? norm_values(kForward) : norm_values(kForward) / 2;
            add(values, L::sequence_parallel() ? norms * h_ / t_ : norms * h_);
        }
        if (up) add(values, head_values() / t_);
        if (whole && !expert) add(inner, L::in_some(L::f()));
        if (expert && (whole || p_.recomputes(moe_act))) add(inner, routed());
        if (m_.experts.shared_ffn > 0 && (shared || (whole && expert))) add(inner, L::shared_ffn());
        if (value_of(inner) > 0) add(values, activation_values() * inner / t_);
        if (expert && m_.limited_gate && (whole || p_.recomputes(moe_act))) add(values, on_.of(kLimitedGate[kForward]) * routed() / t_);
        if (expert && m_.mlp_bias && whole) add(values, biases(kForward) / t_);
        if (expert && whole && !single()) add(values, moved() * L::expert_h() / t_);
        if (value_of(values) == 0) return values;
        return seconds(named<N>({"V_r", "element_bytes_again", "bytes", kind}, 2 * M_ * values));
    }

 private:
    using T = TimeSymbols<N>;
    using L = Symbols<N>;
    using L::as_double, L::m_, L::p_, L::number;
    using T::hw_, T::on_, T::h_, T::t_, T::M_;
    enum Direction : std::size_t { kForward, kBackward };

    [[gnu::noinline]] N bytes(Direction direction, bool expert) const {
        const N norms = norm_values(direction);
        N heads = single() ? single_head_values(direction, norms) : head_values();
        if (L::has_linear()) heads = L::averaged(heads, on_.of(linear_values()[direction]) * L::linear_in());
        N residuals = on_.of(kResidual);
        if (m_.one_part) residuals = residuals / 2;
        N whole = norms * h_ + residuals * h_;
        if (m_.norms_per_layer != 2) whole = whole + (as_double(m_.norms_per_layer) / 2 - 1) * norms * h_;
        if (casts_weights(p_)) whole = whole + on_.of(kCastFlow[direction]) * h_;
        if (p_.hidden_dropout) whole = whole + on_.of(kDropout) * h_;
        if (L::sequence_parallel()) whole = whole / t_;
        N inner = feed_forward(expert, direction);
        if (L::has_mixer(expert)) inner = heads + L::in_some(inner);
        // 32 bits, where packed matrices return these. (Norms, which work in them anyway, then stand for the casts before matrices.)
        return (frozen_in_32_bits(p_) ? 4.0 : 2.0) * M_ * (whole + inner / t_);
    }
    [[gnu::noinline]] const Constant* linear_values() const {
        return m_.linear.is_mamba() ? kStateValues : m_.linear.is_convolution() ? kConvolutionValues : kLinearValues;
    }
    N seconds(const N& bytes) const { return bytes * on_.of(&Timing::element_wise) / on_.memory(); }

    // Values that two norms read and write, per value of what they work on.
    [[gnu::noinline]] N norm_values(Direction direction) const {
        if (row_of(p_.framework).autocast && m_.layer_norm) return on_.of(kCastLayerNorm[direction]);
        const Constant(&either)[2] = direction == kForward ? kNormForward : kNormBackward;
        const N values = on_.of(either[fw_.plain_norms ? 0 : 1]);
        if (single() && fw_.plain_norms) return on_.of(&Timing::plain_norms) * on_.computed(kNormsCompute) * values;
        return !fw_.plain_norms || value_of(on_.of(&Timing::plain_norms)) == 1 ? values : on_.of(&Timing::plain_norms) * values;
    }
    bool single() const { return row_of(p_.framework).single_operations; }
    [[gnu::noinline]] const Constant& single_activation(Direction direction) const {
        if (m_.gelu_steps) return kGeluSteps[direction];
        if (m_.gated && !fw_.activation_fusion) return kSingleGate[direction];
        return activation(direction);
    }
    const Constant& activation(Direction direction) const {
        return (direction == kForward ? kActivationForward : kActivationBackward)[m_.gated ? 1 : 0];
    }
    N activation_values(Direction direction = kForward) const {
        return on_.of(single() ? single_activation(direction) : activation(direction));
    }
    // Rotary positions in single operations, and norms of queries and keys like those of the layer.
    [[gnu::noinline]] N single_head_values(Direction direction, const N& norms) const {
        const bool fused = fw_.activation_fusion || m_.learned_positions;
        const N rotary = fused ? N(2.0) : on_.of(kSingleRotary[direction]) * on_.computed(kRotaryComputes);
        if (L::latent()) return latent_values(rotary, norms / 2);
        const N k = number("k_m", "kv_heads", "", as_double(m_.kv_heads)), heads = (L::a() + k) * L::d();
        return m_.qk_norm ? (rotary + norms / 2) * heads : rotary * heads;
    }
    // Positions of queries and of the one key; queries and keys joined from both of their parts; norms of what both are made from.
    [[gnu::noinline]] N latent_values(const N& rotary, const N& norm) const {
        const N ranks = number("r_k", "kv_rank", "values", as_double(m_.latent.kv_rank)) +
                        number("r_q", "query_rank", "values", as_double(m_.latent.q_rank));
        return rotary * (L::a() + 1) * T::rope() + 4 * L::a() * (T::nope() + T::rope()) + norm * ranks;
    }
    // Values of a token in rotary positions and in the copies of Q, K and V.
    N head_values() const {
        const N k = number("k_m", "kv_heads", "", as_double(m_.kv_heads)), a = L::a(), d = L::d();
        const N per_head = 2 * (a + 2 * k) * d;
        return m_.learned_positions ? per_head : 2 * (a + k) * d + per_head;
    }

    N visits() const { return number("q", "experts_per_token", "", as_double(m_.experts.per_token)); }
    N routed() const { return L::expert_ffn() * visits(); }
    // Of a token, in the feed-forward part: the activation function, and what only experts with biases and limits have.
    N feed_forward(bool expert, Direction direction) const {
        const N activation = activation_values(direction);
        if (!expert) return activation * L::f();
        N values = m_.experts.shared_ffn > 0 && !single() ? activation * (routed() + L::shared_ffn()) : activation * routed();
        values = single() ? single_experts(activation, direction) : values + moved() * L::expert_h();
        if (m_.limited_gate) values = values + on_.of(kLimitedGate[direction]) * routed();
        if (m_.mlp_bias) values = values + biases(direction);
        return values;
    }
    [[gnu::noinline]] N single_experts(const N& activation, Direction direction) const {
        const N values = on_.of(kSingleExperts[direction]) * on_.computed(kRotaryComputes) * (h_ * visits() + routed());
        return m_.experts.shared_ffn > 0 ? values + activation * L::shared_ffn() : values;
    }
    // Copies of a token sorted by expert, and back to tokens: read and written, either pass. All-to-all sends them by GPU, and what arrives
    // is sorted once more. Beside a Grace HybridEP stands for DeepEP, and sorts while it sends.
    [[gnu::noinline]] N moved() const {
        const N k = visits();
        if (p_.expert_parallel == 1) return 2 * k + 2;
        return fw_.sends_once ? hw_.beside_grace ? N(0.0) : 4 * k : 6 * k + 2;
    }
    N biases(Direction direction) const {
        const bool in_32_bits = fw_.sends_once && p_.expert_parallel > 1;
        return on_.of(kExpertBias[direction][in_32_bits ? 1 : 0]) * h_ * visits();
    }

    // Gradients of the keys and values of earlier slices, half of a sequence on average, are read twice, added, and written: 2 bytes each.
    // (assumed)
    [[gnu::noinline]] N slice_gradients() const {
        const N earlier = L::b() * (L::s() - L::sliced()) / 2;
        return 6 * earlier * L::slice_values();
    }

    const Framework& fw_;
};

}  // namespace fourfold
