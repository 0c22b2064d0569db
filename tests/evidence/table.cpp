#include "evidence/table.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "evidence/longest.h"
#include "evidence/memory_rows.h"
#include "model/catalog.h"
#include "search/order.h"

namespace fourfold::tests {

namespace {

double rounded(double value) { return std::round(value * 1e4) / 1e4; }

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// The smallest split first, then the largest micro-batch.
double rule_of_thumb(const Json& request) {
    double split = 1;
    for (const char* degree : {"tensor_parallel", "pipeline_parallel", "context_parallel"}) split *= request.value(degree, 1.0);
    return split - 1e-4 * request.value("micro_batch", 1.0);
}

struct Choice {
    Plan plan;
    double estimated, measured, rule;
};
// The page's own order: by time, and among plans that the estimate cannot tell apart the least exposed.
std::vector<const Choice*> as_the_page_orders(const std::vector<Choice>& job) {
    std::vector<Estimated> plans;
    for (std::size_t i = 0; i < job.size(); ++i) plans.push_back({job[i].plan, static_cast<double>(i), 0, {}, job[i].estimated});
    std::vector<const Choice*> ordered;  // `bytes`, which the order does not look at, says which it was
    for (const Ranked& one : in_order(std::move(plans))) ordered.push_back(&job[static_cast<std::size_t>(one.estimate.bytes)]);
    return ordered;
}
void add_regret(TimeErrors& errors, const std::vector<Choice>& job) {
    if (job.size() < 3) return;
    double best = job[0].measured;
    for (const Choice& one : job) best = std::min(best, one.measured);
    const auto by_rule = std::min_element(job.begin(), job.end(), [](const Choice& a, const Choice& b) { return a.rule < b.rule; });
    const auto ordered = as_the_page_orders(job);
    ++errors.jobs;
    errors.regret += 1 - best / ordered.front()->measured;
    errors.rule_regret += 1 - best / by_rule->measured;
    errors.in_first_three += std::any_of(ordered.begin(), ordered.begin() + 3, [&](const Choice* one) { return one->measured <= best; });
}

TimeErrors errors_of(const std::vector<const AnsweredRow*>& rows) {
    TimeErrors errors;
    std::vector<double> sizes, signs;
    std::map<std::pair<std::string, std::int64_t>, std::vector<Choice>> jobs;
    for (const AnsweredRow* one : rows) {
        const double measured = one->row->step_seconds, estimated = one->answer.seconds, error = measured / estimated - 1;
        sizes.push_back(std::abs(error)), signs.push_back(error);
        errors.mean += std::abs(error) / static_cast<double>(rows.size());
        errors.most = std::max(errors.most, std::abs(error));
        errors.inside += measured >= one->answer.low && measured <= one->answer.high ? 1.0 / static_cast<double>(rows.size()) : 0;
        jobs[{one->source->name, one->row->job}].push_back({one->answer.plan, estimated, measured, rule_of_thumb(one->row->request)});
    }
    errors.rows = static_cast<std::int64_t>(rows.size());
    errors.median = median(sizes), errors.bias = median(signs);
    for (const auto& job : jobs) add_regret(errors, job.second);
    if (errors.jobs > 0) errors.regret /= static_cast<double>(errors.jobs), errors.rule_regret /= static_cast<double>(errors.jobs);
    return errors;
}

// Area under the ROC curve.
double area(const std::vector<double>& ran, const std::vector<double>& failed) {
    double ordered = 0;
    for (const double a : ran)
        for (const double b : failed) ordered += a < b ? 1 : a == b ? 0.5 : 0;
    return ran.empty() || failed.empty() ? 0 : ordered / (static_cast<double>(ran.size()) * static_cast<double>(failed.size()));
}

}  // namespace

std::string family_of(const AnsweredRow& row) { return row.row->row.value("family", row.source->name); }
std::string standing_of(const AnsweredRow& row) {
    const Json& head = row.source->head;
    return head.value("families", Json::object()).value(family_of(row), head.value("standing", ""));
}
bool is_timed(const AnsweredRow& row) { return row.row->ran() && row.row->step_seconds > 0; }
bool on_stalled_network(const AnsweredRow& row) { return family_of(row) == "nanotron-slow-network"; }

std::vector<AnsweredRow> answer_all(const std::vector<EvidenceSource>& sources, std::vector<std::string>& defects) {
    std::vector<AnsweredRow> answered;
    for (const EvidenceSource& source : sources)
        for (const EvidenceRow& row : source.rows) {
            std::string problem;
            if (auto answer = answer_to(row.request, problem))
                answered.push_back({&source, &row, std::move(*answer)});
            else
                defects.push_back(source.name + " " + row.id + ": " + problem);
        }
    return answered;
}

std::map<std::string, TimeErrors> time_errors(const std::vector<AnsweredRow>& rows) {
    std::map<std::string, std::vector<const AnsweredRow*>> families;
    for (const AnsweredRow& row : rows)
        if (is_timed(row)) families[family_of(row)].push_back(&row);
    std::map<std::string, TimeErrors> errors;
    for (const auto& [name, family] : families) errors[name] = errors_of(family);
    return errors;
}

std::map<std::string, VerdictErrors> verdict_errors(const std::vector<AnsweredRow>& rows) {
    std::map<std::string, VerdictErrors> errors;
    std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> shares;
    for (const AnsweredRow& row : rows) {
        if (row.row->outcome == "failed" || row.row->outcome.empty() || row.source->head.value("judges_fit", true) == false) continue;
        const bool ran = row.row->ran();
        const Gpu* gpu = catalog().gpu(row.row->request.value("gpu", ""));
        const std::string name = row.source->name == "fujii2024" ? family_of(row) : row.source->name;
        VerdictErrors& e = errors[name];
        ++(ran ? e.ran : e.failed);
        if (row.answer.verdict == "fits") ++e.fits, e.fits_ran += ran ? 1 : 0;
        if (row.answer.verdict == "does_not_fit") ++e.no, e.no_ran += ran ? 1 : 0;
        (ran ? shares[name].first : shares[name].second).push_back(row.answer.whole_bytes / (gpu == nullptr ? 1 : gpu->memory_bytes));
    }
    for (auto& [name, e] : errors) e.area = area(shares[name].first, shares[name].second);
    return errors;
}

Json table_of(const std::vector<EvidenceSource>& sources, const std::vector<AnsweredRow>& rows) {
    Json table = Json::object();
    table["sources"] = Json::object();
    for (const EvidenceSource& source : sources) {
        Json one = Json::object();
        for (const char* key : {"source", "url", "stack", "standing"}) one[key] = source.head.value(key, Json());
        one["rows"] = source.rows.size();
        table["sources"][source.name] = std::move(one);
    }
    std::map<std::string, std::string> source_of, standing, of_memory;
    for (const AnsweredRow& row : rows) {
        const std::string family = family_of(row);
        source_of[family] = row.source->name;
        standing[family] = standing_of(row);
        of_memory[family] = row.source->head.value("memory_standing", standing[family]);
    }
    table["time"] = Json::object();
    for (const auto& [name, e] : time_errors(rows)) {
        Json one{{"source", source_of[name]}, {"standing", standing[name]},      {"rows", e.rows},
                 {"mean", rounded(e.mean)},   {"median", rounded(e.median)},     {"bias", rounded(e.bias)},
                 {"most", rounded(e.most)},   {"inside_band", rounded(e.inside)}};
        if (e.jobs > 0)  // plans of one job were compared
            one.update(Json{{"jobs", e.jobs},
                            {"regret", rounded(e.regret)},
                            {"in_first_three", e.in_first_three},
                            {"rule_regret", rounded(e.rule_regret)}});
        table["time"][name] = std::move(one);
    }
    table["verdict"] = Json::object();
    for (const auto& [name, e] : verdict_errors(rows)) {
        Json one{{"ran", e.ran},           {"failed", e.failed},   {"area", rounded(e.area)},     {"fits", e.fits},
                 {"fits_ran", e.fits_ran}, {"does_not_fit", e.no}, {"does_not_fit_ran", e.no_ran}};
        if (const auto its = standing.find(name); its != standing.end()) one["standing"] = its->second;  // of a family; else of its source
        table["verdict"][name] = std::move(one);
    }
    table["memory"] = Json::object();
    for (const auto& [name, e] : memory_residuals(rows)) {
        Json one{{"source", source_of[name]},      {"standing", of_memory[name]},  {"rows", e.peak.rows},
                 {"mean", rounded(e.peak.mean())}, {"most", rounded(e.peak.most)}, {"bias", rounded(e.peak.bias())}};
        if (e.peak_large.rows > 0) one.update(Json{{"large_rows", e.peak_large.rows}, {"large", rounded(e.peak_large.mean())}});
        if (e.between.rows > 0) one.update(Json{{"between_rows", e.between.rows}, {"between", rounded(e.between.mean())}});
        table["memory"][name] = std::move(one);
    }
    table["longest"] = Json::object();
    for (const auto& [name, e] : longest_errors(longest_rows(rows)))
        table["longest"][name] = Json{{"source", source_of[name]}, {"rows", e.rows},          {"within", rounded(e.within)},
                                      {"mean", rounded(e.mean)},   {"bias", rounded(e.bias)}, {"most", rounded(e.most)}};
    return table;
}

}  // namespace fourfold::tests
