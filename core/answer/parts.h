// What several answers say in the same words (api.h).
#pragma once
#include <span>
#include <string_view>

#include "job/job.h"
#include "plan/schedule.h"

namespace fourfold {

Json describe_method(Method method);

// Adds what api.h calls BRIEF.
void add_brief(Json& object, const Estimated& e);

// TIME's "run" at so many seconds a step; null without a token budget.
Json describe_run(const Job& job, const Plan& plan, double step_seconds, const Band& band);

// Adds what api.h's ITEM says of its formula and source. With `numbers` the symbols that are computed themselves come with their numbers.
void add_formula(Json& item, const Traced& value, bool numbers, const Source& source, std::string_view place);

// Adds "kind", "micro_batch" and "chunk" of each operation.
void add_operations(Json& object, std::span<const Op> operations);

}  // namespace fourfold
