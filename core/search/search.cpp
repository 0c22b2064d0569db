#include "search/search.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/sorted.h"
#include "search/bounds.h"
#include "search/groups.h"
#include "search/limit.h"
#include "search/never_fits.h"
#include "search/savings.h"
#include "search/scorer.h"

namespace fourfold {

bool may_run(const SearchSpace& space, const Verdict& v) {
    return v.probability < 0 ? v.fit == Fit::fits : v.probability >= 1 - space.exploration.risk;
}

namespace {

class Search {
 public:
    Search(const SearchSpace& space, const Goal& goal)
        : space_(space),
          goal_(goal),
          all_(candidates(space)),
          forms_(all_.pipeline.size()),
          base_(closed(space.plan)),
          scorer_(space, base_, goal.most_bytes),
          overlaps_(
              std::any_of(all_.forms.begin(), all_.forms.end(), [](const PipelineForm& form) { return row_of(form.schedule).overlaps; })),
          may_hide_(may_choose_overlap(space)),
          limit_(goal),
          savings_(space, base_, scorer_, limit_),
          never_fits_(space, all_, base_, scorer_, savings_, goal.plans > 1) {}

    SearchResult run() {
        for (const GroupOfPlans& group : groups_by_bound()) {
            if (group.bound > limit_.seconds() || is_enough()) break;
            look_into(group);
        }
        drop_slower();
        result_.plans = in_order(std::move(found_));
        for (const Ranked& one : result_.plans) result_.equally_good += one.tie == 0;
        if (goal_.plans > 1 && result_.plans.size() > goal_.plans) result_.plans.resize(goal_.plans);
        result_.looked_at = scorer_.timed();
        return std::move(result_);
    }

 private:
    bool is_enough() const { return goal_.any && result_.fit > 0; }

    // ---- 1. groups of one TP, CP, micro-batch and sequence parallelism, the least lower bound of time first
    std::vector<GroupOfPlans> groups_by_bound() {
        std::vector<GroupOfPlans> groups = groups_of_plans(space_, all_, base_, goal_.any);  // a larger micro-batch needs more
        for (GroupOfPlans& group : groups)
            if (!goal_.any) group.bound = bound_of(with_first_experts(group.plan));
        return sorted(std::move(groups), [](const GroupOfPlans& a, const GroupOfPlans& b) { return a.bound < b.bound; });
    }
    // A group's plan with what it does not say, for bounds and layer times that hold for all of the group.
    Plan with_first_experts(Plan plan) const {
        const bool is_known = base_.recompute != Recompute::block && !savings_.chooses_modules();
        plan.recompute = is_known ? base_.recompute : Recompute::none;
        plan.expert_parallel = all_.expert.front(), plan.expert_tensor_parallel = all_.expert_tensor == kAuto ? 1 : all_.expert_tensor;
        if (may_hide_) plan.expert_overlap = !overlaps_;  // what such schedules hide is taken off the whole
        return plan;
    }
    StepBound step_bound(const Plan& plan, const LayerTimes& times) const {
        return {space_.model, plan, scorer_.platform().machine, scorer_.platform().timing, times};
    }
    double bound_of(const Plan& plan) {
        const bool one_way = expert_ways(all_, space_.model, plan).size() <= 1;
        if (one_way) return step_bound(plan, scorer_.layers(plan)).seconds(overlaps_);
        // tokens are sorted for experts more often where these are divided, unless HybridEP does it while it sends
        const Platform& on = scorer_.platform();
        double least = INFINITY;
        for (std::int64_t expert = 1; expert <= (on.machine.beside_grace ? 2 : 1); ++expert) {
            Plan one = plan;
            one.expert_parallel = expert;
            const LayerTimes times = StepBound::without_experts(space_.model, one, on.machine, on.timing, scorer_.layers(one));
            least = std::min(least, step_bound(one, times).seconds(overlaps_));
        }
        return least;
    }

