// Whether the units of a placement have the memory that their stages need.
#pragma once
#include <cstdint>
#include <vector>

#include "placement/request.h"

namespace fourfold {

// Bytes that the fullest GPU at each position needs: of the stages that it holds, the one that needs most.
std::vector<double> position_bytes(const Job& job, const Plan& plan, bool units_are_gpus);

// units * positions, 1 where the unit's GPUs have too little memory (the verdict's "does not fit") for what stands there; empty when every
// unit fits everywhere.
std::vector<std::uint8_t> misfits(const PlacementRequest& request, const Plan& plan);

}  // namespace fourfold
