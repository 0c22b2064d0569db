// What several answers say in the same words (core/contract/api.md).
#pragma once
#include <span>
#include <string_view>

#include "job/job.h"
#include "plan/schedule.h"

namespace fourfold {

Json describe_method(Method method);

// Adds a Brief of core/contract/api.md.
void add_brief(Json& object, const Estimated& e);

// A WholePlan of core/contract/api.md: all that a search chooses, so that the plan can be set as it is told.
Json describe_whole_plan(const Plan& p);

// TIME's "run" at so many seconds a step; null without a token budget.
Json describe_run(const Job& job, const Plan& plan, double step_seconds, const Band& band);

// Adds what an Item of core/contract/api.md says of its formula and source. With `numbers` the symbols that are computed themselves come
// with their numbers.
void add_formula(Json& item, const Traced& value, bool numbers, const Source& source, std::string_view place);

// Adds "kind", "micro_batch" and "chunk" of each operation.
void add_operations(Json& object, std::span<const Op> operations);

}  // namespace fourfold
