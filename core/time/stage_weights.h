// The weights of a stage on one GPU, as its layers' times count them. For step_time.cpp.
#pragma once
#include "time/layer_time.h"
#include "time/time_symbols.h"

namespace fourfold {

template <class N>
class StageWeights : TimeSymbols<N> {
 public:
    StageWeights(const Model& model, const Plan& plan, const Machine& machine, const Timing& timing, const LayerTimesOf<N>& layers)
        : TimeSymbols<N>(model, plan, machine, timing), layers_(layers) {}

    // Those that learn.
    N parameters(const Stage& s) const {
        const bool separate_head = s.has_head && !(this->m_.tied && s.has_embedding);
        N sum = 0.0;
        if (s.dense.held > 0) add(sum, L::number("n_w", "heaviest_layers", "", s.dense.held) * cited(layers_.parameters_dense));
        if (s.experts.held > 0) add(sum, L::number("n_v", "heaviest_expert_layers", "", s.experts.held) * cited(layers_.parameters_expert));
        if (this->p_.freezes()) return sum;
        if (s.has_embedding) add(sum, vocabulary_);
        if (separate_head) add(sum, vocabulary_);
        return sum;
    }
    // Of these, the experts' that learn as a whole.
    [[gnu::noinline]] N expert_parameters(const Stage& s) const {
        if (s.experts.held == 0 || this->p_.freezes()) return 0.0;
        const N held = L::number("n_v", "heaviest_expert_layers", "", s.experts.held);
        const N here = L::number("E_g", "experts_held", "", L::as_double(this->m_.experts.count) / L::as_double(this->p_.expert_parallel));
        return named<N>({"X_p", "parameters_of_experts", ""}, held * here * (L::fan() + 1) * L::expert_h() * L::expert_ffn() / L::e());
    }
    // Bytes of those that do not: FSDP gathers them too.
    [[gnu::noinline]] N frozen_bytes(const Stage& s) const {
        N sum = 0.0;
        if (!this->p_.freezes()) return sum;
        if (s.dense.held > 0) add(sum, L::number("n_w", "heaviest_layers", "", s.dense.held) * cited(layers_.frozen_dense));
        if (s.experts.held > 0) add(sum, L::number("n_v", "heaviest_expert_layers", "", s.experts.held) * cited(layers_.frozen_expert));
        if (s.has_embedding) add(sum, kWeightBytes * vocabulary_);
        if (s.has_head && !(this->m_.tied && s.has_embedding)) add(sum, kWeightBytes * vocabulary_);
        return sum;
    }

 private:
    using T = TimeSymbols<N>;
    using L = Symbols<N>;
    using T::t_, T::h_;

    const LayerTimesOf<N>& layers_;
    const N vocabulary_ = L::v() / t_ * h_;
};

}  // namespace fourfold
