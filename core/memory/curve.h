// Memory of a pipeline stage over a training step, operation by operation of its schedule.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "memory/memory.h"

namespace fourfold {

struct Curve {
    std::int64_t micro_batches = 0;  // shown: all of the step's, or enough to see the pattern and the fullest moment
    std::vector<Op> ops;             // of the stage, in order
    std::vector<double> start, end;  // in forward passes of a stage with the average number of layers; a backward pass takes two
    std::vector<double> bytes;       // allocated, at most, while the operation runs
    std::vector<double> after;       // allocated once it is done, until the next one starts
};

// nullopt for pipelines of more than 256 stages: too long to draw.
std::optional<Curve> memory_curve(const Model& model, const Plan& plan, const Framework& framework, std::int32_t stage);

}  // namespace fourfold
