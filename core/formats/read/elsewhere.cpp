// Programs that take their settings from a file: the file stands in the script, or it must be pasted too.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "formats/documents.h"
#include "formats/read/elsewhere.h"
#include "formats/read/trainers.h"
#include "formats/readers.h"
#include "formats/shell/launch.h"
#include "formats/shell/parts.h"
#include "formats/shell/script_commands.h"

namespace fourfold {

namespace {

// What stands in a command of the program; how its file ends, or behind which option it stands, whatever its name.
struct Program {
    std::string_view reader, word;
    std::initializer_list<std::string_view> ends;
    std::string_view option = "";
};
const Program kPrograms[] = {
    {"nanotron", "run_train.py", {".yaml", ".yml"}},
    {"torchtitan", "torchtitan.train", {".toml"}},
    {"axolotl", "axolotl", {".yaml", ".yml"}},
    {"axolotl", "axolotl.cli.train", {".yaml", ".yml"}},
    {"llama-factory", "llamafactory-cli", {".yaml", ".yml", ".json"}},
    {"llama-factory", "LLaMA-Factory/src/train.py", {".yaml", ".yml", ".json"}},
    {"llama-factory", "LLaMA-Factory/src/train_bash.py", {".yaml", ".yml", ".json"}},
    {"llm-foundry", "composer", {".yaml", ".yml"}},
    {"gpt-neox", "deepy.py", {".yaml", ".yml"}},
    {"primus", "primus-cli", {".yaml", ".yml"}},
    {"primus", "primus/cli/main.py", {".yaml", ".yml"}},
    {"nemo-1", "megatron_gpt_pretraining.py", {".yaml", ".yml", "_config"}},
    {"nemo-1", "megatron_gpt_finetuning.py", {".yaml", ".yml", "_config"}},
    {"maxtext", "MaxText.train", {".yaml", ".yml"}},
    {"maxtext", "MaxText/train.py", {".yaml", ".yml"}},
    {"torchtune", "tune", {}, "--config"},  // "llama3_1/8B_lora", or a file
};

bool ends_with_any(std::string_view text, std::initializer_list<std::string_view> ends) {
    return std::any_of(ends.begin(), ends.end(), [&](std::string_view end) { return text.ends_with(end); });
}

// The file's word; nullptr: the command is another program's.
const ShellWord* file_of(const ShellCommand& command, const Program& program) {
    const auto at = std::find_if(command.words.begin(), command.words.end(), [&](const ShellWord& word) {
        return word.text == program.word || (word.text.size() > program.word.size() && word.text.ends_with(program.word) &&
                                             word.text[word.text.size() - program.word.size() - 1] == '/');
    });
    if (at == command.words.end()) return nullptr;
    if (!program.option.empty()) {
        const auto option = std::find_if(at, command.words.end(), [&](const ShellWord& word) { return word.text == program.option; });
        return option == command.words.end() || option + 1 == command.words.end() ? nullptr : &option[1];
    }
    const auto file =
        std::find_if(at + 1, command.words.end(), [&](const ShellWord& word) { return ends_with_any(word.text, program.ends); });
    return file == command.words.end() ? nullptr : &*file;
}

// "tune run --nproc_per_node 2 lora_finetune_distributed --config …": the word before the file's option names what it does with it.
const ShellWord* recipe_of(const ShellCommand& command) {
    for (std::size_t i = 1; i + 1 < command.words.size(); ++i)
        if (command.words[i + 1].text == "--config") return &command.words[i];
    return nullptr;
}

// Arguments behind the file's word, which count before the file; Primus has them among its overrides.
void add_arguments(const ShellCommand& command, const ShellWord* file, Import& in) {
    constexpr std::string_view kOverrides = ".overrides.";
    std::string section;
    for (const Entry& entry : in.entries)
        if (const std::size_t at = entry.key.find(kOverrides); at != std::string::npos)
            section = entry.key.substr(0, at + kOverrides.size());
    ShellCommand rest;
    rest.words.assign(file + 1, command.words.data() + command.words.size());
    for (Entry& entry : arguments_of(rest)) {
        entry.key.insert(0, section);
        in.entries.push_back(std::move(entry));
    }
}

}  // namespace

std::optional<ReadJob> read_primus_script(const ShellScript& script, const ShellCommand& command, const NamesSet& set) {
    const ShellWord* const program = started_script(command);
    if (program == nullptr || arguments_of(command).empty()) return std::nullopt;
    DocumentSettings document = document_settings(script, command, "primus");
    if (document.reader == nullptr) return std::nullopt;
    ReadJob job;
    job.in.answers = set;
    job.in.entries = std::move(document.entries);
    add_arguments(command, program, job.in);
    read_launch(script, command, job.in);
    document.reader->read(job.in);
    return job;
}

std::optional<ReadJob> read_settings_file(const ShellScript& script, const ShellCommand& command, const NamesSet& set,
                                          std::string& format) {
    for (const Program& program : kPrograms) {
        const ShellWord* file = file_of(command, program);
        if (file == nullptr) continue;
        ReadJob job;
        job.in.answers = set;
        DocumentSettings document = document_settings(script, command, program.reader);
        const bool here = document.reader != nullptr;
        const FormatReader* reader = here ? document.reader : reader_called(program.reader);
        job.in.entries = std::move(document.entries);
        if (const ShellWord* recipe = program.reader == "torchtune" ? recipe_of(command) : nullptr; recipe != nullptr) {
            if (!trains_with_tune(recipe->text)) return std::nullopt;
            job.in.entries.push_back({"tune_recipe", "", recipe->text, recipe->line});
            const std::size_t cut = file->text.find('/'), end = file->text.find('_', std::min(cut, file->text.size()));
            if (!here && end != std::string::npos && file->text.find('.') == std::string::npos) {  // "llama3_1/8B_lora", one of its own
                const std::string family = file->text.substr(0, cut), size = lower_case(file->text.substr(cut + 1, end - cut - 1));
                job.in.entries.push_back(
                    {"model._component_", "--config", joined({"torchtune.models.", family, ".", family, "_", size}), file->line});
            }
        }
        ShellCommand rest = command;
        for (Entry& entry : overrides_of(rest)) job.in.entries.push_back(std::move(entry));
        add_arguments(command, file, job.in);
        format = reader->id;
        const bool based = !here && reader->id == std::string_view("maxtext");  // its reader knows base.yml, and says when it is another
        if (based) job.in.entries.push_back({"base_config", "", file->text, file->line, open_names(file->text)});
        read_launch(script, command, job.in);
        reader->read(job.in);
        if (here || based) return job;
        job.in.keep_said({"gpus", "gpus_per_node"});
        leave_batch(job.in);
        job.in.refused.clear();
        std::string names = without_marks(file->text.substr(file->text.find('=') + 1));  // "--config-name=x.yaml"
        for (const ShellWord* more = file + 1; more != command.words.data() + command.words.size(); ++more)
            if (ends_with_any(more->text, program.ends) && more->text[0] != '-' && reader->id == std::string_view("gpt-neox"))
                names += ", " + without_marks(more->text);  // it takes several
        std::erase_if(job.in.notes, [](const Text& note) {  // what the command itself says stays
            return note.id() != "import_plan.note.fp32_named" && note.id() != "import_plan.note.not_counted";
        });
        job.in.notes.push_back(Text("import_plan.note.file").with("file", names.substr(0, 200)));
        return job;
    }
    return std::nullopt;
}

// torchtitan's run_train.sh takes these names for arguments; the first is that of its TOML in other scripts too.
static constexpr std::pair<const char*, const char*> kTorchtitanNames[] = {
    {"CONFIG_FILE", "job.config_file"}, {"MODULE", "module"}, {"CONFIG", "config"}};
static void add_torchtitan_names(const ShellScript& script, const ShellCommand& command, Import& in) {
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
    const ShellWord* other = started_script(command);
    if (other != nullptr && !other->text.ends_with(".sh") && !in.has("job.config_file") && !in.has("config"))
        in.entries.push_back({"job.config_file", "", other->text, other->line});
}

// What arguments override stands in a file that is not here: torchtitan's CONFIG_FILE, llm-foundry's YAML.
void name_file(const ShellScript& script, const ShellCommand& command, const ShellCommand& rest, std::string_view format, Import& in) {
    if (format == "torchtitan") add_torchtitan_names(script, command, in);
    constexpr std::string_view kOverridden[] = {"llm-foundry", "llama-factory", "maxtext", "litgpt", "axolotl", "olmo", "levanter"};
    if (std::find(std::begin(kOverridden), std::end(kOverridden), format) == std::end(kOverridden)) return;
    auto file = rest.words.begin();
    for (; file != rest.words.end(); ++file) {  // not accelerate's own
        const std::string before = file == rest.words.begin() ? "" : (file - 1)->text;
        const bool made = before == "train" && !open_names(file->text).empty();  // "llamafactory-cli train $(mktemp)"
        if (file->text.starts_with("--config_file") || before == "--config_file") continue;
        if (made || file->text.ends_with(".yml") || file->text.ends_with(".yaml")) break;
    }
    if (file != rest.words.end())
        in.entries.push_back({format == "llm-foundry" ? "config_file"
                              : format == "maxtext"   ? "base_config"
                                                      : "settings_file",
                              "", file->text, file->line, open_names(file->text)});
}

std::vector<ReadJob> read_documents(const ShellScript& script, const NamesSet& set, std::string& format) {
    std::vector<ReadJob> jobs;
    for (DocumentSettings& document : all_document_settings(script)) {
        if (!jobs.empty() && document.reader->id != format) continue;
        ReadJob job;
        job.in.answers = set;
        job.in.entries = std::move(document.entries);
        job.line = job.in.entries[0].line;
        format = document.reader->id;
        for (const ShellCommand& command : script.commands) read_launch(script, command, job.in);
        document.reader->read(job.in);
        jobs.push_back(std::move(job));
    }
    return jobs;
}

}  // namespace fourfold
