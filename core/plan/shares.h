// How many GPUs share what the optimizer keeps. Memory, time and the host's memory ask here.
//   S. Rajbhandari et al.: ZeRO, arXiv 1910.02054, section 5
#pragma once
#include "model/model.h"
#include "plan/plan.h"

namespace fourfold {

// Those that hold the same parameters, of which a copy is split over `ranks` GPUs of a stage; with replicas of shards (HSDP) fewer.
double optimizer_sharers(const Plan& p, std::int64_t ranks);
// The same of routed experts. FSDP of the second version splits a tensor along its first dimension, and transformers joins a layer's
// experts along that: the first GPU holds whole ones, and more GPUs than experts share out nothing further (torch.chunk).
double expert_sharers(const Model& m, const Plan& p);
// Bytes that are gathered, over those of the experts: every GPU sends as much as the first (_fsdp_collectives.py).
double expert_padding(const Model& m, const Plan& p);

}  // namespace fourfold
