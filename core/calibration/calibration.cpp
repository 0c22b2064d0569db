#include "calibration/calibration.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "base/text.h"
#include "time/step_time.h"

namespace fourfold {

namespace {

std::string percent_text(double part) {
    const double percent = 100 * part;
    if (percent < 0.05) return "0 %";
    return number_text(percent, percent < 10 ? 2 : 3) + " %";
}
std::string count_text(std::size_t count, const char* what) {
    return joined({grouped(static_cast<std::int64_t>(count)), " ", what, count == 1 ? "" : "s"});
}

// ---- what to propose
enum class Kind { none, factor, site };
constexpr const char* kKinds[] = {"none", "factor", "site"};

struct Proposal {
    Kind kind = Kind::none;
    std::string why;
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

std::string too_few(std::size_t runs, std::size_t plans) {
    if (runs == 0) return "No run yet.";
    if (runs == 1) return "One run alone never rescales: what is off in it need not be off in other plans. Add two runs of other plans.";
    if (plans == 1)
        return joined({count_text(runs, "run"), " of one plan count as one, and one alone never rescales. Add two runs of other plans."});
    return "Two plans are too few to tell a rule from chance. Add one run of another plan.";
}

Proposal propose(const Job& job, const std::vector<FitRow>& rows, std::size_t runs) {
    Proposal p;
    if (rows.size() < kFewestForFactor) {
        p.why = too_few(runs, rows.size());
        return p;
    }
    std::vector<double> ratios;
    ratios.reserve(rows.size());
    for (const FitRow& row : rows) ratios.push_back(row.measured / row.estimated);
    const double factor = median(ratios);
    constexpr double kLeast = 0.2, kMost = 5;  // time_factor's range
    if (factor < kLeast || factor > kMost) {
        p.why = joined({"The runs took ", number_text(factor, 3),
                        " times the estimate: no calibration mends that. Check the model, the GPU, the batch and the unit of the times."});
        return p;
    }
    p.kind = Kind::factor;
    p.factor = significant(factor, 4);
    const std::string counted = joined({count_text(runs, "run"), runs == rows.size() ? "" : " of ",
                                        runs == rows.size() ? std::string() : count_text(rows.size(), "plan")});
    const std::string simple = joined({counted, ": the median of measured over estimated is ", number_text(factor, 3), "."});
    constexpr const char* kPredicted = " Each predicted from the others, the runs lie ";
    if (rows.size() < kFewestForSite) {
        const HeldOut held = factor_held_out(rows);
        p.why = joined({simple, kPredicted, percent_text(held.factor), " off on average, against ", percent_text(held.none),
                        " without a calibration."});
        return p;
    }
    const SiteFit fit = fit_site(job, rows);
    const std::string with_site = percent_text(fit.held_out_site), with_factor = percent_text(fit.held_out_factor),
                      without = percent_text(fit.held_out_none);
    if (!(fit.held_out_site < fit.held_out_factor) || fit.factor < kLeast || fit.factor > kMost) {
        p.why = joined({simple, kPredicted, with_factor, " off on average, against ", without,
                        " without a calibration. Constants fitted to your cluster do no better (", with_site, ")."});
        return p;
    }
    p.kind = Kind::site;
    p.factor = fit.factor;
    p.values = fit.values;
    const bool both = fit.factor != 1;
    p.why = joined({counted, ": constants of your cluster", both ? ", and a factor of " : "",
                    both ? number_text(fit.factor, 3) + "," : std::string(), " fit better than one factor.", kPredicted, with_site,
                    " off on average, against ", with_factor, " with the factor alone and ", without, " without a calibration."});
    for (std::size_t i = 0; i < kSiteConstants; ++i) {
        if (fit.identified[i]) continue;
        p.why = joined({p.why, p.unknown.empty() ? " Not identifiable from these runs: " : ", ", kSite[i].name});
        p.unknown.push_back(kSite[i].key);
    }
    if (!p.unknown.empty()) p.why += ".";
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
    constexpr double kSigma = 1.4826, kFar = 3, kLeast = 0.1;
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

Json describe_plan(const Plan& p) {
    return Object()
        .add("gpus", p.gpus)
        .add("sequence_length", p.sequence_length)
        .add("global_batch", p.global_batch)
        .add("tensor_parallel", p.tensor_parallel)
        .add("context_parallel", p.context_parallel)
        .add("pipeline_parallel", p.pipeline_parallel)
        .add("micro_batch", p.micro_batch)
        .add("expert_parallel", p.expert_parallel);
}

// A line of the text for the plan that the job asks for, its time left open; "" when there is no such plan.
Json text_help(const Job& job, const RunColumns& columns) {
    Job resolved = job;
    Problems ignored;
    std::string header, line;
    const bool known = resolve(resolved, ignored).has_value();
    const Json plan = to_json(resolved);
    for (std::size_t i = 0; i < columns.keys.size(); ++i) {
        if (i > 0) header += columns.separator, line += columns.separator;
        header += columns.names[i];
        const auto value = plan.find(columns.keys[i]);
        if (value == plan.end()) continue;
        const auto* text = value->get_ptr<const Json::string_t*>();
        const std::string written = text != nullptr ? *text : value->dump();
        const bool quoted = written.find(columns.separator) != std::string::npos;
        line += quoted ? "\"" + written + "\"" : written;
    }
    return Object().add("header", header).add("line", known ? line : std::string());
}

Json warnings_of(const std::vector<MeasuredStep>& steps) {
    Problems list;
    for (const MeasuredStep& step : steps)
        if (!step.fits)
            list.push_back({joined({"runs[", std::to_string(step.index), "]"}), "does_not_fit", nullptr,
                            joined({step.name, ": by the estimate of its memory this run does not fit its GPUs."}),
                            "It is used all the same; check its settings.", nullptr});
    return to_json(list);
}

}  // namespace

Json calibration_answer(const Json& request, const Job& job, Problems& problems) {
    const RunsRead read = read_runs(request, job, problems);
    Json answer = Object().add("ok", problems.empty()).add("text", text_help(job, read.columns)).add("remove", removal(job));
    if (!problems.empty()) {
        answer["problems"] = to_json(problems);
        return answer;
    }
    const std::vector<MeasuredStep>& steps = read.steps;
    const Proposal proposal = propose(job, rows_of(steps), steps.size());
    std::vector<double> before, after, after_seconds;
    for (const MeasuredStep& step : steps) {
        const Plan calibrated = proposal.with(step.plan);
        after_seconds.push_back(proposal.kind == Kind::none ? step.estimated
                                                            : StepTimer(job.model, *job.gpu, job.cluster, calibrated).seconds(calibrated));
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
    answer["usable"] = steps.size();
    answer["kind"] = kKinds[static_cast<std::size_t>(proposal.kind)];
    answer["why"] = proposal.why;
    answer["set"] = set_of(proposal, job);
    answer["not_identifiable"] = proposal.unknown;
    answer["before"] = errors(before);
    answer["after"] = errors(after);
    answer["warnings"] = warnings_of(steps);
    return answer;
}

}  // namespace fourfold
