// Reading runs: from a list of objects, or from a table as text, as a spreadsheet or a log gives it.
#include <algorithm>
#include <cmath>

#include "calibration.h"
#include "framework.h"
#include "step_time.h"

namespace fourfold {

namespace {

constexpr const char* kTime = "step_seconds";
constexpr double kFarOff = 50;  // times the estimate: another unit, or another plan
constexpr double kRepeats =
    1.2;  // repeated runs of a plan differ by 0.1 to 2 % in the published tables; by a fifth, something else differs
constexpr std::size_t kFully = 20;  // rows whose broken rules are looked at for the nearest value that works, which takes its time

// Every key that a row may have, with its short name: {"key", "link"}.
Json known_columns() {
    FieldDescriber describe;
    const Plan plan;
    visit_fields(plan, describe);
    return std::move(describe.fields);
}
std::string_view word_at(const Json& field, const char* key) { return *field[key].get_ptr<const Json::string_t*>(); }

std::string seconds_text(double seconds) { return Json(significant(seconds, 3)).dump() + " s"; }

// ---- text
std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t' || text.front() == '\r')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
    return text;
}

std::vector<std::string_view> cells_of(std::string_view line, char separator) {
    std::vector<std::string_view> cells;
    if (separator == ' ') line = trimmed(line);
    while (true) {
        const std::size_t end = line.find(separator);
        if (separator != ' ' || end != 0) cells.push_back(trimmed(line.substr(0, end)));
        if (end == std::string_view::npos) return cells;
        line.remove_prefix(end + 1);
    }
}

// "12,5" is a number where commas do not separate columns; "1,024" may mean either and stays a text, which the reader is asked about.
Json value_of_cell(std::string_view cell, char separator) {
    std::string text(cell);
    const std::size_t comma = text.find(',');
    if (separator != ',' && comma != std::string::npos && text.size() - comma != 4) text[comma] = '.';
    const bool digits = !text.empty() && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9'));
    if (digits) {
        Json number = Json::parse(text, nullptr, false);
        if (number.is_number()) return number;
    }
    if (cell == "true" || cell == "false") return cell == "true";
    return cell;
}

char separator_of(std::string_view header) {
    for (const char separator : {'\t', ';', ','})
        if (header.find(separator) != std::string_view::npos) return separator;
    return ' ';
}

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        if (c == ' ' || c == '-') c = '_';
    }
    return result;
}

void read_header(std::string_view line, const std::string& name, RunColumns& columns, Problems& problems) {
    const Json known = known_columns();
    std::vector<std::string_view> candidates = {kTime};
    for (const Json& field : known)
        for (const char* key : {"key", "link"}) candidates.push_back(word_at(field, key));
    columns = {{}, {}, separator_of(line)};
    for (const std::string_view cell : cells_of(line, columns.separator)) {
        const std::string word = lower(cell);
        std::string key = word == kTime ? word : "";
        for (const Json& field : known)
            if (word == word_at(field, "key") || word == word_at(field, "link")) key = word_at(field, "key");
        columns.names.emplace_back(cell);
        if (key.empty()) {
            const std::string_view near = closest(word, candidates);
            problems.push_back({"runs_text", "unknown", shown(Json(cell)),
                                name + ": \"" + shown(Json(cell)).get_ref<const std::string&>() + "\" is not a column that Fourfold knows.",
                                near.empty() ? "Leave it out." : "Did you mean " + std::string(near) + "?", nullptr});
        } else if (std::find(columns.keys.begin(), columns.keys.end(), key) != columns.keys.end()) {
            problems.push_back(
                {"runs_text", "unknown", shown(Json(cell)), name + ": " + key + " is there twice.", "Leave one out.", nullptr});
        }
        columns.keys.push_back(key);
    }
    if (std::find(columns.keys.begin(), columns.keys.end(), kTime) == columns.keys.end())
        problems.push_back({"runs_text", "missing", nullptr, name + ": no column is called " + kTime + ".",
                            "The first line names the columns, like gpus,tp,pp,cp,mb,step_seconds.", nullptr});
}

struct Given {
    std::string name;
    Json row;
};

// Lines to rows. Empty lines and those that begin with # say nothing.
std::vector<Given> rows_of_text(std::string_view text, RunColumns& columns, Problems& problems) {
    std::vector<Given> rows;
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // as spreadsheets begin their files
    const std::size_t problems_before = problems.size();
    bool has_header = false;
    for (std::int64_t number = 1; !text.empty(); ++number) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (trimmed(line).empty() || trimmed(line).front() == '#') continue;
        const std::string name = "Line " + grouped(number);
        if (!has_header) {
            has_header = true;
            read_header(line, name, columns, problems);
            if (problems.size() != problems_before) return rows;  // what the columns mean is not known
            continue;
        }
        const std::vector<std::string_view> cells = cells_of(line, columns.separator);
        Json row = Json::object();
        if (cells.size() != columns.keys.size()) {
            problems.push_back({"runs[" + std::to_string(rows.size()) + "]", "type", nullptr,
                                name + " has " + grouped(static_cast<std::int64_t>(cells.size())) + " values; the header names " +
                                    grouped(static_cast<std::int64_t>(columns.keys.size())) + " columns.",
                                "Give one value for each.", nullptr});
            row = nullptr;
        } else {
            for (std::size_t i = 0; i < cells.size(); ++i)
                if (!cells[i].empty()) row[columns.keys[i]] = value_of_cell(cells[i], columns.separator);
        }
        rows.push_back({name, std::move(row)});
        if (rows.size() > kMostRuns) break;
    }
    return rows;
}

