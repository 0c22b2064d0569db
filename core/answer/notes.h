// What an estimate took from the request, what it assumed, and what it does not count: travels with every estimate.
#pragma once
#include "job/job.h"

namespace fourfold {

Json used_notes(const Job& job);         // a list of texts
Json assumed_notes(const Job& job);      // a list of {"text", "field": the one that changes it, "" = none}
Json not_counted_notes(const Job& job);  // a list of texts

}  // namespace fourfold
