#include "formats/shell/own_programs.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"
#include "formats/documents.h"
#include "formats/megatron/read.h"
#include "formats/python/settings.h"
#include "formats/read/others.h"
#include "formats/read/trainers.h"
#include "formats/readers.h"

namespace fourfold {

static bool is_launched(const ShellCommand& command);
bool runs_own_program(const ShellCommand& command) {
    const bool launched = is_launched(command);
    return std::any_of(command.words.begin(), command.words.end(),
                       [&](const ShellWord& word) {
                           return word.text.ends_with(".py") || word.text == "--module" || (launched && word.text == "-m");
                       }) &&
           std::none_of(command.words.begin(), command.words.end(), [](const ShellWord& word) { return word.text.starts_with("axolotl"); });
}

// A program of somebody's own whose file for DeepSpeed is not here, and which is no Megatron-DeepSpeed.
static bool names_deepspeed_file(const ShellScript& script, const std::vector<Entry>& entries) {
    const bool named = std::any_of(entries.begin(), entries.end(), [](const Entry& entry) {
        return entry.key == "deepspeed_config" && entry.value.is_string() && entry.value.get<std::string>().ends_with(".json");
    });
    return named && megatron_likeness(entries) == 0 && deepspeed_documents(script, {}).empty();
}

// By a program that starts one process for each GPU.
static bool is_launched(const ShellCommand& command) {
    return std::any_of(command.words.begin(), command.words.end(), [](const ShellWord& word) {
        return word.text == "torchrun" || word.text == "deepspeed" || word.text == "accelerate" ||
               word.text.starts_with("torch.distributed.");
    });
}

// A length of sequences, and something that only a training has: a program of somebody's own that trains a model of language.
static bool says_training(std::string_view title, const std::vector<Entry>& entries) {
    const bool named = title.find("train") != std::string_view::npos || title.find("tune") != std::string_view::npos ||
                       title.find("sft") != std::string_view::npos;
    return megatron_likeness(entries) < kOfMegatron && says_length(entries) &&
           (named || count_like(entries, {"lr", "learning_rate", "*epochs", "max_steps", "train_steps", "gradient_acc*", "grad_acc*",
                                          "weight_decay", "warmup*", "gradient_checkpointing", "max_iters"}) > 0);
}

bool runs_other(ShellCommand command) { return !other_program(overrides_of(command)).empty(); }

bool trains_nothing(const ShellCommand& command, const std::vector<Entry>& entries) {
    return names_no_training(title_of(command)) &&
           count_like(entries, {"lr", "learning_rate", "train_iters", "train_samples", "num_train_epochs", "do_train"}) == 0;
}

const FormatReader* own_reader(const ShellScript& script, const ShellCommand& command, const std::vector<Entry>& entries) {
    const std::string title = title_of(command);
    if (trains_nothing(command, entries)) return nullptr;
    const bool trains = (is_own_trainer(entries) || names_deepspeed_file(script, entries) ||
                         ((is_launched(command) || count_like(entries, {"devices", "num_gpus", "n_gpus", "micro_batch_size"}) > 0) &&
                          says_training(title, entries)));
    return trains ? reader_called("transformers") : named_settings(script, command).reader;
}

const FormatReader* launched_reader(const ShellCommand& command, const std::vector<Entry>& entries) {
    if (!started_with(command, "llamafactory-cli", {"train"}).empty()) return reader_called("llama-factory");
    if (!started_with(command, "axolotl", {"train"}).empty() || !started_with(command, "-m", {"axolotl.cli.train"}).empty())
        return reader_called("axolotl");
    const bool composer = !command.words.empty() && command.words[0].text == "composer";
    return composer && count_like(entries, {"device_train_microbatch_size"}) > 0 ? reader_called("llm-foundry") : nullptr;
}

// "trl sft --accelerate_config zero3": one of TRL's own files for accelerate (trl/accelerate_configs).
static void name_trl_file(std::vector<Entry>& entries) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (entries[i].key != "accelerate_config" || !entries[i].value.is_string()) continue;
        const std::string file = entries[i].value.get<std::string>();
        const bool zero = file == "zero1" || file == "zero2" || file == "zero3";
        if (!zero && file != "fsdp1" && file != "fsdp2") continue;
        const std::int64_t line = entries[i].line;
        entries[i].fate = Fate::no_number;
        entries.push_back({zero ? "use_deepspeed" : "use_fsdp", "", true, line});
        entries.push_back({zero ? "zero_stage" : "fsdp_sharding_strategy", "", zero ? file.substr(4) : "FULL_SHARD", line});
    }
}

