// Smaller stacks on PyTorch, each with its own names for the same few settings: picotron (huggingface/picotron, train.py of 2025) and NeMo
// Automodel (components/distributed/config.py, pipelining/functional.py, moe/parallelizer.py and examples of 2025 and 2026).
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

static constexpr std::int64_t kMostStackGpus = 1'048'576;

void read_rows(Import& in, std::span<const KeyRow> rows) {
    for (const auto& [key, field] : rows)
        if (const auto value = in.whole(key, field); value && *value > 0 && !in.job.contains(field)) in.job[field] = *value;
}

void multiply_degrees(Import& in, std::initializer_list<const char*> keys, std::int64_t times) {
    std::int64_t gpus = times > 0 && times <= kMostStackGpus ? times : 0;
    if (gpus == 0) return;
    for (const char* key : keys) {
        const std::int64_t degree = in.whole(key, "gpus").value_or(0);
        gpus = degree > 0 && degree <= kMostStackGpus / gpus ? gpus * degree : 0;
        if (gpus == 0) return;
    }
    if (!in.job.contains("gpus")) in.job["gpus"] = gpus;
}

void name_schedule(Import& in, const char* key) {
    const std::string name = lower_case(in.text(key, "schedule").value_or("1f1b"));
    if (in.hangs("schedule")) return;
    if (name == "gpipe" || name == "afab")
        in.job["schedule"] = "gpipe";
    else if (name != "1f1b" && name != "interleaved1f1b" && name != "interleaved_1f1b")
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", "schedule: " + name.substr(0, 40)));
}

std::string number_type_of(std::string name) {
    name = lower_case(std::move(name));
    if (name.starts_with("torch.")) name.erase(0, 6);
    return name == "bf16" || name == "bfloat16" ? "bf16" : name == "fp16" || name == "float16" ? "fp16" : name;
}

namespace {

// Sizes below a section, by the names that they have elsewhere.
void rename_sizes(Import& in, std::string_view section, std::span<const WordRow> rows) {
    for (Entry& entry : in.entries)
        if (entry.key.starts_with(section) && !entry.value.is_null())
            for (const auto& [from, to] : rows)
                if (entry.key.substr(section.size()) == from) {
                    entry.key = to;
                    break;
                }
}

// What is kept in 16 bits is updated in 16 bits, from gradients of the same type.
void keep_16_bits(Import& in) {
    in.job["moments"] = "16-bit";
    in.job["master_weights"] = "off";
    in.job["gradients_in_fp32"] = false;
}

}  // namespace

// ---- picotron
int picotron_likeness(const std::vector<Entry>& entries) {
    const int degrees = count_like(entries, {"distributed.tp_size", "distributed.pp_size", "distributed.dp_size", "distributed.cp_size"});
    return degrees >= 3 && count_like(entries, {"training.seq_length", "training.micro_batch_size"}) > 0 ? degrees : 0;
}

