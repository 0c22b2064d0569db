// Units of memory, and of rates.
#pragma once

namespace fourfold {

inline constexpr double kMebi = 1024.0 * 1024.0, kGibi = 1024.0 * kMebi, kGbyte = 1e9;  // bytes

}  // namespace fourfold
