// Reading runs: from a list of objects, or from a table as text, as a spreadsheet or a log gives it.
#include "calibration/runs.h"

#include <algorithm>
#include <cmath>

#include "base/table.h"
#include "base/text.h"
#include "calibration/calibration.h"
#include "calibration/cells.h"
#include "calibration/run_reader.h"

namespace fourfold {

namespace {

constexpr double kRepeats =
    1.2;  // repeated runs of a plan differ by 0.1 to 2 % in the published tables; by a fifth, something else differs

std::string path(std::size_t index) { return indexed("runs", index); }

struct Given {
    Text name;
    Json row;
    Problems wrong;  // already known
};

// ---- text
Given given_line(std::string_view line, std::size_t number, const RunColumns& columns, std::vector<std::string_view>& cells) {
    split_cells(line, columns.separator, cells);
    join_units(columns, cells);
    Given given{Text("row.line").with("number", number), Json::object(), {}};
    if (cells.size() != columns.keys.size())
        report(given.wrong, "", "type", nullptr,
               Text("problem.run.cells").with("values", cells.size()).with("columns", columns.keys.size()), "suggestion.run.cells");
    for (std::size_t i = 0; i < cells.size() && given.wrong.empty(); ++i)
        if (!cells[i].empty()) given.row[columns.keys[i]] = cell_value(cells[i], columns.keys[i], columns.separator);
    return given;
}

// Lines to rows. Empty lines and those that begin with # say nothing.
std::vector<Given> rows_of_text(std::string_view text, RunColumns& columns, Problems& problems) {
    std::vector<Given> rows;
    const std::size_t problems_before = problems.size();
    bool has_header = false;
    std::vector<std::string_view> cells;
    for (Lines lines(without_mark(text)); rows.size() <= kMostRuns && lines.next();) {
        const std::string_view bare = trimmed(lines.line);
        if (bare.empty() || bare.front() == '#') continue;
        if (has_header) {
            rows.push_back(given_line(lines.line, lines.number, columns, cells));
            continue;
        }
        has_header = true;
        columns = read_header(lines.line, lines.number, problems);
        if (problems.size() != problems_before) break;  // what the columns mean is not known
    }
    return rows;
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

// ---- all together
// The same plan measured twice must agree: each row that took much longer than the fastest of its plan is a problem.
void find_contradictions(const std::vector<MeasuredRun>& runs, FirstProblems& problems) {
    for (const MeasuredRun& one : runs) {
        const MeasuredRun* fastest = &one;
        for (const MeasuredRun& other : runs)
            if (other.has_time() && other.key == one.key && other.measured < fastest->measured) fastest = &other;
        if (one.measured <= kRepeats * fastest->measured) continue;
        problems.keep({under(path(one.index), one.measure), "contradictory", one.measured,
                       Text("problem.run.contradictory")
                           .with("run", one.name)
                           .with("other", fastest->name)
                           .with("seconds", one.measured)
                           .with("other_seconds", fastest->measured),
                       "suggestion.run.contradictory", nullptr});
    }
}

// A column is called as the text calls it.
void use_names(const RunColumns& columns, Text& message) {
    for (const char* arg : {"key", "other"}) {
        const auto key = message.args().find(arg);
        const auto* known = key == message.args().end() ? nullptr : key->get_ptr<const Json::string_t*>();
        if (known != nullptr) message.with(arg, columns.name_of(*known));
    }
}

// That of all runs which name none.
CountedFlop read_convention(const Json& request, Problems& problems) {
    CountedFlop convention = CountedFlop::asked;
    FieldReader(request, problems).choice({kFlopConvention}, convention, kFlopConventions);
    return convention;
}

}  // namespace

Plan uncalibrated(const Plan& plan) {
    const Plan none;
    Plan result = plan;
    result.time_factor = none.time_factor;
    result.time_spread = none.time_spread;
    result.time_runs = none.time_runs;
    result.memory_factor = none.memory_factor;
    result.memory_extra = none.memory_extra;
    result.memory_runs = none.memory_runs;
    if (result.site == SiteKind::own) result.site = none.site;
    for (const FittedConstant& constant : kFitted) result.*constant.of_plan = none.*constant.of_plan;
    return result;
}

RunsRead read_runs(const Json& request, const Job& job, Problems& problems) {
    RunsRead result;
    result.columns = usual_columns();
    const CountedFlop convention = read_convention(request, problems);
    const std::vector<Given> all_given = given_runs(request, result.columns, problems);
    FirstProblems all(request.contains("runs") ? "runs" : "runs_text");
    RunReader reader(job, convention, result.columns);
    std::size_t index = 0;
    for (const Given& given : all_given) {
        MeasuredRun run;
        run.index = index++, run.name = given.name;
        Problems found = given.wrong;
        const bool usable = found.empty() && reader.read(given.row, run, found);
        for (Problem& problem : found) {
            problem.field = under(path(run.index), problem.field);
            use_names(result.columns, problem.message);
            problem.message = Text("problem.in_run").with("run", given.name).with("message", problem.message);
            all.keep(std::move(problem));
        }
        if (usable) result.runs.push_back(std::move(run));
    }
    result.asks_convention = reader.asks_convention();
    reader.ask_for_convention(result.columns, problems);
    find_contradictions(result.runs, all);
    all.move_to(problems);
    return result;
}

}  // namespace fourfold
