// Every legal way to split a run over GPUs, with its memory; and the one that "auto" stands for.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "api.h"
#include "verdict.h"

namespace fourfold {

// Fixed inputs of a search. Degrees of `plan` that are not kAuto are kept.
struct SearchSpace {
    const Model& model;
    const Plan& plan;
    const Gpu& gpu;
    Method method;
};

struct Estimated {
    Plan plan;
    double bytes = 0;  // allocated on the fullest GPU
    double share = 0;  // of the card
    Verdict verdict{};
};

Estimated estimated(const SearchSpace& space, const Plan& plan);

struct SearchCounts {
    std::int64_t candidates = 0;
    std::array<std::int64_t, static_cast<std::size_t>(Rule::count)> rejected{};
    std::array<std::int64_t, 3> by_fit{};
    std::int64_t legal() const { return by_fit[0] + by_fit[1] + by_fit[2]; }
};

// "auto": the smallest TP*CP*PP (then fewest stages, then fewest context ranks) whose estimate fits, then the largest
// micro-batch; without any, the lowest estimate. Tries the candidates of search_all first and, when none of them is legal, every divisor.
// nullopt when no split is legal. The order of splits of one size is a choice of ours that
// the paper's table neither supports nor contradicts: both orders cost 2.0 % of step time on its jobs.
std::optional<Estimated> choose(const SearchSpace& space);

// All legal plans for all GPU counts, sorted as api.h says; `counts` says what became of every candidate.
// chosen[i] is the row of what choose() takes for gpu_counts[i], or -1.
struct SearchOutcome {
    api::SearchColumns columns;
    SearchCounts counts;
    std::vector<std::int64_t> chosen;
};
SearchOutcome search_all(const SearchSpace& space, const std::vector<std::int64_t>& gpu_counts);

}  // namespace fourfold
