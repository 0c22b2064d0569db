#include "calibration/columns.h"

#include <algorithm>

#include "base/embedded.h"
#include "base/table.h"
#include "calibration/measures.h"
#include "plan/plan.h"

namespace fourfold {

namespace {

constexpr std::size_t kMostColumns = 200;   // more than there are keys: such a header is wrong, and it is not given back
constexpr std::size_t kLongestColumn = 64;  // no name of a column is longer

// The columns of runs where nobody names others: keys, and their short names in a link.
constexpr std::pair<const char*, const char*> kUsualColumns[] = {
    {"gpus", "gpus"},           {"tensor_parallel", "tp"}, {"pipeline_parallel", "pp"},
    {"context_parallel", "cp"}, {"micro_batch", "mb"},     {kStepSeconds, kStepSeconds},
};

std::string_view text_at(const Json& object, const char* key) { return *object[key].get_ptr<const Json::string_t*>(); }

}  // namespace

std::string bare_name(std::string_view name) {
    constexpr std::string_view kIgnored = " \t-_()[]";
    std::string bare;
    for (const char c : name)
        if (kIgnored.find(c) == std::string_view::npos) bare += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return bare;
}

const ColumnNames& ColumnNames::known() {
    static const ColumnNames names;
    return names;
}

ColumnNames::ColumnNames() {
    FieldDescriber describe;
    const Plan plan;
    visit_fields(plan, describe);
    for (const Json& field : describe.fields)
        for (const char* name : {"key", "link"}) add(text_at(field, name), text_at(field, "key"));
    for (const Measure& measure : kMeasures) add(measure.key, measure.key);
    for (const char* key : {kNodes, kDataParallel, kFlopConvention}) add(key, key);
    const Json known = Json::parse(embedded::columns.front().text, nullptr, false);
    for (auto entry = known.begin(); entry != known.end(); ++entry)
        for (const Json& name : entry.value()) add(*name.get_ptr<const Json::string_t*>(), entry.key());
}

void ColumnNames::add(std::string_view written, std::string_view key) {
    written_.emplace_back(written);
    bare_.push_back(bare_name(written));
    keys_.emplace_back(key);
}

std::string_view ColumnNames::key_of(std::string_view name) const {
    const auto found = std::find(bare_.begin(), bare_.end(), bare_name(name));
    return found == bare_.end() ? std::string_view() : keys_[static_cast<std::size_t>(found - bare_.begin())];
}

std::string_view ColumnNames::closest_to(std::string_view name) const {
    const std::vector<std::string_view> all(bare_.begin(), bare_.end());
    const std::string_view near = name.size() > kLongestColumn ? std::string_view() : closest(bare_name(name), all);
    const auto found = std::find(bare_.begin(), bare_.end(), near);
    return near.empty() ? near : written_[static_cast<std::size_t>(found - bare_.begin())];
}

std::string RunColumns::header() const {
    std::string line;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) line += separator;
        line += names[i];
    }
    return line;
}

bool RunColumns::has(std::string_view key) const { return std::find(keys.begin(), keys.end(), key) != keys.end(); }

std::string_view RunColumns::name_of(std::string_view key) const {
    const auto found = std::find(keys.begin(), keys.end(), key);
    return found == keys.end() ? key : names[static_cast<std::size_t>(found - keys.begin())];
}

RunColumns usual_columns() {
    RunColumns columns;
    for (const auto& [key, name] : kUsualColumns) columns.keys.emplace_back(key), columns.names.emplace_back(name);
    return columns;
}

// One problem for each column that is not known or there twice: a line may have a hundred thousand of them.
static void read_column(std::string_view cell, std::size_t line, RunColumns& columns, FirstProblems& problems) {
    const ColumnNames& known = ColumnNames::known();
    const std::string_view key = cell.size() > kLongestColumn ? std::string_view() : known.key_of(cell);
    const bool fresh = !key.empty() && !columns.has(key);
    columns.names.emplace_back(cell);
    columns.keys.emplace_back(key);
    if (fresh) return;
    if (!problems.keeps_more()) return problems.count();
    const Json given = shown(Json(cell));
    const std::string_view near = key.empty() ? known.closest_to(cell) : std::string_view();
    if (!key.empty())
        problems.add("", "unknown", given,
                     Text("problem.runs.column_twice").with("line", line).with("first", columns.name_of(key)).with("second", given),
                     "suggestion.runs.leave_one_out");
    else
        problems.add("", "unknown", given, Text("problem.runs.unknown_column").with("line", line).with("column", given),
                     near.empty() ? Text("suggestion.leave_out") : did_you_mean(near));
}

RunColumns read_header(std::string_view line, std::size_t number, Problems& problems) {
    FirstProblems found("runs_text");
    RunColumns columns{{}, {}, separator_of(line)};
    std::vector<std::string_view> cells;
    split_cells(line, columns.separator, cells);
    for (const std::string_view cell : cells) read_column(cell, number, columns, found);
    // A line that names no column at all is no header: that alone is said.
    if (std::any_of(columns.keys.begin(), columns.keys.end(), [](const std::string& key) { return !key.empty(); })) found.move_to(problems);
    const bool measures = std::any_of(std::begin(kMeasures), std::end(kMeasures), [&](const Measure& one) { return columns.has(one.key); });
    if (columns.names.size() > kMostColumns) columns.names.clear(), columns.keys.clear();
    if (!measures)
        problems.push_back({"runs_text", "missing", nullptr, Text("problem.runs.no_measure").with("line", number).with("key", kStepSeconds),
                            Text("suggestion.runs.header").with("header", usual_columns().header()), nullptr});
    return columns;
}

}  // namespace fourfold
