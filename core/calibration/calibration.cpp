#include "calibration/calibration.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "base/text.h"
#include "time/step_time.h"

namespace fourfold {

using Kind = Correction::Kind;

namespace {

// ---- what to propose
constexpr const char* kKinds[] = {"none", "factor", "constant", "site"};

struct Proposal {
    Correction how;
    double spread = 1;                      // of the band
    std::vector<Text> why;                  // sentences
    std::vector<std::string_view> unknown;  // constants that these runs do not tell

    Plan with(const Plan& plan) const { return how.kind == Kind::none ? plan : how.applied_to(plan); }
};

// One row per plan, in an order of its own: what is proposed must not depend on the order in which runs were given.
std::vector<FitRow> rows_of(const std::vector<MeasuredStep>& steps) {
    std::vector<const MeasuredStep*> sorted;
    for (const MeasuredStep& step : steps)
        insert_sorted(sorted, &step, [](const MeasuredStep* a, const MeasuredStep* b) {
            return a->key != b->key ? a->key < b->key : a->measured < b->measured;
        });
    std::vector<FitRow> rows;
    for (std::size_t i = 0, next = 0; i < sorted.size(); i = next) {
        FitRow row{sorted[i]->plan, 0, sorted[i]->estimated};
        for (next = i; next < sorted.size() && sorted[next]->key == sorted[i]->key; ++next) row.measured += sorted[next]->measured;
        row.measured /= static_cast<double>(next - i);
        rows.push_back(row);
    }
    return rows;
}

Text too_few(std::size_t runs, std::size_t plans) {
    if (runs == 0) return "calibration.no_run";
    if (runs == 1) return "calibration.one_run";
    if (plans == 1) return Text("calibration.one_plan").with("runs", runs);
    return "calibration.two_plans";
}

// What is said of runs and of the plans that they are of.
Text of_runs(const char* id, const char* id_of_repeated, std::size_t runs, std::size_t plans) {
    if (runs == plans) return Text(id).with("runs", runs);
    return Text(id_of_repeated).with("runs", runs).with("plans", plans);
}

// Errors of plans predicted from the others, by kind: the best of each, and infinity where there is none.
double held_out(const std::vector<Correction>& all, Kind kind) {
    double least = INFINITY;
    for (const Correction& one : all)
        if (one.kind == kind) least = std::min(least, one.held_out);
    return least;
}

void tell_none(const std::vector<Correction>& all, std::size_t runs, std::size_t plans, Proposal& p) {
    p.why.push_back(of_runs("calibration.differs", "calibration.differs_of_plans", runs, plans).with("none", all[0].held_out));
    double best = INFINITY;
    for (std::size_t i = 1; i < all.size(); ++i) best = std::min(best, all[i].held_out);
    p.why.push_back(Text("calibration.nothing_better").with("best", best));
}

void tell_factor(const std::vector<Correction>& all, std::size_t runs, std::size_t plans, Proposal& p) {
    p.why.push_back(of_runs("calibration.median", "calibration.median_of_plans", runs, plans).with("factor", p.how.factor));
    p.why.push_back(Text("calibration.factor_predicts").with("factor", p.how.held_out).with("none", all[0].held_out));
    const double site = held_out(all, Kind::site);
    if (std::isfinite(site)) p.why.push_back(Text("calibration.site_no_better").with("site", site));
}

void tell_constants(const std::vector<Correction>& all, std::size_t runs, std::size_t plans, Proposal& p) {
    const bool one = p.how.kind == Kind::constant, both = p.how.factor != 1;
    Text better = one    ? of_runs("calibration.constant", "calibration.constant_of_plans", runs, plans)
                  : both ? of_runs("calibration.site_and_factor", "calibration.site_and_factor_of_plans", runs, plans)
                         : of_runs("calibration.site", "calibration.site_of_plans", runs, plans);
    if (one) better.with("constant", Text("field", kFitted[p.how.constants[0]].key));
    if (both) better.with("factor", p.how.factor);
    p.why.push_back(std::move(better));
    p.why.push_back(Text("calibration.site_predicts")
                        .with("site", p.how.held_out)
                        .with("factor", held_out(all, Kind::factor))
                        .with("none", all[0].held_out));
    if (one) return;
    Json names = Json::array();
    for (std::size_t c = 0; c < kSiteConstants; ++c) {
        if (std::find(p.how.constants.begin(), p.how.constants.end(), c) != p.how.constants.end()) continue;
        p.unknown.push_back(kFitted[c].key);
        names.push_back(Text("field", kFitted[c].key).json());
    }
    if (!p.unknown.empty()) p.why.push_back(Text("calibration.not_identifiable").with("constants", std::move(names)));
}

// Where more runs lie outside the band than chance allows, it is widened until it holds nine of ten of them.
void widen(const Job& job, const std::vector<FitRow>& rows, Proposal& p) {
    std::vector<double> distances;
    for (std::size_t i = 0; i < rows.size(); ++i) distances.push_back(distance_from_band(job, rows[i].plan, p.how.ratios[i]));
    const Scatter scatter = scatter_of(std::move(distances));
    if (scatter.spread <= 1) return;
    p.spread = scatter.spread;
    p.why.push_back(Text("calibration.scatter").with("outside", scatter.outside).with("plans", rows.size()).with("times", scatter.spread));
}

Proposal propose(const Job& job, const std::vector<FitRow>& rows, std::size_t runs) {
    Proposal p;
    if (rows.size() < kFewestForFactor) {
        p.why = {too_few(runs, rows.size())};
        return p;
    }
    std::vector<double> ratios;
    ratios.reserve(rows.size());
    for (const FitRow& row : rows) ratios.push_back(row.measured / row.estimated);
    const double factor = median(std::move(ratios));
    constexpr double kLeast = 0.2, kMost = 5;  // time_factor's range
    if (factor < kLeast || factor > kMost) {
        p.why = {Text("calibration.far_off").with("factor", factor)};
        return p;
    }
    const std::vector<Correction> all = corrections(job, rows);
    p.how = best_of(all, layouts_of(rows));
    if (p.how.factor < kLeast || p.how.factor > kMost) p.how = all[0];
    if (p.how.kind == Kind::none)
        tell_none(all, runs, rows.size(), p);
    else if (p.how.kind == Kind::factor)
        tell_factor(all, runs, rows.size(), p);
    else
        tell_constants(all, runs, rows.size(), p);
    widen(job, rows, p);
    return p;
}

// ---- the answer
// What the proposal sets, and what undoes the rest of a calibration that the job has.
Json set_of(const Proposal& proposal, const Job& job) {
    Json set = Json::object();
    if (proposal.how.kind == Kind::none && proposal.spread == 1) return set;
    const bool corrects = proposal.how.kind != Kind::none;
    Job proposed = job;
    proposed.plan = proposal.with(uncalibrated(job.plan));
    proposed.plan.time_spread = proposal.spread;
    const bool own = proposed.plan.site == SiteKind::own;
    const Json before = to_json(job), after = to_json(proposed);
    for (const std::string_view one : kCalibrationKeys) {
        const std::string key(one);
        const bool of_site = one.starts_with("site_"), always = (one == "time_factor" && corrects) || (one == "site" && own);
        if (of_site ? own : always || before[key] != after[key]) set[key] = after[key];
    }
    return set;
}

// What takes the job's calibration away; empty when it has none.
Json removal(const Job& job) {
    Json set = Json::object();
    if (!job.plan.is_calibrated()) return set;
    Job plain = job;
    plain.plan = uncalibrated(job.plan);
    const Json all = to_json(plain);
    for (const std::string_view key : kCalibrationKeys) set[std::string(key)] = all[std::string(key)];
    return set;
}

Json errors(const std::vector<double>& ratios) {
    if (ratios.empty()) return nullptr;
    double sum = 0, most = 0;
    for (const double ratio : ratios) sum += std::abs(ratio - 1), most = std::max(most, std::abs(ratio - 1));
    return Object().add("mean_error", sum / static_cast<double>(ratios.size())).add("worst_error", most);
}

// Rows far from the others even so: more than three times their usual distance (as the median absolute deviation tells it) and a tenth.
std::vector<bool> outliers(const std::vector<double>& ratios) {
    constexpr double kSigma = 1.4826;  // a normal distribution's standard deviation over its median absolute deviation
    constexpr double kFar = 3, kLeast = 0.1;
    std::vector<double> logs, distances;
    for (const double ratio : ratios) logs.push_back(std::log(ratio));
    const double middle = logs.empty() ? 0 : median(logs);
    for (const double log : logs) distances.push_back(std::abs(log - middle));
    const double usual = distances.empty() ? 0 : kSigma * median(distances);
    std::vector<bool> result;
    result.reserve(distances.size());
    for (const double distance : distances)
        result.push_back(ratios.size() >= kFewestForFactor && distance > std::max(kFar * usual, kLeast));
    return result;
}

constexpr std::pair<const char*, std::int64_t Plan::*> kDescribed[] = {
    {"gpus", &Plan::gpus},
    {"sequence_length", &Plan::sequence_length},
    {"global_batch", &Plan::global_batch},
    {"tensor_parallel", &Plan::tensor_parallel},
    {"context_parallel", &Plan::context_parallel},
    {"pipeline_parallel", &Plan::pipeline_parallel},
    {"micro_batch", &Plan::micro_batch},
    {"expert_parallel", &Plan::expert_parallel},
};

Json describe_plan(const Plan& plan) {
    Json described = Json::object();
    for (const auto& [key, member] : kDescribed) described[key] = plan.*member;
    return described;
}

// A line of the text for the plan that the job asks for, its time left open; "" when there is no such plan.
Json text_help(const Job& job, const RunColumns& columns) {
    Job resolved = job;
    Problems ignored;
    std::string line;
    const bool known = resolve(resolved, ignored).has_value();
    const Json plan = to_json(resolved);
    for (std::size_t i = 0; i < columns.keys.size(); ++i) {
        if (i > 0) line += columns.separator;
        const auto value = plan.find(columns.keys[i]);
        if (value == plan.end()) continue;
        const auto* text = value->get_ptr<const Json::string_t*>();
        const std::string written = text != nullptr ? *text : value->dump();
        const bool quoted = written.find(columns.separator) != std::string::npos;
        line += quoted ? "\"" + written + "\"" : written;
    }
    return Object().add("header", columns.header()).add("line", known ? line : std::string());
}

Json warnings_of(const std::vector<MeasuredStep>& steps) {
    Problems list;
    for (const MeasuredStep& step : steps)
        if (!step.fits)
            list.push_back({indexed("runs", step.index), "does_not_fit", nullptr, Text("problem.run.does_not_fit").with("run", step.name),
                            "suggestion.run.does_not_fit", nullptr});
    return to_json(list);
}

}  // namespace

// Each run beside its estimate, before and after what is proposed.
static void compare_runs(const Job& job, const std::vector<MeasuredStep>& steps, const Proposal& proposal, Json& answer) {
    std::vector<double> before, after, after_seconds;
    for (const MeasuredStep& step : steps) {
        const Plan calibrated = proposal.with(step.plan);
        after_seconds.push_back(proposal.how.kind == Kind::none ? step.estimated : job.timed(calibrated).step().seconds);
        before.push_back(step.measured / step.estimated);
        after.push_back(step.measured / after_seconds.back());
    }
    const std::vector<bool> far = outliers(after);
    Json rows = Json::array();
    for (std::size_t i = 0; i < steps.size(); ++i)
        rows.push_back(Object()
                           .add("name", steps[i].name)
                           .add("step_seconds", steps[i].measured)
                           .add("estimated_seconds", steps[i].estimated)
                           .add("ratio", before[i])
                           .add("after_seconds", after_seconds[i])
                           .add("after_ratio", after[i])
                           .add("outlier", static_cast<bool>(far[i]))
                           .add("plan", describe_plan(steps[i].plan)));
    answer["rows"] = std::move(rows);
    answer["before"] = errors(before);
    answer["after"] = errors(after);
}

Json calibration_answer(const Json& request, const Job& job, Problems& problems) {
    const RunsRead read = read_runs(request, job, problems);
    Json answer = Object().add("ok", problems.empty()).add("text", text_help(job, read.columns)).add("remove", removal(job));
    if (!problems.empty()) {
        answer["problems"] = to_json(problems);
        return answer;
    }
    const Proposal proposal = propose(job, rows_of(read.steps), read.steps.size());
    compare_runs(job, read.steps, proposal, answer);
    Json why = Json::array();
    for (const Text& sentence : proposal.why) why.push_back(sentence.json());
    answer["usable"] = read.steps.size();
    answer["kind"] = kKinds[static_cast<std::size_t>(proposal.how.kind)];
    answer["why"] = std::move(why);
    answer["set"] = set_of(proposal, job);
    answer["not_identifiable"] = proposal.unknown;
    answer["warnings"] = warnings_of(read.steps);
    return answer;
}

}  // namespace fourfold
