// The plan that "auto" means, of what a search finds.
#include <utility>

#include "search/scorer.h"
#include "search/search.h"

namespace fourfold {

Estimated estimated(const SearchSpace& space, const Plan& plan) {
    Scorer scorer(space, plan);
    return scorer.estimate(plan, scorer.seconds(plan));
}

std::optional<Chosen> best_plan(const SearchSpace& space, double most_seconds, bool first) {
    SearchResult found = search(space, {.most_seconds = most_seconds, .first = first});
    if (found.plans.empty() || found.plans.front().estimate.seconds > most_seconds) return std::nullopt;
    return Chosen{std::move(found.plans.front().estimate), found.equally_good};
}

bool has_plan(const SearchSpace& space) { return !search(space, {.any = true}).plans.empty(); }

std::optional<Chosen> choose(const SearchSpace& space, bool first) {
    if (auto best = best_plan(space, INFINITY, first)) return best;
    auto least = leanest_plan(space);
    if (!least) return std::nullopt;
    return Chosen{std::move(*least), 0};
}

}  // namespace fourfold
