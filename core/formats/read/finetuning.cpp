// Axolotl 067b021c8 and LLaMA-Factory ff6d4d12e: a model by its name, the rest is a trainer's. LoRA and QLoRA are read; other ways to train
// a part are recognised, and not counted.
#include <algorithm>

#include "base/text.h"
#include "formats/megatron/read.h"
#include "formats/named_model.h"
#include "formats/read/jobs.h"
#include "formats/read/trainers.h"
#include "formats/readers.h"
#include "plan/plan.h"

namespace fourfold {

int axolotl_likeness(const std::vector<Entry>& entries) {
    return count_like(entries, {"base_model"}) > 0
               ? count_like(entries, {"sequence_len", "datasets*", "adapter", "sample_packing", "micro_batch_size", "val_set_size"})
               : 0;
}

// Axolotl takes no other number of GPUs than its degrees say, once the shards are among them (loaders/utils or patches of accelerate).
static void read_mesh(Import& in) {
    constexpr const char* kDegrees[] = {"dp_shard_size",         "dp_replicate_size",        "tensor_parallel_size",
                                        "context_parallel_size", "sequence_parallel_degree", "expert_parallel_size"};
    if (in.whole("dp_shard_size", "gpus").value_or(0) <= 0) return;
    std::int64_t product = 1;
    for (const char* key : kDegrees) {
        const std::int64_t degree = in.whole(key, "gpus").value_or(1);
        product = degree > 0 && degree <= 1'048'576 && product <= 1'048'576 ? product * degree : 0;
    }
    if (product > 0 && product <= 1'048'576 && !in.hangs("gpus")) in.job["gpus"] = product;
}

constexpr std::string_view kQuietOfAxolotl[] = {"base_model_config",
                                                "model_type",
                                                "tokenizer*",
                                                "datasets*",
                                                "dataset_*",
                                                "val_set_size",
                                                "output_dir",
                                                "wandb*",
                                                "num_epochs",
                                                "lr_scheduler*",
                                                "learning_rate",
                                                "train_on_inputs",
                                                "group_by_length",
                                                "tf32",
                                                "sample_packing*",
                                                "pad_to*",
                                                "eval_*",
                                                "warmup*",
                                                "evals_per*",
                                                "saves_per*",
                                                "save_*",
                                                "logging*",
                                                "weight_decay",
                                                "special_tokens*",
                                                "xformers*",
                                                "resume*",
                                                "local_rank",
                                                "early_stopping*",
                                                "hub_*",
                                                "strict",
                                                "adam_*",
                                                "max_grad_norm",
                                                "test_datasets*",
                                                "chat_template*",
                                                "shuffle*",
                                                "seed",
                                                "plugins*",
                                                "trust_remote*",
                                                "gradient_checkpointing_kwargs*",
                                                "fsdp*",
                                                "revision*",
                                                "is_*",
                                                "auto_resume*",
                                                "debug",
                                                "deepspeed",
                                                "lora_alpha",
                                                "lora_fan*",
                                                "lora_mlp_kernel",
                                                "lora_qkv_kernel",
                                                "lora_o_kernel",
                                                "lora_on_cpu",
                                                "loraplus*",
                                                "overrides*",
                                                "max_steps",
                                                "cut_cross*",
                                                "liger*",
                                                "torch_compile*",
                                                "load_best*",
                                                "flash_attn*",
                                                "ddp*",
                                                "mlflow*",
                                                "use_tensorboard",
                                                "loss_watchdog*",
                                                "flex_*",
                                                "cosine_*",
                                                "fp8_enable*"};

// Kernels come with its plugins (integrations/liger/args.py and cut_cross_entropy/args.py): Liger's each by its key, cut cross entropy
// unless it is switched off. Without the plugin their keys are nobody's.
static void read_plugins(Import& in) {
    const auto find = [&](std::string_view plugin) {
        return std::find_if(in.entries.begin(), in.entries.end(), [&](const Entry& entry) {
            return entry.key.starts_with("plugins") && dumped(entry.value).find(plugin) != std::string::npos;
        });
    };
    const bool liger = find("LigerPlugin") != in.entries.end();
    const auto found = find("CutCrossEntropyPlugin");
    const bool cuts = found != in.entries.end();
    if (cuts && in.last("cut_cross_entropy") == nullptr) {
        in.text(found->key, "loss");
        in.derive(*found, "cut_cross_entropy", true);
    }
    for (Entry& entry : in.entries)
        if (entry.key.starts_with("liger_") ? !liger : entry.key == "cut_cross_entropy" && !cuts) entry.key = "no_" + entry.key;
}

void read_axolotl(Import& in) {
    in.mark_all(kQuietOfAxolotl, Fate::no_number);
    read_plugins(in);
    for (Entry& entry : in.entries)  // its section of 0.20 (utils/schemas/config.py)
        if (entry.key == "context_parallel.size")
            entry.key = "context_parallel_size";
        else if (entry.key == "context_parallel.backend" && entry.value == "ulysses")
            in.text(entry.key, "context_parallel_kind"), in.job["context_parallel_kind"] = "all_to_all";
    in.mark_all({"context_parallel.*"}, Fate::no_number);
    for (Entry& entry : in.entries)  // both spellings are taken
        if (entry.key.starts_with("fsdp_config.fsdp_") && entry.key != "fsdp_config.fsdp_version") entry.key.erase(12, 5);
    take_named_model(in, "base_model");
    in.set("sequence_length", in.whole("sequence_len", "sequence_length"));
    in.set("tensor_parallel", in.whole("tensor_parallel_size", "tensor_parallel"));
    in.set("context_parallel", in.whole({"context_parallel_size", "sequence_parallel_degree"}, "context_parallel"));
    in.set("shard_replicas", in.whole("dp_replicate_size", "shard_replicas"));
    in.set("expert_parallel", in.whole("expert_parallel_size", "expert_parallel"));
    const auto shards = in.whole("dp_shard_size", "zero");
    fill_transformers(in);
    read_mesh(in);
    in.ask("gpus");
    const auto batch = in.whole("batch_size", "global_batch"), micro = in.whole("micro_batch_size", "micro_batch");
    if (batch && in.has("gradient_accumulation_steps"))
        refuse_both(in, "batch_size", "gradient_accumulation_steps");
    else if (batch && micro && *micro > 0 && *batch >= *micro)  // it is a copy's, not the run's
        in.derive(*in.last("batch_size"), "gradient_accumulation_steps", *batch / *micro);
    read_copies_batch(in, {"micro_batch_size", "gradient_accumulation_steps", ""});
    const bool fsdp = says_any(in, {"fsdp", "fsdp.*", "fsdp_config.*"});
    if (fsdp && in.has("deepspeed")) refuse_both(in, "deepspeed", "fsdp");
    if (in.on("deepspeed", "zero"))
        read_zero_path(in, "deepspeed");
    else if (fsdp || (shards && *shards > 1))
        read_fsdp(in, "fsdp_config.", in.has("fsdp_version") ? "fsdp_version" : "fsdp_config.fsdp_version");
    else
        in.job["zero"] = "none";
    if (in.on("gradient_checkpointing", "recompute"))
        in.job["recompute"] = "full";
    else if (!in.job.contains("recompute") && !in.hangs("recompute"))
        in.job["recompute"] = "none";
    if (in.on("activation_offloading", "activation_offload")) in.job["activation_offload"] = 1.0;
    const auto kernel = in.text("attn_implementation", "attention"), named = in.text("attention", "attention");
    read_attention_kernel(in, kernel.value_or(named.value_or("")));
    if (in.on("sdp_attention", "attention")) in.job["attention"] = "auto";
    if (in.on("flash_attention", "attention")) in.job["attention"] = "flash";
    if (in.on("eager_attention", "attention")) in.job["attention"] = "plain";
    read_trainer_types(in);
    read_trainer_optimizer(in, "optimizer");
    const auto adapter = in.text("adapter", "trained");
    if (adapter == "lora" || adapter == "qlora") {
        read_adapters(in, {"lora_r", "lora_target_modules", "lora_dropout", "lora_target_linear", lora_query | lora_value, 8, true});
        const bool four = in.on("load_in_4bit", "frozen_weights"), eight = in.on("load_in_8bit", "frozen_weights");
        read_frozen(in, four || (adapter == "qlora" && !eight), eight, "bnb_config_kwargs.bnb_4bit_use_double_quant");
        refuse_adapters(in, {"rl", "peft_use_dora", "reward_model"});
        if (adapter == "qlora" && eight) refuse_both(in, "qlora", "load_in_8bit");
        if (adapter == "qlora" && !four && !eight && !in.hangs("frozen_weights"))
            in.refused.push_back(Text("import_plan.refused.needs").with("one", "qlora").with("other", "load_in_4bit"));
    } else if (!in.has("settings_file"))
        refuse_adapters(in, {"adapter", "load_in_4bit", "load_in_8bit", "rl", "lora_model_dir", "reward_model"});
    read_liger(in);
    train_in_16_bits(in);  // it loads weights in the type of its multiplications
    if (says_any(in, {"unfrozen_parameters*"})) refuse_mode(in, "unfrozen_parameters");
    if (!leave_to_file(in))
        refuse_without(in, "Axolotl", "learning_rate");  // the one number that its schema has no value for (schemas/training.py)
    ask_rest(in);
}

int llama_factory_likeness(const std::vector<Entry>& entries) {
    const int own = count_like(entries, {"finetuning_type", "cutoff_len", "lora_target", "quantization_bit"});
    return own > 1 || count_like(entries, {"model_name_or_path"}) > 0 ? own : 0;
}

static void read_factory_zero(Import& in) {
    if (in.on("deepspeed", "zero"))
        read_zero_path(in, "deepspeed");
    else if (in.on("use_distributed_optimizer", "zero"))
        in.job["zero"] = "optimizer";
    else if (says_any(in, {"fsdp", "fsdp.*"}))
        read_fsdp(in, "fsdp_config.", "fsdp_config.fsdp_version");
    else if (!read_launched_sharding(in) && !says_any(in, {"fsdp_config*"}))  // else a file says it that is not here
        in.job["zero"] = "none";
}

constexpr std::string_view kQuietOfFactory[] = {"do_train",
                                                "do_eval",
                                                "dataset*",
                                                "template",
                                                "max_samples",
                                                "overwrite*",
                                                "preprocessing*",
                                                "output_dir",
                                                "logging*",
                                                "save_*",
                                                "plot_loss",
                                                "learning_rate",
                                                "num_train_epochs",
                                                "lr_scheduler*",
                                                "warmup*",
                                                "ddp_timeout",
                                                "val_size",
                                                "per_device_eval*",
                                                "eval_*",
                                                "report_to",
                                                "trust_remote_code",
                                                "resume*",
                                                "packing",
                                                "neat_packing",
                                                "dataloader*",
                                                "lora_alpha",
                                                "weight_decay",
                                                "max_grad_norm",
                                                "seed",
                                                "run_name",
                                                "max_steps",
                                                "adam_*",
                                                "rope_scaling",
                                                "enable_liger*",
                                                "freeze_*",
                                                "*swanlab*",
                                                "swanlab*",
                                                "tokenized_path",
                                                "streaming",
                                                "mask_history",
                                                "train_on_prompt",
                                                "image_*",
                                                "video_*",
                                                "pref_*",
                                                "gradient_checkpointing",
                                                "adapter_name*",
                                                "low_cpu*",
                                                "enable_thinking",
                                                "eval_dataset",
                                                "num_machines",
                                                "machine_rank",
                                                "main_process*",
                                                "evaluation_strategy"};

// What of the model learns.
static void read_factory_part(Import& in) {
    const auto type = in.text("finetuning_type", ""), stage = in.text("stage", "");
    const bool lora = type.value_or("lora") == "lora";  // its own default
    if (lora) {
        read_adapters(in, {"lora_rank", "lora_target", "lora_dropout", "", lora_all, 8, true});
        const auto bits = in.whole("quantization_bit", "frozen_weights");
        if (bits && *bits != 4 && *bits != 8) refuse_mode(in, "quantization_bit");
        read_frozen(in, bits == 4, bits == 8, "double_quantization");
    } else if (*type != "full")
        refuse_mode(in, *type);
    if (stage && *stage != "pt" && *stage != "sft") refuse_mode(in, *stage);
    if (!lora) refuse_adapters(in, {"quantization_bit"});
    read_liger(in);
    if (in.on("pure_bf16", "precision")) train_in_16_bits(in);
    refuse_adapters(in, {"use_galore", "use_badam", "use_apollo", "use_dora"});
    // The last one is trained on, as its own file says; those before it are in the weights.
    const bool resumed = lora && in.on("adapter_name_or_path", "");
    if (!lora) refuse_adapters(in, {"adapter_name_or_path"});
    if (resumed && !in.on("create_new_adapter", "")) note_file(in, "adapter_name_or_path");
}

// On Megatron Core (mcore_adapter/training_args.py of alibaba/ROLL 1bc12057), which USE_MCA switches on outside of the file: its degrees
// tell. The batch is the Trainer's; layers are computed again only where Megatron's own argument says it.
static void read_factory_on_megatron(Import& in) {
    if (const auto granularity = in.text("recompute_granularity", "recompute"); granularity == "full" && !in.has("recompute_method"))
        in.entries.push_back({"recompute_method", "", "uniform"}), in.entries.push_back({"recompute_num_layers", "", 1});
    const std::pair<const char*, Json> kUnsaid[] = {{"tensor_model_parallel_size", 1},
                                                    {"pipeline_model_parallel_size", 1},
                                                    {"context_parallel_size", 1},
                                                    {"expert_model_parallel_size", 1},
                                                    {"expert_tensor_parallel_size", 1},
                                                    {"sequence_parallel", false},
                                                    {"overlap_grad_reduce", false},
                                                    {"overlap_param_gather", false},
                                                    {"use_distributed_optimizer", false},
                                                    {"optimizer_cpu_offload", false},
                                                    {"accumulate_allreduce_grads_in_fp32", in.on("bf16", "gradients_in_fp32")}};
    for (const auto& [key, value] : kUnsaid)
        if (in.last(key) == nullptr) in.entries.push_back({key, "", value});
    for (const auto& [key, field] :
         {std::pair{"micro_batch_size", "micro_batch"}, {"global_batch_size", "global_batch"}, {"seq_length", "sequence_length"}})
        if (in.job.contains(field)) in.entries.push_back({key, "", in.job[field]});
    for (const char* field : {"framework", "zero", "recompute"}) in.job.erase(field);
    read_megatron(in, {.silent = true, .offload_fraction = 0, .needs_precision = false});
    std::erase_if(in.notes,
                  [](const Text& note) { return note.id() == "import_plan.note.recipe" || note.id() == "import_plan.note.no_model"; });
    if (!in.job.contains("recompute") && !in.hangs("recompute")) in.job["recompute"] = "none";
    in.partial = false;
    in.asked.clear();
}

void read_llama_factory(Import& in) {
    in.mark_all(kQuietOfFactory, Fate::no_number);
    take_named_model(in, "model_name_or_path");
    in.set("sequence_length", in.whole("cutoff_len", "sequence_length"));
    in.set("tensor_parallel", in.whole("tensor_model_parallel_size", "tensor_parallel"));
    in.set("pipeline_parallel", in.whole("pipeline_model_parallel_size", "pipeline_parallel"));
    in.set("expert_parallel", in.whole("expert_model_parallel_size", "expert_parallel"));
    in.set("virtual_stages", in.whole("virtual_pipeline_model_parallel_size", "virtual_stages"));
    in.set("context_parallel", in.whole({"context_parallel_size", "sequence_parallel_size"}, "context_parallel"));
    fill_transformers(in);
    in.ask("gpus");
    read_copies_batch(in, {"per_device_train_batch_size", "gradient_accumulation_steps", "train_batch_size"});
    read_factory_zero(in);
    in.job["recompute"] = in.on("disable_gradient_checkpointing", "recompute") ? "none" : "full";
    if (const auto kernel = in.text("flash_attn", "attention"))
        read_attention_kernel(in, *kernel == "fa2" || *kernel == "true" ? "flash" : *kernel == "disabled" ? "eager" : *kernel);
    read_launched_type(in);
    read_trainer_types(in);
    read_trainer_optimizer(in, "optim");
    read_factory_part(in);
    if (in.on("use_mca", "framework") || count_like(in.entries, {"*_model_parallel_size"}) > 0) read_factory_on_megatron(in);
    if (!leave_to_file(in)) refuse_without(in, "LLaMA-Factory", "model_name_or_path");
    ask_rest(in);
}

}  // namespace fourfold
