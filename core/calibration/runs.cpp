// Reading runs: from a list of objects, or from a table as text, as a spreadsheet or a log gives it.
#include <algorithm>
#include <cmath>

#include "base/table.h"
#include "base/text.h"
#include "calibration/calibration.h"
#include "plan/framework.h"
#include "plan/rules.h"
#include "time/step_time.h"

namespace fourfold {

namespace {

constexpr const char* kTime = "step_seconds";
constexpr double kFarOff = 50;  // times the estimate: another unit, or another plan
constexpr double kRepeats =
    1.2;  // repeated runs of a plan differ by 0.1 to 2 % in the published tables; by a fifth, something else differs
constexpr std::size_t kMostColumns = 200;    // more than there are keys: such a header is wrong, and it is not given back
constexpr std::size_t kAllCells = SIZE_MAX;  // of a line: how many there are is said
constexpr std::size_t kFully = 20;           // rows whose broken rules are looked at for the nearest value that works, which takes its time

// Every key that a row may have, with its short name: {"key", "link"}.
Json known_columns() {
    FieldDescriber describe;
    const Plan plan;
    visit_fields(plan, describe);
    return std::move(describe.fields);
}
std::string_view word_at(const Json& field, const char* key) { return *field[key].get_ptr<const Json::string_t*>(); }

void report(Problems& problems, std::string_view field, const char* rule, const Json& value, Text message, Text suggestion) {
    problems.push_back({std::string(field), rule, value, std::move(message), std::move(suggestion), nullptr});
}

// The columns of runs where nobody names others: keys, and their short names in a link.
constexpr std::pair<const char*, const char*> kUsualColumns[] = {
    {"gpus", "gpus"},           {"tensor_parallel", "tp"}, {"pipeline_parallel", "pp"},
    {"context_parallel", "cp"}, {"micro_batch", "mb"},     {kTime, kTime},
};
RunColumns usual_columns() {
    RunColumns columns;
    for (const auto& [key, name] : kUsualColumns) columns.keys.emplace_back(key), columns.names.emplace_back(name);
    return columns;
}

// ---- text
// "1,024" may mean either and stays a text, which the reader is asked about.
Json value_of_cell(std::string_view cell, char separator) {
    const std::string text = with_point(cell, separator);
    const bool digits = !text.empty() && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9'));
    if (digits) {
        Problems ignored;
        const auto number = parse(text, text.size(), ignored);
        if (number && number->is_number()) return *number;
    }
    if (cell == "true" || cell == "false") return cell == "true";
    return cell;
}

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        if (c == ' ' || c == '-') c = '_';
    }
    return result;
}

std::string path(std::size_t index) { return indexed("runs", index); }

// What the names of columns may be, and which keys were named before.
class ColumnNames {
 public:
    ColumnNames() {
        add(kTime, kTime);
        for (const Json& field : known_)
            for (const char* name : {"key", "link"}) add(word_at(field, name), word_at(field, "key"));
    }
    // nullptr: no key has this name.
    const std::string_view* key_of(std::string_view name) const {
        const auto found = std::find(names_.begin(), names_.end(), name);
        return found == names_.end() ? nullptr : &keys_[static_cast<std::size_t>(found - names_.begin())];
    }
    std::string_view closest_to(std::string_view name) const { return closest(name, names_); }
    // Whether the key is named for the first time.
    bool take(std::string_view key) {
        const bool fresh = !has(key);
        if (fresh) taken_.push_back(key);
        return fresh;
    }
    bool has(std::string_view key) const { return std::find(taken_.begin(), taken_.end(), key) != taken_.end(); }

 private:
    void add(std::string_view name, std::string_view key) {
        names_.push_back(name);
        keys_.push_back(key);
    }
    const Json known_ = known_columns();
    std::vector<std::string_view> names_, keys_, taken_;
};

// One problem for each column that is not known or there twice: a line may have a hundred thousand of them.
void read_column(std::string_view cell, std::size_t line, ColumnNames& known, RunColumns& columns, FirstProblems& problems) {
    const std::string word = lower(cell);
    const std::string_view* key = known.key_of(word);
    columns.names.emplace_back(cell);
    columns.keys.emplace_back(key == nullptr ? std::string_view() : *key);
    if (key != nullptr && known.take(*key)) return;
    if (!problems.keeps_more()) return problems.count();
    const Json given = shown(Json(cell));
    const std::string_view near = key == nullptr ? known.closest_to(word) : std::string_view();
    if (key != nullptr)
        problems.add("", "unknown", given, Text("problem.runs.column_twice").with("line", line).with("key", *key),
                     "suggestion.runs.leave_one_out");
    else
        problems.add("", "unknown", given, Text("problem.runs.unknown_column").with("line", line).with("column", given),
                     near.empty() ? Text("suggestion.leave_out") : did_you_mean(near));
}

