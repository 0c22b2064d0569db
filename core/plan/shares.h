// How many GPUs share what the optimizer keeps. Memory, time and the host's memory ask here.
//   S. Rajbhandari et al.: ZeRO, arXiv 1910.02054, section 5
#pragma once
#include <algorithm>
#include <cmath>

#include "plan/plan.h"

namespace fourfold {

// Those that hold the same parameters, of which a copy is split over `ranks` GPUs of a stage; with replicas of shards (HSDP) fewer.
inline double optimizer_sharers(const Plan& p, std::int64_t ranks) {
    if (!p.shards_optimizer()) return 1;
    const auto holders = static_cast<double>(p.weight_copies() * (p.gpus / (ranks * p.pipeline_parallel)));
    return std::max(1.0, std::floor(holders / static_cast<double>(p.shard_replicas)));
}

}  // namespace fourfold
