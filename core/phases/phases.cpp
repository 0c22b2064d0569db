#include "phases/phases.h"

#include <algorithm>
#include <cmath>

#include "answer/parts.h"
#include "base/text.h"
#include "phases/failures.h"
#include "phases/sources.h"
#include "plan/adapters.h"

namespace fourfold {

namespace {

constexpr std::size_t kMostPhases = 12;

struct Phase {
    Job job;
    Estimated estimate{};
    UsefulShare useful{};
    double computing_days = 0;

    double days() const { return computing_days / useful.share.value(); }
    Trained trained() const {
        const double learn = job.plan.freezes() ? adapter_count(job.model, job.plan) : static_cast<double>(parameter_count(job.model));
        return {learn, static_cast<double>(job.plan.gpus), kMomentsBytes[static_cast<std::size_t>(job.plan.moments)]};
    }
};
using Phases = std::vector<Phase>;

struct Asked {
    Troubles troubles;
    bool keep_degrees = false;
};

Asked read_troubles(const Json& request, Problems& problems) {
    Asked asked;
    FieldReader reader(request, problems);
    Troubles& t = asked.troubles;
    reader.number({"storage_gbyte_per_s"}, t.storage_gbyte_per_s, {0.001, 1e6}, true);
    reader.number({"restart_seconds"}, t.restart_seconds, {0, 1e6});
    reader.number({"failure_hours_per_gpu"}, t.failure_hours_per_gpu, {0, 1e12}, true);
    reader.number({"checkpoint_seconds"}, t.checkpoint_seconds, {1, 1e9}, true);
    reader.boolean({"keep_degrees"}, asked.keep_degrees);
    if (t.failure_hours_per_gpu == kAutoNumber) t.failure_hours_per_gpu = kFailureHoursPerGpu;
    return asked;
}

// ---- a phase
// Tokens of a step in place of a batch.
void read_step_tokens(FieldReader& reader, const Json& given, Plan& plan, Problems& problems) {
    constexpr double kMost = 1e12;
    if (!given.contains("tokens_per_step")) return;
    const std::size_t before = problems.size();
    const auto length = static_cast<double>(plan.sequence_length);
    double tokens = length * static_cast<double>(plan.global_batch);
    reader.number({"tokens_per_step"}, tokens, {1, kMost});
    if (problems.size() > before) return;
    if (given.contains("global_batch")) {
        problems.push_back({"tokens_per_step", "contradictory", tokens, "problem.batch_twice", "suggestion.leave_out", nullptr});
        return;
    }
    const double sequences = std::round(tokens / length);
    plan.global_batch = static_cast<std::int64_t>(std::clamp(sequences, 1.0, static_cast<double>(kMostBatch)));
}

std::optional<Phase> read_phase(const Json& given, const Job& common, Problems& problems) {
    if (!given.is_object()) {
        problems.push_back({"", "type", shown(given), "problem.no_phase", {}, nullptr});
        return std::nullopt;
    }
    FieldReader reader(given, problems);
    Phase phase{common};
    phase.job.budget = budget_of(common);
    phase.job.plan = read_changed_plan(reader, common, problems);
    const bool says_tokens = given.contains("tokens");
    if (says_tokens || phase.job.budget.tokens > 0)
        reader.number({"tokens|-|tokens", &kTrillions}, phase.job.budget.tokens, {1, 1e16});
    else
        problems.push_back({"tokens", "missing", nullptr, "problem.no_tokens", {}, nullptr});
    read_step_tokens(reader, given, phase.job.plan, problems);
    reader.reject_unknown();
    return phase;
}

void move_under(const std::string& path, Problems& own, Problems& problems) {
    for (Problem& problem : own) {
        problem.field = under(path, problem.field);
        problems.push_back(std::move(problem));
    }
    own.clear();
}

Phases read_phases(const Json& request, const Job& job, Problems& problems) {
    const auto given = request.find("phases");
    Phases phases;
    if (given == request.end() || !given->is_array() || given->empty() || given->size() > kMostPhases) {
        problems.push_back({"phases",
                            given == request.end() ? "missing" : "type",
                            nullptr,
                            Text("problem.no_phases").with("most", kMostPhases),
                            {},
                            nullptr});
        return phases;
    }
    for (std::size_t i = 0; i < given->size(); ++i) {
        Problems own;
        auto phase = read_phase((*given)[i], job, own);
        if (phase && own.empty()) phases.push_back(std::move(*phase));
        move_under(indexed("phases", i), own, problems);
    }
    return phases;
}

// ---- plans
void take(Phase& phase, Estimated estimate, const Troubles& troubles) {
    phase.estimate = std::move(estimate);
    phase.job.plan = phase.estimate.plan;
    phase.computing_days = training_run(phase.job.budget, phase.job.plan, phase.estimate.seconds).days;
    phase.useful = useful_share(phase.trained(), troubles);
}

Phases chosen(const Phases& asked, const Troubles& troubles, Problems& problems) {
    Phases phases = asked;
    for (std::size_t i = 0; i < phases.size(); ++i) {
        Problems own;
        Job& job = phases[i].job;
        if (resolve(job, own)) take(phases[i], estimated(job.space(), job.plan), troubles);
        move_under(indexed("phases", i), own, problems);
    }
    return phases;
}

double days_of(const Phases& phases) {
    double days = 0;
    for (const Phase& phase : phases) days += phase.days();
    return days;
}

// Every phase with these degrees; nothing where one of them has no such plan that fits, or where it takes `most_days` at least.
std::optional<Phases> with_degrees(const Phases& asked, std::int64_t tensor, std::int64_t pipeline, const Troubles& troubles,
                                   double most_days) {
    Phases phases = asked;
    double days = 0;
    for (Phase& phase : phases) {
        Plan& plan = phase.job.plan;
        if ((plan.tensor_parallel != kAuto && plan.tensor_parallel != tensor) ||
            (plan.pipeline_parallel != kAuto && plan.pipeline_parallel != pipeline) || plan.gpus % (tensor * pipeline) != 0)
            return std::nullopt;
        plan.tensor_parallel = tensor;
        plan.pipeline_parallel = pipeline;
        auto best = best_plan(phase.job.space(), longest_step(phase.job.budget, plan, most_days - days));
        if (!best) return std::nullopt;
        take(phase, std::move(best->estimate), troubles);
        days += phase.days();
        if (days >= most_days) return std::nullopt;
    }
    return phases;
}

bool have_same_degrees(const Phases& phases) {
    const Plan& first = phases.front().job.plan;
    return std::all_of(phases.begin(), phases.end(), [&](const Phase& phase) {
        const Plan& plan = phase.job.plan;
        return plan.tensor_parallel == first.tensor_parallel && plan.pipeline_parallel == first.pipeline_parallel;
    });
}

// The fastest with one TP and one PP in all phases. `free` is what is chosen for each phase alone.
std::optional<Phases> kept_phases(const Phases& asked, const Phases& free, const Troubles& troubles) {
    if (have_same_degrees(free)) return free;
    const Job& first = asked.front().job;
    const std::int64_t node = std::max(first.plan.gpus_per_node, first.plan.tensor_grid());
    const std::int64_t stages = std::max(first.model.layers, first.plan.pipeline_parallel);
    std::optional<Phases> best;
    double least = INFINITY;
    for (std::int64_t tensor = 1; tensor <= node; ++tensor)
        for (std::int64_t pipeline = 1; pipeline <= stages; ++pipeline)
            if (auto phases = with_degrees(asked, tensor, pipeline, troubles, least)) {
                least = days_of(*phases);
                best = std::move(phases);
            }
    return best;
}

// ---- the answer
struct Totals {
    double computing_days = 0, change_days = 0, days = 0, gpu_hours = 0;
    void add(double plus_days, std::int64_t gpus) {
        days += plus_days;
        gpu_hours += plus_days * 24 * static_cast<double>(gpus);
    }
};

Totals totals_of(const Phases& phases, const Troubles& troubles) {
    Totals totals;
    for (std::size_t i = 0; i < phases.size(); ++i) {
        totals.computing_days += phases[i].computing_days;
        totals.add(phases[i].days(), phases[i].job.plan.gpus);
        if (i == 0) continue;
        const double change = change_seconds(phases[i - 1].trained(), troubles).value() / kSecondsPerDay;
        totals.change_days += change;
        totals.add(change, phases[i].job.plan.gpus);
    }
    return totals;
}

Json describe_phase(const Phase& phase) {
    const Job& job = phase.job;
    const Plan& p = job.plan;
    Json entry = Object()
                     .add("gpus", p.gpus)
                     .add("sequence_length", p.sequence_length)
                     .add("global_batch", p.global_batch)
                     .add("plan", describe_whole_plan(p))
                     .add("run", describe_run(job, p, phase.estimate.seconds, job.band(p)))
                     .add("days", phase.days());
    add_brief(entry, phase.estimate);
    const UsefulShare& useful = phase.useful;
    const bool breaks = useful.failure_seconds > 0;
    Json share = Object()
                     .add("share", useful.share.value())
                     .add("write_seconds", breaks ? Json(useful.write_seconds) : Json())
                     .add("checkpoint_seconds", breaks ? Json(useful.checkpoint_seconds) : Json())
                     .add("failure_seconds", breaks ? Json(useful.failure_seconds) : Json());
    add_formula(share, useful.share, true, kDaly, "optimum_interval");
    entry["useful"] = std::move(share);
    return entry;
}

Json describe_changes(const Phases& phases, const Troubles& troubles) {
    Json changes = Json::array();
    for (std::size_t i = 0; i + 1 < phases.size(); ++i) {
        const Traced seconds = change_seconds(phases[i].trained(), troubles);
        Json change = Object().add("seconds", seconds.value());
        add_formula(change, seconds, true, source(Paper::zero), "3.1");
        changes.push_back(std::move(change));
    }
    return changes;
}

Json describe_totals(const Totals& totals, const Budget& budget) {
    const double kwh = totals.gpu_hours * budget.watts_per_gpu / 1'000;
    const bool priced = budget.price_per_gpu_hour > 0, powered = budget.watts_per_gpu > 0;
    return Object()
        .add("computing_days", totals.computing_days)
        .add("change_days", totals.change_days)
        .add("failure_days", totals.days - totals.change_days - totals.computing_days)
        .add("days", totals.days)
        .add("gpu_hours", totals.gpu_hours)
        .add("cost", priced ? Json(totals.gpu_hours * budget.price_per_gpu_hour) : Json())
        .add("energy_kwh", powered ? Json(kwh) : Json())
        .add("co2_kg", powered ? Json(kwh * budget.grams_co2_per_kwh / 1'000) : Json());
}

// `free` and `kept` are the phases with plans chosen for each, and with the same degrees in all.
Json describe_kept(const Phases& free, const std::optional<Phases>& kept) {
    if (!kept) return nullptr;
    const Plan& p = kept->front().job.plan;
    return Object()
        .add("tensor_parallel", p.tensor_parallel)
        .add("pipeline_parallel", p.pipeline_parallel)
        .add("more_days", days_of(*kept) - days_of(free));
}

std::int64_t fullest(const Phases& phases) {
    const auto most = std::max_element(phases.begin(), phases.end(), [](const Phase& a, const Phase& b) {
        return a.estimate.verdict.whole_bytes < b.estimate.verdict.whole_bytes;
    });
    return most - phases.begin();
}

}  // namespace

Json phases_answer(const Json& request, Problems& problems) {
    const auto read = read_parsed_job(request, Request::phases, problems);
    if (!request.is_object()) return nullptr;
    // beside a mistake in the job those of the phases are told, too
    Problems none;
    const Job job = read ? *read : *read_parsed_job(Json::object(), Request::phases, none);
    const auto [troubles, keep] = read_troubles(request, problems);
    const Phases asked = read_phases(request, job, problems);
    if (!problems.empty()) return nullptr;
    const Phases free = chosen(asked, troubles, problems);
    if (!problems.empty()) return nullptr;
    const std::optional<Phases> kept = kept_phases(asked, free, troubles);
    const bool keeps = keep && kept.has_value();
    const Phases& shown = keeps ? *kept : free;
    Json phases = Json::array();
    for (const Phase& phase : shown) phases.push_back(describe_phase(phase));
    return Object()
        .add("ok", true)
        .add("job", to_json(job))
        .add("phases", std::move(phases))
        .add("changes", describe_changes(shown, troubles))
        .add("fullest", fullest(shown))
        .add("total", describe_totals(totals_of(shown, troubles), budget_of(job)))
        .add("keeps_degrees", keeps)
        .add("kept", describe_kept(free, kept))
        .add("storage_gbyte_per_s", troubles.storage_gbyte_per_s == kAutoNumber ? Json("auto") : Json(troubles.storage_gbyte_per_s))
        .add("restart_seconds", troubles.restart_seconds)
        .add("failure_hours_per_gpu", troubles.failure_hours_per_gpu);
}

}  // namespace fourfold
