// The search for a placement that costs little: simulated annealing.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "placement/cost.h"

namespace fourfold {

struct AnnealingBudget {
    std::uint64_t seed = 1;
    std::int64_t moves = 1'000'000;  // tried, over all restarts
    std::int64_t restarts = 1;       // at most one per 512 moves, which are split among them; each but the first
                                     // starts anew from a random order
    Placement start{};               // where the first restart begins; empty: a chain of near neighbours
};

// Asked every few ten thousand moves whether to go on; `context` is the caller's.
struct GoOn {
    bool (*ask)(void* context, std::int64_t moves, double best_seconds) = nullptr;
    void* context = nullptr;
    // Told before each question, where something better was found since the last one.
    void (*improved)(void* context, const Placement& best) = nullptr;
};

struct AnnealingResult {
    Placement placement;  // units in the order of the positions, then the spare ones
    double seconds = 0, default_seconds = 0;
    std::int64_t misfits = 0, default_misfits = 0;  // units with too little memory where they stand (PlacementShape::misfit)
    std::int64_t moves = 0, accepted = 0, restarts = 0;
    bool stopped = false;                                // GoOn said so
    std::vector<std::pair<std::int64_t, double>> curve;  // after so many moves: the best so far; at most 200 points
};

// Never worse than the order of the units as given: fewer misfits, or as many and no slower. Same shape, seed and budget, same result on
// every machine.
AnnealingResult anneal(const PlacementShape& shape, const AnnealingBudget& budget, const GoOn& go_on = {});

}  // namespace fourfold
