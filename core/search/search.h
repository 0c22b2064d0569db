// The one search: of all plans that a job leaves open, the fastest that fit. Headline, list, map, limits and comparisons ask it.
#pragma once
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "memory/verdict.h"
#include "search/candidates.h"
#include "search/order.h"
#include "time/step_time.h"

namespace fourfold {

// A plan without anything open, whatever the space's plan says.
Estimated estimated(const SearchSpace& space, const Plan& plan);

// Whether a plan may be chosen: by its probability to run, and by the risk that the job accepts; a method without probabilities wants that
// it fits.
bool may_run(const SearchSpace& space, const Verdict& verdict);

struct SearchResult {
    std::vector<Ranked> plans;      // in order (order.h)
    std::int64_t equally_good = 0;  // how many of the first are as fast as the fastest, as far as the estimate can tell
    std::int64_t fit = 0;           // candidates that fit, and were fast enough to be looked at
    std::int64_t does_not_fit = 0;  // candidates that were fast enough to be looked at, but need too much memory; counted for a
                                    // list of plans, where some plan fits
    std::int64_t looked_at = 0;     // step times worked out
};

// What is to be found.
struct Goal {
    std::size_t plans = 1;           // the fastest so many, and all that cannot be told apart from the fastest
    double most_bytes = INFINITY;    // on the fullest GPU, besides what the risk allows
    double most_seconds = INFINITY;  // of a step
    bool first = false;              // the first in order alone: of those as good as it, not every one is found
    bool any = false;                // whichever is found first, so that nobody waits for the fastest
    bool everything = false;         // without bounds: every candidate is looked at (tests)
};

// Every candidate is one TP, EP, ETP, CP, PP, micro-batch, schedule with its chunks, split of the layers, ZeRO and sequence parallelism.
// Where it does not fit as it is, it takes the fastest way that fits (savings.h): layers moved where memory wants it so (of balanced
// splits); recomputing attention, a block of the fewest layers, or every layer; 16-bit states; as far as these are open.
//   1. groups of one TP, CP and micro-batch, the least lower bound of time first (bounds.h); the first bound above the limit ends it
//   2. expert parallelism, PP, schedule: without what can never fit (never_fits.h); then the bound again, with more known, and with the
//      layers that must be computed again
//   3. memory, with what a plan takes to fit, then the step time: most of what bounds of time leave does not fit. The fastest alone is
//   asked
//      for its time first.
// The limit is the time of the slowest plan still wanted. Where no plan fits as the framework sends gradients, or another one is faster,
// those of may_sync_to_fit() send them after each micro-batch.
SearchResult search(const SearchSpace& space, const Goal& goal);

// The plan that "auto" means: the first in order; where none fits the one that needs least memory; nullopt when no candidate is legal.
struct Chosen {
    Estimated estimate;
    std::int64_t equally_good = 0;  // plans that are as good, this one included, as far as they were asked for; 0: it does not fit
    bool fits() const { return equally_good > 0; }
};
std::optional<Chosen> choose(const SearchSpace& space, bool first = true);
// The first in order; nullopt where none fits, or none within `most_seconds` per step. `first`: as in Goal.
std::optional<Chosen> best_plan(const SearchSpace& space, double most_seconds = INFINITY, bool first = true);
// Whether best_plan() finds one.
bool has_plan(const SearchSpace& space);
// The lowest estimate: the smallest micro-batch, every layer recomputed where that is open.
std::optional<Estimated> leanest_plan(const SearchSpace& space);

// Whether any candidate is legal.
bool has_legal_plan(const SearchSpace& space);

}  // namespace fourfold
