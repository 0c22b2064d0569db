// torchtitan: TOML up to 9810191bb (2026-02-23), and the arguments after it (b5bcd76c6), which have the same sections. Data parallelism is
// FSDP; a step's batch counts sequences, and later tokens.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <string>

#include "base/text.h"
#include "formats/keys.h"
#include "formats/named_model.h"
#include "formats/read/jobs.h"
#include "formats/read/torchtitan.h"
#include "formats/read/trainers.h"
#include "formats/readers.h"

namespace fourfold {

namespace {

// Flavors that other models are known by (models/deepseek_v3/__init__.py, models/llama4/__init__.py).
constexpr std::pair<std::string_view, const char*> kFlavors[] = {{"deepseek_v3_16b", "deepseek-v2-lite"},
                                                                 {"deepseek_v3_236b", "deepseek-v2"},
                                                                 {"deepseek_v3_kimi_k2", "kimi-k2"},
                                                                 {"llama4_17bx16e", "llama-4-scout"},
                                                                 {"llama4_17bx128e", "llama-4-maverick"}};

// A fork's "v2" of its "DeepSeek" may be any of that name; "8B" and "17bx16e" are one model.
bool is_size(std::string_view flavor) {
    for (std::size_t i = 1; i < flavor.size(); ++i)
        if (std::string_view("bBmM").find(flavor[i]) != std::string_view::npos &&
            std::isdigit(static_cast<unsigned char>(flavor[i - 1])) != 0)
            return true;
    return false;
}

void read_model_name(Import& in) {
    const auto name = in.text("model.name", "model"), flavor = in.text("model.flavor", "model");
    const auto module = in.text("module", "model"), config = in.text("config", "model");
    std::vector<std::string> names;
    if (name && flavor && (is_size(*flavor) || flavor->starts_with("debugmodel") || *flavor == "kimi_k2")) {
        names = {joined({*name, "-", *flavor})};
        if (name->starts_with("llama3")) names.push_back(joined({"llama-3.1-", *flavor}));
    } else if (config) {
        std::string own = *config;  // graph_trainer_llama3_8b of graph_trainer.llama3
        const std::size_t cut = module ? module->rfind('.') : std::string::npos;
        if (cut != std::string::npos && own.starts_with(module->substr(0, cut) + "_")) own = own.substr(cut + 1);
        names = {own};
        if (own.starts_with("llama3_")) names.push_back("llama-3.1-" + own.substr(7));
    }
    // In Python: model_registry("8B"), and the folder of the same size.
    const auto spec = in.text("model_spec", "model"), folder = in.text("hf_assets_path", "");
    if (spec && folder && lower_case(*folder).ends_with("-" + lower_case(*spec))) names = {folder->substr(folder->rfind('/') + 1)};
    std::string joint = names.empty() ? "" : lower_case(names[0]);  // also a file of Primus: "deepseek_v3_16b-fp8.yaml"
    std::replace(joint.begin(), joint.end(), '-', '_');
    for (const std::string_view end : {".yaml", "_fp8", "_bf16", "_mxfp8"})
        if (joint.ends_with(end)) joint.resize(joint.size() - end.size());
    for (const auto& [theirs, ours] : kFlavors)
        if (joint == theirs) names = {ours};
    for (const std::string& one : names)
        if (const CatalogModel* found = named_model(one)) {
            in.job["model"] = as_requested(*found);
            return;
        }
    // "deepseek_v3" in the flavor "671B": the size of the model that has that name.
    if (const CatalogModel* found = name && flavor ? named_model(*name) : nullptr) {
        const double billions = std::strtod(flavor->c_str(), nullptr), counted = static_cast<double>(parameter_count(found->model)) / 1e9;
        if (flavor->ends_with('B') && std::abs(billions - counted) < 0.01 * counted) {
            in.job["model"] = as_requested(*found);
            return;
        }
    }
    for (const char* key : {"model.name", "model.flavor", "module", "config", "model_spec"}) in.mark(key, Fate::unknown);
}

// The sections in which degrees stood one after the other.
constexpr std::string_view kSections[] = {"parallelism", "training", "experimental"};
std::optional<std::int64_t> degree(Import& in, std::string_view key, std::string_view field) {
    for (const std::string_view section : kSections)
        if (const auto value = in.whole(joined({section, ".", key}), field)) return value;
    return std::nullopt;
}

// What follows from the number of stages hangs on it where that is open.
void hang_on_stages(Import& in, std::string_view field) { degree(in, "pipeline_parallel_degree", field); }

// "k": every k-th of the layers that a GPU holds, counted through its chunks; 0: all of them (distributed/activation_checkpoint.py).
void recompute_every(Import& in, std::int64_t k) {
    const CatalogModel* model = known_model(in);
    if (k <= 1) {
        in.job["recompute"] = "full";
        return;
    }
    if (model == nullptr) return in.mark("activation_checkpoint.selective_ac_option", Fate::unknown);
    const std::int64_t stages = std::clamp<std::int64_t>(in.job.value("pipeline_parallel", std::int64_t{1}), 1, 2'000),
                       chunks = std::clamp<std::int64_t>(in.job.value("virtual_stages", std::int64_t{1}), 1, 128);
    hang_on_stages(in, "recompute");
    hang_on_stages(in, "recompute_layers");
    const std::int64_t recomputed = model->model.layers / stages / k / chunks;
    in.job["recompute"] = recomputed > 0 ? "block" : "none";
    if (recomputed > 0) in.job["recompute_layers"] = recomputed;
}

// "op" computes single operations again; a number, whole layers.
void read_selective(Import& in, const std::string& option) {
    constexpr std::size_t kDigits = 4;
    const bool whole = !option.empty() && option.size() <= kDigits && option.find_first_not_of("0123456789") == std::string::npos;
    if (option == "op")
        in.job["recompute"] = "operations";
    else if (whole)
        recompute_every(in, std::stoll(option));
    else
        in.mark("activation_checkpoint.selective_ac_option", Fate::unknown);
}

void read_recompute(Import& in) {
    // where nothing is said: in TOML every second layer (job_config.py, as config_manager.py before); since 2026 there is "op" alone
    const char* const usual = in.has("model.name") || in.has("model.flavor") ? "2" : "op";
    auto mode = in.text("activation_checkpoint.mode", "recompute");
    const Entry* const object = in.last("activation_checkpoint");  // FullAC.Config(), since 2026
    auto option = in.text("activation_checkpoint.selective_ac_option", "recompute");
    if (const auto made = !mode && object != nullptr && object->open.empty() ? in.text("activation_checkpoint", "recompute") : mode;
        made && !mode) {
        if (made->find("FullAC") != std::string::npos) mode = "full";
        if (made->find("SelectiveAC") != std::string::npos) mode = "selective", option = "op";  // it has no other option
        if (!mode) in.mark("activation_checkpoint", Fate::unknown);
    }
    if (object != nullptr && !mode && (object->value.is_null() || object->value == "None"))
        mode = "none";  // Trainer.Config: no checkpointing
    if (!mode) {
        if (!is_torchtitan_elsewhere(in) && !in.hangs("recompute")) read_selective(in, option.value_or(usual));
        return;
    }
    in.mark("activation_checkpoint.selective_ac_option", *mode == "selective" ? Fate::used : Fate::no_number);
    if (*mode == "selective")
        read_selective(in, option.value_or(usual));
    else if (*mode == "none" || *mode == "full")
        in.job["recompute"] = *mode;
    else
        in.mark("activation_checkpoint.mode", Fate::unknown);
}

// Sections for 8-bit numbers may be there without being on: "converters" says which are.
void read_precision(Import& in) {
    bool fp8 = false;
    for (const char* key : {"model.converters", "model_converters.converters"}) {
        const auto list = in.text(key, "precision");
        if (!list || list->empty()) continue;
        const std::string names = lower_case(*list);
        fp8 = fp8 || names.find("float8") != std::string::npos || names.find("mx") != std::string::npos;
    }
    fp8 = in.on("float8.enable_float8_linear", "precision") || in.on("training.enable_float8_linear", "precision") || fp8;
    in.text("model_spec", "precision");  // computed, it may hold 8-bit numbers
    const auto parameters = in.text("training.mixed_precision_param", "precision");
    in.job["precision"] = fp8 ? "fp8" : parameters == "float16" ? "fp16" : "bf16";
    if (parameters == "float32") in.notes.emplace_back("import_plan.note.fp32_named");
    const auto reduced = in.text("training.mixed_precision_reduce", "gradients_in_fp32");
    in.job["gradients_in_fp32"] = !reduced || *reduced == "float32";
    if (parameters && *parameters != "float16" && *parameters != "bfloat16" && *parameters != "float32")
        in.mark("training.mixed_precision_param", Fate::unknown);
    if (reduced && *reduced != "float32" && *reduced != "bfloat16" && *reduced != "float16")
        in.mark("training.mixed_precision_reduce", Fate::unknown);
    // Weights, gradients and the optimizer's averages are then of 16 bits.
    const auto stored = in.text("training.dtype", "master_weights");
    if (stored == "bfloat16" && in.job["precision"] == "bf16") {
        in.job["master_weights"] = "off";
        in.job["gradients_in_fp32"] = false;
        in.job["moments"] = "16-bit";
    } else if (stored && *stored != "float32")
        in.notes.push_back(Text("import_plan.note.not_counted").with("key", "training.dtype: " + stored->substr(0, 40)));
    in.mark_all({"quantize.*", "float8.*", "mx.*", "model_converters.*"}, Fate::no_number);
}

std::optional<std::int64_t> shards_of(Import& in, std::string_view field) {
    const auto shards = degree(in, "data_parallel_shard_degree", field), older = degree(in, "data_parallel_degree", field);
    return shards ? shards : older;
}

void read_zero(Import& in) {
    const auto replicas = degree(in, "data_parallel_replicate_degree", "shard_replicas"), shards = shards_of(in, "zero");
    if (replicas && *replicas > 0) in.job["shard_replicas"] = *replicas;
    std::string when = "default";
    for (const std::string_view section : kSections)
        if (const auto again = in.text(joined({section, ".fsdp_reshard_after_forward"}), "zero")) when = *again;
    const bool stages = in.job.value("pipeline_parallel", std::int64_t{1}) > 1;
    if (when == "default") hang_on_stages(in, "zero");
    in.job["zero"] = when == "never" || (when == "default" && stages) ? "gradients" : "weights";
    const auto degree_of = [&](const char* field) { return in.job.value(field, std::int64_t{1}); };
    if (shards == 1 && degree_of("context_parallel") == 1 && degree_of("expert_parallel") == 1) {  // nothing is shared out: DDP
        in.job["zero"] = "none";
        in.job.erase("shard_replicas");
    }
}

// torchforge (apps/): the trainer is an actor of so many processes on so many hosts.
void read_actor(Import& in) {
    const auto each = in.whole({"actors.trainer.procs", "processes.procs"}, "gpus");
    const auto hosts = in.whole({"actors.trainer.hosts", "processes.hosts"}, "gpus");
    if (!each || *each <= 0 || *each > 1'000 || hosts.value_or(1) <= 0 || hosts.value_or(1) > 1'000) return;
    in.job["gpus"] = *each * hosts.value_or(1);
    if (hosts.value_or(1) > 1) in.job["gpus_per_node"] = *each;
    in.mark_all({"actors.*", "processes.*", "services.*", "provisioner.*", "metric_logging.*", "model_name", "data.*"}, Fate::no_number);
}

// All of them said: the product is how many GPUs the program starts on.
void read_gpus(Import& in) {
    constexpr std::int64_t kMost = 1'048'576;
    const auto shards = shards_of(in, "gpus");
    const std::int64_t split = in.model_parallel();
    const std::int64_t replicas =
        std::max<std::int64_t>(degree(in, "data_parallel_replicate_degree", "gpus").value_or(1), 1);  // of DDP too
    const bool open =
        in.hangs("tensor_parallel") || in.hangs("context_parallel") || in.hangs("pipeline_parallel") || in.hangs("shard_replicas");
    // What a file elsewhere says of the other degrees is not known here.
    const bool said = !is_torchtitan_elsewhere(in) ||
                      (in.job.contains("tensor_parallel") && in.job.contains("pipeline_parallel") && in.job.contains("context_parallel"));
    const bool all = said && !open && shards && *shards > 0 && *shards <= kMost && split > 0 && split <= kMost && replicas <= kMost &&
                     *shards * split <= kMost && *shards * split * replicas <= kMost;
    if (all && !in.job.contains("gpus"))
        in.job["gpus"] = *shards * split * replicas;
    else if (all && !is_torchtitan_elsewhere(in) && !in.hangs("gpus") && in.job["gpus"] != Json(*shards * split * replicas))
        in.refused.push_back(
            Text("import_plan.refused.mesh").with("gpus", in.job["gpus"].get<std::int64_t>()).with("product", *shards * split * replicas));
    in.ask("gpus");
}

// Groups of experts are made of the GPUs that share a copy out (distributed/parallel_dims.py).
void check_experts(Import& in) {
    const std::int64_t experts = in.job.value("expert_parallel", std::int64_t{1}),
                       stages = in.job.value("pipeline_parallel", std::int64_t{1});
    const std::int64_t shards = shards_of(in, "zero").value_or(0), split = in.model_parallel();
    constexpr std::int64_t kMost = 65'536;
    if (experts <= 1 || experts > kMost || shards <= 0 || shards > kMost || split <= 0 || split > kMost || in.hangs("expert_parallel"))
        return;
    if (shards * split % (experts * stages) == 0) return;
    in.refused.push_back(Text("import_plan.refused.expert_world").with("gpus", shards * split).with("product", experts * stages));
}

// Norms that are not compiled were single operations (measured: tests/evidence/torchtitan-docs.jsonl, tt01 and tt08) until PyTorch 2.9
// fused them itself (pytorch/pytorch#153666). By then the switch had another name, compile.enable, and changes no number here.
void read_compiled(Import& in) {
    if (!in.has("training.compile")) return;
    const bool compiled = in.on("training.compile", "fused_norms");
    const std::string norms = in.text("model.norm_type", "fused_norms").value_or("");
    in.job["fused_norms"] = compiled || norms == "fused_rmsnorm" || norms == "compiled_rmsnorm";
}

// Objects of a configuration in Python that are made by a call, and hold no number that counts.
void mark_objects(Import& in) {
    in.mark_all({"tokenizer", "optimizer", "lr_scheduler", "checkpoint", "metrics", "dataloader", "profiler", "profiling", "validator*",
                 "loss*", "hf_assets_path", "dump_folder", "compile", "comm", "debug"},
                Fate::no_number);
}

}  // namespace

int torchtitan_likeness(const std::vector<Entry>& entries) {
    return count_like(entries, {"job.config_file", "parallelism.*_degree", "training.local_batch_size", "training.seq_len",
                                "training.max_context_length", "model.flavor", "training.num_tokens_per*", "activation_checkpoint.*"});
}

constexpr std::string_view kQuietOfTorchtitan[] = {"job.*",
                                                   "profiling.*",
                                                   "metrics.*",
                                                   "optimizer.*",
                                                   "lr_scheduler.*",
                                                   "checkpoint.*",
                                                   "comm.*",
                                                   "compile.*",
                                                   "experimental.*",
                                                   "validation.*",
                                                   "debug.*",
                                                   "fault_tolerance.*",
                                                   "profiler.*",
                                                   "training.dataset*",
                                                   "training.steps",
                                                   "training.max_norm",
                                                   "training.seed",
                                                   "training.deterministic",
                                                   "training.compile",
                                                   "training.gc*",
                                                   "training.warmup*",
                                                   "training.dtype",
                                                   "model.*path",
                                                   "model.norm_type",
                                                   "model.print*",
                                                   "model.hf*",
                                                   "model.tokenizer*",
                                                   "memory_estimation.*",
                                                   "activation_checkpoint.*",
                                                   "parallelism.context_parallel_rotate*",
                                                   "dataloader.*",
                                                   "tokenizer.*"};

void read_torchtitan(Import& in) {
    in.mark_all(kQuietOfTorchtitan, Fate::no_number);
    if (in.on("fault_tolerance.enable", "")) in.mark("fault_tolerance.group_size", Fate::unknown);  // further copies, started apart
    mark_objects(in);
    for (const auto& [key, field] : kTorchtitanKeys)
        if (const auto value = in.whole(key, field); value && *value > 0 && *value <= 16'777'216) in.job[field] = *value;
    const bool elsewhere = is_torchtitan_elsewhere(in);
    for (const char* field : {"tensor_parallel", "context_parallel", "pipeline_parallel", "expert_parallel"})
        if (!in.job.contains(field) && !in.hangs(field) && !elsewhere) in.job[field] = 1;
    if (in.has("job.config_file"))
        note_file(in, "job.config_file");
    else if (elsewhere)
        in.notes.emplace_back("import_plan.note.recipe");
    read_model_name(in);
    read_zero(in);
    read_actor(in);
    read_gpus(in);
    if (!elsewhere) check_experts(in);
    read_torchtitan_batch(in);
    read_torchtitan_schedule(in);
    read_recompute(in);
    read_precision(in);
    read_compiled(in);
    for (const char* key : {"parallelism.disable_loss_parallel", "training.disable_loss_parallel"})
        if (in.on(key, "loss")) in.job["loss"] = "gathered";
    if (in.has("parallelism.enable_sequence_parallel"))
        in.job["sequence_parallel"] = in.on("parallelism.enable_sequence_parallel", "sequence_parallel");
    else if (!elsewhere && in.job.value("tensor_parallel", std::int64_t{1}) > 1)
        in.job["sequence_parallel"] = true;  // tensor parallelism has it (models/llama3/infra/parallelize.py)
    for (const char* key :
         {"parallelism.enable_async_tensor_parallel", "experimental.enable_async_tensor_parallel", "compile.enable_async_tensor_parallel"})
        if (in.has(key)) in.job["tensor_overlap"] = in.on(key, "tensor_overlap");
    if (in.on("training.enable_cpu_offload", "optimizer_offload")) {
        in.job["optimizer_offload"] = 1.0;
        in.job["weights_offload"] = true;
    }
    read_trainer_optimizer(in, "optimizer.name");
    // Before there was an implementation to choose, what was not fused went over lists (components/optimizer.py).
    const bool not_fused = in.has("optimizer.fused") && !in.on("optimizer.fused", "optimizer_foreach");
    if (in.text("optimizer.implementation", "optimizer_foreach") == "foreach" || not_fused) in.job["optimizer_foreach"] = true;
    if (in.on("optimizer.early_step_in_backward", "optimizer_in_backward")) in.job["optimizer_in_backward"] = true;
    if (const auto state = in.text("optimizer.state_dtype", "moments"))
        in.job["moments"] = *state == "bfloat16" ? "16-bit" : "fp32";  // a fork's
    if (elsewhere) in.keep_said({"gpus", "gpus_per_node", "model", "micro_batch", "global_batch", "sequence_length", "virtual_stages"});
    const bool scheduled = says_any(in, {"parallelism.pipeline_parallel_schedule", "parallelism.pipeline_parallel_layers_per_stage",
                                         "parallelism.module_fqns_per_model_part*", "experimental.pipeline_parallel_s*"});
    if (elsewhere && !scheduled) in.job.erase("virtual_stages");
    in.job["framework"] = "pytorch";
    in.drop_open();
    for (const char* field : {"sequence_length", "micro_batch"}) in.ask(field);
    if (in.job.contains("gpus")) in.ask("global_batch");  // which follows from the GPUs
    ask_model(in);
    if (in.on("lora.enable", "") || in.has("lora.rank")) in.refused.push_back(Text("import_plan.refused.mode").with("mode", "LoRA"));
    in.settle();
}

}  // namespace fourfold
