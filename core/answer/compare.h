// Two plans of one job against each other: what the second costs more or less, and where.
#pragma once
#include "job/job.h"

namespace fourfold {

// The answer to versus() (api.h). `job` is resolved; `other` may hold kAuto.
Json versus_answer(const Job& job, const Plan& other);

}  // namespace fourfold
