#include "search/savings.h"

#include <algorithm>
#include <utility>

#include "search/balance.h"
#include "search/bounds.h"

namespace fourfold {

bool may_recompute(const SearchSpace& space) {
    return (space.plan.open & open_recompute) != 0 && (space.exploration.left_out & without_recompute) == 0;
}
bool may_narrow(const SearchSpace& space) {
    return (space.plan.open & open_moments) != 0 && (space.exploration.left_out & without_small_states) == 0;
}

bool may_swap(const SearchSpace& space) {
    return (space.plan.open & open_activation_offload) != 0 && (space.exploration.left_out & without_activation_offload) == 0 &&
           space.method != Method::fujii2024;
}

Savings::Savings(const SearchSpace& space, const Plan& base, Scorer& scorer, const Limit& limit)
    : space_(space),
      scorer_(scorer),
      limit_(limit),
      recomputes_(may_recompute(space)),
      parts_(row_of(base.framework).recomputes_parts),
      operations_(recomputes_ && may_recompute_operations(space.model, base)),
      narrows_(may_narrow(space)),
      swaps_(may_swap(space)),
      balances_((space.plan.open & open_layout) != 0 && !has_uneven_ends(space.plan) && row_of(base.framework).any_layout &&
                (space.exploration.left_out & without_uneven_layers) == 0),
      is_selective_(!recomputes_ && base.recompute == Recompute::selective),
      waits_on_host_(base.activation_offload > 0),
      shortens_transfers_(recomputes_ && waits_on_host_),
      modules_(sets_of_modules(space)),
      counts_layers_((space.plan.open & open_recompute) == 0 && base.recompute == Recompute::block &&
                     space.plan.recompute_layers == kAuto) {}

// The fastest of several ways to run one candidate; only ways that fit, and are fast enough.
class Savings::Ways {
 public:
    explicit Ways(Savings& savings) : savings_(savings), scorer_(savings.scorer_) {}
    // Whether the plan fits. Memory is asked first: bounds of time have cut what is too slow, and most of what is left does not fit.
    bool consider(const Plan& plan) {
        const double bytes = scorer_.bytes_that_fit(plan);
        if (bytes == INFINITY || !scorer_.host_holds(plan)) return false;
        any_fits = true;
        const double seconds = scorer_.seconds(plan, most());
        if (seconds <= most() && (!best || seconds < best->seconds)) best = scorer_.estimate(plan, bytes, seconds);
        return true;
    }
    // The same, where nothing depends on whether a plan fits that is too slow.
    void consider_alone(const Plan& plan) {
        if (!savings_.limit_.is_for_one() || scorer_.least_seconds(plan) <= most()) consider(plan);
    }
    double most() const { return std::min(savings_.limit_.seconds(), best ? best->seconds : INFINITY); }
    // As it is, and with layers moved where memory wants it so.
    void consider_moved(const Plan& plan, const PipelineForm& form, const LayerTimes& times) {
        if (!savings_.may_move(form))
            consider_alone(plan);
        else if (!consider(plan))
            move_layers(plan, form, times);
    }
    void move_layers(const Plan& plan, const PipelineForm& form, const LayerTimes& times) {
        if (!savings_.may_move(form)) return;
        Plan moved = plan;
        moved.layout = savings_.moved_layout(plan, form, times);
        if (moved.layout) consider(moved);
    }
    std::optional<Estimated> best;
    bool any_fits = false;

