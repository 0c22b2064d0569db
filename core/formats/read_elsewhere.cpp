// Programs that take their settings from a file: the file stands in the script, or it must be pasted too.
#include <algorithm>

#include "formats/documents.h"
#include "formats/launch.h"
#include "formats/read_elsewhere.h"
#include "formats/readers.h"
#include "formats/script_commands.h"
#include "formats/shell_parts.h"
#include "formats/trainers.h"

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

}  // namespace

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
        }
        ShellCommand rest = command;
        for (Entry& entry : overrides_of(rest)) job.in.entries.push_back(std::move(entry));
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
        job.in.notes = {Text("import_plan.note.file").with("file", names.substr(0, 200))};
        return job;
    }
    return std::nullopt;
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