    // ---- 2. expert parallelism, PP, schedule: what can never fit is left out, then the bound again, with more known
    struct Way {
        ExpertWay experts;
        std::vector<std::int64_t> pipelines;
        double bound = 0;
    };
    void look_into(const GroupOfPlans& group) {
        const Plan about = with_first_experts(group.plan);
        for (const Way& way : ways_by_bound(group, about)) {
            if (way.bound > limit_.seconds() || is_enough()) break;
            Plan plan = about;
            set_experts(plan, way.experts);
            const LayerTimes times = scorer_.layers(plan);
            const StepBound bound = step_bound(plan, times);
            const auto first = std::find_if(way.pipelines.begin(), way.pipelines.end(), [&](std::int64_t p) {
                plan.pipeline_parallel = p;
                return may_be_fast(plan, bound) && !counts_as_never_fitting(plan, times);
            });
            if (first == way.pipelines.end()) continue;
            const Exchanges exchanges = exchanges_of(plan);
            plan.recompute = base_.recompute, plan.recompute_layers = base_.recompute_layers;
            for (auto p = first; p != way.pipelines.end() && !is_enough(); ++p) {
                plan.pipeline_parallel = *p;
                look_at_pipelines(plan, exchanges);
            }
        }
    }
    // The forms that so many stages may have, whatever else is chosen.
    const std::vector<PipelineForm>& forms_of(std::int64_t stages) {
        const auto at = std::lower_bound(all_.pipeline.begin(), all_.pipeline.end(), stages) - all_.pipeline.begin();
        std::optional<std::vector<PipelineForm>>& forms = forms_[static_cast<std::size_t>(at)];
        if (forms) return *forms;
        forms.emplace();
        Plan plan = base_;
        plan.pipeline_parallel = stages;
        for (const PipelineForm& form : all_.forms) {
            set_form(plan, form);
            if (keeps_form_rules(space_.model, plan)) forms->push_back(form);
        }
        return *forms;
    }
    // Whether some form of the pipeline is legal and fast enough, as far as the way's bound says, which hides what may be hidden.
    bool may_be_fast(Plan plan, const StepBound& bound) {
        if (overlaps_ && may_hide_) return true;  // the bound of a form does not know what others than its schedule hide
        plan.expert_overlap = base_.expert_overlap, plan.recompute = base_.recompute;  // as set, for the rules
        const std::vector<PipelineForm>& forms = forms_of(plan.pipeline_parallel);
        return std::any_of(forms.begin(), forms.end(), [&](const PipelineForm& form) {
            set_form(plan, form);
            return is_legal_pipeline(space_.model, plan) && bound.seconds(plan) <= limit_.seconds();
        });
    }
    // Whether tokens on their way to experts travel beneath other work, with what follows from that. Where it is open they do if they may,
    // and the plan fits so: nothing is faster, but a micro-batch more is alive.
    struct Exchange {
        bool is_hidden;
        LayerTimes times;
        StepBound bound;
    };
    struct Exchanges {
        Exchange as_set;
        std::optional<Exchange> hidden;
    };
    Exchange exchange_of(Plan& plan, bool hidden) {
        plan.expert_overlap = hidden;
        const LayerTimes& times = scorer_.layers(plan);
        return {hidden, times, step_bound(plan, times)};
    }
    Exchanges exchanges_of(Plan& plan) {
        std::optional<Exchange> hidden;
        if (may_hide_ && !goal_.any) hidden.emplace(exchange_of(plan, true));
        return {exchange_of(plan, base_.expert_overlap), hidden};
    }
    static void set_experts(Plan& plan, const ExpertWay& way) {
        plan.expert_parallel = way.expert, plan.expert_tensor_parallel = way.expert_tensor;
    }
    std::vector<Way> ways_by_bound(const GroupOfPlans& group, Plan plan) {
        std::vector<Way> ways;
        for (const ExpertWay& experts : expert_ways(all_, space_.model, plan)) {
            set_experts(plan, experts);
            Way way{experts, {}, 0};
            const auto is_fast = [&] {
                way.bound = step_bound(plan, scorer_.layers(plan)).seconds(overlaps_);
                return way.bound <= limit_.seconds();
            };
            const bool asks_time_first = limit_.seconds() < INFINITY;  // before any plan is known, memory alone cuts
            if (asks_time_first && !is_fast()) continue;
            // a balanced layout, which may fit where another does not, is one for the times of these experts
            way.pipelines = pipelines_of(plan, group.pipelines, scorer_.layers(plan), !asks_time_first);
            if (way.pipelines.empty() || (!asks_time_first && !is_fast())) continue;
            ways.push_back(std::move(way));
        }
        return sorted(std::move(ways), [](const Way& a, const Way& b) { return a.bound < b.bound; });
    }
    // Those that keep the rules of experts, and of which it is not known that no plan fits; `that_may_fit`: nor is it so. What the others
    // hold is counted.
    std::vector<std::int64_t> pipelines_of(Plan plan, const std::vector<std::int64_t>& pipelines, const LayerTimes& times,
                                           bool that_may_fit) {
        std::vector<std::int64_t> left;
        for (const std::int64_t p : pipelines) {
            plan.pipeline_parallel = p;
            if (!keeps_expert_rules(space_.model, plan)) continue;
            if (!counts_as_never_fitting(plan, times, !that_may_fit)) left.push_back(p);
        }
        return left;
    }
    // `if_known`: as far as it needs no work to say so.
    bool counts_as_never_fitting(const Plan& plan, const LayerTimes& times, bool if_known = false) {
        const bool never = if_known ? !goal_.everything && never_fits_.is_known_for(plan) : never_fits(plan, times);
        if (never && goal_.plans > 1) result_.does_not_fit += legal_pipelines(plan);
        return never;
    }
    bool never_fits(Plan plan, const LayerTimes& times) {
        plan.expert_overlap = base_.expert_overlap, plan.recompute = base_.recompute;
        return !goal_.everything && never_fits_.holds_for(plan, times);
    }
    std::int64_t legal_pipelines(Plan plan) {
        std::int64_t legal = 0;
        for (const PipelineForm& form : forms_of(plan.pipeline_parallel)) {
            set_form(plan, form);
            legal += is_legal_pipeline(space_.model, plan);
        }
        std::int64_t ways = 0;
        all_.any_sharing(space_.model, plan, [&] {
            ++ways;
            return false;
        });
        return legal * ways;
    }
    void look_at_pipelines(Plan& plan, const Exchanges& exchanges) {
        for (const std::int64_t copies : all_.copies) {
            plan.shard_replicas = copies;
            look_at_forms(plan, exchanges);
        }
    }
    void look_at_forms(Plan& plan, const Exchanges& exchanges) {
        again_.fill(kNotAsked), once_.fill(kNotAsked);
        for (const PipelineForm& form : forms_of(plan.pipeline_parallel)) {
            set_form(plan, form);
            if (is_enough() || !is_legal_pipeline(space_.model, plan)) continue;
            for (const Zero zero : all_.zeros(plan.pipeline_parallel)) {
                plan.zero = zero;
                if (!all_.take(space_.model, plan)) continue;
                best_ = {};
                limit_.set_for(&plan);
                look_at_ways_to_send(plan, form, exchanges);
                limit_.set_for(nullptr);
                count_best();
            }
        }
    }
    // Of all layers, so many at least are computed again by what fits, whatever the form; INFINITY where nothing does.
    double layers_again(const Plan& plan, const LayerTimes& times) {
        double& again = again_[static_cast<std::size_t>(plan.zero)];
        if (again == kNotAsked)
            again = goal_.everything || goal_.any ? 0 : never_fits(plan, times) ? INFINITY : never_fits_.layers_again(plan);
        return again;
    }

