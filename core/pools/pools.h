// GPUs of different kinds in one run: the fastest plans on all of them together, and on each kind alone (core/contract/pools.json).
#pragma once
#include "job/job.h"

namespace fourfold {

// The answer to pools() (api.h); null and problems when something in the request is wrong.
Json pools_answer(const Json& request, Problems& problems);

}  // namespace fourfold
