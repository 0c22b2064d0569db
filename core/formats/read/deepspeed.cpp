// DeepSpeed's JSON, and the YAML of accelerate 16cb6eb80 (FSDP 1 and 2, DeepSpeed).
#include <algorithm>
#include <utility>

#include "base/edit_distance.h"
#include "base/text.h"
#include "formats/read/jobs.h"
#include "formats/read/trainers.h"
#include "formats/readers.h"

namespace fourfold {

int deepspeed_likeness(const std::vector<Entry>& entries) {
    return count_like(entries, {"num*layers", "hidden*size", "pipe*parallel*size", "base_model", "distributed_type"}) > 0
               ? 0
               : count_like(entries, {"zero_optimization.*", "train_micro_batch_size_per_gpu", "train_batch_size"});
}

// OffloadDeviceEnum (runtime/zero/offload_config.py).
static std::optional<std::string> device_of(Import& in, std::string_view key, std::string_view field) {
    auto device = in.text(key, field);
    if (device == "cpu" || device == "nvme") return device;
    if (device && *device != "none") in.mark(key, Fate::unknown);
    return std::nullopt;
}

static void read_offload(Import& in) {
    const auto device = device_of(in, "zero_optimization.offload_optimizer.device", "optimizer_offload");
    const auto part = in.number("zero_optimization.offload_optimizer.ratio", "optimizer_offload");
    if (device) in.job["optimizer_offload"] = part && *part >= 0 && *part <= 1 ? *part : 1.0;
    if (in.on("zero_optimization.cpu_offload", "optimizer_offload")) in.job["optimizer_offload"] = 1.0;
    if (device == "nvme") in.job["optimizer_offload_target"] = "nvme";
    const bool reads = in.on("zero_optimization.offload_optimizer.pipeline_read", "optimizer_offload_overlap"),
               writes = in.on("zero_optimization.offload_optimizer.pipeline_write", "optimizer_offload_overlap");
    if (reads && writes) in.job["optimizer_offload_overlap"] = "overlapped";
    const auto weights = device_of(in, "zero_optimization.offload_param.device", "weights_offload");
    if (weights || in.on("zero_optimization.cpu_offload_params", "weights_offload")) in.job["weights_offload"] = true;
    if (weights == "nvme") in.notes.push_back(Text("import_plan.note.not_counted").with("key", "offload_param: nvme"));
}

static bool is_one_of(std::string_view key, const std::string_view* begin, const std::string_view* end) {
    return std::any_of(begin, end, [&](std::string_view own) { return matches(own, key); });
}

// A key that the program does not have: a slip of the pen is refused, as the program does; anything else may be a newer release's, and is
// not understood.
static void judge_key(Import& in, Entry& entry, std::string_view program, std::string_view name, const std::string_view* begin,
                      const std::string_view* end) {
    constexpr std::size_t kLongest = 60, kSlip = 2;
    entry.fate = Fate::unknown;
    const std::string_view key = entry.key;
    const bool slip = name.size() > 5 && name.size() < kLongest && std::any_of(begin, end, [&](std::string_view own) {
                          return own.find('*') == std::string_view::npos && edit_distance(name, own) <= kSlip;
                      });
    if (!slip) return;
    in.refused.push_back(Text("import_plan.refused.no_key").with("program", program).with("key", key.substr(0, 80)));
}

// Its settings and older names of them (runtime/zero/config.py); others are forbidden (DeepSpeedConfigModel). Parts of the optimizer wait
// on the host in stage 3 alone.
static void check_zero_block(Import& in) {
    constexpr std::string_view kSection = "zero_optimization.";
    constexpr std::string_view kOwn[] = {"stage",
                                         "stage3_*",
                                         "contiguous_gradients",
                                         "reduce_scatter",
                                         "*_bucket_size",
                                         "use_*",
                                         "allgather_*",
                                         "overlap_comm",
                                         "load_from_*",
                                         "elastic_checkpoint",
                                         "offload_param*",
                                         "offload_optimizer*",
                                         "sub_group_size",
                                         "cpu_offload*",
                                         "*_threshold",
                                         "max_live_parameters",
                                         "max_reuse_distance",
                                         "gather_*",
                                         "ignore_unused_parameters",
                                         "legacy_stage1",
                                         "round_robin_gradients",
                                         "zero_*",
                                         "zeropp_*",
                                         "zenflow*",
                                         "mics_*",
                                         "memory_efficient_linear",
                                         "pipeline_loading_checkpoint",
                                         "override_module_apply",
                                         "log_trace_*",
                                         "enable_sanity_checks",
                                         "save_muon_*",
                                         "leaf_module*"};
    for (Entry& entry : in.entries) {
        if (!entry.key.starts_with(kSection)) continue;
        const std::string name = entry.key.substr(kSection.size());
        if (!is_one_of(name, std::begin(kOwn), std::end(kOwn))) judge_key(in, entry, "DeepSpeed", name, std::begin(kOwn), std::end(kOwn));
    }
    const auto stage = in.whole("zero_optimization.stage", "zero");
    const auto part = in.number("zero_optimization.offload_optimizer.ratio", "optimizer_offload");
    if (stage && *stage < 3 && part && *part < 1)
        in.refused.push_back(Text("import_plan.refused.needs").with("one", "offload_optimizer.ratio").with("other", "\"stage\": 3"));
}

void read_zero_block(Import& in) {
    check_zero_block(in);
    read_zero_stage(in, "zero_optimization.stage");
    read_offload(in);
    for (const char* key : {"zero_optimization.mics_shard_size", "zero_optimization.zero_hpz_partition_size"})
        if (const auto size = in.whole(key, ""); size && *size > 1)
            in.notes.push_back(Text("import_plan.note.not_counted").with("key", key));
    if (in.on("zero_optimization.zero_quantized_weights", ""))
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", "zero_quantized_weights"));
    if (in.has("zero_optimization.overlap_comm"))
        in.job["overlap_gradients"] = in.on("zero_optimization.overlap_comm", "overlap_gradients");
}

void add_deepspeed_file(std::vector<Entry>& entries, const std::vector<Entry>& file) {
    constexpr std::pair<std::string_view, std::string_view> kBatches[] = {{"train_micro_batch_size_per_gpu", "micro_batch_size"},
                                                                          {"train_batch_size", "batch_size"},
                                                                          {"gradient_accumulation_steps", "gradient_accumulation_steps"}},
                                                            kTypes[] = {{"bf16.enabled", "bf16"},
                                                                        {"bfloat16.enabled", "bf16"},
                                                                        {"fp16.enabled", "fp16"}};
    const bool batches = count_like(entries, {"per_*_train_batch_size", "micro_batch_size", "micro_train_*", "gradient_acc*"}) == 0,
               types = count_like(entries, {"bf16", "fp16", "mixed_precision", "*dtype"}) == 0;
    for (Entry one : file) {
        bool taken = one.key.starts_with("zero_optimization.");
        const auto take = [&](bool wanted, const auto& rows) {
            for (const auto& [key, name] : rows)
                if (wanted && one.key == key && one.value != Json("auto")) one.key = name, taken = true;
        };
        take(batches, kBatches);
        take(types, kTypes);
        if (taken) entries.push_back(std::move(one));
    }
}

void settle_deepspeed_types(Import& in) {
    const std::string precision = in.job.value("precision", ""), zero = in.job.value("zero", "");
    const auto type = in.text("data_types.grad_accum_dtype", "gradients_in_fp32");
    const bool bf16 = precision == "bf16";
    if ((!bf16 && precision != "fp16") || zero.empty()) return in.job.erase("gradients_in_fp32"), void();
    const bool in_fp32 = type ? *type == "fp32" : bf16 && zero == "none";
    in.job["gradients_in_fp32"] = in_fp32;
    const bool in_32_bits = std::any_of(in.notes.begin(), in.notes.end(), [](const Text& note) {
        return note.id() == "import_plan.note.fp32" || note.id() == "import_plan.note.fp32_named";
    });
    if (!bf16 || zero != "none" || !in_fp32 || in_32_bits) return;
    in.job["zero"] = "optimizer";
    if (in.has("zero_stage") || in.has("zero_optimization.stage")) in.notes.emplace_back("import_plan.note.bf16_sharded");
}

// Neither DeepSpeed nor accelerate splits the parts between tensor-parallel layers.
static void leave_sequences(Import& in) {
    if (in.job.value("tensor_parallel", std::int64_t{1}) > 1) in.job["sequence_parallel"] = false;
}

static constexpr std::string_view kQuietOfDeepSpeedJson[] = {"optimizer*",
                                                             "scheduler*",
                                                             "zero_optimization.*",
                                                             "gradient_clipping",
                                                             "steps_per_print",
                                                             "wall_clock*",
                                                             "fp16.*",
                                                             "bf16.*",
                                                             "zero_allow*",
                                                             "zero_force*",
                                                             "dump_state",
                                                             "prescale*",
                                                             "tensorboard*",
                                                             "wandb*",
                                                             "flops_profiler*",
                                                             "aio*",
                                                             "comms_logger*",
                                                             "communication_data_type",
                                                             "data_parallel_size",
                                                             "activation_checkpointing*",
                                                             "checkpoint*",
                                                             "compression*",
                                                             "elasticity*",
                                                             "data_efficiency*",
                                                             "memory_breakdown",
                                                             "comms_config*",
                                                             "monitor_config*"};
void read_deepspeed(Import& in) {
    in.mark_all(kQuietOfDeepSpeedJson, Fate::no_number);
    drop_auto(in);
    in.set("tensor_parallel", in.whole("tensor_parallel.autotp_size", "tensor_parallel"));
    in.set("context_parallel", in.whole("sequence_parallel_size", "context_parallel"));
    in.job["context_parallel_kind"] = "all_to_all";  // Ulysses: DeepSpeed has no other
    if (in.job.value("tensor_parallel", std::int64_t{1}) == 0) in.job["tensor_parallel"] = 1;
    leave_sequences(in);
    fill_pytorch(in);
    constexpr BatchKeys kBatch{"train_micro_batch_size_per_gpu", "gradient_accumulation_steps", "train_batch_size"};
    read_world(in, kBatch, {"tensor_parallel.autotp_size", "sequence_parallel_size"});
    in.ask("gpus");
    for (const std::string_view key : {kBatch.micro, kBatch.steps, kBatch.batch})  // runtime/config.py, _batch_assertion
        if (in.whole(key, "").value_or(1) <= 0)
            in.refused.push_back(Text("import_plan.refused.needs").with("one", key).with("other", "> 0"));
    const std::int64_t micro = in.whole(kBatch.micro, "").value_or(1), steps = in.whole(kBatch.steps, "").value_or(1),
                       batch = in.whole(kBatch.batch, "").value_or(0);
    read_copies_batch(in, kBatch);
    if (micro > 0 && batch % micro != 0)
        in.refused.push_back(Text("import_plan.refused.batch").with("batch", batch).with("micro", micro).with("copies", std::int64_t{1}));
    else if (micro > 0 && steps > 0 && batch % (micro * steps) != 0)
        in.mark(kBatch.batch, Fate::unknown);
    in.job["zero"] = "none";
    read_zero_block(in);
    const bool bf16 = in.on("bf16.enabled", "precision") || in.on("bfloat16.enabled", "precision"),
               fp16 = in.on("fp16.enabled", "precision");
    if (bf16 || fp16)
        in.job["precision"] = fp16 ? "fp16" : "bf16";
    else if (in.has("bf16.enabled") || in.has("bfloat16.enabled") || in.has("fp16.enabled"))
        in.notes.emplace_back("import_plan.note.fp32_named");
    if (bf16 && fp16) refuse_both(in, "bf16", "fp16");
    read_trainer_optimizer(in, "optimizer.type");
    settle_deepspeed_types(in);
    ask_rest(in);
}

int accelerate_likeness(const std::vector<Entry>& entries) {
    return count_like(entries, {"distributed_type", "compute_environment", "fsdp_config.fsdp_*", "parallelism_config.*",
                                "deepspeed_config.*", "num_processes"}) >= 2 &&
                   count_like(entries, {"distributed_type", "compute_environment", "fsdp_config.*", "parallelism_config.*"}) > 0
               ? 1
               : 0;
}

static void read_processes(Import& in) {
    const auto all = in.whole("num_processes", "gpus"), nodes = in.whole("num_machines", "gpus_per_node");
    if (all && *all > 0 && *all <= 1'048'576) {
        in.job["gpus"] = *all;
        if (nodes && *nodes > 1 && *all % *nodes == 0) in.job["gpus_per_node"] = *all / *nodes;
    }
    in.ask("gpus");
}

static void read_degrees(Import& in) {
    in.set("tensor_parallel", in.whole("parallelism_config.parallelism_config_tp_size", "tensor_parallel"));
    leave_sequences(in);
    const auto cp = in.whole("parallelism_config.parallelism_config_cp_size", "context_parallel"),
               sp = in.whole("parallelism_config.parallelism_config_sp_size", "context_parallel");
    if (cp || sp) in.job["context_parallel"] = std::max(cp.value_or(1), sp.value_or(1));
    const bool ulysses = in.text("parallelism_config.parallelism_config_cp_backend", "context_parallel_kind") == "deepspeed";
    if ((sp && *sp > 1) || ulysses) in.job["context_parallel_kind"] = "all_to_all";  // DeepSpeed's Ulysses; cp_size is PyTorch's ring
    const auto replicas = in.whole("parallelism_config.parallelism_config_dp_replicate_size", "shard_replicas");
    if (replicas && *replicas > 0) in.job["shard_replicas"] = *replicas;
    in.whole("parallelism_config.parallelism_config_dp_shard_size", "zero");
    // Once there is a degree, their product is the number of processes (Accelerate 1.10, parallelism_config.py, _validate_accelerator).
    std::int64_t product = 1;
    for (const char* part : {"tp", "cp", "sp", "dp_replicate", "dp_shard"}) {
        const std::int64_t degree = in.whole(joined({"parallelism_config.parallelism_config_", part, "_size"}), "").value_or(1);
        product = degree > 0 && degree <= 1'000'000 && product <= 1'000'000 ? product * degree : 0;
    }
    const std::int64_t gpus = in.job.value("gpus", std::int64_t{0});
    if (product > 1 && gpus > 0 && product != gpus && !in.hangs("gpus"))
        in.refused.push_back(Text("import_plan.refused.mesh").with("gpus", gpus).with("product", product));
}

// accelerate's Megatron-LM plugin: utils/dataclasses.py, MegatronLMPlugin.
static void read_megatron_plugin(Import& in) {
    in.job.erase("framework");
    in.set("tensor_parallel", in.whole("megatron_lm_config.megatron_lm_tp_degree", "tensor_parallel"));
    in.set("pipeline_parallel", in.whole("megatron_lm_config.megatron_lm_pp_degree", "pipeline_parallel"));
    in.job["zero"] = in.on("megatron_lm_config.megatron_lm_use_distributed_optimizer", "zero") ? "optimizer" : "none";
    in.job["recompute"] = in.on("megatron_lm_config.megatron_lm_recompute_activations", "recompute") ? "selective" : "none";
    in.job["sequence_parallel"] = in.on("megatron_lm_config.megatron_lm_sequence_parallelism", "sequence_parallel");
}

// "accelerate launch" has as arguments what its file has in parts (commands/launch.py).
static void read_launch_arguments(Import& in) {
    constexpr std::pair<const char*, const char*> kParts[] = {{"fsdp_*", "fsdp_config."},
                                                              {"zero_stage", "deepspeed_config."},
                                                              {"offload_*_device", "deepspeed_config."},
                                                              {"deepspeed_config_file", "deepspeed_config."},
                                                              {"gradient_accumulation_steps", "deepspeed_config."},
                                                              {"parallelism_config_*", "parallelism_config."},
                                                              {"megatron_lm_*", "megatron_lm_config."}};
    constexpr std::pair<const char*, const char*> kTypes[] = {
        {"multi_gpu", "MULTI_GPU"}, {"use_megatron_lm", "MEGATRON_LM"}, {"use_deepspeed", "DEEPSPEED"}, {"use_fsdp", "FSDP"}};
    for (Entry& entry : in.entries) {
        if (entry.key.find('.') != std::string::npos || !entry.shown.starts_with('-')) continue;
        const auto* found =
            std::find_if(std::begin(kParts), std::end(kParts), [&](const auto& one) { return matches(one.first, entry.key); });
        if (found != std::end(kParts)) entry.key.insert(0, found->second);
    }
    if (in.has("distributed_type")) return;
    for (const auto& [key, type] : kTypes)
        if (in.on(key, "zero")) in.derive(*in.last(key), "distributed_type", type);
}

// Its file's own settings (commands/config/config_args.py): with another one, or without the type, it stops.
static void check_file(Import& in) {
    constexpr std::string_view kOwn[] = {"compute_environment",
                                         "distributed_type",
                                         "mixed_precision",
                                         "use_cpu",
                                         "debug",
                                         "num_processes",
                                         "machine_rank",
                                         "num_machines",
                                         "gpu_ids",
                                         "main_*",
                                         "rdzv_backend",
                                         "same_network",
                                         "enable_cpu_affinity",
                                         "downcast_bf16",
                                         "tpu_*",
                                         "command_file",
                                         "commands*",
                                         "fp16",
                                         "dynamo_backend",
                                         "*_config",
                                         "*_config.*",
                                         "ec2_*",
                                         "iam_*",
                                         "image_uri",
                                         "profile",
                                         "region",
                                         "base_job_name",
                                         "*_version",
                                         "sagemaker_*",
                                         "additional_args*"};
    if (in.entries.empty() || std::any_of(in.entries.begin(), in.entries.end(), [](const Entry& one) {
            return one.shown.empty() || one.shown.starts_with('-') || one.shown != one.key;
        }))
        return;  // the command, with or without its file
    for (Entry& entry : in.entries)
        if (!is_one_of(entry.key, std::begin(kOwn), std::end(kOwn)))
            judge_key(in, entry, "accelerate", entry.key, std::begin(kOwn), std::end(kOwn));
    refuse_without(in, "accelerate", "distributed_type");
}

// "accelerate launch" takes a key of this part for the argument "--fsdp_<key>" where it does not say fsdp itself (Accelerate,
// commands/launch.py, _validate_launch_command).
static void name_fsdp_keys(Import& in) {
    constexpr std::string_view kPart = "fsdp_config.";
    for (Entry& entry : in.entries)
        if (entry.key.starts_with(kPart) && entry.key.find("fsdp", kPart.size()) == std::string::npos)
            entry.key.insert(kPart.size(), "fsdp_");
}

static void read_accelerate_fsdp(Import& in) {
    read_fsdp(in, "fsdp_config.fsdp_", "fsdp_config.fsdp_version");
    if (in.has("fsdp_config.fsdp_activation_checkpointing") && !in.job.contains("recompute") && !in.hangs("recompute"))
        in.job["recompute"] = "none";
}

void read_accelerate(Import& in) {
    read_launch_arguments(in);
    check_file(in);
    name_fsdp_keys(in);
    in.mark_all({"compute_environment", "debug", "machine_rank", "main_*", "rdzv*", "same_network", "tpu*", "use_cpu", "downcast*",
                 "enable_cpu_affinity", "dynamo*", "fsdp_config.*", "deepspeed_config.*", "parallelism_config.*", "gpu_ids",
                 "megatron_lm_config.*"},
                Fate::no_number);
    for (Entry& entry : in.entries)  // it takes no parts of DeepSpeed's own file
        if (matches("deepspeed_config.*.*", entry.key) && entry.fate == Fate::no_number) entry.fate = Fate::unknown;
    drop_auto(in);
    read_processes(in);
    read_degrees(in);
    fill_transformers(in);
    const std::string type = lower_case(in.text("distributed_type", "zero").value_or(""));
    const auto reduced = in.text("fsdp_config.fsdp_mixed_precision_policy.reduce_dtype", "gradients_in_fp32");
    if (reduced) in.job["gradients_in_fp32"] = *reduced == "fp32" || reduced->ends_with("float32");
    if (type == "fsdp")
        read_accelerate_fsdp(in);
    else if (type == "megatron_lm")
        read_megatron_plugin(in);
    else if (type == "deepspeed") {
        read_zero_path(in, "deepspeed_config.deepspeed_config_file");
        read_zero_stage(in, "deepspeed_config.zero_stage");
        const bool silent = !in.has("deepspeed_config.zero_stage") && !in.has("deepspeed_config.deepspeed_config_file");
        const bool parts = count_like(in.entries, {"deepspeed", "deepspeed_config.zero_optimization*"}) > 0;  // meant, and not taken
        if (silent && !parts) in.job["zero"] = "gradients";  // DeepSpeedPlugin's own stage, 2
        if (const auto device = in.text("deepspeed_config.offload_optimizer_device", "optimizer_offload"); device && *device != "none") {
            in.job["optimizer_offload"] = 1.0;
            if (*device == "nvme") in.job["optimizer_offload_target"] = "nvme";
        }
        if (const auto device = in.text("deepspeed_config.offload_param_device", "weights_offload"); device && *device != "none")
            in.job["weights_offload"] = true;
    } else if (type == "multi_gpu" || type == "no") {
        in.job["zero"] = "none";
        if (count_like(in.entries, {"fsdp_config.fsdp_sharding*", "fsdp_config.fsdp_version", "fsdp_config.fsdp_reshard*"}) > 0)
            in.notes.push_back(Text("import_plan.note.not_counted").with("key", "fsdp_config"));  // accelerate launch does not take it
    } else if (in.has("distributed_type"))
        in.mark("distributed_type", Fate::unknown);
    else
        read_zero_path(in, "config_file");
    const auto precision = in.text("mixed_precision", "precision");
    read_launched_type(in);
    if (precision == "no") in.notes.emplace_back("import_plan.note.fp32_named");
    if (!precision) read_trainer_types(in);  // of the program behind it
    in.whole("deepspeed_config.gradient_accumulation_steps", "global_batch");
    ask_rest(in);
}

}  // namespace fourfold