// The whole model is in bf16, with what AdamW makes of that; gradients are added up in 32 bits where they are sent (data_parallel.py). Its
// output layer has weights of its own (model.py).
void read_picotron(Import& in) {
    in.mark_all({"dataset.*", "checkpoint.*", "logging.*", "environment.*", "training.*", "distributed.backend", "distributed.use_cpu",
                 "model.dtype", "model.use_fused_adam"},
                Fate::no_number);
    constexpr KeyRow kRows[] = {{"distributed.tp_size", "tensor_parallel"},
                                {"distributed.cp_size", "context_parallel"},
                                {"distributed.pp_size", "pipeline_parallel"},
                                {"training.seq_length", "sequence_length"}};
    read_rows(in, kRows);
    constexpr WordRow kSizes[] = {
        {"num_hidden_layers", "num_layers"}, {"num_key_value_heads", "num_query_groups"}, {"num_attention_heads", "num_attention_heads"}};
    rename_sizes(in, "model.", kSizes);
    fill_pytorch(in);
    multiply_degrees(in, {"distributed.tp_size", "distributed.cp_size", "distributed.pp_size", "distributed.dp_size"});
    if (take_named_model(in, "model.name")) {
        in.entries.push_back({"share_embeddings_and_output_weights", "", false});
        resize_named_model(in);
    } else {
        for (const auto& [from, to] : kSizes) in.whole(to, "model");
    }
    in.ask("gpus");
    read_copies_batch(in, {"training.micro_batch_size", "training.gradient_accumulation_steps", ""});
    name_schedule(in, "distributed.pp_engine");
    const bool kernel = in.on("model.use_flash_attention", "attention"), set = in.text("environment.FLASH_ATTEN", "attention") == "1";
    if (set || (kernel && !in.has("environment.FLASH_ATTEN"))) in.job["attention"] = "flash";
    in.job["precision"] = "bf16";
    keep_16_bits(in);
    in.job["gradients_in_fp32"] = in.whole("distributed.dp_size", "gradients_in_fp32").value_or(1) > 1;
    in.job["zero"] = in.job["recompute"] = "none";
    in.job["sequence_parallel"] = false;
    in.job["virtual_stages"] = 1;
    ask_rest(in);
}

// ---- NeMo Automodel
int automodel_likeness(const std::vector<Entry>& entries) {
    const int own = count_like(entries, {"step_scheduler.local_batch_size", "step_scheduler.global_batch_size"});
    return own > 0 ? own + count_like(entries, {"distributed.*", "dist_env.*"}) : 0;
}

// Stages in all: so many layers each, rounded to whole chunks where that is said; two chunks where nothing is (functional.py).
static std::int64_t automodel_chunks(Import& in, const std::string& section, std::int64_t stages) {
    const CatalogModel* const model = known_model(in);
    const auto layers = in.whole(section + "layers_per_stage", "virtual_stages");
    const auto rounded = in.text(section + "round_virtual_stages_to_pp_multiple", "virtual_stages");
    if (!layers || *layers <= 0) return 2;
    if (model == nullptr) return 0;
    const std::int64_t all = (model->model.layers + *layers - 1) / *layers;
    return std::max<std::int64_t>(1, rounded == "down" ? all / stages : (all + stages - 1) / stages);
}

void read_automodel_degrees(Import& in) {
    for (Entry& entry : in.entries)  // "none" is no number there
        if (entry.value == "none" && entry.key.starts_with("distributed.") && entry.key.ends_with("_size")) entry.value = nullptr;
    constexpr KeyRow kRows[] = {{"distributed.tp_size", "tensor_parallel"},
                                {"distributed.cp_size", "context_parallel"},
                                {"distributed.pp_size", "pipeline_parallel"},
                                {"distributed.ep_size", "expert_parallel"}};
    read_rows(in, kRows);
    if (in.on("model.backend.enable_deepep", "expert_dispatch") || in.text("model.backend.dispatcher", "expert_dispatch") == "deepep")
        in.job["expert_dispatch"] = "deepep";
}

static void read_automodel_pipeline(Import& in) {
    const std::string section = in.has("autopipeline.pp_schedule") ? "autopipeline." : "distributed.pipeline.";
    const std::int64_t stages = in.job.value("pipeline_parallel", std::int64_t{1});
    if (stages < 2) return in.mark_all({"autopipeline*", "distributed.pipeline*"}, Fate::no_number);
    name_schedule(in, (section + "pp_schedule").c_str());
    in.job["micro_batch"] = std::max<std::int64_t>(1, in.whole(section + "pp_microbatch_size", "micro_batch").value_or(1));
    const bool loops = lower_case(in.text(section + "pp_schedule", "virtual_stages").value_or("")).starts_with("interleaved");
    if (const std::int64_t chunks = loops ? automodel_chunks(in, section, stages) : 1; chunks > 0) in.job["virtual_stages"] = chunks;
    in.mark_all({section + "*"}, Fate::no_number);
}

