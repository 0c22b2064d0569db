#include "evidence/columns.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "evidence/memory_rows.h"

namespace fourfold::tests {

namespace {

constexpr double kGibi = 1024.0 * 1024 * 1024;

// Four significant digits: the page shows three.
double brief(double value) {
    if (value == 0) return 0;
    const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - 3);
    return std::round(value / unit) * unit;
}
Json shortest(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", brief(value));
    return Json::parse(text);
}

// Where `value` stands in `list`, which it joins.
std::size_t index_in(Json& list, const Json& value) {
    const auto found = std::find(list.begin(), list.end(), value);
    const auto index = static_cast<std::size_t>(found - list.begin());
    if (found == list.end()) list.push_back(value);
    return index;
}

constexpr const char* kStandings[] = {"fit", "seen", "blind"};
constexpr const char* kVerdicts[] = {"fits", "at_risk", "does_not_fit"};

template <std::size_t Count>
std::size_t index_of(const char* const (&names)[Count], const std::string& name) {
    return static_cast<std::size_t>(std::find(std::begin(names), std::end(names), name) - std::begin(names));
}

bool judges_fit(const AnsweredRow& one) {
    const std::string& outcome = one.row->outcome;
    return (outcome == "ran" || outcome == "oom") && one.source->head.value("judges_fit", true);
}

void add_plan(Json& table, const Plan& plan) {
    Json& columns = table["columns"];
    columns["gpus"].push_back(plan.gpus);
    columns["tensor_parallel"].push_back(plan.tensor_parallel);
    columns["pipeline_parallel"].push_back(plan.pipeline_parallel);
    columns["context_parallel"].push_back(plan.context_parallel);
    columns["micro_batch"].push_back(plan.micro_batch);
    columns["sequence_length"].push_back(index_in(table["lengths"], plan.sequence_length));
}

void add_names(Json& table, const AnsweredRow& one) {
    const Answered& a = one.answer;
    Json& columns = table["columns"];
    const EvidenceSource& source = *one.source;
    columns["source"].push_back(index_in(table["sources"], Json{{"title", source.head["source"]}, {"url", source.head["url"]}}));
    columns["standing"].push_back(index_of(kStandings, standing_of(one)));
    columns["model"].push_back(index_in(table["models"], Json{{"label", a.model}, {"parameters", a.parameters}, {"experts", a.experts}}));
    columns["gpu"].push_back(index_in(table["gpus"], one.row->request["gpu"]));
    columns["framework"].push_back(index_in(table["frameworks"], a.framework));
    columns["precision"].push_back(index_in(table["precisions"], a.precision));
}

// Values that stand several times one after the other: each value, and how many times.
Json repeated(const Json& values) {
    Json runs = Json::array();
    for (const Json& value : values) {
        if (runs.empty() || runs[runs.size() - 2] != value) runs.push_back(value), runs.push_back(0);
        runs.back() = runs.back().get<int>() + 1;
    }
    return runs;
}

}  // namespace

Json columns_of(const std::vector<AnsweredRow>& rows) {
    Json table{{"standings", kStandings}, {"verdicts", kVerdicts}, {"slow_network", 0}, {"columns", Json::object()}};
    for (const char* list : {"sources", "models", "gpus", "frameworks", "precisions", "lengths"}) table[list] = Json::array();
    for (const AnsweredRow& one : rows) {
        const Answered& a = one.answer;
        const bool slow = on_stalled_network(one);
        const bool timed = one.row->ran() && one.row->step_seconds > 0;
        const auto stage = one.row->row.value("stage", std::size_t{0});
        const bool weighed = is_memory_row(*one.row) && stage < a.peak_bytes.size();
        if (timed && slow) table["slow_network"] = table["slow_network"].get<int>() + 1;
        if (!(timed && !slow) && !weighed && !judges_fit(one)) continue;
        if (a.plan.optimizer_offload > 0) continue;
        add_names(table, one);
        Json& columns = table["columns"];
        add_plan(table, a.plan);
        columns["seconds"].push_back(timed && !slow ? shortest(one.row->step_seconds) : Json(0));
        columns["estimated_seconds"].push_back(timed && !slow ? shortest(a.seconds) : Json(0));
        columns["gib"].push_back(weighed ? shortest(one.row->row["peak_bytes"].get<double>() / kGibi) : Json(0));
        columns["estimated_gib"].push_back(weighed ? shortest(a.peak_bytes[stage] / kGibi) : Json(0));
        columns["out_of_memory"].push_back(one.row->outcome == "oom" ? 1 : 0);
        columns["verdict"].push_back(judges_fit(one) ? Json(index_of(kVerdicts, a.verdict)) : Json(-1));
    }
    for (auto& [name, column] : table["columns"].items()) column = repeated(column);
    return table;
}

}  // namespace fourfold::tests
