// How runs that ran or failed lie around an estimate of their memory: the fit behind a framework's residual (plan/framework.cpp).
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "memory/verdict.h"

namespace fourfold::tests {

struct Outcome {
    double whole_share;  // of the card, estimated
    bool ran;
};

// Logarithm of the probability of the outcomes.
inline double likelihood(const std::vector<Outcome>& outcomes, Residual residual) {
    double sum = 0;
    for (const Outcome& one : outcomes) {
        const double p = std::min(std::max(probability_to_run(residual, one.whole_share), 1e-4), 1 - 1e-4);
        sum += std::log(one.ran ? p : 1 - p);
    }
    return sum;
}

// In hundredths.
inline Residual most_likely(const std::vector<Outcome>& outcomes) {
    Residual best{};
    double most = -INFINITY;
    for (int middle = 60; middle <= 110; ++middle)
        for (int spread = 1; spread <= 30; ++spread) {
            const Residual trial{middle / 100.0, spread / 100.0};
            const double value = likelihood(outcomes, trial);
            if (value > most) most = value, best = trial;
        }
    return best;
}

}  // namespace fourfold::tests
