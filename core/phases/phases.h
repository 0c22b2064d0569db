// A run in phases: each is searched like a job of its own; their days, cost and energy are summed, with the changes between them and with
// what usually breaks (core/contract/phases.json).
#pragma once
#include "job/job.h"

namespace fourfold {

// The answer to phases() (api.h); null and problems when something in the request is wrong.
Json phases_answer(const Json& request, Problems& problems);

}  // namespace fourfold
