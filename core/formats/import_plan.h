// Configurations of training frameworks, as jobs.
#pragma once
#include "base/fields.h"

namespace fourfold {

// The answer to import_plan() of api.h, or problems.
Json import_answer(const Json& request, Problems& problems);

}  // namespace fourfold
