// What place() is asked, read and checked.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "job/job.h"
#include "links/links.h"
#include "placement/annealing.h"
#include "placement/model.h"

namespace fourfold {

enum class Objective { step_time, pipette };
extern const std::span<const Choice> kObjectiveChoices;

struct PlacementRequest {
    Job job;    // its plan is complete and legal, unless `bare`
    Job asked;  // with what the request left open; candidates begin with it
    Links links;
    Objective objective = Objective::step_time;
    AnnealingBudget budget;
    std::optional<PipetteNumbers> bare;  // Pipette's objective without a job
    std::vector<double> speeds;          // per unit; empty: all alike
    std::vector<double> memory_bytes;    // per unit, 0 = the card's; empty: all alike
    std::vector<Plan> candidates;        // to place as well, each complete and legal
};

// "gpus" or "nodes": what a unit is.
inline const char* kind_of_units(const PlacementRequest& r) { return r.links.gpus ? "gpus" : "nodes"; }

// Takes "links" out of `request`. nullopt and problems when anything is wrong.
std::optional<PlacementRequest> read_placement(Json& request, api::LinkColumns columns, Problems& problems);

// Moves that suit so many units: a few seconds' worth.
std::int64_t usual_moves(std::size_t units);

}  // namespace fourfold
