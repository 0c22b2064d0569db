// The arguments of a plan, and their rules: Megatron-LM d98e8a64dd, megatron/training/arguments.py.
#include <algorithm>

#include "base/text.h"
#include "formats/megatron/arguments.h"
#include "plan/framework.h"

namespace fourfold {

using To = MegatronArguments;
using Name = std::string_view;  // of the row's field

// The list of 0.13 takes no layer that predicts further tokens (CHANGELOG.md).
static bool takes_layout(const To& to) {
    return to.knows("--pipeline-model-parallel-layout") && (to.model.multi_token_layers == 0 || to.is_from(14));
}
static void write_layout(To& to, Name field) {
    const LayoutPointer layout = listed_layout(to.model, to.plan);
    if (layout && !takes_layout(to) && to.knows("--pipeline-model-parallel-layout"))
        to.leave_field(field);
    else if (layout)
        to.flag("--pipeline-model-parallel-layout", joined({"'", layout_text(*layout), "'"}));
}

// A list has its own ends. Of two stages one end gives the other, and before 0.14 the layers between them are divided by the stages between
// them (transformer_config.py).
static void write_ends(To& to, Name) {
    const Plan& p = to.plan;
    if (listed_layout(to.model, to.plan)) return;
    to.number("--decoder-first-pipeline-num-layers", p.first_stage_layers, 0);
    if (p.pipeline_parallel == 2 && p.first_stage_layers > 0 && p.last_stage_layers > 0 && !to.is_from(14))
        to.leave_field("last_stage_layers");
    else
        to.number("--decoder-last-pipeline-num-layers", p.last_stage_layers, 0);
    to.when(p.count_embedding_as_layer, "--account-for-embedding-in-pipeline-split");
    to.when(p.count_loss_as_layer, "--account-for-loss-in-pipeline-split");
}

// A listed layout says how many chunks there are. Before there was a number of chunks, there was one of the layers of each, for equal ones.
static void write_chunks(To& to, Name field) {
    const Plan& p = to.plan;
    const bool whole = to.job.exported.whole && p.pipeline_parallel > 1;  // one chunk, then
    if (p.virtual_stages == 1 && (!whole || listed_layout(to.model, to.plan))) return;
    if (listed_layout(to.model, to.plan)) {
        if (!takes_layout(to)) to.leave_field(field);
    } else if (to.knows("--num-virtual-stages-per-pipeline-rank") || has_uneven_ends(p)) {
        to.number("--num-virtual-stages-per-pipeline-rank", p.virtual_stages);
    } else {
        to.number("--num-layers-per-virtual-pipeline-stage", to.model.layers / p.chunks());
    }
}

static void write_group(To& to, Name) {
    const Plan& p = to.plan;
    if (p.virtual_stages > 1 && p.group_of_micro_batches() != p.pipeline_parallel)
        to.number("--microbatch-group-size-per-virtual-pipeline-stage", p.group_of_micro_batches());
}

// Megatron-LM overlaps it where chunks are interleaved, and there alone; with two stages it must.
static void write_pipeline_overlap(To& to, Name field) {
    const Plan& p = to.plan;
    if (p.virtual_stages == 1 ? p.overlaps_sends() : !p.overlaps_sends() && p.pipeline_parallel <= 2)
        to.leave_field(field);
    else
        to.when(p.virtual_stages > 1 && !p.overlaps_sends(), "--no-overlap-p2p-communication");
}

static void write_recompute(To& to, Name field) {
    const Plan& p = to.plan;
    switch (p.recompute) {
        case Recompute::none:
            return;
        case Recompute::selective: {
            // shared experts from 0.15 on (transformer_config.py)
            const bool lacks = to.knows("--recompute-modules") && !to.is_from(15);
            const std::uint32_t takes = known_modules(to.job), known = takes & ~(lacks ? std::uint32_t{shared_experts} : 0U);
            if (known != takes || drops_modules(to.job)) to.leave_field(known == 0 ? field : "recompute_modules");
            std::string modules = set_text(known, kModuleChoices);
            std::replace(modules.begin(), modules.end(), ',', ' ');
            if (modules.empty()) return;
            to.flag("--recompute-granularity", "selective");
            if (known != core_attn) to.flag("--recompute-modules", modules);
            return;
        }
        case Recompute::full:
        case Recompute::block:
            to.flag("--recompute-granularity", "full");
            to.flag("--recompute-method", p.recompute == Recompute::full ? "uniform" : "block");
            return to.number("--recompute-num-layers", p.recompute_layers);
        case Recompute::operations:  // it cannot: all of every layer needs no more memory
            to.flag("--recompute-granularity", "full");
            to.flag("--recompute-method", "uniform");
            to.number("--recompute-num-layers", 1);
            to.leave_field(field);
    }
}

// Experts on several GPUs and their grouped product exclude fp16 (arguments.py); bf16 needs no more memory.
static bool is_half(const To& to) {
    return to.plan.precision == Precision::fp16 && !groups_experts(to.job) && (to.model.experts.count == 0 || to.plan.expert_parallel == 1);
}

// Which numbers of fp8, and how they are scaled, the plan leaves open.
static void write_precision(To& to, Name field) {
    const Precision precision = to.plan.precision;
    to.flag(is_half(to) ? "--fp16" : "--bf16");
    if (precision == Precision::fp16 && !is_half(to)) to.leave_field(field);
    if (!is_fp8(precision)) return;
    to.flag("--fp8-format", "hybrid");
    // The recipe by default, "delayed", excludes that a norm or the experts' activation is computed again (transformer_config.py); beside
    // weights in fp8 it is the only one of an optimizer in host memory (arguments.py).
    const bool again = recomputes_unscaled(to.job) && to.knows("--fp8-recipe"), weights = precision == Precision::fp8_weights;
    const bool can = megatron_has_fp8_weights(to) && !(again && megatron_offloads(to));
    to.when(can, "--fp8-param-gather");
    if (weights && !can) to.leave_field(field);
    if (again)
        to.flag("--fp8-recipe", "tensorwise");
    else
        to.leave_out("export.left_out.fp8_recipe");
}

// In bf16 they are fp32 unless that is refused, in fp16 the other way round.
static void write_gradients(To& to, Name) {
    if (is_half(to))
        to.when(to.plan.gradients_in_fp32, "--accumulate-allreduce-grads-in-fp32");
    else
        to.when(!to.plan.gradients_in_fp32, "--grad-reduce-in-bf16");
}

// The formats and the part in host memory need the same optimizer.
static void write_optimizer(To& to, Name field) {
    const Plan& p = to.plan;
    const bool offloads = megatron_offloads(to) && to.knows("--optimizer-cpu-offload"), small = megatron_has_small_moments(to);
    to.when(small || offloads, "--use-precision-aware-optimizer");
    if (!small) to.leave_changed(field);
    if (!to.knows("--use-precision-aware-optimizer")) return;
    if (small)
        for (const char* name : {"--exp-avg-dtype", "--exp-avg-sq-dtype"})  // bf16 came with 0.13 (CHANGELOG.md)
            to.flag(name, p.moments == Moments::bits8 ? "fp8" : to.is_from(13) ? "bf16" : "fp16");
}

static void write_offload(To& to, Name field) {
    const double part = to.plan.optimizer_offload;
    if (!megatron_offloads(to)) return to.leave_changed(field);
    to.flag("--optimizer-cpu-offload");
    if (part < 1 && to.knows("--optimizer-cpu-offload")) to.flag("--optimizer-offload-fraction", Json(part).dump());
}

// Which part of the update the GPU takes over nothing says, nor drives.
static void write_offload_overlap(To& to, Name field) {
    if (!megatron_offloads(to) || to.plan.optimizer_offload_overlap == OffloadOverlap::none) return;
    to.flag("--overlap-cpu-optimizer-d2h-h2d");
    if (to.plan.optimizer_offload_overlap == OffloadOverlap::interleaved) to.leave_field(field);
}
static void write_offload_target(To& to, Name field) {
    if (megatron_offloads(to) && to.plan.optimizer_offload_target != OffloadTarget::host) to.leave_field(field);
}

// Without experts neither has an effect. Where nothing is said, experts are split as the rest of a layer.
static void write_expert_degrees(To& to, Name) {
    if (to.model.experts.count == 0) return;
    to.degree("--expert-model-parallel-size", to.plan.expert_parallel);
    to.degree("--expert-tensor-parallel-size", to.plan.expert_tensor_parallel, to.plan.tensor_parallel);
}

static bool sends_to_experts(const To& to) { return to.model.experts.count > 0 && to.plan.expert_parallel > 1; }
static void write_dispatch(To& to, Name) {
    if (!sends_to_experts(to)) return;
    const bool kernels = framework_of(to.job.model, to.plan, *to.job.gpu).sends_once;
    to.flag("--moe-token-dispatcher-type", kernels && to.knows("--moe-enable-deepep") ? "flex" : "alltoall");
    to.when(kernels, "--moe-enable-deepep");
}
static void write_expert_overlap(To& to, Name field) {
    if (!to.plan.expert_overlap || !sends_to_experts(to)) return;
    if (to.model.multi_token_layers > 1)  // transformer_config.py asserts it
        to.leave_field(field);
    else
        to.flag("--overlap-moe-expert-parallel-comm");
}

// Layers that are computed again as a whole are not recorded; a whole step may be, from 0.16 on. Nor is a router that is computed again
// with its experts. How many tokens each expert gets the CPU must know, unless some are dropped: a step with experts is not recorded.
// (arguments.py, validate_args; transformer_config.py, __post_init__)
static bool may_record(const To& to) {
    const Plan& p = to.plan;
    const bool step = p.cuda_graphs == CudaGraphs::step;
    if (step && to.model.experts.count > 0) return false;
    if (p.recompute == Recompute::selective)
        return step || to.model.experts.count == 0 || (p.recompute_modules & moe) == 0 || !to.knows("--recompute-modules");
    return p.recompute == Recompute::none || (step && to.is_from(16));
}

// Before 0.15 those of Transformer Engine alone; before 0.16 of a whole layer or of its attention (pull request 1920), and a layer of
// experts is not recorded as a whole.
static void write_graphs(To& to, Name field) {
    const CudaGraphs graphs = to.plan.cuda_graphs;
    if (graphs == CudaGraphs::none) return;
    if (!may_record(to)) return to.leave_field(field);
    const bool step = graphs == CudaGraphs::step, experts = to.model.experts.count > 0;
    if (to.knows("--cuda-graph-impl"))
        to.flag("--cuda-graph-impl", step ? "local" : "transformer_engine");
    else if (step)
        return to.leave_field(field);
    else
        to.flag("--external-cuda-graph");
    to.when(step, "--no-check-for-nan-in-loss-and-grad");  // arguments.py asserts it
    if (step)
        to.flag("--cuda-graph-scope", "full_iteration");
    else if (to.is_from(16))
        to.flag("--cuda-graph-scope", experts ? "attn moe_router moe_preprocess" : "attn mlp");
    else if (experts && to.knows("--external-cuda-graph"))
        to.flag("--cuda-graph-scope", "attn");
}

static void write_kernel(To& to, Name) {
    if (to.plan.attention == Attention::flash && !to.knows("--attention-backend")) return to.flag("--use-flash-attn");
    switch (to.plan.attention) {
        case Attention::automatic:
            return;
        case Attention::flash:
            return to.flag("--attention-backend", "flash");
        case Attention::cudnn:
            return to.flag("--attention-backend", "fused");
        case Attention::plain:  // a backend called "local" needs a layer's own specification (arguments.py, validate_args)
            if (framework_of(to.job.model, to.plan, *to.job.gpu).transformer_engine)
                to.flag("--attention-backend", "unfused");
            else
                to.flag("--transformer-impl", "local");
    }
}
// Megatron's own layers have plain attention.
static void leave_layers(To& to, Name field) {
    if (to.plan.attention != Attention::plain || framework_of(to.job.model, to.plan, *to.job.gpu).transformer_engine)
        to.leave_changed(field);
}

static void write_loss(To& to, Name field) {
    switch (to.plan.loss) {
        case Loss::automatic:
        case Loss::plain:
            return;
        case Loss::gathered:
        case Loss::chunked:
        case Loss::tiled:
        case Loss::parallel:
            return to.leave_field(field);
        case Loss::native_fused:
        case Loss::te_fused:
            if (!to.knows("--cross-entropy-fusion-impl") && to.plan.loss == Loss::te_fused) return to.leave_field(field);
            to.flag("--cross-entropy-loss-fusion");
            // before there was a choice it was this one
            if (to.knows("--cross-entropy-fusion-impl") || to.plan.loss == Loss::te_fused)
                to.flag("--cross-entropy-fusion-impl", to.plan.loss == Loss::te_fused ? "te" : "native");
    }
}

static void write_grouped(To& to, Name) { to.when(groups_experts(to.job), "--moe-grouped-gemm"); }

// Heads of keys and values are copied since 0.16 (pull request 2565).
static void write_tensor(To& to, Name) {
    to.degree("--tensor-model-parallel-size", to.plan.tensor_parallel);
    if (!to.is_from(16)) leave_kv_heads(to);
}

static bool splits_sequences(const To& to) {
    return (to.plan.sequence_parallel && to.plan.tensor_parallel > 1) || experts_split_sequences(to.model, to.plan);
}
static void write_sequence(To& to, Name field) {
    to.when(splits_sequences(to), "--sequence-parallel");
    if (splits_sequences(to) && !to.plan.sequence_parallel) to.leave_field(field);
}

static void write_tensor_overlap(To& to, Name field) {
    if (!to.plan.tensor_overlap || to.plan.tensor_parallel == 1) return;
    if (splits_sequences(to))
        to.flag("--tp-comm-overlap");
    else
        to.leave_field(field);
}

// Where nothing is said, it drops one value of ten.
static void write_dropout(To& to, Name) {
    if (!to.plan.hidden_dropout) to.flag("--hidden-dropout", "0.0");
    if (!to.plan.attention_dropout) to.flag("--attention-dropout", "0.0");
}

// No argument is known for it.
static void leave_changed(To& to, Name field) { to.leave_changed(field); }

static constexpr MegatronRow kPlanRows[] = {
    {"gpus", nullptr},  // torchrun starts them
    {"gpus_per_node", nullptr},
    {"sequence_length", [](To& to, Name) { to.number("--seq-length", to.plan.sequence_length); }},
    {"micro_batch", [](To& to, Name) { to.number("--micro-batch-size", to.plan.micro_batch); }},
    {"global_batch", [](To& to, Name) { to.number("--global-batch-size", to.plan.global_batch); }},
    {"tensor_parallel", write_tensor},
    {"sequence_parallel", write_sequence},
    {"context_parallel", [](To& to, Name) { to.degree("--context-parallel-size", to.plan.context_parallel); }},
    {"pipeline_parallel", [](To& to, Name) { to.degree("--pipeline-model-parallel-size", to.plan.pipeline_parallel); }},
    {"virtual_stages", write_chunks},
    {"virtual_stage_group", write_group},
    {"layout", write_layout},
    {"first_stage_layers", write_ends},
    {"last_stage_layers", nullptr},
    {"count_embedding_as_layer", nullptr},
    {"count_loss_as_layer", nullptr},
    {"expert_parallel", write_expert_degrees},
    {"expert_tensor_parallel", nullptr},  // with the one before
    {"expert_dispatch", write_dispatch},
    {"expert_overlap", write_expert_overlap},
    {"cuda_graphs", write_graphs},
    {"grouped_gemm", write_grouped},
    {"zero", megatron_zero},
    {"shard_replicas", megatron_replicas},
    {"recompute", write_recompute},
    {"recompute_modules", nullptr},
    {"recompute_layers", nullptr},
    {"precision", write_precision},
    {"gradients_in_fp32", write_gradients},
    {"moments", write_optimizer},
    {"optimizer_offload", write_offload},
    {"activation_offload",
     [](To& to, Name field) {
         if (to.plan.activation_offload > 0) to.leave_field(field);
     }},
    {"context_parallel_kind",
     [](To& to, Name) {
         if (to.plan.swaps_heads()) to.flag("--cp-comm-type", "a2a");
     }},
    {"feed_forward_tiles",
     [](To& to, Name field) {
         if (to.plan.feed_forward_tiles > 1) to.leave_field(field);
     }},
    {"document_length",
     [](To& to, Name field) {
         if (to.plan.document_length > 0) to.leave_field(field);
     }},
    {"token_slices",
     [](To& to, Name field) {
         if (to.plan.token_slices > 1) to.leave_field(field);
     }},
    {"optimizer_offload_target", write_offload_target},
    {"optimizer_offload_overlap", write_offload_overlap},
    {"attention", write_kernel},
    {"loss", write_loss},
    {"tensor_overlap", write_tensor_overlap},
    {"overlap_gradients", megatron_gradient_overlap},
    {"overlap_parameters", megatron_parameter_overlap},
    {"overlap_pipeline", write_pipeline_overlap},
    {"framework", leave_changed},
    {"schedule", leave_changed},
    {"expert_imbalance", leave_changed},
    {"transformer_engine", leave_layers},
    {"gradient_fusion", leave_changed},
    {"softmax_fusion", leave_changed},
    {"activation_fusion", leave_changed},
    {"large_workspaces", leave_changed},
    {"attention_mask", leave_changed},
    {"deferred_embedding_gradient", leave_changed},
    {"fully_shard", leave_changed},
    {"sync_each_micro_batch", leave_changed},
    {"gathered_inputs", leave_changed},
    {"trained",
     [](MegatronArguments& to, std::string_view) {
         if (to.plan.freezes()) to.leave_out("export.left_out.adapters");
     }},
    {"lora_rank", leave_changed},
    {"lora_targets", leave_changed},
    {"lora_dropout", leave_changed},
    {"frozen_weights", leave_changed},
    {"frozen_in_fp32", leave_changed},
    {"optimizer", megatron_optimizer},
    {"master_weights", leave_changed},
    {"offload_master_weights", leave_changed},
    {"weights_offload", leave_changed},
    {"optimizer_in_backward", leave_changed},
    {"optimizer_foreach", leave_changed},
    {"fused_norms", leave_changed},
    {"hidden_dropout", write_dropout},
    {"attention_dropout", nullptr},
};

const std::span<const MegatronRow> kMegatronPlanRows = kPlanRows;

}  // namespace fourfold
