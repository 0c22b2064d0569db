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
// Of a job without numbers of GPUs, at the usual ones: it gets them.
HeatMap heat_map(Job& job);

}  // namespace fourfold
