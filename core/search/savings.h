// What a plan takes to fit where it does not as it is: layers moved between stages, recomputation, activations on the host, 16-bit states;
// as far as these are open. A plan takes as little of them as it needs.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "search/bounds.h"
#include "search/candidates.h"
#include "search/limit.h"
#include "search/scorer.h"

namespace fourfold {

bool may_recompute(const SearchSpace& space);
// Whether the optimizer may keep its states in 16 bits.
bool may_narrow(const SearchSpace& space);
// Whether activations may wait on the host.
bool may_swap(const SearchSpace& space);
// Those of this plan: not where it cuts sequences into slices (has_slices).
inline bool may_swap(const Plan& plan) { return plan.token_slices == 1; }

class Savings {
 public:
    // `base`: the space's plan, closed (groups.h). Keeps references; `limit` goes down while the search goes on.
    Savings(const SearchSpace& space, const Plan& base, Scorer& scorer, const Limit& limit);

    // The fastest of several ways to run a candidate: one that fits, and is fast enough.
    struct Outcome {
        std::optional<Estimated> plan;
        bool any_fits = false;  // one that is too slow, where there is no other
    };
    // Whether it may fit without computing whole layers again: if_moved where may_fit_in_parts() said no of the layout that it has.
    enum class InParts : std::uint8_t { may_fit, if_moved, never };
    Outcome fastest_that_fits(const Plan& plan, const PipelineForm& form, const LayerTimes& times, InParts in_parts = InParts::may_fit);
    bool recomputes() const { return recomputes_; }
    bool recomputes_parts() const { return parts_; }  // whole layers, but not all of them
    bool recomputes_operations() const { return operations_; }
    bool narrows() const { return narrows_; }
    bool swaps() const { return swaps_; }
    // Whether selective recomputation is set, but not of what.
    bool chooses_modules() const { return is_selective_ && modules_.size() > 1; }
    // Whether a candidate is too slow whatever it takes to fit, as far as that is known: where nothing of it makes it faster.
    bool is_too_slow(const Plan& plan, const PipelineForm& form);
    // Those worth a try: recomputing attention saves what its scores take; without them it saves hardly anything.
    ModuleSets modules_to_try() const;
    // As it is, or with layers moved.
    bool fits_moved(const Plan& plan, const PipelineForm& form, const LayerTimes& times);
    // Whether the plan may fit without computing whole layers again.
    bool may_fit_in_parts(Plan plan);
    // A block that leaves one layer of some chunk alone may need less than recomputing that one too.
    bool fits_as_block(Plan plan);

 private:
    class Ways;
    StepBound bound_of(const Plan& plan, const LayerTimes& times) const;
    bool may_move(const PipelineForm& form) const;
    LayoutPointer moved_layout(const Plan& plan, const PipelineForm& form, const LayerTimes& times);
    void consider_what_saves(Ways& ways, Plan plan, const PipelineForm& form, const LayerTimes& times);
    void consider_recomputing(Ways& ways, Plan plan, const PipelineForm& form, const LayerTimes& times);
    void consider_whole_layers(Ways& ways, Plan plan, const PipelineForm& form, const LayerTimes& times);
    void consider_swapping(Ways& ways, Plan plan, const PipelineForm& form, const LayerTimes& times);
    std::optional<Plan> with_least_on_host(Plan plan, double most);
    double hidden_part(Plan plan);
    bool choose_block(Plan& plan, const StepBound& bound);
    std::int64_t most_in_time(const Plan& plan, const StepBound& bound) const;
    std::int64_t fewest_worth_swapping(Plan plan, std::int64_t most);
    std::int64_t fewest_that_fit(Plan plan, std::int64_t low, std::int64_t high);
    void list_chunk_sizes(const Plan& plan);

    const SearchSpace& space_;
    Scorer& scorer_;
    const Limit& limit_;
    const bool recomputes_, parts_, operations_, narrows_, swaps_;
    const bool balances_;                            // layers need not be shared out equally
    const bool is_selective_;                        // selective recomputation is set
    const bool waits_on_host_, shortens_transfers_;  // what is computed again need not wait on the host, where that is set
    const ModuleSets modules_;
    const bool counts_layers_;  // of a block that is set; how many layers is open
    struct ChunkSize {
        std::int64_t layers, chunks;  // so many chunks hold so many layers
    };
    std::vector<ChunkSize> sizes_;  // of the plan at hand, ascending
};

}  // namespace fourfold
