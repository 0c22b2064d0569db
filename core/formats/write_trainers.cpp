// DeepSpeed's JSON (deepspeed/runtime/config.py and zero/config.py), and the YAML of accelerate 16cb6eb80. Model, sequence and, with
// accelerate, the batch are the training program's own.
#include "formats/writing.h"

namespace fourfold {

namespace {

using To = Settings;
using Name = std::string_view;

void leave_above_one(To& to, Name field) {
    if (to.value_of(field) != 1) to.leave_field(field);
}
void leave_recompute(To& to, Name field) {
    if (to.plan.recompute != Recompute::none) to.leave_field(field);
}
// Neither splits the parts between tensor-parallel layers.
void leave_sequence(To& to, Name field) {
    if (to.plan.tensor_parallel > 1 && to.plan.sequence_parallel) to.leave_field(field);
}
void leave_pytorch(To& to, Name) { leave_framework(to, FrameworkKind::pytorch); }
void leave_transformers(To& to, Name) { leave_framework(to, FrameworkKind::transformers); }

// ---- DeepSpeed
void write_batch(To& to, Name) {
    to.put("train_batch_size", to.plan.global_batch);
    to.put("train_micro_batch_size_per_gpu", to.plan.micro_batch);
    to.put("gradient_accumulation_steps", to.plan.micro_batches());
}

void write_zero(To& to, Name) {
    to.put("zero_optimization.stage", static_cast<std::int64_t>(to.plan.zero));
    to.put("zero_optimization.overlap_comm", to.plan.overlap_gradients);
}

void write_offload(To& to, Name) {
    const double part = to.plan.optimizer_offload;
    if (part <= 0) return;
    const OffloadOverlap overlap = to.plan.optimizer_offload_overlap;
    const bool drives = to.plan.optimizer_offload_target == OffloadTarget::nvme;
    to.put("zero_optimization.offload_optimizer.device", drives ? "nvme" : "cpu");
    if (drives) to.put("zero_optimization.offload_optimizer.nvme_path", "/local_nvme");
    if (part < 1) to.put("zero_optimization.offload_optimizer.ratio", part);
    if (overlap == OffloadOverlap::none) return;
    for (const char* way : {"zero_optimization.offload_optimizer.pipeline_read", "zero_optimization.offload_optimizer.pipeline_write"})
        to.put(way, true);
    if (overlap == OffloadOverlap::interleaved) to.leave_field("optimizer_offload_overlap");
}

void write_weights_offload(To& to, Name field) {
    if (to.plan.weights_on_host())
        to.put("zero_optimization.offload_param.device", "cpu");
    else if (to.plan.weights_offload)
        to.leave_field(field);
}

void write_types(To& to, Name field) {
    const Precision precision = to.plan.precision;
    to.put(precision == Precision::fp16 ? "fp16.enabled" : "bf16.enabled", true);
    to.put("data_types.grad_accum_dtype", to.plan.gradients_in_fp32 ? "fp32" : precision == Precision::fp16 ? "fp16" : "bf16");
    if (precision == Precision::fp8 || precision == Precision::fp8_weights) to.leave_field(field);
}

void write_tensor(To& to, Name field) {
    if (to.plan.tensor_parallel > 1) to.put("tensor_parallel.autotp_size", to.value_of(field));
}
void write_context(To& to, Name field) {
    if (to.plan.context_parallel == 1) return;
    to.put("sequence_parallel_size", to.value_of(field));
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
    {"recompute", leave_recompute},
    {"framework", leave_pytorch},
};

// ---- accelerate
// FSDP shares out gradients or weights; the optimizer's state alone is DeepSpeed's.
void write_kind(To& to, Name) {
    const Zero zero = to.plan.zero;
    to.put("distributed_type", zero == Zero::none ? "MULTI_GPU" : zero == Zero::optimizer ? "DEEPSPEED" : "FSDP");
    if (zero == Zero::none) return;
    if (zero == Zero::optimizer) {
        to.put("deepspeed_config.zero_stage", 1);
        return to.put("deepspeed_config.gradient_accumulation_steps", to.plan.micro_batches());
    }
    const bool first = to.plan.fully_shard == Habit::off;
    to.put("fsdp_config.fsdp_version", first ? 1 : 2);
    to.put("fsdp_config.fsdp_auto_wrap_policy", "TRANSFORMER_BASED_WRAP");
    if (first)
        to.put("fsdp_config.fsdp_sharding_strategy", zero == Zero::weights ? "FULL_SHARD" : "SHARD_GRAD_OP");
    else
        to.put("fsdp_config.fsdp_reshard_after_forward", zero == Zero::weights);
}

bool has_fsdp(const Plan& plan) { return plan.zero == Zero::gradients || plan.zero == Zero::weights; }

// Its version is written with FSDP alone.
void leave_without_fsdp(To& to, Name field) {
    if (!has_fsdp(to.plan)) to.leave_changed(field);
}

void write_again(To& to, Name field) {
    const Plan& p = to.plan;
    const bool can = has_fsdp(p) && p.recompute == Recompute::full;
    // of some layers or parts alone it cannot say: all layers need no more memory
    if (has_fsdp(p)) to.put("fsdp_config.fsdp_activation_checkpointing", p.recompute != Recompute::none);
    if (!can && p.recompute != Recompute::none) to.leave_field(field);
}

void write_processes(To& to, Name) {
    const Nodes nodes = nodes_of(to.plan);
    to.put("num_processes", to.plan.gpus);
    if (nodes.count > 0)
        to.put("num_machines", nodes.count);
    else
        to.leave_field("gpus_per_node");
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
    const bool hybrid = has_fsdp(p) && p.shard_replicas > 1;
    degree("tp_size", p.tensor_parallel);
    degree("cp_size", p.context_parallel);
    if (hybrid) {
        degree("dp_replicate_size", p.shard_replicas);
        degree("dp_shard_size", p.data_parallel() / p.shard_replicas);
    } else {
        to.leave_changed("shard_replicas");
    }
}

constexpr SettingRow kAccelerateRows[] = {
    {"gpus", write_processes},
    {"gpus_per_node", nullptr},
    {"zero", write_kind},
    {"fully_shard", leave_without_fsdp},
    {"recompute", write_again},
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
    return made_of(to, yaml_text(to.list));
}

}  // namespace fourfold
