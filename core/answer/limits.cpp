#include "answer/limits.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "answer/parts.h"
#include "base/bytes.h"
#include "model/catalog.h"
#include "plan/adapters.h"
#include "time/transfers.h"

namespace fourfold {

namespace {

SearchSpace space_with(const SearchSpace& space, const Plan& plan) {
    return {space.model, plan, space.gpu, space.method, space.cluster, space.exploration};
}
// The first plan of the ranking with `plan` in the place of the space's; nullopt where none fits, or none within `most_seconds` per step.
std::optional<Estimated> best_with(const SearchSpace& space, const Plan& plan, double most_seconds = INFINITY) {
    auto best = best_plan(space_with(space, plan), most_seconds);
    return best ? std::optional(std::move(best->estimate)) : std::nullopt;
}

// The largest multiple of `step` up to `most` that halving and bisection find: `value` fits, the next multiple does not. More than one such
// border is possible, since numbers must divide: the doublings of `step`, which divide best, are tried from above, and the first that fits
// is refined, in the end to multiples of `finest`, of which `step` is one.
class Bisection {
 public:
    Bisection(const SearchSpace& space, std::int64_t Plan::*field, std::int64_t step, std::int64_t finest, std::int64_t most)
        : space_(space), plan_(space.plan), field_(field), step_(step), finest_(finest), most_(most) {}

    std::optional<Largest> run() {
        if (step_ > most_) return std::nullopt;
        if (fits(most_ / step_ * step_)) return found(most_ / step_ * step_, LimitedBy::range);
        std::int64_t value = step_;
        while (value <= most_ / 2) value *= 2;
        while (value >= step_ && !fits(value)) value /= 2;
        if (value < step_) return std::nullopt;
        for (std::int64_t further = value / 2; further >= step_; further /= 2)
            if (fits(value + further)) value += further;
        for (std::int64_t step = step_; step > finest_;) {
            const std::int64_t parts = smallest_factor(step / finest_);
            step /= parts;
            std::int64_t further = parts - 1;
            while (further > 0 && !fits(value + further * step)) --further;
            value += further * step;
        }
        return found(value, is_legal(value + finest_) || is_legal(value + step_) ? LimitedBy::memory : LimitedBy::rules);
    }

