// The fastest plans of a space that is wider than the four degrees (candidates.h), found in parts by as many workers as there are.
#pragma once
#include <optional>

#include "candidates.h"
#include "plan_filter.h"

namespace fourfold {

// What a job wants of its ranking.
struct Exploration {
    std::uint32_t dimensions = vary_virtual_stages | vary_recompute | vary_stage_layers;
    double risk = 0.05;  // of running out of memory that a ranked plan may bear
};
template <class AnyExploration, class Visitor>
void visit_fields(AnyExploration& e, Visitor&& v) requires std::is_same_v<std::remove_const_t<AnyExploration>, Exploration> {
    v.set({"explore", "vary", "Try also", "What the list of best configurations varies beside the four degrees.", ""}, e.dimensions,
          kDimensionChoices);
    v.number({"risk", "risk", "Accepted risk",
              "Of running out of memory, for a plan to be ranked; 0.05 = 5 of 100 runs. The paper's method has its 80 % line instead.", ""},
             e.risk, {0.01, 0.98});
}

// One part of the ranking, as JSON (api.h, "rank"): of `space.plan`'s GPU count. A plan is ranked when its probability to run is at least
// 1 - risk; a method without probabilities ranks what fits. Ties go to the earlier plan in plan order. The filter leaves out the others.
Json rank_part(const SearchSpace& space, const Exploration& wanted, const PlanFilter& filter, Share share);

// The parts of one ranking put together: whatever the parts, the whole is the same. nullopt and a problem when `parts` are not such parts.
std::optional<Json> merge_parts(const Json& parts, Problems& problems);

}  // namespace fourfold
