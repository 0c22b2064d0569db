#include "answer/notes.h"

#include <array>

#include "plan/framework.h"
#include "plan/schedule.h"

namespace fourfold {

static Json note(const char* id, std::string_view text) { return Object().add("id", id).add("text", text); }

static std::string label_of(std::span<const Choice> choices, std::size_t index) { return std::string(choices[index].id); }

static constexpr std::string_view kAttentionKernels[] = {"Flash attention (flash-attn).", "cuDNN's fused attention.",
                                                         "Plain attention: scores are written to memory.",
                                                         "The framework's own attention layers: scores are written to memory."};
static constexpr std::string_view kLossKernels[] = {
    "Plain loss: 6 bytes per logit at the worst moment.", "Loss fused by PyTorch: 10 bytes per logit at the worst moment.",
    "Loss fused by Transformer Engine: 2 bytes per logit.", "Loss over the whole vocabulary on every GPU: 14 bytes per logit."};

static std::string optimizer_text(const Plan& p) {
    std::string text = "Adam";
    if (p.moments != Moments::fp32) text += " with averages in " + label_of(kMomentsChoices, static_cast<std::size_t>(p.moments));
    if (p.zero == Zero::none) return text + ", its whole state on every GPU.";
    text += "; data-parallel GPUs share out its state";
    if (p.zero == Zero::gradients) text += " and the gradients (ZeRO-2)";
    if (p.zero == Zero::weights) text += ", the gradients and the weights (ZeRO-3, FSDP)";
    if (p.zero == Zero::optimizer) text += " (distributed optimizer, ZeRO-1)";
    return text + ".";
}

static std::string labels_of(std::uint32_t modules) {
    std::string text;
    for (std::size_t i = 0; i < kModuleChoices.size(); ++i)
        if ((modules >> i & 1U) != 0) text += (text.empty() ? "" : ", ") + std::string(kModuleChoices[i].id);
    return text.empty() ? "nothing, as no part is chosen" : text;
}

static std::string recompute_text(const Plan& p) {
    switch (p.recompute) {
        case Recompute::selective:
            return "Recomputed in the backward pass: " + labels_of(p.recompute_modules) + ".";
        case Recompute::full:
            return "Every layer is recomputed; one input kept per " +
                   (p.recompute_layers == 1 ? std::string("layer.") : grouped(p.recompute_layers) + " layers.");
        case Recompute::block:
            return "The first " + grouped(p.recompute_layers) + " layers of every chunk are recomputed.";
        case Recompute::none:
            break;
    }
    return "Nothing is recomputed.";
}

static std::string calibration_text(const Plan& p) {
    std::string text = "Calibration:";
    if (p.site == SiteKind::own)
        text += " the network reaches " + Json(p.site_network).dump() + " of its rate in collectives and " + Json(p.site_pipeline).dump() +
                " between stages, a step has " + Json(p.site_fixed).dump() + " s of fixed time and stalls of " +
                Json(p.site_stall * 1'000).dump() + " ms per micro-batch and group of GPUs";
    if (p.time_factor != 1)
        text += std::string(p.site == SiteKind::own ? ", and" : "") + " every time is multiplied by " + Json(p.time_factor).dump();
    return text + ".";
}

Json used_notes(const Job& job) {
    const Plan& p = job.plan;
    Json list = Json::array();
    list.push_back(note("optimizer", optimizer_text(p)));
    list.push_back(
        note("gradients", p.gradients_in_fp32 ? "Gradients added up in fp32 (4 bytes)." : "Gradients kept in 16 bits (2 bytes)."));
    if (p.pipeline_parallel > 1) {
        const ScheduleRow& schedule = row_of(p.schedule_kind());
        list.push_back(note("schedule", std::string(schedule.id)));
    }
    if (job.method == Method::detailed) list.push_back(note("recompute", recompute_text(p)));
    if (p.is_calibrated()) list.push_back(note("calibration", calibration_text(p)));
    return list;
}

Json assumed_notes(const Job& job) {
    const Plan& p = job.plan;
    Json list = Json::array();
    const auto add = [&](const char* id, std::string_view text, const char* field) {
        list.push_back(Object().add("id", id).add("text", text).add("field", field));
    };
    const bool detailed = job.method == Method::detailed;
    add("precision",
        detailed ? "Weights and activations in " + label_of(kPrecisionChoices, static_cast<std::size_t>(p.precision)) + "."
                 : "Weights and activations in bf16 (2 bytes).",
        detailed ? "precision" : "");
    add("card", "The card's size is its nominal one in units of 2³⁰ bytes, as the paper counts it; a little less is free in practice.", "");
    if (p.tensor_parallel > 1 && (p.sequence_parallel || !detailed))
        add("sequence_parallel", "Sequence parallelism is on: everything that tensor parallelism leaves whole is split too.",
            detailed ? "sequence_parallel" : "tensor_parallel");
    const std::int64_t padded = padded_vocabulary(job.model, p.tensor_parallel);
    if (padded != job.model.vocabulary)
        add("vocabulary",
            "The vocabulary is padded from " + grouped(job.model.vocabulary) + " to " + grouped(padded) +
                " (a multiple of 128 × TP), as Megatron does.",
            "tensor_parallel");
    if (!detailed) {
        add("attention", p.keeps_scores() ? "Attention scores are kept." : "Attention scores are not kept.", "attention");
        add("recompute", "No full recomputation of activations.", "");
        return list;
    }
    const Framework f = framework_of(p, *job.gpu);
    add("framework", label_of(kFrameworkChoices, static_cast<std::size_t>(p.framework)) + ": its workspaces, buffers and kernels.",
        "framework");
    if ((job.exploration.left_out & without_zero_bubble) == 0 && !has_zero_bubble(p.framework))
        add("schedules", "This framework has no zero-bubble schedule, so the search tries none.", "framework");
    add("attention", kAttentionKernels[static_cast<std::size_t>(f.attention)], "attention");
    add("loss", kLossKernels[static_cast<std::size_t>(f.loss)], "loss");
    if (job.model.experts.count > 0)
        add("routing",
            p.expert_imbalance == 1 ? "Tokens spread evenly over the experts; real ones may not."
                                    : "The fullest GPU's experts get more tokens than the average, as set.",
            "expert_imbalance");
    return list;
}

// The settings that the paper's formula does not know.
static void settings_left_out(const Plan& p, Json& list) {
    if (p.zero == Zero::gradients || p.zero == Zero::weights) list.push_back(note("zero", "ZeRO-2 and ZeRO-3: the paper knows ZeRO-1."));
    if (p.shard_replicas > 1) list.push_back(note("hsdp", "Copies of the shards (HSDP)."));
    if (p.recompute == Recompute::full || p.recompute == Recompute::block) list.push_back(note("recompute", "Recomputation of layers."));
    if (p.precision != Precision::bf16 && p.precision != Precision::fp16) list.push_back(note("precision", "fp8."));
    if (p.moments != Moments::fp32 || p.optimizer_offload > 0) list.push_back(note("moments", "Smaller or offloaded optimizer states."));
    if (!p.sequence_parallel && p.tensor_parallel > 1) list.push_back(note("sequence", "Training without sequence parallelism."));
    if (p.schedule != ScheduleKind::one_f_one_b && p.pipeline_parallel > 1) list.push_back(note("schedule", "Schedules other than 1F1B."));
    if (p.first_stage_layers > 0 || p.last_stage_layers > 0 || p.count_embedding_as_layer || p.count_loss_as_layer)
        list.push_back(note("layers", "Uneven first or last stages."));
}

Json not_counted_notes(const Job& job) {
    Json list = Json::array();
    const Model& m = job.model;
    if (job.method == Method::detailed) {
        list.push_back(note("data", "The batch itself, checkpoints being written, and whatever else runs on the card."));
        return list;
    }
    if (job.plan.pipeline_parallel > 1)
        list.push_back(note("last_stage", "The last pipeline stage: its logits and loss can make it, not the first stage, the fullest."));
    list.push_back(
        note("outside", "CUDA context, NCCL buffers, library workspaces, fragmentation: the room between the 80 % line and the card."));
    if (m.experts.count > 0) list.push_back(note("experts", "Experts: the layers are counted as if they were dense."));
    if (m.latent.kv_rank > 0) list.push_back(note("latent", "Latent attention: counted as ordinary attention."));
    if (m.qkv_bias || m.attention_out_bias || m.mlp_bias)
        list.push_back(note("biases", "The model's biases (well below 0.1 % of its weights)."));
    if (m.learned_positions) list.push_back(note("positions", "The model's learned positions."));
    if (m.qk_norm || m.norms_per_layer != 2 || m.layer_norm)
        list.push_back(note("norms", "Norms beyond the two RMSNorms per layer of the Llama structure that the formulas describe."));
    settings_left_out(job.plan, list);
    return list;
}

}  // namespace fourfold
