// lm-engine (open-lm-engine/lm-engine, arguments/, parallel/manager.py and hf_models/config/ of 2025 and 2026) and SageMaker HyperPod's
// recipes for its own stack (sagemaker-hyperpod-training-adapter-for-nemo, conf): FSDP by their own names.
#include <algorithm>

#include "base/text.h"
#include "formats/named_model.h"
#include "formats/read/jobs.h"
#include "formats/read/stacks.h"
#include "formats/read/trainers.h"
#include "formats/readers.h"
#include "model/model.h"
#include "plan/plan.h"

namespace fourfold {

// ---- lm-engine
int lm_engine_likeness(const std::vector<Entry>& entries) {
    const int own = count_like(
        entries, {"training_parameters.micro_batch_size", "model_args.model_class", "tuning_args.tuning_method", "distributed_args.*",
                  "mixed_precision_args.dtype", "model_args.pretrained_config.num_layers", "training_parameters.global_batch_size"});
    return own >= 3 ? own : 0;
}

// Layers one by one: one size, where all of them are alike.
static Json alike(Import& in, std::string_view list, std::string_view name, const Json& usual) {
    Json found;
    for (std::size_t i = 0; i < in.entries.size(); ++i) {
        const std::string key = in.entries[i].key;
        if (!key.starts_with(list) || key.substr(key.rfind('.') + 1) != name || key.find('.', list.size() + 1) != key.rfind('.')) continue;
        in.text(key, "model");
        if (!found.is_null() && found != in.entries[i].value) return nullptr;
        found = in.entries[i].value;
    }
    return found.is_null() ? usual : found;
}

// Attention inside a window, with a gate, or by another rule than softmax(q k) v in full: counted as attention in full.
static void note_other_attention(Import& in, std::string_view mixer) {
    for (const char* name : {"sliding_window", "attention_gate", "exclusive_self_attention"})
        for (std::size_t i = 0; i < in.entries.size(); ++i) {
            const Entry& one = in.entries[i];
            const bool idle = one.value.is_null() || one.value == false;
            if (idle || !one.key.starts_with(mixer) || !one.key.ends_with(joined({".", name}))) continue;
            in.notes.push_back(Text("import_plan.note.not_counted").with("key", name));
            break;
        }
}

static void read_lm_engine_model(Import& in) {
    const std::string config = "model_args.pretrained_config.", mixer = config + "sequence_mixer_blocks", mlp = config + "mlp_blocks";
    if (in.has("model_args.model_name") && take_named_model(in, "model_args.model_name")) return;
    const auto size = [&](const char* name) { return in.whole(config + name, "model").value_or(0); };
    // what is not said: sequence_mixer.py, mlp.py
    const Json kind = alike(in, mixer, "sequence_mixer_type", "softmax_attention"), heads = alike(in, mixer, "num_attention_heads", 12),
               groups = alike(in, mixer, "num_key_value_heads", 1), width = alike(in, mlp, "intermediate_size", 4 * size("hidden_size")),
               head = alike(in, mixer, "head_dim", nullptr), block = alike(in, mlp, "mlp_type", "MLP"),
               gate = alike(in, mlp, "activation_function", "gelu_pytorch_tanh"), bias = alike(in, mixer, "add_bias", false),
               other_bias = alike(in, mlp, "add_bias", false), normed = alike(in, mixer, "use_qk_norm", false);
    const bool known = kind == "softmax_attention" && heads.is_number() && groups.is_number() && width.is_number() && gate.is_string() &&
                       (block == "MLP" || block == "MoE") && bias.is_boolean() && other_bias.is_boolean() && normed.is_boolean();
    if (!known) return;
    const std::string activation = gate.get<std::string>();
    Json sizes = {
        {"model_type", block == "MoE" ? "mixtral" : "llama"},
        {"hidden_size", size("hidden_size")},
        {"num_hidden_layers", size("num_layers")},
        {"vocab_size", size("vocab_size")},
        {"max_position_embeddings", size("max_position_embeddings")},
        {"num_attention_heads", heads},
        {"num_key_value_heads", groups},
        {"intermediate_size", width},
        {"gated_mlp", activation.ends_with("glu")},
        {"attention_bias", bias},
        {"use_qk_norm", normed},
        {"tie_word_embeddings", in.last(config + "tie_word_embeddings") == nullptr || in.on(config + "tie_word_embeddings", "model")},
        {"learned_positions", in.text(config + "position_embedding_type", "model").value_or("learned_absolute") == "learned_absolute"},
        {"layer_norm", in.text(config + "normalization_function", "model").value_or("layernorm") == "layernorm"}};
    if (head.is_number()) sizes["head_dim"] = head;
    note_other_attention(in, mixer);
    if (block == "MLP") sizes["mlp_bias"] = other_bias;
    if (block == "MoE") {
        sizes["num_local_experts"] = alike(in, mlp, "num_experts", 8);
        sizes["num_experts_per_tok"] = alike(in, mlp, "num_experts_per_tok", 2);
        if (!alike(in, mlp, "shared_intermediate_size", nullptr).is_null()) return;
    }
    take_sizes(in, sizes);
}

static constexpr std::string_view kQuietOfLmEngine[] = {"datasets*",
                                                        "tokenizer_args*",
                                                        "model_args*",
                                                        "save_args*",
                                                        "load_args*",
                                                        "random_args*",
                                                        "logging_args*",
                                                        "lr_scheduler_args*",
                                                        "optimizer_args.class_args*",
                                                        "optimizer_args.params*",
                                                        "training_parameters.*",
                                                        "distributed_args.timeout*",
                                                        "distributed_args.fsdp_algorithm",
                                                        "distributed_args.torch_compile",
                                                        "distributed_args.context_parallel_load*",
                                                        "distributed_args.sync_every_gradient*",
                                                        "kernel_args*"};

void read_lm_engine(Import& in) {
    constexpr KeyRow kRows[] = {{"distributed_args.tensor_parallel_world_size", "tensor_parallel"},
                                {"distributed_args.pipeline_parallel_world_size", "pipeline_parallel"},
                                {"distributed_args.context_parallel_world_size", "context_parallel"},
                                {"distributed_args.zero_topology.data_parallel_replication_world_size", "shard_replicas"}};
    read_rows(in, kRows);
    for (std::size_t i = 0; i < in.entries.size(); ++i)
        if (matches("datasets.*.sequence_length", in.entries[i].key)) {
            const std::string key = in.entries[i].key;
            in.set("sequence_length", in.whole(key, "sequence_length"));
        }
    read_lm_engine_model(in);
    fill_pytorch(in);
    // replicas times shards hold the context's groups (parallel/manager.py)
    if (!in.hangs("tensor_parallel") && !in.hangs("pipeline_parallel"))
        multiply_degrees(in,
                         {"distributed_args.zero_topology.data_parallel_replication_world_size",
                          "distributed_args.zero_topology.data_parallel_sharding_world_size"},
                         in.job.value("tensor_parallel", std::int64_t{1}) * in.job.value("pipeline_parallel", std::int64_t{1}));
    in.ask("gpus");
    read_copies_batch(in, {"training_parameters.micro_batch_size", "training_parameters.gradient_accumulation_steps",
                           "training_parameters.global_batch_size"});
    const std::int64_t stage = in.whole("distributed_args.stage", "zero").value_or(3);
    constexpr const char* kZeroNames[] = {"none", "optimizer", "gradients", "weights"};
    const auto shards = in.whole("distributed_args.zero_topology.data_parallel_sharding_world_size", "zero");
    if (shards == 1)
        in.job["zero"] = "none", in.job.erase("shard_replicas");
    else if (stage >= 0 && stage <= 3)
        in.job["zero"] = kZeroNames[stage];
    // gradients are sent in the type of the passes, unless another is named (distributed/__init__.py)
    const std::string sent = number_type_of(in.text("distributed_args.communication_dtype", "gradients_in_fp32").value_or(""));
    in.job["gradients_in_fp32"] = sent == "fp32" || sent == "float32";
    const auto again = in.text("distributed_args.gradient_checkpointing_method", "recompute");
    in.job["recompute"] = again ? "full" : "none";
    for (const char* name : {"checkpoint_every", "block_frequency"}) {
        const std::string key = joined({"distributed_args.gradient_checkpointing_args.", name});
        if (const auto every = in.whole(key, "recompute"); every && *every > 1)
            in.notes.push_back(Text("import_plan.note.not_counted").with("key", key.substr(key.rfind('.') + 1)));
    }
    if (in.on("distributed_args.cpu_offload", "optimizer_offload")) in.job["optimizer_offload"] = 1.0, in.job["weights_offload"] = true;
    in.job["sequence_parallel"] = in.on("distributed_args.sequence_parallel", "sequence_parallel");
    in.job["tensor_overlap"] = in.on("distributed_args.use_async_tensor_parallel", "tensor_overlap");
    const std::int64_t stages = in.job.value("pipeline_parallel", std::int64_t{1}),
                       chunks = in.whole("distributed_args.num_pipeline_stages", "virtual_stages").value_or(stages);
    if (stages > 0 && chunks >= stages && chunks % stages == 0) in.job["virtual_stages"] = chunks / stages;
    if (stages > 1) name_schedule(in, "distributed_args.pipeline_parallel_schedule");
    const std::string type = number_type_of(in.text("mixed_precision_args.dtype", "precision").value_or("fp32"));
    if (type == "bf16" || type == "fp16" || type == "fp8")
        in.job["precision"] = type;
    else
        in.notes.emplace_back("import_plan.note.fp32_named");
    const std::string kernels = in.text("kernel_args.kernels", "attention").value_or("");
    if (kernels.find("flash_attention") != std::string::npos) in.job["attention"] = "flash";
    if (const auto way = in.text("tuning_args.tuning_method", "trained"); way && *way != "pretraining" && *way != "full_finetuning")
        refuse_mode(in, *way);
    if (says_any(in, {"teacher_args*"})) refuse_mode(in, "distillation");
    const std::string rule = in.text("optimizer_args.class_name", "optimizer").value_or("TorchAdamW");
    if (rule.find("Adam") == std::string::npos) in.notes.push_back(Text("import_plan.note.not_counted").with("key", rule.substr(0, 60)));
    in.mark_all(kQuietOfLmEngine, Fate::no_number);
    ask_rest(in);
}

// ---- SageMaker HyperPod's own stack
int hyperpod_likeness(const std::vector<Entry>& entries) {
    const int own = count_like(entries, {"model.tensor_model_parallel_degree", "model.max_context_width", "model.shard_degree",
                                         "model.activation_loading_horizon", "model.delayed_param", "model.expert_model_parallel_degree"});
    return own >= 3 ? own : 0;
}

static void read_hyperpod_model(Import& in) {
    if (!in.has("model.hf_model_name_or_path") || !take_named_model(in, "model.hf_model_name_or_path")) {
        const auto size = [&](std::initializer_list<std::string_view> keys) { return Json(in.whole(keys, "model").value_or(0)); };
        const Json heads = size({"model.num_attention_heads", "model.num_heads"});
        Json sizes = {{"model_type", in.on("model.moe", "model") ? "mixtral" : "llama"},
                      {"hidden_size", size({"model.hidden_size", "model.hidden_width"})},
                      {"num_hidden_layers", size({"model.num_hidden_layers", "model.num_layers"})},
                      {"num_attention_heads", heads},
                      {"num_key_value_heads", in.whole("model.num_key_value_heads", "model").value_or(heads.get<std::int64_t>())},
                      {"intermediate_size", size({"model.intermediate_size", "model.llama_intermediate_size"})},
                      {"vocab_size", size({"model.vocab_size"})},
                      {"max_position_embeddings", in.job.value("sequence_length", std::int64_t{8'192})},
                      {"tie_word_embeddings", in.on("model.tie_word_embeddings", "model")}};
        if (sizes["model_type"] == "mixtral")
            sizes["num_local_experts"] = size({"model.num_local_experts"}),
            sizes["num_experts_per_tok"] = size({"model.num_experts_per_tok"});
        if (sizes["hidden_size"] != 0 && !in.hangs("model")) take_sizes(in, sizes);
    }
}

static constexpr std::string_view kQuietOfHyperpod[] = {"run*",
                                                        "exp_manager*",
                                                        "trainer.*",
                                                        "use_smp*",
                                                        "distributed_backend",
                                                        "model.data*",
                                                        "model.optim*",
                                                        "model.nsys*",
                                                        "model.viztracer*",
                                                        "model.rope*",
                                                        "model.seed",
                                                        "model.grad_clip",
                                                        "model.log_*",
                                                        "model.lr_*",
                                                        "model.precision",
                                                        "model.activation_loading*",
                                                        "model.delayed_param",
                                                        "model.*prefetch*",
                                                        "model.backward_fetch*",
                                                        "model.auto_wrap*",
                                                        "model.limit_all*",
                                                        "model.use_orig*",
                                                        "model.initializer*",
                                                        "model.layernorm*",
                                                        "model.rms_norm*",
                                                        "model.fp8_*",
                                                        "model.fsdp",
                                                        "model.do_finetune",
                                                        "model.val_*",
                                                        "model.peft*",
                                                        "model.model_type",
                                                        "model.max_position*",
                                                        "model.multi_modal",
                                                        "model.moe_*",
                                                        "model.dpo*",
                                                        "internal*",
                                                        "restore_from*",
                                                        "name*",
                                                        "log_perf*",
                                                        "git*",
                                                        "env_vars*",
                                                        "cluster*"};

void read_hyperpod(Import& in) {
    constexpr KeyRow kRows[] = {{"model.tensor_model_parallel_degree", "tensor_parallel"},
                                {"model.context_parallel_degree", "context_parallel"},
                                {"model.expert_model_parallel_degree", "expert_parallel"},
                                {"model.max_context_width", "sequence_length"}};
    read_rows(in, kRows);
    fill_pytorch(in);
    multiply_degrees(in, {"trainer.devices", "trainer.num_nodes"});
    in.set("gpus_per_node", in.whole("trainer.devices", "gpus_per_node"));
    in.ask("gpus");
    read_hyperpod_model(in);
    read_copies_batch(in, {"model.train_batch_size", "trainer.accumulate_grad_batches", ""});
    const std::string strategy = lower_case(in.text("model.sharding_strategy", "zero").value_or("full_shard"));
    in.job["zero"] = strategy == "no_shard" ? "none" : strategy == "shard_grad_op" ? "gradients" : "weights";
    const std::int64_t each = in.whole("model.shard_degree", "shard_replicas").value_or(0), copies = in.copies(),
                       shares = copies * in.job.value("context_parallel", std::int64_t{1});
    if (strategy.find("hybrid") != std::string::npos && each > 0 && shares > 0 && shares % each == 0)
        in.job["shard_replicas"] = shares / each;
    in.job["recompute"] = in.on("model.activation_checkpointing", "recompute") ? "full" : "none";
    if (in.on("model.offload_activations", "activation_offload")) in.job["activation_offload"] = 1.0;
    const std::string type = number_type_of(in.text("trainer.precision", "precision").value_or("bf16"));
    if (type.starts_with("bf16") || type.starts_with("fp16") || type.starts_with("16"))
        in.job["precision"] = in.on("model.fp8", "precision") ? "fp8" : type.starts_with("bf16") ? "bf16" : "fp16";
    else
        in.notes.emplace_back("import_plan.note.fp32_named");
    if (in.on("model.use_flash_attention", "attention") || in.on("model.use_smp_flash_attn", "attention")) in.job["attention"] = "flash";
    if (const auto way = in.text("model.peft.peft_type", "trained")) {
        read_adapters(in, {"model.peft.rank", "model.peft.target_modules", "model.peft.dropout", "", lora_all, 8});
        read_frozen(in, *way == "qlora_4bit", false, "");
    }
    in.mark_all(kQuietOfHyperpod, Fate::no_number);
    if (in.on("model.dpo.enabled", "")) refuse_mode(in, "dpo");
    ask_rest(in);
}

}  // namespace fourfold
