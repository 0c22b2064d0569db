#include "search/never_fits.h"

#include <algorithm>
#include <functional>

#include "plan/stage.h"
#include "search/groups.h"

namespace fourfold {

// A few places for every combination of degrees, so that most are still known when their next micro-batch comes.
static std::size_t places_for(const Candidates& all) {
    return std::clamp<std::size_t>(4 * all.tensor.size() * all.context.size() * all.pipeline.size() * all.expert.size(), 16, 2'048);
}

NeverFits::NeverFits(const SearchSpace& space, const Candidates& all, const Plan& base, Scorer& scorer, Savings& savings)
    : space_(space),
      all_(all),
      base_(base),
      scorer_(scorer),
      savings_(savings),
      layers_differ_(space.model.expert_layers.are_mixed()),
      known_(places_for(all)) {}

bool NeverFits::holds_for(const Plan& plan, const LayerTimes& times) {
    Known& known = known_[place_of(plan)];
    const std::array<std::int64_t, 6> key = {plan.tensor_parallel,
                                             plan.context_parallel,
                                             plan.pipeline_parallel,
                                             plan.expert_parallel,
                                             2 * plan.expert_tensor_parallel + (plan.sequence_parallel ? 1 : 0),
                                             plan.token_slices};
    if (known.key != key) known = {key, 0, std::numeric_limits<std::int64_t>::max()};
    if (plan.micro_batch <= known.fits || plan.micro_batch >= known.fails) return plan.micro_batch >= known.fails;
    switch (leanest_of(plan, times)) {
        case Lean::illegal:  // says nothing of other micro-batches
            return true;
        case Lean::fits:
            known.fits = plan.micro_batch;
            return false;
        default:
            known.fails = plan.micro_batch;
            return true;
    }
}

// Any multipliers do that spread neighbouring degrees over the places.
std::size_t NeverFits::place_of(const Plan& p) const {
    return static_cast<std::size_t>(p.tensor_parallel + 7 * p.context_parallel + 61 * p.pipeline_parallel + 523 * p.expert_parallel +
                                    1'009 * p.expert_tensor_parallel + (p.sequence_parallel ? 0 : 97) + 211 * (p.token_slices - 1)) %
           known_.size();
}

NeverFits::Lean NeverFits::leanest_of(Plan plan, const LayerTimes& times) {
    if (savings_.narrows()) plan.moments = Moments::bits16;
    const bool shifts_layers = base_.split != Split::equal || layers_differ_;  // more chunks: some may be lighter
    std::array<std::int64_t, kScheduleKinds> fewest_chunks{};                  // with which a schedule is legal
    bool is_legal = false;
    for (const PipelineForm& form : all_.forms) {
        std::int64_t& fewest = fewest_chunks[static_cast<std::size_t>(form.schedule)];
        if (fewest != 0 && form.virtual_stages > fewest && !shifts_layers) continue;
        set_form(plan, form);
        if (!is_legal_pipeline(space_.model, plan)) continue;
        fewest = form.virtual_stages;
        if (!is_legal && layers_differ_ && (!some_layer_fits(plan) || !some_states_fit(plan))) return Lean::does_not_fit;
        is_legal = true;
        if (lay_out(space_.model, plan, form, times) && fits_with_savings(plan, form, times)) return Lean::fits;
    }
    return is_legal ? Lean::does_not_fit : Lean::illegal;
}

// Whether any ZeRO and recomputation makes one form of the pipeline fit, or may, where that is not known without more.
bool NeverFits::fits_with_savings(Plan plan, const PipelineForm& form, const LayerTimes& times) {
    const bool recomputes = savings_.recomputes();
    if (savings_.swaps()) plan.activation_offload = 1;
    const Recompute leanest = recomputes ? Recompute::full : base_.recompute;
    ModuleSets tried;
    if (recomputes || savings_.chooses_modules()) tried = savings_.modules_to_try();
    const std::size_t parts = 2 + tried.size();
    for (const Zero zero : all_.zeros(plan.pipeline_parallel))
        // the leanest, none or as it is set, parts alone, single operations
        for (std::size_t way = 0; way < parts + (savings_.recomputes_operations() ? 1 : 0); ++way) {
            const bool in_parts = way >= 2 && way < parts;
            const Recompute recompute = way == 0   ? leanest
                                        : way == 1 ? base_.recompute
                                        : in_parts ? Recompute::selective
                                                   : Recompute::operations;
            plan.zero = zero, plan.recompute = recompute, plan.recompute_layers = base_.recompute_layers;
            plan.recompute_modules = in_parts ? tried.begin()[way - 2] : base_.recompute_modules;
            if (recompute == Recompute::block && space_.plan.recompute_layers == kAuto) return true;
            // single operations may leave less than whole layers do, where layers are of two kinds
            const bool is_lean = recompute == leanest || recompute == Recompute::operations || savings_.swaps();
            const bool may_be_moved = !layers_differ_ && is_lean;
            if (layers_differ_ && plan.layout) return true;
            if (may_be_moved ? savings_.fits_moved(plan, form, times) : scorer_.fits(plan)) return true;
            if (recompute == Recompute::full && recomputes && savings_.fits_as_block(plan)) return true;
        }
    return false;
}

bool NeverFits::some_states_fit(Plan plan) const {
    return std::any_of(all_.zero.begin(), all_.zero.end(), [&](Zero zero) {
        plan.zero = zero;
        return states_fit(plan);
    });
}

// Whether a stage of one layer would fit, of the kind and in the way that needs least: every layout has a stage with that at least.
bool NeverFits::some_layer_fits(Plan plan) const {
    if (space_.method == Method::fujii2024 || plan.token_slices > 1) return true;
    if (savings_.swaps()) plan.activation_offload = 1;
    plan.recompute_layers = 1;
    const auto fits = [&](Recompute recompute, std::uint32_t modules) {
        plan.recompute = recompute, plan.recompute_modules = modules;
        return one_layer_fits(plan, &Stage::dense) || one_layer_fits(plan, &Stage::experts);
    };
    ModuleSets sets;
    if (savings_.recomputes() || savings_.chooses_modules()) sets = savings_.modules_to_try();
    const bool any_whole = savings_.recomputes() || base_.recompute == Recompute::full || base_.recompute == Recompute::block;
    return std::any_of(all_.zero.begin(), all_.zero.end(), [&](Zero zero) {
        plan.zero = zero;
        return (any_whole && fits(Recompute::full, 0)) || fits(base_.recompute, base_.recompute_modules) ||
               (savings_.recomputes_operations() && fits(Recompute::operations, 0)) ||
               std::any_of(sets.begin(), sets.end(), [&](std::uint32_t modules) { return fits(Recompute::selective, modules); });
    });
}

bool NeverFits::one_layer_fits(const Plan& plan, LayerCount Stage::*kind) const {
    Stage stage;
    LayerCount& layer = stage.*kind;
    layer.held = 1;
    stage.last_is_expert = kind == &Stage::experts;
    if (plan.recompute == Recompute::full)
        layer.recomputed = stage.checkpoints = stage.unit = 1;
    else
        layer.alive = 1;
    return scorer_.may_hold(plan, detailed<double>(space_.model, plan, scorer_.framework(), stage).peak_bytes);
}

// Whether weights, gradients and optimizer states of all stages would fit if they were shared out evenly: no layout needs less. Where
// layers differ, moving one changes what its neighbours hold: then the states of all stages together say whether moving may help.
bool NeverFits::states_fit(const Plan& plan) const {
    if (space_.method == Method::fujii2024) return true;  // it looks at the first stage alone
    const Stages stages(space_.model, plan);
    double sum = 0;
    for (std::int32_t i = 0, next = 0; i < plan.pipeline_parallel; i = next) {
        next = stages.next_different(i);
        const Items<double> items = detailed<double>(space_.model, plan, scorer_.framework(), stages.at_rest(i)).items;
        for (std::size_t k = 0; k < items.size(); ++k) {
            const Group group = text(items.item(k)).group;
            if (group == Group::weights || group == Group::gradients || group == Group::optimizer) sum += (next - i) * items.bytes(k);
        }
    }
    return scorer_.may_hold(plan, sum / static_cast<double>(plan.pipeline_parallel));
}

}  // namespace fourfold
