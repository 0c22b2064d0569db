// Which format a list of settings is in: its keys tell.
#include <algorithm>

#include "formats/megatron/read.h"
#include "formats/read/jobs.h"
#include "formats/read/wrapped.h"
#include "formats/readers.h"
#include "formats/shell/files.h"
#include "job/config_format.h"

namespace fourfold {

// The more particular ones first: a file of Primus has the names of Megatron-LM too.
static constexpr FormatReader kReaders[] = {
    {"primus", "Primus", primus_likeness, read_primus},
    {"picotron", "picotron", picotron_likeness, read_picotron},
    {"nemo-automodel", "NeMo Automodel", automodel_likeness, read_automodel},
    {"lm-engine", "lm-engine", lm_engine_likeness, read_lm_engine},
    {"hyperpod", "SageMaker HyperPod", hyperpod_likeness, read_hyperpod},
    {"torchtune", "torchtune", torchtune_likeness, read_torchtune},
    {"litgpt", "LitGPT", litgpt_likeness, read_litgpt},
    {"nanogpt", "nanoGPT", nanogpt_likeness, read_nanogpt},
    {"llm.c", "llm.c", llmc_likeness, read_llmc},
    {"xtuner", "XTuner", xtuner_likeness, read_xtuner},
    {"internevo", "InternEvo", internevo_likeness, read_internevo},
    {"colossal-ai", "Colossal-AI", colossal_likeness, read_colossal},
    {"verl", "verl", verl_likeness, read_verl},
    {"nemo-rl", "NeMo RL", nemo_rl_likeness, read_nemo_rl},
    {"nanotron", "", nanotron_likeness, read_nanotron},
    {"torchtitan", "", torchtitan_likeness, read_torchtitan},
    {"gpt-neox", "GPT-NeoX", neox_likeness, read_neox},
    {"axolotl", "Axolotl", axolotl_likeness, read_axolotl},
    {"llama-factory", "LLaMA-Factory", llama_factory_likeness, read_llama_factory},
    {"transformers", "Transformers", transformers_likeness, read_transformers},
    {"llm-foundry", "LLM Foundry", foundry_likeness, read_foundry},
    {"olmo", "OLMo", olmo_likeness, read_olmo},
    {"maxtext", "MaxText", maxtext_likeness, read_maxtext},
    {"levanter", "Levanter", levanter_likeness, read_levanter},
    {"accelerate", "", accelerate_likeness, read_accelerate},
    {"deepspeed", "", deepspeed_likeness, read_deepspeed},
    {"nemo-1", "NeMo 1", nemo1_likeness, read_nemo1},
    {"megatron-bridge", "", bridge_likeness, read_bridge},
    {"nemo-2", "", nemo2_likeness, read_nemo2},
    {"megatron-lm", "", megatron_yaml_likeness, read_megatron_yaml},
};

int count_like(const std::vector<Entry>& entries, std::initializer_list<std::string_view> patterns) {
    return static_cast<int>(std::count_if(entries.begin(), entries.end(), [&](const Entry& entry) {
        return std::any_of(patterns.begin(), patterns.end(), [&](std::string_view one) { return matches(one, entry.key); });
    }));
}

const FormatReader* reader_of(const std::vector<Entry>& entries) {
    const auto found =
        std::find_if(std::begin(kReaders), std::end(kReaders), [&](const FormatReader& one) { return one.likeness(entries) > 0; });
    return found == std::end(kReaders) ? nullptr : &*found;
}

void add_job(ReadJobs& read, ReadJob job) {
    for (const Entry& entry : job.in.entries)
        if (entry.fate == Fate::open)
            for (const std::string& name : entry.open) read.choices[name];
    read.jobs.push_back(std::move(job));
}

const FormatReader* reader_called(std::string_view id) {
    const auto found = std::find_if(std::begin(kReaders), std::end(kReaders), [&](const FormatReader& one) { return one.id == id; });
    return found == std::end(kReaders) ? nullptr : &*found;
}

std::string_view label_of_format(std::string_view id) {
    const auto row = std::find_if(kConfigFormats.begin(), kConfigFormats.end(), [&](const ConfigFormatRow& one) { return one.id == id; });
    if (row != kConfigFormats.end()) return row->label;
    const FormatReader* const reader = reader_called(id);
    return reader == nullptr ? id : reader->label;
}

// Settings of another program, with a script that it starts among them.
static std::optional<ReadJobs> read_scripts_inside(const std::vector<Entry>& entries, const NamesSet& set) {
    constexpr std::size_t kMostScripts = 20;
    std::size_t scripts = 0;
    NamesSet told = set;
    for (const Entry& entry : entries) {  // of MosaicML's platform, whose nodes have 8, and which tells them how many they are
        const auto* const gpus = entry.key == "compute.gpus" ? entry.value.get_ptr<const std::int64_t*>() : nullptr;
        if (gpus == nullptr || *gpus <= 0) continue;
        told.emplace("gpus", std::to_string(*gpus)), told.emplace("WORLD_SIZE", std::to_string(*gpus));
        if (*gpus % 8 == 0) told.emplace("NUM_NODES", std::to_string(*gpus / 8));
    }
    for (const Entry& entry : entries)
        for (const Json& value : entry.value.is_array() ? entry.value : Json::array({entry.value})) {
            const auto* text = value.get_ptr<const Json::string_t*>();
            if (text == nullptr || !holds_command(*text) || ++scripts > kMostScripts) continue;
            if (auto read = read_script(*text, told, std::max<std::int64_t>(entry.line, 1))) return read;
        }
    return std::nullopt;
}

// A trial of Determined that starts gpt-neox: what it overrides stands here, the rest in files that it names.
static bool unwrap_trial(std::vector<Entry>& entries) {
    constexpr std::string_view kOverrides = "hyperparameters.overwrite_values.";
    bool found = false;
    for (Entry& entry : entries)
        if (std::string_view(entry.key).starts_with(kOverrides)) entry.key.erase(0, kOverrides.size()), found = true;
    return found;
}
static void settle_trial(Import& in) {
    const auto gpus = in.whole("resources.slots_per_trial", "gpus");
    if (gpus && *gpus > 0 && *gpus < 1'000'000) in.job["gpus"] = *gpus;
}
static void leave_files(Import& in) {
    const Entry* const files = in.last("hyperparameters.conf_file");
    if (files == nullptr) return;
    in.keep_said({"gpus"});
    in.refused.clear();
    std::string names;
    for (const Json& one : files->value.is_array() ? files->value : Json::array({files->value}))
        if (one.is_string()) names += (names.empty() ? "" : ", ") + one.get<std::string>();
    in.notes = {Text("import_plan.note.file").with("file", names.substr(0, 200))};
    in.mark_all({"name", "debug", "profiling*", "hyperparameters.*", "environment*", "resources*", "searcher*", "entrypoint", "min_*",
                 "bind_mounts*", "max_*", "records_*", "checkpoint_*"},
                Fate::no_number);
}

// A program of one's own around the Trainer: its arguments are a section of the file, the adapter and the model are others.
static bool unwrap_trainer(std::vector<Entry>& entries) {
    constexpr std::string_view kTrainerBatch = ".per_device_train_batch_size";
    constexpr std::string_view kAdapterSections[] = {"peft_config.", "peft.", "lora.", "lora_config."};
    constexpr std::string_view kModelNames[] = {
        "name",     "name_or_path", "model_name", "model_name_or_path",           "base_model", "base_model_id",
        "model_id", "base",         "id",         "pretrained_model_name_or_path"};
    const auto batch = std::find_if(entries.begin(), entries.end(), [&](const Entry& one) { return one.key.ends_with(kTrainerBatch); });
    if (batch == entries.end()) return false;
    const std::string section = batch->key.substr(0, batch->key.size() - kTrainerBatch.size() + 1);
    for (Entry& entry : entries) {
        if (entry.key.starts_with(section)) entry.key.erase(0, section.size());
        for (const std::string_view adapter : kAdapterSections)
            if (entry.key.starts_with(adapter)) {
                entry.key.erase(0, adapter.size());
                if (entry.key == "r" || entry.key == "rank") entry.key = "lora_r";
                if (entry.key == "dropout" || entry.key == "alpha") entry.key = "lora_" + entry.key;
            }
        const bool model = entry.key.starts_with("model.");
        const std::string last = entry.key.substr(entry.key.rfind('.') + 1);
        if (model && std::find(std::begin(kModelNames), std::end(kModelNames), entry.key.substr(6)) != std::end(kModelNames))
            entry.key = "model_name_or_path";
        else if (entry.key.starts_with("deepspeed.config"))
            entry.key = "deepspeed";
        else if (last.starts_with("load_in_") || last == "max_seq_length" || last == "max_length" || last == "torch_dtype" ||
                 last == "attn_implementation")
            entry.key = last;
    }
    return true;
}

// SageMaker HyperPod's fine-tuning (sagemaker-hyperpod-recipes, llmft_*): OpenRLHF's names, each in a section of its own.
static bool unwrap_hyperpod(std::vector<Entry>& entries) {
    if (count_like(entries, {"training_config.training_args.micro_train_batch_size"}) == 0) return false;
    constexpr std::string_view kRecipeSections[] = {"training_config.training_args.strategy.", "training_config.training_args.",
                                                    "training_config.model_config.peft_config.", "training_config.model_config.",
                                                    "trainer."};
    constexpr std::pair<std::string_view, std::string_view> kRecipeNames[] = {{"r", "lora_r"},
                                                                              {"target_modules", "lora_target_modules"},
                                                                              {"trainer_type", "trl"},
                                                                              {"fsdp_config.cpu_offload", "fsdp_config.offload_params"}};
    bool shards = false;
    for (Entry& entry : entries) {
        const bool quiet = entry.key.starts_with("training_config.datasets.") || entry.key.starts_with("scale_config.") ||
                           entry.key.starts_with("elastic_policy.") || entry.key.starts_with("run.") ||
                           entry.key.find(".generation_cfg.") != std::string::npos || entry.key.find(".mlflow.") != std::string::npos;
        if (quiet) entry.fate = Fate::no_number;
        for (const std::string_view section : kRecipeSections)
            if (!quiet && entry.key.starts_with(section)) {
                entry.key.erase(0, section.size());
                break;
            }
        for (const auto& [from, to] : kRecipeNames)
            if (!quiet && entry.key == from) entry.key = to;
        if (entry.key == "trl" && entry.value == "sft") entry.key = "trainer_type", entry.fate = Fate::no_number;
        shards = shards || entry.key == "fsdp_config.sharding_strategy";
    }
    if (shards) entries.push_back({"fsdp", "", "full_shard"});
    return true;
}

// The Trainer's arguments in a file (TRL, alignment-handbook): what divides the weights is said to "accelerate launch".
static void note_launcher(Import& in) {
    const bool usual = in.job.value("zero", "") == "none" && !is_said(in, "zero") && in.job.value("gpus", 0) != 1;
    if (usual && in.notes.empty()) in.notes.push_back(Text("import_plan.note.file").with("file", "accelerate launch --config_file"));
}

std::optional<ReadJobs> read_setting_jobs(std::vector<Entry> entries, const NamesSet& set) {
    const bool trial = unwrap_trial(entries);
    unwrap_wandb(entries);
    unwrap_hyperpod(entries);
    const FormatReader* reader = reader_of(entries);
    if (reader == nullptr && unwrap_arctic(entries)) reader = reader_of(entries);
    if (reader == nullptr && unwrap_trainer(entries)) reader = reader_of(entries);
    if (reader == nullptr) {
        auto read = read_cluster_job(entries, set);
        return read ? std::move(read) : read_scripts_inside(entries, set);
    }
    ReadJobs read{std::string(reader->id), true, {}, {}};
    for (auto& [title, part] : parts_of(std::move(entries))) {
        ReadJob job;
        job.title = title;
        job.line = part.empty() ? 0 : part[0].line;
        job.in.entries = std::move(part);
        job.in.answers = set;
        if (trial) settle_trial(job.in);
        reader->read(job.in);
        if (trial) leave_files(job.in);
        if (reader->id == "transformers") note_launcher(job.in);
        read.jobs.push_back(std::move(job));
    }
    return read;
}

}  // namespace fourfold
