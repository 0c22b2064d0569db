// LitGPT of 2024 (config_hub, litgpt/finetune, litgpt/pretrain.py, litgpt/args.py, litgpt/config.py): a model by the name of its folder, or
// by sizes; several GPUs are FSDP. The batch is the whole run's.
#include <algorithm>

#include "base/text.h"
#include "formats/named_model.h"
#include "formats/read/jobs.h"
#include "formats/read/trainers.h"
#include "formats/readers.h"
#include "model/model.h"

namespace fourfold {

namespace {

enum class LitProgram { lora, full, pretrain };

// Which of its programs takes such a file; "litgpt" is the command's word.
LitProgram program_of(const Import& in) {
    const Entry* const said = in.last("litgpt");
    const auto* const word = said == nullptr ? nullptr : said->value.get_ptr<const Json::string_t*>();
    const auto says = [&](std::string_view part) { return word != nullptr && word->find(part) != std::string::npos; };
    if (says("pretrain")) return LitProgram::pretrain;
    if (says("full")) return LitProgram::full;
    if (says("lora") || says_any(in, {"lora_*", "quantize"})) return LitProgram::lora;
    const bool sizes =
        says_any(in, {"model_name", "model_config.*", "model.*", "initial_checkpoint_dir", "tokenizer_dir", "train.max_tokens"});
    return sizes && !in.has("checkpoint_dir") ? LitProgram::pretrain : LitProgram::full;
}

// Sizes below a section, with the defaults of its class (litgpt/config.py, Config).
bool read_lit_sizes(Import& in, std::string_view section, bool tied) {
    const auto key = [&](std::string_view name) { return joined({section, name}); };
    if (!in.has(key("n_embd")) || !in.has(key("n_layer"))) return false;
    const auto size = [&](std::string_view name, std::int64_t usual) {
        return std::clamp<std::int64_t>(in.whole(key(name), "model").value_or(usual), 0, 16'777'216);
    };
    const std::int64_t hidden = size("n_embd", 4'096), heads = size("n_head", 32), words = size("vocab_size", 50'254),
                       step = std::max<std::int64_t>(size("padding_multiple", 512), 1);
    const std::string part = in.text(key("mlp_class_name"), "model").value_or("GptNeoxMLP");
    const bool norms = in.text(key("norm_class_name"), "model").value_or("LayerNorm") == "LayerNorm";
    const bool gated = part != "GptNeoxMLP", bias = !in.has(key("bias")) || in.on(key("bias"), "model");
    const bool aside = !in.has(key("parallel_residual")) || in.on(key("parallel_residual"), "model");
    Json config = {{"model_type", norms && !gated && aside ? "gpt_neox" : "llama"},
                   {"hidden_size", hidden},
                   {"num_hidden_layers", size("n_layer", 16)},
                   {"num_attention_heads", heads},
                   {"num_key_value_heads", size("n_query_groups", heads)},
                   {"intermediate_size", size("intermediate_size", 4 * hidden)},
                   {"vocab_size", size("padded_vocab_size", (words + step - 1) / step * step)},
                   {"max_position_embeddings", size("block_size", 4'096)},
                   {"gated_mlp", gated},
                   {"layer_norm", norms},
                   {"attention_bias", bias},
                   {"mlp_bias", bias},
                   {"tie_word_embeddings", tied}};
    if (in.has(key("head_size"))) config["head_dim"] = size("head_size", 0);
    if (part == "LLaMAMoE") {
        config["model_type"] = "mixtral";
        config["num_local_experts"] = size("n_expert", 0);
        config["num_experts_per_tok"] = size("n_expert_per_token", 0);
    }
    take_sizes(in, config);
    return true;
}

// Head and embedding are two matrices in every model (scripts/convert_hf_checkpoint.py copies a tied one), unless pretraining ties them.
void read_lit_model(Import& in) {
    const bool tied = in.on("train.tie_embeddings", "model");
    for (const char* section : {"model_config.", "model."})
        if (read_lit_sizes(in, section, tied))
            return in.mark_all({"model_name", "checkpoint_dir", "model_config.*", "model.*"}, Fate::no_number);
    for (const char* key :
         {"checkpoint_dir", "io.checkpoint_dir", "model_name", "model_config.name", "model.name", "initial_checkpoint_dir"}) {
        if (!in.has(key) || !take_named_model(in, key)) continue;
        const CatalogModel* const found = model_of(in);
        if (found == nullptr || found->model.tied == tied) return;
        Json config = canonical_config(found->model);
        config["tie_word_embeddings"] = tied;
        in.job["model"] = std::move(config);
        return;
    }
}

void read_lit_types(Import& in, bool lora) {
    const auto type = in.text("precision", "precision");
    in.job["precision"] = type == "16-true" || type == "16-mixed" ? "fp16" : "bf16";
    const bool mixed = !type || type->find("mixed") != std::string::npos;  // its own default is "mixed" (Lightning's utilities)
    if (type == "32-true") {
        in.notes.emplace_back("import_plan.note.fp32_named");
    } else if (!mixed && !in.hangs("precision")) {
        in.job["master_weights"] = "off";
        in.job["gradients_in_fp32"] = false;
        in.job["moments"] = "16-bit";
    }
    if (mixed && lora && !in.hangs("precision") && !in.has("settings_file"))  // the frozen weights stay in 32 bits
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", joined({"precision: ", type.value_or("bf16-mixed")})));
    if (mixed && type && in.on("quantize", "frozen_weights")) refuse_both(in, "quantize", *type);
}

void read_lit_adapters(Import& in) {
    struct Switch {
        const char* key;
        bool usual;
        const char* targets;
    };
    constexpr Switch kSwitches[] = {{"lora_query", true, "query"},
                                    {"lora_key", false, "key"},
                                    {"lora_value", true, "value"},
                                    {"lora_projection", false, "output"},
                                    {"lora_mlp", false, "gate,up,down"}};
    std::string targets;
    for (const Switch& one : kSwitches)
        if (in.has(one.key) ? in.on(one.key, "lora_targets") : one.usual) targets += joined({targets.empty() ? "" : ",", one.targets});
    in.job["trained"] = "lora";
    in.job["lora_targets"] = targets;
    const std::int64_t rank = in.whole("lora_r", "lora_rank").value_or(8);
    in.job["lora_rank"] = std::clamp<std::int64_t>(rank, 1, 65'536);
    if (in.number("lora_dropout", "lora_dropout").value_or(0.05) > 0) in.job["lora_dropout"] = true;
    if (in.on("lora_head", "lora_targets")) in.notes.push_back(Text("import_plan.note.not_counted").with("key", "lora_head"));
    const std::string frozen = in.text("quantize", "frozen_weights").value_or("");
    if (frozen.starts_with("bnb.int8"))
        in.job["frozen_weights"] = "fp8";
    else if (frozen.starts_with("bnb."))
        in.job["frozen_weights"] = frozen.ends_with("-dq") ? "nf4" : "nf4_single";
    if (!frozen.empty() && in.job.value("gpus", std::int64_t{1}) > 1) refuse_both(in, "quantize", "devices");
}

// FSDP where there is more than one GPU: fine-tuning computes every block again, pretraining shares out within a node alone.
void read_lit_sharding(Import& in, LitProgram program) {
    const std::int64_t gpus = in.job.value("gpus", std::int64_t{0});
    if (gpus == 0) return;
    in.job["zero"] = gpus > 1 ? "weights" : "none";
    in.job["recompute"] = gpus > 1 && program != LitProgram::pretrain ? "full" : "none";
    const std::int64_t nodes = in.whole("num_nodes", "shard_replicas").value_or(1);
    if (program == LitProgram::pretrain && nodes > 1 && nodes < 100'000) in.job["shard_replicas"] = nodes;
}

// What does not divide is left out (litgpt/args.py, batch_size and gradient_accumulation_iters).
void read_lit_batch(Import& in) {
    const auto micro = in.whole({"train.micro_batch_size", "micro_batch_size"}, "micro_batch"),
               batch = in.whole({"train.global_batch_size", "global_batch_size"}, "global_batch");
    if (micro && *micro > 0 && *micro <= 65'536) in.job["micro_batch"] = *micro;
    const std::int64_t copies = in.copies();
    if (!batch || *batch <= 0) return;
    in.job["global_batch"] = *batch;
    if (copies <= 0 || !in.job.contains("micro_batch")) return;
    const std::int64_t steps = *batch / copies / *micro;
    if (steps == 0)
        in.refused.push_back(Text("import_plan.refused.batch").with("batch", *batch).with("micro", *micro).with("copies", copies));
    else
        in.job["global_batch"] = steps * *micro * copies;
}

constexpr std::string_view kQuietOfLit[] = {"out_dir",
                                            "data*",
                                            "train.save*",
                                            "train.log*",
                                            "train.lr_*",
                                            "train.epochs*",
                                            "train.max_*",
                                            "train.min*",
                                            "train.learning_rate",
                                            "train.weight_decay",
                                            "train.beta*",
                                            "train.tie*",
                                            "eval.*",
                                            "logger_name",
                                            "seed",
                                            "optimizer*",
                                            "optim.*",
                                            "lora_alpha",
                                            "resume",
                                            "access_token",
                                            "tokenizer_dir",
                                            "log.*",
                                            "io.*",
                                            "initial_checkpoint_dir",
                                            "litgpt",
                                            "config"};

}  // namespace

int litgpt_likeness(const std::vector<Entry>& entries) {
    if (count_like(entries, {"litgpt"}) > 0) return 1;
    const int own =
        count_like(entries, {"train.max_seq_length", "train.lr_warmup*", "train.max_tokens", "train.tie_embeddings", "eval.max_new_tokens",
                             "train.save_interval", "train.log_interval", "lora_query", "lora_value", "lora_projection", "lora_mlp"});
    return own > 1 && count_like(entries, {"checkpoint_dir", "io.checkpoint_dir", "model_name", "model_config.*", "model.n_embd"}) > 0 ? own
                                                                                                                                       : 0;
}

// Another setting below "train" stops it (litgpt/args.py, TrainArgs, by jsonargparse); programs of somebody's own may take more.
static void refuse_unknown_of_lit(Import& in) {
    constexpr std::string_view kLitTrain =
        "|save_interval|log_interval|global_batch_size|micro_batch_size|lr_warmup_steps|lr_warmup_fraction|"
        "epochs|max_tokens|max_steps|max_time|max_seq_length|tie_embeddings|learning_rate|weight_decay|"
        "beta1|beta2|max_norm|min_lr|";
    const Entry* const way = in.last("litgpt");
    const std::string said = way == nullptr || !way->value.is_string() ? "" : way->value.get<std::string>();
    constexpr std::string_view kLitWays[] = {"", "finetune_lora", "finetune_full", "finetune_adapter", "finetune_adapter_v2", "pretrain"};
    if (std::find(std::begin(kLitWays), std::end(kLitWays), said) == std::end(kLitWays)) return;
    for (const Entry& entry : in.entries) {
        if (!entry.key.starts_with("train.") || entry.key.find('.', 6) != std::string::npos) continue;
        if (kLitTrain.find(joined({"|", std::string_view(entry.key).substr(6), "|"})) != std::string_view::npos) continue;
        in.refused.push_back(Text("import_plan.refused.no_key").with("program", "LitGPT").with("key", entry.key.substr(0, 80)));
        return;
    }
}

void read_litgpt(Import& in) {
    in.mark_all(kQuietOfLit, Fate::no_number);
    refuse_unknown_of_lit(in);
    read_lit_model(in);
    const LitProgram program = program_of(in);
    const bool pretrain = program == LitProgram::pretrain;
    in.set("sequence_length", in.whole({"train.max_seq_length", "max_seq_length"}, "sequence_length"));
    for (const char* key : {"model_config.block_size", "model.block_size"})
        if (pretrain && !in.job.contains("sequence_length")) in.set("sequence_length", in.whole(key, "sequence_length"));
    const std::int64_t devices = in.text("devices", "gpus") == "auto" ? 0 : in.whole("devices", "gpus").value_or(0);
    const std::int64_t nodes = in.whole("num_nodes", "gpus").value_or(1);
    if (devices > 0 && devices <= 1'024 && nodes > 0 && nodes <= 100'000)
        in.job["gpus"] = devices * nodes;
    else if (!in.has("devices") && !pretrain && !in.hangs("gpus") && !in.has("settings_file"))
        in.job["gpus"] = nodes > 0 && nodes <= 100'000 ? nodes : 1;  // its default is one device
    in.ask("gpus");
    fill_pytorch(in);
    in.job["framework"] = "litgpt";
    read_lit_batch(in);
    read_lit_sharding(in, program);
    read_lit_types(in, program == LitProgram::lora);
    if (program == LitProgram::lora)
        read_lit_adapters(in);
    else
        in.job["loss"] = "plain";  // whole logits; those of LoRA come in chunks (lm_head_chunk_size)
    read_optimizer_class(in, "optimizer.class_path");
    for (const char* key : {"optim.optimizer", "optimizer"})
        if (in.text(key, "").value_or("").starts_with("galore")) refuse_mode(in, "galore");
    if (in.text("litgpt", "").value_or("").find("adapter") != std::string::npos) refuse_mode(in, "adapter");
    leave_to_file(in);
    ask_rest(in);
}

}  // namespace fourfold