// ---- rows
// The least that a step can take: its arithmetic alone, at the card's peak. Of causal attention only the half that counts.
double least_seconds(const Job& job, const Plan& plan) {
    const auto number = [](std::int64_t value) { return static_cast<double>(value); };
    const Model& m = job.model;
    const double masked = 6 * number(plan.global_batch) * number(plan.sequence_length) * number(plan.sequence_length) * number(m.layers) *
                          number(m.heads * m.head_dim);
    return (model_flop(m, plan) - masked) / (machine_of(*job.gpu, job.cluster, plan).peak * number(plan.gpus));
}

class RowReader {
 public:
    RowReader(const Job& job, Problems& problems) : job_(job), problems_(problems), base_(uncalibrated(job.plan)) {}

    std::optional<MeasuredStep> read(const Json& row, std::size_t index, const std::string& name) {
        MeasuredStep step;
        step.index = index;
        step.name = name;
        step.plan = base_;
        Problems found;
        if (!row.is_object())
            found.push_back(
                {"", "type", shown(row), "A run is an object, like {\"tensor_parallel\": 8, \"step_seconds\": 12.3}.", "", nullptr});
        else
            read_fields(row, step, found);
        if (found.empty()) check_plan(step, found);
        if (found.empty()) check_time(step, found);
        const bool fine = found.empty();
        for (Problem& problem : found) {
            problem.field = path(index) + (problem.field.empty() ? "" : "." + problem.field);
            problem.message = name + ": " + problem.message;
            problems_.push_back(std::move(problem));
        }
        if (!fine) return std::nullopt;
        return step;
    }
    static std::string path(std::size_t index) { return "runs[" + std::to_string(index) + "]"; }

 private:
    void read_fields(const Json& row, MeasuredStep& step, Problems& found) {
        FieldReader reader(row, found);
        visit_fields(step.plan, reader);
        const Json* time = reader.any(kTime);
        reader.reject_unknown();
        FieldDescriber own;
        visit_calibration(base_, own);
        own.fields.push_back(Object().add("key", "site"));
        for (const Json& field : own.fields) {
            const auto given = row.find(std::string(word_at(field, "key")));
            if (given != row.end())
                found.push_back(
                    {given.key(), "unsupported", shown(*given), given.key() + " belongs to all runs alike.", "Leave it out.", nullptr});
        }
        if (time == nullptr) {
            found.push_back({kTime, "missing", nullptr, "step_seconds is empty.", "Say how many seconds a step took.", nullptr});
            return;
        }
        if (time->is_number()) step.measured = time->get<double>();
        if (!time->is_number())
            found.push_back(
                {kTime, "type", shown(*time),
                 "step_seconds must be a number; " + shown(*time).dump(-1, ' ', false, Json::error_handler_t::replace) + " is none.",
                 "Write digits only, with a point before decimals.", nullptr});
        else if (!(step.measured > 0))
            found.push_back({kTime, "range", shown(*time), "step_seconds must be more than 0; " + time->dump() + " was given.",
                             "Say how many seconds a step took.", nullptr});
    }

    void check_plan(MeasuredStep& step, Problems& found) {
        Plan& p = step.plan;
        if (p.gpus_per_node == kAuto) p.gpus_per_node = job_.cluster != nullptr ? job_.cluster->gpus_per_node : job_.gpu->gpus_per_node;
        if (p.expert_parallel == kAuto && job_.model.experts.count == 0) p.expert_parallel = 1;
        std::string open;
        const char* first = nullptr;
        const auto known = [&](const char* key, std::int64_t value) {
            if (value != kAuto) return;
            if (first == nullptr) first = key;
            open += (open.empty() ? "" : ", ") + std::string(key);
        };
        known("tensor_parallel", p.tensor_parallel);
        known("pipeline_parallel", p.pipeline_parallel);
        known("context_parallel", p.context_parallel);
        known("micro_batch", p.micro_batch);
        known("expert_parallel", p.expert_parallel);
        if (first != nullptr)
            found.push_back({first, "missing", "auto", "say which plan you ran; not known: " + open + ".",
                             "Give it with the run, or set it for the plan above.", nullptr});
        else if (!is_legal(job_.model, p) && ++illegal_ <= kFully)
            found = broken_rules(job_.model, p);
        else if (!is_legal(job_.model, p))
            found.push_back(first_broken_rule(job_.model, p));
    }

