// NeMo RL: examples/configs of NVIDIA-NeMo/RL (00294d9b to 00455ac0), with the policy's training on Megatron Core ("megatron_cfg") or on
// PyTorch's DTensor ("dtensor_cfg"): of a run with rewards it is the update of the policy. Files in recipes/ stand on another one
// ("defaults"), which says the rest.
#include <algorithm>

#include "base/text.h"
#include "formats/megatron/read.h"
#include "formats/named_model.h"
#include "formats/read/jobs.h"
#include "formats/read/trainers.h"
#include "formats/readers.h"
#include "plan/plan.h"

namespace fourfold {

namespace {

constexpr std::string_view kOnMegatron = "policy.megatron_cfg.enabled", kPolicyBatch = "policy.train_global_batch_size",
                           kPolicyMicro = "policy.train_micro_batch_size", kTorch = "policy.dtensor_cfg.",
                           kAutomodel = "policy.automodel_cfg.";

// Its sections, and what they are called here.
constexpr std::pair<std::string_view, std::string_view> kNemoSections[] = {{"policy.megatron_cfg.optimizer.", ""},
                                                                           {"policy.megatron_cfg.distributed_data_parallel_config.", ""},
                                                                           {"policy.megatron_cfg.scheduler.", "scheduler."},
                                                                           {"policy.megatron_cfg.", ""}};

// Where answers come from GPUs of their own (generation.colocated), the policy has the others.
void read_policy_gpus(Import& in) {
    const auto each = in.whole("cluster.gpus_per_node", "gpus"), nodes = in.whole("cluster.num_nodes", "gpus");
    constexpr const char *kGpus = "policy.generation.colocated.resources.gpus_per_node",
                         *kNodes = "policy.generation.colocated.resources.num_nodes";
    if (!each || !nodes || *each <= 0 || *each > 1'000 || *nodes <= 0 || *nodes > 100'000) return;
    std::int64_t gpus = *each * *nodes;
    if (in.has("policy.generation.colocated.enabled") && !in.on("policy.generation.colocated.enabled", "gpus")) {
        const auto other = *nodes > 1 ? in.whole(kNodes, "gpus") : in.whole(kGpus, "gpus");
        if (!other || *other <= 0 || *other >= (*nodes > 1 ? *nodes : *each)) return;
        gpus = *nodes > 1 ? *each * (*nodes - *other) : *each - *other;
    }
    in.job["gpus"] = gpus;
    if (gpus > *each) in.job["gpus_per_node"] = *each;
}

// Micro-batches are of so many tokens there, as many as the micro-batch has where nothing else is said.
void read_policy_packing(Import& in) {
    const auto length = in.whole("policy.max_total_sequence_length", "sequence_length");
    for (const char* way : {"policy.sequence_packing.", "policy.dynamic_batching."}) {
        if (!in.on(joined({way, "enabled"}), "micro_batch")) continue;
        const Entry* const most = in.last(joined({way, "train_mb_tokens"}));
        if (most != nullptr && most->value.is_number_integer() && length && *length > 0)
            if (const auto tokens = in.whole(most->key, "micro_batch"); *tokens > 0 && *tokens % *length == 0)
                in.entries.push_back({std::string(kPolicyMicro), "", *tokens / *length});
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", std::string(way, std::string_view(way).size() - 1)));
    }
}

// models/policy/workers/megatron_policy_worker.py: a switch for full recomputation, layer by layer.
void read_on_megatron(Import& in) {
    for (Entry& entry : in.entries)
        for (const auto& [from, to] : kNemoSections)
            if (entry.key.starts_with(from)) {
                entry.key = joined({to, std::string_view(entry.key).substr(from.size())});
                break;
            }
    const auto says = [&](const char* key, Json value) { in.entries.push_back({key, "", std::move(value)}); };
    if (in.on("activation_checkpointing", "recompute")) {
        says("recompute_granularity", "full");
        says("recompute_method", "uniform");
        says("recompute_num_layers", 1);
    }
    if (in.on("fp8_cfg.enabled", "precision"))
        for (const auto& [from, to] :
             {std::pair{"fp8_cfg.fp8", "fp8_format"}, {"fp8_cfg.fp8_recipe", "fp8_recipe"}, {"fp8_cfg.fp8_param", "fp8_param_gather"}})
            if (const Entry* const one = in.last(from))
                in.become(in.entries[static_cast<std::size_t>(one - in.entries.data())], to, one->value);
    if (const auto type = in.text("policy.precision", "precision"); !in.has("bf16") && !in.has("fp16") && type)
        says(*type == "float16" ? "fp16" : "bf16", *type != "float32");
    if (in.has("peft.enabled") && in.on("peft.enabled", "trained"))
        read_adapters(in, {"peft.dim", "peft.target_modules", "peft.dropout", "", lora_all, 8});
    read_megatron(in, {.silent = true, .needs_precision = false});
    if (in.has("grad_reduce_in_fp32")) in.job["gradients_in_fp32"] = in.on("grad_reduce_in_fp32", "gradients_in_fp32");
    in.partial = in.has("defaults");
    std::erase_if(in.notes, [&](const Text& note) {
        return note.id() == "import_plan.note.no_model" || (note.id() == "import_plan.note.recipe" && !in.partial);
    });
}

// models/policy/workers/dtensor_policy_worker.py: weights in fp32, sharded by FSDP2, with bf16 for the work and fp32 for sums.
void read_on_torch(Import& in) {
    const auto key = [](std::string_view name) { return joined({kTorch, name}); };
    for (const auto& [name, field] : {std::pair{"tensor_parallel_size", "tensor_parallel"},
                                      {"context_parallel_size", "context_parallel"},
                                      {"expert_parallel_size", "expert_parallel"}})
        in.set(field, in.whole(key(name), field));
    fill_pytorch(in);
    in.job["zero"] = "weights";
    in.job["fully_shard"] = "on";
    in.job["gradients_in_fp32"] = true;
    if (const auto type = in.text("policy.precision", "precision")) in.job["precision"] = *type == "float16" ? "fp16" : "bf16";
    if (in.has(key("sequence_parallel"))) in.job["sequence_parallel"] = in.on(key("sequence_parallel"), "sequence_parallel");
    if (in.has(key("activation_checkpointing")))
        in.job["recompute"] = in.on(key("activation_checkpointing"), "recompute") ? "full" : "none";
    if (in.on(key("cpu_offload"), "weights_offload")) in.job["optimizer_offload"] = 1.0, in.job["weights_offload"] = true;
    if (in.on(key("lora_cfg.enabled"), "trained"))
        read_adapters(in, {key("lora_cfg.dim"), key("lora_cfg.target_modules"), key("lora_cfg.dropout"), key("lora_cfg.match_all_linear"),
                           lora_all, 8, true});
    read_copies_batch(in, {kPolicyMicro, "", kPolicyBatch});
}

}  // namespace

int nemo_rl_likeness(const std::vector<Entry>& entries) {
    const int found = count_like(entries, {"policy.megatron_cfg.*", "policy.dtensor_cfg.*", "policy.automodel_cfg.*", kPolicyBatch,
                                           kPolicyMicro, "policy.max_total_sequence_length"});
    return found > 1 ? found : 0;
}

void read_nemo_rl(Import& in) {
    for (Entry& entry : in.entries)  // the newer name
        if (entry.key.starts_with(kAutomodel)) entry.key = joined({kTorch, std::string_view(entry.key).substr(kAutomodel.size())});
    const bool megatron = in.on(kOnMegatron, "framework");
    if (!megatron && in.has(kOnMegatron)) in.mark_all({"policy.megatron_cfg.*"}, Fate::no_number);
    if (megatron) in.mark_all({"policy.dtensor_cfg.*"}, Fate::no_number);
    in.partial = in.has("defaults");  // that file says the rest
    if (in.partial) note_file(in, "defaults");
    for (const char* way : {"dpo", "rm", "distillation"})
        if (count_like(in.entries, {joined({way, ".*"})}) > 0) refuse_mode(in, way);
    take_named_model(in, "policy.model_name");
    in.set("sequence_length", in.whole("policy.max_total_sequence_length", "sequence_length"));
    read_policy_gpus(in);
    read_policy_packing(in);
    if (megatron) {
        for (const auto& [from, to, field] :
             {std::tuple{kPolicyBatch, "global_batch_size", "global_batch"}, {kPolicyMicro, "micro_batch_size", "micro_batch"}})
            if (const auto size = in.whole(from, field)) in.entries.push_back({to, "", *size});
        if (in.job.contains("sequence_length")) in.entries.push_back({"seq_length", "", in.job["sequence_length"]});
        read_on_megatron(in);
    } else {
        read_on_torch(in);
    }
    in.mark_all({"grpo.*",
                 "sft.*",
                 "dpo.*",
                 "rm.*",
                 "distillation.*",
                 "loss_fn.*",
                 "checkpointing.*",
                 "data.*",
                 "env.*",
                 "logger.*",
                 "cluster.*",
                 "scheduler.*",
                 "policy.*",
                 "peft.*",
                 "teacher.*",
                 "env_vars*",
                 "fp8_cfg*",
                 "converter_type",
                 "pipeline_dtype",
                 "average_in_collective",
                 "defer_fp32_logits",
                 "empty_unused_memory_level",
                 "freeze_moe_router",
                 "enabled"},
                Fate::no_number);
    if (count_like(in.entries, {"grpo.*"}) > 0) in.notes.emplace_back("import_plan.note.actor");
    in.asked.clear();
    ask_rest(in);
}

}  // namespace fourfold
