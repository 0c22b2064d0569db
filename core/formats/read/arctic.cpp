// ArcticTraining 0.1 (arctic_training/config/trainer.py, model.py): its file in the words of the Trainer, which it resembles: a checkpoint
// of transformers, DeepSpeed around it.
#include <algorithm>
#include <utility>

#include "formats/read/wrapped.h"

namespace fourfold {

using ArcticName = std::pair<std::string_view, std::string_view>;

// Ulysses hands each sequence of a group around, so a step takes as many as there are GPUs (build_deepspeed_config, UlyssesSPDataLoader).
static void count_groups(std::vector<Entry>& entries, std::int64_t group) {
    if (group < 2 || group > 100'000) return;
    std::int64_t steps = 1;
    for (Entry& entry : entries)
        if (const auto said = number_in(entry.value); entry.key == "gradient_accumulation_steps" && said && *said > 0 && *said < 1e6) {
            steps = static_cast<std::int64_t>(*said) * group;
            entry.written = std::exchange(entry.value, steps);
        }
    if (steps == 1) entries.push_back({"gradient_accumulation_steps", "", group});
}

bool unwrap_arctic(std::vector<Entry>& entries) {
    constexpr ArcticName kArcticNames[] = {{"model.name_or_path", "model_name_or_path"},
                                           {"model.attn_implementation", "attn_implementation"},
                                           {"model.dtype", "torch_dtype"},
                                           {"model.peft_config.r", "lora_r"},
                                           {"model.peft_config.lora_dropout", "lora_dropout"},
                                           {"model.peft_config.target_modules", "lora_target_modules"},
                                           {"micro_batch_size", "per_device_train_batch_size"},
                                           {"data.max_length", "max_length"},
                                           {"sequence_parallel_size", "ulysses_sequence_parallel_size"},
                                           {"activation_checkpoint_cpu_offload", "activation_offloading"},
                                           {"epochs", "num_train_epochs"},
                                           {"train_iters", "max_steps"}};
    if (count_like(entries, {"model.name_or_path"}) == 0 ||
        count_like(entries, {"type", "micro_batch_size", "data.sources", "checkpoint*", "scheduler.*", "deepspeed.zero*"}) < 3)
        return false;
    const auto says = [&](std::string_view key) { return count_like(entries, {key}) > 0; };
    std::vector<Entry> unsaid = {{"gradient_checkpointing", "", true}};
    if (!says("micro_batch_size")) unsaid.push_back({"per_device_train_batch_size", "", 1});
    if (!says("model.dtype")) unsaid.push_back({"bf16", "", true});
    if (!says("deepspeed.zero_optimization.stage")) unsaid.push_back({"zero_optimization.stage", "", 2});
    std::int64_t group = 1;
    for (Entry& entry : entries) {
        const auto row =
            std::find_if(std::begin(kArcticNames), std::end(kArcticNames), [&](const ArcticName& one) { return one.first == entry.key; });
        const bool shards = entry.key.starts_with("deepspeed.zero_optimization.");
        for (const char* quiet : {"data.", "wandb.", "logger.", "scheduler.", "checkpoint", "optimizer.", "deepspeed", "min_iterations",
                                  "exit_iteration", "train_log", "eval_", "loss_log", "skip_validation", "type", "code"})
            if (row == std::end(kArcticNames) && !shards && entry.key.starts_with(quiet)) entry.fate = Fate::no_number;
        if (entry.key == "sequence_parallel_size") group = static_cast<std::int64_t>(number_in(entry.value).value_or(1));
        if (entry.key == "model.type" && entry.value == "liger")
            entry.key = "use_liger_kernel", entry.written = std::exchange(entry.value, true);
        if (entry.key == "model.disable_activation_checkpoint" && entry.value != false) unsaid[0].value = false, entry.fate = Fate::used;
        if (entry.key == "type" && entry.value != "sft") entry.key = "trl";  // "dpo"
        if (shards) entry.key.erase(0, std::string_view("deepspeed.").size());
        if (row != std::end(kArcticNames)) entry.key = row->second;
    }
    count_groups(entries, group);
    entries.insert(entries.end(), unsaid.begin(), unsaid.end());
    return true;
}

}  // namespace fourfold
