// How long a run is to be: the steps, sequences or tokens that its settings name, as a token budget.
#pragma once
#include "formats/entries.h"

namespace fourfold {

// Sets the job's token_budget where an entry names a length and the job what a step holds; to none where it is said in epochs of a data
// set, or not at all by a format of fine-tuning, or where adapters are trained.
void read_run_length(Import& in, std::string_view format);

}  // namespace fourfold
