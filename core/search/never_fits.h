// What can never fit: found out before any step time is worked out, and remembered from one micro-batch to the next.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "plan/stage.h"
#include "search/candidates.h"
#include "search/savings.h"
#include "search/scorer.h"

namespace fourfold {

class NeverFits {
 public:
    // Keeps references.
    // `counts`: it matters what is known when, since what is known not to fit is counted.
    NeverFits(const SearchSpace& space, const Candidates& all, const Plan& base, Scorer& scorer, Savings& savings, bool counts = true);

    // Whether no schedule, split of the layers, ZeRO and recomputation makes a plan of this TP, CP, PP, EP, ETP and micro-batch fit: the
    // leanest of them does not. A larger micro-batch needs more, unless it is the only one of its step (adds_up_whole_gradients), and so do
    // more chunks per GPU (tests), so that little has to be asked.
    bool holds_for(const Plan& plan, const LayerTimes& times);
    // Whether that was found of a smaller micro-batch.
    bool is_known_for(const Plan& plan);
    // Of all layers, so many at least are computed again by whatever fits of this TP, CP, PP, EP, ETP, micro-batch and ZeRO, whatever its
    // schedule and its layout; 0 where computing parts of layers again, or nothing, may be enough.
    double layers_again(Plan plan) const;

 private:
    enum class Lean : std::uint8_t { illegal, fits, does_not_fit };
    struct Known;
    Lean leanest_of(Plan plan, const LayerTimes& times, Known& known);
    bool mean_stage_never_fits(Plan plan, const PipelineForm& form, const LayerTimes& times, Known& known);
    bool fits_with_savings(Plan plan, const PipelineForm& form, const LayerTimes& times, bool mean_stage);
    bool mean_stage_fits(const Plan& plan) const;
    Stage mean_stage(const Plan& plan, double without) const;
    [[gnu::noinline]] double bytes_of_mean(const Plan& plan, double without) const;
    std::size_t place_of(const Plan& plan) const;

    const SearchSpace& space_;
    const Candidates& all_;
    const Plan& base_;
    Scorer& scorer_;
    Savings& savings_;
    const bool layers_differ_;  // the model has dense layers and such with experts
    const bool counts_;
    const bool holds_in_turn_;  // on every schedule a stage holds a micro-batch more than the one behind it, or more
    // Of one TP, CP, PP, EP, ETP, sequence parallelism, number of slices, and one micro-batch or several: the largest micro-batch known to
    // fit, and the smallest known not to.
    struct Known {
        std::array<std::int64_t, 6> key{};
        std::int64_t fits = 0, fails = std::numeric_limits<std::int64_t>::max();
    };
    Known& known_of(const Plan& plan);
    std::vector<Known> known_;  // one place per remainder of what it depends on; the newest stays
};

}  // namespace fourfold
