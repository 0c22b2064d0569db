// How wide the band of a step's time must be: what measured runs say, basis by basis.
#pragma once
#include <vector>

#include "evidence/table.h"

namespace fourfold::tests {

// Prints, for each basis of a band, the runs behind it and the band they ask for; returns how many bands are told otherwise. Behind a band
// stand the runs with its basis that are fitted to or were seen, none that is blind. It holds nine of ten of them, counted in two ways:
// every run the same, and no family as more than ten runs, so that one long table does not speak for all stacks.
// All bands together hold at most 95 of 100 runs: wide ones would prove nothing.
int untrue_bands(const std::vector<AnsweredRow>& rows);

}  // namespace fourfold::tests
