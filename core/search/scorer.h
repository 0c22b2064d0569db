// Whether plans fit and how long they take, for many plans of one space: what they have in common is computed once.
#pragma once
#include <cmath>
#include <cstdint>
#include <optional>

#include "search/search.h"
#include "time/step_time.h"

namespace fourfold {

class Scorer {
 public:
    // Of plans that differ from `like` in what a search varies. At most `most_bytes` of the whole fullest GPU, besides what the risk
    // allows.
    Scorer(const SearchSpace& space, const Plan& like, double most_bytes = INFINITY);

    // Of the fullest stage; of some stage with more than `most` where there is one.
    double bytes(const Plan& plan, double most = INFINITY);
    Estimated estimate(const Plan& plan, double seconds) { return estimate(plan, bytes(plan), seconds); }
    Estimated estimate(const Plan& plan, double allocated, double seconds) const;
    // Of the fullest stage of a plan that fits; INFINITY of any other.
    double bytes_that_fit(const Plan& plan);
    bool fits(const Plan& plan) { return bytes_that_fit(plan) < INFINITY; }
    // Whether a node has the memory for what waits there, as far as it is said how much it has.
    [[gnu::noinline]] bool host_holds(const Plan& plan) const;
    // More allocated bytes on the fullest GPU never fit; up to rounding.
    double most_allocated(const Plan& plan) const;
    // Whether so many bytes on the fullest GPU of the plan fit; `most`: its most_allocated().
    bool may_hold(const Plan& plan, double bytes, double most) const;
    bool may_hold(const Plan& plan, double bytes) const { return may_hold(plan, bytes, most_allocated(plan)); }

    // Of a plan that takes more than `most` it is enough to know that.
    double seconds(const Plan& plan, double most = INFINITY) {
        ++timed_;
        return timer_.seconds(plan, most);
    }
    double least_seconds(const Plan& plan) { return seconds(plan, 0); }  // known sooner
    double seconds_but_data(const Plan& plan) { return timer_.seconds_but_data(plan); }
    std::int64_t timed() const { return timed_; }                               // step times worked out
    const LayerTimes& layers(const Plan& plan) { return timer_.layers(plan); }  // until the next question

    const Platform& platform() const { return timer_.platform(); }
    const Framework& framework() const { return platform().framework; }
    KnownMoments* moments() { return &moments_; }

 private:
    const SearchSpace& space_;
    const double most_bytes_, most_whole_;  // the second: of a GPU, allocated or not, with which a plan may just be chosen
    KnownMoments moments_;
    StepTimer timer_;
    std::int64_t timed_ = 0;
};

}  // namespace fourfold
