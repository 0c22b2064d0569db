// Every legal way to split a run over GPUs, with its memory; and the one that "auto" stands for.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "api.h"
#include "step_time.h"
#include "verdict.h"

namespace fourfold {

// Fixed inputs of a search. Degrees of `plan` that are not kAuto are kept.
struct SearchSpace {
    const Model& model;
    const Plan& plan;
    const Gpu& gpu;
    Method method;
    const Cluster* cluster = nullptr;  // may be none
};

struct Estimated {
    Plan plan;
    double bytes = 0;  // allocated on the fullest GPU
    double share = 0;  // of the card
    Verdict verdict{};
    double seconds = 0;  // of a step
};

Estimated estimated(const SearchSpace& space, const Plan& plan);

struct SearchCounts {
    std::int64_t candidates = 0;
    std::array<std::int64_t, static_cast<std::size_t>(Rule::count)> rejected{};
    std::array<std::int64_t, 3> by_fit{};
    std::int64_t legal() const { return by_fit[0] + by_fit[1] + by_fit[2]; }
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
    std::vector<std::vector<std::int32_t>> fastest;  // per GPU count: entries that fit, fastest first, at most kRanked
    std::vector<std::vector<std::int32_t>> front;    // per GPU count: of those that fit, what no other one beats in both memory and time
};
inline constexpr std::size_t kRanked = 200;
SearchOutcome search_all(const SearchSpace& space, const std::vector<std::int64_t>& gpu_counts);

}  // namespace fourfold
