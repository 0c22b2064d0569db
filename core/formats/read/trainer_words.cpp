// Programs with words of their own: ms-swift 2, llama-recipes. What they say is put in the Trainer's.
#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "formats/documents.h"
#include "formats/read/trainers.h"

namespace fourfold {

void rename_entry(Entry& entry, std::span<const WordRow> rows) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const WordRow& one) { return entry.key == one.first; });
    if (row != rows.end()) entry.key = row->second;
}

// ms-swift 2, utils/argument.py, in the words of 3: LoRA on queries, keys and values unless it is told.
void translate_old_swift(Import& in) {
    constexpr WordRow kRows[] = {{"sft_type", "train_type"},
                                 {"batch_size", "per_device_train_batch_size"},
                                 {"lora_dropout_p", "lora_dropout"},
                                 {"quantization_bit", "quant_bits"},
                                 {"lora_target_modules", "target_modules"}};
    for (Entry& entry : in.entries) {
        rename_entry(entry, kRows);
        if (entry.key == "target_modules" && entry.value == "ALL") entry.value = "all-linear";
        if (entry.key == "target_modules" && entry.value == "DEFAULT") entry.value = Json{"q_proj", "k_proj", "v_proj"};
        if (entry.key == "dtype" && (entry.value == "bf16" || entry.value == "fp16"))
            in.become(entry, entry.value == "bf16" ? "bf16" : "fp16", true);
        std::string* const type = entry.key == "model_type" ? entry.value.get_ptr<Json::string_t*>() : nullptr;
        for (std::size_t i = 1; type != nullptr && i + 1 < type->size(); ++i)  // "qwen2-1_5b-instruct"
            if ((*type)[i] == '_' && (*type)[i - 1] >= '0' && (*type)[i - 1] <= '9' && (*type)[i + 1] >= '0' && (*type)[i + 1] <= '9')
                (*type)[i] = '.';
    }
    in.mark_all({"tuner_backend", "template_type", "bnb_4bit_comp_dtype", "train_dataset_sample", "custom_*", "dtype"}, Fate::no_number);
    if (!in.has("swift")) in.derive(Entry(*in.last("train_type")), "swift", "sft");
    if (!in.has("target_modules")) in.derive(Entry(*in.last("train_type")), "target_modules", Json{"q_proj", "k_proj", "v_proj"});
}

// Meta's llama-recipes 0.0.5, configs/training.py, fsdp.py and peft.py, in the Trainer's words.
void translate_llama_recipes(Import& in) {
    constexpr WordRow kRows[] = {{"batch_size_training", "per_device_train_batch_size"},
                                 {"fsdp_config.fsdp_activation_checkpointing", "fsdp_activation_checkpointing"},
                                 {"use_fp16", "fp16"}};
    for (Entry& entry : in.entries) rename_entry(entry, kRows);
    const auto unsaid = [&](std::string_view key, Json value) {
        if (in.last(key) == nullptr) in.entries.push_back({std::string(key), "", std::move(value)});
    };
    unsaid("per_device_train_batch_size", 4);
    if (!in.on("fp16", "precision")) unsaid("bf16", true);
    if (in.on("enable_fsdp", "zero")) {
        unsaid("fsdp", "full_shard");
        unsaid("gradient_checkpointing",
               in.last("fsdp_activation_checkpointing") == nullptr || in.on("fsdp_activation_checkpointing", "recompute"));
    }
    if (const auto way = in.text("peft_method", "trained"); in.on("use_peft", "trained")) {
        if (way && *way != "lora") refuse_mode(in, *way);
        unsaid("lora_rank", 8);
        unsaid("lora_dropout", 0.05);
    }
    for (Entry& entry : in.entries)  // "4bit", "8bit", and true of old for the latter (configs/training.py)
        if (entry.key == "quantization" && entry.value.is_string())
            in.become(entry, entry.value == "4bit" ? "load_in_4bit" : "load_in_8bit",
                      lower_case(entry.value.get<std::string>()) != "none" && lower_case(entry.value.get<std::string>()) != "false");
    in.mark_all(
        {"batching_strategy", "dist_checkpoint*", "*dataset*", "save_*", "num_epochs", "run_validation", "low_cpu_fsdp", "use_wandb"},
        Fate::no_number);
}

// --fsdp_config '{"activation_checkpointing": true}', --deepspeed '{"zero_optimization": …}': the Trainer takes the text of an object in
// the place of a file, and FSDP's keys with their prefix too (training_args.py, _VALID_DICT_FIELDS and __post_init__).
void spread_objects(Import& in) {
    std::vector<Entry> all;
    for (const Entry& entry : in.entries) {
        const auto* const text = entry.value.get_ptr<const Json::string_t*>();
        const bool fsdp = entry.key == "fsdp_config";
        if (text == nullptr || !text->starts_with('{') || !(fsdp || entry.key == "deepspeed")) continue;
        std::vector<Entry> inner;
        add_object(*text, fsdp ? entry.key : "", inner);
        for (Entry& one : inner) one.line = entry.line;
        if (fsdp)
            all.insert(all.end(), inner.begin(), inner.end());
        else
            add_deepspeed_file(all, inner);
    }
    in.entries.insert(in.entries.end(), all.begin(), all.end());
    for (Entry& entry : in.entries)
        if (entry.key.starts_with("fsdp_config.fsdp_")) entry.key.erase(12, 5);
}

}  // namespace fourfold
