// What the pass before has left at the end of a forward pass. For memory_detailed.cpp. Based on
//   LitGPT, finetune/lora.py: the logits of a pass stand in a variable until those of the next one take their place
#pragma once
#include "plan/in_flight.h"
#include "plan/symbols.h"

namespace fourfold {

template <class N>
class InputsBefore : Symbols<N> {
 public:
    InputsBefore(const Model& model, const Plan& plan, const Stage& stage, const Alive<N>& alive)
        : Symbols<N>(model, plan, stage.longest_slice), stage_(stage), alive_(alive) {}

    // Where matrices of 4 bits keep what they read (plan/adapters.h), it outlives the backward pass, for it hangs on the logits: those of
    // the pass before are there, in fp32, and the new ones before and behind their cast to fp32.
    [[gnu::noinline]] N bytes() const {
        constexpr double kLogits = 4 + 2 + 4;
        const bool is_dense = m_.experts.count == 0;
        const N full = h() + a() * d(), read = L::has_linear() ? L::averaged(full, h() + L::linear_values()) : full;
        const N plain = is_dense ? alive_.layers() : alive_.dense_layers(), mixers = m_.one_part ? plain : alive_.layers();
        N inputs = mixers * 2 * tokens() * read / t();
        if (stage_.dense.alive > 0) inputs = inputs + plain * 2 * tokens() * L::in_some(h() + f()) / t();
        if (stage_.experts.alive > 0) inputs = inputs + alive_.expert_layers() * 2 * routed_tokens() * (L::expert_h() + expert_ffn()) / e();
        return inputs + kLogits * tokens() * v() / t();
    }

 private:
    using L = Symbols<N>;
    using L::m_, L::tokens, L::routed_tokens, L::h, L::f, L::a, L::d, L::t, L::e, L::v, L::expert_ffn;

    const Stage& stage_;
    const Alive<N>& alive_;
};

}  // namespace fourfold
