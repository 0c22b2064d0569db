// OLMo (configs/official; olmo/config.py, ModelConfig and TrainConfig; olmo/model.py), and OLMo-core's scripts, whose objects
// python/olmo.cpp makes the same settings of.
#include <algorithm>

#include "formats/named_model.h"
#include "formats/read/jobs.h"
#include "formats/read/trainers.h"
#include "formats/readers.h"
#include "model/model.h"

namespace fourfold {

// "scripts/train.py configs/x.yaml --device_train_microbatch_size=2 --fsdp.precision=mixed": changes of a file that is not here.
static bool changes_olmo(const std::vector<Entry>& entries) {
    return std::count_if(entries.begin(), entries.end(), [](const Entry& entry) {
               constexpr std::string_view kOwn[] = {
                   "device_train_microbatch_size", "global_train_batch_size", "fsdp.*_strategy", "fsdp.precision",
                   "canceled_check_interval",      "model.flash_attention"};
               return entry.shown.starts_with("--") &&
                      std::any_of(std::begin(kOwn), std::end(kOwn), [&](std::string_view one) { return matches(one, entry.key); });
           }) > 1;
}

int olmo_likeness(const std::vector<Entry>& entries) {
    if (count_like(entries, {"model.d_model", "model.factory"}) == 0) return changes_olmo(entries) ? 1 : 0;
    return count_like(entries, {"device_train_microbatch_size", "global_train_batch_size", "global_batch_size", "rank_microbatch_size",
                                "rank_sequences"});
}

// Without a word it is 4 times as wide, and gated: what the activation takes in is twice as wide as what it gives out.
static std::int64_t olmo_width(Import& in, std::int64_t hidden, bool gated) {
    const double ratio = in.number("model.mlp_ratio", "model").value_or(4);
    const bool sane = hidden > 0 && hidden < 1'000'000 && ratio > 0 && ratio < 100;
    const std::int64_t whole =
        in.whole("model.mlp_hidden_size", "model").value_or(sane ? static_cast<std::int64_t>(static_cast<double>(hidden) * ratio) : 0);
    return gated ? whole / 2 : whole;
}

static void read_olmo_sizes(Import& in) {
    Json config = {{"model_type", "llama"}};
    constexpr std::pair<const char*, const char*> kSizes[] = {{"model.d_model", "hidden_size"},
                                                              {"model.n_heads", "num_attention_heads"},
                                                              {"model.n_layers", "num_hidden_layers"},
                                                              {"model.max_sequence_length", "max_position_embeddings"}};
    for (const auto& [theirs, ours] : kSizes)
        if (const auto value = in.whole(theirs, "model")) config[ours] = *value;
    const bool one = in.on("model.multi_query_attention", "model");
    config["num_key_value_heads"] =
        in.whole("model.n_kv_heads", "model").value_or(one ? 1 : config.value("num_attention_heads", std::int64_t{0}));
    // The embedding has as many rows as it is told, whatever the words are.
    const auto words = in.whole("model.vocab_size", "model"), rows = in.whole("model.embedding_size", "model");
    config["vocab_size"] = rows && *rows > 0 ? *rows : words.value_or(50'257);
    const bool gated = in.text("model.activation_type", "model").value_or("swiglu") == "swiglu";
    config["gated_mlp"] = gated;
    config["intermediate_size"] = olmo_width(in, config.value("hidden_size", std::int64_t{0}), gated);
    const std::string norm = in.text("model.layer_norm_type", "model").value_or("default");
    config["layer_norm"] = norm.find("rms") == std::string::npos;
    config["attention_bias"] = config["mlp_bias"] = !in.has("model.include_bias") || in.on("model.include_bias", "model");
    config["tie_word_embeddings"] = !in.has("model.weight_tying") || in.on("model.weight_tying", "model");
    config["learned_positions"] = !in.on("model.alibi", "model") && !in.on("model.rope", "model");
    config["qk_layernorm"] = in.on("model.attention_layer_norm", "model");
    if (in.hangs("model")) return;
    take_sizes(in, config);
}

// "olmo2_7B": a way to make a model of that name; the sizes beside it change it.
static void read_olmo_factory(Import& in) {
    constexpr std::string_view kSizes[] = {"model.n_layers", "model.d_model", "model.n_heads", "model.n_kv_heads", "model.block*"};
    const auto name = in.text("model.factory", "model");
    const CatalogModel* const found = name ? named_model(*name) : nullptr;
    in.mark_all({"model.vocab_size"}, Fate::no_number);  // of the tokenizer that the model has
    const bool changed = std::any_of(in.entries.begin(), in.entries.end(), [&](const Entry& entry) {
        return std::any_of(std::begin(kSizes), std::end(kSizes), [&](auto size) { return matches(size, entry.key); });
    });
    if (found != nullptr && !changed)
        in.job["model"] = as_requested(*found);
    else
        in.mark("model.factory", Fate::unknown);
}

// Whole layers, one of a few, or parts of each.
static void read_olmo_checkpointing(Import& in) {
    constexpr std::pair<std::string_view, std::pair<int, int>> kParts[] = {{"one_in_two", {1, 2}},   {"one_in_three", {1, 3}},
                                                                           {"one_in_four", {1, 4}},  {"one_in_eight", {1, 8}},
                                                                           {"two_in_three", {2, 3}}, {"three_in_four", {3, 4}}};
    if (!in.has("activation_checkpointing")) {
        if (!in.hangs("recompute")) in.job["recompute"] = "none";
        return;
    }
    const bool on = in.on("activation_checkpointing", "recompute");
    const std::string way = in.text("activation_checkpointing", "recompute").value_or("");
    const auto part = std::find_if(std::begin(kParts), std::end(kParts), [&](const auto& one) { return one.first == way; });
    const std::int64_t layers = in.whole("model.n_layers", "model").value_or(0);
    if (in.hangs("recompute")) return;
    if (part != std::end(kParts) && layers > 0 && layers < 10'000) {
        in.job["recompute"] = "block";
        in.job["recompute_layers"] = layers * part->second.first / part->second.second;
    } else if (!on || way.empty() || way == "true" || way == "whole_layer" || way == "full") {
        in.job["recompute"] = on ? "full" : "none";
    } else {
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", "activation_checkpointing: " + way.substr(0, 40)));
    }
}

// Without a word FSDP takes all, and reduces in the type that it computes in.
static void read_olmo_strategy(Import& in) {
    const auto way = in.text("distributed_strategy", "zero");
    if (way == "ddp" || way == "single") {
        in.job["zero"] = "none";
        return;
    }
    read_fsdp(in, "fsdp.", "");
    in.job.erase("fully_shard");
    // train.py builds a mesh for the two hybrid strategies alone; the number beside another one is not read
    const std::string strategy = in.text("fsdp.sharding_strategy", "zero").value_or("");
    if (strategy.find("HYBRID") == std::string::npos) {
        in.mark("fsdp.hybrid_sharding_num_model_replicas", Fate::no_number);
    } else if (const auto copies = in.whole("fsdp.hybrid_sharding_num_model_replicas", "shard_replicas"); copies && *copies > 0) {
        in.job["shard_replicas"] = *copies;
        in.notes.clear();  // of HYBRID_SHARD
    }
    const std::string types = in.text("fsdp.precision", "gradients_in_fp32").value_or("pure");
    if (!in.hangs("gradients_in_fp32")) in.job["gradients_in_fp32"] = types == "mixed" || in.last("precision") == nullptr;
}

static void read_olmo_types(Import& in) {
    const auto precision = in.text("precision", "precision");
    if (precision == "amp_bf16" || precision == "amp_fp16")
        in.job["precision"] = precision->substr(4);
    else if (precision)
        in.notes.emplace_back("import_plan.note.fp32_named");
    if (in.on("float8.enabled", "precision")) in.job["precision"] = "fp8";
    const auto rule = in.text("optimizer.name", "optimizer");
    if (rule && rule->find("adam") == std::string::npos && rule->find("Adam") == std::string::npos)
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", "optimizer: " + rule->substr(0, 40)));
    if (in.has("model.flash_attention")) in.job["attention"] = in.on("model.flash_attention", "attention") ? "flash" : "sdpa";
    if (in.job.value("attention", "") == "sdpa") in.job.erase("attention");  // PyTorch chooses
}

// OLMo-core counts a step's batch, and what a copy works on at once, in tokens.
static void read_olmo_tokens(Import& in, std::string_view key, std::string_view field) {
    const auto tokens = in.whole(key, field);
    const std::int64_t length = in.job.value("sequence_length", std::int64_t{0});
    if (!tokens) return;
    if (length > 0 && *tokens > 0 && *tokens % length == 0)
        in.job[std::string(field)] = *tokens / length;
    else
        in.mark(key, Fate::unknown);
}

// "739_328" is of steps, "2e12T" of tokens, "1ep" of what no text says (olmo/train.py, max_steps and max_tokens).
static void read_olmo_length(Import& in) {
    for (std::size_t i = 0; i < in.entries.size(); ++i) {
        Entry& entry = in.entries[i];
        const auto* const text = entry.value.get_ptr<const Json::string_t*>();
        const bool tokens = text != nullptr && text->ends_with('T');
        const auto length = tokens ? number_in(text->substr(0, text->size() - 1)) : number_in(entry.value);
        if (entry.key == "max_duration" && length && entry.open.empty()) in.become(entry, tokens ? "train_tokens" : "train_iters", *length);
    }
    in.mark_all({"train_iters", "train_tokens"}, Fate::no_number);
}

static constexpr std::string_view kQuietOfOlmo[] = {"run_name",
                                                    "seed",
                                                    "dry_run",
                                                    "wandb*",
                                                    "compile*",
                                                    "optimizer.*",
                                                    "scheduler*",
                                                    "data.*",
                                                    "tokenizer*",
                                                    "save_*",
                                                    "load_*",
                                                    "max_duration",
                                                    "max_grad_norm*",
                                                    "speed_monitor*",
                                                    "eval_*",
                                                    "evaluators*",
                                                    "device_eval*",
                                                    "remote_save*",
                                                    "reset_*",
                                                    "canceled_*",
                                                    "console_*",
                                                    "python_prof*",
                                                    "torch_prof*",
                                                    "gen1_*",
                                                    "time_limit",
                                                    "no_pre_*",
                                                    "epoch",
                                                    "extra_steps*",
                                                    "restore_*",
                                                    "find_unused*",
                                                    "fused_loss",
                                                    "softmax_aux*",
                                                    "auxiliary_*",
                                                    "hf_*",
                                                    "early_stop*",
                                                    "try_load*",
                                                    "sharded_*",
                                                    "stop_*",
                                                    "fsdp.use_orig*",
                                                    "fsdp.wrapping*",
                                                    "model.init_*",
                                                    "model.compile",
                                                    "model.*dropout*",
                                                    "model.*_token_id",
                                                    "model.alibi_bias*",
                                                    "model.block_type",
                                                    "model.*norm_with_affine",
                                                    "model.bias_for*",
                                                    "model.rope_*",
                                                    "model.scale_logits",
                                                    "model.clip_qkv",
                                                    "model.layer_norm_eps",
                                                    "model.norm_after",
                                                    "model.emb_init*",
                                                    "model.attention_layer_norm_with*",
                                                    "trainer.*",
                                                    "cluster"};
void read_olmo(Import& in) {
    read_olmo_length(in);
    in.mark_all(kQuietOfOlmo, Fate::no_number);
    const bool core = in.has("model.factory"), file = !core && !in.has("model.d_model");
    if (core)
        read_olmo_factory(in);
    else if (!file)
        read_olmo_sizes(in);
    in.set("sequence_length", in.whole({"max_sequence_length", "model.max_sequence_length"}, "sequence_length"));
    constexpr std::pair<const char*, const char*> kDegrees[] = {
        {"tp.degree", "tensor_parallel"}, {"cp.degree", "context_parallel"}, {"pp.degree", "pipeline_parallel"}};
    for (const auto& [key, field] : kDegrees) in.set(field, in.whole(key, field));
    fill_pytorch(in);
    in.ask("gpus");
    if (core)
        read_olmo_tokens(in, "global_batch_size", "global_batch"), read_olmo_tokens(in, "rank_microbatch_size", "micro_batch"),
            in.set("micro_batch", in.whole("rank_sequences", "micro_batch"));
    else
        read_copies_batch(in, {"device_train_microbatch_size", "", "global_train_batch_size"});
    read_olmo_strategy(in);
    read_olmo_types(in);
    read_olmo_checkpointing(in);
    if (file) {
        in.keep_said({"gpus", "gpus_per_node", "framework"});
        leave_batch(in);
        note_file(in, "settings_file");
    }
    ask_rest(in);
}

}  // namespace fourfold
