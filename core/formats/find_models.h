// Models by what people type: those of the catalogue, and those that only readers of configurations know.
#pragma once
#include "base/fields.h"

namespace fourfold {

// The answer to find_models() of api.h, or problems.
Json found_models(const Json& request, Problems& problems);

}  // namespace fourfold
