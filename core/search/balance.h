// Layers over the chunks of a pipeline so that no stage works much longer than the others, and none runs out of memory.
#pragma once
#include <functional>

#include "model/model.h"
#include "plan/framework.h"
#include "plan/layout.h"
#include "plan/plan.h"
#include "time/layer_time.h"

namespace fourfold {

// The layout with the shortest longest stage, by the times of layers, embedding and loss; of several the one with fewer layers on the first
// stages, which keep more micro-batches. Null where it is the equal split, or where a chunk would stay empty. `plan` has PP and chunks.
// For schedules whose chunks follow one another in one direction.
LayoutPointer balanced_layout(const Model& model, const Plan& plan, const LayerTimes& times);

// The same where some stage needs too much memory: its layers go to the stages with room that work least long. `fits(bytes)` says whether
// so many bytes of a stage are not too many. Null where no such layout is found, and for several chunks per stage. `plan` has the layout to
// begin with, and what is recomputed.
LayoutPointer layout_that_fits(const Model& model, const Plan& plan, const Framework& framework, const LayerTimes& times,
                               const std::function<bool(double)>& fits, KnownMoments* known = nullptr);

}  // namespace fourfold
