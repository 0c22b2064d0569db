// Levanter of 2023 to 2025 (trainer.py, TrainerConfig; main/train_lm.py; models/): a batch of sequences over all devices, which are FSDP
// but for an axis that splits the model.
#include <algorithm>

#include "formats/named_model.h"
#include "formats/read/jobs.h"
#include "formats/read/trainers.h"
#include "formats/readers.h"
#include "model/model.h"
#include "plan/plan.h"

namespace fourfold {

int levanter_likeness(const std::vector<Entry>& entries) {
    const int own =
        count_like(entries, {"trainer.train_batch_size", "trainer.per_device_parallelism", "trainer.mp", "trainer.model_axis_size",
                             "trainer.fsdp_axis", "trainer.tensor_parallel_axes*", "trainer.*axis_resources*"});
    return own > 1 ? own : 0;
}

// Its types of models, and what they are called here.
static constexpr std::pair<std::string_view, std::string_view> kLevanterTypes[] = {
    {"llama", "llama"}, {"gpt2", "gpt2"},   {"mistral", "mistral"}, {"mixtral", "mixtral"}, {"qwen", "qwen2"},
    {"qwen3", "qwen3"}, {"gemma", "gemma"}, {"gemma2", "gemma2"},   {"olmo", "olmo"},       {"olmo2", "olmo2"}};

// The rows of the embedding: those of the tokenizer's model.
static std::int64_t levanter_words(Import& in) {
    if (const auto words = in.whole({"data.vocab_size", "vocab_size"}, "model"); words && *words > 0) return *words;
    const CatalogModel* const known = named_model(in.text("data.tokenizer", "model").value_or(""));
    return known == nullptr ? answered_words(in).value_or(0) : known->model.vocabulary;
}

static void read_levanter_sizes(Import& in) {
    const std::string type = in.text("model.type", "model").value_or("gpt2");
    const auto row = std::find_if(std::begin(kLevanterTypes), std::end(kLevanterTypes), [&](const auto& one) { return one.first == type; });
    if (row == std::end(kLevanterTypes)) return in.mark("model.type", Fate::unknown);
    const bool gpt2 = row->second == "gpt2";
    const auto size = [&](const char* name, std::int64_t usual) { return in.whole(std::string("model.") + name, "model").value_or(usual); };
    const std::int64_t hidden = size("hidden_dim", gpt2 ? 768 : 4'096), heads = size("num_heads", gpt2 ? 12 : 32);
    Json config = {{"model_type", row->second},
                   {"hidden_size", hidden},
                   {"num_hidden_layers", size("num_layers", gpt2 ? 12 : 32)},
                   {"num_attention_heads", heads},
                   {"num_key_value_heads", size("num_kv_heads", heads)},
                   {"intermediate_size", gpt2 ? size("mlp_scale", 4) * hidden : size("intermediate_dim", 11'008)},
                   {"max_position_embeddings", in.job.value("sequence_length", gpt2 ? 512 : 2'048)},
                   {"vocab_size", levanter_words(in)}};
    if (in.has("model.head_dim")) config["head_dim"] = size("head_dim", 0);
    if (in.has("model.tie_word_embeddings")) config["tie_word_embeddings"] = in.on("model.tie_word_embeddings", "model");
    if (row->second == "mixtral")
        config["num_local_experts"] = size("n_routed_experts", 8), config["num_experts_per_tok"] = size("num_experts_per_tok", 2);
    if (config["vocab_size"] == 0 && in.has("model.type") && !in.has("settings_file")) in.asked.emplace_back("vocab_size");
    if (config["vocab_size"] == 0 || in.hangs("model")) return;
    take_sizes(in, config);
}

// "p=f32,c=bfloat16": weights and optimizer, computation. Without a word everything is in 32 bits.
static void read_levanter_policy(Import& in) {
    const std::string policy = in.text("trainer.mp", "precision").value_or("f32");
    const auto part = [&](std::string_view name) {
        const std::size_t at = policy.find(name);
        return at == policy.npos ? policy : policy.substr(at + name.size(), policy.find(',', at) - at - name.size());
    };
    const auto is_16_bits = [](const std::string& type) { return type == "bfloat16" || type == "bf16"; };
    if (!is_16_bits(part("c="))) return in.notes.emplace_back("import_plan.note.fp32_named"), void();
    in.job["precision"] = in.has("trainer.fp8") && in.on("trainer.fp8", "precision") ? "fp8" : "bf16";
    if (is_16_bits(part("p="))) in.notes.push_back(Text("import_plan.note.not_counted").with("key", "mp: " + policy.substr(0, 40)));
}

static void read_levanter_batch(Import& in) {
    constexpr std::int64_t kUsual = 512, kMost = 16'777'216;
    const std::int64_t all = in.whole("trainer.train_batch_size", "global_batch").value_or(kUsual);
    const std::int64_t each = in.whole("trainer.per_device_parallelism", "micro_batch").value_or(-1);
    const std::int64_t copies = in.copies();
    if (all > 0 && all <= kMost && !in.hangs("global_batch")) in.job["global_batch"] = all;
    const bool spread = each <= 0 && copies > 0 && all % copies == 0;  // all at once
    if (!in.hangs("micro_batch") && (each > 0 || spread)) in.job["micro_batch"] = std::min(spread ? all / copies : each, kMost);
}

static constexpr std::string_view kQuietOfLevanter[] = {"data.*",
                                                        "optimizer.*",
                                                        "trainer.tracker*",
                                                        "trainer.wandb*",
                                                        "trainer.checkpointer*",
                                                        "trainer.*axis_resources*",
                                                        "trainer.tensor_parallel_axes*",
                                                        "trainer.batch_axis",
                                                        "trainer.ray*",
                                                        "trainer.seed",
                                                        "trainer.steps_per_eval",
                                                        "trainer.max_eval_batches",
                                                        "trainer.num_train_steps",
                                                        "trainer.log*",
                                                        "trainer.load*",
                                                        "trainer.*eval*",
                                                        "trainer.id",
                                                        "trainer.profiler*",
                                                        "trainer.require_accelerator",
                                                        "model.rope*",
                                                        "model.initializer*",
                                                        "model.layer_norm*",
                                                        "model.*pdrop",
                                                        "model.*inverse*",
                                                        "model.upcast*",
                                                        "model.activation*",
                                                        "model.flash_attention_block_size",
                                                        "hf_*",
                                                        "eval*",
                                                        "config_path"};
void read_levanter(Import& in) {
    in.mark_all(kQuietOfLevanter, Fate::no_number);
    for (const char* key : {"model.seq_len", "model.max_seq_len", "train_seq_len"})
        in.set("sequence_length", in.whole(key, "sequence_length"));
    in.set("tensor_parallel", in.whole("trainer.model_axis_size", "tensor_parallel"));
    if (count_like(in.entries, {"model.*_dim", "model.num_*"}) == 0 && in.has("initialize_from_hf"))
        take_named_model(in, "initialize_from_hf");
    else
        read_levanter_sizes(in);
    fill_pytorch(in);
    in.ask("gpus");
    const Entry* const axis = in.last("trainer.fsdp_axis");
    in.text("trainer.fsdp_axis", "zero");
    if (!in.hangs("zero")) in.job["zero"] = axis != nullptr && axis->value.is_null() ? "none" : "weights";
    const std::int64_t copies = in.whole("trainer.replica_ici_axis_size", "shard_replicas").value_or(1) *
                                in.whole("trainer.replica_dcn_axis_size", "shard_replicas").value_or(1);
    if (copies > 1 && copies < 1'000'000) in.job["shard_replicas"] = copies;
    read_levanter_batch(in);
    const std::string again = in.text("model.gradient_checkpointing", "recompute").value_or("true");
    if (!in.hangs("recompute")) in.job["recompute"] = again == "false" ? "none" : "full";
    if (again != "true" && again != "false" && again != "full")  // a policy of its own
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", "gradient_checkpointing: " + again.substr(0, 40)));
    if (in.has("model.use_flash_attention")) in.job["attention"] = in.on("model.use_flash_attention", "attention") ? "flash" : "plain";
    read_levanter_policy(in);
    if (const auto rule = in.text("optimizer.type", "optimizer"); rule == "muon")
        in.job["optimizer"] = *rule;
    else if (rule && !rule->starts_with("adam"))
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", "optimizer: " + rule->substr(0, 40)));
    if (in.has("lora.r")) read_adapters(in, {"lora.r", "lora.target_modules", "lora.dropout", "", lora_all});
    leave_to_file(in);
    ask_rest(in);
}

}  // namespace fourfold
