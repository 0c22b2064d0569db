// llm-foundry 8c8dd48f7 and MaxText e591f30cb.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "formats/named_model.h"
#include "formats/read_jobs.h"
#include "formats/readers.h"
#include "formats/trainers.h"
#include "model/model.h"

namespace fourfold {

int foundry_likeness(const std::vector<Entry>& entries) {
    return count_like(entries, {"max_seq_len", "variables.max_seq_len"}) > 0
               ? count_like(entries, {"device_train_microbatch_size", "global_train_batch_size", "device_train_grad_accum", "fsdp_config.*",
                                      "model.name", "model.n_layers"})
               : 0;
}

// MPT: its own class, with sizes; anything else is a model of Hugging Face by its name.
static void read_mpt(Import& in) {
    Json config = {{"model_type", "llama"}, {"gated_mlp", false}, {"layer_norm", true}};
    const auto size = [&](const char* ours, const char* theirs) {
        if (const auto value = in.whole(theirs, "model")) config[ours] = *value;
    };
    size("hidden_size", "model.d_model");
    size("num_attention_heads", "model.n_heads");
    size("num_hidden_layers", "model.n_layers");
    size("vocab_size", "model.vocab_size");
    size("max_position_embeddings", "model.max_seq_len");
    const double wide = in.number("model.expansion_ratio", "model").value_or(4);
    const std::int64_t hidden = config.value("hidden_size", std::int64_t{0});
    if (hidden > 0 && hidden < 1'000'000 && wide > 0 && wide < 100)
        config["intermediate_size"] = static_cast<std::int64_t>(static_cast<double>(hidden) * wide);
    config["num_key_value_heads"] =
        in.whole("model.attn_config.kv_n_heads", "model").value_or(config.value("num_attention_heads", std::int64_t{0}));
    const bool bias = !in.on("model.no_bias", "model");
    config["attention_bias"] = config["mlp_bias"] = bias;
    config["tie_word_embeddings"] = !in.has("model.tie_word_embeddings") || in.on("model.tie_word_embeddings", "model");
    config["learned_positions"] = !in.on("model.attn_config.alibi", "model") && !in.on("model.attn_config.rope", "model") &&
                                  (!in.has("model.learned_pos_emb") || in.on("model.learned_pos_emb", "model"));
    if (in.text("model.attn_config.attn_impl", "attention") == "flash") in.job["attention"] = "flash";
    if (in.has("model.ffn_config.ffn_type") || in.has("model.ffn_config.moe_num_experts")) return;  // experts, gates
    Problems problems;
    ImportReport report;
    if (const auto model = read_model(config, "", problems, report)) in.job["model"] = canonical_config(*model);
}

void read_foundry(Import& in) {
    in.mark_all({"variables.*",
                 "tokenizer*",
                 "train_loader*",
                 "eval_loader*",
                 "scheduler*",
                 "optimizer*",
                 "algorithms*",
                 "max_duration",
                 "eval_*",
                 "seed",
                 "progress_bar",
                 "log_*",
                 "console*",
                 "callbacks*",
                 "loggers*",
                 "save_*",
                 "load_*",
                 "autoresume",
                 "run_name",
                 "device_eval*",
                 "python_log*",
                 "model.init_device",
                 "model.init_config*",
                 "model.loss_fn",
                 "model.*",
                 "data_*",
                 "global_seed",
                 "max_split*",
                 "icl_*",
                 "dist_timeout",
                 "expandable*",
                 "parameters.*",
                 "compile_config*",
                 "fsdp_config.*",
                 "should_*",
                 "accumulate*",
                 "code_paths",
                 "tp_config*"},
                Fate::no_number);
    drop_auto(in);
    const auto name = in.text("model.name", "model");
    if (name == "mpt_causal_lm")
        read_mpt(in);
    else if (in.has("model.pretrained_model_name_or_path"))
        take_named_model(in, "model.pretrained_model_name_or_path");
    in.set("sequence_length", in.whole({"max_seq_len", "variables.max_seq_len"}, "sequence_length"));
    fill_pytorch(in);
    in.ask("gpus");
    read_copies_batch(in, {"device_train_microbatch_size", "device_train_grad_accum", "global_train_batch_size"});
    if (count_like(in.entries, {"fsdp_config.*"}) > 0)
        read_fsdp(in, "fsdp_config.", "fsdp_config.version");
    else
        in.job["zero"] = "none";
    const auto precision = in.text("precision", "precision");
    if (precision && precision->starts_with("amp_") && precision->size() < 10) {
        const std::string type = precision->substr(4);
        if (type == "bf16" || type == "fp16" || type == "fp8") in.job["precision"] = type;
    } else if (precision)
        in.notes.emplace_back("import_plan.note.fp32_named");
    if (const auto mixed = in.text("fsdp_config.mixed_precision", "gradients_in_fp32")) {  // DEFAULT reduces in 32 bits
        if (*mixed == "PURE") in.job["gradients_in_fp32"] = false;
        if (*mixed == "PURE") in.notes.push_back(Text("import_plan.note.not_counted").with("key", "mixed_precision: PURE"));
    }
    if (in.on("fsdp_config.activation_cpu_offload", ""))
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", "activation_cpu_offload"));
    if (count_like(in.entries, {"model.peft_config*", "peft_config*", "lora*"}) > 0) refuse_mode(in, "LoRA");
    ask_rest(in);
}

// ---- MaxText: a mesh of axes, inside of a slice and between slices; -1 is what the others leave.
int maxtext_likeness(const std::vector<Entry>& entries) {
    return count_like(entries, {"ici_*_parallelism", "dcn_*_parallelism", "max_target_length", "base_emb_dim", "per_device_batch_size",
                                "remat_policy"}) >= 2
               ? 1
               : 0;
}

struct Axis {
    const char *ici, *dcn, *field;
};
static constexpr Axis kAxes[] = {
    {"ici_tensor_parallelism", "dcn_tensor_parallelism", "tensor_parallel"},
    {"ici_context_parallelism", "dcn_context_parallelism", "context_parallel"},
    {"ici_pipeline_parallelism", "dcn_pipeline_parallelism", "pipeline_parallel"},
    {"ici_expert_parallelism", "dcn_expert_parallelism", "expert_parallel"},
    {"ici_data_parallelism", "dcn_data_parallelism", "shard_replicas"},
    {"ici_fsdp_parallelism", "dcn_fsdp_parallelism", "zero"},
};

// Degrees, and the product where no axis is open.
static void read_axes(Import& in) {
    std::int64_t product = 1;
    for (const auto& [ici, dcn, field] : kAxes) {
        const std::string_view name = field;
        std::int64_t degree = 1;
        for (const char* key : {ici, dcn}) {
            // base.yml: FSDP takes what the other axes of a slice leave
            const std::int64_t usual = name == "zero" && key == ici && !in.has("ici_data_parallelism") ? -1 : 1;
            const std::int64_t value = in.whole(key, field).value_or(usual);
            degree = value >= 1 && value <= 65'536 && degree >= 1 && degree <= 65'536 ? degree * value : -1;
        }
        if (name == "zero")
            in.job["zero"] = degree == 1 ? "none" : "weights";
        else if (degree > 0 && name != "shard_replicas" && in.has(ici))
            in.job[field] = degree;
        product = degree > 0 && product > 0 && product <= 1'048'576 / degree ? product * degree : 0;
    }
    const bool said = count_like(in.entries, {"ici_*_parallelism"}) > 0;
    if (said && product > 0) {
        for (const Axis& axis : kAxes) in.whole(axis.ici, "gpus");
        in.job["gpus"] = product;
    }
}

static void read_sizes(Import& in) {
    Json config = {{"model_type", "llama"}};
    constexpr std::pair<const char*, const char*> kSizes[] = {{"base_emb_dim", "hidden_size"},
                                                              {"base_num_query_heads", "num_attention_heads"},
                                                              {"base_num_kv_heads", "num_key_value_heads"},
                                                              {"base_mlp_dim", "intermediate_size"},
                                                              {"base_num_decoder_layers", "num_hidden_layers"},
                                                              {"head_dim", "head_dim"},
                                                              {"vocab_size", "vocab_size"}};
    for (const auto& [theirs, ours] : kSizes)
        if (const auto value = in.whole(theirs, "model")) config[ours] = *value;
    if (in.has("logits_via_embedding")) config["tie_word_embeddings"] = in.on("logits_via_embedding", "model");
    const bool experts = in.whole("num_experts", "model").value_or(1) > 1;
    if (experts || !config.contains("hidden_size") || !config.contains("vocab_size") || !config.contains("num_key_value_heads")) return;
    Problems problems;
    ImportReport report;
    if (const auto model = read_model(config, "", problems, report)) in.job["model"] = canonical_config(*model);
}

void read_maxtext(Import& in) {
    in.mark_all({"base_output_directory",
                 "run_name",
                 "dataset_*",
                 "hf_*",
                 "tokenizer*",
                 "steps",
                 "learning_rate*",
                 "warmup*",
                 "enable_checkpointing",
                 "async_checkpointing",
                 "checkpoint*",
                 "profiler*",
                 "skip_*",
                 "profiler_*",
                 "reuse_*",
                 "base_config",
                 "hardware",
                 "attention",
                 "use_iota*",
                 "scan_layers",
                 "packing",
                 "enable_goodput*",
                 "monitor*",
                 "opt_type",
                 "adam_*",
                 "eval_*",
                 "log_*",
                 "gcs_*",
                 "sa_*",
                 "logical_axis*",
                 "load_*",
                 "save_*",
                 "decoder_block",
                 "rope_*",
                 "normalization*",
                 "mlp_activations",
                 "enable_dropout",
                 "compile_topology*",
                 "jax_*",
                 "xla_*",
                 "grain_*",
                 "data_*",
                 "max_prefill*",
                 "async*",
                 "per_device*",
                 "allow_split*"},
                Fate::no_number);
    read_axes(in);
    if (in.has("model_name")) take_named_model(in, "model_name");
    if (!in.job.contains("model")) read_sizes(in);
    in.set("sequence_length", in.whole("max_target_length", "sequence_length"));
    fill_pytorch(in);
    in.ask("gpus");
    const auto each = in.number("per_device_batch_size", "global_batch");
    in.number("per_device_batch_size", "micro_batch");
    const std::int64_t steps = in.whole("gradient_accumulation_steps", "global_batch").value_or(1),
                       gpus = in.job.value("gpus", std::int64_t{0});
    const bool open = in.hangs("tensor_parallel") || in.hangs("context_parallel") || in.hangs("pipeline_parallel");
    const std::int64_t split = open ? 0 : in.model_parallel();
    const auto whole = [](double value) { return value >= 1 && value <= 16'777'216 && value == std::floor(value); };
    if (each && split > 0 && whole(*each * static_cast<double>(split)))
        in.job["micro_batch"] = static_cast<std::int64_t>(*each * static_cast<double>(split));
    if (each && gpus > 0 && steps > 0 && whole(*each * static_cast<double>(gpus) * static_cast<double>(steps)))
        in.job["global_batch"] = static_cast<std::int64_t>(*each * static_cast<double>(gpus) * static_cast<double>(steps));
    if (const auto policy = in.text("remat_policy", "recompute")) {
        if (*policy == "full")
            in.job["recompute"] = "full";
        else
            in.notes.push_back(Text("import_plan.note.not_counted").with("key", "remat_policy: " + policy->substr(0, 40)));
    }
    const auto quantized = in.text("quantization", "precision"), type = in.text("dtype", "precision");
    if (quantized && quantized->find("fp8") != std::string::npos)
        in.job["precision"] = "fp8";
    else if (type && *type == "bfloat16")
        in.job["precision"] = "bf16";
    if (quantized && !quantized->empty() && quantized->find("fp8") == std::string::npos)
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", "quantization: " + quantized->substr(0, 40)));
    in.text("weight_dtype", "");
    if (in.on("optimizer_memory_host_offload", "optimizer_offload")) in.job["optimizer_offload"] = 1.0;
    if (in.on("parameter_memory_host_offload", ""))
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", "parameter_memory_host_offload"));
    refuse_adapters(in, {"use_lora", "lora_input_adapters_path", "use_dpo"});
    ask_rest(in);
}

}  // namespace fourfold
