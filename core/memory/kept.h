// What one micro-batch leaves on a GPU between a layer's forward and its backward pass, by itself: for transfers to the host.
#pragma once
#include "plan/framework.h"
#include "plan/plan.h"
#include "plan/stage.h"

namespace fourfold {

// Bytes of one layer that keeps everything, and of the input of a unit that is computed again.
struct KeptBytes {
    double dense = 0, expert = 0, checkpoint = 0;

    // Of a stage.
    double of_micro_batch(const Stage& s, const Plan& p) const {
        const double unit = p.recompute == Recompute::full ? static_cast<double>(p.recompute_layers) : 1;
        return (s.dense.held - s.dense.recomputed) * dense + (s.experts.held - s.experts.recomputed) * expert +
               (s.dense.recomputed + s.experts.recomputed) / unit * checkpoint;
    }
};

// `plan` must be legal (memory_detailed.cpp).
KeptBytes kept_bytes(const Model& model, const Plan& plan, const Framework& framework);

}  // namespace fourfold
