// Activations that wait in host memory (and weights) between a layer's passes (activation_offload): they leave the GPU beneath the forward
// pass and come back beneath the backward pass; what either pass does not hide counts.
//   M. Wahib et al.: KARMA, arXiv 2008.11421: blocks are swapped as far as the passes of others hide it, and recomputed otherwise. Its
//     text could not be read: the balance here follows from that rule.
//   J. Ren et al.: ZeRO-Offload, arXiv 2101.06840, section 4: transfers beneath the passes
//   S. Rajbhandari et al.: ZeRO-Infinity, arXiv 2104.07857, section 5: weights that wait on the host (weights_offload)
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
        const N out = one_way(s, layers.kept), weights = weights_in(s, layers), forward = both(s, dense.forward, expert.forward);
        const N way = value_of(weights) == 0 ? out : value_of(out) == 0 ? weights : out + weights;  // back, all in one direction
        N backward = both(s, dense.backward, expert.backward);
        const N again = block() ? both(s, dense.recomputed, expert.recomputed, true) : N(0.0);
        if (p_.freezes() || !row_of(p_.running_schedule()).splits_backward)
            return {rest(larger(out, weights), forward), rest(way, value_of(again) > 0 ? backward + again : backward)};
        const N inside = both(s, not_weights(dense), not_weights(expert)), half = (backward + inside) / 2;
        return {rest(larger(out, weights), forward), rest(way / 2, value_of(again) > 0 ? half + again : half),
                rest(way / 2, (backward - inside) / 2)};
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
    static N larger(const N& a, const N& b) {
        using std::max;
        return value_of(a) == 0 ? b : value_of(b) == 0 ? a : max(a, b);
    }
    // This GPU's share of the layers' weights (of experts, too, as if all copies of the model shared them), which a pass brings while
    // activations leave in the other direction.
    [[gnu::noinline]] N weights_in(const Stage& s, const LayerTimesOf<N>& layers) const {
        if (!p_.weights_on_host()) return 0.0;
        const N sharers = number("S_o", "optimizer_group", "gpus", optimizer_sharers(p_, p_.tensor_grid()));
        const N learns = both(s, kWeightBytes * layers.parameters_dense, kWeightBytes * layers.parameters_expert);
        const N bytes = p_.freezes() ? learns + both(s, layers.frozen_dense, layers.frozen_expert) : learns;
        return T::seconds("W_h", "weights_in", bytes / sharers / (on_.of(kHostLink) * on_.of(&Machine::host)));
    }
    N one_way(const Stage& stage, const KeptBytes& kept) const {
        if (p_.activation_offload == 0) return 0.0;
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
