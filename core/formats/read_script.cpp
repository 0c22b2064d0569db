// Launch scripts: what each command would start.
#include <algorithm>

#include "base/text.h"
#include "formats/launch.h"
#include "formats/read_jobs.h"
#include "formats/read_megatron.h"

namespace fourfold {

namespace {

constexpr int kLikeEnough = 3;  // arguments of Megatron-LM that make a command one

// The names of a job's arguments that the environment before a command sets by convention (Megatron-MoE-ModelZoo).
constexpr std::pair<const char*, const char*> kSettings[] = {
    {"TP", "tensor_model_parallel_size"}, {"PP", "pipeline_model_parallel_size"}, {"CP", "context_parallel_size"},
    {"EP", "expert_model_parallel_size"}, {"ETP", "expert_tensor_parallel_size"}, {"VPP", "num_virtual_stages_per_pipeline_rank"},
    {"MBS", "micro_batch_size"},          {"GBS", "global_batch_size"},           {"SEQ_LEN", "seq_length"}};

// What a reader is asked for where a script does not say it, and the argument that would.
constexpr std::pair<const char*, const char*> kAsked[] = {{"gpus", "gpus"},
                                                          {"vocab_size", "vocab_size"},
                                                          {"seq_length", "seq_length"},
                                                          {"sequence_length", "seq_length"},
                                                          {"micro_batch_size", "micro_batch_size"},
                                                          {"micro_batch", "micro_batch_size"}};

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

Import read_command(const ShellScript& script, const ShellCommand& command, const NamesSet& set) {
    Import in;
    in.entries = arguments_of(command);
    add_settings(command, in);
    for (const auto& [name, key] : kAsked)
        if (const auto answer = set.find(name); answer != set.end() && !in.has(key)) in.entries.push_back({key, key, answer->second});
    for (const auto& [name, reason] : command.settings)
        if (name.empty())
            for (const std::string& open : open_names(reason)) in.touched.push_back(open);
    in.set("gpus", in.whole("gpus", "gpus"));
    read_launch(script, command, in);
    read_megatron(in);
    return in;
}

std::string title_of(const ShellCommand& command) {
    for (const ShellWord& word : command.words)
        if (word.text.ends_with(".py")) return without_marks(word.text.substr(word.text.rfind('/') + 1));
    return command.words.empty() ? "" : without_marks(command.words[0].text).substr(0, 80);
}

}  // namespace

std::optional<ReadJobs> read_script(std::string_view text, const NamesSet& set) {
    const ShellScript script = read_shell(text, set);
    std::vector<ShellCommand> commands;
    for (const ShellCommand& command : script.commands)
        if (commands.size() < 50 && megatron_likeness(arguments_of(command)) >= kLikeEnough) commands.push_back(command);
    if (commands.empty())
        if (ShellCommand lists = all_lists(script); megatron_likeness(arguments_of(lists)) >= kLikeEnough)
            commands.push_back(std::move(lists));
    if (commands.empty()) return std::nullopt;
    ReadJobs read{"megatron-lm", script.complete, {}, script.choices};
    for (const ShellCommand& command : commands) read.jobs.push_back({title_of(command), command.line, read_command(script, command, set)});
    return read;
}

}  // namespace fourfold
