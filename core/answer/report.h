// The answer to estimate(): the memory of a plan as JSON, item by item (api.h says what each member means).
#pragma once
#include "job/job.h"

namespace fourfold {

Json describe_method(Method method);

// Adds what api.h calls BRIEF.
void add_brief(Json& object, const Estimated& e);

// `job` is complete and legal; `resolved` says what of it the core chose.
Json estimate_answer(const Job& job, const Resolved& resolved);

// TIME's "run" (api.h) at so many seconds a step; null without a token budget.
Json describe_run(const Job& job, const Plan& plan, double step_seconds, const Band& band);

}  // namespace fourfold
