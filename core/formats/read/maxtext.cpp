// MaxText e591f30cb: a mesh of axes, inside of a slice and between slices; -1 is what the others leave. What a command does not say, its
// base.yml does.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "formats/named_model.h"
#include "formats/read/jobs.h"
#include "formats/read/trainers.h"
#include "formats/readers.h"
#include "model/model.h"
#include "plan/plan.h"

namespace fourfold {

int maxtext_likeness(const std::vector<Entry>& entries) {
    return count_like(entries, {"ici_*_parallelism", "dcn_*_parallelism", "max_target_length", "base_*_dim", "base_num_*",
                                "per_device_batch_size", "remat_policy"}) >= 2 ||
                   count_like(entries, {"base_config"}) > 0  // changes of another file
               ? 1
               : 0;
}

struct Axis {
    std::string_view name, field;  // "ici_<name>_parallelism" inside of a slice, "dcn_…" between slices; of the job, "": none
};
static constexpr Axis kAxes[] = {{"tensor", "tensor_parallel"},
                                 {"context", "context_parallel"},
                                 {"pipeline", "pipeline_parallel"},
                                 {"expert", "expert_parallel"},
                                 {"data", "shard_replicas"},
                                 {"fsdp", "zero"},
                                 {"sequence", ""},
                                 {"fsdp_transpose", ""},
                                 {"tensor_transpose", ""},
                                 {"tensor_sequence", ""},
                                 {"autoregressive", ""}};

// Degrees, and the product where no axis is open. base.yml: FSDP takes what the other axes of a slice leave, and data parallelism what
// those between slices leave. Returns the GPUs of one copy of the shards where the file leaves the number of copies to the rest; else 0.
static std::int64_t read_axes(Import& in) {
    std::int64_t product = 1, part = 1;
    bool copies = false;
    for (const auto& [name, field] : kAxes) {
        std::int64_t degree = 1;
        bool said = false;
        for (const bool inside : {true, false}) {
            const std::string key = joined({inside ? "ici_" : "dcn_", name, "_parallelism"});
            const std::int64_t usual = (inside && name == "fsdp") || (!inside && name == "data") ? -1 : 1;
            const std::int64_t value = in.whole(key, field).value_or(usual);
            said = said || in.has(key);
            if (value == -1 && in.has(key) && name != "fsdp" && name != "data") in.mark(key, Fate::unknown);  // what the others leave
            degree = value >= 1 && value <= 65'536 && degree >= 1 && degree <= 65'536 ? degree * value : -1;
        }
        if (field.empty() && degree == 1) continue;  // as if it were not there
        if (name == "data" && degree < 0 && in.has("dcn_data_parallelism")) copies = true;
        if (name == "fsdp" && degree > 1 && copies)
            in.mark("dcn_data_parallelism", Fate::unknown);  // copies of the shards, as many as GPUs are left
        if (name == "fsdp")
            in.job["zero"] = degree == 1 ? "none" : "weights";
        else if (field.empty())
            in.notes.push_back(Text("import_plan.note.not_counted").with("key", joined({"ici_", name, "_parallelism"})));
        else if (degree > 0 && said && name != "data")
            in.job[std::string(field)] = degree;
        else if (degree > 1 && name == "data")
            in.job["shard_replicas"] = degree;
        const auto times = [&](std::int64_t all) { return degree > 0 && all > 0 && all <= 1'048'576 / degree ? all * degree : 0; };
        product = times(product);
        if (name != "data") part = times(part);
    }
    if (in.job["zero"] == "none") in.job.erase("shard_replicas");
    if (count_like(in.entries, {"ici_*_parallelism"}) == 0 || product == 0) return copies && in.job["zero"] == "weights" ? part : 0;
    for (const Axis& axis : kAxes) in.whole(joined({"ici_", axis.name, "_parallelism"}), "gpus");
    in.job["gpus"] = product;
    return 0;
}

// Experts, and attention to what is squeezed, where those are said; the width of an expert stands beside the others' only where they
// differ.
static void read_parts(Import& in, const std::string& block, Json& config) {
    const bool latent = in.text("attention_type", "model") == "mla";
    const auto experts = in.whole("num_experts", "model");
    if (experts && *experts > 1) config[latent ? "n_routed_experts" : "num_local_experts"] = *experts;
    if (latent || (experts && *experts > 1)) config["model_type"] = latent ? "deepseek_v3" : block == "gpt_oss" ? "gpt_oss" : "mixtral";
    constexpr const char* kSame[] = {"num_experts_per_tok", "q_lora_rank",      "kv_lora_rank",
                                     "qk_nope_head_dim",    "qk_rope_head_dim", "v_head_dim"};
    for (const char* key : kSame)
        if (const auto value = in.whole(key, "model")) config[key] = *value;
    if (latent && config.value("q_lora_rank", std::int64_t{0}) == 0) config["q_lora_rank"] = nullptr;  // base.yml: none
    constexpr std::pair<const char*, const char*> kOther[] = {{"base_moe_mlp_dim", "moe_intermediate_size"},
                                                              {"shared_experts", "n_shared_experts"},
                                                              {"first_num_dense_layers", "first_k_dense_replace"}};
    for (const auto& [theirs, ours] : kOther)
        if (const auto value = in.whole(theirs, "model")) config[ours] = *value;
    const auto groups = in.whole("n_routing_groups", "model"), used = in.whole("topk_routing_group", "model");
    if (latent) config["n_group"] = std::max<std::int64_t>(groups.value_or(1), 1);  // base.yml: -1, no groups
    if (latent) config["topk_group"] = std::max<std::int64_t>(used.value_or(1), 1);
}

// base.yml's own sizes, for those that a command leaves as they are; none where a key is of another version, or scales them all.
static Json usual_sizes(const Import& in) {
    const Entry* const file = in.last("base_config");
    const auto* const name = file == nullptr ? nullptr : file->value.get_ptr<const Json::string_t*>();
    const bool base = file == nullptr || (name != nullptr && (*name == "base.yml" || name->ends_with("/base.yml")));
    const int said = count_like(in.entries, {"base_emb_dim", "base_num_query_heads", "base_num_kv_heads", "base_mlp_dim",
                                             "base_num_decoder_layers", "base_moe_mlp_dim"});
    const bool scaled = in.last("global_parameter_scale") != nullptr;
    const bool known = count_like(in.entries, {"base_*_dim", "base_num_*"}) == said && count_like(in.entries, {"scale"}) == 0;
    if (!base || !known || (said == 0 && !scaled)) return Json::object();
    return {{"hidden_size", 2'048},    {"num_attention_heads", 16}, {"num_key_value_heads", 16}, {"intermediate_size", 7'168},
            {"num_hidden_layers", 16}, {"head_dim", 128},           {"vocab_size", 32'000}};
}

// Its decoders whose layers are as those of a model with the same sizes; a fork's may be anything.
static bool is_counted_block(std::string_view name) {
    constexpr std::string_view kFamilies[] = {"default", "llama", "mistral", "mixtral", "deepseek", "gemma", "qwen", "gpt"};
    return std::any_of(std::begin(kFamilies), std::end(kFamilies), [&](std::string_view one) { return name.starts_with(one); });
}

// "global_parameter_scale: 512": as many times the parameters, in a power of two that the sizes share (pyconfig.py,
// get_individual_scales).
static void scale_sizes(Import& in, Json& config) {
    const std::int64_t scale = in.whole("global_parameter_scale", "model").value_or(1);
    int power = 0;
    while (power < 20 && (std::int64_t{1} << power) < scale) ++power;
    if ((std::int64_t{1} << power) != scale) return in.mark("global_parameter_scale", Fate::unknown), void(config.erase("hidden_size"));
    const int each = power / 3, rest = power % 3;
    const std::pair<const char*, int> kPowers[] = {{"hidden_size", each + (rest > 1 ? 1 : 0)},
                                                   {"num_attention_heads", each + (rest > 0 ? 1 : 0)},
                                                   {"num_key_value_heads", each + (rest > 0 ? 1 : 0)},
                                                   {"intermediate_size", each + (rest > 0 ? 1 : 0)},
                                                   {"num_hidden_layers", each}};
    for (const auto& [key, by] : kPowers)
        if (const std::int64_t size = config.value(key, std::int64_t{0}); size > 0 && size < 10'000'000) config[key] = size << by;
}

static void read_sizes(Import& in) {
    Json config = usual_sizes(in);
    config["model_type"] = "llama";
    constexpr std::pair<const char*, const char*> kSizes[] = {{"base_emb_dim", "hidden_size"},
                                                              {"base_num_query_heads", "num_attention_heads"},
                                                              {"base_num_kv_heads", "num_key_value_heads"},
                                                              {"base_mlp_dim", "intermediate_size"},
                                                              {"base_num_decoder_layers", "num_hidden_layers"},
                                                              {"head_dim", "head_dim"},
                                                              {"vocab_size", "vocab_size"}};
    for (const auto& [theirs, ours] : kSizes)
        if (const auto value = in.whole(theirs, "model")) config[ours] = *value;
    scale_sizes(in, config);
    if (in.has("logits_via_embedding")) config["tie_word_embeddings"] = in.on("logits_via_embedding", "model");
    if (const Entry* parts = in.last("mlp_activations"); parts != nullptr && parts->value.is_array() && parts->value.size() == 1)
        config["gated_mlp"] = false;
    const std::string block = in.text("decoder_block", "model").value_or("default");
    if (!is_counted_block(block)) in.mark("decoder_block", Fate::unknown);
    read_parts(in, block, config);
    Problems problems;
    ImportReport report;
    const bool whole = config.contains("hidden_size") && config.contains("vocab_size") && config.contains("num_key_value_heads");
    const auto model = whole && !in.hangs("model") ? read_model(config, "", problems, report) : std::nullopt;
    if (model) in.job["model"] = canonical_config(*model);
    refuse_sizes(in, problems);
}

static void read_kernel(Import& in) {
    const auto kernel = in.text("attention", "attention");
    if (!kernel) return;
    if (kernel->starts_with("cudnn_flash"))
        in.job["attention"] = "cudnn";
    else if (*kernel == "flash" || *kernel == "dot_product")
        in.job["attention"] = *kernel == "flash" ? "flash" : "plain";
    else if (*kernel != "autoselected")
        in.mark("attention", Fate::unknown);
}

// A file that says a model's sizes alone, beside base.yml; those for GPUs say more.
static bool is_of_model(std::string_view file) {
    return file.find("configs/models/") != std::string_view::npos && file.find("models/gpu/") == std::string_view::npos;
}

// What another file than base.yml says before is not here: nothing is taken for it.
static void leave_base(Import& in) {
    const std::string file = in.text("base_config", "").value_or("base.yml");
    if (file.substr(file.rfind('/') + 1) == "base.yml" || (is_of_model(file) && in.job.contains("model")))
        return in.mark_all({"base_config"}, Fate::no_number);
    in.keep_said({"gpus", "gpus_per_node", "framework", "model"});
    if (!in.has("ici_fsdp_parallelism")) in.job.erase("zero");  // the file says it, or leaves it to what is left
    note_file(in, "base_config");
}

constexpr std::string_view kQuietOfMaxText[] = {"base_output_directory",
                                                "run_name",
                                                "dataset_*",
                                                "hf_*",
                                                "tokenizer*",
                                                "steps",
                                                "*learning_rate*",
                                                "tokenize_*",
                                                "*wandb*",
                                                "kv_quant*",
                                                "quantize_kvcache",
                                                "warmup*",
                                                "enable_checkpointing",
                                                "async_checkpointing",
                                                "checkpoint*",
                                                "profiler*",
                                                "skip_*",
                                                "profiler_*",
                                                "reuse_*",
                                                "hardware",
                                                "use_iota*",
                                                "scan_layers",
                                                "packing",
                                                "enable_goodput*",
                                                "monitor*",
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
                                                "add_bos",
                                                "add_eos",
                                                "per_device*",
                                                "allow_split*"};

// "lora.enable_lora=true lora.lora_rank=8", of its post-training.
static void read_lora(Import& in) {
    if (!in.on("lora.enable_lora", "trained")) return;
    read_adapters(in, {"lora.lora_rank", "lora.lora_module_path", "", "", lora_all});
    if (!in.has("lora.lora_rank")) in.job.erase("lora_rank");
    if (!in.has("lora.lora_module_path")) in.job.erase("lora_targets");
    in.mark_all({"lora.lora_alpha", "lora.lora_restore_path"}, Fate::no_number);
}

// "dcn_data_parallelism: -1": as many copies of the shards as there are GPUs for, once those are known.
static void read_copies(Import& in, std::int64_t part) {
    const std::int64_t gpus = in.job.value("gpus", std::int64_t{0});
    if (part <= 0 || gpus < part || gpus % part != 0) return;
    in.whole("dcn_data_parallelism", "shard_replicas");
    in.mark("dcn_data_parallelism", Fate::used);
    in.job["shard_replicas"] = gpus / part;
}

// Weights of another type than fp32 are the only ones: gradients and AdamW's averages have their type (train.py casts gradients of fp32
// alone; base.yml: mu_dtype is weight_dtype's).
static void read_stored(Import& in) {
    const auto stored = in.text("weight_dtype", "master_weights"), mean = in.text("mu_dtype", "moments");
    if (!stored || *stored == "float32") return;
    const bool same = !mean || mean->empty() || *mean == *stored;
    if (*stored == "bfloat16" && same && in.job["precision"] == "bf16" && !in.job.contains("trained") && !in.job.contains("optimizer")) {
        in.job["master_weights"] = "off";
        in.job["gradients_in_fp32"] = false;
        in.job["moments"] = "16-bit";
    } else {
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", "weight_dtype: " + stored->substr(0, 40)));
    }
}

void read_maxtext(Import& in) {
    in.mark_all(kQuietOfMaxText, Fate::no_number);
    const std::int64_t part = read_axes(in);
    const bool named = in.has("model_name") && in.last("model_name")->value != "default";  // base.yml: no model's name
    if (!named) in.mark("model_name", Fate::no_number);
    const bool resized = named && count_like(in.entries, {"base_*_dim", "base_num_*", "head_dim"}) > 0;
    if (resized && !in.on("override_model_config", "model")) refuse_both(in, "model_name", "base_…");
    if (resized)
        in.mark("model_name", Fate::unknown);
    else if (named)
        take_named_model(in, "model_name");
    if (!in.job.contains("model") && !resized) read_sizes(in);
    constexpr std::int64_t kUsualLength = 2'048;  // base.yml
    if (!in.hangs("sequence_length")) in.job["sequence_length"] = in.whole("max_target_length", "sequence_length").value_or(kUsualLength);
    fill_pytorch(in);
    in.ask("gpus");
    read_copies(in, part);
    const auto each = in.number("per_device_batch_size", "global_batch");
    in.number("per_device_batch_size", "micro_batch");
    const std::int64_t steps = in.whole("gradient_accumulation_steps", "global_batch").value_or(1),
                       gpus = in.job.value("gpus", std::int64_t{0});
    const bool open = in.hangs("tensor_parallel") || in.hangs("context_parallel") || in.hangs("pipeline_parallel");
    const std::int64_t split = open ? 0 : in.model_parallel();
    const auto whole = [](double value) { return value >= 1 && value <= 16'777'216 && value == std::floor(value); };
    const std::int64_t stages = std::max<std::int64_t>(in.job.value("pipeline_parallel", std::int64_t{1}), 1);
    const std::int64_t asked = in.whole("num_pipeline_microbatches", "micro_batch").value_or(-1), parts = asked > 0 ? asked : stages;
    const double micro = each ? *each * static_cast<double>(split) / static_cast<double>(stages > 1 ? parts : 1) : 0;
    if (split > 0 && whole(micro)) in.job["micro_batch"] = static_cast<std::int64_t>(micro);
    if (const auto repeats = in.whole("num_pipeline_repeats", "virtual_stages"); repeats && *repeats > 0 && *repeats <= 128 && stages > 1)
        in.job["virtual_stages"] = *repeats;
    if (each && gpus > 0 && steps > 0 && whole(*each * static_cast<double>(gpus) * static_cast<double>(steps)))
        in.job["global_batch"] = static_cast<std::int64_t>(*each * static_cast<double>(gpus) * static_cast<double>(steps));
    if (const std::string policy = in.text("remat_policy", "recompute").value_or("full"); !in.hangs("recompute")) {  // base.yml
        if (policy == "full")
            in.job["recompute"] = "full";
        else
            in.notes.push_back(Text("import_plan.note.not_counted").with("key", "remat_policy: " + policy.substr(0, 40)));
    }
    read_kernel(in);
    const auto quantized = in.text("quantization", "precision"), type = in.text("dtype", "precision");
    if (quantized && quantized->find("fp8") != std::string::npos)
        in.job["precision"] = "fp8";
    else if (type.value_or("bfloat16") == "bfloat16" && !in.hangs("precision"))  // base.yml
        in.job["precision"] = "bf16";
    if (quantized && !quantized->empty() && quantized->find("fp8") == std::string::npos)
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", "quantization: " + quantized->substr(0, 40)));
    if (in.on("optimizer_memory_host_offload", "optimizer_offload")) in.job["optimizer_offload"] = 1.0;
    if (in.on("parameter_memory_host_offload", ""))
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", "parameter_memory_host_offload"));
    if (const auto rule = in.text("opt_type", "optimizer"); rule == "sgd" || rule == "muon")
        in.job["optimizer"] = *rule;
    else if (rule && !rule->starts_with("adam"))
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", "opt_type: " + rule->substr(0, 40)));
    read_lora(in);
    read_stored(in);
    refuse_adapters(in, {"use_lora", "lora_input_adapters_path", "use_dpo"});
    leave_base(in);
    ask_rest(in);
}

}  // namespace fourfold
