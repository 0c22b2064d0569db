// The time above which a plan is not wanted: that of the slowest plan among the fastest so many.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/tie.h"
#include "search/search.h"

namespace fourfold {

class Limit {
 public:
    explicit Limit(const Goal& goal) : goal_(goal) {}
    void add(double seconds) {
        best_ = std::min(best_, seconds);
        if (times_.size() == goal_.plans) {
            if (seconds >= times_.front()) return;
            std::pop_heap(times_.begin(), times_.end());
            times_.pop_back();
        }
        times_.push_back(seconds);
        std::push_heap(times_.begin(), times_.end());
    }
    double wanted() const {
        const double slowest = times_.size() < goal_.plans ? INFINITY : times_.front();
        return std::min(std::max(slowest, best_ * (1 + kTieWidth)), goal_.most_seconds * (1 + kTieWidth));
    }
    // What a search may pass over.
    double seconds() const { return goal_.everything ? INFINITY : wanted(); }

 private:
    const Goal& goal_;
    std::vector<double> times_;  // a heap with the slowest on top
    double best_ = INFINITY;
};

}  // namespace fourfold
