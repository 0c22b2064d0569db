// Every legal way to split a run over GPUs, with its memory; and the one that "auto" stands for.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "api.h"
#include "candidates.h"
#include "step_time.h"
#include "verdict.h"

namespace fourfold {

struct Estimated {
    Plan plan;
    double bytes = 0;  // allocated on the fullest GPU
    double share = 0;  // of the card
    Verdict verdict{};
    double seconds = 0;  // of a step
};

Estimated estimated(const SearchSpace& space, const Plan& plan);

// What a search wants to know of a plan.
struct Scores {
    double bytes = 0, share = 0;  // as in Estimated
    Verdict verdict{};
    double seconds = 0;
};

// Scores many plans of one space; what they have in common is computed once.
class Scorer {
 public:
    Scorer(const SearchSpace& space, const Plan& like) : space_(space), timer_(space.model, space.gpu, space.cluster, like) {}
    // Expert parallel left open by the space is chosen, and written into the plan.
    Scores score(Plan& plan);
    // The same without the step time, for those who reject by memory first.
    Scores memory(Plan& plan);
    double seconds(const Plan& plan) { return timer_.seconds(plan); }

 private:
    const SearchSpace& space_;
    StepTimer timer_;
    KnownMoments moments_;
};

// "auto": the fastest plan whose estimate fits; of plans equally fast the smallest split (TP*CP*PP, then fewest pipeline stages, then
// fewest context ranks), then the largest micro-batch; without any that fits, the lowest estimate. Tries the candidates of search_all first
// and, when none of them is legal, every divisor. nullopt when no split is legal.
std::optional<Estimated> choose(const SearchSpace& space);

// All legal plans for all GPU counts, sorted as api.h says; `counts` says what became of every candidate.
// chosen[i] is the row of what choose() takes for gpu_counts[i], or -1.
struct SearchOutcome {
    api::SearchColumns columns;
    SearchCounts counts;
    std::vector<std::int64_t> chosen;
    std::vector<std::int64_t> fastest;  // per GPU count: the entry that fits and is fastest, of equally fast ones the first; or -1
};
SearchOutcome search_all(const SearchSpace& space, const std::vector<std::int64_t>& gpu_counts);

}  // namespace fourfold