    void check_time(MeasuredStep& step, Problems& found) {
        const Estimated e = estimated({job_.model, step.plan, *job_.gpu, job_.method, job_.cluster}, step.plan);
        step.estimated = e.seconds;
        step.fits = e.verdict.fit != Fit::does_not_fit;
        const double least = least_seconds(job_, step.plan);
        if (step.measured < least)
            found.push_back({kTime, "range", step.measured,
                             seconds_text(step.measured) + " a step is impossible: the arithmetic alone takes " + seconds_text(least) +
                                 " at the cards' peak.",
                             "Check the model, the batch and the number of GPUs.", nullptr});
        else if (step.measured > kFarOff * step.estimated)
            found.push_back({kTime, "range", step.measured,
                             seconds_text(step.measured) + " a step is more than " + grouped(static_cast<std::int64_t>(kFarOff)) +
                                 " times the estimate of " + seconds_text(step.estimated) + ".",
                             "Check the plan, and that the time is in seconds.", nullptr});
    }

    const Job& job_;
    Problems& problems_;
    Plan base_;
    std::size_t illegal_ = 0;
};

// The same plan measured twice must agree: each row that took much longer than the fastest of its plan is a problem.
void find_contradictions(const std::vector<MeasuredStep>& steps, Problems& problems) {
    const auto key = [](const Plan& plan) {
        Json all = Json::object();
        visit_fields(plan, FieldWriter(all));
        return all.dump();
    };
    std::vector<std::pair<std::string, std::size_t>> fastest;  // by plan
    const auto before = [](const auto& a, const auto& b) { return a.first < b.first; };
    std::vector<std::string> keys;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        keys.push_back(key(steps[i].plan));
        const std::pair<std::string, std::size_t> entry{keys.back(), i};
        const auto found = std::lower_bound(fastest.begin(), fastest.end(), entry, before);
        if (found == fastest.end() || found->first != entry.first)
            insert_sorted(fastest, entry, before);
        else if (steps[i].measured < steps[found->second].measured)
            found->second = i;
    }
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const auto found = std::lower_bound(fastest.begin(), fastest.end(), std::pair<std::string, std::size_t>{keys[i], 0}, before);
        const MeasuredStep &one = steps[i], &other = steps[found->second];
        if (one.measured <= kRepeats * other.measured) continue;
        problems.push_back({RowReader::path(one.index) + "." + kTime, "contradictory", one.measured,
                            one.name + " and " + other.name + " are the same plan, but took " + seconds_text(one.measured) + " and " +
                                seconds_text(other.measured) + ".",
                            "Keep the one that is right, or say in which setting they differ.", nullptr});
    }
}

}  // namespace

Plan uncalibrated(const Plan& plan) {
    const Plan none;
    Plan result = plan;
    result.time_factor = none.time_factor;
    if (result.site == SiteKind::own) result.site = none.site;
    result.site_network = none.site_network;
    result.site_pipeline = none.site_pipeline;
    result.site_fixed = none.site_fixed;
    result.site_stall = none.site_stall;
    return result;
}

RunsRead read_runs(const Json& request, const Job& job, Problems& problems) {
    RunsRead result;
    result.columns = {{"gpus", "tensor_parallel", "pipeline_parallel", "context_parallel", "micro_batch", kTime},
                      {"gpus", "tp", "pp", "cp", "mb", kTime},
                      ','};
    const auto list = request.find("runs"), text = request.find("runs_text");
    std::vector<Given> given;
    if (list != request.end() && text != request.end()) {
        problems.push_back({"runs_text", "type", nullptr, "Give the runs once: as runs or as runs_text.", "", nullptr});
    } else if (list != request.end() && !list->is_array()) {
        problems.push_back({"runs", "type", shown(*list), "runs must be a list of runs.", "", nullptr});
    } else if (list != request.end()) {
        for (std::size_t i = 0; i < std::min(list->size(), kMostRuns + 1); ++i)
            given.push_back({"Run " + grouped(static_cast<std::int64_t>(i + 1)), (*list)[i]});
    } else if (text != request.end() && !text->is_string()) {
        problems.push_back({"runs_text", "type", shown(*text), "runs_text must be a text.", "", nullptr});
    } else if (text != request.end()) {
        given = rows_of_text(text->get_ref<const std::string&>(), result.columns, problems);
    }
    if (given.size() > kMostRuns) {
        problems.push_back({list != request.end() ? "runs" : "runs_text", "too_large", nullptr,
                            "There are more than " + grouped(static_cast<std::int64_t>(kMostRuns)) + " runs.", "Keep the newest ones.",
                            nullptr});
        return result;
    }
    RowReader reader(job, problems);
    for (std::size_t i = 0; i < given.size(); ++i)
        if (text == request.end() || !given[i].row.is_null())
            if (auto step = reader.read(given[i].row, i, given[i].name)) result.steps.push_back(std::move(*step));
    find_contradictions(result.steps, problems);
    return result;
}

}  // namespace fourfold
