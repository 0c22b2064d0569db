// How long each operation of a plan's schedule takes, for those who play it: step_time where a schedule has no closed form, the timeline.
#pragma once
#include "plan/schedule.h"
#include "plan/stage.h"
#include "time/layer_time.h"

namespace fourfold {

// Seconds of every operation of a plan's schedule, per stage and chunk, and of a hand-over. Forward, backward and weight operations of a
// stage sum to the seconds of one micro-batch that step_time counts for it.
//   layers       their own forward and backward times; recomputation belongs to the backward pass
//   the CPU      seconds per micro-batch, spread over them in proportion
//   W            where the schedule splits the backward pass: half of what is neither recomputed nor traffic to the experts, as in
//                step_time, and adding up gradients
//   traffic      of the experts, which overlapped pairs hide (schedule.h)
//   both ends    embedding and head: a third each for forward, backward and weights, one matrix multiplication each
OpTimes op_times(const Model& model, const Plan& plan, const Machine& machine, const Timing& timing, const LayerTimes& layers,
                 const Stages& stages);

}  // namespace fourfold
