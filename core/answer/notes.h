// What an estimate took from the request, what it assumed, and what it does not count: travels with every estimate.
#pragma once
#include "job/job.h"

namespace fourfold {

// As lists of {"id", "text"}; assumed ones also name the field that changes them ("" = none).
Json used_notes(const Job& job);
Json assumed_notes(const Job& job);
Json not_counted_notes(const Job& job);

}  // namespace fourfold
