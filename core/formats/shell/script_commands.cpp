// The commands of a launch script: what they start, and which of their words are settings.
#include "formats/shell/script_commands.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "base/sorted.h"
#include "base/text.h"

namespace fourfold {

// Nothing is started, but lists of arguments are there to be started by another file. A flag keeps its values, wherever they were set; one
// that two lists have stands once.
ShellCommand all_lists(const ShellScript& script) {
    std::vector<ShellWords> flags;
    ShellCommand command;
    for (const auto& [name, words] : script.variables) {
        const std::size_t before = flags.size();
        for (const ShellWord& word : words) {
            const std::size_t first = word.text.find("--");
            const bool program =
                first != std::string::npos && word.text.find_first_not_of(" \n\t") < first && word.text.find(".py") == std::string::npos;
            if (first != std::string::npos)  // "nsys profile --trace=cuda": of the launcher
                flags.push_back({program ? ShellWord{word.text.substr(first), word.line} : word});
            else if (flags.size() > before)
                flags.back().push_back(word);
            else if (word.text.ends_with(".py"))
                command.words.push_back(word);
        }
    }
    flags = sorted(std::move(flags), [](const ShellWords& a, const ShellWords& b) { return a[0].line < b[0].line; });
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
static std::optional<Override> override_in(const std::string& word) {
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
static std::string unquoted(const std::string& text) {
    const bool quoted = text.size() > 1 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0];
    return quoted ? text.substr(1, text.size() - 2) : text;
}

// "docker run -e HF_HOME=/hf --mount type=bind,…": a container's, not the program's.
static bool is_of_container(std::string_view option) { return option == "-e" || option == "--env" || option == "--mount"; }

// Takes them out of the command's words.
std::vector<Entry> overrides_of(ShellCommand& command) {
    std::vector<Entry> entries;
    ShellWords rest;
    for (const ShellWord& word : command.words) {
        const auto found = override_in(word.text);
        if (!found || (&word != command.words.data() && is_of_container((&word - 1)->text))) {
            rest.push_back(word);
            continue;
        }
        Entry entry{found->key, found->key, unquoted(word.text.substr(found->value)), word.line};
        entry.open = open_names(word.text);
        entries.push_back(std::move(entry));
    }
    const bool paths =
        std::any_of(entries.begin(), entries.end(), [](const Entry& entry) { return entry.key.find('.') != std::string::npos; });
    const auto is_file = [](const ShellWord& word) { return word.text.ends_with(".yml") || word.text.ends_with(".yaml"); };
    const bool beside_file = entries.size() > 1 && std::any_of(rest.begin(), rest.end(), is_file);
    // One alone counts where it follows the file at once.
    const auto file = std::find_if(command.words.begin(), command.words.end(), is_file);
    const bool after_file = file != command.words.end() && file + 1 != command.words.end() && override_in((file + 1)->text).has_value();
    // "python3 -m maxtext.trainers.pre_train.train steps=200": without a file it takes its own.
    const bool maxtext =
        std::any_of(rest.begin(), rest.end(), [](const ShellWord& word) { return lower_case(word.text).starts_with("maxtext."); });
    const bool tune = !started_with(command, "tune", {"run"}).empty();
    if (!paths && !beside_file && !after_file && !maxtext && !tune) return {};
    command.words = std::move(rest);
    return entries;
}

// "bash run.sh --num-layers 8": the rest of what it would start stands in that script; nullptr: it starts none.
const ShellWord* started_script(const ShellCommand& command) {
    const auto shell = std::find_if(command.words.begin(), command.words.end(), [](const ShellWord& word) { return word.text == "bash"; });
    const auto begin = shell == command.words.end() ? command.words.begin() : shell;  // "srun --ntasks-per-node=1 bash run.sh"
    const auto flag = std::find_if(begin, command.words.end(), [](const ShellWord& word) { return word.text[0] == '-'; });
    const auto found = std::find_if(begin, flag, [](const ShellWord& word) {
        return word.text.ends_with(".sh") || word.text.ends_with(".sbatch") || word.text.ends_with(".slurm");
    });
    return found == flag ? nullptr : &*found;
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

// "megatron sft", and "torchrun … swift/cli/_megatron/sft.py", which it starts.
std::string megatron_swift(const ShellCommand& command) {
    for (const ShellWord& word : command.words)
        for (const char* way : {"sft", "pt", "rlhf"})
            if (word.text.ends_with(joined({"cli/_megatron/", way, ".py"}))) return way;
    return started_with(command, "megatron", {"sft", "pt", "rlhf"});
}

// Megatron-LM's own programs: some of their arguments may stand in a file; and Megatron-SWIFT's, which has defaults for most.
bool pretrains(const ShellCommand& command) {
    return !megatron_swift(command).empty() || std::any_of(command.words.begin(), command.words.end(), [](const ShellWord& word) {
        const std::string name = word.text.substr(word.text.rfind('/') + 1);
        return name == "pretrain_gpt.py" || name == "pretrain_mamba.py" || name == "pretrain_hybrid.py";
    });
}

// A program of Megatron-LM's that does not train.
bool only_evaluates(const ShellCommand& command) {
    constexpr std::string_view kPrograms[] = {"evaluate.py",
                                              "run_text_generation_server.py",
                                              "text_generation_server.py",
                                              "convert.py",
                                              "generate_samples_gpt.py",
                                              "gpt_static_inference.py",
                                              "gpt_dynamic_inference.py",
                                              "lm_eval",
                                              "lighteval"};
    return std::any_of(command.words.begin(), command.words.end(), [&](const ShellWord& word) {
        return word.text == "--inference" || std::any_of(std::begin(kPrograms), std::end(kPrograms), [&](std::string_view one) {
                   return word.text == one || word.text.ends_with(joined({"/", one}));
               });
    });
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

std::string title_of(const ShellCommand& command) {
    for (const ShellWord& word : command.words)
        if (word.text.ends_with(".py")) return without_marks(word.text.substr(word.text.rfind('/') + 1));
    for (const ShellWord& word : command.words)
        if (word.text.ends_with(".sh")) return without_marks(word.text.substr(word.text.rfind('/') + 1));
    if (command.words.empty() || command.words[0].text.find("--") != std::string::npos) return "";
    return without_marks(command.words[0].text).substr(0, 80);
}

namespace {

// A quoted text holds several words.
ShellWords single_words(const ShellWords& words) {
    ShellWords all;
    for (const ShellWord& word : words) {
        std::int64_t line = word.line;
        std::string part;
        for (const char c : word.text + " ") {
            if (c != ' ' && c != '\n' && c != '\t') {
                part += c;
                continue;
            }
            if (!part.empty()) all.push_back({std::move(part), line});
            part.clear();
            if (c == '\n') ++line;
        }
    }
    return all;
}

// "nsys profile --trace=cuda torchrun …", "docker run --shm-size 16g image bash …": the options before the program, by key and line.
void add_wrapped(const ShellWords& words, std::set<std::pair<std::string, std::int64_t>>& keys) {
    const std::set<std::string_view> wrappers = {"docker", "podman", "apptainer", "singularity", "enroot", "nsys", "ncu"};
    const std::set<std::string_view> starters = {"torchrun", "bash", "sh", "deepspeed", "accelerate", "mpirun", "mpiexec", "srun"};
    bool inside = false;
    for (const ShellWord& word : single_words(words)) {
        const std::string_view text = word.text, name = text.substr(text.rfind('/') + 1);
        if (wrappers.contains(name) || text == "--rm")  // of a container, whatever its program is called
            inside = true;
        else if (starters.contains(name) || name.starts_with("python") || name.ends_with(".py") || name.ends_with(".sh"))
            inside = false;
        if (!inside || !text.starts_with("--")) continue;
        std::string key(text.substr(2, text.find('=') == std::string_view::npos ? text.size() : text.find('=') - 2));
        std::replace(key.begin(), key.end(), '-', '_');
        keys.emplace(std::move(key), word.line);
    }
}

}  // namespace

void mark_wrappers(const ShellScript& script, Import& in) {
    std::set<std::pair<std::string, std::int64_t>> keys;
    for (const ShellCommand& command : script.commands) add_wrapped(command.words, keys);
    for (const auto& [name, words] : script.variables) add_wrapped(words, keys);
    for (Entry& entry : in.entries)
        if (entry.fate == Fate::unknown && keys.contains({entry.key, entry.line})) entry.fate = Fate::no_number;
}

}  // namespace fourfold
