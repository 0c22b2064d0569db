// torchtitan's TOML, as it was up to 9810191bb (2026-02-23): torchtitan/config/job_config.py. Data parallelism is FSDP or DDP; what starts
// it says how many GPUs there are, and the product of the degrees is that.
#include <algorithm>

#include "formats/keys.h"
#include "formats/write/writing.h"
#include "plan/stage.h"

namespace fourfold {

namespace {

using To = Settings;
using Name = std::string_view;

// Its names of models in the catalogue.
struct Flavor {
    std::string_view id;
    const char *name, *flavor;
};
constexpr Flavor kFlavors[] = {
    {"llama-3-8b", "llama3", "8B"},
    {"llama-3-70b", "llama3", "70B"},
    {"llama-3.1-8b", "llama3", "8B"},
    {"llama-3.1-70b", "llama3", "70B"},
    {"llama-3.1-405b", "llama3", "405B"},
    {"qwen3-4b", "qwen3", "4B"},
    {"qwen3-8b", "qwen3", "8B"},
    {"qwen3-14b", "qwen3", "14B"},
    {"qwen3-32b", "qwen3", "32B"},
    {"qwen3-30b-a3b", "qwen3", "30B-A3B"},
    {"qwen3-235b-a22b", "qwen3", "235B-A22B"},
};

const Flavor* flavor_of(const To& to) {
    const auto* found = std::find_if(std::begin(kFlavors), std::end(kFlavors), [&](const Flavor& one) { return one.id == to.model.id; });
    return to.job.model_is_inline || found == std::end(kFlavors) ? nullptr : found;
}
void write_model(To& to) {
    const Flavor* const found = flavor_of(to);
    if (found == nullptr) return leave_model(to);
    to.put("model.name", found->name);
    to.put("model.flavor", found->flavor);
}

void write_key(To& to, Name field) { to.put(key_of(kTorchtitanKeys, field), to.value_of(field)); }

// A pipeline splits what a copy gets in a step; otherwise gradients are added up over as many rounds as the batch needs.
void write_batch(To& to, Name) {
    const Plan& p = to.plan;
    const bool stages = p.pipeline_parallel > 1;
    to.put("training.local_batch_size", stages ? p.global_batch / p.data_parallel() : p.micro_batch);
    to.put("training.global_batch_size", p.global_batch);
    if (stages) to.put("parallelism.pipeline_parallel_microbatch_size", p.micro_batch);
}

// Whole copies stand alone: beside any other split they are refused ("DDP has not supported > 1D parallelism", parallelize_llama), and
// sharding is what takes no more memory. It is among the copies of a sequence's parts, too, which the degrees do not count.
void write_sharding(To& to, Name field) {
    const Plan& p = to.plan;
    const std::int64_t copies = p.data_parallel();
    // groups of experts are made of what shares a copy out (ParallelDims)
    const std::int64_t experts = p.expert_parallel * p.expert_tensor_parallel, shares = copies / p.shard_replicas;
    const bool alone = p.model_parallel() == 1 && experts == 1, shared = shares * p.context_parallel > 1;
    const bool whole = p.zero == Zero::none && alone;
    const bool fits = copies % p.shard_replicas == 0 && (shared || alone) && shares * p.tensor_parallel * p.context_parallel % experts == 0;
    const std::int64_t replicas = whole ? copies : p.zero != Zero::none && fits ? p.shard_replicas : 1;
    to.put("parallelism.data_parallel_replicate_degree", replicas);
    to.put("parallelism.data_parallel_shard_degree", copies / replicas);
    if (whole) return;
    to.put("parallelism.fsdp_reshard_after_forward", p.zero == Zero::weights ? "always" : "never");
    // of a single copy nothing is shared out (fsdp_enabled), but for groups of experts (ep_enabled)
    const bool single = copies / replicas * p.context_parallel == 1 && p.expert_parallel == 1;
    if (single ? p.zero != Zero::none : p.zero == Zero::optimizer || (p.zero == Zero::none && has_copies(to.model, p)))
        to.leave_field(field);
    if (p.zero != Zero::none && !fits) to.leave_field("shard_replicas");
}

// torch/distributed/pipelining/schedules.py, get_schedule_class; "": it has none.
const char* schedule_name(const Plan& p) {
    const bool chunks = p.virtual_stages > 1;
    switch (p.schedule) {
        case ScheduleKind::one_f_one_b:
            return chunks ? "Interleaved1F1B" : "1F1B";
        case ScheduleKind::gpipe:
            return chunks ? "" : "GPipe";
        case ScheduleKind::zero_bubble_v:
            return "ZBVZeroBubble";
        case ScheduleKind::dualpipe_v:
            return "DualPipeV";
        default:
            return "";
    }
}

// The modules of each part of the model, in its order.
Json parts_of(const Model& model, const Plan& p) {
    const Stages stages(model, p);
    std::vector<std::int64_t> layers(static_cast<std::size_t>(stages.pieces()));
    for (std::int32_t stage = 0; stage < p.pipeline_parallel; ++stage)
        for (std::int32_t chunk = 0; chunk < p.virtual_stages; ++chunk)
            layers[static_cast<std::size_t>(stages.position(stage, chunk))] = stages.layers_of(stage, chunk);
    Json parts = Json::array();
    std::int64_t layer = 0;
    for (const std::int64_t held : layers) {
        Json part = Json::array();
        if (parts.empty()) part.push_back("tok_embeddings");
        for (const std::int64_t end = layer + held; layer < end; ++layer) part.push_back("layers." + std::to_string(layer));
        parts.push_back(std::move(part));
    }
    for (const char* last : {"norm", "output"}) parts.back().push_back(last);
    return parts;
}

// A layer less on the first and on the last stage each is what it takes by itself. Uneven parts are listed (pipeline_parallel.py,
// pipeline_module_split), and so are those of a model that it has no name for.
void write_stages(To& to, Name) {
    const Plan& p = to.plan;
    if (p.pipeline_parallel == 1) return;
    std::string name = schedule_name(p);
    if (name.empty()) {
        to.leave_field("schedule");
        name = p.virtual_stages > 1 ? "Interleaved1F1B" : "1F1B";
    }
    to.put("parallelism.pipeline_parallel_schedule", name);
    const auto layers = p.layout || p.split != Split::equal ? std::nullopt : layers_per_chunk(to.model, p);
    const bool even = layers && layers->first == layers->middle && layers->last == layers->middle;
    const bool lists = to.model.multi_token_layers == 0 && (!even || flavor_of(to) == nullptr);
    if (to.model.tied) to.leave_out("export.left_out.tied_stages");  // Decoder.Config: it raises NotImplementedError
    if (p.virtual_stages > 1 && !even && !lists) to.leave_field("virtual_stages");
    if (lists) return to.put("parallelism.module_fqns_per_model_part", parts_of(to.model, p));
    for (const char* field : {"layout", "first_stage_layers", "last_stage_layers"}) to.leave_changed(field);
    if (!even) return;
    to.put("parallelism.pipeline_parallel_layers_per_stage", layers->middle);
    to.put("parallelism.pipeline_parallel_first_stage_less_layers", p.count_embedding_as_layer ? 1 : 0);
    to.put("parallelism.pipeline_parallel_last_stage_less_layers", p.count_loss_as_layer ? 1 : 0);
}

// "k": every k-th of the layers that a GPU holds, counted through its chunks. The k with which as many of each chunk are recomputed as the
// plan says; 0: there is none.
std::int64_t every_layer_of(const Model& model, const Plan& p) {
    if (p.layout || p.split != Split::equal || has_uneven_ends(p)) return 0;
    const auto layers = layers_per_chunk(model, p);
    if (!layers) return 0;
    const auto exact = [&](std::int64_t k) {
        for (std::int64_t chunk = 0; chunk < p.virtual_stages; ++chunk)
            if ((chunk + 1) * layers->middle / k - chunk * layers->middle / k != p.recompute_layers) return false;
        return true;
    };
    for (std::int64_t k = 2; k <= layers->middle; ++k)
        if (exact(k)) return k;
    return 0;
}

// What it cannot say needs no more memory as "full"; where attention alone is recomputed, single operations keep less.
void write_recompute(To& to, Name field) {
    const Plan& p = to.plan;
    const std::int64_t k = p.recompute == Recompute::block ? every_layer_of(to.model, p) : 0;
    const bool attention = p.recompute == Recompute::selective && p.recompute_modules == core_attn;
    const bool selects = p.recompute == Recompute::operations || attention || k > 0;
    to.put("activation_checkpoint.mode", p.recompute == Recompute::none ? "none" : selects ? "selective" : "full");
    if (selects) to.put("activation_checkpoint.selective_ac_option", k > 0 ? std::to_string(k) : "op");
    if ((selects && !attention) || p.recompute == Recompute::none) return;
    if (p.recompute != Recompute::full) to.leave_field(field);
    if (p.recompute != Recompute::selective) to.leave_changed("recompute_layers");
}

void write_precision(To& to, Name field) {
    const Precision precision = to.plan.precision;
    to.put("training.mixed_precision_param", "bfloat16");
    to.put("training.mixed_precision_reduce", "float32");  // the only one that its type has: Literal["float32"]
    if (!to.plan.gradients_in_fp32) to.leave_field("gradients_in_fp32");
    if (precision == Precision::fp16 || precision == Precision::fp8_weights) to.leave_field(field);
    if (precision != Precision::fp8 && precision != Precision::fp8_weights) return;
    to.put("model.converters", Json::array({"quantize.linear.float8"}));
    to.leave_out("export.left_out.fp8_recipe");
}

// The weights and the optimizer together or neither of them (CPUOffloadPolicy).
void write_offload(To& to, Name field) {
    const bool all = to.plan.optimizer_offload == 1 && to.plan.weights_on_host();
    if (all) return to.put("training.enable_cpu_offload", true);
    to.leave_changed(field);
    to.leave_changed("weights_offload");
}

// Logits of a tensor-parallel head stay divided unless this is off.
void write_loss(To& to, Name field) {
    if (to.plan.loss == Loss::gathered && to.plan.tensor_parallel > 1)
        to.put("parallelism.disable_loss_parallel", true);
    else if (to.plan.loss != Loss::automatic)
        to.leave_field(field);
}

// Compiled layers alone overlap.
void write_tensor_overlap(To& to, Name) {
    if (!to.plan.tensor_overlap || to.plan.tensor_parallel == 1) return;
    to.put("parallelism.enable_async_tensor_parallel", true);
    to.put("compile.enable", true);
}

// The layers' parts between tensor-parallel ones are always split.
void write_sequence(To& to, Name field) {
    if (to.plan.tensor_parallel > 1) to.leave_changed(field);
}
void write_experts(To& to, Name field) {
    if (to.model.experts.count > 0) write_key(to, field);
}
// Experts are split as the other parts of a layer, or not at all (ParallelDims._validate).
void write_split_experts(To& to, Name field) {
    if (to.model.experts.count == 0) return;
    const std::int64_t degree = to.plan.expert_tensor_parallel;
    if (degree == 1 || degree == to.plan.tensor_parallel) return write_key(to, field);
    to.put(key_of(kTorchtitanKeys, field), to.plan.tensor_parallel);
    to.leave_field(field);
}

constexpr SettingRow kRows[] = {
    {"gpus", nullptr},
    {"gpus_per_node", nullptr},  // what starts it says it
    {"sequence_length", write_key},
    {"micro_batch", write_batch},
    {"global_batch", nullptr},
    {"zero", write_sharding},
    {"shard_replicas", nullptr},
    {"tensor_parallel", write_key},
    {"sequence_parallel", write_sequence},
    {"context_parallel", write_key},
    {"pipeline_parallel", write_key},
    {"virtual_stages", write_stages},
    {"schedule", nullptr},
    {"layout", nullptr},
    {"first_stage_layers", nullptr},
    {"last_stage_layers", nullptr},
    {"count_embedding_as_layer", nullptr},
    {"count_loss_as_layer", nullptr},
    {"expert_parallel", write_experts},
    {"expert_tensor_parallel", write_split_experts},
    {"tensor_overlap", write_tensor_overlap},
    {"recompute", write_recompute},
    {"recompute_layers", nullptr},
    {"precision", write_precision},
    {"gradients_in_fp32", nullptr},
    {"optimizer_foreach",
     [](To& to, Name) {
         if (to.plan.optimizer_foreach) to.put("optimizer.implementation", "foreach");
     }},
    {"optimizer_offload", write_offload},
    {"weights_offload", nullptr},
    {"loss", write_loss},
    {"framework", [](To& to, Name) { leave_framework(to, FrameworkKind::pytorch); }},
};

}  // namespace

Export torchtitan_toml(const Job& job) {
    Settings to(job);
    write_model(to);
    write_rows(to, kRows);
    Export made = made_of(to, toml_text(to.list));
    made.needs = "export.needs.torchtitan";  // pull request 2386
    return made;
}

}  // namespace fourfold