void read_header(std::string_view line, std::size_t number, RunColumns& columns, Problems& problems) {
    ColumnNames known;
    FirstProblems found("runs_text");
    columns = {{}, {}, separator_of(line)};
    std::vector<std::string_view> cells;
    split_cells(line, columns.separator, cells, kAllCells);
    for (const std::string_view cell : cells) read_column(cell, number, known, columns, found);
    found.move_to(problems);
    if (columns.names.size() > kMostColumns) columns.names.clear(), columns.keys.clear();
    if (!known.has(kTime))
        report(problems, "runs_text", "missing", nullptr, Text("problem.runs.no_time").with("line", number).with("key", kTime),
               Text("suggestion.runs.header").with("header", usual_columns().header()));
}

struct Given {
    Text name;
    Json row;
    Problems wrong;  // already known
};

// Lines to rows. Empty lines and those that begin with # say nothing.
std::vector<Given> rows_of_text(std::string_view text, RunColumns& columns, Problems& problems) {
    std::vector<Given> rows;
    const std::size_t problems_before = problems.size();
    bool has_header = false;
    std::vector<std::string_view> cells;
    for (Lines lines(without_mark(text)); rows.size() <= kMostRuns && lines.next();) {
        const std::string_view bare = trimmed(lines.line);
        if (bare.empty() || bare.front() == '#') continue;
        if (!has_header) {
            has_header = true;
            read_header(lines.line, lines.number, columns, problems);
            if (problems.size() != problems_before) break;  // what the columns mean is not known
            continue;
        }
        split_cells(lines.line, columns.separator, cells, kAllCells);
        Given given{Text("row.line").with("number", lines.number), Json::object(), {}};
        if (cells.size() != columns.keys.size())
            report(given.wrong, "", "type", nullptr,
                   Text("problem.run.cells").with("values", cells.size()).with("columns", columns.keys.size()), "suggestion.run.cells");
        for (std::size_t i = 0; i < cells.size() && given.wrong.empty(); ++i)
            if (!cells[i].empty()) given.row[columns.keys[i]] = value_of_cell(cells[i], columns.separator);
        rows.push_back(std::move(given));
    }
    return rows;
}

// ---- rows
// The least that a step can take: its arithmetic alone, at the card's peak. Of causal attention only the half that counts.
double least_seconds(const Job& job, const Plan& plan) {
    const double flop = model_flop(job.model, plan, FlopConvention::causal);
    return flop / (machine_of(*job.gpu, job.cluster, plan).peak * static_cast<double>(plan.gpus));
}

void read_fields(const Json& row, MeasuredStep& step, Problems& found) {
    FieldReader reader(row, found);
    visit_fields(step.plan, reader);
    const Json* time = reader.any(kTime);
    reader.reject_unknown();
    for (const std::string_view key : kCalibrationKeys)
        if (const auto given = row.find(std::string(key)); given != row.end())
            report(found, key, "unsupported", shown(*given), Text("problem.run.of_all").with("key", key), "suggestion.leave_out");
    if (time == nullptr)
        return report(found, kTime, "missing", nullptr, Text("problem.run.no_time").with("key", kTime), "suggestion.run.time");
    if (!time->is_number())
        return report(found, kTime, "type", shown(*time), Text("problem.run.time_no_number").with("key", kTime).with("value", shown(*time)),
                      "suggestion.run.digits");
    step.measured = time->get<double>();
    if (!(step.measured > 0))
        report(found, kTime, "range", shown(*time), Text("problem.run.time_too_small").with("key", kTime).with("value", shown(*time)),
               "suggestion.run.time");
}

// Says which degrees are still open, else which rules the plan breaks: fully, while there are few such rows.
void check_plan(const Job& job, MeasuredStep& step, std::size_t illegal_before, Problems& found) {
    Plan& p = step.plan;
    close_options(p);
    if (p.gpus_per_node == kAuto) p.gpus_per_node = job.cluster != nullptr ? job.cluster->gpus_per_node : job.gpu->gpus_per_node;
    if (p.expert_parallel == kAuto && job.model.experts.count == 0) p.expert_parallel = 1;
    const std::pair<const char*, std::int64_t> degrees[] = {{"tensor_parallel", p.tensor_parallel},
                                                            {"pipeline_parallel", p.pipeline_parallel},
                                                            {"context_parallel", p.context_parallel},
                                                            {"micro_batch", p.micro_batch},
                                                            {"expert_parallel", p.expert_parallel}};
    Json open = Json::array();
    const char* first = nullptr;
    for (const auto& [key, value] : degrees) {
        if (value != kAuto) continue;
        if (first == nullptr) first = key;
        open.push_back(key);
    }
    if (first != nullptr)
        report(found, first, "missing", "auto", Text("problem.run.open").with("keys", std::move(open)), "suggestion.run.open");
    else if (!is_legal(job.model, p))
        found = illegal_before < kFully ? broken_rules(job.model, p) : Problems{first_broken_rule(job.model, p)};
}

