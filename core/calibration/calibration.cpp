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
constexpr const char* kHowKinds[] = {"none", "factor", "constant", "site"};

struct Proposal {
    Correction how;
    double spread = 1;                      // of the band
    std::vector<Text> why;                  // sentences
    std::vector<std::string_view> unknown;  // constants that these runs do not tell

    Plan with(const Plan& plan) const { return how.kind == Kind::none ? plan : how.applied_to(plan); }
};

// What one run says: a time, or bytes.
struct Said {
    const MeasuredRun* run;
    double measured, estimated;
};
std::vector<Said> times_of(const std::vector<MeasuredRun>& runs) {
    std::vector<Said> said;
    for (const MeasuredRun& run : runs)
        if (run.has_time()) said.push_back({&run, run.measured, run.estimated});
    return said;
}
std::vector<Said> memory_of(const std::vector<MeasuredRun>& runs) {
    std::vector<Said> said;
    for (const MeasuredRun& run : runs)
        if (run.has_memory()) said.push_back({&run, run.memory.allocated, run.memory.estimated});
    return said;
}

// One row per plan, in an order of its own: what is proposed must not depend on the order in which runs were given.
std::vector<FitRow> rows_of(const std::vector<Said>& said) {
    std::vector<Said> sorted;
    for (const Said& one : said)
        insert_sorted(sorted, one, [](const Said& a, const Said& b) {
            return a.run->key != b.run->key ? a.run->key < b.run->key : a.measured < b.measured;
        });
    std::vector<FitRow> rows;
    for (std::size_t i = 0, next = 0; i < sorted.size(); i = next) {
        FitRow row{sorted[i].run->plan, 0, sorted[i].estimated};
        for (next = i; next < sorted.size() && sorted[next].run->key == sorted[i].run->key; ++next) row.measured += sorted[next].measured;
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
bool is_of_memory(std::string_view key) { return key.starts_with("memory_"); }

// What the proposal for the time sets, and what undoes the rest of such a calibration that the job has.
void set_time(const Proposal& proposal, std::size_t runs, const Job& job, Json& set) {
    if (proposal.how.kind == Kind::none && proposal.spread == 1) return;
    const bool corrects = proposal.how.kind != Kind::none;
    Job proposed = job;
    proposed.plan = proposal.with(uncalibrated(job.plan));
    proposed.plan.time_spread = proposal.spread;
    proposed.plan.time_runs = static_cast<std::int64_t>(runs);
    const bool own = proposed.plan.site == SiteKind::own;
    const Json before = to_json(job), after = to_json(proposed);
    for (const std::string_view one : kCalibrationKeys) {
        const std::string key(one);
        if (is_of_memory(one)) continue;
        const bool of_site = one.starts_with("site_");
        const bool always = (one == "time_factor" && corrects) || (one == "site" && own) || one == "time_runs";
        if (of_site ? own : always || before[key] != after[key]) set[key] = after[key];
    }
}

void set_memory(const MemoryProposal& proposal, std::size_t runs, const Job& job, Json& set) {
    using Kind = MemoryCorrection::Kind;
    const MemoryCorrection& how = proposal.how;
    if (how.kind == Kind::none) return;
    set["memory_runs"] = runs;
    if (how.kind == Kind::factor || job.plan.memory_factor != how.factor) set["memory_factor"] = how.factor;
    if (how.kind == Kind::extra || job.plan.memory_extra != how.extra) set["memory_extra"] = how.extra;
}

// What takes the job's calibration away; empty when it has none.
Json removal(const Job& job) {
    Json set = Json::object();
    const Plan& p = job.plan;
    if (!p.is_calibrated() && !p.has_calibrated_memory() && p.time_runs == 0 && p.memory_runs == 0) return set;
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
    std::vector<bool> result(distances.size());
    for (std::size_t i = 0; i < distances.size(); ++i)
        result[i] = ratios.size() >= kFewestForFactor && distances[i] > std::max(kFar * usual, kLeast);
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

// A line of the text for the plan that the job asks for, what is measured left open; "" when there is no such plan.
Json text_help(const Job& job, const RunColumns& columns) {
    Job resolved = job;
    Problems ignored;
    std::string line;
    const bool known = resolve(resolved, ignored).has_value();
    Json plan = to_json(resolved);
    if (known) plan[kDataParallel] = resolved.plan.data_parallel();
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

Json warnings_of(const std::vector<MeasuredRun>& runs) {
    Problems list;
    for (const MeasuredRun& run : runs)
        if (!run.fits)
            list.push_back({indexed("runs", run.index), "does_not_fit", nullptr, Text("problem.run.does_not_fit").with("run", run.name),
                            "suggestion.run.does_not_fit", nullptr});
    return to_json(list);
}

Json sentences(const std::vector<Text>& texts) {
    Json list = Json::array();
    for (const Text& text : texts) list.push_back(text.json());
    return list;
}

}  // namespace

// The time of each run beside its estimate, before and after what is proposed.
static void compare_times(const Job& job, const std::vector<MeasuredRun>& runs, const Proposal& proposal, Json& answer) {
    std::vector<double> before, after, after_seconds;
    for (const MeasuredRun& run : runs) {
        if (!run.has_time()) continue;
        const bool as_before = proposal.how.kind == Kind::none;
        after_seconds.push_back(as_before ? run.estimated : job.timed(proposal.with(run.plan)).step().seconds);
        before.push_back(run.measured / run.estimated);
        after.push_back(run.measured / after_seconds.back());
    }
    const std::vector<bool> far = outliers(after);
    Json rows = Json::array();
    std::size_t i = 0;
    for (const MeasuredRun& run : runs) {
        const bool timed = run.has_time();
        const auto number = [&](const std::vector<double>& values) { return timed ? Json(values[i]) : Json(); };
        rows.push_back(Object()
                           .add("name", run.name)
                           .add("measure", timed ? Json(run.measure) : Json())
                           .add("step_seconds", timed ? Json(run.measured) : Json())
                           .add("estimated_seconds", run.estimated)
                           .add("ratio", number(before))
                           .add("after_seconds", number(after_seconds))
                           .add("after_ratio", number(after))
                           .add("outlier", timed && far[i])
                           .add("plan", describe_plan(run.plan))
                           .add("filled", run.filled)
                           .add("memory", nullptr));
        i += timed ? 1 : 0;
    }
    answer["rows"] = std::move(rows);
    answer["before"] = errors(before);
    answer["after"] = errors(after);
}

// The same of the memory: in allocated bytes, or in reserved ones where these were measured.
static Json compare_memory(const std::vector<MeasuredRun>& runs, const MemoryProposal& proposal, Json& rows) {
    constexpr const char* kMemoryKinds[] = {"none", "factor", "extra"};
    std::vector<double> before, after;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const MeasuredMemory& memory = runs[i].memory;
        if (!runs[i].has_memory()) continue;
        const double unit = memory.bytes / memory.allocated, corrected = proposal.how.bytes(memory.estimated);
        before.push_back(memory.allocated / memory.estimated);
        after.push_back(memory.allocated / corrected);
        rows[i]["memory"] = Object()
                                .add("reserved", memory.reserved)
                                .add("bytes", memory.bytes)
                                .add("estimated_bytes", unit * memory.estimated)
                                .add("ratio", before.back())
                                .add("after_bytes", unit * corrected)
                                .add("after_ratio", after.back());
    }
    if (before.empty()) return nullptr;
    return Object()
        .add("runs", static_cast<std::int64_t>(before.size()))
        .add("kind", kMemoryKinds[static_cast<std::size_t>(proposal.how.kind)])
        .add("why", sentences(proposal.why))
        .add("before", errors(before))
        .add("after", errors(after));
}

Json calibration_answer(const Json& request, const Job& job, Problems& problems) {
    const RunsRead read = read_runs(request, job, problems);
    Json text = text_help(job, read.columns);
    text["conventions"] = Json::array();
    for (const Choice& choice : kFlopConventions)
        if (read.asks_convention) text["conventions"].push_back(choice.id);
    Json answer = Object().add("ok", problems.empty()).add("text", std::move(text)).add("remove", removal(job));
    if (!problems.empty()) {
        answer["problems"] = to_json(problems);
        return answer;
    }
    const std::vector<Said> times = times_of(read.runs), memory = memory_of(read.runs);
    const bool of_time = !times.empty() || memory.empty();
    const Proposal proposal = propose(job, rows_of(times), times.size());
    const MemoryProposal bytes = propose_memory(rows_of(memory), memory.size());
    compare_times(job, read.runs, proposal, answer);
    answer["memory"] = compare_memory(read.runs, bytes, answer["rows"]);
    answer["usable"] = read.runs.size();
    answer["kind"] = kHowKinds[static_cast<std::size_t>(proposal.how.kind)];
    answer["why"] = sentences(of_time ? proposal.why : std::vector<Text>());
    Json set = Json::object();
    set_time(proposal, times.size(), job, set);
    set_memory(bytes, memory.size(), job, set);
    answer["set"] = std::move(set);
    answer["not_identifiable"] = proposal.unknown;
    answer["warnings"] = warnings_of(read.runs);
    return answer;
}

}  // namespace fourfold