    // StepBound::once_per_step(), which is the same for every form of one ZeRO and direction.
    double once_per_step(const Plan& plan, const Exchange& exchange) {
        double& once = once_[2 * static_cast<std::size_t>(plan.zero) + (plan.weight_copies() > 1 ? 1 : 0)];
        if (once != kNotAsked) return once;
        if (goal_.everything || goal_.any) return once = 0;
        once = exchange.bound.once_per_step(plan, exchange.times);
        if (!savings_.narrows()) return once;
        Plan narrow = plan;
        narrow.moments = Moments::bits16;
        return once = std::min(once, exchange.bound.once_per_step(narrow, exchange.times));
    }

    // ---- 3. memory, with what a plan takes to fit, then the step time
    using InParts = Savings::InParts;
    struct Best {
        std::optional<Estimated> plan;
        bool any_tried = false, any_fits = false;
    };
    void look_at_ways_to_send(const Plan& plan, const PipelineForm& form, const Exchanges& exchanges) {
        const bool may_hide = exchanges.hidden && may_overlap_experts(space_.model, plan);
        const auto hidden = may_hide ? laid_out(plan, form, *exchanges.hidden) : std::nullopt;
        const auto as_set = laid_out(plan, form, exchanges.as_set);
        const InParts in_parts = again_[static_cast<std::size_t>(plan.zero)] > 0 ? InParts::never
                                 : !hidden || may_fit_in_parts(*hidden, as_set)  ? InParts::may_fit
                                                                                 : InParts::if_moved;
        if (hidden && in_parts == InParts::may_fit) look_at(*hidden, form, exchanges.hidden->times, in_parts);
        if (as_set) look_at(*as_set, form, exchanges.as_set.times, in_parts);
    }
    // Null where the plan cannot be fast enough, or fits in no time that is. Whole layers are not computed again beneath hidden traffic.
    std::optional<Plan> laid_out(const Plan& plan, const PipelineForm& form, const Exchange& exchange) {
        const double least = exchange.bound.seconds(plan);
        if (least > limit_.seconds()) return std::nullopt;
        const double once = once_per_step(plan, exchange);
        const double most = limit_.seconds() * (1 + 1e-12);  // added in another order, the same seconds may differ in their last digit
        if (least + once > most) return std::nullopt;
        limit_.set_once(once);
        const double again = layers_again(plan, exchange.times);
        std::optional<Plan> one = plan;
        one->expert_overlap = exchange.is_hidden;
        if (again > 0 && !may_recompute_layers(space_.model, *one)) return std::nullopt;
        if (again > 0 && exchange.bound.seconds(plan, again) + once > most) {
            best_.any_tried = true;
            return std::nullopt;
        }
        if (!lay_out(space_.model, *one, form, exchange.times)) return std::nullopt;
        if (savings_.is_too_slow(*one, form)) return std::nullopt;
        return one;
    }
    // Hidden traffic keeps more micro-batches alive, and lets no whole layer be computed again. Without either a plan needs least, if its
    // layers are laid out alike: what does not fit so does not fit with hidden traffic.
    bool may_fit_in_parts(const Plan& hidden, const std::optional<Plan>& as_set) {
        if (goal_.everything) return true;
        if (as_set) {
            const bool are_alike =
                as_set->layout == hidden.layout || (as_set->layout && hidden.layout && *as_set->layout == *hidden.layout);
            return !are_alike || savings_.may_fit_in_parts(*as_set);
        }
        Plan plain = hidden;
        plain.expert_overlap = base_.expert_overlap;
        return savings_.may_fit_in_parts(plain);
    }
    void look_at(const Plan& plan, const PipelineForm& form, const LayerTimes& times, InParts in_parts) {
        Savings::Outcome outcome = savings_.fastest_that_fits(plan, form, times, in_parts);
        best_.any_fits |= outcome.any_fits;
        if (outcome.plan && (!best_.plan || outcome.plan->seconds < best_.plan->seconds)) best_.plan = std::move(outcome.plan);
        best_.any_tried = true;
    }
    void count_best() {
        if (best_.plan)
            add(std::move(*best_.plan));
        else if (best_.any_tried && !best_.any_fits)
            ++result_.does_not_fit;
    }
    void add(Estimated one) {
        constexpr std::size_t kMany = 10'000;
        ++result_.fit;
        limit_.add(one.plan, one.seconds);
        found_.push_back(std::move(one));
        if (found_.size() % kMany == 0) drop_slower();
    }
    void drop_slower() {
        const double limit = limit_.wanted();
        std::erase_if(found_, [limit](const Estimated& one) { return one.seconds > limit; });
    }

