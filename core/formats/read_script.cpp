// Launch scripts: what each command would start.
#include <algorithm>
#include <cctype>
#include <set>

#include "base/text.h"
#include "formats/documents.h"
#include "formats/launch.h"
#include "formats/named_model.h"
#include "formats/read_jobs.h"
#include "formats/read_megatron.h"
#include "formats/readers.h"
#include "formats/recipe_command.h"

namespace fourfold {

namespace {

constexpr int kLikeEnough = 3;  // arguments of Megatron-LM that make a command one

// The names of a job's arguments that the environment before a command sets by convention (Megatron-MoE-ModelZoo).
constexpr std::pair<const char*, const char*> kSettings[] = {{"TP", "tensor_model_parallel_size"},
                                                             {"PP", "pipeline_model_parallel_size"},
                                                             {"CP", "context_parallel_size"},
                                                             {"EP", "expert_model_parallel_size"},
                                                             {"ETP", "expert_tensor_parallel_size"},
                                                             {"VPP", "num_virtual_stages_per_pipeline_rank"},
                                                             {"MBS", "micro_batch_size"},
                                                             {"GBS", "global_batch_size"},
                                                             {"SEQ_LEN", "seq_length"},
                                                             {"MICRO_BATCH_SIZE", "micro_batch_size"},
                                                             {"GLOBAL_BATCH_SIZE", "global_batch_size"},
                                                             {"SEQ_LENGTH", "seq_length"},
                                                             {"NUM_LAYERS", "num_layers"},
                                                             {"HIDDEN_SIZE", "hidden_size"}};

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

// Nothing is started, but lists of arguments are there to be started by another file. A flag keeps its values, wherever they were set; one
// that two lists have stands once.
ShellCommand all_lists(const ShellScript& script) {
    std::vector<ShellWords> flags;
    ShellCommand command;
    for (const auto& [name, words] : script.variables) {
        const std::size_t before = flags.size();
        for (const ShellWord& word : words) {
            if (word.text.find("--") != std::string::npos)
                flags.push_back({word});
            else if (flags.size() > before)
                flags.back().push_back(word);
            else if (word.text.ends_with(".py"))
                command.words.push_back(word);
        }
    }
    std::stable_sort(flags.begin(), flags.end(), [](const ShellWords& a, const ShellWords& b) { return a[0].line < b[0].line; });
    std::set<std::string> met;
    std::erase_if(flags, [&](const ShellWords& flag) {
        std::string text = std::to_string(flag[0].line);
        for (const ShellWord& word : flag) text += " " + word.text;
        return !met.insert(std::move(text)).second;
    });
    command.line = flags.empty() ? 0 : flags[0][0].line;
    for (ShellWords& flag : flags) command.words.insert(command.words.end(), flag.begin(), flag.end());
    return command;
}

// Whether names of this convention are set for a script that is not here.
bool sets_a_job(const ShellCommand& command) {
    const auto has = [&](std::initializer_list<std::string_view> names) {
        return std::any_of(command.settings.begin(), command.settings.end(), [&](const auto& one) {
            return !one.second.empty() && std::find(names.begin(), names.end(), one.first) != names.end();
        });
    };
    return has({"TP"}) && has({"PP"}) && has({"MBS", "MICRO_BATCH_SIZE", "GBS", "GLOBAL_BATCH_SIZE"});
}

// The script's own variables, with the line of the first.
ShellCommand all_variables(const ShellScript& script) {
    ShellCommand command;
    for (const auto& [name, words] : script.variables) {
        if (words.size() != 1) continue;
        command.settings.emplace_back(name, words[0].text);
        const bool first = words[0].line > 0 && (command.line == 0 || words[0].line < command.line);
        if (name == "TP" || name == "PP" || first) command.line = words[0].line;
    }
    return command;
}

// "model.tensor_model_parallel_size=8", also with Hydra's "+" before it; "mixed_precision=bf16_mixed" beside such ones.
struct Override {
    std::string key;
    std::size_t value;
};
std::optional<Override> override_in(const std::string& word) {
    const std::size_t begin = std::min(word.find_first_not_of('+'), word.size());
    const std::size_t cut = word.find('=');
    if (cut == std::string::npos || cut <= begin || std::isalpha(static_cast<unsigned char>(word[begin])) == 0) return std::nullopt;
    const auto in_path = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '@' || c == '/';
    };
    std::string key = word.substr(begin, cut - begin);
    return std::all_of(key.begin(), key.end(), in_path) ? std::optional(Override{std::move(key), cut + 1}) : std::nullopt;
}

// Hydra takes quotes that the shell left: model.recompute_granularity='"full"'.
std::string unquoted(const std::string& text) {
    const bool quoted = text.size() > 1 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0];
    return quoted ? text.substr(1, text.size() - 2) : text;
}

