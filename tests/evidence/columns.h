// Every measured run beside its estimate, column by column, each value with how many times it follows itself: runs.json, in which the page
// looks for the runs nearest to a job.
#pragma once
#include <vector>

#include "evidence/table.h"

namespace fourfold::tests {

// Runs with a measured step time, with measured memory, and those that ran or ran out of memory. Times that the source itself measured on a
// broken network say nothing of another network: they are left out and counted (`slow_network`); left out are, too,
// those with an offloaded optimizer, whose hosts decide: they are near no job without.
Json columns_of(const std::vector<AnsweredRow>& rows);

}  // namespace fourfold::tests
