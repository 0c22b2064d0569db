// Overrides for recipes of Megatron-Bridge 067f987df (ConfigContainer) and of NeMo 2 at 8cfedd720 (MegatronStrategy, the optimizer's and
// the model's configs). A recipe says everything: so does the plan, what is off included.
#include "base/text.h"
#include "formats/keys.h"
#include "formats/writing.h"

namespace fourfold {

namespace {

using Name = std::string_view;

// Where a setting of Megatron Core lives; the same name stands behind the section.
struct Place {
    std::string_view name, bridge, nemo;
};
constexpr std::string_view kModel = "model.", kStrategy = "trainer.strategy.", kConfig = "model.config.", kDdp = "ddp.",
                           kStrategyDdp = "trainer.strategy.ddp.", kOptimizer = "optimizer.", kOptim = "optim.config.";
constexpr Place kPlaces[] = {
    {"tensor_model_parallel_size", kModel, kStrategy},
    {"pipeline_model_parallel_size", kModel, kStrategy},
    {"virtual_pipeline_model_parallel_size", kModel, kStrategy},
    {"pipeline_model_parallel_layout", kModel, kStrategy},
    {"microbatch_group_size_per_vp_stage", kModel, kStrategy},
    {"num_layers_in_first_pipeline_stage", kModel, kStrategy},
    {"num_layers_in_last_pipeline_stage", kModel, kStrategy},
    {"account_for_embedding_in_pipeline_split", kModel, kStrategy},
    {"account_for_loss_in_pipeline_split", kModel, kStrategy},
    {"context_parallel_size", kModel, kStrategy},
    {"expert_model_parallel_size", kModel, kStrategy},
    {"expert_tensor_parallel_size", kModel, kStrategy},
    {"sequence_parallel", kModel, kStrategy},
    {"seq_length", kModel, kConfig},
    {"micro_batch_size", "train.", "data."},
    {"global_batch_size", "train.", "data."},
    {"recompute_granularity", kModel, kConfig},
    {"recompute_method", kModel, kConfig},
    {"recompute_num_layers", kModel, kConfig},
    {"recompute_modules", kModel, kConfig},
    {"attention_backend", kModel, kConfig},
    {"cross_entropy_loss_fusion", kModel, kConfig},
    {"cross_entropy_fusion_impl", kModel, kConfig},
    {"hidden_dropout", kModel, kConfig},
    {"attention_dropout", kModel, kConfig},
    {"moe_grouped_gemm", kModel, kConfig},
    {"moe_token_dispatcher_type", kModel, kConfig},
    {"moe_enable_deepep", kModel, kConfig},
    {"overlap_moe_expert_parallel_comm", kModel, kConfig},
    {"tp_comm_overlap", kModel, kConfig},
    {"overlap_p2p_comm", kModel, kConfig},
    {"batch_p2p_comm", kModel, kConfig},
    {"use_distributed_optimizer", kDdp, kStrategyDdp},
    {"use_megatron_fsdp", kDdp, ""},
    {"data_parallel_sharding_strategy", kDdp, ""},
    {"num_distributed_optimizer_instances", kDdp, kStrategy},
    {"overlap_grad_reduce", kDdp, kStrategyDdp},
    {"overlap_param_gather", kDdp, kStrategyDdp},
    {"grad_reduce_in_fp32", kDdp, kStrategyDdp},
    {"use_precision_aware_optimizer", kOptimizer, kOptim},
    {"main_grads_dtype", kOptimizer, kOptim},
    {"main_params_dtype", kOptimizer, kOptim},
    {"exp_avg_dtype", kOptimizer, kOptim},
    {"exp_avg_sq_dtype", kOptimizer, kOptim},
    {"optimizer_cpu_offload", kOptimizer, kOptim},
    {"optimizer_offload_fraction", kOptimizer, kOptim},
    {"overlap_cpu_optimizer_d2h_h2d", kOptimizer, kOptim},
};

class Overrides : public Settings {
 public:
    Overrides(const Job& from, bool nemo) : Settings(from), nemo_(nemo) {}
    bool is_nemo() const { return nemo_; }
    void set(Name name, Json value) {
        for (const Place& one : kPlaces)
            if (one.name == name) return put(joined({nemo_ ? one.nemo : one.bridge, name}), std::move(value));
    }
    void key(Name field) { set(key_of(kMegatronKeys, field), value_of(field)); }
    void on(Name field, bool value) { set(key_of(kMegatronSwitches, field), value); }