// Takes them out of the command's words.
std::vector<Entry> overrides_of(ShellCommand& command) {
    std::vector<Entry> entries;
    ShellWords rest;
    for (const ShellWord& word : command.words) {
        const auto found = override_in(word.text);
        if (!found) {
            rest.push_back(word);
            continue;
        }
        Entry entry{found->key, found->key, unquoted(word.text.substr(found->value)), word.line};
        entry.open = open_names(word.text);
        entries.push_back(std::move(entry));
    }
    const bool paths =
        std::any_of(entries.begin(), entries.end(), [](const Entry& entry) { return entry.key.find('.') != std::string::npos; });
    const bool beside_file = entries.size() > 1 && std::any_of(rest.begin(), rest.end(), [](const ShellWord& word) {
                                 return word.text.ends_with(".yml") || word.text.ends_with(".yaml");
                             });
    if (!paths && !beside_file) return {};
    command.words = std::move(rest);
    return entries;
}

// "bash run.sh --num-layers 8": the rest of what it would start stands in that script.
bool starts_script(const ShellCommand& command) {
    const auto flag = std::find_if(command.words.begin(), command.words.end(), [](const ShellWord& word) { return word.text[0] == '-'; });
    return std::any_of(command.words.begin(), flag, [](const ShellWord& word) { return word.text.ends_with(".sh"); });
}

// torchtitan's run_train.sh takes these names for arguments; the first is that of its TOML in other scripts too.
constexpr std::pair<const char*, const char*> kTorchtitanNames[] = {
    {"CONFIG_FILE", "job.config_file"}, {"MODULE", "module"}, {"CONFIG", "config"}};
void add_torchtitan_names(const ShellScript& script, const ShellCommand& command, Import& in) {
    for (const auto& [name, key] : kTorchtitanNames) {
        if (in.has(key) || (name != kTorchtitanNames[0].first && !starts_script(command))) continue;
        const auto set = std::find_if(command.settings.begin(), command.settings.end(),
                                      [name = std::string_view(name)](const auto& one) { return one.first == name; });
        const auto known = script.variables.find(name);
        if (set != command.settings.end())
            in.entries.push_back({key, name, set->second, command.line});
        else if (known != script.variables.end() && !known->second.empty())
            in.entries.push_back({key, name, known->second[0].text, known->second[0].line});
    }
}

// What arguments override stands in a file that is not here: torchtitan's CONFIG_FILE, llm-foundry's YAML.
void name_file(const ShellScript& script, const ShellCommand& command, const ShellCommand& rest, std::string_view format, Import& in) {
    if (format == "torchtitan") add_torchtitan_names(script, command, in);
    if (format != "llm-foundry" && format != "llama-factory") return;
    const auto file = std::find_if(rest.words.begin(), rest.words.end(),
                                   [](const ShellWord& word) { return word.text.ends_with(".yml") || word.text.ends_with(".yaml"); });
    if (file != rest.words.end())
        in.entries.push_back({format == "llm-foundry" ? "config_file" : "settings_file", "", file->text, file->line});
}

