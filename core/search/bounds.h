// Lower bounds of a step's time, for plans that are known in part: a search passes over what cannot be fast enough.
#pragma once
#include "model/model.h"
#include "plan/plan.h"
#include "time/layer_time.h"
#include "time/transfers.h"

namespace fourfold {

// Of plans with the same GPUs, TP, CP, micro-batch, expert parallelism and precision. `layers` are the times without recomputation, which
// only adds to them. A step is never faster than
//   the average stage's work on all micro-batches, since some stage does at least that much, and holds as many layers as the average,
//   rounded up;
//   and, of schedules that wait, the average stage's share of filling and draining the pipeline;
//   with what is the same for every such plan: transfers, stalls, fixed time, slower nodes.
// Where PP and ZeRO are known, once_per_step() comes on top.
class StepBound {
 public:
    StepBound(const Model& model, const Plan& plan, const Machine& machine, const Timing& timing, const LayerTimes& layers);
    // Whatever the pipeline; `overlaps`: also schedules that hide the traffic of experts.
    double seconds(bool overlaps) const {
        return whole(micro_batches_ * (work_ - (overlaps ? hidden_ : 0) + timing_.micro_batch), micro_batches_);
    }
    // With the plan's PP, schedule and chunks.
    double seconds(const Plan& plan) const { return seconds(plan, 0); }
    // Where so many of all layers are computed again.
    double seconds(const Plan& plan, double layers_again) const;
    // What the traffic between copies of the weights, and the optimizer's update, add to each of these, whatever schedule, chunks, layout
    // and recomputation.
    double once_per_step(const Plan& plan, const LayerTimes& layers) const;
    // Routed experts at the rate of large multiplications and nothing for the exchange of tokens: below every expert parallelism.
    static LayerTimes without_experts(const Model& model, const Plan& plan, const Machine& machine, const Timing& timing,
                                      LayerTimes layers);

 private:
    double whole(double pipeline, double micro_batches) const;
    const Model& model_;
    const Machine& machine_;
    const Timing& timing_;
    double work_ = 0;                       // seconds of one micro-batch, all layers and both ends
    double layer_ = 0, layer_forward_ = 0;  // of them, the shortest layer, and its forward pass
    double hidden_ = 0;                     // of them, what overlapping schedules hide at most
    double micro_batches_ = 0;              // per step, of a pipeline of one stage
    double stall_ = 0;                      // seconds per micro-batch
    mutable std::int64_t stages_ = 0;       // of the pipeline that was asked for last,
    mutable double transfer_ = 0;           // and seconds of a send in it
    double factor_ = 1;                     // of slower nodes, and of a calibration: on all of a step
};

}  // namespace fourfold