 private:
    Savings& savings_;
    Scorer& scorer_;
};

// What waits on the host makes passes longer, and these hide more of what is sent between copies of the weights. With 16-bit states an
// update may take less.
bool Savings::is_too_slow(const Plan& plan, const PipelineForm& form) {
    const bool may_be_faster =
        (form.split != LayerSplit::equal && may_move(form)) || is_selective_ || counts_layers_ || shortens_transfers_;
    if (may_be_faster || !limit_.is_for_one()) return false;
    const auto is_slow = [&](const Plan& one) {
        return (swaps_ ? scorer_.seconds_but_data(one) : scorer_.least_seconds(one)) > limit_.seconds();
    };
    if (!is_slow(plan)) return false;
    if (!narrows_) return true;
    Plan narrow = plan;
    narrow.moments = Moments::bits16;
    return is_slow(narrow);
}

Savings::Outcome Savings::fastest_that_fits(const Plan& plan, const PipelineForm& form, const LayerTimes& times, InParts in_parts) {
    Ways ways(*this);
    Plan one = plan;
    if (in_parts == InParts::never || (in_parts == InParts::if_moved && !may_move(form))) {
        if (recomputes_) consider_whole_layers(ways, one, form, times);
        return {std::move(ways.best), ways.any_fits};
    }
    if (counts_layers_) {
        if (choose_block(one, bound_of(one, times))) ways.consider(one);
        return {std::move(ways.best), ways.any_fits};
    }
    for (const std::uint32_t modules : modules_) {
        if (is_selective_) one.recompute_modules = modules;
        if (!ways.consider(one) || shortens_transfers_) consider_what_saves(ways, one, form, times);
        if (!is_selective_) break;
    }
    return {std::move(ways.best), ways.any_fits};
}

void Savings::consider_what_saves(Ways& ways, Plan plan, const PipelineForm& form, const LayerTimes& times) {
    ways.move_layers(plan, form, times);
    if (recomputes_) consider_recomputing(ways, plan, form, times);
    const bool swaps = swaps_ && may_swap(plan);
    if (swaps) consider_swapping(ways, plan, form, times);
    if (!narrows_) return;
    plan.moments = Moments::bits16;
    ways.consider_moved(plan, form, times);
    if (recomputes_) consider_recomputing(ways, plan, form, times);
    if (swaps) consider_swapping(ways, plan, form, times);
}

// ---- layers moved
bool Savings::may_move(const PipelineForm& form) const {
    return (form.split == LayerSplit::balanced || (form.split == LayerSplit::equal && balances_)) && form.virtual_stages == 1 &&
           row_of(form.schedule).route == Route::straight && space_.method != Method::fujii2024;
}

// Layers moved where memory wants it so; null where they may not be, or cannot.
LayoutPointer Savings::moved_layout(const Plan& plan, const PipelineForm& form, const LayerTimes& times) {
    if (!may_move(form)) return nullptr;
    // from the equal split where it is the balanced one, too
    if (form.split == LayerSplit::equal && balanced_layout(space_.model, plan, times)) return nullptr;
    const auto fits = [&, most = scorer_.most_allocated(plan)](double bytes) { return scorer_.may_hold(plan, bytes, most); };
    return layout_that_fits(space_.model, plan, scorer_.framework(), times, fits, scorer_.moments());
}

bool Savings::fits_moved(const Plan& plan, const PipelineForm& form, const LayerTimes& times) {
    if (scorer_.fits(plan)) return true;
    Plan moved = plan;
    moved.layout = moved_layout(plan, form, times);
    return moved.layout != nullptr && scorer_.fits(moved);
}

// ---- recomputation
ModuleSets Savings::modules_to_try() const {
    const AttentionKernel kernel = scorer_.framework().attention;
    const bool keeps_scores = kernel == AttentionKernel::unfused || kernel == AttentionKernel::local;
    ModuleSets sets;
    if (recomputes_ && !parts_) return sets;
    for (const std::uint32_t modules : modules_)
        if (modules != core_attn || keeps_scores) sets.add(modules);
    return sets;
}

StepBound Savings::bound_of(const Plan& plan, const LayerTimes& times) const {
    return {space_.model, plan, scorer_.platform().machine, scorer_.platform().timing, times};
}
void Savings::consider_recomputing(Ways& ways, Plan plan, const PipelineForm& form, const LayerTimes& times) {
    plan.recompute_layers = 1;
    for (const std::uint32_t modules : modules_to_try()) {
        Plan selective = plan;
        selective.recompute = Recompute::selective, selective.recompute_modules = modules;
        ways.consider_moved(selective, form, times);
    }
    if (operations_) {
        Plan again = plan;
        again.recompute = Recompute::operations;
        ways.consider_moved(again, form, times);
    }
    if (may_recompute_layers(space_.model, plan)) consider_whole_layers(ways, plan, form, times);
}

void Savings::consider_whole_layers(Ways& ways, Plan plan, const PipelineForm& form, const LayerTimes& times) {
    plan.recompute = Recompute::block;
    if (parts_ && choose_block(plan, bound_of(plan, times))) ways.consider_alone(plan);
    plan.recompute = Recompute::full;
    plan.recompute_layers = 1;
    if (bound_of(plan, scorer_.layers(plan)).seconds(plan) <= limit_.rest()) ways.consider_moved(plan, form, times);
}

bool Savings::may_fit_in_parts(Plan plan) {
    if (narrows_ || swaps_) return true;  // not looked into
    for (const std::uint32_t modules : modules_) {
        if (is_selective_) plan.recompute_modules = modules;
        if (scorer_.fits(plan)) return true;
        if (!is_selective_) break;
    }
    if (!recomputes_) return false;
    plan.recompute = Recompute::operations, plan.recompute_layers = 1;
    if (operations_ && scorer_.fits(plan)) return true;
    plan.recompute = Recompute::selective;
    const ModuleSets sets = modules_to_try();
    return std::any_of(sets.begin(), sets.end(), [&](std::uint32_t modules) {
        plan.recompute_modules = modules;
        return scorer_.fits(plan);
    });
}

bool Savings::fits_as_block(Plan plan) {
    if (!parts_) return false;
    plan.recompute = Recompute::block;
    list_chunk_sizes(plan);
    return std::any_of(sizes_.begin(), sizes_.end(), [&](const ChunkSize& size) {
        plan.recompute_layers = size.layers - 1;
        return size.layers > 1 && scorer_.fits(plan);
    });
}

// The fewest layers of each chunk with which the plan fits; false when not even as many will do as the limit of time allows. Every layer
// more saves memory, but for the last one of a chunk: then a recomputed layer is alive beside those that are kept. So the numbers fall into
// ranges that end before the size of some chunk, and within each the last one needs least.
bool Savings::choose_block(Plan& plan, const StepBound& bound) {
    list_chunk_sizes(plan);
    const std::int64_t most = most_in_time(plan, bound);
    std::int64_t low = waits_on_host_ ? fewest_worth_swapping(plan, most) : 1;
    for (std::size_t i = 0; i <= sizes_.size() && low <= most; ++i) {
        const std::int64_t end = i < sizes_.size() ? sizes_[i].layers : sizes_.back().layers + 1;
        plan.recompute_layers = std::min(end - 1, most);
        if (plan.recompute_layers >= low && scorer_.fits(plan)) {
            plan.recompute_layers = fewest_that_fit(plan, low, plan.recompute_layers);
            return true;
        }
        low = std::max(low, end);
    }
    return false;
}

// Of the layers of a chunk, the most that may be recomputed within the limit of time, as far as bounds say.
std::int64_t Savings::most_in_time(const Plan& plan, const StepBound& bound) const {
    const double limit = limit_.rest();
    const auto is_slow = [&](std::int64_t layers) {
        std::int64_t all = 0;
        for (const ChunkSize& size : sizes_) all += size.chunks * std::min(layers, size.layers);
        return bound.seconds(plan, static_cast<double>(all)) > limit;
    };
    std::int64_t low = 0, high = sizes_.back().layers + 1;  // in time, and not
    if (is_slow(1)) return 0;
    if (!is_slow(high - 1)) return high - 1;
    while (high - low > 1) {
        const std::int64_t middle = (low + high) / 2;
        (is_slow(middle) ? high : low) = middle;
    }
    return low;
}

// Where activations wait on the host, a layer more that is recomputed has fewer of them to move: so many take least time.
std::int64_t Savings::fewest_worth_swapping(Plan plan, std::int64_t most) {
    const auto seconds = [&](std::int64_t layers) {
        plan.recompute_layers = layers;
        return scorer_.seconds(plan, INFINITY);
    };
    std::int64_t low = 1, high = std::max<std::int64_t>(most, 1);
    while (low < high) {  // it falls, then rises
        const std::int64_t middle = (low + high) / 2;
        if (seconds(middle + 1) < seconds(middle))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// From `low` to `high`, which fits, every layer more saves memory.
std::int64_t Savings::fewest_that_fit(Plan plan, std::int64_t low, std::int64_t high) {
    while (low < high) {
        plan.recompute_layers = (low + high) / 2;
        if (scorer_.fits(plan))
            high = plan.recompute_layers;
        else
            low = plan.recompute_layers + 1;
    }
    return low;
}

// ---- activations on the host
namespace {
constexpr int kParts = 16;  // of what layers keep; finer steps change a plan's memory by less than an estimate knows
}

// As much on the host as the plan needs; or as much as the passes hide, and what does not fit even so is computed again (KARMA, arXiv
// 2008.11421); or checkpoints alone.
void Savings::consider_swapping(Ways& ways, Plan plan, const PipelineForm& form, const LayerTimes& times) {
    const auto with_least = [&](const Plan& one) {
        if (const auto least = with_least_on_host(one, ways.most())) ways.consider_moved(*least, form, times);
    };
    with_least(plan);
    if (!recomputes_ || !may_recompute_layers(space_.model, plan)) return;
    plan.recompute_layers = 1;
    Plan block = plan;
    block.recompute = Recompute::block, block.activation_offload = 1;
    const StepBound bound = bound_of(block, times);
    if (parts_ && (!limit_.is_for_one() || choose_block(block, bound))) {  // with all of it on the host, where least is left
        block.activation_offload = hidden_part(plan);
        if (block.activation_offload > 0 && choose_block(block, bound)) ways.consider(block);
    }
    plan.recompute = Recompute::full;
    with_least(plan);
}

// The least part with which the plan fits: every part more leaves no more on the GPU, and makes passes no shorter. Null where even all of
// it does not help, or where it takes more than `most` seconds and nobody asks whether it fits.
std::optional<Plan> Savings::with_least_on_host(Plan plan, double most) {
    const auto set = [&](int parts) { plan.activation_offload = static_cast<double>(parts) / kParts; };
    const auto is_slow = [&](int parts) {
        set(parts);
        return limit_.is_for_one() && scorer_.seconds_but_data(plan) > most;
    };
    if (is_slow(1)) return std::nullopt;
    set(kParts);
    if (!scorer_.fits(plan)) return std::nullopt;
    int low = 1, high = kParts;
    while (low < high) {
        const int middle = (low + high) / 2;
        set(middle);
        if (scorer_.fits(plan)) {
            high = middle;
            continue;
        }
        low = middle + 1;
        if (is_slow(low)) return std::nullopt;
    }
    set(high);
    return plan;
}

// The largest part that costs the step no time.
double Savings::hidden_part(Plan plan) {
    constexpr double kRounding = 1e-9;
    plan.activation_offload = 0;
    const double most = scorer_.seconds(plan) * (1 + kRounding);
    int low = 0, high = kParts;
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        plan.activation_offload = static_cast<double>(middle) / kParts;
        if (scorer_.seconds(plan, most) <= most)
            low = middle;
        else
            high = middle - 1;
    }
    return static_cast<double>(low) / kParts;
}

void Savings::list_chunk_sizes(const Plan& plan) {
    const Stages stages(space_.model, plan);
    sizes_.clear();
    for (std::int32_t stage = 0, next = 0; stage < plan.pipeline_parallel; stage = next) {
        next = stages.next_different(stage);
        for (std::int32_t chunk = 0; chunk < plan.virtual_stages; ++chunk) {
            const std::int64_t layers = stages.layers_of(stage, chunk);
            if (layers == 0) continue;
            auto at = std::find_if(sizes_.begin(), sizes_.end(), [layers](const ChunkSize& size) { return size.layers >= layers; });
            if (at == sizes_.end() || at->layers != layers) at = sizes_.insert(at, {layers, 0});
            at->chunks += next - stage;
        }
    }
}

}  // namespace fourfold
