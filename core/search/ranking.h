// The fastest plans of a job as a list, and why the others are not on it.
#pragma once
#include "search/filter.h"
#include "search/search.h"

namespace fourfold {

// The answer to rank() (api.h).
Json ranking_answer(const SearchSpace& space, const PlanFilter& filter);

// Rules and how many candidates each stopped, most first.
Json rejections(const std::array<std::int64_t, static_cast<std::size_t>(Rule::count)>& rejected);

}  // namespace fourfold