// "accelerate launch train.py", "swift sft": the word behind the program, one of these; "" where it is not there.
std::string started_with(const ShellCommand& command, std::string_view program, std::initializer_list<std::string_view> words) {
    for (std::size_t i = 0; i + 1 < command.words.size(); ++i) {
        const std::string &name = command.words[i].text, &next = command.words[i + 1].text;
        if ((name == program || name.ends_with(joined({"/", program}))) && std::find(words.begin(), words.end(), next) != words.end())
            return next;
    }
    return "";
}

// The arguments of another program than Megatron-LM's own, as the settings of its format.
std::optional<ReadJob> read_foreign(const ShellScript& script, const ShellCommand& command, const NamesSet& set, std::string& format) {
    ReadJob job;
    ShellCommand rest = command;
    job.in.entries = overrides_of(rest);
    const bool overrides = !job.in.entries.empty();
    auto recipe = recipe_command(rest);
    for (Entry& entry : recipe ? recipe->entries : arguments_of(rest)) job.in.entries.push_back(std::move(entry));
    if (const std::string swift = started_with(rest, "swift", {"sft", "pt", "rlhf"}); !swift.empty())
        job.in.entries.push_back({"swift", "", swift, command.line});
    const FormatReader* reader = recipe ? reader_called(recipe->reader) : reader_of(job.in.entries);
    if (reader == nullptr && !started_with(rest, "accelerate", {"launch"}).empty()) reader = reader_called("accelerate");
    if (!started_with(rest, "llamafactory-cli", {"train"}).empty()) reader = reader_called("llama-factory");
    if (reader == nullptr || (reader->id == "megatron-lm" && !overrides)) return std::nullopt;
    if (reader->id == "gpt-neox") return std::nullopt;  // it takes files alone: what has its names here is a program of somebody's own
    const bool trains =
        std::none_of(rest.words.begin(), rest.words.end(), [](const ShellWord& word) { return word.text.ends_with("decode.py"); });
    if (!trains) return std::nullopt;
    format = reader->id;
    job.in.answers = set;
    if (reader->id == "accelerate") {  // what the command says counts before its file
        std::vector<Entry> document = accelerate_documents(script);
        job.in.entries.insert(job.in.entries.begin(), document.begin(), document.end());
    }
    name_file(script, command, rest, reader->id, job.in);
    for (const auto& [name, reason] : command.settings)
        if (name.empty())
            for (const std::string& open : open_names(reason)) job.in.touched.push_back(open);
    if (!recipe || !recipe->starts_nodes) read_launch(script, command, job.in);
    job.in.mark_all({"rdzv*", "role", "tee", "local_ranks*", "nproc*", "nnodes", "node_rank", "master_*", "standalone", "max_restarts",
                     "redirects", "log_dir"},
                    Fate::no_number);
    reader->read(job.in);
    return job;
}

// Lines of "a.b=c" alone are one list of settings, not a program each.
std::vector<ShellCommand> joined_overrides(const std::vector<ShellCommand>& commands) {
    std::vector<ShellCommand> all;
    bool before = false;
    for (const ShellCommand& command : commands) {
        const bool alone = !command.words.empty() && std::all_of(command.words.begin(), command.words.end(),
                                                                 [](const ShellWord& word) { return override_in(word.text).has_value(); });
        if (alone && before)
            all.back().words.insert(all.back().words.end(), command.words.begin(), command.words.end());
        else
            all.push_back(command);
        before = alone;
    }
    return all;
}

// Megatron-DeepSpeed has Megatron-LM's arguments, and some of its own.
bool is_deepspeed(const std::vector<Entry>& entries) { return count_like(entries, {"deepspeed", "deepspeed_config", "zero_stage"}) > 0; }

