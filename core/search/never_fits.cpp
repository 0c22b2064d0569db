#include "search/never_fits.h"

#include <algorithm>
#include <functional>

#include "search/groups.h"

namespace fourfold {

// A few places for every combination of degrees, so that most are still known when their next micro-batch comes.
static std::size_t places_for(const Candidates& all) {
    return std::clamp<std::size_t>(4 * all.tensor.size() * all.context.size() * all.pipeline.size() * all.expert.size(), 16, 2'048);
}

NeverFits::NeverFits(const SearchSpace& space, const Candidates& all, const Plan& base, Scorer& scorer, Savings& savings, bool counts)
    : space_(space),
      all_(all),
      base_(base),
      scorer_(scorer),
      savings_(savings),
      layers_differ_(space.model.expert_layers.are_mixed()),
      counts_(counts),
      holds_in_turn_(std::all_of(all.forms.begin(), all.forms.end(),
                                 [](const PipelineForm& form) { return row_of(form.schedule).route == Route::straight; })),
      known_(places_for(all)) {}

NeverFits::Known& NeverFits::known_of(const Plan& plan) {
    Known& known = known_[place_of(plan)];
    const std::array<std::int64_t, 6> key = {plan.tensor_parallel,
                                             plan.context_parallel,
                                             plan.pipeline_parallel,
                                             plan.expert_parallel,
                                             4 * plan.expert_tensor_parallel + (plan.sequence_parallel ? 2 : 0) + (plan.adds_up() ? 1 : 0),
                                             plan.token_slices};
    if (known.key != key) known = {key, 0, std::numeric_limits<std::int64_t>::max()};
    return known;
}

bool NeverFits::is_known_for(const Plan& plan) { return plan.micro_batch >= known_of(plan).fails; }

bool NeverFits::holds_for(const Plan& plan, const LayerTimes& times) {
    Known& known = known_of(plan);
    if (plan.micro_batch <= known.fits || plan.micro_batch >= known.fails) return plan.micro_batch >= known.fails;
    switch (leanest_of(plan, times, known)) {
        case Lean::illegal:  // says nothing of other micro-batches
            return true;
        case Lean::fits:
            known.fits = plan.micro_batch;
            return false;
        default:
            known.fails = std::min(known.fails, plan.micro_batch);
            return true;
    }
}

// Any multipliers do that spread neighbouring degrees over the places.
std::size_t NeverFits::place_of(const Plan& p) const {
    return static_cast<std::size_t>(p.tensor_parallel + 7 * p.context_parallel + 61 * p.pipeline_parallel + 523 * p.expert_parallel +
                                    1'009 * p.expert_tensor_parallel + (p.sequence_parallel ? 0 : 97) + (p.adds_up() ? 0 : 29) +
                                    211 * (p.token_slices - 1)) %
           known_.size();
}

// Most of what fails fails with the smallest micro-batch, too: then one question answers for all.
bool NeverFits::mean_stage_never_fits(Plan plan, const PipelineForm& form, const LayerTimes& times, Known& known) {
    const std::int64_t given = plan.micro_batch;
    const bool adds_up = plan.adds_up();
    plan.micro_batch = all_.micro_batch.front();
    if (!counts_ && plan.micro_batch < given && plan.adds_up() == adds_up && !fits_with_savings(plan, form, times, true)) {
        known.fails = plan.micro_batch;
        return true;
    }
    plan.micro_batch = given;
    return !fits_with_savings(plan, form, times, true);
}

NeverFits::Lean NeverFits::leanest_of(Plan plan, const LayerTimes& times, Known& known) {
    if (savings_.narrows()) plan.moments = Moments::bits16;
    // more chunks: some may be lighter, and so is what is alive while another one's traffic is hidden
    const bool may_be_lighter = base_.split != Split::equal || layers_differ_ || base_.expert_overlap;
    std::array<std::int64_t, kScheduleKinds> fewest_chunks{};  // with which a schedule is legal
    const bool asks_mean_stage = layers_differ_ || plan.pipeline_parallel > 1;
    bool is_legal = false;
    for (const PipelineForm& form : all_.forms) {
        std::int64_t& fewest = fewest_chunks[static_cast<std::size_t>(form.schedule)];
        if (fewest != 0 && form.virtual_stages > fewest && !may_be_lighter) continue;
        set_form(plan, form);
        if (!is_legal_pipeline(space_.model, plan)) continue;
        fewest = form.virtual_stages;
        if (!is_legal && asks_mean_stage && mean_stage_never_fits(plan, form, times, known)) return Lean::does_not_fit;
        is_legal = true;
        if (lay_out(space_.model, plan, form, times) && fits_with_savings(plan, form, times, false)) return Lean::fits;
    }
    return is_legal ? Lean::does_not_fit : Lean::illegal;
}

// Whether any ZeRO and recomputation makes one form of the pipeline fit, or may, where that is not known without more.
// `mean_stage`: whether it makes the mean stage fit, with which any layout might.
bool NeverFits::fits_with_savings(Plan plan, const PipelineForm& form, const LayerTimes& times, bool mean_stage) {
    const bool recomputes = savings_.recomputes();
    if (savings_.swaps() && may_swap(plan)) plan.activation_offload = 1;
    const Recompute leanest = recomputes ? Recompute::full : base_.recompute;
    ModuleSets tried;
    if (recomputes || savings_.chooses_modules()) tried = savings_.modules_to_try();
    const std::size_t parts = 2 + tried.size();
    return all_.any_sharing(space_.model, plan, [&] {
        // the leanest, none or as it is set, parts alone, single operations; one layer at work needs no less computed again than kept
        for (std::size_t way = mean_stage && recomputes ? 1 : 0; way < parts + (savings_.recomputes_operations() ? 1 : 0); ++way) {
            const bool in_parts = way >= 2 && way < parts;
            const Recompute recompute = way == 0   ? leanest
                                        : way == 1 ? base_.recompute
                                        : in_parts ? Recompute::selective
                                                   : Recompute::operations;
            plan.recompute = recompute, plan.recompute_layers = base_.recompute_layers;
            plan.recompute_modules = in_parts ? tried.begin()[way - 2] : base_.recompute_modules;
            if (recompute == Recompute::block && space_.plan.recompute_layers == kAuto) return true;
            if (mean_stage) {
                if (mean_stage_fits(plan)) return true;
                continue;
            }
            // single operations may leave less than whole layers do, where layers are of two kinds
            const bool is_lean = recompute == leanest || recompute == Recompute::operations || savings_.swaps();
            const bool may_be_moved = !layers_differ_ && is_lean;
            if (layers_differ_ && plan.layout) return true;
            if (may_be_moved ? savings_.fits_moved(plan, form, times) : scorer_.fits(plan)) return true;
            if (recompute == Recompute::full && recomputes && savings_.fits_as_block(plan)) return true;
        }
        return false;
    });
}

// Whether the mean stage would fit, with one layer of the kind that needs less at work: on the fullest of the stages that hold layers lies
// no less, wherever the layers stand.
bool NeverFits::mean_stage_fits(const Plan& plan) const {
    if (space_.method == Method::fujii2024 || plan.token_slices > 1) return true;
    const ExpertLayers& with_experts = space_.model.expert_layers;
    const double share = static_cast<double>(plan.pieces_per_stage()) / static_cast<double>(plan.chunks());
    const double experts = share * static_cast<double>(with_experts.count());
    Stage mean;
    mean.experts.held = experts;
    mean.dense.held = share * static_cast<double>(space_.model.layers) - experts;
    for (const bool expert : {false, true}) {
        Stage stage = mean;
        LayerCount& at_work = expert ? stage.experts : stage.dense;
        if (at_work.held == 0) continue;
        (plan.recompute == Recompute::full ? at_work.recomputed : at_work.alive) = 1;
        if (plan.recompute == Recompute::full) stage.checkpoints = stage.unit = 1;
        stage.last_is_expert = expert;
        if (scorer_.may_hold(plan, detailed<double>(space_.model, plan, scorer_.framework(), stage).peak_bytes)) return true;
    }
    return false;
}

// The mean stage, at the moment when a stage is fullest; without so many of all layers, whichever these are. Where stage i = 0 … p-1 holds
// n_i of L layers, each with w bytes of its own and c more of each of a_i micro-batches, some stage holds no less than the mean with
// weights l_i that add up to 1:
//   max_i n_i (w + a_i c) >= sum_i l_i n_i (w + a_i c) = L / sum_i 1 / (w + a_i c)      for l_i in proportion to 1 / (w + a_i c)
//                         >= (L / p) (w + a c)      with a = p / sum_i 1 / a_i, the harmonic mean,
// as that is least beside w = 0. Here a_i = min(m, p - i), of ZB-H1, too (a test): interleaved 1F1B holds more in each of its chunks, GPipe
// more everywhere. Layers of the rarer kind, if there are two, count with the least of the weights, p l_i >= a / max_i a_i, and with one
// micro-batch.
Stage NeverFits::mean_stage(const Plan& plan, double without) const {
    const auto p = static_cast<double>(plan.pipeline_parallel);
    double inverse = p, most = 1;  // sum of 1 / a_i
    if (holds_in_turn_) {
        const auto m = static_cast<double>(plan.micro_batches());
        inverse = 0, most = std::min(m, p);
        for (double i = 0; i < p; ++i) inverse += 1 / std::min(m, p - i);
    }
    const double mean = p / inverse, share = static_cast<double>(plan.pieces_per_stage()) / static_cast<double>(plan.chunks());
    const auto experts = static_cast<double>(space_.model.expert_layers.count()),
               dense = static_cast<double>(space_.model.layers) - experts;
    Stage stage;
    const auto set = [&](LayerCount& kind, double layers, bool is_rare) {
        kind.held = std::max(layers - without, 0.0) * share * (is_rare ? mean / most : 1);
        kind.alive = kind.held * (is_rare ? 1 : mean);
    };
    stage.last_is_expert = experts > dense;
    set(stage.dense, dense, stage.last_is_expert);
    set(stage.experts, experts, !stage.last_is_expert);
    return stage;
}

double NeverFits::bytes_of_mean(const Plan& plan, double without) const {
    return detailed<double>(space_.model, plan, scorer_.framework(), mean_stage(plan, without)).peak_bytes;
}

double NeverFits::layers_again(Plan plan) const {
    if (!savings_.recomputes() || savings_.narrows() || savings_.swaps() || space_.method == Method::fujii2024 || plan.token_slices > 1)
        return 0;
    const double most = scorer_.most_allocated(plan);
    plan.recompute_layers = 1;
    if (savings_.recomputes_operations()) {
        plan.recompute = Recompute::operations;
        if (bytes_of_mean(plan, 0) <= most) return 0;
    }
    plan.recompute = Recompute::selective;
    for (const std::uint32_t modules : savings_.modules_to_try()) {
        plan.recompute_modules = modules;
        if (bytes_of_mean(plan, 0) <= most) return 0;
    }
    plan.recompute = base_.recompute, plan.recompute_modules = base_.recompute_modules;
    const double whole = bytes_of_mean(plan, 0);
    if (whole <= most) return 0;
    const auto layers = static_cast<double>(space_.model.layers);
    if (!savings_.recomputes_parts()) return layers;
    // Computed again they count as if they needed nothing. The fewer are left, the less one of them saves: a line through two values is
    // below the others.
    const double some = layers / 8, less = bytes_of_mean(plan, some);
    return less <= most ? 1 : std::min(layers, some * (whole - most) / (whole - less));
}

}  // namespace fourfold
