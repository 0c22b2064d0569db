// A plan on its platform: everything that its times follow from, worked out once and in one order:
//   plan, GPU, cluster -> framework -> machine -> timing -> the times of a layer -> the time of a step
#pragma once
#include "time/step_time.h"

namespace fourfold {

// Over the number type (formula.h): double, or Traced where the formulas are shown.
template <class N = double>
struct TimedPlan : Platform {
    // Keeps references to the model and the plan.
    TimedPlan(const Model& m, const Gpu& gpu, const Cluster* cluster, const Plan& p)
        : Platform(m, gpu, cluster, p), model(m), plan(p), layers(layer_times<N>(model, plan, framework, machine, timing)) {}
    // After the platform was changed.
    void time_layers() { layers = layer_times<N>(model, plan, framework, machine, timing); }
    StepTime<N> step() const { return step_time<N>(model, plan, framework, machine, timing, layers); }

    const Model& model;
    const Plan& plan;
    LayerTimesOf<N> layers;
};

}  // namespace fourfold
