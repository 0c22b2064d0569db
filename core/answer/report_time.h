// The part of an estimate's answer that says how long a step takes, item by item (core/contract/api.md, Time).
#pragma once
#include "job/job.h"

namespace fourfold {

// `job` is complete and legal.
Json describe_time(const Job& job);

// Adds a warning when a calibration makes the step shorter than its arithmetic takes at the cards' peak.
void warn_of_impossible_time(const Job& job, double step_seconds, Problems& warnings);

}  // namespace fourfold
