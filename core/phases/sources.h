// Where the formulas of failures were published.
#pragma once
#include "memory/memory.h"

namespace fourfold {

inline constexpr Source kDaly{"Daly: A higher order estimate of the optimum checkpoint interval for restart dumps (2006)",
                              "https://doi.org/10.1016/j.future.2004.11.016"};

}  // namespace fourfold
