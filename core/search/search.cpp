#include "search/search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "base/tie.h"
#include "search/balance.h"
#include "search/bounds.h"

namespace fourfold {

bool may_run(const SearchSpace& space, const Verdict& v) {
    return v.probability < 0 ? v.fit == Fit::fits : v.probability >= 1 - space.exploration.risk;
}

namespace {

bool may_recompute(const SearchSpace& space) {
    return (space.plan.open & open_recompute) != 0 && (space.exploration.left_out & without_recompute) == 0;
}
// Whether the optimizer may keep its states in 16 bits.
bool may_narrow(const SearchSpace& space) {
    return (space.plan.open & open_moments) != 0 && (space.exploration.left_out & without_small_states) == 0;
}

// Memory and step times of many plans of one space; what they have in common is computed once.
class Scorer {
 public:
    Scorer(const SearchSpace& space, const Plan& like)
        : space_(space), framework_(framework_of(like, space.gpu)), timer(space.model, space.gpu, space.cluster, like) {}

    // Of the fullest stage; of some stage with more than `most` where there is one.
    double bytes(const Plan& plan, double most = INFINITY) {
        return space_.method == Method::fujii2024 ? fujii2024<double>(space_.model, plan).total()
                                                  : fullest_stage(space_.model, plan, framework_, &moments_, most).bytes;
    }
    Estimated estimate(const Plan& plan, double seconds) { return judged(plan, bytes(plan), seconds); }
    // The same, of a plan that may run and holds at most `most` bytes; nullopt of any other.
    std::optional<Estimated> estimate_within(const Plan& plan, double seconds, double most) {
        const double limit = std::min(most, most_allocated(plan)), allocated = bytes(plan, limit);
        if (allocated > limit) return std::nullopt;
        Estimated one = judged(plan, allocated, seconds);
        return may_run(space_, one.verdict) ? std::optional(std::move(one)) : std::nullopt;
    }
    const Framework& framework() const { return framework_; }
    KnownMoments* moments() { return &moments_; }

 private:
    Estimated judged(const Plan& plan, double allocated, double seconds) const {
        return {plan, allocated, allocated / space_.gpu.memory_bytes, judge(space_.method, plan, allocated, space_.gpu.memory_bytes),
                seconds};
    }
    // More bytes than these never pass the verdict; up to rounding, which the verdict settles.
    double most_allocated(const Plan& plan) const {
        constexpr double kRounding = 1e-9;
        if (space_.method == Method::fujii2024) return kLineShare * space_.gpu.memory_bytes * (1 + kRounding);
        return allocated_of_whole(plan, most_whole_) * (1 + kRounding);
    }
    const SearchSpace& space_;
    const Framework framework_;
    const double most_whole_ =  // bytes of a GPU with which a plan may just be chosen
        most_whole_share(residual_of(space_.plan.framework), 1 - space_.exploration.risk) * space_.gpu.memory_bytes;
    KnownMoments moments_;

 public:
    StepTimer timer;
};

// The times of the fastest so many plans: the limit above which a plan is not wanted.
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
    double seconds() const { return goal_.everything ? INFINITY : wanted(); }

