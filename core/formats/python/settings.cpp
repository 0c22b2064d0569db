#include "formats/python/settings.h"

#include <algorithm>

#include "base/table.h"
#include "formats/python/arguments.h"
#include "formats/readers.h"

namespace fourfold {

namespace {

constexpr std::string_view kPrograms[] = {"nanogpt"};

}  // namespace

std::vector<Entry> python_settings(std::string_view text, const std::vector<Entry>& all, const NamesSet& set) {
    constexpr std::size_t kMostNames = 2'000;
    const PythonTokens tokens = with_usual_environment(python_tokens(text), set);
    const PythonArguments reader(tokens, all, set, false);
    std::vector<Entry> entries;
    for (std::size_t i = 0, found = 0; i + 2 < tokens.size() && found < kMostNames; ++i) {
        const bool begins = (i == 0 || tokens[i - 1].kind == PythonToken::line_end) && tokens[i].column == 0;
        if (!begins || tokens[i].kind != PythonToken::name || !has_sign_at(tokens, i + 1, "=")) continue;
        const std::string& name = tokens[i].value;
        if (name == "config_keys") break;  // of nanoGPT: its settings end, and its program begins
        ++found;
        std::size_t inside = i + 2;
        if (calls_at(tokens, inside, "dict")) {
            reader.arguments(inside + 1, entries, name + ".");
        } else if (has_sign_at(tokens, inside, "{")) {
            reader.dictionary(inside, name + ".", entries);
        } else {
            const auto said =
                std::find_if(all.begin(), all.end(), [&](const Entry& one) { return one.key == name && one.line == tokens[i].line; });
            if (said != all.end()) entries.push_back(*said);
        }
    }
    return entries;
}

std::vector<Entry> python_settings(std::string_view text, const NamesSet& set) {
    std::vector<Entry> all;
    for (const PythonScope& scope : read_python(text, set)) all.insert(all.end(), scope.entries.begin(), scope.entries.end());
    return python_settings(text, all, set);
}

std::optional<ReadJobs> read_python_settings(std::string_view text, const std::vector<Entry>& all, const NamesSet& set) {
    ReadJob job;
    job.in.entries = python_settings(text, all, set);
    for (const std::string_view program : kPrograms) {
        const FormatReader* const reader = reader_called(program);
        if (reader->likeness(job.in.entries) < 1) continue;
        job.line = job.in.entries[0].line;
        job.in.answers = set;
        if (const auto gpus = set.find("gpus"); gpus != set.end())
            if (const auto number = number_in(gpus->second); number && *number >= 1 && *number < 1e6)
                job.in.job["gpus"] = static_cast<std::int64_t>(*number);
        reader->read(job.in);
        ReadJobs read{std::string(program), true, {}, {}};
        add_job(read, std::move(job));
        return read;
    }
    return std::nullopt;
}

bool assigns_alone(std::string_view text) {
    constexpr int kFewest = 3;
    int found = 0;
    for (Lines lines(text); found < kFewest && lines.next();) {
        const std::string_view name = lines.line.substr(0, lines.line.find(" = "));
        found += name.size() < lines.line.size() && !name.empty() && starts_name(name[0]) && std::all_of(name.begin(), name.end(), in_name)
                     ? 1
                     : 0;
    }
    return found == kFewest;
}

}  // namespace fourfold
