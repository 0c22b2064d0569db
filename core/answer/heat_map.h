// Every split of a job over several numbers of GPUs: the map behind "how many GPUs".
#pragma once
#include "base/columns.h"
#include "job/job.h"

namespace fourfold {

struct HeatMap {
    Json summary;
    api::SearchColumns columns;
};

// The answer to search() (api.h): one entry per TP, CP, PP, micro-batch and number of GPUs, with the best plan over all else that is open;
// the entry of the plan that the ranking puts first is that very plan.
HeatMap heat_map(const Job& job);

}  // namespace fourfold
