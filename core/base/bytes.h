// Units of memory.
#pragma once

namespace fourfold {

inline constexpr double kMebi = 1024.0 * 1024.0, kGibi = 1024.0 * kMebi;  // bytes

}  // namespace fourfold
