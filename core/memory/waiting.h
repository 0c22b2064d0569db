// What waits between a split backward pass's halves. For memory_detailed.cpp. Based on
//   P. Qi et al., arXiv 2401.10241 (2023), section 2
//   Transformer Engine 2, pytorch/module/linear.py (wgrad_store): in fp8 the input waits as the product of gradients reads it, a byte a
//   value, and the gradient both by rows and by columns, a byte each
#pragma once
#include "plan/in_flight.h"
#include "plan/symbols.h"

namespace fourfold {

template <class N>
class WaitingForWeights : Symbols<N> {
 public:
    WaitingForWeights(const Model& model, const Plan& plan, const Stage& stage, const Alive<N>& alive)
        : Symbols<N>(model, plan, stage.longest_slice), stage_(stage), alive_(alive) {}

    // Between B and W every matrix keeps what it read and the gradient of what it wrote, each in so many bytes a value. (Frozen matrices
    // have no weight gradient; those of adapters are small, and computed with their input's.)
    N bytes(double input, double gradient) const {
        const double both = input + gradient;
        N attention = waiting_attention(input, gradient);
        if (L::has_linear()) attention = L::averaged(attention, gradient * tokens() * L::linear_passed() / t());
        const bool one_part = this->m_.one_part;
        N sum =
            one_part ? both * split_tokens() * h() * alive_.waiting() : (attention + 2 * both * split_tokens() * h()) * alive_.waiting();
        if (stage_.dense.waiting > 0) {
            const N layers = m_.experts.count == 0 ? alive_.waiting() : alive_.waiting_dense_layers();
            if (one_part) sum = sum + attention * layers;
            sum = sum + L::in_some(tokens() * f() * (gradient * fan() + input) / t()) * layers;
        }
        if (stage_.experts.waiting > 0)
            sum = sum + routed_tokens() * (both * L::expert_h() + expert_ffn() * (gradient * fan() + input) / e()) *
                            alive_.waiting_expert_layers();
        return stage_.experts.waiting > 0 && m_.experts.latent > 0 ? with_latent(sum, both) : sum;
    }

 private:
    using L = Symbols<N>;
    using L::as_double, L::m_, L::tokens, L::split_tokens, L::routed_tokens, L::latent;
    using L::h, L::f, L::a, L::d, L::t, L::e, L::fan, L::expert_ffn;

    // And of the matrices before and behind experts.
    [[gnu::noinline]] N with_latent(const N& sum, double both) const {
        return sum + both * split_tokens() * (h() + L::expert_h()) * alive_.waiting_expert_layers();
    }
    N waiting_attention(double input, double gradient) const {
        if (!latent()) return gradient * tokens() * L::qkv_heads() * d() / t() + input * tokens() * a() * d() / t();
        const LatentAttention& l = m_.latent;
        const double ranks = as_double(l.q_rank + l.kv_rank), rope = as_double(l.rope_dim), value = as_double(l.value_dim),
                     heads = gradient * (as_double(2 * l.nope_dim) + rope + value) + input * value;
        return tokens() * a() * heads / t() + split_tokens() * (input * ranks + gradient * (ranks + rope));
    }

    const Stage& stage_;
    const Alive<N>& alive_;
};

}  // namespace fourfold
