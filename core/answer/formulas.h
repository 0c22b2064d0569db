// How each number of an estimate comes about: its formula, in symbols and in numbers, and its source.
#pragma once
#include "job/job.h"

namespace fourfold {

// Adds them to the items of an answer that has its numbers: of memory, of the host, of time. In the module this code, which few readers
// need at once, comes with the second file (wasm/split.mjs).
void add_formulas(Json& answer, const Job& job);

}  // namespace fourfold
