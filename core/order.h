// The order of plans: by time, and among those that the estimate cannot tell apart by how little they are exposed to what varies on real
// clusters. Everything that names a best plan takes the first of this order.
#pragma once
#include <vector>

#include "plan.h"
#include "verdict.h"

namespace fourfold {

struct Estimated {
    Plan plan;
    double bytes = 0;  // allocated on the fullest GPU
    double share = 0;  // of the card
    Verdict verdict{};
    double seconds = 0;  // of a step
};

struct Ranked {
    Estimated estimate;
    std::int32_t tie = 0;  // number of its group of equally fast plans, 0 = the fastest ones
};

// Sorts into groups: a group begins with the fastest plan that is in none yet, and takes all within kTieWidth of it (tie.h). Within a group
//   1. fewest context ranks, whose rings vary most          2. the least recomputation
//   3. less traffic between nodes, in powers of two         4. the smallest split: TP·CP·PP, then stages, then chunks
//   5. equal layers before uneven ones, sequence parallelism, wide states before narrow ones, less sharding
//   6. the faster, and at last the fields one by one, so that the order never depends on how plans were found
std::vector<Ranked> in_order(const Model& model, std::vector<Estimated> plans);

// Bytes that a GPU sends to other nodes per step, about: enough to compare plans of one job.
double network_bytes(const Model& model, const Plan& plan);

}  // namespace fourfold