// What Unsloth's own program does unsaid (unsloth-cli.py): parts of rank 16 of every matrix, beside its kernels.
static void add_unsloth(std::vector<Entry>& entries) {
    const std::pair<const char*, Json> usual[] = {{"model_name", "unsloth/llama-3-8b"},
                                                  {"max_seq_length", 2'048},
                                                  {"lora_r", 16},
                                                  {"lora_target_modules", "all-linear"},
                                                  {"per_device_train_batch_size", 2},
                                                  {"gradient_accumulation_steps", 4},
                                                  {"optim", "adamw_8bit"},
                                                  {"use_gradient_checkpointing", "unsloth"},
                                                  {"bf16", true},
                                                  {"cut_cross_entropy", true},
                                                  {"liger_rms_norm", true},
                                                  {"liger_swiglu", true},
                                                  {"bnb_4bit_use_double_quant", true}};
    for (Entry& entry : entries)
        if (entry.key == "r") entry.key = "lora_r";
    for (const auto& [key, value] : usual)
        if (count_like(entries, {key}) == 0) entries.push_back({key, "unsloth-cli.py", value});
    entries.push_back({"unsloth", "", true, 0, {}});
    entries.back().fate = Fate::no_number;
}

// "trl dpo", "-m trl.scripts.dpo", "examples/scripts/dpo.py", "run_dpo.py": TRL's programs, and those named after its ways to train. Its
// fine-tuning computes layers again unless it is told (SFTConfig).
void add_trl(const ShellCommand& command, std::vector<Entry>& entries) {
    constexpr std::string_view kModule = "trl.scripts.", kRun = "run_";
    for (std::size_t i = 0; i < command.words.size(); ++i) {
        std::string_view word = command.words[i].text;
        if (word.starts_with("openrlhf.cli.") && i > 0 && command.words[i - 1].text == "-m")
            entries.push_back({"module", "", word, command.words[i].line});
        if (word == "trl") name_trl_file(entries);
        if (word.ends_with("unsloth-cli.py")) return add_unsloth(entries);
        const bool program = i > 0 && command.words[i - 1].text == "trl", module = word.starts_with(kModule);
        if (!program && !module && !word.ends_with(".py")) continue;
        const bool own = program || module || word.find("trl/") != std::string_view::npos;
        if (module) word.remove_prefix(kModule.size());
        word = word.substr(word.rfind('/') + 1);
        if (word.ends_with(".py")) word.remove_suffix(3);
        if (word.starts_with(kRun)) word.remove_prefix(kRun.size());
        if (trains_otherwise(word)) return entries.push_back({"trl", "", word, command.words[i].line});
        if (own && word == "sft" && count_like(entries, {"gradient_checkpointing", "max_seq_length", "config"}) == 0)
            return entries.push_back({"gradient_checkpointing", "trl sft", true, command.words[i].line});
    }
}

void add_litgpt(const ShellCommand& command, std::vector<Entry>& entries) {
    for (std::size_t i = 0; i < command.words.size(); ++i) {
        const std::string& word = command.words[i].text;
        std::string way;
        std::size_t next = i + 1;
        if (word == "litgpt" && next < command.words.size()) {
            way = command.words[next++].text;  // "litgpt finetune lora" of 2024-03
            if (way == "finetune" && next < command.words.size() && command.words[next].text[0] != '-')
                way += "_" + command.words[next++].text;
            if (way == "finetune") way = "finetune_lora";
        } else if (word.ends_with("finetune/lora.py") || word.ends_with("finetune/full.py") || word.ends_with("litgpt/pretrain.py")) {
            way = word;
        }
        if (way.find("finetune") == std::string::npos && way.find("pretrain") == std::string::npos) continue;
        entries.push_back({"litgpt", "", way, command.words[i].line});
        if (next < command.words.size() && !command.words[next].text.empty() && command.words[next].text[0] != '-')
            entries.push_back({way.find("pretrain") == std::string::npos ? "checkpoint_dir" : "model_name", command.words[next].text,
                               command.words[next].text, command.words[next].line, open_names(command.words[next].text)});
        return;
    }
}

// A command without a launcher before its program is one process.
static void add_alone(const ShellCommand& command, const ShellWord& program, std::vector<Entry>& entries) {
    const std::string& first = command.words[0].text;
    if (&program == command.words.data() || first.starts_with("python")) entries.push_back({"one_process", "", true, program.line});
}

void add_llmc(const ShellScript& script, ShellCommand& command, std::vector<Entry>& entries) {
    const auto program = std::find_if(command.words.begin(), command.words.end(), [](const ShellWord& word) {
        return word.text.ends_with("train_gpt2cu") || word.text.ends_with("train_gpt2fp32cu") || word.text.ends_with("train_gpt2.py");
    });
    if (program == command.words.end() || command.words[0].text == "make") return;
    const auto add = [&](std::string_view name, std::string_view shown, const ShellWord& word) {
        entries.push_back({joined({"llmc.", name}), std::string(shown), word.text, word.line, open_names(word.text)});
    };
    if (program->text.ends_with(".py")) {
        if (count_like(entries, {"input_bin", "total_batch_size"}) < 2) return;
        constexpr WordRow kNames[] = {{"input_bin", "llmc.i"},
                                      {"input_val_bin", "llmc.j"},
                                      {"output_dir", "llmc.o"},
                                      {"model", "llmc.e"},
                                      {"batch_size", "llmc.b"},
                                      {"sequence_length", "llmc.t"},
                                      {"total_batch_size", "llmc.d"},
                                      {"num_iterations", "llmc.x"},
                                      {"learning_rate", "llmc.l"},
                                      {"warmup_iters", "llmc.u"},
                                      {"learning_rate_decay_frac", "llmc.q"},
                                      {"weight_decay", "llmc.c"},
                                      {"val_loss_every", "llmc.v"},
                                      {"val_max_steps", "llmc.m"},
                                      {"sample_every", "llmc.s"},
                                      {"overfit_single_batch", "llmc.a"},
                                      {"tensorcores", "llmc.f"},
                                      {"zero_stage", "llmc.z"},
                                      {"dtype", "llmc.PRECISION"},
                                      {"flash", "llmc.flash"},
                                      {"compile", "llmc.ps"},
                                      {"grad_clip", "llmc.g"},
                                      {"write_tensors", "llmc.h"},
                                      {"inference_only", "llmc.inference"}};
        for (Entry& entry : entries)
            for (const auto& [theirs, ours] : kNames)
                if (entry.key == theirs) entry.key = ours;
        entries.push_back({"llmc.python", "", true, program->line});
        return add_alone(command, *program, entries);
    }
    add("program", "", *program);
    add_alone(command, *program, entries);
    for (auto word = program + 1; word + 1 < command.words.end(); word += 2)
        if (word->text.starts_with('-')) add(word->text.substr(1), word->text, word[1]);
    command.words.erase(program + 1, command.words.end());
    // "make train_gpt2cu USE_CUDNN=1": how it was built
    for (const ShellCommand& made : script.commands) {
        if (made.words.empty() || made.words[0].text != "make") continue;
        bool cudnn = false;
        for (const ShellWord& word : made.words) {
            constexpr std::string_view kPrecision = "PRECISION=";
            if (word.text.starts_with(kPrecision)) add("PRECISION", "PRECISION", {word.text.substr(kPrecision.size()), word.line});
            cudnn = cudnn || word.text == "USE_CUDNN=1";
        }
        add("USE_CUDNN", cudnn ? "USE_CUDNN" : "", {cudnn ? "1" : "0", made.words[0].line});
    }
}

void add_nanogpt(const ShellScript& script, const ShellCommand& command, const NamesSet& set, std::vector<Entry>& entries) {
    for (std::size_t i = 0; i + 1 < command.words.size(); ++i) {
        const ShellWord &program = command.words[i], &file = command.words[i + 1];
        if (!program.text.ends_with("train.py") || !file.text.ends_with(".py") || file.text.starts_with('-')) continue;
        std::vector<Entry> told;
        for (std::size_t at = 0; at < script.file_names.size() && told.empty(); ++at)
            if (script.file_names[at] == file.text) told = python_settings(script.files[at].text, set);
        if (told.empty()) told.push_back({"settings_file", "", file.text, file.line, open_names(file.text)});
        entries.insert(entries.begin(), told.begin(), told.end());
        entries.push_back({"nanogpt", "", true, program.line});
        return add_alone(command, program, entries);
    }
}

// Also "train.py --config configs/7B_sft.py --launcher torch" of InternEvo.
void add_xtuner(const ShellCommand& command, std::vector<Entry>& entries) {
    const auto value = [&](std::string_view key) {
        const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry& one) { return one.key == key; });
        return found == entries.end() || !found->value.is_string() ? "" : found->value.get<std::string>();
    };
    if (const std::string by = value("launcher"), file = value("config"); (by == "torch" || by == "slurm") && file.ends_with(".py")) {
        entries.push_back({"internevo", "", true, command.line});
        entries.push_back({"settings_file", "", file, command.line});
    }
    for (std::size_t i = 0; i + 2 < command.words.size(); ++i) {
        if (!command.words[i].text.ends_with("xtuner") || command.words[i + 1].text != "train") continue;
        const ShellWord& file = command.words[i + 2];
        entries.push_back({"xtuner", "", true, file.line});
        entries.push_back({"settings_file", "", file.text, file.line, open_names(file.text)});
    }
}

