// OpenRLHF 0.8 and 0.10, cli/train_sft.py, in the words of the Trainer.
#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "formats/read/trainers.h"

namespace fourfold {

// OpenRLHF 0.10 has its arguments in sections. What it takes unsaid is bf16, as before.
static void leave_sections(Import& in) {
    constexpr WordRow kRlhfRows[] = {{"model.model_name_or_path", "pretrain"},
                                     {"actor.model_name_or_path", "pretrain"},
                                     {"data.max_len", "max_len"},
                                     {"train.micro_batch_size", "micro_train_batch_size"},
                                     {"train.batch_size", "train_batch_size"},
                                     {"train.max_epochs", "max_epochs"},
                                     {"model.gradient_checkpointing_enable", "gradient_checkpointing"},
                                     {"actor.gradient_checkpointing_enable", "gradient_checkpointing"},
                                     {"actor.num_nodes", "actor_num_nodes"},
                                     {"actor.num_gpus_per_node", "actor_num_gpus_per_node"},
                                     {"ds.lora.rank", "lora_rank"},
                                     {"ds.lora.alpha", "lora_alpha"},
                                     {"ds.lora.dropout", "lora_dropout"},
                                     {"ds.lora.target_modules", "target_modules"},
                                     {"ds.tensor_parallel_size", "ds_tensor_parallel_size"}};
    bool sections = false;
    for (Entry& entry : in.entries) {
        rename_entry(entry, kRlhfRows);
        sections = sections || entry.key.starts_with("ds.");
        if (entry.key == "ds.param_dtype") in.become(entry, entry.value == "fp16" ? "fp16" : "bf16", true);
        if (entry.key.starts_with("ds.")) entry.key.erase(0, 3);
    }
    if (sections && !in.has("fp16") && in.last("bf16") == nullptr) in.entries.push_back({"bf16", "", true});
    in.mark_all({"data.*", "logger.*", "ckpt.*", "eval.*", "adam.*", "lr_*", "train.*", "muon.*"}, Fate::no_number);
}

// cli/train_ppo_ray.py: its actor trains on prompts with their answers (trainer/ray/ppo_actor.py); what answers and judges is not counted.
static void translate_actor(Import& in) {
    const auto prompt = in.whole("prompt_max_len", "sequence_length"), answer = in.whole("generate_max_len", "sequence_length");
    constexpr std::int64_t kLongest = 100'000'000;
    if (prompt && answer && *prompt > 0 && *answer > 0 && *prompt < kLongest && *answer < kLongest) {
        in.entries.push_back({"max_length", "", *prompt + *answer});
        const auto most = in.whole("train_max_tokens_per_gpu", "");
        const bool packs = in.on("use_dynamic_batch", "");
        if (packs && most && *most > 0 && *most % (*prompt + *answer) == 0)  // whole sequences fill them
            in.entries.push_back({"micro_batch_size", "", *most / (*prompt + *answer)});
        else if (packs)
            in.notes.push_back(Text("import_plan.note.not_counted").with("key", "use_dynamic_batch"));
    }
    if (const auto type = in.text("param_dtype", "precision"); !in.has("bf16") && !in.has("fp16"))
        in.entries.push_back({type == "fp16" ? "fp16" : "bf16", "", true});
    in.mark_all({"ref_*",         "critic_*",
                 "reward_*",      "remote_*",
                 "vllm_*",        "colocate_*",
                 "*rollout_*",    "n_samples*",
                 "num_episodes",  "actor_*",
                 "advantage_*",   "*kl*",
                 "eps_clip*",     "dynamic_filtering*",
                 "prompt_data*",  "label_key",
                 "enforce_eager", "temperature",
                 "top_p",         "gamma",
                 "lambd",         "normalize_*",
                 "async_*",       "deepspeed_enable_sleep",
                 "save_hf_ckpt",  "freezing_*",
                 "num_samples",   "pi_buffer*"},
                Fate::no_number);
    in.notes.emplace_back("import_plan.note.actor");
}

// OpenRLHF 0.8, cli/train_sft.py, in the Trainer's words; its other programs train with more than one model.
void translate_rlhf(Import& in) {
    leave_sections(in);
    constexpr WordRow kRlhfRows[] = {{"pretrain", "model_name_or_path"},
                                     {"micro_train_batch_size", "micro_batch_size"},
                                     {"train_batch_size", "batch_size"},
                                     {"max_len", "max_length"},
                                     {"flash_attn", "use_flash_attn"},
                                     {"ds_tensor_parallel_size", "tensor_parallel_size"},
                                     {"ring_attn_size", "sequence_parallel_size"},
                                     {"train_batch_size_per_device", "micro_batch_size"},
                                     {"prompt_max_length", "prompt_max_len"},
                                     {"generate_max_length", "generate_max_len"}};
    const bool oat = in.has("train_batch_size_per_device");
    if (oat && in.on("collocate", "gpus"))  // else some of them only answer
        if (const auto gpus = in.whole({"gpus", "total_gpus"}, "gpus"); gpus && *gpus > 0 && *gpus < 1'000'000) in.job["gpus"] = *gpus;
    for (Entry& entry : in.entries) {
        rename_entry(entry, kRlhfRows);
        if (entry.key == "lora_rank" && entry.value == "0") entry.fate = Fate::no_number, entry.key = "lora_alpha";
    }
    in.mark_all({"apply_chat_template", "input_key", "output_key", "chosen_key", "rejected_key", "max_epochs", "max_samples",
                 "packing_samples", "input_template", "load_checkpoint", "ckpt_path", "l2", "train_split", "eval_split", "beta",
                 "init_kl_coef", "*_dataset", "*wandb*"},
                Fate::no_number);
    const std::string module = in.text("module", "").value_or("");
    constexpr std::string_view kRlhfProgram = "cli.train_";
    const std::size_t at = module.find(kRlhfProgram);
    const std::string way = at == std::string::npos ? "sft" : module.substr(at + kRlhfProgram.size());
    if (way == "ppo_ray" || oat)
        translate_actor(in);
    else if (!way.starts_with("sft"))
        refuse_mode(in, way);
    const auto nodes = in.whole("actor_num_nodes", "gpus"), each = in.whole("actor_num_gpus_per_node", "gpus");
    if (nodes && each && *nodes > 0 && *each > 0 && *nodes < 100'000 && *each < 1'000) in.job["gpus"] = *nodes * *each;
    if (in.last("zero_stage") == nullptr && !in.has("fsdp")) in.entries.push_back({"zero_stage", "", 2});  // its own default
    if (in.on("adam_offload", "optimizer_offload")) in.job["optimizer_offload"] = 1.0;
}

}  // namespace fourfold