// What it loads is stored as it is, unless it is told; the passes are in bf16 and gradients are sent in 32 bits (FSDP2's policy).
// Transformer Engine's FusedAdam keeps its averages in 32 bits whatever the weights are.
void read_automodel_types(Import& in) {
    in.job["precision"] = in.on("fp8.enabled", "precision") ? "fp8" : "bf16";
    std::string stored = "auto";
    for (const char* key : {"model.torch_dtype", "model.config.torch_dtype", "model.dtype"})
        if (const auto said = in.text(key, "moments")) stored = number_type_of(*said);
    const bool apart = in.on("distributed.preserve_fp32_weights", "master_weights");  // of Megatron-FSDP
    if (stored != "float32" && stored != "fp32" && !apart) keep_16_bits(in);
    const auto rule = in.text("optimizer._target_", "moments");
    if (rule && rule->starts_with("transformer_engine") && rule->ends_with("FusedAdam")) {
        const std::string kept = number_type_of(in.text("optimizer.exp_avg_dtype", "moments").value_or("float32"));
        in.text("optimizer.exp_avg_sq_dtype", "moments");
        in.job["moments"] = kept == "bf16" || kept == "fp16" ? "16-bit" : kept == "uint8" || kept == "fp8" ? "8-bit" : "fp32";
        if (in.on("optimizer.master_weights", "master_weights")) in.job["master_weights"] = "on";
    } else
        read_optimizer_class(in, "optimizer._target_");
    if (in.job.contains("gradients_in_fp32")) return;
    if (const auto sent = in.text("distributed.mp_policy.reduce_dtype", "gradients_in_fp32"))
        in.job["gradients_in_fp32"] = number_type_of(*sent) == "float32" || number_type_of(*sent) == "fp32";
    if (in.has("distributed.grad_reduce_in_fp32"))
        in.job["gradients_in_fp32"] = in.on("distributed.grad_reduce_in_fp32", "gradients_in_fp32");
}

// FSDP2 keeps gathered weights between forward and backward with a pipeline, and with experts that are shared out, unless it is told
// (FSDP2Config and MoEParallelizerConfig).
void read_automodel_shards(Import& in) {
    std::string strategy = lower_case(in.text("distributed.strategy", "zero").value_or(""));
    if (strategy.empty()) strategy = lower_case(in.text("distributed._target_", "zero").value_or("fsdp2"));
    strategy.erase(0, strategy.rfind('.') == std::string::npos ? 0 : strategy.rfind('.') + 1);
    const bool expert = in.job.value("expert_parallel", std::int64_t{1}) > 1;
    const bool kept = expert || in.job.value("pipeline_parallel", std::int64_t{1}) > 1;
    const char* const again = expert ? "distributed.moe.reshard_after_forward" : "distributed.reshard_after_forward";
    const std::int64_t stage = in.whole("distributed.zero_dp_strategy", "zero").value_or(3);
    constexpr const char* kZeroNames[] = {"none", "optimizer", "gradients", "weights"};
    if (strategy.starts_with("ddp"))
        in.job["zero"] = "none";
    else if (strategy.find("megatron") != std::string::npos || strategy.starts_with("mfsdp") || strategy.starts_with("nvfsdp"))
        in.job["zero"] = kZeroNames[std::clamp<std::int64_t>(stage, 0, 3)];
    else
        in.job["zero"] = (in.has(again) ? in.on(again, "zero") : !kept) ? "weights" : "gradients";
    in.set("shard_replicas", in.whole("distributed.dp_replicate_size", "shard_replicas"));
    in.job["recompute"] = "none";
    for (const char* key : {"distributed.activation_checkpointing", "parallelizer.activation_checkpointing"}) {
        const bool some = lower_case(in.text(key, "recompute").value_or("")) == "selective";
        if (some || in.text(key, "") == "full" || in.on(key, "recompute")) in.job["recompute"] = some ? "operations" : "full";
    }
    in.job["sequence_parallel"] = in.on("distributed.sequence_parallel", "sequence_parallel");
    if (in.on("distributed.enable_async_tensor_parallel", "tensor_overlap")) in.job["tensor_overlap"] = in.job["sequence_parallel"] = true;
    if (const auto offload = in.text("distributed.offload_policy._target_", "optimizer_offload");
        offload || in.has("distributed.offload_policy"))
        in.job["optimizer_offload"] = 1.0, in.job["weights_offload"] = true;
}