void add_colossal(const ShellCommand& command, std::vector<Entry>& entries) {
    constexpr WordRow kShort[] = {{"-c", "config"},          {"-p", "plugin"},     {"-b", "batch_size"},   {"-s", "num_steps"},
                                  {"-i", "ignore_steps"},    {"-l", "max_length"}, {"-w", "warmup_ratio"}, {"-m", "memory_limit"},
                                  {"-g", "grad_checkpoint"}, {"-x", "xformers"}};
    constexpr std::string_view kPlugins[] = {"gemini", "gemini_auto", "zero2", "zero2_cpu", "3d", "3d_cpu", "low_level_zero", "fsdp_cpu"};
    const auto program =
        std::find_if(command.words.begin(), command.words.end(), [](const ShellWord& word) { return word.text.ends_with(".py"); });
    if (program == command.words.end()) return;
    bool found = !started_with(command, "colossalai", {"run"}).empty();
    for (std::size_t i = 0; i + 1 < command.words.size() && !found; ++i)
        found = (command.words[i].text == "--plugin" || command.words[i].text == "-p") &&
                std::find(std::begin(kPlugins), std::end(kPlugins), command.words[i + 1].text) != std::end(kPlugins);
    if (!found) return;
    entries.push_back({"colossalai", "", true, program->line});
    for (auto word = program + 1; word != command.words.end(); ++word)
        for (const auto& [theirs, ours] : kShort) {
            if (word->text != theirs) continue;
            const bool alone = theirs == "-g" || theirs == "-x" || word + 1 == command.words.end();
            entries.push_back({std::string(ours), word->text, alone ? Json(true) : Json(word[1].text), word->line,
                               alone ? std::vector<std::string>() : open_names(word[1].text)});
        }
}

