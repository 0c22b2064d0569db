// The answer to estimate(): the memory of a plan as JSON, item by item (core/contract/api.md).
#pragma once
#include "job/job.h"

namespace fourfold {

// `job` is complete and legal; `resolved` says what of it the core chose.
Json estimate_answer(const Job& job, const Resolved& resolved);

}  // namespace fourfold
