// torchtune to 0.7 (recipes/configs, recipes/*.py): a part of the training a section, with the path of the function that makes it. Weights,
// gradients and averages are all of the type that "dtype" says; several GPUs are FSDP of the second version, with tensor parallelism
// inside.
#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "formats/named_model.h"
#include "formats/read/jobs.h"
#include "formats/read/trainers.h"
#include "formats/readers.h"
#include "model/model.h"
#include "plan/plan.h"

namespace fourfold {

namespace {

constexpr std::string_view kPart = "_component_";

// Its programs that train nothing; those with more than one model, or that learn to be stored in few bits.
constexpr std::string_view kIdleRecipes[] = {"eval", "generate", "generation", "quantize", "inference"};
constexpr std::string_view kOtherRecipes[] = {"dpo", "ppo", "grpo", "kd", "knowledge_distillation", "qat"};

// Names of its functions for models that are known by others (torchtune/models/*/__init__.py).
constexpr std::pair<std::string_view, std::string_view> kTuneModels[] = {{"phi4_14b", "phi-4"},
                                                                         {"phi3_mini", "phi-3-mini"},
                                                                         {"llama4_scout_17b_16e", "llama-4-scout"},
                                                                         {"llama4_maverick_17b_128e", "llama-4-maverick"}};

bool has_part(std::string_view name, std::string_view part) {
    const std::size_t at = name.find(part);
    const auto is_end = [&](std::size_t i) { return i >= name.size() || std::isalnum(static_cast<unsigned char>(name[i])) == 0; };
    return at != std::string_view::npos && (at == 0 || is_end(at - 1)) && is_end(at + part.size());
}

// "torchtune.models.llama3_1.qlora_llama3_1_8b": the function's own name, without what of the model learns.
std::string function_of(std::string_view path) {
    std::string name(path.substr(path.rfind('.') + 1));
    for (const std::string_view way : {"qlora_", "lora_", "dora_"})
        if (name.starts_with(way)) name.erase(0, way.size());
    return name;
}

const CatalogModel* model_called(std::string name) {
    for (const auto& [theirs, ours] : kTuneModels)
        if (name.starts_with(theirs)) return named_model(ours);
    if (name.starts_with("code_llama2_")) name.replace(0, 12, "codellama-");
    if (const CatalogModel* found = named_model(name)) return found;
    for (std::size_t i = 1; i + 2 < name.size(); ++i) {  // "qwen2_5_1_5b_instruct": the last number before "b" has a point
        const auto digit = [&](std::size_t at) { return std::isdigit(static_cast<unsigned char>(name[at])) != 0; };
        if (name[i] == '_' && digit(i - 1) && digit(i + 1) && name[i + 2] == 'b') name[i] = '.';
    }
    return named_model(name);
}

// A function that takes sizes (models/llama2/_component_builders.py and those of its kind); a feed-forward part that is not said is 8/3 as
// wide, in steps of 256 (modules/common_utils.py, scale_hidden_dim_for_mlp).
bool read_own_sizes(Import& in, std::string_view path) {
    constexpr std::pair<const char*, const char*> kSizes[] = {
        {"num_hidden_layers", "num_layers"},        {"hidden_size", "embed_dim"}, {"num_attention_heads", "num_heads"},
        {"num_key_value_heads", "num_kv_heads"},    {"vocab_size", "vocab_size"}, {"intermediate_size", "intermediate_dim"},
        {"max_position_embeddings", "max_seq_len"}, {"head_dim", "head_dim"}};
    if (!in.has("model.embed_dim") || !in.has("model.num_layers")) return false;
    constexpr std::pair<std::string_view, const char*> kFamilies[] = {
        {".llama3_2.", "llama"}, {".llama", "llama"}, {".qwen2", "qwen2"}, {".qwen3", "qwen3"}, {".mistral", "llama"}};
    const auto family = std::find_if(std::begin(kFamilies), std::end(kFamilies),
                                     [&](const auto& one) { return path.find(one.first) != std::string_view::npos; });
    if (family == std::end(kFamilies) || path.find("llama4") != std::string_view::npos) return false;
    Json config = {{"model_type", family->second}};
    for (const auto& [ours, theirs] : kSizes)
        if (const auto size = in.whole(joined({"model.", theirs}), "model")) config[ours] = *size;
    const std::int64_t hidden = config.value("hidden_size", std::int64_t{0});
    if (!config.contains("intermediate_size") && hidden > 0 && hidden < 1'000'000)
        config["intermediate_size"] = (hidden * 8 / 3 + 255) / 256 * 256;
    config["tie_word_embeddings"] = family == std::begin(kFamilies) || in.on("model.tie_word_embeddings", "model");
    take_sizes(in, config);
    return true;
}

std::string read_component(Import& in) {
    std::string path = in.text(joined({"model.", kPart}), "model").value_or("");
    if (path.empty() || read_own_sizes(in, path)) return path;
    if (const CatalogModel* found = model_called(function_of(path)))
        in.job["model"] = as_requested(*found);
    else
        in.mark(joined({"model.", kPart}), Fate::unknown);
    return path;
}

// Without torch.compile every operation of a norm or a gate stands alone, and the loss in chunks keeps logits of 16 bits and their
// logarithms of 32; compiled it keeps the logits (modules/loss; the nearest choices, as tests/evidence/torchtune.jsonl has them).
void read_compiled(Import& in) {
    const bool parts = in.has("compile.model") || in.has("compile.loss"), whole = in.on("compile", "fused_norms");
    const bool model = parts ? in.on("compile.model", "fused_norms") : whole, loss = parts ? in.on("compile.loss", "loss") : whole;
    in.job["fused_norms"] = model;
    in.job["activation_fusion"] = model ? "auto" : "off";
    const std::string name = in.text(joined({"loss.", kPart}), "loss").value_or("");
    if (name.find(".rlhf.") != std::string::npos) refuse_mode(in, name.substr(name.rfind('.') + 1));
    const bool chunks = name.find("Chunked") != std::string::npos || name.find("LinearCrossEntropy") != std::string::npos;
    if (name.empty() || in.job.value("tensor_parallel", std::int64_t{1}) > 1) return;
    in.job["loss"] = !chunks ? "gathered" : loss ? "te_fused" : "plain";
}

void read_degrees_of_tune(Import& in) {
    constexpr std::pair<const char*, const char*> kDegrees[] = {{"tensor_parallel", "tensor_parallel_dim"},
                                                                {"context_parallel", "context_parallel_dim"},
                                                                {"shard_replicas", "data_parallel_replicate_dim"},
                                                                {"expert_parallel", "expert_parallel_dim"}};
    constexpr std::int64_t kMost = 65'536;
    for (const auto& [ours, theirs] : kDegrees)
        if (const auto degree = in.whole(theirs, ours); degree && *degree > 0 && *degree <= kMost) in.job[ours] = *degree;
    fill_pytorch(in);
    const std::int64_t tensor = in.job.value("tensor_parallel", std::int64_t{1});
    if (tensor > 1) {
        in.job["sequence_parallel"] = true;  // of its plans for training (models/llama3/_parallelism.py)
        if (!says_any(in, {"tensor_parallel_plan*"})) refuse_without(in, "tensor_parallel_dim", "tensor_parallel_plan");
    }
    const std::int64_t shards = in.whole("data_parallel_shard_dim", "gpus").value_or(-1), split = in.model_parallel();
    const std::int64_t replicas = in.job.value("shard_replicas", std::int64_t{1});
    const bool fine = shards > 0 && shards <= kMost && split > 0 && split <= kMost && shards * split <= kMost && !in.hangs("gpus");
    if (fine && !in.job.contains("gpus"))
        in.job["gpus"] = shards * split * replicas;
    else if (fine && in.job["gpus"] != Json(shards * split * replicas))
        in.refused.push_back(Text("import_plan.refused.mesh").with("gpus", in.job["gpus"]).with("product", shards * split * replicas));
    in.ask("gpus");
}

// One GPU alone is a program of its own, without FSDP; more of them share all out, unless weights stay after the forward pass.
void read_sharding_of_tune(Import& in) {
    const auto strategy = in.text("fsdp_sharding_strategy", "zero");
    const bool stays = in.has("fsdp_reshard_after_forward") && !in.on("fsdp_reshard_after_forward", "zero");
    const bool half = strategy && strategy->find("GRAD_OP") != std::string::npos;
    in.job["zero"] = in.job.value("gpus", std::int64_t{0}) == 1 ? "none" : stays || half ? "gradients" : "weights";
    for (const char* key : {"fsdp_cpu_offload", "fsdp.cpu_offload"}) {
        if (!in.on(key, "optimizer_offload")) continue;
        in.job["optimizer_offload"] = 1.0;
        in.job["weights_offload"] = true;
    }
}

void read_memory_of_tune(Import& in) {
    constexpr const char *kAgain = "enable_activation_checkpointing", *kOffload = "enable_activation_offloading";
    const bool again = in.on(kAgain, "recompute"), offload = in.on(kOffload, "activation_offload");
    in.job["recompute"] = again ? "full" : "none";
    if (offload) in.job["activation_offload"] = 1.0;
    if (offload && !again && !in.hangs("recompute"))
        in.refused.push_back(Text("import_plan.refused.needs").with("one", kOffload).with("other", kAgain));
    const auto mode = in.text("ac_mode", "recompute");
    if (again && mode == "selective") {  // every so many layers, or single operations
        const auto option = in.text("ac_option", "recompute");
        if (option == "op")
            in.job["recompute"] = "operations";
        else if (option && *option != "1")
            in.notes.push_back(Text("import_plan.note.not_counted").with("key", "ac_option"));
    }
    constexpr const char* kAtOnce = "optimizer_in_bwd";
    if (!in.on(kAtOnce, "optimizer_in_backward")) return;
    in.job["optimizer_in_backward"] = true;
    if (in.whole("gradient_accumulation_steps", "global_batch").value_or(1) > 1) refuse_both(in, kAtOnce, "gradient_accumulation_steps");
    if (in.on("clip_grad_norm", "")) refuse_both(in, kAtOnce, "clip_grad_norm");
}

void read_types_of_tune(Import& in) {
    const auto type = in.text("dtype", "precision");
    const bool fp8 = in.on("enable_fp8_training", "precision");
    in.job["precision"] = fp8 ? "fp8" : "bf16";
    if (type == "fp16") refuse_both(in, "torchtune", "dtype: fp16");
    if (type == "fp32") {
        in.notes.emplace_back("import_plan.note.fp32_named");
    } else if (!in.hangs("precision")) {
        in.job["master_weights"] = "off";
        in.job["gradients_in_fp32"] = false;
        if (type || in.has(joined({"model.", kPart}))) in.job["moments"] = "16-bit";  // else the file that is not here says it
    }
    read_optimizer_class(in, joined({"optimizer.", kPart}));
}

void read_adapters_of_tune(Import& in, std::string_view path) {
    constexpr const char* kTargets = "model.lora_attn_modules";
    const std::string function(path.substr(path.rfind('.') + 1));
    const bool four = function.starts_with("qlora_") || in.on("model.quantize_base", "frozen_weights");
    const bool recipe = has_part(in.text("tune_recipe", "").value_or(""), "lora") && in.text("tune_recipe", "trained");
    if (!four && !recipe && !function.starts_with("lora_") && !function.starts_with("dora_") && !in.has(kTargets)) return;
    if (in.on("model.apply_lora_to_mlp", "lora_targets"))
        in.derive(*in.last("model.apply_lora_to_mlp"), joined({kTargets, ".mlp"}), "gate_proj,up_proj,down_proj");
    read_adapters(in, {"model.lora_rank", kTargets, "model.lora_dropout", "", lora_query | lora_value});
    read_frozen(in, four, false, "");
    if (in.on("model.apply_lora_to_output", "lora_targets"))
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", "apply_lora_to_output"));
    if (function.starts_with("dora_") || in.on("model.use_dora", "")) refuse_mode(in, "DoRA");
}

// What else than a decoder that learns from texts: a teacher, a policy and its judges, weights that learn to be stored in few bits.
void refuse_ways_of_tune(Import& in) {
    const auto said = std::find_if(in.entries.begin(), in.entries.end(), [](const Entry& entry) {
        constexpr std::string_view kOther[] = {"teacher_model.*", "kd_loss.*", "policy_model.*", "reward_model.*", "grpo*", "ref_*"};
        return std::any_of(std::begin(kOther), std::end(kOther), [&](std::string_view one) { return matches(one, entry.key); });
    });
    if (said != in.entries.end()) return refuse_mode(in, said->key.substr(0, said->key.find('.')));
    if (in.has(joined({"quantizer.", kPart}))) return refuse_mode(in, "QAT");
    const std::string recipe = in.text("tune_recipe", "").value_or("");
    for (const std::string_view way : kOtherRecipes)
        if (has_part(recipe, way)) return refuse_mode(in, way);
}

constexpr std::string_view kQuietOfTune[] = {"output_dir",
                                             "tokenizer.*",
                                             "checkpointer.*",
                                             "resume_*",
                                             "save_*",
                                             "dataset*",
                                             "seed",
                                             "shuffle",
                                             "lr_scheduler.*",
                                             "optimizer.*",
                                             "epochs",
                                             "max_steps*",
                                             "metric_logger.*",
                                             "log_*",
                                             "device",
                                             "profiler.*",
                                             "collate_fn*",
                                             "custom_sharded_layers",
                                             "clip_grad_norm",
                                             "model.lora_alpha",
                                             "model.*dropout",
                                             "model.norm_eps",
                                             "model.rope_base",
                                             "low_cpu_ram",
                                             "generation*",
                                             "enable_async*",
                                             "run_val*",
                                             "cudnn_*",
                                             "keep_last*",
                                             "num_warmup*",
                                             "compile*",
                                             "batch_size_val",
                                             "early_exit*",
                                             "tune_recipe",
                                             "project",
                                             "max_steps_per_epoch",
                                             "tensor_parallel_plan*",
                                             "fp8_recipe_name",
                                             "valid_*",
                                             "optimizer_in_bwd"};

}  // namespace

bool trains_with_tune(std::string_view recipe) {
    return std::none_of(std::begin(kIdleRecipes), std::end(kIdleRecipes), [&](std::string_view one) { return has_part(recipe, one); });
}

int torchtune_likeness(const std::vector<Entry>& entries) {
    const bool its = std::any_of(entries.begin(), entries.end(), [](const Entry& entry) {
        const auto* const text = entry.value.get_ptr<const Json::string_t*>();
        return text != nullptr && matches("*_component_", entry.key) && text->starts_with("torchtune.");
    });
    return count_like(entries, {"tune_recipe"}) + (its ? count_like(entries, {"optimizer.*", "gradient_accumulation_steps"}) : 0);
}

void read_torchtune(Import& in) {
    for (const std::string_view part : {"model", "optimizer", "loss", "dataset"})  // "optimizer=torch.optim.AdamW" on the command line
        for (Entry& entry : in.entries)
            if (entry.key == part && entry.value.is_string()) entry.key = joined({part, ".", kPart});
    in.mark_all(kQuietOfTune, Fate::no_number);
    const std::string path = read_component(in);
    in.set("sequence_length", in.whole({"tokenizer.max_seq_len", "dataset.max_seq_len"}, "sequence_length"));
    if (has_part(in.text("tune_recipe", "").value_or(""), "single_device") && !in.job.contains("gpus")) in.job["gpus"] = 1;
    read_degrees_of_tune(in);
    read_copies_batch(in, {"batch_size", "gradient_accumulation_steps", ""});
    read_sharding_of_tune(in);
    read_memory_of_tune(in);
    read_types_of_tune(in);
    read_compiled(in);
    read_adapters_of_tune(in, path);
    refuse_ways_of_tune(in);
    ask_rest(in);
}

}  // namespace fourfold