// `alone`: what is said stands before another script, which says the rest.
Import read_command(const ShellScript& script, const ShellCommand& command, const NamesSet& set, bool alone = false) {
    Import in;
    in.entries = arguments_of(command);
    add_settings(command, in);
    for (const auto& [name, key] : kAsked)
        if (const auto answer = set.find(name); answer != set.end() && (name == std::string_view("gpus") || !in.has(key)))
            in.entries.push_back({key, key, answer->second});
    for (const auto& [name, reason] : command.settings)
        if (name.empty())
            for (const std::string& open : open_names(reason)) in.touched.push_back(open);
    const std::string first = command.words.empty() ? "" : command.words[0].text;
    if (set.contains("gpus") || (first != "srun" && first != "sbatch")) in.set("gpus", in.whole("gpus", "gpus"));
    const std::string way = started_with(command, "megatron", {"sft", "pt", "rlhf"});
    const bool swift = !way.empty();
    if (swift) in.entries.push_back({"swift", "", way, command.line});
    if (swift) take_named_model(in, in.has("model") ? "model" : "load");
    read_launch(script, command, in);
    const bool starts =
        std::any_of(command.words.begin(), command.words.end(), [](const ShellWord& word) { return word.text.ends_with(".py"); });
    alone = alone || swift;
    read_megatron(in, {.silent = alone,
                       .needs_precision = !alone,
                       .own_checks = starts && !is_deepspeed(in.entries),
                       .experts = starts || !starts_script(command)});
    if (swift)
        add_megatron_swift(in);
    else
        read_fork_adapters(in);
    if (is_deepspeed(in.entries)) add_deepspeed(in, deepspeed_documents(script));
    return in;
}

std::string title_of(const ShellCommand& command) {
    for (const ShellWord& word : command.words)
        if (word.text.ends_with(".py")) return without_marks(word.text.substr(word.text.rfind('/') + 1));
    for (const ShellWord& word : command.words)
        if (word.text.ends_with(".sh")) return without_marks(word.text.substr(word.text.rfind('/') + 1));
    return command.words.empty() ? "" : without_marks(command.words[0].text).substr(0, 80);
}

}  // namespace

std::optional<ReadJobs> read_script(std::string_view text, const NamesSet& set) {
    constexpr std::size_t kMost = 50;
    const ShellScript script = read_shell(text, set);
    ReadJobs read{"megatron-lm", script.complete, {}, script.choices};
    for (const ShellCommand& command : joined_overrides(script.commands)) {
        if (read.jobs.size() == kMost) break;
        std::string format;
        if (auto foreign = read_foreign(script, command, set, format)) {
            read.format = format;
            foreign->title = title_of(command);
            foreign->line = command.line;
            read.jobs.push_back(std::move(*foreign));
        } else if (megatron_likeness(arguments_of(command)) >= kLikeEnough) {
            read.jobs.push_back({title_of(command), command.line, read_command(script, command, set)});
            if (is_deepspeed(read.jobs.back().in.entries)) read.format = "megatron-deepspeed";
        }
    }
    if (read.jobs.empty())
        if (const ShellCommand lists = all_lists(script); megatron_likeness(arguments_of(lists)) >= kLikeEnough) {
            read.jobs.push_back({title_of(lists), lists.line, read_command(script, lists, set)});
            if (is_deepspeed(read.jobs.back().in.entries)) read.format = "megatron-deepspeed";
        }
    if (read.jobs.empty())
        for (const ShellCommand& command : script.commands)
            if (sets_a_job(command) && read.jobs.size() < kMost)
                read.jobs.push_back({title_of(command), command.line, read_command(script, command, set, true)});
    if (const ShellCommand names = all_variables(script); read.jobs.empty() && sets_a_job(names))
        read.jobs.push_back({"", names.line, read_command(script, names, set, true)});
    // The program may be anybody's, and its configuration stands in the script.
    if (std::vector<Entry> document = deepspeed_documents(script); read.jobs.empty() && !document.empty()) {
        ReadJob job;
        job.in.entries = std::move(document);
        job.in.answers = set;
        for (const ShellCommand& command : script.commands) read_launch(script, command, job.in);
        const FormatReader* reader = reader_called("deepspeed");
        reader->read(job.in);
        read.format = reader->id;
        read.jobs.push_back(std::move(job));
    }
    return read.jobs.empty() ? std::nullopt : std::optional(std::move(read));
}

}  // namespace fourfold
