#include "answer/notes.h"

#include <array>

#include "base/bytes.h"
#include "calibration/calibration.h"
#include "plan/adapters.h"
#include "plan/framework.h"
#include "plan/schedule.h"

namespace fourfold {

namespace {

class Notes {
 public:
    void add(const Text& text) { list.push_back(text.json()); }
    void add_if(bool so, const char* id) {
        if (so) add(id);
    }
    Json list = Json::array();
};

class Assumptions {
 public:
    void add(const Text& text, const char* field) { list.push_back(Object().add("text", text).add("field", field)); }
    Json list = Json::array();
};

}  // namespace

// The label of a choice.
static Text label(const char* family, std::span<const Choice> choices, std::size_t index) { return Text(family, choices[index].id); }

// ---- used
static Text zero_note(Zero zero) {
    constexpr const char* kIds[] = {"used.zero.none", "used.zero.optimizer", "used.zero.gradients", "used.zero.weights"};
    return kIds[static_cast<std::size_t>(zero)];
}

static Text recompute_note(const Plan& p) {
    Json modules = Json::array();
    switch (p.recompute) {
        case Recompute::selective:
            for (std::size_t i = 0; i < kModuleChoices.size(); ++i)
                if ((p.recompute_modules >> i & 1U) != 0) modules.push_back(label("choice.recompute_modules", kModuleChoices, i).json());
            if (modules.empty()) return "used.recompute.nothing_selected";
            return Text("used.recompute.selective").with("modules", std::move(modules));
        case Recompute::full:
            return Text("used.recompute.full").with("layers", p.recompute_layers);
        case Recompute::block:
            return Text("used.recompute.block").with("layers", p.recompute_layers);
        case Recompute::operations:
            return "used.recompute.operations";
        case Recompute::none:
            break;
    }
    return "used.recompute.none";
}

static Text schedule_note(const Plan& p) {
    const std::string id(row_of(p.schedule_kind()).id);
    return Text("used.schedule")
        .with("schedule", Text("choice.schedule", id))
        .with("summary", Text("choice.schedule", id + ".summary"))
        .with("chunks", p.virtual_stages);
}

// What the reader measured, and what of it no message meets.
static void measured_links(const Plan& p, Notes& notes) {
    const bool inside = p.gpus > 1 && p.gpus_per_node > 1, between = p.gpus > p.gpus_per_node;
    const auto rate = [&](double measured, bool meets, const char* id, const char* unused) {
        if (measured > 0) notes.add(meets ? Text(id).with("rate", measured * kGbyte) : Text(unused));
    };
    rate(p.measured_intra, inside, "used.measured.intra", "used.measured.no_intra");
    rate(p.measured_inter, between, "used.measured.inter", "used.measured.no_inter");
    if (p.measured_latency > 0 && between) notes.add(Text("used.measured.latency").with("seconds", p.measured_latency));
}

Json used_notes(const Job& job) {
    const Plan& p = job.plan;
    Notes notes;
    notes.add(zero_note(p.zero));
    if (p.freezes())
        notes.add(Text("used.lora")
                      .with("rank", p.lora_rank)
                      .with("format", label("choice.frozen_weights", kFrozenChoices, static_cast<std::size_t>(p.frozen_weights))));
    if (p.optimizer != Optimizer::adam)
        notes.add(
            Text("used.optimizer").with("optimizer", label("choice.optimizer", kOptimizerChoices, static_cast<std::size_t>(p.optimizer))));
    if (p.master_weights == Habit::off) notes.add("used.no_master");
    if (p.moments != Moments::fp32)
        notes.add(Text("used.moments").with("format", label("choice.moments", kMomentsChoices, static_cast<std::size_t>(p.moments))));
    notes.add(p.gradients_in_fp32 ? "used.gradients.fp32" : "used.gradients.16_bit");
    if (p.pipeline_parallel > 1) notes.add(schedule_note(p));
    if (job.method == Method::detailed) notes.add(recompute_note(p));
    if (p.site == SiteKind::own)
        notes.add(Text("used.calibration.site")
                      .with("network", p.site_network)
                      .with("pipeline", p.site_pipeline)
                      .with("fixed", p.site_fixed)
                      .with("stall", p.site_stall));
    if (p.time_factor != 1) notes.add(Text("used.calibration.factor").with("factor", p.time_factor));
    const Plan usual;
    for (std::size_t i = kSiteConstants; i < kFitted.size(); ++i)
        if (const double value = p.*kFitted[i].of_plan; value != usual.*kFitted[i].of_plan)
            notes.add(Text("used.calibration.constant").with("constant", Text("field", kFitted[i].key)).with("value", value));
    if (p.time_spread != 1) notes.add(Text("used.calibration.spread").with("times", p.time_spread));
    measured_links(p, notes);
    if (p.time_runs > 0 && p.is_calibrated()) notes.add(Text("used.calibration.runs").with("runs", p.time_runs));
    if (p.memory_factor != 1) notes.add(Text("used.calibration.memory_factor").with("factor", p.memory_factor));
    if (p.memory_extra != 0) notes.add(Text("used.calibration.memory_extra").with("bytes", p.memory_extra * kGibi));
    if (p.memory_runs > 0 && p.has_calibrated_memory()) notes.add(Text("used.calibration.memory_runs").with("runs", p.memory_runs));
    return std::move(notes.list);
}

// ---- assumed
static void assume_kernels(const Job& job, Assumptions& assumed) {
    constexpr const char* kAttention[] = {"assumed.attention.flash", "assumed.attention.cudnn", "assumed.attention.unfused",
                                          "assumed.attention.local"};  // by AttentionKernel
    constexpr const char* kLoss[] = {"assumed.loss.plain",   "assumed.loss.native_fused", "assumed.loss.te_fused", "assumed.loss.gathered",
                                     "assumed.loss.chunked", "assumed.loss.tiled",        "assumed.loss.parallel"};  // by LossKernel
    static_assert(std::size(kLoss) == std::size(kLossBytes));
    const Plan& p = job.plan;
    const Framework f = framework_of(job.model, p, *job.gpu);
    assumed.add(
        Text("assumed.framework").with("framework", label("choice.framework", kFrameworkChoices, static_cast<std::size_t>(p.framework))),
        "framework");
    if ((job.exploration.left_out & without_zero_bubble) == 0 && !has_zero_bubble(p.framework))
        assumed.add("assumed.no_zero_bubble", "framework");
    if ((job.exploration.left_out & without_sharding) == 0 && deepest_tried(p.framework, job.exploration.left_out) == Zero::optimizer)
        assumed.add("assumed.no_sharding", "zero");
    if (is_packed(p) && job.model.experts.count > 0 && row_of(p.framework).joins_experts)
        assumed.add("assumed.packed_experts", "frozen_weights");
    if (job.model.experts.count > 0 && row_of(p.framework).joins_experts && !calls_experts_in_turn(p))
        assumed.add("assumed.experts_at_once", "grouped_gemm");
    constexpr const char* kMixers[] = {"assumed.linear_attention", "assumed.state_space", "assumed.delta_attention",
                                       "assumed.convolution"};  // by Mixer
    if (job.model.one_part) assumed.add("assumed.one_part", "framework");
    if (job.model.linear.beside) assumed.add("assumed.side_by_side", "framework");
    if (job.model.linear.any()) assumed.add(kMixers[static_cast<std::size_t>(job.model.linear.kind)], "framework");
    assumed.add(kAttention[static_cast<std::size_t>(f.attention)], "attention");
    const auto loss = static_cast<std::size_t>(f.loss);
    assumed.add(Text(kLoss[loss]).with("bytes", loss_bytes(job.model, p, f.loss).at_worst), "loss");
}

Json assumed_notes(const Job& job) {
    const Plan& p = job.plan;
    Assumptions assumed;
    const bool detailed = job.method == Method::detailed;
    if (detailed)
        assumed.add(Text("assumed.precision")
                        .with("precision", label("choice.precision", kPrecisionChoices, static_cast<std::size_t>(p.precision))),
                    "precision");
    else
        assumed.add("assumed.precision_bf16", "");
    assumed.add("assumed.card", "");
    if (!job.gpu->own.is_null())
        assumed.add(Text("assumed.own_gpu").with("gpu", job.gpu->label).with("base", job.gpu->profile["label"]), "");
    if (p.tensor_parallel > 1 && (splits_sequence(p) || !detailed))
        assumed.add("assumed.sequence_parallel", detailed ? "sequence_parallel" : "tensor_parallel");
    if (p.tensor_columns > 1) assumed.add("assumed.grid", "tensor_columns");
    const std::int64_t padded = padded_vocabulary(job.model, p.tensor_parallel);
    if (padded != job.model.vocabulary)
        assumed.add(Text("assumed.vocabulary").with("words", job.model.vocabulary).with("padded", padded), "tensor_parallel");
    if (!detailed) {
        assumed.add(p.keeps_scores() ? "assumed.scores_kept" : "assumed.scores_not_kept", "attention");
        assumed.add("assumed.no_full_recomputation", "");
        return std::move(assumed.list);
    }
    assume_kernels(job, assumed);
    if (job.gpu->topology == Topology::bridges && p.gpus > 2 && p.gpus_per_node > 2 && p.measured_intra == 0)
        assumed.add("assumed.bridges", "");
    if (job.model.experts.count > 0)
        assumed.add(
            p.expert_imbalance == 1 ? Text("assumed.routing.even") : Text("assumed.routing.uneven").with("times", p.expert_imbalance),
            "expert_imbalance");
    return std::move(assumed.list);
}

// ---- not counted
// The settings that the paper's formula does not know.
static void settings_left_out(const Plan& p, Notes& notes) {
    notes.add_if(p.shards_gradients(), "not_counted.zero");
    notes.add_if(p.shard_replicas > 1, "not_counted.hsdp");
    notes.add_if(p.recompute != Recompute::none && p.recompute != Recompute::selective, "not_counted.recompute");
    notes.add_if(p.precision != Precision::bf16 && p.precision != Precision::fp16, "not_counted.precision");
    notes.add_if(p.moments != Moments::fp32 || p.optimizer_offload > 0, "not_counted.moments");
    notes.add_if(!p.sequence_parallel && p.tensor_parallel > 1, "not_counted.no_sequence_parallel");
    notes.add_if(p.schedule != kUsualSchedule && p.pipeline_parallel > 1, "not_counted.schedule");
    notes.add_if(p.first_stage_layers > 0 || p.last_stage_layers > 0 || p.count_embedding_as_layer || p.count_loss_as_layer,
                 "not_counted.layers");
    notes.add_if(sets_habits(p), "not_counted.habits");
    notes.add_if(p.freezes() || p.optimizer != Optimizer::adam || p.moves_in_passes() || p.optimizer_in_backward ||
                     p.feed_forward_tiles > 1 || p.token_slices > 1 || p.tensor_columns > 1 || p.swaps_heads(),
                 "not_counted.newer");
}

Json not_counted_notes(const Job& job) {
    Notes notes;
    const Model& m = job.model;
    if (job.method == Method::detailed) {
        notes.add("not_counted.data");
        notes.add_if(job.plan.layout && job.plan.layout->multi_token_at > 0, "not_counted.multi_token_chunk");
        notes.add_if(job.plan.cuda_graphs != CudaGraphs::none, "not_counted.cuda_graphs");
        return std::move(notes.list);
    }
    notes.add_if(job.plan.pipeline_parallel > 1, "not_counted.last_stage");
    notes.add("not_counted.outside");
    notes.add_if(m.qkv_bias || m.attention_out_bias || m.mlp_bias, "not_counted.biases");
    notes.add_if(m.learned_positions, "not_counted.positions");
    notes.add_if(m.qk_norm || m.norms_per_layer != 2 || m.layer_norm, "not_counted.norms");
    settings_left_out(job.plan, notes);
    return std::move(notes.list);
}

}  // namespace fourfold
