// Overrides for recipes of Megatron-Bridge 067f987df (ConfigContainer) and of NeMo 2 at 8cfedd720 (MegatronStrategy, the optimizer's and
// the model's configs). A recipe says everything: so does the plan, what is off included.
#include "base/text.h"
#include "formats/keys.h"
#include "formats/write/writing.h"

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
    {"cp_comm_type", kModel, kConfig},
    {"calculate_per_token_loss", kModel, kConfig},
    {"average_in_collective", kDdp, kStrategyDdp},
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
    {"data_parallel_sharding_strategy", kDdp, kStrategyDdp},
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
    if (p.context_parallel > 1) to.set("cp_comm_type", p.swaps_heads() ? "a2a" : "p2p");
    if (to.is_nemo()) leave_kv_heads(to);  // its Megatron Core is older than their copies
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
    const bool can = to.model.multi_token_layers <= 1;                                    // transformer_config.py asserts it
    to.on("expert_overlap", to.plan.expert_overlap && can);
    if (!can) to.leave_changed("expert_overlap");
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
    const std::uint32_t known = known_modules(to.job);
    const bool parts = p.recompute == Recompute::selective && known != 0;
    if (p.recompute == Recompute::selective && drops_modules(to.job)) to.leave_field(parts ? "recompute_modules" : "recompute");
    to.set("recompute_granularity", whole ? Json("full") : parts ? Json("selective") : Json());
    to.set("recompute_method", whole ? Json(p.recompute == Recompute::block ? "block" : "uniform") : Json());
    to.set("recompute_num_layers", whole ? Json(operations ? 1 : p.recompute_layers) : Json());
    if (operations) to.leave_field("recompute");
    if (!parts) return;
    Json modules = Json::array();
    for (std::size_t i = 0; i < kModuleChoices.size(); ++i)
        if ((known >> i & 1U) != 0) modules.push_back(kModuleChoices[i].id);
    to.set("recompute_modules", std::move(modules));
}

// Where the settings of the optimizer and of data parallelism differ, the optimizer's count (NeMo, MegatronStrategy.connect) or those that
// are on (Megatron-Bridge, _validate_and_sync_distributed_optimizer_settings).
// Muon's state is shared out by whole matrices, which its name says (core/optimizer/optimizer_config.py; both kinds of FSDP exclude it).
bool is_muon(const Overrides& to) { return to.plan.optimizer == Optimizer::muon && !to.is_nemo(); }
bool shares(const Overrides& to) { return !is_muon(to) && (to.plan.zero != Zero::none || optimizer_must_share(to.plan)); }
// Averages of fewer bits, and a part of them in host memory, are Adam's alone.
bool has_small_moments(const Overrides& to) { return to.plan.moments != Moments::fp32 && !is_muon(to); }
bool offloads(const Overrides& to) { return to.plan.optimizer_offload > 0 && !is_muon(to); }
void write_sharing(Overrides& to) {
    const Plan& p = to.plan;
    to.set("use_distributed_optimizer", shares(to));
    to.put(to.is_nemo() ? "optim.config.use_distributed_optimizer" : "optimizer.use_distributed_optimizer", shares(to));
    const bool more = p.zero == Zero::none && shares(to);
    if (more || (p.shards_gradients() && is_muon(to))) to.leave_field("zero");
    if (!to.is_nemo()) to.put("optimizer.optimizer", !is_muon(to) ? "adam" : p.zero == Zero::none ? "muon" : "dist_muon");
    if (!is_muon(to)) to.leave_changed("optimizer");
}

