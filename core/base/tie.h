// When two plans are closer than the model can tell apart.
#pragma once

namespace fourfold {

// Plans whose step times differ by less than this share count as equally fast. Two sources agree (tests/time/tie_width_test.cpp):
// 1. Measured twice in one sweep, the same plan differs by 0.8 % in the median (six pairs, the largest 1.1 %), so that one difference in
//    five is above 1.5 %. Between releases of a framework or between days it is 3 % and more: that is not counted.
// 2. Of 162 pairs of measured plans of one job that the model puts less than 1.5 % apart it orders 56 % rightly: almost a coin. From 1.5 to
//    3 % it orders 62 % of 175 rightly, from 3 to 5 % 77 % of 243.
inline constexpr double kTieWidth = 0.015;

// Plans whose memory differs by less than this share need as much. Of 227 pairs of measured plans of one job that the estimate puts less
// than 0.3 % apart it orders 57 % rightly; from 0.3 to 1 % it orders 83 % of 375 rightly, beyond that 99 %
// (tests/evidence/memory_tie_test.cpp).
inline constexpr double kMemoryTieWidth = 0.003;

}  // namespace fourfold
