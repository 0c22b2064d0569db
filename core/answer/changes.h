// "What to change first": single changes of a plan that lower the memory of the fullest GPU.
#pragma once
#include <vector>

#include "base/words.h"
#include "search/search.h"

namespace fourfold {

struct Change {
    Json set;             // the keys of the job that change, with their new values
    Text label, touches;  // what it does, and what else that changes (empty: nothing)
    Estimated after;
    double saved_bytes, lost_seconds;  // negative: gained
};

// All that save at least one percent of the card. Where the plan does not fit, or may not, first those that make it fit, on as many GPUs
// before others, the fastest first; then those that cost no time, most saved first, then by bytes saved per second lost.
// `shown`, estimated as `now`, is the plan that the space's plan leads to; what the latter leaves open is searched again with each change.
std::vector<Change> changes_that_save(const SearchSpace& space, const Plan& shown, const Estimated& now);

}  // namespace fourfold