void write_zero(Overrides& to) {
    const Plan& p = to.plan;
    const bool fsdp = p.shards_gradients() && !is_muon(to);
    write_sharing(to);
    if (!to.is_nemo())
        to.set("use_megatron_fsdp", fsdp);
    else if (fsdp)  // scripts/performance/helpers.py, set_mcore_fsdp_configs
        to.put("trainer.strategy.fsdp", "megatron");
    if (fsdp) to.set("data_parallel_sharding_strategy", p.zero == Zero::weights ? "optim_grads_params" : "optim_grads");
    if (fsdp && !to.is_nemo()) to.put("checkpoint.ckpt_format", "fsdp_dtensor");  // ConfigContainer.validate asserts it
    if (p.zero == Zero::optimizer && replicas_divide(to.job))
        to.key("shard_replicas");
    else
        to.leave_changed("shard_replicas");
    to.on("overlap_gradients", p.overlap_gradients);
    const bool gathers = p.overlap_parameters && (shares(to) || (is_muon(to) && p.zero != Zero::none));
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
    const char* word = fp8 && recomputes_unscaled(to.job) ? "bf16_with_fp8_current_scaling_mixed"
                       : fp8 && to.is_nemo()              ? "bf16_with_fp8_mixed"
                       : fp8                              ? "bf16_with_fp8_delayed_scaling_mixed"
                       : half                             ? "fp16_mixed"
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
    const bool small = has_small_moments(to);
    if (is_muon(to))
        for (const char* field : {"moments", "optimizer_offload"}) to.leave_changed(field);
    to.set("use_precision_aware_optimizer", small || (offloads(to) && p.master_on_host()));
    if (small && !p.master_on_host()) to.leave_field("offload_master_weights");
    // With the usual optimizer all have 32 bits (optimizer_config.py, __post_init__), and a recipe may have others.
    for (const char* name : {"main_grads_dtype", "main_params_dtype"}) to.set(name, "torch.float32");
    const char* type = !small ? "torch.float32" : p.moments == Moments::bits8 ? "torch.uint8" : "torch.bfloat16";
    for (const char* name : {"exp_avg_dtype", "exp_avg_sq_dtype"}) to.set(name, type);
    to.set("optimizer_cpu_offload", offloads(to));
    if (!offloads(to)) return;
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

// Matrices that are one in Megatron Core have one adapter (peft/lora.py). That there are adapters at all a recipe says: NeMo's fine-tuning
// does, and of Megatron-Bridge's another one.
void write_adapters(Overrides& to) {
    const Plan& p = to.plan;
    if (!p.freezes() && !to.is_nemo()) to.put("peft", nullptr);
    if (!p.freezes()) return;
    constexpr std::uint32_t kKeys = lora_key | lora_value, kIn = lora_gate | lora_up;
    const bool latent = to.model.latent.kv_rank > 0, low = to.model.latent.q_rank > 0;
    Json modules = Json::array();
    std::uint32_t said = 0;
    const auto add = [&](const char* name, std::uint32_t matrices, bool has = true) {
        if (!has || (p.lora_targets & matrices) == 0) return;
        modules.push_back(name);
        said |= matrices;
    };
    add("linear_qkv", lora_query | kKeys, !latent);
    add("linear_q_proj", lora_query, latent && !low);
    add("linear_q_down_proj", lora_query, latent && low);
    add("linear_q_up_proj", lora_query, latent && low);
    add("linear_kv_down_proj", kKeys, latent);
    add("linear_kv_up_proj", kKeys, latent);
    add("linear_proj", lora_output);
    add("linear_fc1", kIn);
    add("linear_fc2", lora_down);
    to.put("peft.target_modules", std::move(modules));
    to.put("peft.dim", p.lora_rank);
    constexpr double kUsualDropout = 0.1;
    to.put("peft.dropout", p.lora_dropout ? kUsualDropout : 0.0);
    if (p.context_parallel > 1) {  // of fine-tuning both ask for it (ConfigContainer.validate)
        to.set("calculate_per_token_loss", true);
        to.set("average_in_collective", false);
    }
    const std::uint32_t gate = to.model.gated ? 0U : lora_gate;
    if ((said | gate) != (p.lora_targets | gate) || to.model.linear.any()) to.leave_field("lora_targets");
    to.leave_changed("frozen_weights");
    if (!to.is_nemo()) to.leave_out(Text("export.left_out.lora_recipe").with("recipe", "llama32_1b_peft_config"));
}

// Recordings of the parts of a layer need a list of them, which the releases name differently.
void write_graphs(Overrides& to) {
    if (to.plan.cuda_graphs != CudaGraphs::none)
        to.leave_field("cuda_graphs");
    else if (!to.is_nemo())
        to.put("model.cuda_graph_impl", "none");
}

// Fields that are written above, all together.
constexpr std::string_view kWritten =
    "gpus,gpus_per_node,sequence_length,micro_batch,global_batch,tensor_parallel,sequence_parallel,context_parallel,"
    "context_parallel_kind,pipeline_parallel,virtual_stages,virtual_stage_group,layout,first_stage_layers,last_stage_layers,"
    "count_embedding_as_layer,count_loss_as_layer,expert_parallel,expert_tensor_parallel,expert_dispatch,expert_overlap,"
    "grouped_gemm,zero,shard_replicas,recompute,recompute_modules,recompute_layers,precision,gradients_in_fp32,moments,optimizer,"
    "trained,lora_rank,lora_targets,lora_dropout,frozen_weights,cuda_graphs,optimizer_offload,optimizer_offload_target,"
    "optimizer_offload_overlap,offload_master_weights,attention,loss,tensor_overlap,overlap_gradients,overlap_parameters,"
    "overlap_pipeline,hidden_dropout,attention_dropout,";

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
    write_graphs(to);
    write_adapters(to);
    std::vector<SettingRow> rows;
    for (std::size_t at = 0, end = 0; at < kWritten.size(); at = end + 1) {
        end = kWritten.find(',', at);
        rows.push_back({kWritten.substr(at, end - at), nullptr});
    }
    write_rows(to, rows);
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

Export bridge_overrides(const Job& asked) {
    const Job job = in_megatrons_order(asked);
    Overrides to(job, false);
    to.leave_field("gpus");
    leave_model(to);
    write_all(to);
    leave_chunks(to, asked);
    std::string text;
    for (const Setting& one : to.list) text += joined({text.empty() ? "" : " \\\n", override_text(one, false)});
    return made_of(to, text + "\n");
}

Export nemo2_command(const Job& asked) {
    const Job job = in_megatrons_order(asked);
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
    script.text += joined({"nemo llm ", job.plan.freezes() ? "finetune" : "pretrain", " --factory ", factory,
                           " \\\n    trainer.num_nodes=$NNODES \\\n    trainer.devices=$GPUS_PER_NODE"});
    write_all(to);
    leave_chunks(to, asked);
    for (const Setting& one : to.list) script.text += joined({" \\\n    ", override_text(one, true)});
    Export made = made_of(to, script.text + "\n");
    made.yours = std::move(script.yours);
    return made;
}

}  // namespace fourfold