static constexpr std::string_view kQuietOfAutomodel[] = {"*_target_",
                                                         "step_scheduler.*",
                                                         "dist_env.*",
                                                         "rng*",
                                                         "checkpoint.*",
                                                         "dataset*",
                                                         "validation_dataset*",
                                                         "dataloader*",
                                                         "validation_dataloader*",
                                                         "packed_sequence*",
                                                         "optimizer.*",
                                                         "lr_scheduler*",
                                                         "wandb*",
                                                         "mlflow*",
                                                         "model.trust_remote_code",
                                                         "model.is_meta_device",
                                                         "model.backend*",
                                                         "model.use_liger_kernel",
                                                         "recipe",
                                                         "clip_grad_norm*",
                                                         "distributed.mp_policy*",
                                                         "distributed.*prefetch*",
                                                         "distributed.enable_compile",
                                                         "distributed.defer_*",
                                                         "distributed.patch_*",
                                                         "distributed.use_hf_tp_plan",
                                                         "distributed.tp_plan*",
                                                         "distributed.backend",
                                                         "distributed.moe.*",
                                                         "distributed.moe",
                                                         "distributed.overlap_*",
                                                         "distributed.timeout*",
                                                         "loss_fn*",
                                                         "slurm*",
                                                         "benchmark*",
                                                         "ci*",
                                                         "peft.*",
                                                         "quantization.*",
                                                         "fp8.*",
                                                         "compile.*",
                                                         "tokenizer*",
                                                         "seed"};

void read_automodel(Import& in) {
    read_automodel_degrees(in);
    constexpr KeyRow kRows[] = {{"packed_sequence.packed_sequence_size", "sequence_length"},
                                {"dataset.seq_length", "sequence_length"},
                                {"dataset.seq_len", "sequence_length"}};
    read_rows(in, kRows);
    fill_pytorch(in);
    multiply_degrees(in, {"distributed.dp_size", "distributed.tp_size", "distributed.cp_size", "distributed.pp_size"});
    for (const char* key :
         {"model.pretrained_model_name_or_path", "model.config.pretrained_model_name_or_path", "model.config.name_or_path"})
        if (!in.job.contains("model") && in.has(key)) take_named_model(in, key);
    in.ask("gpus");
    const bool staged = in.job.value("pipeline_parallel", std::int64_t{1}) > 1;
    read_automodel_pipeline(in);
    if (!staged) in.set("micro_batch", in.whole("step_scheduler.local_batch_size", "micro_batch"));
    in.set("global_batch", in.whole("step_scheduler.global_batch_size", "global_batch"));
    in.mark("step_scheduler.local_batch_size", Fate::used);
    read_automodel_types(in);
    read_automodel_shards(in);
    if (in.text("loss_fn._target_", "loss").value_or("").find("linear_ce") != std::string::npos) in.job["loss"] = "tiled";
    if (says_any(in, {"peft", "peft.*"}))
        read_adapters(in, {"peft.dim", "peft.target_modules", "peft.dropout", "peft.match_all_linear", lora_all, 8});
    read_frozen(in, in.on("quantization.load_in_4bit", "frozen_weights"), in.on("quantization.load_in_8bit", "frozen_weights"),
                "quantization.bnb_4bit_use_double_quant");
    if (says_any(in, {"teacher_model*", "kd_*"})) refuse_mode(in, "distillation");
    in.mark_all(kQuietOfAutomodel, Fate::no_number);
    ask_rest(in);
}

}  // namespace fourfold
