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
    // Until the next word, for plans that are exposed as this one is, or more: where the first alone is wanted, those that are not faster
    // than one that is exposed no more do not come before it.
    void set_for(const Plan* plan) {
        most_ = INFINITY;
        for (const First& one : firsts_)
            if (plan != nullptr && one.seconds < most_ && !is_more_exposed(one.plan, *plan)) most_ = one.seconds;
    }
    void add(const Plan& plan, double seconds) {
        if (goal_.first) firsts_.push_back({plan, seconds});
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
    // The fastest alone is wanted: nobody asks of the others whether they fit.
    bool is_for_one() const { return goal_.plans == 1 && !goal_.any && !goal_.everything; }
    // What a step of the plans at hand does once takes so long at least (StepBound::once_per_step).
    void set_once(double seconds) { once_ = seconds; }
    // What the rest of such a step may take. Of several plans it is counted how many fit, so that there no fewer are looked at.
    double rest() const { return is_for_one() ? seconds() * (1 + 1e-12) - once_ : seconds(); }
    // What a search may pass over.
    double seconds() const { return goal_.everything ? INFINITY : std::min(wanted(), most_); }

 private:
    const Goal& goal_;
    std::vector<double> times_;  // a heap with the slowest on top
    double best_ = INFINITY, most_ = INFINITY, once_ = 0;
    struct First {
        Plan plan;
        double seconds;
    };
    std::vector<First> firsts_;  // all that are known
};

}  // namespace fourfold
