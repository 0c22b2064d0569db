// Layers shared out unevenly over the pipeline, where units differ or the ends carry more than layers.
#pragma once
#include <optional>

#include "placement/request.h"

namespace fourfold {

inline constexpr double kWorthIt = 0.01;  // of a step: less is not worth a change

struct UnevenSplit {
    Plan plan;
    double seconds = 0;  // of a step on the placement that was tried with it: a search with this plan does no worse
};

// The plan with other layers in its first and last stage (Megatron-LM has switches for these two only; the stages between are alike), where
// that saves at least a hundredth of the step. A slow unit may move to an end. `shape_of` prices a plan on the measured links. nullopt: no
// such split, or nothing that a split changes (Pipette's objective, one stage).
std::optional<UnevenSplit> uneven_split(const PlacementRequest& request, const Plan& plan, const AnnealingResult& found,
                                        PlacementShape (*shape_of)(const PlacementRequest&, const Plan&));

// How many layers the first stage, each of the others and the last one hold.
Text text_of_split(const Model& model, const Plan& plan);

}  // namespace fourfold
