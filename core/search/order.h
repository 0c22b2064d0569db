// The order of plans: by time, and among those that the estimate cannot tell apart by how little they are exposed to what varies on real
// clusters. Everything that names a best plan takes the first of this order.
#pragma once
#include <vector>

#include "memory/verdict.h"
#include "plan/plan.h"

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
//   1. fewest context ranks, whose rings vary most       2. the least recomputation
//   3. the smallest split: TP·CP·PP, then chunks         4. equal layers before uneven ones, sequence parallelism, wide states, one copy of
//   the shards, less sharding
//   5. the faster, and at last the fields one by one, so that the order never depends on how plans were found
// Traffic between nodes is in the time. Asked for before the split, it prefers wider tensor parallelism, whose plans were slower when they
// were measured: on the paper's jobs the first choice then costs 1.4 % instead of 0.3 % (tests/evidence).
std::vector<Ranked> in_order(std::vector<Estimated> plans);
// Whether of two plans that cannot be told apart and are equally fast the other one is first; nor is it the fields that say so (5).
bool is_more_exposed(const Plan& plan, const Plan& than);

}  // namespace fourfold