 private:
    bool nemo_;
};

bool splits_sequences(const Overrides& to) {
    return (to.plan.sequence_parallel && to.plan.tensor_parallel > 1) || experts_split_sequences(to.model, to.plan);
}

void write_split(Overrides& to) {
    const Plan& p = to.plan;
    for (const char* field : {"tensor_parallel", "pipeline_parallel", "context_parallel"}) to.key(field);
    to.on("sequence_parallel", splits_sequences(to));
    if (splits_sequences(to) && !p.sequence_parallel) to.leave_field("sequence_parallel");
    if (to.model.experts.count == 0) return;
    to.key("expert_parallel");
    to.set("expert_tensor_parallel_size", p.expert_tensor_parallel);
}

void write_exchange(Overrides& to) {
    if (to.model.experts.count == 0 || to.plan.expert_parallel == 1) return;
    const bool kernels = framework_of(to.model, to.plan, *to.job.gpu).sends_once;
    to.set("moe_token_dispatcher_type", kernels ? "flex" : "alltoall");
    to.set("moe_enable_deepep", kernels);
    if (kernels && !to.is_nemo()) to.put("model.moe_flex_dispatcher_backend", "deepep");  // a recipe may have another
    to.on("expert_overlap", to.plan.expert_overlap);
}

// A listed layout says how many chunks there are.
void write_stages(Overrides& to) {
    const Plan& p = to.plan;
    const LayoutPointer layout = listed_layout(to.model, p);
    to.set("pipeline_model_parallel_layout", layout ? Json(layout_text(*layout)) : Json());
    to.set("virtual_pipeline_model_parallel_size", !layout && p.virtual_stages > 1 ? Json(p.virtual_stages) : Json());
    if (p.virtual_stages > 1 && p.group_of_micro_batches() != p.pipeline_parallel)
        to.set("microbatch_group_size_per_vp_stage", p.group_of_micro_batches());
    if (p.virtual_stages > 1) {
        to.set("overlap_p2p_comm", p.overlaps_sends());
        to.set("batch_p2p_comm", !p.overlaps_sends());  // schedules.py: not both
    } else if (p.overlaps_sends()) {
        to.leave_field("overlap_pipeline");
    }
    // Beside a list none of these may stand (transformer_config.py), and a recipe may have them.
    const auto ends = [&](std::int64_t layers) { return !layout && layers > 0 ? Json(layers) : Json(); };
    to.set("num_layers_in_first_pipeline_stage", ends(p.first_stage_layers));
    to.set("num_layers_in_last_pipeline_stage", ends(p.last_stage_layers));
    to.on("count_embedding_as_layer", p.count_embedding_as_layer && !layout);
    to.on("count_loss_as_layer", p.count_loss_as_layer && !layout);
}

void write_batch(Overrides& to) {
    for (const char* field : {"micro_batch", "global_batch", "sequence_length"}) to.key(field);
    to.put(to.is_nemo() ? "data.seq_length" : "dataset.seq_length", to.plan.sequence_length);
}

void write_recompute(Overrides& to) {
    const Plan& p = to.plan;
    const bool operations = p.recompute == Recompute::operations;  // it cannot: all of every layer needs no more memory
    const bool whole = p.recompute == Recompute::full || p.recompute == Recompute::block || operations;
    const bool parts = p.recompute == Recompute::selective && p.recompute_modules != 0;
    to.set("recompute_granularity", whole ? Json("full") : parts ? Json("selective") : Json());
    to.set("recompute_method", whole ? Json(p.recompute == Recompute::block ? "block" : "uniform") : Json());
    to.set("recompute_num_layers", whole ? Json(operations ? 1 : p.recompute_layers) : Json());
    if (operations) to.leave_field("recompute");
    if (!parts) return;
    Json modules = Json::array();
    for (std::size_t i = 0; i < kModuleChoices.size(); ++i)
        if ((p.recompute_modules >> i & 1U) != 0) modules.push_back(kModuleChoices[i].id);
    to.set("recompute_modules", std::move(modules));
}

// Where the settings of the optimizer and of data parallelism differ, the optimizer's count (NeMo, MegatronStrategy.connect) or those that
// are on (Megatron-Bridge, _validate_and_sync_distributed_optimizer_settings).
bool shares(const Plan& plan) { return plan.zero != Zero::none || optimizer_must_share(plan); }
void write_sharing(Overrides& to) {
    const Plan& p = to.plan;
    to.set("use_distributed_optimizer", shares(p));
    to.put(to.is_nemo() ? "optim.config.use_distributed_optimizer" : "optimizer.use_distributed_optimizer", shares(p));
    const bool more = p.zero == Zero::none && shares(p) && has_copies(p), less = p.shards_gradients() && to.is_nemo();
    if (more || less) to.leave_field("zero");
}

void write_zero(Overrides& to) {
    const Plan& p = to.plan;
    const bool fsdp = p.shards_gradients();
    write_sharing(to);
    if (!to.is_nemo()) to.set("use_megatron_fsdp", fsdp);
    if (fsdp && !to.is_nemo()) to.set("data_parallel_sharding_strategy", p.zero == Zero::weights ? "optim_grads_params" : "optim_grads");
    if (fsdp && !to.is_nemo()) to.put("checkpoint.ckpt_format", "fsdp_dtensor");  // ConfigContainer.validate asserts it
    if (p.zero == Zero::optimizer)
        to.key("shard_replicas");
    else
        to.leave_changed("shard_replicas");
    to.on("overlap_gradients", p.overlap_gradients);
    const bool gathers = p.overlap_parameters && shares(p);
    to.on("overlap_parameters", gathers && p.overlap_gradients);
    if (gathers && !p.overlap_gradients) to.leave_field("overlap_parameters");
    const bool overlaps = p.tensor_overlap && p.tensor_parallel > 1;
    // An object of Megatron-Bridge overwrites all these (CommOverlapConfig.setup), where a recipe has one: _pretrain_common has none.
    if (!to.is_nemo()) to.put("comm_overlap", nullptr);
    to.on("tensor_overlap", overlaps && splits_sequences(to));
    if (overlaps && !splits_sequences(to)) to.leave_field("tensor_overlap");
}

// NeMo-Run imports what has dots; words alone are those of the type of an argument, which plugins share (cli_parser.py, parse_factory).
constexpr std::string_view kPrecisions = "nemo.collections.llm.recipes.precision.mixed_precision.";

// The precision is one word (mixed_precision.py): with bf16 gradients are reduced in fp32, with fp16 they are not, and with fp8 the weights
// are in fp8 too.
void write_precision(Overrides& to) {
    const Precision precision = to.plan.precision;
    const bool fp8 = precision == Precision::fp8 || precision == Precision::fp8_weights, half = precision == Precision::fp16;
    const char* word = fp8 && to.is_nemo() ? "bf16_with_fp8_mixed"
                       : fp8               ? "bf16_with_fp8_delayed_scaling_mixed"
                       : half              ? "fp16_mixed"
                                           : "bf16_mixed";
    to.put(to.is_nemo() ? "trainer.plugins" : "mixed_precision", to.is_nemo() ? joined({kPrecisions, word}) : word);
    to.set("grad_reduce_in_fp32", to.plan.gradients_in_fp32);
    if (to.plan.gradients_in_fp32 == half) to.leave_field("gradients_in_fp32");
    if (precision == Precision::fp8) to.leave_field("precision");
    if (fp8) to.leave_out("export.left_out.fp8_recipe");
}

// The formats and the part in host memory need the same optimizer.
void write_optimizer(Overrides& to) {
    const Plan& p = to.plan;
    const bool small = p.moments != Moments::fp32, offloads = p.optimizer_offload > 0;
    to.set("use_precision_aware_optimizer", small || (offloads && p.master_on_host()));
    if (small && !p.master_on_host()) to.leave_field("offload_master_weights");
    // With the usual optimizer all have 32 bits (optimizer_config.py, __post_init__), and a recipe may have others.
    for (const char* name : {"main_grads_dtype", "main_params_dtype"}) to.set(name, "torch.float32");
    const char* type = p.moments == Moments::bits8 ? "torch.uint8" : small ? "torch.bfloat16" : "torch.float32";
    for (const char* name : {"exp_avg_dtype", "exp_avg_sq_dtype"}) to.set(name, type);
    to.set("optimizer_cpu_offload", offloads);
    if (!offloads) return;
    to.set("optimizer_offload_fraction", p.optimizer_offload);
    if (p.optimizer_offload_overlap != OffloadOverlap::none) to.set("overlap_cpu_optimizer_d2h_h2d", true);
    if (p.optimizer_offload_overlap == OffloadOverlap::interleaved) to.leave_field("optimizer_offload_overlap");
    if (p.optimizer_offload_target != OffloadTarget::host) to.leave_field("optimizer_offload_target");
}

void write_kernels(Overrides& to) {
    const Plan& p = to.plan;
    constexpr double kUsualDropout = 0.1;  // of Megatron Core
    to.set("hidden_dropout", p.hidden_dropout ? kUsualDropout : 0.0);
    to.set("attention_dropout", p.attention_dropout ? kUsualDropout : 0.0);
    const char* const backends[] = {"", "flash", "fused", "unfused"};
    if (p.attention != Attention::automatic && to.is_nemo()) to.leave_field("attention");  // NeMo-Run has no parser for an enumeration
    if (p.attention != Attention::automatic && !to.is_nemo()) to.set("attention_backend", backends[static_cast<std::size_t>(p.attention)]);
    if (p.loss == Loss::gathered || p.loss == Loss::chunked || p.loss == Loss::tiled || p.loss == Loss::parallel) to.leave_field("loss");
    if (p.loss == Loss::plain) to.set("cross_entropy_loss_fusion", false);
    if (p.loss == Loss::native_fused || p.loss == Loss::te_fused) {
        to.set("cross_entropy_loss_fusion", true);
        to.set("cross_entropy_fusion_impl", p.loss == Loss::te_fused ? "te" : "native");
    }
    if (p.grouped_gemm != Habit::automatic && to.model.experts.count > 0) to.set("moe_grouped_gemm", p.grouped_gemm == Habit::on);
}

// Fields that are written above, all together.
constexpr SettingRow kRows[] = {
    {"gpus", nullptr},
    {"gpus_per_node", nullptr},
    {"sequence_length", nullptr},
    {"micro_batch", nullptr},
    {"global_batch", nullptr},
    {"tensor_parallel", nullptr},
    {"sequence_parallel", nullptr},
    {"context_parallel", nullptr},
    {"pipeline_parallel", nullptr},
    {"virtual_stages", nullptr},
    {"virtual_stage_group", nullptr},
    {"layout", nullptr},
    {"first_stage_layers", nullptr},
    {"last_stage_layers", nullptr},
    {"count_embedding_as_layer", nullptr},
    {"count_loss_as_layer", nullptr},
    {"expert_parallel", nullptr},
    {"expert_tensor_parallel", nullptr},
    {"expert_dispatch", nullptr},
    {"expert_overlap", nullptr},
    {"grouped_gemm", nullptr},
    {"zero", nullptr},
    {"shard_replicas", nullptr},
    {"recompute", nullptr},
    {"recompute_modules", nullptr},
    {"recompute_layers", nullptr},
    {"precision", nullptr},
    {"gradients_in_fp32", nullptr},
    {"moments", nullptr},
    {"optimizer_offload", nullptr},
    {"optimizer_offload_target", nullptr},
    {"optimizer_offload_overlap", nullptr},
    {"offload_master_weights", nullptr},
    {"attention", nullptr},
    {"loss", nullptr},
    {"tensor_overlap", nullptr},
    {"overlap_gradients", nullptr},
    {"overlap_parameters", nullptr},
    {"overlap_pipeline", nullptr},
    {"hidden_dropout", nullptr},
    {"attention_dropout", nullptr},
};

void write_all(Overrides& to) {
    write_split(to);
    write_exchange(to);
    write_stages(to);
    write_batch(to);
    write_recompute(to);
    write_zero(to);
    write_precision(to);
    write_optimizer(to);
    write_kernels(to);
    write_rows(to, kRows);
}

// NeMo's recipes of models in the catalogue.
struct Recipe {
    std::string_view id, factory;
};
constexpr Recipe kRecipes[] = {
    {"llama-3-8b", "llama3_8b"},      {"llama-3-70b", "llama3_70b"},      {"llama-3.1-8b", "llama31_8b"},
    {"llama-3.1-70b", "llama31_70b"}, {"llama-3.1-405b", "llama31_405b"}, {"llama-3.2-1b", "llama32_1b"},
    {"llama-3.2-3b", "llama32_3b"},   {"mixtral-8x7b", "mixtral_8x7b"},   {"mixtral-8x22b", "mixtral_8x22b"},
    {"deepseek-v3", "deepseek_v3"},   {"mistral-7b", "mistral_7b"},       {"nemotron-4-340b", "nemotron4_340b"},
    {"gpt-3-175b", "gpt3_175b"},      {"gemma-2-9b", "gemma2_9b"},        {"gemma-2-27b", "gemma2_27b"},
};

}  // namespace

Export bridge_overrides(const Job& job) {
    Overrides to(job, false);
    to.leave_field("gpus");
    leave_model(to);
    write_all(to);
    std::string text;
    for (const Setting& one : to.list) text += joined({text.empty() ? "" : " \\\n", override_text(one, false)});
    return made_of(to, text + "\n");
}

Export nemo2_command(const Job& job) {
    Overrides to(job, true);
    Export script;
    script.text = "#!/bin/bash\n";
    Variables variables(script);
    std::string_view factory = "\"$FACTORY\"";
    for (const Recipe& one : kRecipes)
        if (!job.model_is_inline && one.id == job.model.id) factory = one.factory;
    const Nodes nodes = nodes_of(job.plan);
    if (factory.starts_with('"')) {
        leave_model(to);
        variables.ask("FACTORY");
    }
    variables.number("NNODES", nodes.count);
    variables.number("GPUS_PER_NODE", nodes.gpus);
    script.text +=
        joined({"nemo llm pretrain --factory ", factory, " \\\n    trainer.num_nodes=$NNODES \\\n    trainer.devices=$GPUS_PER_NODE"});
    write_all(to);
    for (const Setting& one : to.list) script.text += joined({" \\\n    ", override_text(one, true)});
    Export made = made_of(to, script.text + "\n");
    made.yours = std::move(script.yours);
    return made;
}

}  // namespace fourfold
