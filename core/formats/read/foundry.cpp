// llm-foundry 8c8dd48f7.
#include <algorithm>

#include "base/text.h"
#include "formats/named_model.h"
#include "formats/read/jobs.h"
#include "formats/read/trainers.h"
#include "formats/readers.h"
#include "model/model.h"
#include "plan/plan.h"

namespace fourfold {

int foundry_likeness(const std::vector<Entry>& entries) {
    return count_like(entries, {"max_seq_len", "variables.max_seq_len", "parameters.max_seq_len", "parameters.variables.max_seq_len"}) > 0
               ? count_like(entries, {"*device_train_microbatch_size", "*global_train_batch_size", "*device_train_grad_accum",
                                      "*fsdp_config.*", "*model.name", "*model.n_layers"})
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
    const bool one = in.text("model.attn_config.attn_type", "model") == "multiquery_attention";
    config["num_key_value_heads"] =
        in.whole("model.attn_config.kv_n_heads", "model").value_or(one ? 1 : config.value("num_attention_heads", std::int64_t{0}));
    const bool bias = !in.on("model.no_bias", "model");
    config["attention_bias"] = config["mlp_bias"] = bias;
    config["tie_word_embeddings"] = !in.has("model.tie_word_embeddings") || in.on("model.tie_word_embeddings", "model");
    config["learned_positions"] = !in.on("model.attn_config.alibi", "model") && !in.on("model.attn_config.rope", "model") &&
                                  (!in.has("model.learned_pos_emb") || in.on("model.learned_pos_emb", "model"));
    if (in.has("model.ffn_config.ffn_type") || in.has("model.ffn_config.moe_num_experts")) return;  // experts, gates
    take_sizes(in, config);
}

// PEFT's configuration below the model's.
static void read_what_is_trained(Import& in) {
    if (count_like(in.entries, {"lora*", "peft_config*"}) > 0) return refuse_mode(in, "LoRA");
    if (count_like(in.entries, {"model.peft_config*"}) == 0) return;
    const auto way = in.text("model.peft_config.peft_type", "trained");
    if (in.hangs("trained")) return;
    if (!way || lower_case(*way) != "lora") return refuse_mode(in, way.value_or("LoRA"));  // it takes no other
    read_adapters(
        in, {"model.peft_config.r", "model.peft_config.target_modules", "model.peft_config.lora_dropout", "", lora_query | lora_value});
    refuse_adapters(in, {"model.peft_config.use_dora"});
}

// Changes of a named model that change none of its sizes.
static bool keeps_sizes(std::string_view key) {
    constexpr std::string_view kOther[] = {"*.max_position_embeddings", "*.rope_scaling*", "*.rope_theta", "*.use_fused_loss",
                                           "*.use_cache"};
    return std::any_of(std::begin(kOther), std::end(kOther), [&](std::string_view one) { return matches(one, key); });
}

// The named model with sizes of its own, under their names of a config.json.
static void read_overrides(Import& in) {
    constexpr std::string_view kSection = "model.config_overrides.";
    constexpr std::string_view kSizes[] = {"vocab_size",          "hidden_size",         "intermediate_size",   "num_hidden_layers",
                                           "num_attention_heads", "num_key_value_heads", "tie_word_embeddings", "sliding_window"};
    const auto name = in.text("model.pretrained_model_name_or_path", "model");
    const CatalogModel* const found = name ? named_model(*name) : nullptr;
    if (found == nullptr) return in.mark("model.pretrained_model_name_or_path", Fate::unknown);
    const Model& usual = found->model;
    Json config = canonical_config(usual);
    for (const std::string_view size : kSizes)
        if (Entry* const entry = const_cast<Entry*>(in.last(std::string(kSection) + std::string(size))); entry != nullptr) {
            const bool text = entry->value.is_string();  // of another setting: ${max_seq_len}
            const auto number = text ? in.whole(entry->key, "model") : std::nullopt;
            config[std::string(size)] = number ? Json(*number) : entry->value;
            in.text(entry->key, "model");
        }
    if (in.hangs("model")) return;
    const auto count = [&](const char* key) { return config[key].is_number_integer() ? config[key].get<std::int64_t>() : 0; };
    const std::int64_t hidden = count("hidden_size"), heads = count("num_attention_heads");
    if (config.contains("head_dim") && usual.head_dim * usual.heads == usual.hidden && heads > 0) config["head_dim"] = hidden / heads;
    if (in.last("model.config_overrides.sliding_window") != nullptr || in.last("model.config_overrides.num_hidden_layers") != nullptr)
        config.erase("layer_types");  // which says what layers have the window: its family tells it anew
    if (config != canonical_config(usual)) config.erase("_name_or_path");
    Problems problems;
    ImportReport report;
    const auto model = read_model(config, "", problems, report);
    if (!model) return in.mark("model.pretrained_model_name_or_path", Fate::unknown);
    in.job["model"] = config.contains("_name_or_path") ? as_requested(*found) : canonical_config(*model);
}

constexpr std::string_view kQuietOfFoundry[] = {"variables.*",
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
                                                "model.use_auth_token",
                                                "model.pretrained",
                                                "model.*drop*",
                                                "model.verbose",
                                                "model.use_cache",
                                                "model.logit_scale",
                                                "model.embedding_fraction",
                                                "model.norm_type",
                                                "model.norm_eps",
                                                "model.fc_type*",
                                                "model.ffn_config*",
                                                "model.attn_config.attn_*",
                                                "model.attn_config.softmax_scale",
                                                "model.attn_config.alibi_bias_max",
                                                "model.attn_config.rope_*",
                                                "model.attn_config.prefix_lm",
                                                "model.attn_config.clip_qkv",
                                                "model.config_overrides*",
                                                "model.tokenizer_name",
                                                "model.torch_dtype",
                                                "model.trust_remote_code",
                                                "model.load_in_*",
                                                "model.use_train_metrics",
                                                "model.additional_*_metrics",
                                                "model.should_save_peft_only",
                                                "model.peft_config.task_type",
                                                "model.peft_config.lora_alpha",
                                                "model.peft_config.use_rslora",
                                                "data_*",
                                                "global_seed",
                                                "eos_token_id",
                                                "num_canonical_nodes",
                                                "max_split*",
                                                "icl_*",
                                                "dist_timeout",
                                                "expandable*",
                                                "parameters.*",
                                                "compile_config*",
                                                "fsdp_config.activation_checkpointing*",
                                                "fsdp_config.limit_all_gathers",
                                                "fsdp_config.verbose",
                                                "fsdp_config.*state_dict*",
                                                "fsdp_config.sync_module_states",
                                                "fsdp_config.*_prefetch",
                                                "fsdp_config.use_orig_params",
                                                "fsdp_config.*ckpt*",
                                                "fsdp_config.load_*",
                                                "fsdp_config.save_*",
                                                "fsdp_config.keep_low_precision_grads",
                                                "fsdp_config.flatten_parameters",
                                                "fsdp_config.process_group",
                                                "fsdp_config.min_params",
                                                "fsdp_config.te_*",
                                                "should_*",
                                                "accumulate*",
                                                "code_paths",
                                                "name",
                                                "image",
                                                "integrations*",
                                                "command",
                                                "cluster",
                                                "gpu_type",
                                                "compute.cluster",
                                                "scheduling*"};

// The model of a file that is not here: the name that the file takes for it, or that the file itself has ("yamls/pretrain/mpt-7b.yaml").
static void take_model_of_file(Import& in) {
    if (in.has("model_name_or_path")) return take_named_model(in, "model_name_or_path"), void();
    const std::string file = in.text("config_file", "model").value_or("");
    const std::size_t begin = file.rfind('/') + 1;
    if (const CatalogModel* const found = named_model(file.substr(begin, file.rfind('.') - begin))) in.job["model"] = found->model.id;
}

void read_foundry(Import& in) {
    for (Entry& entry : in.entries)  // a run as MosaicML's platform takes it
        if (entry.key.starts_with("parameters.")) entry.key.erase(0, 11);
    in.set("gpus", in.whole({"compute.gpus", "gpu_num"}, "gpus"));
    in.mark_all(kQuietOfFoundry, Fate::no_number);
    for (Entry& entry : in.entries)  // of what is not counted it is not said that it changes nothing
        if (matches("fsdp_config.device_mesh*", entry.key) || (matches("model.config_overrides*", entry.key) && !keeps_sizes(entry.key)))
            entry.fate = Fate::unknown;
    if (const Entry* const micro = in.last("device_train_microbatch_size"); micro != nullptr && micro->value == Json("auto"))
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", "device_train_microbatch_size: auto"));  // halved until it fits
    drop_auto(in);
    const auto name = in.text("model.name", "model");
    if (name == "mpt_causal_lm")
        read_mpt(in);
    else if (std::any_of(in.entries.begin(), in.entries.end(),
                         [](const Entry& entry) { return entry.key.starts_with("model.config_overrides") && !keeps_sizes(entry.key); }))
        read_overrides(in);
    else if (name && named_model(*name) != nullptr)  // a class of somebody's own, called after what it is
        take_named_model(in, "model.name");
    else if (in.has("model.pretrained_model_name_or_path"))
        take_named_model(in, "model.pretrained_model_name_or_path");
    else
        take_model_of_file(in);
    if (in.on("model.use_flash_attention_2", "attention") || in.text("model.attn_implementation", "attention") == "flash_attention_2")
        in.job["attention"] = "flash";
    if (const auto kernel = in.text("model.attn_config.attn_impl", "attention"); kernel == "flash" || kernel == "torch")
        in.job["attention"] = *kernel == "flash" ? "flash" : "plain";
    in.set("sequence_length", in.whole({"max_seq_len", "variables.max_seq_len"}, "sequence_length"));
    fill_pytorch(in);
    in.ask("gpus");
    read_copies_batch(in, {"device_train_microbatch_size", "device_train_grad_accum", "global_train_batch_size"});
    if (count_like(in.entries, {"fsdp_config.*"}) > 0)
        read_fsdp(in, "fsdp_config.", "fsdp_config.version");
    else if (!in.has("config_file"))
        in.job["zero"] = "none";
    if (in.has("config_file")) leave_batch(in);
    note_file(in, "config_file");
    const auto precision = in.text("precision", "precision");
    if (precision && precision->starts_with("amp_") && precision->size() < 10) {
        const std::string type = precision->substr(4);
        if (type == "bf16" || type == "fp16" || type == "fp8")
            in.job["precision"] = type;
        else
            in.mark("precision", Fate::unknown);
    } else if (precision)
        in.notes.emplace_back("import_plan.note.fp32_named");
    const auto optimizer = in.text("optimizer.name", "optimizer");
    if (optimizer && optimizer->find("adam") == std::string::npos)
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", optimizer->substr(0, 40)));
    if (const auto mixed = in.text("fsdp_config.mixed_precision", "gradients_in_fp32")) {  // DEFAULT reduces in 32 bits
        if (*mixed == "PURE") in.job["gradients_in_fp32"] = precision == "fp32";
        if (*mixed == "FULL") in.job["gradients_in_fp32"] = true;
        if (*mixed != "PURE" && *mixed != "FULL" && *mixed != "DEFAULT") in.mark("fsdp_config.mixed_precision", Fate::unknown);
        if (*mixed == "PURE" || *mixed == "FULL")  // what is gathered is in 16 or in 32 bits
            in.notes.push_back(Text("import_plan.note.not_counted").with("key", "mixed_precision: " + *mixed));
    }
    if (in.has("fsdp_config.activation_checkpointing") && !in.on("fsdp_config.activation_checkpointing", "recompute"))
        in.job["recompute"] = "none";
    if (in.on("fsdp_config.activation_cpu_offload", "activation_offload")) in.job["activation_offload"] = 1.0;
    read_what_is_trained(in);
    ask_rest(in);
}

}  // namespace fourfold
