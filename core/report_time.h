// The part of an estimate's answer that says how long a step takes, item by item (api.h: TIME).
#pragma once
#include "job.h"

namespace fourfold {

// `job` is complete and legal.
Json describe_time(const Job& job);

}  // namespace fourfold
