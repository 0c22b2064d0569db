// The answer to estimate(): the memory of a plan as JSON, item by item (api.h says what each member means).
#pragma once
#include "job.h"

namespace fourfold {

Json describe_method(Method method);

// Adds what api.h calls BRIEF.
void add_brief(Json& object, const Estimated& e);

// A run over so many tokens: whole steps.
struct Training {
    double steps, days, gpu_hours;
};
Training training_of(double tokens, const Plan& plan, double step_seconds);

// `job` is complete and legal; `chosen` are the degrees that "auto" chose.
Json estimate_answer(const Job& job, const std::vector<std::string>& chosen);

}  // namespace fourfold