// FSDP_OFFLOAD_PARAMS=true, ACCELERATE_DEEPSPEED_ZERO_STAGE=3: what accelerate takes from the environment, in the words of its launcher,
// which sets it (utils/launch.py, and the plugins in utils/dataclasses.py).
static void add_environment(const ShellScript& script, const ShellCommand& command, Import& in) {
    std::map<std::string, ShellWord> told;
    for (const auto& [name, words] : script.variables)
        if (words.size() == 1) told[name] = words[0];
    for (const auto& [name, value] : command.settings) told[name] = {value, command.line};
    for (const auto& [name, word] : told) {
        std::string key = name;
        for (const std::string_view prefix : {"ACCELERATE_", "DEEPSPEED_"})
            if (key.starts_with(prefix)) key.erase(0, prefix.size());
        const bool own = key != name || name.starts_with("FSDP_");
        if (key == "CONFIG_FILE") key.insert(0, "DEEPSPEED_");
        key = lower_case(key);
        if (own && is_of_launcher(key)) in.entries.insert(in.entries.begin(), {key, name, word.text, word.line, open_names(word.text)});
    }
}

void add_launcher_file(const ShellScript& script, const ShellCommand& command, Import& in) {
    add_environment(script, command, in);
    if (started_with(command, "accelerate", {"launch"}).empty() || !in.has("config_file")) return;
    std::vector<Entry> file = launched_entries(script, command);
    if (file.empty()) return;
    for (Entry& entry : in.entries)
        if (entry.key == "config_file") {
            entry.written = std::exchange(entry.value, nullptr);
            entry.open.clear();
            entry.fate = Fate::no_number;
        }
    in.entries.insert(in.entries.begin(), file.begin(), file.end());
    const auto processes = in.whole("num_processes", "gpus");
    if (!in.job.contains("gpus") && processes && *processes > 0 && *processes < 1'000'000) in.job["gpus"] = *processes;
}

}  // namespace fourfold
