#include "formats/import_plan.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "formats/documents.h"
#include "formats/python/python.h"
#include "formats/python/settings.h"
#include "formats/read/jobs.h"
#include "formats/read/others.h"
#include "formats/read/run_length.h"
#include "formats/shell/launched_program.h"
#include "plan/framework.h"

namespace fourfold {

namespace {

// What was open in one of the jobs, with the values that the text compares it with.
Json questions_of(const ReadJobs& read, const std::vector<std::string>& names) {
    constexpr std::size_t kMostQuestions = 50;
    Json questions = Json::array();
    for (const std::string& name : names) {
        if (questions.size() == kMostQuestions) break;
        const auto choices = read.choices.find(name);
        questions.push_back(Object()
                                .add("name", name.substr(0, 200))
                                .add("choices", choices == read.choices.end() ? Json::array() : Json(choices->second)));
    }
    return questions;
}

std::optional<NamesSet> read_set(const Json& request, Problems& problems) {
    NamesSet set;
    const auto given = request.find("set");
    if (given == request.end() || given->is_null()) return set;
    const bool fine = given->is_object() && given->size() <= 100 && std::all_of(given->begin(), given->end(), [](const Json& value) {
                          const auto* text = value.get_ptr<const Json::string_t*>();
                          return text != nullptr && text->size() <= 10'000;
                      });
    if (!fine) {
        problems.push_back({"set", "type", nullptr, "problem.import_set", {}, nullptr});
        return std::nullopt;
    }
    for (auto entry = given->begin(); entry != given->end(); ++entry) set[entry.key()] = entry->get<std::string>();
    return set;
}

void refuse_other(std::string_view program, const char* field, Problems& problems) {
    problems.push_back(
        {field, "format", nullptr, Text("problem.import_other").with("program", program), "suggestion.import_other", nullptr});
}

void refuse_idle(std::string_view program, Problems& problems) {
    problems.push_back(
        {"text", "format", nullptr, Text("problem.import_idle").with("program", program), "suggestion.import_idle", nullptr});
}

// "# configs/sft.yaml" above settings is the file that they are; so is the last `configs/sft.yaml` of the line before them.
std::string named_above(std::string_view text, std::size_t at, std::string_view before) {
    std::string nameless = std::to_string(at) + kNameless;
    for (std::size_t end = before.rfind('`'); end != before.npos && end > 0;) {
        const std::size_t begin = before.rfind('`', end - 1);
        const std::string_view name = begin == before.npos ? "" : before.substr(begin + 1, end - begin - 1);
        if (name.find(' ') == name.npos &&
            (name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json") || name.ends_with(".toml")))
            nameless = name;
        end = begin;
    }
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::size_t begin = line.find_first_not_of("# "), end = line.find_last_not_of(" \r");
    if (!line.starts_with('#') || begin > end) return nameless;
    const std::string_view name = line.substr(begin, end + 1 - begin);
    const bool plain = std::all_of(name.begin(), name.end(),
                                   [](unsigned char c) { return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-' || c == '/'; });
    return plain && name.find('.') != std::string_view::npos ? std::string(name) : nameless;
}

// Whether the first two lines that say something are "key: value": settings, whatever the fence calls them.
bool begins_settings(std::string_view text) {
    for (int found = 0; found < 2 && !text.empty();) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        const std::size_t begin = std::min(line.find_first_not_of(" \r"), line.size()), colon = line.find(':');
        if (begin == line.size() || line[begin] == '#') continue;
        const auto in_key = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-'; };
        if (colon == line.npos || colon == begin || !std::all_of(line.begin() + begin, line.begin() + colon, in_key)) return false;
        if (colon + 1 < line.size() && line[colon + 1] != ' ' && line[colon + 1] != '\r') return false;
        ++found;
    }
    return true;
}

// What stands between the fences of a page in Markdown, each line where it stood, settings as a file that a script writes; "" where there
// are none.
std::string fenced(std::string_view text) {
    constexpr std::string_view kSettings[] = {"yaml", "yml", "toml", "json"};
    std::string all;
    std::string_view above;
    bool inside = false, some = false, file = false;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size()), mark = text.find_first_not_of(' ', at);
        const bool fence = mark < end && text.substr(mark, 3) == "```";
        if (fence) {
            inside = !inside, some = true;
            const std::string_view tag = text.substr(mark + 3, end - mark - 3);
            if (file) all += "EOF";
            const std::string_view rest = text.substr(std::min(end + 1, text.size()));
            const std::string_view start = rest.substr(std::min(rest.find_first_not_of(" \n\r\t"), rest.size()), 40);
            const bool object = start.starts_with('{') && start.find_first_not_of(" \n\r\t", 1) == start.find('"');
            file = inside && (object || begins_settings(rest) ||
                              std::any_of(std::begin(kSettings), std::end(kSettings), [&](auto one) { return tag.starts_with(one); }));
            if (file) all += joined({"cat <<'EOF' >", named_above(rest, end, above)});
        } else if (!inside && mark < end) {
            above = text.substr(mark, end - mark);
        }
        if (inside && !fence) all += text.substr(at, end - at);
        all += '\n';
        at = end + 1;
    }
    return some ? all : "";
}

// DeepSpeed's settings above or below a command, or what a run printed: as a file that a script writes. No line moves.
std::string with_settings(std::string all) {
    for (std::size_t at = 0, begin = 0; begin < all.size(); begin = at + 1) {
        at = std::min(all.find('\n', begin), all.size());
        if (all.compare(begin, at - begin, "{") != 0) continue;
        const std::size_t end = all.find("\n}", at);
        if (end == all.npos) break;
        const std::string body = all.substr(std::min(at + 1, end), end - std::min(at + 1, end));
        if ((end + 2 < all.size() && all[end + 2] != '\n') || body.find("\"zero_optimization\"") == body.npos) {
            at = end;
            continue;
        }
        const std::string file = joined({"cat <<'EOF' >", std::to_string(begin), std::string(1, kNameless), "\n{", body, "}\nEOF"});
        all.replace(begin, end + 2 - begin, file);
        at = begin + file.size();
    }
    return all;
}

// Fields of the job that "set" says, and no line of the text.
Json answered_in(const Import& in, const Json& set) {
    constexpr std::pair<const char*, const char*> kAnswers[] = {
        {"gpus", "gpus"}, {"sequence_length", "seq_length"}, {"micro_batch", "micro_batch_size"}, {"global_batch", "global_batch_size"}};
    Json fields = Json::array();
    for (const auto& [field, key] : kAnswers) {
        const auto is_said = [&, name = std::string_view(field)](const Entry& entry) {
            return entry.line > 0 && entry.fate == Fate::used &&
                   std::find(entry.fields.begin(), entry.fields.end(), name) != entry.fields.end();
        };
        if (in.job.contains(field) && (set.contains(field) || set.contains(key)) &&
            std::none_of(in.entries.begin(), in.entries.end(), is_said))
            fields.push_back(field);
    }
    return fields;
}

// A script, or settings; nothing where no format is recognised.
std::optional<ReadJobs> read_jobs(const Json& request, Problems& problems) {
    const auto entries = request.find("entries"), text = request.find("text");
    const bool is_list = entries != request.end();
    const auto* script = text == request.end() ? nullptr : text->get_ptr<const Json::string_t*>();
    if (!is_list && script == nullptr) problems.push_back({"text", "type", nullptr, "problem.import_text", {}, nullptr});
    const auto set = read_set(request, problems);
    if (is_list) {
        std::vector<Entry> settings = read_settings(*entries, set.value_or(NamesSet()), problems);
        if (const std::string_view other = other_program(settings); problems.empty() && !other.empty())
            refuse_other(other, "entries", problems);
        return problems.empty() ? read_setting_jobs(std::move(settings), *set) : std::nullopt;
    }
    if (!problems.empty()) return std::nullopt;
    const bool python = is_python(*script);
    const std::string inside = fenced(*script);
    const bool page = !inside.empty() && !python && !script->starts_with("#!");
    auto read = page ? read_script(inside, *set) : std::nullopt;
    const bool apart = inside.empty() && !python && script->find("<<") == script->npos;
    if (!read) read = python ? read_launched_program(*script, *set) : read_script(apart ? with_settings(*script) : *script, *set);
    if (!read && !page && !inside.empty()) read = read_script(inside, *set);
    if (!read && !python && assigns_alone(*script)) read = read_python_settings(*script, *set);
    if (read) return read;
    if (const std::string_view other = other_program(*script); !other.empty())
        refuse_other(other, "text", problems);
    else if (const std::string_view idle = idle_program(*script); !idle.empty())
        refuse_idle(idle, problems);
    return std::nullopt;
}

// Where a file shares something out and says nothing of copies of the shards there is one, whatever fits.
void close_copies(Json& job) {
    if (job.contains("shard_replicas") || job.value("zero", "none") == "none") return;
    const auto may_have = [id = job.value("framework", "")](const FrameworkRow& row) {
        return row.id == id && row.shard_copies == Proposed::if_nothing_else_fits;
    };
    if (std::any_of(kFrameworkRows.begin(), kFrameworkRows.end(), may_have)) job["shard_replicas"] = 1;
}

}  // namespace

Json import_answer(const Json& request, Problems& problems) {
    FieldReader reader(request, problems);
    for (const char* key : {"text", "entries", "set"}) reader.any(key);
    reader.reject_unknown();
    auto read = read_jobs(request, problems);
    if (!problems.empty()) return nullptr;
    if (!read) {
        problems.push_back({request.contains("entries") ? "entries" : "text", "format", nullptr, "problem.import_format",
                            "suggestion.import_format", nullptr});
        return nullptr;
    }
    Json jobs = Json::array();
    std::vector<std::string> open;
    for (ReadJob& one : read->jobs) {
        read_run_length(one.in, read->format);
        close_copies(one.in.job);
        for (const std::string& name : one.in.touched)
            if (std::find(open.begin(), open.end(), name) == open.end()) open.push_back(name);
        Json job = to_json(one.in);
        job["title"] = one.title.empty() ? std::string(label_of_format(read->format)) : one.title;
        job["line"] = one.line;
        job["answered"] = answered_in(one.in, request.value("set", Json::object()));
        jobs.push_back(std::move(job));
    }
    return Object()
        .add("ok", true)
        .add("format", read->format)
        .add("complete", read->complete)
        .add("jobs", std::move(jobs))
        .add("questions", questions_of(*read, open));
}

}  // namespace fourfold
