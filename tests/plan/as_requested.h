// A plan that a test has set, as the core reads it from the request that says it: what no request can say is lost.
#pragma once
#include <doctest/doctest.h>

#include "plan/plan.h"
#include "support.h"

namespace fourfold::tests {

inline Plan as_requested(const Plan& plan) {
    Json request = Json::object();
    visit_fields(plan, FieldWriter(request));
    Problems problems;
    FieldReader reader(request, problems);
    Plan read;
    visit_fields(read, reader);
    reader.reject_unknown();
    CHECK(brief(problems) == "");
    return read;
}

}  // namespace fourfold::tests
