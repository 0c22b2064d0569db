// Equal but for rounding, however small the numbers are. doctest's own Approx adds one to them before it takes a share, so that of times of
// microseconds a thousandth more goes unseen; this adds so little that only zero is near zero.
#pragma once
#include <doctest/doctest.h>

namespace fourfold::tests {

inline doctest::Approx near(double value, double share = 1e-12) { return doctest::Approx(value).epsilon(share).scale(1e-290); }

}  // namespace fourfold::tests
