// How the times of runs change with each constant that a calibration may fit.
#pragma once
#include "calibration/calibration.h"

namespace fourfold {

inline constexpr std::size_t kKnots = 33;            // of a constant's range; between them a straight line
using Point = std::array<double, kFittedConstants>;  // logarithms of the constants

// Step seconds of a run while one constant changes. Those of the site have terms of their own in a step (network: gradients, and
// tensor-parallel traffic between nodes; pipeline: transfers; fixed; stalls), so that changes of several add up.
struct Response {
    double base = 0, log_measured = 0;
    std::array<std::array<double, kKnots>, kFittedConstants> change{};
};

struct Responses {
    std::vector<Response> runs;
    Point start{}, low{}, high{};
    std::array<bool, kFittedConstants> matters{};  // changes any run by more than the noise of measured steps
};

// Of measured steps against the model: from here on a residual counts in proportion only, and a constant whose whole range changes less of
// any step cannot be told.
inline constexpr double kNoise = 0.04;

Responses responses_of(const Job& job, const std::vector<FitRow>& rows);

// Logarithm of measured over predicted time with these of the constants changed.
double log_ratio(const Responses& all, const Response& run, const std::vector<std::size_t>& constants, const Point& at);

}  // namespace fourfold
