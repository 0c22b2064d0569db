// DeepSpeed's JSON (deepspeed/runtime/config.py and zero/config.py), and the YAML of accelerate 16cb6eb80. Model, sequence and, with
// accelerate, the batch are the training program's own.
#include "formats/write/writing.h"

namespace fourfold {

namespace {

using To = Settings;
using Name = std::string_view;

void leave_above_one(To& to, Name field) {
    if (to.value_of(field) != 1) to.leave_field(field);
}
// Experts are split as the other parts of a layer.
void leave_split_experts(To& to, Name field) {
    if (to.model.experts.count > 0 && to.plan.expert_tensor_parallel != to.plan.tensor_parallel) to.leave_field(field);
}
// Neither splits the parts between tensor-parallel layers.
void leave_sequence(To& to, Name field) {
    if (to.plan.tensor_parallel > 1 && to.plan.sequence_parallel) to.leave_field(field);
}
void leave_pytorch(To& to, Name) { leave_framework(to, FrameworkKind::pytorch); }
void leave_transformers(To& to, Name) { leave_framework(to, FrameworkKind::transformers); }

// ---- DeepSpeed
// It has no stages: but for sequence and tensor parallelism every GPU holds a copy. The check of the batch takes those of a tensor-parallel
// group for copies, too (DeepSpeedConfig._batch_assertion): without the whole batch it is counted from the others.
std::int64_t copies(const Plan& p) { return p.gpus / (p.tensor_parallel * p.context_parallel); }
void write_batch(To& to, Name) {
    const Plan& p = to.plan;
    const std::int64_t at_once = p.micro_batch * copies(p);
    const bool whole = p.global_batch % at_once == 0;
    if (whole && p.tensor_parallel == 1) to.put("train_batch_size", p.global_batch);
    to.put("train_micro_batch_size_per_gpu", p.micro_batch);
    if (whole)
        to.put("gradient_accumulation_steps", p.global_batch / at_once);
    else
        to.leave_field("global_batch");
}

// Weights are not shared out beside tensor parallelism (engine.py, _configure_tensor_parallel).
void write_zero(To& to, Name field) {
    const bool less = to.plan.zero == Zero::weights && to.plan.tensor_parallel > 1;
    to.put("zero_optimization.stage", static_cast<std::int64_t>(less ? Zero::gradients : to.plan.zero));
    // in bf16 its optimizer divides its state among the copies without a stage, too (bf16_optimizer.py)
    const bool more = to.plan.zero == Zero::none && to.plan.precision != Precision::fp16 && to.plan.gpus > to.plan.tensor_parallel;
    if (less || more) to.leave_field(field);
    to.put("zero_optimization.overlap_comm", to.plan.overlap_gradients);
}
bool shares_weights(const Plan& plan) { return plan.zero == Zero::weights && plan.tensor_parallel == 1; }

// Stages 1 and 2 send all of the optimizer to the host, not a part of it, and not to drives (offload_config.py); stage 0 nothing.
void write_offload(To& to, Name field) {
    const double part = to.plan.optimizer_offload;
    if (part <= 0) return;
    if (to.plan.zero == Zero::none) {
        for (const char* one : {"optimizer_offload", "optimizer_offload_target", "optimizer_offload_overlap"}) to.leave_changed(one);
        return;
    }
    const OffloadOverlap overlap = to.plan.optimizer_offload_overlap;
    const bool any = shares_weights(to.plan), far = to.plan.optimizer_offload_target == OffloadTarget::nvme, drives = far && any;
    to.put("zero_optimization.offload_optimizer.device", drives ? "nvme" : "cpu");
    if (drives) to.put("zero_optimization.offload_optimizer.nvme_path", "/local_nvme");
    if (part < 1 && any) to.put("zero_optimization.offload_optimizer.ratio", part);
    if (part < 1 && !any) to.leave_field(field);
    if (far && !any) to.leave_field("optimizer_offload_target");
    if (overlap == OffloadOverlap::none) return;
    for (const char* way : {"zero_optimization.offload_optimizer.pipeline_read", "zero_optimization.offload_optimizer.pipeline_write"})
        to.put(way, true);
    if (overlap == OffloadOverlap::interleaved) to.leave_field("optimizer_offload_overlap");
}

void write_weights_offload(To& to, Name field) {
    if (to.plan.weights_on_host() && shares_weights(to.plan))
        to.put("zero_optimization.offload_param.device", "cpu");
    else if (to.plan.weights_offload)
        to.leave_field(field);
}

void write_types(To& to, Name field) {
    const Precision precision = to.plan.precision;
    to.put(precision == Precision::fp16 ? "fp16.enabled" : "bf16.enabled", true);
    // Without ZeRO each has its own (engine.py, _do_optimizer_sanity_check).
    const bool half = precision == Precision::fp16, alone = to.plan.zero == Zero::none, precise = alone ? !half : to.plan.gradients_in_fp32;
    to.put("data_types.grad_accum_dtype", precise ? "fp32" : half ? "fp16" : "bf16");
    if (precise != to.plan.gradients_in_fp32) to.leave_field("gradients_in_fp32");
    if (precision == Precision::fp8 || precision == Precision::fp8_weights) to.leave_field(field);
}

void write_tensor(To& to, Name field) {
    if (to.plan.tensor_parallel > 1) to.put("tensor_parallel.autotp_size", to.value_of(field));
}
void write_context(To& to, Name field) {
    if (to.plan.context_parallel == 1) return;
    to.put("sequence_parallel_size", to.value_of(field));
    if (to.plan.tensor_parallel == 1) to.put("data_parallel_size", copies(to.plan));  // with both it makes the groups (initialize)
    if (!to.plan.swaps_heads()) to.leave_field("context_parallel_kind");
}

constexpr SettingRow kDeepspeedRows[] = {
    {"gpus", leave_always},
    {"gpus_per_node", nullptr},  // what starts it says it
    {"sequence_length", leave_always},
    {"micro_batch", write_batch},
    {"global_batch", nullptr},
    {"zero", write_zero},
    {"overlap_gradients", nullptr},
    {"optimizer_offload", write_offload},
    {"optimizer_offload_target", nullptr},
    {"optimizer_offload_overlap", nullptr},
    {"weights_offload", write_weights_offload},
    {"precision", write_types},
    {"gradients_in_fp32", nullptr},
    {"tensor_parallel", write_tensor},
    {"context_parallel", write_context},
    {"context_parallel_kind", nullptr},
    {"pipeline_parallel", leave_above_one},
    {"virtual_stages", leave_above_one},
    {"sequence_parallel", leave_sequence},
    {"expert_tensor_parallel", leave_split_experts},
    {"recompute", leave_always},  // the training program's own
    {"framework", leave_pytorch},
};

// ---- accelerate
// FSDP shares out gradients or weights; the optimizer's state alone is DeepSpeed's. Beside tensor or context parallelism there is FSDP of
// the second version alone, where GPUs are left: the product of its degrees is their number (parallelism_config.py,
// __post_init__ and _validate_accelerator); it shares out no less.
bool splits(const Plan& plan) { return plan.tensor_parallel > 1 || plan.context_parallel > 1; }
bool has_fsdp(const Plan& plan) { return splits(plan) ? plan.gpus > plan.tensor_parallel : plan.shards_gradients(); }
bool has_stage(const Plan& plan) { return plan.zero == Zero::optimizer && !splits(plan); }
bool has_groups(const Plan& plan) { return has_fsdp(plan) && (splits(plan) || plan.shard_replicas > 1); }

void write_kind(To& to, Name field) {
    const Zero zero = to.plan.zero;
    const bool deepspeed = has_stage(to.plan), fsdp = has_fsdp(to.plan);
    to.put("distributed_type", fsdp ? "FSDP" : deepspeed ? "DEEPSPEED" : "MULTI_GPU");
    if (fsdp ? !to.plan.shards_gradients() : !deepspeed && zero != Zero::none) to.leave_field(field);
    if (!fsdp && !deepspeed) return;
    if (deepspeed) {
        to.put("deepspeed_config.zero_stage", 1);
        // it has no stages: every GPU holds a copy
        const std::int64_t at_once = to.plan.micro_batch * to.plan.gpus;
        if (to.plan.global_batch % at_once == 0) to.put("deepspeed_config.gradient_accumulation_steps", to.plan.global_batch / at_once);
        return;
    }
    const bool first = to.plan.fully_shard == Habit::off && !has_groups(to.plan);
    if (to.plan.fully_shard == Habit::off && !first) to.leave_field("fully_shard");
    to.put("fsdp_config.fsdp_version", first ? 1 : 2);
    to.put("fsdp_config.fsdp_auto_wrap_policy", "TRANSFORMER_BASED_WRAP");
    if (first)
        to.put("fsdp_config.fsdp_sharding_strategy", zero == Zero::weights ? "FULL_SHARD" : "SHARD_GRAD_OP");
    else
        to.put("fsdp_config.fsdp_reshard_after_forward", zero == Zero::weights);
}

// Its version is written with FSDP alone.
void leave_without_fsdp(To& to, Name field) {
    if (!has_fsdp(to.plan) || !to.plan.shards_gradients()) to.leave_changed(field);
}

void write_again(To& to, Name field) {
    const Plan& p = to.plan;
    const bool can = has_fsdp(p) && (p.recompute == Recompute::full || p.recompute == Recompute::none);
    // of some layers or parts alone it cannot say: all layers need no more memory. Without FSDP it is the training program's own.
    if (has_fsdp(p)) to.put("fsdp_config.fsdp_activation_checkpointing", p.recompute != Recompute::none);
    if (!can) to.leave_field(field);
}

// FSDP's takes weights and optimizer (torch/distributed/fsdp/api.py, CPUOffload), DeepSpeed's first stage the optimizer.
void write_host(To& to, Name field) {
    const Plan& p = to.plan;
    const bool all = p.optimizer_offload == 1, both = all && has_fsdp(p) && p.weights_on_host(), alone = all && has_stage(p);
    if (both) to.put("fsdp_config.fsdp_offload_params", true);
    if (alone) to.put("deepspeed_config.offload_optimizer_device", "cpu");  // to drives in its third stage alone
    if (!both && !alone) to.leave_changed(field);
    if (!both) to.leave_changed("weights_offload");
    if (p.optimizer_offload == 0) return;
    for (const char* way : {"optimizer_offload_target", "optimizer_offload_overlap"}) to.leave_changed(way);
}

void write_processes(To& to, Name) {
    const Nodes nodes = nodes_of(to.plan);
    to.put("num_processes", to.plan.gpus);
    if (nodes.count > 0)
        to.put("num_machines", nodes.count);
    else
        to.leave_field("gpus_per_node");
    if (nodes.count != 1) to.put("main_process_port", 29'500);  // of newer ones the usual one, of older ones "None" (launch.py)
}

void write_mixed(To& to, Name field) {
    const Precision precision = to.plan.precision;
    to.put("mixed_precision", precision == Precision::bf16 ? "bf16" : precision == Precision::fp16 ? "fp16" : "fp8");
    if (precision == Precision::fp8_weights) to.leave_field(field);
    if (precision == Precision::fp8) to.leave_out("export.left_out.fp8_recipe");
}

void write_groups(To& to, Name) {
    const Plan& p = to.plan;
    const auto degree = [&](const char* name, std::int64_t value) {
        if (value > 1) to.put(std::string("parallelism_config.parallelism_config_") + name, value);
    };
    const bool hybrid = has_fsdp(p) && p.shard_replicas > 1 && p.data_parallel() % p.shard_replicas == 0;
    degree("tp_size", p.tensor_parallel);
    degree("cp_size", p.context_parallel);
    if (hybrid)
        degree("dp_replicate_size", p.shard_replicas);
    else
        to.leave_changed("shard_replicas");
    // Their product is the number of processes.
    const std::int64_t others = p.tensor_parallel * p.context_parallel * (hybrid ? p.shard_replicas : 1);
    if (has_groups(p)) degree("dp_shard_size", p.gpus / others);
}

constexpr SettingRow kAccelerateRows[] = {
    {"gpus", write_processes},
    {"gpus_per_node", nullptr},
    {"zero", write_kind},
    {"fully_shard", leave_without_fsdp},
    {"recompute", write_again},
    {"optimizer_offload", write_host},
    {"optimizer_offload_target", nullptr},
    {"optimizer_offload_overlap", nullptr},
    {"weights_offload", nullptr},
    {"precision", write_mixed},
    {"tensor_parallel", write_groups},
    {"context_parallel", nullptr},
    {"shard_replicas", nullptr},
    {"sequence_length", leave_always},
    {"micro_batch", leave_always},
    {"global_batch", leave_always},
    {"gradients_in_fp32", leave_always},
    {"pipeline_parallel", leave_above_one},
    {"virtual_stages", leave_above_one},
    {"sequence_parallel", leave_sequence},
    {"expert_tensor_parallel", leave_split_experts},
    {"framework", leave_transformers},
};

}  // namespace

Export deepspeed_json(const Job& job) {
    Settings to(job);
    write_rows(to, kDeepspeedRows);
    leave_model(to);
    return made_of(to, json_text(to.list));
}

Export accelerate_yaml(const Job& job) {
    Settings to(job);
    to.put("compute_environment", "LOCAL_MACHINE");
    write_rows(to, kAccelerateRows);
    leave_model(to);
    Export made = made_of(to, yaml_text(to.list));
    const std::int64_t nodes = nodes_of(job.plan).count;
    if (nodes == 0) made.yours.emplace_back("num_machines");
    if (nodes != 1)  // each node its own, the address the first one's (accelerate/utils/launch.py)
        for (const char* one : {"machine_rank", "main_process_ip"}) made.yours.emplace_back(one);
    return made;
}

}  // namespace fourfold