void check_time(const Job& job, MeasuredStep& step, Problems& found) {
    const Estimated e = estimated({job.model, step.plan, *job.gpu, job.method, job.cluster}, step.plan);
    step.estimated = e.seconds;
    step.fits = e.verdict.fit != Fit::does_not_fit;
    const double least = least_seconds(job, step.plan);
    if (step.measured < least)
        report(found, kTime, "range", step.measured,
               Text("problem.run.faster_than_peak").with("seconds", step.measured).with("least", least), "suggestion.run.job");
    else if (step.measured > kFarOff * step.estimated)
        report(found, kTime, "range", step.measured,
               Text("problem.run.far_off").with("seconds", step.measured).with("times", kFarOff).with("estimated", step.estimated),
               "suggestion.run.plan");
}

// The same plan measured twice must agree: each row that took much longer than the fastest of its plan is a problem.
void find_contradictions(const std::vector<MeasuredStep>& steps, FirstProblems& problems) {
    for (const MeasuredStep& one : steps) {
        const MeasuredStep* fastest = &one;
        for (const MeasuredStep& other : steps)
            if (other.key == one.key && other.measured < fastest->measured) fastest = &other;
        if (one.measured > kRepeats * fastest->measured)
            problems.keep({under(path(one.index), kTime), "contradictory", one.measured,
                           Text("problem.run.contradictory")
                               .with("run", one.name)
                               .with("other", fastest->name)
                               .with("seconds", one.measured)
                               .with("other_seconds", fastest->measured),
                           "suggestion.run.contradictory", nullptr});
    }
}

// The rows as they were given; problems of the request as a whole.
std::vector<Given> given_runs(const Json& request, RunColumns& columns, Problems& problems) {
    const auto list = request.find("runs"), text = request.find("runs_text");
    std::vector<Given> given;
    if (list != request.end() && (!list->is_array() || text != request.end())) {
        report(problems, "runs", "type", shown(*list), "problem.runs.no_list", {});
    } else if (list != request.end()) {
        for (std::size_t i = 0; i < list->size() && i <= kMostRuns; ++i)
            given.push_back({Text("row.run").with("number", i + 1), (*list)[i], {}});
    } else if (text != request.end()) {
        if (const auto* lines = text->get_ptr<const Json::string_t*>())
            given = rows_of_text(*lines, columns, problems);
        else
            report(problems, "runs_text", "type", shown(*text), Text("problem.no_text_value").with("key", "runs_text"), {});
    }
    if (given.size() > kMostRuns) {
        given.clear();
        problems.clear();
        report(problems, list != request.end() ? "runs" : "runs_text", "too_large", nullptr,
               Text("problem.runs.too_many").with("most", kMostRuns), "suggestion.runs.newest");
    }
    return given;
}

}  // namespace

std::string RunColumns::header() const {
    std::string line;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) line += separator;
        line += names[i];
    }
    return line;
}

Plan uncalibrated(const Plan& plan) {
    const Plan none;
    Plan result = plan;
    result.time_factor = none.time_factor;
    result.time_spread = none.time_spread;
    if (result.site == SiteKind::own) result.site = none.site;
    for (const FittedConstant& constant : kFitted) result.*constant.of_plan = none.*constant.of_plan;
    return result;
}

// A row's plan and time, or what is wrong with them; `illegal_before` rows were.
static Problems read_run(const Given& given, const Job& job, std::size_t illegal_before, MeasuredStep& step) {
    Problems found = given.wrong;
    if (!found.empty()) return found;
    if (given.row.is_object())
        read_fields(given.row, step, found);
    else
        report(found, "", "type", shown(given.row), "problem.run.no_object", {});
    if (found.empty()) check_plan(job, step, illegal_before, found);
    if (found.empty()) check_time(job, step, found);
    return found;
}

RunsRead read_runs(const Json& request, const Job& job, Problems& problems) {
    RunsRead result;
    result.columns = usual_columns();
    const Plan base = uncalibrated(job.plan);
    FirstProblems all(request.contains("runs") ? "runs" : "runs_text");
    std::size_t illegal = 0, index = 0;
    for (const Given& given : given_runs(request, result.columns, problems)) {
        MeasuredStep step{index++, given.name, {}, base, 0, 0, true};
        Problems found = read_run(given, job, illegal, step);
        for (Problem& problem : found) {
            problem.field = under(path(step.index), problem.field);
            problem.message = Text("problem.in_run").with("run", given.name).with("message", problem.message);
            all.keep(std::move(problem));
        }
        if (!found.empty()) {
            ++illegal;
            continue;
        }
        Json fields = Json::object();
        visit_fields(std::as_const(step.plan), FieldWriter(fields));
        step.key = fields.dump();
        result.steps.push_back(std::move(step));
    }
    find_contradictions(result.steps, all);
    all.move_to(problems);
    return result;
}

}  // namespace fourfold