 private:
    bool fits(std::int64_t value) {
        plan_.*field_ = value;
        return value <= most_ && has_plan(space_with(space_, plan_));
    }
    bool is_legal(std::int64_t value) {
        plan_.*field_ = value;
        return has_legal_plan(space_with(space_, plan_));
    }
    std::optional<Largest> found(std::int64_t value, LimitedBy limited_by) {
        plan_.*field_ = value;
        const auto best = best_with(space_, plan_);
        return best ? std::optional(Largest{value, finest_, *best, limited_by}) : std::nullopt;
    }
    static std::int64_t smallest_factor(std::int64_t whole) {
        for (std::int64_t factor = 2; factor * factor <= whole; ++factor)
            if (whole % factor == 0) return factor;
        return whole;
    }
    const SearchSpace& space_;
    Plan plan_;
    std::int64_t Plan::*field_;
    const std::int64_t step_, finest_, most_;
};

}  // namespace

// ---- numbers of GPUs
std::vector<std::int64_t> gpu_counts_to_try(const Plan& plan) {
    const std::int64_t node = plan.gpus_per_node;
    const PartsOfNodes parts = parts_of_nodes(node);
    std::vector<std::int64_t> counts;
    for (std::int64_t gpus = 1; gpus < kOneByOne; ++gpus) counts.push_back(gpus);
    for (std::int64_t gpus = kOneByOne; gpus < parts.most; gpus += parts.step)
        if (gpus % node != 0) counts.push_back(gpus);
    for (std::int64_t nodes = 1, step = 1; nodes * node <= kMostGpus; nodes += step) {
        if (nodes >= 2 * kStepsPerDoubling * step) step *= 2;
        if (nodes * node >= kOneByOne) counts.push_back(nodes * node);
    }
    std::sort(counts.begin(), counts.end());
    if (!std::binary_search(counts.begin(), counts.end(), plan.gpus))
        insert_sorted(counts, plan.gpus, [](std::int64_t a, std::int64_t b) { return a < b; });
    return counts;
}

double least_gpus_to_fit(const Job& job) {
    if (job.method == Method::fujii2024) return 0;  // it does not count every parameter
    const Plan& p = job.plan;
    const FrameworkRow& row = row_of(p.framework);
    Plan narrow = p;
    if ((p.open & open_moments) != 0 && (job.exploration.left_out & without_small_states) == 0) narrow.moments = Moments::bits16;
    const double averages = p.optimizer == Optimizer::adam || p.optimizer == Optimizer::adam_8bit ? 2 : 1;
    const double optimizer = (keeps_master(p) ? 4 : 0) + averages * average_bytes(narrow);
    const bool no_gradients = p.freezes() || p.optimizer_in_backward || p.optimizer_offload == 1;  // or few of them
    const double gradients = p.gradients_in_fp32 && row.library == kMegatronCore ? 4 : 2;          // others may send them in 16 bits
    const double states = p.freezes() ? 0 : (1 - p.optimizer_offload) * optimizer;
    const bool only_precise = row.autocast && keeps_master(p);  // then weights in 16 bits are made in each pass
    const double weights = p.weights_offload ? 0 : p.freezes() ? frozen_bytes(p) : only_precise ? 0 : 2;
    const double per_parameter = weights + (no_gradients ? 0 : gradients) + states;
    const double room = (job.gpu->memory_bytes - p.memory_extra * kGibi) / p.memory_factor;
    return room > 0 ? static_cast<double>(parameter_count(job.model)) * per_parameter / room : INFINITY;
}

double least_gpus_in_time(const Job& job) {
    const Model& m = job.model;
    double met = static_cast<double>(parameter_count(m)) - (m.tied ? 1.0 : 2.0) * static_cast<double>(m.vocabulary * m.hidden);
    const auto with_experts = static_cast<double>(m.expert_layers.count());
    if (with_experts > 0)  // a token meets the experts that it is sent to
        met -= with_experts * static_cast<double>((m.experts.count - m.experts.per_token) * m.experts.ffn * m.expert_hidden()) *
               (m.gated ? 3 : 2);
    if (m.learned_positions) met -= static_cast<double>(m.max_positions * m.hidden);
    const double flop = job.plan.freezes() ? 4 : 6;  // per token and parameter that it meets: forward, and twice as much backward
    return flop * met * budget_of(job).tokens / (job.days * kSecondsPerDay * machine_of(*job.gpu, job.cluster, job.plan).peak);
}

// Whether so many GPUs can be shared out at all: tensor parallel divides the heads, context parallel the sequence, data parallel the batch;
// a pipeline has as many stages as layers at most (plan.h). Rules out many numbers at the price of three divisions.
static bool may_divide(const Job& job, std::int64_t gpus) {
    for (const std::int64_t whole : {job.model.heads, job.plan.sequence_length, job.plan.global_batch}) gpus /= std::gcd(gpus, whole);
    return gpus <= job.model.layers;
}

FewestGpus fewest_gpus(const Job& job) {
    const Budget budget = budget_of(job);
    const bool timed = budget.tokens > 0 && job.days > 0;
    const double least_to_fit = least_gpus_to_fit(job), least_in_time = timed ? least_gpus_in_time(job) : 0;
    const double longest = timed ? longest_step(budget, job.plan, job.days) : INFINITY;
    FewestGpus found;
    Plan plan = job.plan;
    for (const std::int64_t gpus : gpu_counts_to_try(job.plan)) {
        if (found.fits && (!timed || found.safe)) break;
        const double least = found.fits ? std::max(least_to_fit, least_in_time) : least_to_fit;
        if (static_cast<double>(gpus) < least || !may_divide(job, gpus)) continue;
        plan.gpus = gpus;
        if (!found.fits && !has_plan(space_with(job.space(), plan))) continue;
        const auto best = best_with(job.space(), plan, found.fits ? longest : INFINITY);
        if (!best) continue;
        if (!found.fits) found.fits = best;
        if (!timed) continue;
        const double days = training_run(budget, best->plan, best->seconds).days;
        const Band band = job.band(best->plan);
        if (!found.in_time && days <= job.days) found.in_time = best;
        if (days * band.high <= job.days) found.safe = best;
    }
    return found;
}

// ---- the largest of one size
std::optional<Largest> largest_micro_batch(const SearchSpace& space) {
    Plan plan = space.plan;
    LimitedBy limited_by = plan.global_batch > kMostMicroBatch ? LimitedBy::range : LimitedBy::rules;
    for (std::int64_t value = std::min(plan.global_batch, kMostMicroBatch); value >= 1; --value) {
        if (plan.global_batch % value != 0) continue;
        plan.micro_batch = value;
        if (has_plan(space_with(space, plan))) return Largest{value, 1, *best_with(space, plan), limited_by};
        const bool legal = limited_by != LimitedBy::memory && has_legal_plan(space_with(space, plan));
        limited_by = legal || limited_by == LimitedBy::memory ? LimitedBy::memory : LimitedBy::rules;
    }
    return std::nullopt;
}

std::optional<Largest> largest_batch(const SearchSpace& space) {
    Plan plan = space.plan;
    while (!has_plan(space_with(space, plan))) {
        if (plan.global_batch % 2 != 0) return std::nullopt;
        plan.global_batch /= 2;
    }
    const auto start = best_with(space, plan);
    // the batches that this plan can share out evenly
    const Plan& p = start->plan;
    const std::int64_t step = p.micro_batch * p.data_parallel() * row_of(p.schedule_kind()).multiple(p.pipeline_parallel);
    // another plan may share out others
    return Bisection(space, &Plan::global_batch, step, 1, kMostBatch).run();
}

std::optional<Largest> largest_sequence(const SearchSpace& space) {
    const Plan& p = space.plan;
    const std::int64_t t = std::max<std::int64_t>(1, p.tensor_parallel), c = std::max<std::int64_t>(1, p.context_parallel);
    const std::int64_t pieces = std::lcm(c * (p.sequence_parallel ? t : 1), c > 1 ? 2 * c : 1);  // with the degrees that are set
    const auto search = [&](std::int64_t step, std::int64_t finest, std::int64_t most) {
        return Bisection(space, &Plan::sequence_length, std::lcm(step, pieces), std::lcm(finest, pieces), most).run();
    };
    // What splits a sequence divides the GPUs: where they have an odd factor, a multiple of it may be split further than its neighbours.
    constexpr std::int64_t kStep = 1'024, kShortStep = 64;
    const std::int64_t odd = p.gpus >> std::countr_zero(static_cast<std::uint64_t>(p.gpus));
    auto found = search(kStep, kStep, kMostSequence);
    if (odd > 1)
        if (auto split = search(odd * kStep, kStep, kMostSequence); split && (!found || split->value > found->value))
            found = std::move(split);
    return found ? found : search(kShortStep, kShortStep, kStep - 1);
}

// ---- as text
namespace {

void add_plan(Json& object, const Estimated& e) {
    object["plan"] = describe_whole_plan(e.plan);
    add_brief(object, e);
}

Json describe_gpus(const std::optional<Estimated>& e) {
    if (!e) return nullptr;
    Json object = Object().add("gpus", e->plan.gpus);
    add_plan(object, *e);
    return object;
}

Json describe_in_time(const Job& job, const FewestGpus& found) {
    Json object = describe_gpus(found.in_time);
    if (object.is_null()) return object;
    const Estimated& e = *found.in_time;
    Json run = describe_run(job, e.plan, e.seconds, job.band(e.plan));
    for (const char* key : {"days", "low_days", "high_days", "gpu_hours", "cost"}) object[key] = std::move(run[key]);
    object["safe_gpus"] = found.safe ? Json(found.safe->plan.gpus) : Json();
    return object;
}

Json describe_largest(const std::optional<Largest>& found, Json notes) {
    if (!found) return nullptr;
    constexpr const char* kIds[] = {"memory", "rules", "range"};
    Json object = Object()
                      .add("value", found->value)
                      .add("limited_by", kIds[static_cast<std::size_t>(found->limited_by)])
                      .add("notes", std::move(notes));
    add_plan(object, found->at);
    return object;
}

Json describe_micro_batch(const Job& job) {
    const auto found = largest_micro_batch(job.space());
    if (!found) return nullptr;
    const Text note = found->limited_by == LimitedBy::memory ? Text("largest.micro_batch.memory")
                      : found->limited_by == LimitedBy::rules
                          ? Text("largest.micro_batch.rules").with("batch", job.plan.global_batch).with("gpus", job.plan.gpus)
                          : Text("largest.micro_batch.range");
    return describe_largest(found, Json::array({note.json()}));
}

Json describe_batch(const Job& job) {
    const auto found = largest_batch(job.space());
    if (!found) return nullptr;
    const bool waits = found->at.plan.pipeline_parallel > 1;
    const Text note = found->limited_by == LimitedBy::memory  ? Text(waits ? "largest.batch.memory" : "largest.batch.gradients")
                      : found->limited_by == LimitedBy::rules ? Text("largest.batch.rules")
                                                              : Text("largest.batch.range").with("most", kMostBatch);
    return describe_largest(found, Json::array({note.json()}));
}

Json describe_sequence(const Job& job) {
    const auto found = largest_sequence(job.space());
    if (!found) return nullptr;
    Json notes = Json::array();
    notes.push_back(Text("largest.sequence.steps").with("step", found->step).with("batch", job.plan.global_batch).json());
    if (found->limited_by == LimitedBy::rules) notes.push_back(Text("largest.sequence.rules").json());
    if (found->limited_by == LimitedBy::range) notes.push_back(Text("largest.sequence.range").json());
    if (job.model.max_positions > 0 && found->value > job.model.max_positions)
        notes.push_back(Text("largest.sequence.beyond_model").with("positions", job.model.max_positions).json());
    return describe_largest(found, std::move(notes));
}

// The catalogue's models with this job's other settings, largest first.
Json describe_models(const Job& job) {
    std::vector<const Model*> models;
    for (const CatalogModel& m : catalog().models)
        insert_sorted(models, &m.model, [](const Model* a, const Model* b) { return parameter_count(*a) > parameter_count(*b); });
    Json list = Json::array();
    for (const Model* model : models) {
        if (!counts(job.method, *model)) continue;
        Plan plan = job.plan;
        plan.open = job.asked_open;
        plan.open &= ~without_choice({*model, plan, *job.gpu, job.method, job.cluster, job.exploration});
        const auto best = choose({*model, plan, *job.gpu, job.method, job.cluster, job.exploration});
        Json entry = Object()
                         .add("id", model->id)
                         .add("label", model->label)
                         .add("parameters", parameter_count(*model))
                         .add("fits", best && best->fits())
                         .add("plan", nullptr);
        if (best) add_plan(entry, best->estimate);
        list.push_back(std::move(entry));
    }
    return list;
}

// The degrees that the job sets, which every answer keeps.
Json kept_degrees(const Job& job) {
    Json kept = Json::array();
    const auto add = [&](const char* id, std::int64_t value) {
        if (value != kAuto) kept.push_back(Text(id).with("value", value).json());
    };
    add("kept.tensor_parallel", job.plan.tensor_parallel);
    add("kept.context_parallel", job.plan.context_parallel);
    add("kept.pipeline_parallel", job.plan.pipeline_parallel);
    add("kept.micro_batch", job.plan.micro_batch);
    if (job.model.experts.count > 0) add("kept.expert_parallel", job.plan.expert_parallel);
    return kept;
}

Json searched_notes(const Job& job) {
    const std::int64_t node = job.plan.gpus_per_node, one_by_one = 2 * kStepsPerDoubling * node;
    Json notes = Json::array();
    notes.push_back((node > 1 ? Text("searched.nodes").with("below", kOneByOne).with("node", node) : Text("searched.gpus"))
                        .with("one_by_one", one_by_one)
                        .with("steps", kStepsPerDoubling)
                        .with("most", kMostGpus)
                        .json());
    if (const auto [step, most] = parts_of_nodes(node); most > kOneByOne)
        notes.push_back(Text("searched.parts").with("step", step).with("most", most).json());
    notes.push_back(Text("searched.batch").with("batch", job.plan.global_batch).json());
    if (Json kept = kept_degrees(job); !kept.empty()) notes.push_back(Text("searched.kept").with("kept", std::move(kept)).json());
    return notes;
}

}  // namespace

Json limits_answer(const Job& job) {
    const FewestGpus fewest = fewest_gpus(job);
    const std::vector<std::int64_t> counts = gpu_counts_to_try(job.plan);
    return Object()
        .add("ok", true)
        .add("job", to_json(job))
        .add("days", job.days)
        .add("fewest_gpus", describe_gpus(fewest.fits))
        .add("fewest_in_time", describe_in_time(job, fewest))
        .add("largest_micro_batch", describe_micro_batch(job))
        .add("largest_batch", describe_batch(job))
        .add("largest_sequence", describe_sequence(job))
        .add("models", describe_models(job))
        .add("searched", Object().add("from_gpus", counts.front()).add("to_gpus", counts.back()).add("notes", searched_notes(job)));
}

}  // namespace fourfold
