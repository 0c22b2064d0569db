// Activations that wait in host memory between a layer's passes (activation_offload): they leave the GPU beneath the forward pass and come
// back beneath the backward pass; what either pass does not hide counts.
//   M. Wahib et al.: KARMA, arXiv 2008.11421: blocks are swapped as far as the passes of others hide it, and recomputed otherwise. Its
//     text could not be read: the balance here follows from that rule.
//   J. Ren et al.: ZeRO-Offload, arXiv 2101.06840, section 4: transfers beneath the passes
#pragma once
#include <algorithm>

#include "memory/kept.h"
#include "time/layer_time.h"
#include "time/offload.h"

namespace fourfold {

template <class N>
class Swap : TimeSymbols<N> {
 public:
    Swap(const Model& model, const Plan& plan, const Machine& machine, const Timing& timing)
        : TimeSymbols<N>(model, plan, machine, timing) {}

    // Seconds of a micro-batch on the stage, beside its passes. A backward pass that is split waits in either half for its part.
    struct Waits {
        N forward = 0.0, backward = 0.0, weight = 0.0;
    };
    [[gnu::noinline]] Waits of_stage(const Stage& s, const LayerTimesOf<N>& layers) const {
        const Layer &dense = layers.dense, &expert = layers.expert;
        const N way = one_way(s, layers.kept), forward = both(s, dense.forward, expert.forward);
        N backward = both(s, dense.backward, expert.backward);
        const N again = block() ? both(s, dense.recomputed, expert.recomputed, true) : N(0.0);
        if (p_.freezes() || !row_of(p_.running_schedule()).splits_backward)
            return {rest(way, forward), rest(way, value_of(again) > 0 ? backward + again : backward)};
        const N inside = both(s, not_weights(dense), not_weights(expert)), half = (backward + inside) / 2;
        return {rest(way, forward), rest(way / 2, value_of(again) > 0 ? half + again : half), rest(way / 2, (backward - inside) / 2)};
    }

 private:
    using T = TimeSymbols<N>;
    using Layer = LayerTimeOf<N>;
    using Symbols<N>::p_, Symbols<N>::number;
    using T::on_;
    bool block() const { return p_.recompute == Recompute::block; }
    N not_weights(const Layer& t) const { return block() ? t.expert_backward : t.recomputed + t.expert_backward; }

    // Of all layers of the stage, or of those alone that are computed again.
    [[gnu::noinline]] static N both(const Stage& s, const N& dense, const N& expert, bool again = false) {
        const auto of = [&](const LayerCount& count, const Part* kind, const N& one) {
            return again ? T::part_recomputed(count, kind) * cited(one) : cited(one);
        };
        const N first = s.dense.held > 0 ? number("n", "stage_layers", "", s.dense.held) * of(s.dense, nullptr, dense) : N(0.0);
        if (s.experts.held == 0) return first;
        const N second = number("n_e", "stage_expert_layers", "", s.experts.held) * of(s.experts, &kExpertLayer, expert);
        return s.dense.held > 0 ? first + second : second;
    }
    N one_way(const Stage& stage, const KeptBytes& kept) const {
        const N part = number("o_a", "activations_on_host", "", p_.activation_offload);
        const N bytes = part * number("A_s", "stage_activations", "bytes", kept.of_micro_batch(stage, p_));
        return T::seconds("Y_o", "one_way", bytes / (on_.of(kHostLink) * on_.of(&Machine::host)));
    }
    // What a pass does not hide.
    static N rest(const N& way, const N& pass) {
        using std::min;
        return way - min(way, pass);
    }
};

}  // namespace fourfold
