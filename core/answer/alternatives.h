// What else a reader could do: neighbours of each degree, single changes that save memory, and the plan that the search would choose. Each
// is told as it comes out once it is set: what the job leaves open is searched again.
#pragma once
#include "job/job.h"

namespace fourfold {

// The answer to alternatives() (api.h). `asked` is the job as it was asked, `shown` the same with all that was open chosen.
Json alternatives_answer(const Job& asked, const Job& shown);

}  // namespace fourfold
