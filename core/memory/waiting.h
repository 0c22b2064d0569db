// What waits between a split backward pass's halves. For memory_detailed.cpp. Based on
//   P. Qi et al., arXiv 2401.10241 (2023), section 2
#pragma once
#include "plan/in_flight.h"
#include "plan/symbols.h"

namespace fourfold {

template <class N>
class WaitingForWeights : Symbols<N> {
 public:
    WaitingForWeights(const Model& model, const Plan& plan, const Stage& stage, const Alive<N>& alive)
        : Symbols<N>(model, plan, stage.longest_slice), stage_(stage), alive_(alive) {}

    // Between B and W every matrix keeps what it read, in so many bytes a value, and the gradient of what it wrote. (Frozen matrices have
    // no weight gradient; those of adapters are small, and computed with their input's.)
    N bytes(double each) const {
        N attention = waiting_attention(each);
        if (L::has_linear()) attention = L::averaged(attention, each * tokens() * L::linear_passed() / t());
        const bool one_part = this->m_.one_part;
        N sum = one_part ? 2 * each * split_tokens() * h() * alive_.waiting()
                         : (attention + 4 * each * split_tokens() * h()) * alive_.waiting();
        if (stage_.dense.waiting > 0) {
            const N layers = m_.experts.count == 0 ? alive_.waiting() : alive_.waiting_dense_layers();
            if (one_part) sum = sum + attention * layers;
            sum = sum + L::in_some(each * tokens() * f() * (fan() + 1) / t()) * layers;
        }
        if (stage_.experts.waiting > 0)
            sum = sum + routed_tokens() * (2 * each * h() + each * expert_ffn() * (fan() + 1) / e()) * alive_.waiting_expert_layers();
        return sum;
    }

 private:
    using L = Symbols<N>;
    using L::as_double, L::m_, L::tokens, L::split_tokens, L::routed_tokens, L::latent;
    using L::h, L::f, L::a, L::d, L::t, L::e, L::fan, L::expert_ffn;

    N waiting_attention(double each) const {
        if (!latent()) return each * tokens() * L::qkv_heads() * d() / t() + each * tokens() * a() * d() / t();
        const LatentAttention& l = m_.latent;
        const double heads = as_double(2 * l.nope_dim + l.rope_dim + 2 * l.value_dim),
                     ranks = as_double(2 * (l.q_rank + l.kv_rank) + l.rope_dim);
        return each * tokens() * a() * heads / t() + each * split_tokens() * ranks;
    }

    const Stage& stage_;
    const Alive<N>& alive_;
};

}  // namespace fourfold
