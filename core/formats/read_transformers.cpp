// Programs on the Trainer of Hugging Face's transformers, whatever they are called: transformers 4.56, training_args.py (its names and
// defaults), and the usual names around it (FastChat, LLaVA, TRL 0.21, alignment-handbook). A model by its name, ZeRO or FSDP by a path.
#include "formats/named_model.h"
#include "formats/read_jobs.h"
#include "formats/readers.h"
#include "formats/trainers.h"
#include "plan/plan.h"

namespace fourfold {

int transformers_likeness(const std::vector<Entry>& entries) {
    return count_like(entries, {"model_name_or_path", "model_id_or_path"}) > 0
               ? count_like(entries, {"per_device_train_batch_size", "gradient_accumulation_steps", "gradient_checkpointing"})
               : 0;
}

static void read_sharding(Import& in) {
    if (in.on("deepspeed", "zero"))
        read_zero_path(in, "deepspeed");
    else if (says_any(in, {"fsdp", "fsdp.*"}))
        read_fsdp(in, "fsdp_config.", "fsdp_config.version");
    else if (!says_any(in, {"config_file", "deepspeed_config*"}))  // else a file says it that is not here
        in.job["zero"] = "none";
}

static void read_part(Import& in) {
    const bool four = in.on("load_in_4bit", "frozen_weights") || in.on("q_lora", "frozen_weights"),
               eight = in.on("load_in_8bit", "frozen_weights");
    const bool lora = in.on("use_peft", "trained") || in.on("use_lora", "trained") || in.on("lora", "trained") ||
                      in.on("lora_enable", "trained") || in.text("train_type", "trained") == "lora" || four || eight ||
                      in.has("lora_rank") || in.has("lora_r");
    if (!lora) return;
    const char* rank = in.has("lora_rank") ? "lora_rank" : "lora_r";
    const char* targets = in.has("trainable") ? "trainable" : "lora_target_modules";
    read_adapters(in, {rank, targets, "lora_dropout", "", lora_query | lora_value});
    read_frozen(in, four, eight, "bnb_4bit_use_double_quant");
}

void read_transformers(Import& in) {
    in.mark_all({"do_train",
                 "do_eval",
                 "do_predict",
                 "dataset*",
                 "data_*",
                 "*_file",
                 "*_dir",
                 "*_data",
                 "train_data*",
                 "val_*",
                 "eval*",
                 "logging*",
                 "save_*",
                 "learning_rate",
                 "num_train_epochs",
                 "lr_scheduler*",
                 "warmup*",
                 "weight_decay",
                 "adam_*",
                 "seed",
                 "run_name",
                 "report_to",
                 "push_to_hub*",
                 "hub_*",
                 "overwrite*",
                 "trust_remote_code",
                 "resume*",
                 "ddp*",
                 "dataloader*",
                 "preprocessing*",
                 "per_device_eval*",
                 "max_grad_norm",
                 "max_steps",
                 "torch_dtype",
                 "model_revision",
                 "tokenizer*",
                 "chat_template*",
                 "packing",
                 "do_*",
                 "lora_alpha",
                 "gradient_checkpointing_kwargs*",
                 "tf32",
                 "use_fast*",
                 "cache_dir",
                 "group_by_length",
                 "remove_unused*",
                 "load_best*",
                 "metric*",
                 "prediction*",
                 "streaming",
                 "local_rank",
                 "master_*",
                 "lazy_preprocess",
                 "disable_tqdm",
                 "log_level",
                 "lr",
                 "conv_template",
                 "version",
                 "fsdp_*"},
                Fate::no_number);
    take_named_model(in, in.has("model_name_or_path") ? "model_name_or_path" : "model_id_or_path");
    in.set("sequence_length",
           in.whole({"model_max_length", "max_seq_length", "max_seq_len", "max_length", "block_size"}, "sequence_length"));
    in.set("context_parallel", in.whole("sequence_parallel_size", "context_parallel"));
    fill_pytorch(in);
    in.ask("gpus");
    read_copies_batch(in, {"per_device_train_batch_size", "gradient_accumulation_steps", ""});
    read_sharding(in);
    in.job["recompute"] = in.on("gradient_checkpointing", "recompute") ? "full" : "none";
    const auto kernel = in.text("attn_implementation", "attention"), named = in.text("attn_impl", "attention");
    if (kernel.value_or(named.value_or("")).starts_with("flash") || in.on("use_flash_attn", "attention")) in.job["attention"] = "flash";
    read_trainer_types(in);
    read_trainer_optimizer(in, "optim");
    read_part(in);
    ask_rest(in);
}

}  // namespace fourfold
