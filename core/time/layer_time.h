// What one layer costs in time, and the model's two ends. Written once over the number type (formula.h): double in the search, Traced for
// the plan on the page.
#pragma once
#include "memory/kept.h"
#include "model/model.h"
#include "plan/plan.h"
#include "time/transfers.h"

namespace fourfold {

// One layer, one micro-batch, one GPU; seconds. Depends on TP, CP, micro-batch and kernels alone: a search computes it once for all PP and
// DP.
template <class N>
struct LayerTimeOf {
    N multiply_forward = 0.0, multiply_backward = 0.0;
    N attention_forward = 0.0, attention_backward = 0.0;
    N element_forward = 0.0, element_backward = 0.0;
    N tensor_forward = 0.0, tensor_backward = 0.0;
    N context_forward = 0.0, context_backward = 0.0;
    N expert_forward = 0.0, expert_backward = 0.0;
    N recomputed = 0.0;  // computed again: part of the backward pass, or, where "block" recomputes some layers alone, beside it
    N forward = 0.0, backward = 0.0;                 // all of these, and what the CPU adds where it does not run ahead
    N launch_forward = 0.0, launch_backward = 0.0;   // of the CPU, where it runs ahead of the GPU (framework.h): beside the two
    double host_forward = 0, host_backward = 0;      // of the CPU, where it does not: in the two
    double routed_forward = 0, routed_backward = 0;  // of the multiplications: what the routed experts take
};
template <class N>
struct LayerTimesOf {
    LayerTimeOf<N> dense, expert;
    N head = 0.0, embedding = 0.0;                      // seconds per micro-batch
    N parameters_dense = 0.0, parameters_expert = 0.0;  // of a layer, on this GPU: those that learn
    N frozen_dense = 0.0, frozen_expert = 0.0;          // bytes of those that do not
    KeptBytes kept;                                     // where activations wait on the host
};
using LayerTime = LayerTimeOf<double>;
using LayerTimes = LayerTimesOf<double>;

// What decides the pace, in doubles.
inline LayerTimes values_of(const LayerTimesOf<Traced>& traced) {
    LayerTimes plain;
    const auto copy = [](LayerTime& to, const LayerTimeOf<Traced>& from) {
        to.forward = from.forward.value();
        to.backward = from.backward.value();
        to.launch_forward = from.launch_forward.value();
        to.launch_backward = from.launch_backward.value();
        to.host_forward = from.host_forward;
        to.host_backward = from.host_backward;
        to.recomputed = from.recomputed.value();
        to.expert_forward = from.expert_forward.value();
        to.expert_backward = from.expert_backward.value();
    };
    copy(plain.dense, traced.dense);
    copy(plain.expert, traced.expert);
    plain.head = traced.head.value();
    plain.embedding = traced.embedding.value();
    plain.parameters_dense = traced.parameters_dense.value();
    plain.parameters_expert = traced.parameters_expert.value();
    plain.kept = traced.kept;
    return plain;
}
inline const LayerTimes& values_of(const LayerTimes& plain) { return plain; }

// `alike`: of a plan that differs in its experts alone, so that its dense layers need not be worked out again; may be null.
template <class N = double>
LayerTimesOf<N> layer_times(const Model& model, const Plan& plan, const Framework& framework, const Machine& machine, const Timing& timing,
                            const LayerTimesOf<N>* alike = nullptr);
extern template LayerTimesOf<double> layer_times<double>(const Model&, const Plan&, const Framework&, const Machine&, const Timing&,
                                                         const LayerTimesOf<double>*);
extern template LayerTimesOf<Traced> layer_times<Traced>(const Model&, const Plan&, const Framework&, const Machine&, const Timing&,
                                                         const LayerTimesOf<Traced>*);

}  // namespace fourfold
