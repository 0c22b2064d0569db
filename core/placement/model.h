// A plan on measured links, as what a placement's cost is made of (placement_cost.h).
//
// What a measured rate means: two units alone reached it with a message, so it is achieved, and the shares that the time model takes of a
// data sheet's rate (Timing: pipeline, network, ring_network) are not applied again. Where all GPUs of a node send at once they share it.
#pragma once
#include <cstdint>
#include <vector>

#include "job/job.h"
#include "links/links.h"
#include "placement/cost.h"

namespace fourfold {

// Ranks fill units in Megatron's order (TP fastest, then CP, DP, PP): position k holds the ranks from k * ranks_per_unit on.
struct RankGrid {
    std::int64_t ranks = 0, ranks_per_unit = 1, per_stage = 1;
    std::int64_t positions() const { return (ranks + ranks_per_unit - 1) / ranks_per_unit; }
    std::uint32_t position(std::int64_t rank) const { return static_cast<std::uint32_t>(rank / ranks_per_unit); }
};
RankGrid rank_grid(const Plan& plan, bool units_are_gpus);

// Units that differ: relative speed (1 = as the profile says). Empty: all alike.
using UnitSpeeds = std::vector<double>;

// The step time of core/time/step_time.cpp: per node-pipeline its own hand-overs, per stage the slowest link of its rings, per group across
// nodes its slowest link. On a matrix of one rate w it equals step_time with a network of w and shares of 1. Per-link latencies count in
// hand-overs. `plan` is legal and has at most as many positions as there are units.
PlacementShape step_time_shape(const Job& job, const Plan& plan, const Links& links, const UnitSpeeds& speeds);

// Seconds of a micro-batch at each stage, where a plan's layers are shared out differently: what a search for such a split goes by.
class StageWork {
 public:
    StageWork(const Job& job, const Plan& plan, const Links& links);  // keeps references to the job's model and the plan
    std::vector<double> seconds(const Plan& plan) const;              // like the constructor's but for the layers per stage

 private:
    const TimedPlan<> like_;
};

// Pipette's objective in seconds for the same plan (arXiv 2405.18093, as its authors' tool counts it).
PlacementShape pipette_shape(const Job& job, const Plan& plan, const Links& links);

// The same from bare numbers, positions pipeline by pipeline:
// max_r sum_c 2 m_pp L + 2 (Do - 1)/Do m_dp max_r L(first stages' ring) + 2 (Di - 1)/Di m_dp L(inside a unit), L = 1 / rate.
struct PipetteNumbers {
    std::int64_t pipelines = 1, stages = 1, inter_dp = 1, inner_dp = 1;
    double hand_over_bytes = 0, data_bytes = 0;
    double inside_byte_per_s = 0;  // counts where inner_dp > 1
};
PlacementShape pipette_shape(const PipetteNumbers& numbers, const Links& links);

}  // namespace fourfold
