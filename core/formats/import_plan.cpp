#include "formats/import_plan.h"

#include <algorithm>

#include "base/text.h"
#include "formats/launch.h"
#include "formats/read_megatron.h"

namespace fourfold {

namespace {

constexpr int kLikeEnough = 3;  // arguments of Megatron-LM that make a command one

// The names of a job's arguments that the environment before a command sets by convention (Megatron-MoE-ModelZoo).
constexpr std::pair<const char*, const char*> kSettings[] = {
    {"TP", "tensor_model_parallel_size"}, {"PP", "pipeline_model_parallel_size"}, {"CP", "context_parallel_size"},
    {"EP", "expert_model_parallel_size"}, {"ETP", "expert_tensor_parallel_size"}, {"VPP", "num_virtual_stages_per_pipeline_rank"},
    {"MBS", "micro_batch_size"},          {"GBS", "global_batch_size"},           {"SEQ_LEN", "seq_length"}};

// What a reader is asked for where a script does not say it.
constexpr const char* kAsked[] = {"gpus", "sequence_length", "micro_batch"};

void add_settings(const ShellCommand& command, Import& in) {
    for (const auto& [name, key] : kSettings)
        for (const auto& [given, value] : command.settings)
            if (given == name && !in.has(key)) {
                Entry entry{key, given, value, command.line};
                entry.open = open_names(value);
                in.entries.push_back(std::move(entry));
            }
}

// Nothing is started, but lists of arguments are there to be started by another file.
ShellCommand all_lists(const ShellScript& script) {
    ShellCommand command;
    for (const auto& [name, words] : script.variables)
        for (const ShellWord& word : words)
            if (word.text.find("--") != std::string::npos || (!command.words.empty() && words.size() > 1)) command.words.push_back(word);
    std::stable_sort(command.words.begin(), command.words.end(), [](const ShellWord& a, const ShellWord& b) { return a.line < b.line; });
    command.line = command.words.empty() ? 0 : command.words[0].line;
    return command;
}

Import read_command(const ShellScript& script, const ShellCommand& command, const std::map<std::string, std::string>& set) {
    Import in;
    in.entries = arguments_of(command);
    add_settings(command, in);
    for (const auto& [name, value] : set)
        if ((name == "vocab_size" || std::find(std::begin(kAsked), std::end(kAsked), name) != std::end(kAsked)) && !in.has(name))
            in.entries.push_back({name, name, value});
    for (const char* field : kAsked) in.set(field, in.whole(field, field));
    for (const auto& [name, reason] : command.settings)
        if (name.empty())
            for (const std::string& open : open_names(reason)) in.touched.push_back(open);
    read_launch(script, command, in);
    read_megatron(in);
    return in;
}

std::string title_of(const ShellCommand& command) {
    for (const ShellWord& word : command.words)
        if (word.text.ends_with(".py")) return without_marks(word.text.substr(word.text.rfind('/') + 1));
    return command.words.empty() ? "" : without_marks(command.words[0].text).substr(0, 80);
}

// What was open in one of the jobs, with the values that the text compares it with.
Json questions_of(const ShellScript& script, const std::vector<std::string>& names) {
    constexpr std::size_t kMost = 50;
    Json questions = Json::array();
    for (const std::string& name : names) {
        if (questions.size() == kMost) break;
        const auto choices = script.choices.find(name);
        questions.push_back(Object()
                                .add("name", name.substr(0, 200))
                                .add("choices", choices == script.choices.end() ? Json::array() : Json(choices->second)));
    }
    return questions;
}

std::optional<std::map<std::string, std::string>> read_set(const Json& request, Problems& problems) {
    std::map<std::string, std::string> set;
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

}  // namespace

Json import_answer(const Json& request, Problems& problems) {
    const auto text = request.find("text");
    const auto* given = text == request.end() ? nullptr : text->get_ptr<const Json::string_t*>();
    if (given == nullptr) problems.push_back({"text", "type", nullptr, "problem.import_text", {}, nullptr});
    const auto set = read_set(request, problems);
    if (!problems.empty()) return nullptr;
    const ShellScript script = read_shell(*given, *set);
    std::vector<ShellCommand> commands;
    for (const ShellCommand& command : script.commands)
        if (commands.size() < 50 && megatron_likeness(arguments_of(command)) >= kLikeEnough) commands.push_back(command);
    if (commands.empty())
        if (ShellCommand lists = all_lists(script); megatron_likeness(arguments_of(lists)) >= kLikeEnough)
            commands.push_back(std::move(lists));
    if (commands.empty()) {
        problems.push_back({"text", "format", nullptr, "problem.import_format", "suggestion.import_format", nullptr});
        return nullptr;
    }
    Json jobs = Json::array();
    std::vector<std::string> open;
    for (const ShellCommand& command : commands) {
        const Import in = read_command(script, command, *set);
        for (const std::string& name : in.touched)
            if (std::find(open.begin(), open.end(), name) == open.end()) open.push_back(name);
        Json job = to_json(in);
        job["title"] = title_of(command);
        job["line"] = command.line;
        jobs.push_back(std::move(job));
    }
    return Object()
        .add("ok", true)
        .add("format", "megatron-lm")
        .add("complete", script.complete)
        .add("jobs", std::move(jobs))
        .add("questions", questions_of(script, open));
}

}  // namespace fourfold
