// The optimum of a placement by trying every order: up to some 8 units.
#pragma once
#include <algorithm>
#include <numeric>

#include "placement/cost.h"

namespace fourfold::tests {

inline double best_of_all(const PlacementShape& shape) {
    Placement at(shape.units);
    std::iota(at.begin(), at.end(), 0U);
    PlacementCost cost(shape);
    double best = cost.reset(at);
    while (std::next_permutation(at.begin(), at.end())) best = std::min(best, cost.reset(at));
    return best;
}

}  // namespace fourfold::tests
