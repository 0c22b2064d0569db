// How many GPUs share what the optimizer keeps. Memory, time and the host's memory ask here.
//   S. Rajbhandari et al.: ZeRO, arXiv 1910.02054, section 5
#pragma once
#include <algorithm>
#include <cmath>

#include "plan/framework.h"

namespace fourfold {

// Those that hold the same parameters, of which a copy is split over `ranks` GPUs of a stage; with replicas of shards (HSDP) fewer.
inline double optimizer_sharers(const Plan& p, std::int64_t ranks) {
    if (!p.shards_optimizer()) return 1;
    const auto holders = static_cast<double>(p.weight_copies() * (p.gpus / (ranks * p.pipeline_parallel)));
    return std::max(1.0, std::floor(holders / static_cast<double>(p.shard_replicas)));
}

// The same of routed experts. FSDP of the second version splits a tensor along its first dimension, and transformers joins a layer's
// experts along that: the first GPU holds whole ones, and more GPUs than experts share out nothing further (torch.chunk).
inline double expert_sharers(const Model& m, const Plan& p) {
    const double sharers = optimizer_sharers(p, p.expert_tensor_parallel * p.expert_parallel);
    if (!row_of(p.framework).joins_experts || !fully_shards(p)) return sharers;
    const auto experts = static_cast<double>(m.experts.count);
    return experts / std::ceil(experts / sharers);
}
// Bytes that are gathered, over those of the experts: every GPU sends as much as the first (_fsdp_collectives.py).
inline double expert_padding(const Model& m, const Plan& p) {
    return optimizer_sharers(p, p.expert_tensor_parallel * p.expert_parallel) / expert_sharers(m, p);
}

}  // namespace fourfold
