// Which model, GPU, cluster and method a request is about: ids of the catalogue, or what it says of a model or a GPU of its own.
#pragma once
#include "job/job.h"

namespace fourfold {

void read_which(FieldReader& reader, Job& job, Problems& problems);

}  // namespace fourfold
