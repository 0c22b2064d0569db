#include "calibration/calibration.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "base/text.h"
#include "time/step_time.h"

namespace fourfold {

namespace {

// ---- what to propose
enum class Kind { none, factor, site };
constexpr const char* kKinds[] = {"none", "factor", "site"};

struct Proposal {
    Kind kind = Kind::none;
    std::vector<Text> why;  // sentences
    double factor = 1;
    SiteValues values{};
    std::vector<std::string_view> unknown;  // constants that these runs do not tell

    Plan with(Plan plan) const {
        if (kind == Kind::none) return plan;
        plan.time_factor = factor;
        if (kind != Kind::site) return plan;
        plan.site = SiteKind::own;
        for (std::size_t i = 0; i < kSiteConstants; ++i) plan.*kSite[i].of_plan = values[i];
        return plan;
    }
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

// The constants of the site and a factor beside them, as fitted.
void propose_site(const SiteFit& fit, std::size_t runs, std::size_t plans, Proposal& p) {
    p.kind = Kind::site;
    p.factor = fit.factor;
    p.values = fit.values;
    Text better = fit.factor == 1 ? of_runs("calibration.site", "calibration.site_of_plans", runs, plans)
                                  : of_runs("calibration.site_and_factor", "calibration.site_and_factor_of_plans", runs, plans);
    if (fit.factor != 1) better.with("factor", fit.factor);
    p.why.push_back(std::move(better));
    p.why.push_back(Text("calibration.site_predicts")
                        .with("site", fit.held_out_site)
                        .with("factor", fit.held_out_factor)
                        .with("none", fit.held_out_none));
    Json names = Json::array();
    for (std::size_t i = 0; i < kSiteConstants; ++i) {
        if (fit.identified[i]) continue;
        p.unknown.push_back(kSite[i].key);
        names.push_back(Text("field", kSite[i].key).json());
    }
    if (!p.unknown.empty()) p.why.push_back(Text("calibration.not_identifiable").with("constants", std::move(names)));
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
    const bool enough = rows.size() >= kFewestForSite;
    const SiteFit fit = enough ? fit_site(job, rows) : SiteFit();
    if (enough && fit.held_out_site < fit.held_out_factor && fit.factor >= kLeast && fit.factor <= kMost) {
        propose_site(fit, runs, rows.size(), p);
        return p;
    }
    p.kind = Kind::factor;
    p.factor = significant(factor, kProposedDigits);
    p.why.push_back(of_runs("calibration.median", "calibration.median_of_plans", runs, rows.size()).with("factor", factor));
    const HeldOut held = factor_held_out(rows);
    p.why.push_back(Text("calibration.factor_predicts").with("factor", held.factor).with("none", held.none));
    if (enough) p.why.push_back(Text("calibration.site_no_better").with("site", fit.held_out_site));
    return p;
}

// ---- the answer
Json set_of(const Proposal& proposal, const Job& job) {
    Json set = Json::object();
    if (proposal.kind == Kind::none) return set;
    set["time_factor"] = proposal.factor;
    if (proposal.kind == Kind::factor) {
        if (job.plan.site == SiteKind::own) set["site"] = kSiteChoices[0].id;
        return set;
    }
    set["site"] = kSiteChoices[static_cast<std::size_t>(SiteKind::own)].id;
    for (std::size_t i = 0; i < kSiteConstants; ++i) set[std::string(kSite[i].key)] = proposal.values[i];
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
        after_seconds.push_back(proposal.kind == Kind::none ? step.estimated : job.timed(calibrated).step().seconds);
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
    answer["kind"] = kKinds[static_cast<std::size_t>(proposal.kind)];
    answer["why"] = std::move(why);
    answer["set"] = set_of(proposal, job);
    answer["not_identifiable"] = proposal.unknown;
    answer["warnings"] = warnings_of(read.steps);
    return answer;
}

}  // namespace fourfold
