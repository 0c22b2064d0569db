// What slices of a sequence hold for each other (plan/token_slices.h), beside what each keeps for its own backward pass. For
// memory_detailed.cpp.
#pragma once
#include "plan/stage.h"
#include "plan/symbols.h"

namespace fourfold {

template <class N>
class SliceKeys : Symbols<N> {
 public:
    SliceKeys(const Model& model, const Plan& plan, const Stage& stage) : Symbols<N>(model, plan, stage.longest_slice), s_(stage) {}

    // Gradients of the keys and values of one micro-batch, which later slices add to until their own slice goes back (counted; in 16 bits:
    // assumed); and keys and values themselves, where they would be computed again but other slices need them.
    [[gnu::noinline]] N bytes() const {
        const N values = named<N>({"v_s", "slice_values", "values"}, L::slice_values());
        const N layers = L::number("n_h", "stage_layers", "", s_.layers());
        const N gradients = 2 * L::b() * L::s() * values * layers;
        const bool unfolded_again = L::latent() && L::p_.recomputes(mla_up_proj);
        const double recomputed = unfolded_again ? s_.layers() : s_.dense.recomputed + s_.experts.recomputed;
        if (recomputed == 0) return gradients;
        return gradients + 2 * L::tokens() * values * L::number("n_r", "recomputed_layers", "", recomputed) *
                               L::number("A", "slices_in_flight", "", s_.slices);
    }

 private:
    using L = Symbols<N>;
    const Stage& s_;
};

}  // namespace fourfold
