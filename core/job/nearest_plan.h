// Where no plan of a job is legal: the nearest value of a field with which some is.
#pragma once
#include "job/job.h"

namespace fourfold {

// Null: there is none so near.
Json nearest_with_plan(const Job& job, std::int64_t Plan::*field, std::int64_t furthest);
// Of the batches that a divisor of the GPUs divides, the nearest; null: none of them.
Json nearest_batch(const Job& job);

}  // namespace fourfold