 private:
    const Goal& goal_;
    std::vector<double> times_;  // a heap with the slowest on top
    double best_ = INFINITY;
};

// Plans of one TP, CP and micro-batch, with the pipelines that divide the GPUs.
struct GroupOfPlans {
    Plan plan;
    double bound = 0;  // seconds, whatever else is chosen
    std::vector<std::int64_t> pipelines;
};

class Search {
 public:
    Search(const SearchSpace& space, const Goal& goal)
        : space_(space),
          goal_(goal),
          all_(candidates(space)),
          base_(closed(space.plan)),
          scorer_(space, base_),
          machine_(machine_of(space.gpu, space.cluster, base_)),
          timing_(timing_of(machine_, space.cluster, base_, scorer_.framework().attention)),
          overlaps_(
              std::any_of(all_.forms.begin(), all_.forms.end(), [](const PipelineForm& form) { return row_of(form.schedule).overlaps; })),
          layers_differ_(std::adjacent_find(space.model.expert_layers.begin(), space.model.expert_layers.end(), std::not_equal_to<>()) !=
                         space.model.expert_layers.end()),
          may_recompute_(may_recompute(space)),
          may_narrow_(may_narrow(space)),
          limit_(goal),
          leanest_(std::clamp<std::size_t>(4 * all_.tensor.size() * all_.context.size() * all_.pipeline.size() * all_.expert.size(), 16,
                                           2'048)) {}

    SearchResult run() {
        std::vector<GroupOfPlans> groups = groups_of_plans(goal_.any);  // a larger micro-batch needs more
        std::sort(groups.begin(), groups.end(), [](const GroupOfPlans& a, const GroupOfPlans& b) { return a.bound < b.bound; });
        for (const GroupOfPlans& group : groups) {
            if (group.bound > limit_.seconds() || is_enough()) break;
            look_into(group);
        }
        const double limit = limit_.wanted();
        std::erase_if(found_, [limit](const Estimated& one) { return one.seconds > limit; });
        result_.plans = in_order(std::move(found_));
        for (const Ranked& one : result_.plans) result_.equally_good += one.tie == 0;
        if (goal_.plans > 1 && result_.plans.size() > goal_.plans) result_.plans.resize(goal_.plans);
        return std::move(result_);
    }

    // Calls `visit(plan)` for legal plans without a time: every TP, CP, PP and expert parallelism with its smallest micro-batch, every
    // schedule with its fewest chunks; until it returns false.
    template <class Visit>
    void visit_smallest(Visit&& visit) {
        for (GroupOfPlans group : groups_of_plans(true)) {
            for (const auto& [e, et] : expert_ways(group.plan)) {
                group.plan.expert_parallel = e, group.plan.expert_tensor_parallel = et;
                for (const std::int64_t p : group.pipelines) {
                    group.plan.pipeline_parallel = p;
                    if (!holds_rules([&](auto&& require) { return check_expert_rules(space_.model, group.plan, require); })) continue;
                    if (!visit_pipeline(group.plan, visit)) return;
                }
            }
        }
    }

 private:
    // With every field that is open closed to what needs nothing else.
    static Plan closed(const Plan& given) {
        Plan plan = given;
        close_options(plan);
        for (std::int64_t Plan::*degree :
             {&Plan::tensor_parallel, &Plan::context_parallel, &Plan::pipeline_parallel, &Plan::micro_batch, &Plan::expert_parallel})
            if (plan.*degree == kAuto) plan.*degree = 1;
        return plan;
    }
    template <class Check>
    static bool holds_rules(Check&& check) {
        return check([](Rule, bool holds) { return holds; });
    }
    bool is_enough() const { return goal_.any && result_.fit > 0; }
    const LayerTimes& layers(const Plan& plan) { return scorer_.timer.layers(plan); }

    // ---- 1. groups
    // With `smallest`, of every TP and CP the smallest micro-batch of each pipeline alone, and no bounds.
    std::vector<GroupOfPlans> groups_of_plans(bool smallest = false) {
        std::vector<GroupOfPlans> groups;
        Plan plan = base_;
        for (const std::int64_t t : all_.tensor) {
            plan.tensor_parallel = t;
            if (!holds_rules([&](auto&& require) { return check_tensor_rules(space_.model, plan, require); })) continue;
            const std::size_t sequences = t == 1 ? 1 : all_.sequence_parallel.size();
            for (const std::int64_t c : all_.context)
                for (std::size_t i = 0; i < sequences; ++i) {
                    plan.context_parallel = c;
                    plan.sequence_parallel = all_.sequence_parallel[i] != 0;
                    add_groups(groups, plan, smallest);
                }
        }
        return groups;
    }
    // Of one TP, CP and sequence parallelism.
    void add_groups(std::vector<GroupOfPlans>& groups, Plan plan, bool smallest) {
        std::vector<std::int64_t> pipelines;
        for (const std::int64_t p : all_.pipeline) {
            plan.pipeline_parallel = p;
            if (holds_rules([&](auto&& require) { return check_split_rules(space_.model, plan, require); })) pipelines.push_back(p);
        }
        for (const std::int64_t b : all_.micro_batch) {
            if (pipelines.empty()) break;
            plan.micro_batch = b;
            GroupOfPlans group{plan, 0, {}};
            for (const std::int64_t p : pipelines) {
                group.plan.pipeline_parallel = p;
                if (holds_rules([&](auto&& require) { return check_batch_rules(space_.model, group.plan, require); }))
                    group.pipelines.push_back(p);
            }
            if (group.pipelines.empty()) continue;
            if (smallest)
                std::erase_if(pipelines, [&](std::int64_t p) {
                    return std::find(group.pipelines.begin(), group.pipelines.end(), p) != group.pipelines.end();
                });
            else
                group.bound = bound_of(group.plan);
            groups.push_back(std::move(group));
        }
    }
    double bound_of(Plan plan) {
        plan.recompute = base_.recompute == Recompute::block ? Recompute::none : base_.recompute;
        plan.expert_parallel = all_.expert.front(), plan.expert_tensor_parallel = all_.expert_tensor == kAuto ? 1 : all_.expert_tensor;
        const bool one_way = expert_ways(plan).size() <= 1;
        if (one_way) return StepBound(space_.model, plan, machine_, timing_, layers(plan)).seconds(overlaps_);
        const LayerTimes least = StepBound::without_experts(space_.model, plan, machine_, timing_, layers(plan));
        return StepBound(space_.model, plan, machine_, timing_, least).seconds(overlaps_);
    }
    std::vector<std::pair<std::int64_t, std::int64_t>> expert_ways(const Plan& plan) const {
        std::vector<std::pair<std::int64_t, std::int64_t>> ways;
        for (const std::int64_t e : all_.expert)
            for (const std::int64_t et : expert_tensor_values(all_, space_.model, plan.tensor_parallel))
                if (plan.gpus % (e * et) == 0 || space_.model.experts.count == 0) ways.emplace_back(e, et);
        return ways;
    }

    // ---- 2. what else is chosen
    void look_into(const GroupOfPlans& group) {
        struct Way {
            double bound;
            std::int64_t expert, expert_tensor;
            std::vector<std::int64_t> pipelines;
        };
        std::vector<Way> ways;
        Plan plan = group.plan;
        plan.recompute = base_.recompute == Recompute::block ? Recompute::none : base_.recompute;
        plan.expert_parallel = all_.expert.front(), plan.expert_tensor_parallel = all_.expert_tensor == kAuto ? 1 : all_.expert_tensor;
        const LayerTimes about = layers(plan);
        for (const auto& [e, et] : expert_ways(plan)) {
            plan.expert_parallel = e, plan.expert_tensor_parallel = et;
            Way way{0, e, et, {}};
            const auto is_fast = [&] {
                way.bound = StepBound(space_.model, plan, machine_, timing_, layers(plan)).seconds(overlaps_);
                return way.bound <= limit_.seconds();
            };
            const bool asks_time_first = limit_.seconds() < INFINITY;  // before any plan is known, memory alone cuts
            if (asks_time_first && !is_fast()) continue;
            way.pipelines = pipelines_that_may_fit(plan, group.pipelines, about);
            if (way.pipelines.empty() || (!asks_time_first && !is_fast())) continue;
            ways.push_back(std::move(way));
        }
        std::sort(ways.begin(), ways.end(), [](const Way& a, const Way& b) { return a.bound < b.bound; });
        for (const Way& way : ways) {
            if (way.bound > limit_.seconds() || is_enough()) break;
            plan.expert_parallel = way.expert, plan.expert_tensor_parallel = way.expert_tensor;
            const LayerTimes times = layers(plan);
            const StepBound bound(space_.model, plan, machine_, timing_, times);
            for (const std::int64_t p : way.pipelines) {
                if (is_enough()) break;
                plan.pipeline_parallel = p;
                look_at_pipelines(plan, bound, times);
            }
        }
    }
    // Those on which some plan fits; what the others hold is counted.
    std::vector<std::int64_t> pipelines_that_may_fit(Plan plan, const std::vector<std::int64_t>& pipelines, const LayerTimes& about) {
        std::vector<std::int64_t> left;
        for (const std::int64_t p : pipelines) {
            plan.pipeline_parallel = p;
            if (!holds_rules([&](auto&& require) { return check_expert_rules(space_.model, plan, require); })) continue;
            if (!goal_.everything && is_hopeless(plan, about))
                result_.does_not_fit += goal_.plans > 1 ? legal_pipelines(plan) : 0;
            else
                left.push_back(p);
        }
        return left;
    }
    bool is_legal_pipeline(const Plan& plan) const {
        return holds_rules([&](auto&& require) { return check_pipeline_rules(space_.model, plan, require); }) &&
               holds_rules([&](auto&& require) { return check_schedule_rules(space_.model, plan, require); });
    }
    std::int64_t legal_pipelines(Plan plan) const {
        std::int64_t legal = 0;
        for (const PipelineForm& form : all_.forms) {
            set_form(plan, form);
            legal += is_legal_pipeline(plan);
        }
        return legal * static_cast<std::int64_t>(all_.zero.size());
    }
    // Gives a plan of that form its layout; false where it is the equal split, or none exists.
    bool lay_out(Plan& plan, const PipelineForm& form, const LayerTimes& times) const {
        if (form.split == LayerSplit::front) return space_.model.layers % plan.chunks() != 0;
        if (form.split != LayerSplit::balanced) return true;
        plan.layout = balanced_layout(space_.model, plan, times);
        plan.split = Split::equal;
        return plan.layout != nullptr;
    }
    void look_at_pipelines(Plan& plan, const StepBound& bound, const LayerTimes& times) {
        for (const PipelineForm& form : all_.forms) {
            set_form(plan, form);
            if (is_enough() || !is_legal_pipeline(plan) || bound.seconds(plan) > limit_.seconds()) continue;
            if (!lay_out(plan, form, times)) continue;
            for (const Zero zero : all_.zero) {
                plan.zero = zero;
                look_at(plan, form, times);
            }
        }
        plan.layout = base_.layout;
    }

    // ---- what can never fit
    // Whether no schedule, split of the layers, ZeRO and recomputation makes the plan fit: the leanest of them does not. A larger
    // micro-batch needs more, and so do more chunks per GPU (tests), so that little has to be asked.
    bool is_hopeless(const Plan& plan, const LayerTimes& times) {
        Leanest& known = leanest_[place_of(plan)];
        const std::array<std::int64_t, 5> key = {plan.tensor_parallel, plan.context_parallel, plan.pipeline_parallel, plan.expert_parallel,
                                                 2 * plan.expert_tensor_parallel + (plan.sequence_parallel ? 1 : 0)};
        if (known.key != key) known = {key, 0, std::numeric_limits<std::int64_t>::max()};
        if (plan.micro_batch <= known.fits || plan.micro_batch >= known.fails) return plan.micro_batch >= known.fails;
        switch (lean_form(plan, times)) {
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
    std::size_t place_of(const Plan& p) const {
        return static_cast<std::size_t>(p.tensor_parallel + 7 * p.context_parallel + 61 * p.pipeline_parallel + 523 * p.expert_parallel +
                                        1'009 * p.expert_tensor_parallel + (p.sequence_parallel ? 0 : 97)) %
               leanest_.size();
    }
    // Where layers differ, moving one changes what its neighbours hold: then the states of all stages together say whether moving may help.
    enum class Lean : std::uint8_t { illegal, fits, does_not_fit };
    Lean lean_form(Plan plan, const LayerTimes& times) {
        if (may_narrow_) plan.moments = Moments::bits16;
        const bool shifts_layers = base_.split == Split::front || layers_differ_;  // more chunks: some may be lighter
        std::array<std::int64_t, kScheduleKinds> fewest_chunks{};                  // with which a schedule is legal
        bool is_legal = false;
        for (const PipelineForm& form : all_.forms) {
            std::int64_t& fewest = fewest_chunks[static_cast<std::size_t>(form.schedule)];
            if (fewest != 0 && form.virtual_stages > fewest && !shifts_layers) continue;
            set_form(plan, form);
            if (!is_legal_pipeline(plan)) continue;
            fewest = form.virtual_stages;
            if (!is_legal && layers_differ_ && !some_states_fit(plan)) return Lean::does_not_fit;
            is_legal = true;
            if (!lay_out(plan, form, times)) continue;
            const Recompute leanest = may_recompute_ ? Recompute::full : base_.recompute;
            for (const Zero zero : all_.zero)
                for (const Recompute recompute :
                     {leanest, base_.recompute, may_recompute_ && has_parts_to_recompute(plan) ? Recompute::selective : base_.recompute}) {
                    plan.zero = zero, plan.recompute = recompute, plan.recompute_layers = base_.recompute_layers;
                    if (recompute == Recompute::block && space_.plan.recompute_layers == kAuto)
                        return Lean::fits;  // not known without more
                    if (layers_differ_ ? plan.layout || fits(plan) : recompute == leanest ? fits_moved(plan, form, times) : fits(plan))
                        return Lean::fits;
                    if (recompute == Recompute::full && may_recompute_ && fits_as_block(plan)) return Lean::fits;
                }
        }
        return is_legal ? Lean::does_not_fit : Lean::illegal;
    }
    std::optional<Estimated> taken(const Plan& plan, double seconds) { return scorer_.estimate_within(plan, seconds, goal_.most_bytes); }
    bool fits(const Plan& plan) { return taken(plan, 0).has_value(); }
    bool some_states_fit(Plan plan) const {
        return std::any_of(all_.zero.begin(), all_.zero.end(), [&](Zero zero) {
            plan.zero = zero;
            return states_fit(plan);
        });
    }
    // Whether weights, gradients and optimizer states of all stages would fit if they were shared out evenly: no layout needs less.
    bool states_fit(const Plan& plan) const {
        if (space_.method == Method::fujii2024) return true;  // it looks at the first stage alone
        const Stages stages(space_.model, plan);
        double sum = 0;
        for (std::int32_t i = 0, next = 0; i < plan.pipeline_parallel; i = next) {
            next = stages.next_different(i);
            const Items<double> items = detailed<double>(space_.model, plan, scorer_.framework(), stages.at_rest(i)).items;
            for (std::size_t k = 0; k < items.size(); ++k) {
                const Group group = fourfold::text(items.item(k)).group;
                if (group == Group::weights || group == Group::gradients || group == Group::optimizer) sum += (next - i) * items.bytes(k);
            }
        }
        const double average = sum / static_cast<double>(plan.pipeline_parallel);
        return takes({plan, average, 0, judge(space_.method, plan, average, space_.gpu.memory_bytes), 0});
    }
    // A block that leaves one layer of some chunk alone may need less than recomputing that one too.
    bool fits_as_block(Plan plan) {
        plan.recompute = Recompute::block;
        for (const std::int64_t size : chunk_sizes(plan)) {
            plan.recompute_layers = size - 1;
            if (size > 1 && fits(plan)) return true;
        }
        return false;
    }
    bool fits_moved(const Plan& plan, const PipelineForm& form, const LayerTimes& times) {
        if (fits(plan)) return true;
        Plan moved = plan;
        moved.layout = moved_layout(plan, form, times);
        return moved.layout != nullptr && fits(moved);
    }
    bool may_move(const PipelineForm& form) const {
        return form.split == LayerSplit::balanced && form.virtual_stages == 1 && row_of(form.schedule).route == Route::straight &&
               space_.method != Method::fujii2024;
    }
    // Layers moved where memory wants it so; null where they may not be, or cannot.
    LayoutPointer moved_layout(const Plan& plan, const PipelineForm& form, const LayerTimes& times) {
        if (!may_move(form)) return nullptr;
        const auto fits = [&](double bytes) {
            return bytes <= goal_.most_bytes && may_run(space_, judge(space_.method, plan, bytes, space_.gpu.memory_bytes));
        };
        return layout_that_fits(space_.model, plan, scorer_.framework(), times, fits, scorer_.moments());
    }

    // ---- 3. time, then memory
    bool takes(const Estimated& one) const { return may_run(space_, one.verdict) && one.bytes <= goal_.most_bytes; }
    double seconds_of(const Plan& plan) {
        ++result_.looked_at;
        return scorer_.timer.seconds(plan);
    }
    bool is_slow(const Plan& plan) { return seconds_of(plan) > limit_.seconds(); }
    void add(Estimated one) {
        constexpr std::size_t kMany = 10'000;
        ++result_.fit;
        limit_.add(one.seconds);
        found_.push_back(std::move(one));
        if (found_.size() % kMany == 0) {
            const double limit = limit_.wanted();
            std::erase_if(found_, [limit](const Estimated& each) { return each.seconds > limit; });
        }
    }
    // The fastest of several ways to run one candidate; only ways that fit, and are fast enough.
    class Ways {
     public:
        explicit Ways(Search& search) : search_(search) {}
        // Whether the plan fits, as far as that was asked: of a plan too slow it is not, unless its schedule is played, which is dearer.
        bool consider(const Plan& plan) {
            const bool known_to_fit = is_played(plan);
            if (known_to_fit && !search_.fits(plan)) return false;
            const double seconds = search_.seconds_of(plan);
            if (seconds > search_.limit_.seconds() || (best && seconds >= best->seconds)) return known_to_fit;
            std::optional<Estimated> one = search_.taken(plan, seconds);
            if (!one) return false;
            best = std::move(one);
            return true;
        }
        // As it is, and with layers moved where memory wants it so.
        void consider_moved(const Plan& plan, const PipelineForm& form, const LayerTimes& times) {
            if (consider(plan) || !search_.may_move(form) || search_.fits(plan)) return;
            Plan moved = plan;
            moved.layout = search_.moved_layout(plan, form, times);
            if (moved.layout) consider(moved);
        }
        std::optional<Estimated> best;

     private:
        Search& search_;
    };
    void look_at(Plan plan, const PipelineForm& form, const LayerTimes& times) {
        plan.recompute = base_.recompute, plan.recompute_layers = base_.recompute_layers;
        const bool open = (space_.plan.open & open_recompute) != 0;
        const bool counts_layers = !open && plan.recompute == Recompute::block && space_.plan.recompute_layers == kAuto;
        // recomputing takes longer still; but fewer bytes of states, or fewer layers where most parameters are, take the optimizer less
        // time
        const bool may_be_faster = may_move(form) || may_narrow_;
        if (!is_played(plan) && is_slow(plan) && (!may_be_faster || fits(plan))) return;
        Ways ways(*this);
        if (counts_layers) {
            if (choose_block(plan)) ways.consider(plan);
        } else if (!ways.consider(plan)) {
            consider_what_saves(ways, plan, form, times);
        }
        if (ways.best)
            add(std::move(*ways.best));
        else
            ++result_.does_not_fit;
    }
    void consider_what_saves(Ways& ways, Plan plan, const PipelineForm& form, const LayerTimes& times) {
        ways.consider_moved(plan, form, times);
        if (may_recompute_) consider_recomputing(ways, plan, form, times);
        if (!may_narrow_) return;
        plan.moments = Moments::bits16;
        ways.consider_moved(plan, form, times);
        if (may_recompute_) consider_recomputing(ways, plan, form, times);
    }
    // Recomputing attention saves what its scores take; without them it saves hardly anything.
    bool has_parts_to_recompute(const Plan& plan) const {
        const AttentionKernel kernel = scorer_.framework().attention;
        return plan.recompute_modules != core_attn || kernel == AttentionKernel::unfused || kernel == AttentionKernel::local;
    }
    void consider_recomputing(Ways& ways, Plan plan, const PipelineForm& form, const LayerTimes& times) {
        plan.recompute_layers = 1;
        if (has_parts_to_recompute(plan)) {
            plan.recompute = Recompute::selective;
            ways.consider(plan);
        }
        plan.recompute = Recompute::block;
        if (choose_block(plan)) ways.consider(plan);
        plan.recompute = Recompute::full;
        plan.recompute_layers = 1;
        if (is_played(plan) || may_move(form) || !is_slow(plan)) ways.consider_moved(plan, form, times);
    }
    // The fewest layers of each chunk with which the plan fits; false when not even as many will do as the limit of time allows. Every
    // layer more saves memory, but for the last one of a chunk: then a recomputed layer is alive beside those that are kept. So the numbers
    // fall into ranges that end before the size of some chunk, and within each the last one needs least.
    bool choose_block(Plan& plan) {
        std::vector<std::int64_t> ends = chunk_sizes(plan);
        const std::int64_t all = ends.back();
        std::int64_t low = is_played(plan) ? all + 1 : 1, high = all + 1;  // the first number that is too slow
        while (low < high) {
            plan.recompute_layers = (low + high) / 2;
            if (is_slow(plan))
                high = plan.recompute_layers;
            else
                low = plan.recompute_layers + 1;
        }
        const std::int64_t most = low - 1;
        ends.push_back(all + 1);
        low = 1;
        for (const std::int64_t end : ends) {
            if (low > most) return false;
            high = std::min(end - 1, most);
            plan.recompute_layers = high;
            if (high < low || !fits(plan)) {
                low = std::max(low, end);
                continue;
            }
            while (low < high) {
                plan.recompute_layers = (low + high) / 2;
                if (fits(plan))
                    high = plan.recompute_layers;
                else
                    low = plan.recompute_layers + 1;
            }
            plan.recompute_layers = low;
            return true;
        }
        return false;
    }
    // Every number of layers that some chunk has, ascending.
    std::vector<std::int64_t> chunk_sizes(const Plan& plan) const {
        const Stages stages(space_.model, plan);
        std::vector<std::int64_t> sizes;
        for (std::int32_t stage = 0; stage < plan.pipeline_parallel; stage = stages.next_different(stage))
            for (std::int32_t chunk = 0; chunk < plan.virtual_stages; ++chunk) {
                const std::int64_t size = stages.layers_of(stage, chunk);
                const auto at = std::lower_bound(sizes.begin(), sizes.end(), size);
                if (size > 0 && (at == sizes.end() || *at != size)) sizes.insert(at, size);
            }
        return sizes;
    }

    // ---- plans that need little
    template <class Visit>
    bool visit_pipeline(Plan& plan, Visit&& visit) {
        const PipelineForm* before = nullptr;
        for (const PipelineForm& form : all_.forms) {
            if (before != nullptr && before->schedule == form.schedule && before->split == form.split) continue;  // fewer chunks did
            set_form(plan, form);
            if (!holds_rules([&](auto&& require) { return check_pipeline_rules(space_.model, plan, require); }) ||
                !holds_rules([&](auto&& require) { return check_schedule_rules(space_.model, plan, require); }))
                continue;
            if (!lay_out(plan, form, layers(plan))) continue;
            before = &form;
            for (const Zero zero : all_.zero) {
                plan.zero = zero;
                if (!visit(plan, scorer_)) return false;
            }
        }
        plan.layout = base_.layout;
        return true;
    }

    const SearchSpace& space_;
    const Goal& goal_;
    const Candidates all_;
    const Plan base_;  // the space's, closed
    Scorer scorer_;
    const Machine machine_;
    const Timing timing_;
    const bool overlaps_;       // some schedule hides the traffic of experts
    const bool layers_differ_;  // the model has dense layers and such with experts
    const bool may_recompute_, may_narrow_;
    Limit limit_;
    // Of one TP, CP, PP, EP and ETP: the largest micro-batch known to fit, and the smallest known not to.
    struct Leanest {
        std::array<std::int64_t, 5> key{};
        std::int64_t fits = 0, fails = std::numeric_limits<std::int64_t>::max();
    };
    std::vector<Leanest> leanest_;  // one place per remainder of what it depends on; the newest stays
    std::vector<Estimated> found_;
    SearchResult result_;
};

}  // namespace

SearchResult search(const SearchSpace& space, const Goal& goal) {
    // that nothing fits is known long before every plan has been looked at
    if (!goal.any && !goal.everything && search(space, {.most_bytes = goal.most_bytes, .any = true}).plans.empty()) return {};
    return Search(space, goal).run();
}

Estimated estimated(const SearchSpace& space, const Plan& plan) {
    Scorer scorer(space, plan);
    return scorer.estimate(plan, scorer.timer.seconds(plan));
}

std::optional<Chosen> best_plan(const SearchSpace& space, double most_seconds) {
    SearchResult found = search(space, {.most_seconds = most_seconds});
    if (found.plans.empty() || found.plans.front().estimate.seconds > most_seconds) return std::nullopt;
    return Chosen{std::move(found.plans.front().estimate), found.equally_good};
}

bool has_plan(const SearchSpace& space) { return !search(space, {.any = true}).plans.empty(); }

std::optional<Estimated> leanest_plan(const SearchSpace& space) {
    const Goal goal;
    std::optional<Estimated> least;
    Search(space, goal).visit_smallest([&](Plan plan, Scorer& scorer) {
        if (may_narrow(space)) plan.moments = Moments::bits16;
        if (may_recompute(space)) plan.recompute = Recompute::full;
        const double bytes = scorer.bytes(plan);
        if (!least || bytes < least->bytes) least = scorer.estimate(plan, 0);
        return true;
    });
    if (least) least->seconds = estimated(space, least->plan).seconds;
    return least;
}

std::optional<Chosen> choose(const SearchSpace& space) {
    if (auto best = best_plan(space)) return best;
    auto least = leanest_plan(space);
    if (!least) return std::nullopt;
    return Chosen{std::move(*least), 0};
}

bool has_legal_plan(const SearchSpace& space) {
    const Goal goal;
    bool any = false;
    Search(space, goal).visit_smallest([&](const Plan&, Scorer&) { return !(any = true); });
    return any;
}

}  // namespace fourfold
