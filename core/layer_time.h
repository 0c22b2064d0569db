// What one layer costs in time, and the model's two ends.
#pragma once
#include "cost.h"
#include "model.h"
#include "plan.h"

namespace fourfold {

// One layer, one micro-batch, one GPU. Depends on TP, CP, micro-batch and kernels alone: a search computes it once for all PP and DP.
struct LayerTime {
    double multiply_forward = 0, multiply_backward = 0;
    double attention_forward = 0, attention_backward = 0;
    double element_forward = 0, element_backward = 0;
    double tensor_forward = 0, tensor_backward = 0;
    double context_forward = 0, context_backward = 0;
    double expert_forward = 0, expert_backward = 0;
    double recomputed = 0;             // computed again in the backward pass
    double forward = 0, backward = 0;  // all of these, and what the CPU adds
};
struct LayerTimes {
    LayerTime dense, expert;
    double head = 0, embedding = 0;                      // seconds per micro-batch
    double parameters_dense = 0, parameters_expert = 0;  // of a layer, on this GPU
};

LayerTimes layer_times(const Model& model, const Plan& plan, const Framework& framework, const Machine& machine, const Timing& timing);

}  // namespace fourfold
