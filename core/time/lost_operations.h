// Multiplications that a layer does again where it is computed again operation by operation: those whose outputs are not kept
// (plan/kept_outputs.h). For layer_time.cpp.
#pragma once
#include <initializer_list>

#include "base/formula.h"
#include "plan/kept_outputs.h"
#include "plan/plan.h"

namespace fourfold {

template <class N>
class LostOperations {
 public:
    LostOperations(const Model& model, const Plan& plan)
        : model_(model), applies_(plan.recompute == Recompute::operations), kept_(model, false) {}

    void begin(bool expert) {
        if (applies_) kept_ = KeptOutputs(model_, expert);
        sum_ = 0.0;
    }
    struct Output {
        LayerMatrix matrix;
        N values;
    };
    // Of matrices that are multiplied with at once, in so many seconds: the part that is theirs.
    [[gnu::noinline]] void of(std::initializer_list<Output> outputs, const N& seconds) {
        if (!applies_) return;
        N lost = 0.0, all = 0.0;
        for (const Output& one : outputs) {
            add(all, one.values);
            if (!kept_.has(one.matrix)) add(lost, one.values);
        }
        if (value_of(lost) == value_of(all))
            add(sum_, seconds);
        else if (value_of(lost) > 0)
            add(sum_, lost / all * seconds);
    }
    void of(LayerMatrix matrix, const N& seconds) { of({{matrix, N(1.0)}}, seconds); }
    void of_feed_forward(const N& first, const N& second) {
        if (model_.gated)
            of({{LayerMatrix::gate, N(1.0)}, {LayerMatrix::up, N(1.0)}}, first);
        else
            of(LayerMatrix::up, first);
        of(LayerMatrix::down, second);
    }
    void of_experts(const N& seconds) {
        if (applies_) add(sum_, seconds);
    }
    const N& sum() const { return sum_; }

 private:
    const Model& model_;
    const bool applies_;
    KeptOutputs kept_;
    N sum_ = 0.0;
};

}  // namespace fourfold