    const SearchSpace& space_;
    const Goal& goal_;
    const Candidates all_;
    std::vector<std::optional<std::vector<PipelineForm>>> forms_;  // forms_of(), for each number of stages
    const Plan base_;                                              // the space's, closed
    Scorer scorer_;
    const bool overlaps_;  // some schedule hides the traffic of experts
    const bool may_hide_;  // any other may do so
    Limit limit_;
    Savings savings_;
    NeverFits never_fits_;
    static constexpr double kNotAsked = -1;
    std::array<double, 4> again_{};  // layers_again() of the pipeline and the copies at hand, for every ZeRO
    std::array<double, 8> once_{};   // once_per_step() of the same, for every ZeRO with one direction and with both
    Best best_;                      // of the ways to send tokens, of one candidate
    std::vector<Estimated> found_;
    SearchResult result_;
};

}  // namespace

// With gradients that travel after each micro-batch.
static Plan synced(Plan plan) {
    plan.sync_each_micro_batch = Habit::on;
    return plan;
}

static SearchResult search_as_sent(const SearchSpace& space, const Goal& goal) {
    if (goal.any || goal.everything) return Search(space, goal).run();
    // that nothing fits is known long before every plan has been looked at; and whichever does is a limit for the fastest
    const SearchResult any = Search(space, {.most_bytes = goal.most_bytes, .any = true}).run();
    if (any.plans.empty()) return {};
    Goal limited = goal;
    if (goal.plans == 1) limited.most_seconds = std::min(goal.most_seconds, any.plans.front().estimate.seconds);
    return Search(space, limited).run();
}

SearchResult search(const SearchSpace& space, const Goal& goal) {
    SearchResult once = search_as_sent(space, goal);
    if (!may_sync_to_fit(space.plan) || (goal.any && !once.plans.empty())) return once;
    const Plan plan = synced(space.plan);
    const SearchSpace often{space.model, plan, space.gpu, space.method, space.cluster, space.exploration};
    if (once.plans.empty()) return search_as_sent(often, goal);
    // more gradients are sent, so that this is for what is faster beyond a tie
    const double less = once.plans.front().estimate.seconds / (1 + kTieWidth);
    const SearchResult faster =
        search_as_sent(often, {.most_bytes = goal.most_bytes, .most_seconds = less / (1 + kTieWidth), .first = true});
    const bool is_faster = !faster.plans.empty() && faster.plans.front().estimate.seconds < less;
    return is_faster ? search_as_sent(often, goal) : once;
}

}  // namespace fourfold
