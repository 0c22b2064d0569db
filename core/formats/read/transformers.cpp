// Programs on the Trainer of Hugging Face's transformers, whatever they are called: transformers 4.56, training_args.py (its names and
// defaults), and the usual names around it (FastChat, LLaVA, TRL 0.21, alignment-handbook, ms-swift 3.9). A model by its name, ZeRO or FSDP
// by a path.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "formats/named_model.h"
#include "formats/read/jobs.h"
#include "formats/read/trainers.h"
#include "formats/read/wrapped.h"
#include "formats/readers.h"
#include "formats/shell/shell.h"
#include "plan/plan.h"

namespace fourfold {

int transformers_likeness(const std::vector<Entry>& entries) {
    for (const Entry& entry : entries)  // the Trainer's own: a path to DeepSpeed's file
        if (entry.key == "deepspeed" && entry.value.is_string() && entry.value.get<std::string>().ends_with(".json")) return 1;
    if (count_like(entries, {"pretrain", "micro_train_batch_size", "train_batch_size_per_device"}) > 1) return 2;  // OpenRLHF's, oat's
    if (count_like(entries, {"train.micro_batch_size", "ds.*"}) > 1) return 2;
    if (count_like(entries, {"sft_type", "swift"}) > 0 && count_like(entries, {"model", "model_type", "model_id_or_path"}) > 0) return 2;
    return count_like(entries, {"model_name_or_path", "model_id_or_path", "per_device_train_batch_size"}) > 0
               ? count_like(entries, {"per_device_train_batch_size", "gradient_accumulation_steps", "gradient_checkpointing", "swift"})
               : 0;
}

static void read_sharding(Import& in) {
    if (in.has("zero_stage") && !in.has("use_deepspeed")) {  // OpenRLHF, DeepSpeed-Chat
        read_zero_stage(in, "zero_stage");
        if (in.on("offload", "optimizer_offload")) {  // of all that a stage divides (dschat/utils/ds_utils.py, get_train_ds_config)
            in.job["optimizer_offload"] = 1.0;
            if (in.job.value("zero", "") == "weights") in.text("offload", "weights_offload"), in.job["weights_offload"] = true;
        }
        if (in.text("deepspeed", "") == "true") in.mark("deepspeed", Fate::no_number);
    } else if (in.has("zero_optimization.stage")) {  // a dictionary of the program, or a file that the script writes
        for (const char* key : {"deepspeed", "deepspeed_config"}) in.text(key, "zero");
        in.job["zero"] = "none";
        read_zero_block(in);
        if (!in.whole("zero_optimization.stage", "zero")) in.job.erase("zero");  // several are to be tried
    } else if (in.on("deepspeed_config", "zero")) {
        in.mark("deepspeed", Fate::used);
        read_zero_path(in, "deepspeed_config");
    } else if (in.on("deepspeed", "zero"))
        read_zero_path(in, "deepspeed");
    else if (says_any(in, {"fsdp", "fsdp.*"})) {
        read_fsdp(in, "fsdp_config.", "fsdp_config.version");
        if (in.text("fsdp_config", "").value_or("").ends_with(".json")) note_file(in, "fsdp_config");
    } else if (!read_launched_sharding(in) && in.has("per_device_train_batch_size") &&  // of a program of somebody's own nobody knows
               !says_any(in, {"deepspeed_config*", "sharded_ddp*", "deepspeed.*", "accelerate.*", "fsdp*", "*.deepspeed", "*.fsdp"}))
        // else a file says it that is not here, or fairscale does it, or a section that nobody knows
        in.job["zero"] = "none";
}

// False: it trains all, or what is not counted. LoRA there has dropout unless it is told.
static bool read_swift_adapters(Import& in, const char* usual) {
    const char* const key = in.has("tuner_type") ? "tuner_type" : "train_type";
    const std::string way = in.text(key, "trained").value_or(usual);
    if (in.hangs("trained") || way == "full") return false;
    if (way != "lora") return refuse_mode(in, way), false;
    read_adapters(in, {"lora_rank", "target_modules", "lora_dropout", "", lora_all, 8, true});
    if (!in.has("lora_dropout")) in.job["lora_dropout"] = true;
    return true;
}

// ms-swift 3.9: LoRA unless it is told, layers are recomputed, the type is the weights'; without steps the batch is at least 16.
static void read_swift(Import& in) {
    for (const char* stage : {"rlhf", "rm", "ppo", "grpo"})
        if (in.text("swift", "") == stage) refuse_mode(in, stage);
    if (!in.has("gradient_checkpointing") && !in.hangs("recompute")) in.job["recompute"] = "full";
    if (!in.has("gradient_accumulation_steps")) in.job.erase("global_batch");
    if (!read_swift_adapters(in, "lora")) return;
    const auto bits = in.whole("quant_bits", "frozen_weights");
    read_frozen(in, bits == 4, bits == 8, "bnb_4bit_use_double_quant");
}

// swift/megatron/arguments/megatron_args.py, 3.8 to 4.3; the type is the model's, of which those of today are bf16.
void fill_megatron_swift(Import& in, const std::string& way, std::int64_t line) {
    in.entries.push_back({"swift", "", way, line});
    const auto type = in.text("torch_dtype", "precision");
    if (type && *type != "bfloat16" && *type != "float16") in.mark("torch_dtype", Fate::unknown);
    const std::pair<const char*, Json> kUnsaid[] = {
        {"tensor_model_parallel_size", 1},  {"pipeline_model_parallel_size", 1},
        {"context_parallel_size", 1},       {"expert_model_parallel_size", 1},
        {"expert_tensor_parallel_size", 1}, {"micro_batch_size", 1},
        {"global_batch_size", 16},          {"recompute_granularity", "selective"},
        {"attention_backend", "flash"},     {"use_distributed_optimizer", true},
        {"overlap_grad_reduce", false},     {"overlap_param_gather", false},
        {"sequence_parallel", false},       {type == "float16" || in.has("fp16") ? "fp16" : "bf16", true}};
    for (const auto& [key, value] : kUnsaid)
        if (way != "rlhf" && in.last(key) == nullptr) in.entries.push_back({key, "", value, line});
}

static void mark_quiet(Import& in);
void add_megatron_swift(Import& in) {
    if (!in.job.contains("sequence_length")) in.set("sequence_length", in.whole("max_length", "sequence_length"));
    std::erase_if(in.asked, [&](const std::string& field) { return in.job.contains(field); });
    if (in.text("swift", "") == "rlhf") refuse_mode(in, in.text("rlhf_type", "").value_or("rlhf"));
    in.mark_all({"split_dataset_ratio", "max_epochs", "model_author", "system"}, Fate::no_number);
    mark_quiet(in);
    if (in.text("swift", "") != "rlhf") std::erase_if(in.notes, [](const Text& note) { return note.id() == "import_plan.note.recipe"; });
    read_swift_adapters(in, "full");
    ask_model(in);
}

static void read_part(Import& in) {
    if (in.has("swift")) return read_swift(in);
    const bool four = in.on("load_in_4bit", "frozen_weights") || in.on("q_lora", "frozen_weights") || in.on("qlora", "frozen_weights") ||
                      in.on("use_qlora", "frozen_weights"),
               eight = in.on("load_in_8bit", "frozen_weights");
    const bool lora = in.on("use_peft", "trained") || in.on("use_lora", "trained") || in.on("lora", "trained") ||
                      in.on("lora_enable", "trained") || in.text("train_type", "trained") == "lora" || four || eight ||
                      in.has("lora_rank") || in.has("lora_r") || (in.has("rank") && in.has("alpha"));
    if (!lora) return;
    const char* rank = in.has("lora_rank") ? "lora_rank" : in.has("lora_r") ? "lora_r" : "rank";
    const char* targets = in.has("trainable") ? "trainable" : in.has("target_modules") ? "target_modules" : "lora_target_modules";
    const bool llava = in.on("lora_enable", "trained");  // rank 64 on every matrix (train.py, find_all_linear_names); TRL's rank is 16
    read_adapters(in, {rank, targets, "lora_dropout", "", llava ? std::uint32_t{lora_all} : lora_query | lora_value,
                       llava                          ? 64
                       : in.on("use_peft", "trained") ? 16
                                                      : 8});
    read_frozen(in, four, eight, "bnb_4bit_use_double_quant");
    if (in.on("prepare_model_for_kbit_training", "frozen_in_fp32")) in.job["frozen_in_fp32"] = true;
    refuse_adapters(in, {"use_dora"});
    if (four && in.has("use_peft") && !in.has("bnb_4bit_use_double_quant"))  // TRL, model_config.py
        in.job["frozen_weights"] = in.on("use_bnb_nested_quant", "frozen_weights") ? "nf4" : "nf4_single";
    if (in.hangs("trained"))
        for (const char* field : {"lora_rank", "lora_targets", "lora_dropout", "frozen_weights", "frozen_in_fp32"}) in.job.erase(field);
}

// Where no type of the computation is said, it is that of the weights. "auto" is the checkpoint's own, which stands in no setting: where
// the weights are updated as they are, it is asked for.
static void read_weight_type(Import& in) {
    const bool updated = updates_loaded_weights(in);
    for (Entry& entry : in.entries) {
        if (!updated || entry.value != "auto" || (entry.key != "torch_dtype" && entry.key != "dtype")) continue;
        const auto answer = in.answers.find("torch_dtype");
        const bool known = answer != in.answers.end();
        entry.written = std::exchange(entry.value, known ? answer->second : open_mark("torch_dtype"));
        if (!known) entry.open = {"torch_dtype"};
    }
    for (const char* key : {"torch_dtype", "dtype"}) {
        const bool said = in.job.contains("precision") || in.hangs("precision");
        const Entry* const entry = in.last(key);
        const auto type = in.text(key, said && entry != nullptr && !entry->open.empty() ? "master_weights" : "precision");
        if (!said && (type == "bfloat16" || type == "float16"))
            in.job["precision"] = *type == "float16" ? "fp16" : "bf16";
        else if (type)
            in.mark(key, Fate::no_number);
    }
}

// accelerate's "no" and weights loaded in 32 bits are training in 32 bits where the program names no type of 16.
static void settle_32_bits(Import& in) {
    constexpr std::string_view kNamed = "import_plan.note.fp32_named";
    const bool plain = in.text("mixed_precision", "precision") == "no" || in.text("torch_dtype", "precision") == "float32" ||
                       in.text("dtype", "precision") == "float32";
    const auto noted = std::find_if(in.notes.begin(), in.notes.end(), [&](const Text& note) { return note.id() == kNamed; });
    if (in.job.contains("precision") && noted != in.notes.end())
        in.notes.erase(noted);
    else if (plain && noted == in.notes.end() && !in.job.contains("precision") && !in.hangs("precision"))
        in.notes.emplace_back(std::string(kNamed));
}

// Gradients of fp16 that are scaled are those of weights in 32 bits: "Attempting to unscale FP16 gradients" (torch.amp.GradScaler).
static void train_as_loaded(Import& in) {
    for (const char* key : {"torch_dtype", "dtype"}) {
        const auto type = in.text(key, "");
        if (type == "bfloat16" || type == "float16") train_in_16_bits(in);
        if (type != "float16" || !updates_loaded_weights(in)) continue;
        if (in.on("fp16", "precision"))
            refuse_both(in, key, "fp16");
        else
            train_in_16_bits(in, "fp16");
    }
}

// GPTQ, AWQ, torchao: how weights are stored that do not learn, or are trained.
static void note_quantization(Import& in) {
    const Entry* const said = in.last("quantization_config");
    if (said != nullptr && said->fate != Fate::used && !said->value.is_null())
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", "quantization_config"));
}

// In one process device_map="auto" lays the layers over all its GPUs, of which one works at a time; in several, accelerate stops
// (accelerator.py, prepare_model). Neither is counted. {"": 0} and "cuda:0" leave the model whole; so does Unsloth's own "sequential".
static void refuse_spread_layers(Import& in) {
    constexpr std::string_view kSpread[] = {"auto", "balanced", "balanced_low_0", "sequential"};
    if (in.hangs("gpus") || in.job.value("gpus", std::int64_t{1}) < 2) return;
    std::set<std::string> places;
    std::string way = "device_map";
    for (const Entry& entry : in.entries) {
        if (!matches("device_map*", entry.key) || !entry.open.empty() || entry.value.is_null()) continue;
        places.insert(dumped(entry.value));
        for (const std::string_view one : kSpread)
            if (entry.value == Json(one) && (one != "sequential" || !in.has("unsloth"))) way = joined({"device_map=", one});
    }
    if (places.size() < 2 && way == "device_map") return;
    for (Entry& entry : in.entries)
        if (matches("device_map*", entry.key)) entry.fate = Fate::unknown;
    refuse_mode(in, way);
}

constexpr std::string_view kModelKeys[] = {"model_name_or_path", "model_id_or_path", "base_model_name_or_path",       "model_name", "model",
                                           "base_model",         "model_path",       "pretrained_model_name_or_path", "model_id"};

static void take_model(Import& in) {
    if (take_config_beside(in)) return;
    for (const std::string_view key : kModelKeys)
        if (in.has(key) && (take_named_model(in, key) || !in.has("swift"))) return;
    if (in.has("swift") && take_named_model(in, "model_type")) in.mark_all(kModelKeys, Fate::no_number);  // where it lies
}

// Of names that several programs have, the first that is said.
static std::string_view first_of(const Import& in, std::initializer_list<std::string_view> keys) {
    const auto said = std::find_if(keys.begin(), keys.end(), [&](std::string_view key) { return in.has(key); });
    return said == keys.end() ? *keys.begin() : *said;
}

// "--gradient_checkpointing", and what forks call it: "grad_checkpoint", "use_gradient_checkpointing", "activation_checkpointing".
static std::optional<bool> computes_again(Import& in) {
    std::optional<bool> again;
    for (std::size_t i = 0; i < in.entries.size(); ++i) {
        const std::string key = in.entries[i].key;
        const bool named = key.ends_with("checkpoint") || key.ends_with("checkpointing") || key.ends_with("ckpt");
        const bool of_layers = key.find("grad") != std::string::npos || key.find("activation") != std::string::npos;
        if (named && of_layers && key.find('.') == std::string::npos) again = in.on(key, "recompute") || again.value_or(false);
    }
    return again;
}

// A program of somebody's own names a model that is known. What it does unsaid nobody knows.
bool is_own_trainer(const std::vector<Entry>& entries) {
    return std::any_of(entries.begin(), entries.end(), [](const Entry& entry) {
        return std::find(std::begin(kModelKeys), std::end(kModelKeys), entry.key) != std::end(kModelKeys) && entry.value.is_string() &&
               named_model(entry.value.get<std::string>()) != nullptr;
    });
}

constexpr std::string_view kQuietOfTrainer[] = {"do_train",
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
                                                "*swanlab*",
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
                                                "model_revision",
                                                "tokenizer*",
                                                "chat_template*",
                                                "packing",
                                                "do_*",
                                                "lora_alpha",
                                                "gradient_checkpointing_kwargs*",
                                                "tf32",
                                                "use_fast*",
                                                "device_map*",
                                                "cache_dir",
                                                "group_by_length",
                                                "remove_unused*",
                                                "load_best*",
                                                "metric*",
                                                "prediction*",
                                                "streaming",
                                                "local_rank",
                                                "master_*",
                                                "main_process*",
                                                "machine_rank",
                                                "same_network",
                                                "use_deepspeed",
                                                "lazy_preprocess",
                                                "disable_tqdm",
                                                "log_level",
                                                "lr",
                                                "conv_template",
                                                "version",
                                                "fsdp",
                                                "fsdp_*",
                                                "split_dataset*",
                                                "include_*",
                                                "plot_loss",
                                                "zero_optimization.*"};

static void mark_quiet(Import& in) { in.mark_all(kQuietOfTrainer, Fate::no_number); }

constexpr std::string_view kLengthKeys[] = {"model_max_length", "max_seq_length", "max_seq_len", "max_length",      "block_size",
                                            "cutoff_len",       "seq_length",     "seq_len",     "sequence_length", "context_length"};

bool says_length(const std::vector<Entry>& entries) {
    return std::any_of(entries.begin(), entries.end(), [](const Entry& entry) {
        return std::find(std::begin(kLengthKeys), std::end(kLengthKeys), entry.key) != std::end(kLengthKeys);
    });
}

// Two names with two values: one of them may be of the evaluation, so it is asked.
static void read_length(Import& in) {
    std::set<std::int64_t> lengths;
    for (const std::string_view key : kLengthKeys)
        if (const auto length = in.whole(key, "sequence_length"); length && *length > 0) lengths.insert(*length);
    if (lengths.size() == 1) in.set("sequence_length", std::optional(*lengths.begin()));
    if (lengths.size() < 2) return;
    for (const std::string_view key : kLengthKeys)
        if (in.has(key)) in.mark(key, Fate::unknown);
}

void read_transformers(Import& in) {
    mark_quiet(in);
    if (says_any(in, {"micro_train_batch_size", "train.micro_batch_size", "train_batch_size_per_device"})) translate_rlhf(in);
    if (in.has("sft_type")) translate_old_swift(in);
    if (in.has("batch_size_training") || (in.has("enable_fsdp") && in.has("model_name"))) translate_llama_recipes(in);
    spread_objects(in);
    if (const auto way = in.text("trl", ""))
        refuse_mode(in, *way);
    else if (in.has("num_generations") && count_like(in.entries, {"max_completion_length", "max_prompt_length", "loss_type"}) > 0)
        refuse_mode(in, "grpo");  // TRL's GRPOConfig, whatever the program is called
    take_model(in);
    read_length(in);
    in.set("tensor_parallel", in.whole({"tensor_parallel_size", "tp_size", "tp", "model_parallel_size"}, "tensor_parallel"));
    in.set("pipeline_parallel", in.whole({"pipeline_parallel_size", "pipe_parallel_size", "pp_size", "pp"}, "pipeline_parallel"));
    in.set("context_parallel", in.whole({"sequence_parallel_size", "ulysses_sequence_parallel_size"}, "context_parallel"));
    if (in.has("ulysses_sequence_parallel_size")) in.job["context_parallel_kind"] = "all_to_all";
    fill_transformers(in);
    if (const auto each = in.whole("devices", "gpus"); each && *each > 0 && *each < 1'000 && !in.job.contains("gpus"))
        in.job["gpus"] = *each * std::clamp<std::int64_t>(in.whole("num_nodes", "gpus").value_or(1), 1, 100'000);
    in.ask("gpus");
    const bool own = !in.has("per_device_train_batch_size");
    const std::string_view micro = first_of(in, {"per_device_train_batch_size", "per_gpu_train_batch_size", "micro_batch_size"});
    read_copies_batch(in, {micro,
                           first_of(in, {"gradient_accumulation_steps", "gradient_accumulate_every", "accumulation_steps",
                                         "grad_accum_steps", "grad_acc_steps", "grad_accum"}),
                           micro == "micro_batch_size" ? "batch_size" : ""});
    if (own) leave_batch(in);  // how many micro-batches there are nobody knows
    for (const char* key : {"preference_data", "rejected_key", "dap_algo"})
        if (own && in.has(key) && lower_case(in.text("algo", "").value_or("")) != "sft")
            refuse_mode(in, in.text("dap_algo", "").value_or(key));
    const auto told = computes_again(in);
    const bool again = told.value_or(false);
    if (told || !own) in.job["recompute"] = again ? "full" : "none";
    // TRL's; Unsloth's own way, which keeps the inputs of layers in the memory of the host (models/_utils.py).
    if (in.on("activation_offloading", "activation_offload")) in.job["activation_offload"] = 1.0;
    if (again && in.text("use_gradient_checkpointing", "recompute") == "unsloth") {
        in.text("use_gradient_checkpointing", "activation_offload");
        in.job["activation_offload"] = 1.0;
    }
    read_sharding(in);  // FSDP may recompute by itself
    const auto kernel = in.text("attn_implementation", "attention"), named = in.text("attn_impl", "attention");
    read_attention_kernel(in, kernel.value_or(named.value_or("")));
    if (in.on("use_flash_attn", "attention") || in.on("use_flash_attention_2", "attention")) in.job["attention"] = "flash";
    read_launched_type(in);
    read_trainer_types(in);
    read_trainer_optimizer(in, "optim");
    read_part(in);
    read_weight_type(in);
    settle_32_bits(in);
    read_liger(in);
    train_as_loaded(in);
    note_quantization(in);
    refuse_spread_layers(in);
    if (const auto file = in.text("config", ""); file && (file->ends_with(".yaml") || file->ends_with(".yml"))) {  // of all arguments
        in.entries.push_back({"settings_file", "", *file});
        leave_to_file(in);
    }
    ask_rest(in);
}

}  // namespace fourfold
