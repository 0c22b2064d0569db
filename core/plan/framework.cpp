// Based on the defaults of Megatron-LM (training/arguments.py, d98e8a64dd) and Transformer Engine 1.x and 2.x; which attention kernel
// "auto" means per GPU was read off measured runs (tests/evidence/megatron-ci.jsonl).
#include "plan/framework.h"

#include <algorithm>

#include "base/bytes.h"

namespace fourfold {

// Residuals, fitted to tests/measured/runs.json (tests/memory/verdict_test.cpp). Megatron: the paper's runs on A100 and H100 (without three
// series whose dashes look like "not run"), NVIDIA's, SimuMax', vTrain's and Korthikanti's. PyTorch: Hagemann et al., arXiv 2311.05610,
// whose framework is its authors' own: hence the wide band.
static constexpr Residual kMegatronResidual{0.90, 0.03, 229, "megatron"}, kPyTorchResidual{0.87, 0.13, 309, "pytorch"};
// nanotron: 1,247 runs of tests/evidence/ultrascale2024.jsonl that ran or ran out of memory (tests/evidence/run.cpp).
static constexpr Residual kNanotronResidual{0.85, 0.12, 1247, "nanotron"};
// transformers: chosen with nine runs in view that hold 0.8 to 1.14 of an H200 (tests/evidence/transformers.jsonl): of those up to 0.9 all
// ran, of those from 1 on none; in between large logits ran out earlier than layers did.
static constexpr Residual kTransformersResidual{0.95, 0.035, 205, "transformers"};
// No run with its memory was published.
static constexpr Residual kUnmeasured{.evidence = "unmeasured"};

constexpr std::array<FrameworkRow, kFrameworkKinds> kFrameworkRows = {{
    {.id = "megatron-2025",
     .habits = {.attention = AttentionKernel::cudnn,
                .engine_routes = true,
                .caches_dummy_gradients = true,
                .grouped_gemm = true,
                .sends_once = true},
     .names_modules = true,
     .any_group = true,
     .overlaps_experts = true,
     .overlaps_sends = true,
     .has_megatron_fsdp = true,  // --use-megatron-fsdp; --use-custom-fsdp until 0.12
     .fused_host_adam = false,
     .residual = kMegatronResidual},
    {.id = "megatron-2024",
     .habits = {.engine_routes = true, .grouped_gemm = true},
     .any_layout = false,  // --pipeline-model-parallel-layout came with 0.13; before, only the ends differ
     .overlaps_sends = true,
     .fused_host_adam = false,
     .residual = kMegatronResidual},
    {.id = "pytorch",
     .habits = {.loss = LossKernel::parallel, .transformer_engine = false, .gradient_fusion = false},
     .plain_attention = AttentionKernel::unfused,
     .library = kPyTorch,
     .shard_copies = Proposed::always,  // torchtitan: parallelism.data_parallel_replicate_degree
     .shards_in_pipelines = true,
     .deepest_zero = Zero::weights,
     .joins_adapters = false,
     .recomputes_operations = true,
     .frees_gradients = true,
     .residual = kPyTorchResidual,
     .band = Band{0.85, 1.16, "pytorch", 283}},
    {.id = "nanotron",
     .habits = {.loss = LossKernel::native_fused,
                .transformer_engine = false,
                .gradient_fusion = false,
                .gradients_twice = true,
                .activation_fusion = false},  // models/llama.py: GLUActivation
     .plain_attention = AttentionKernel::unfused,
     .library = kNanotron,
     .split = Split::weights,
     .any_layout = false,
     .hides_shards = false,
     .launches_ahead = true,
     .joins_adapters = false,
     .recomputes_parts = false,  // nanotron, config/parallelism_config.py: recompute_layer is a truth value
     .residual = kNanotronResidual,
     .band = Band{0.83, 1.18, "nanotron", 143}},
    {.id = "megatron-deepspeed",
     .habits = {.transformer_engine = false},
     .plain_attention = AttentionKernel::unfused,
     .library = kDeepSpeed,     // runtime/pipe/schedule.py
     .rings = Proposed::never,  // sequence/layer.py: Ulysses
     .split = Split::front,     // megatron/model/gpt_model.py: partition_method 'type:transformer' evens out whatever the number
     .any_layout = false,
     .deepest_zero = Zero::weights,
     .casts_on_host = true,
     .offloads_weights_alone = true,
     .hides_shards = false,
     .residual = kMegatronResidual,
     .band = Band{0.79, 1.275, "megatron_deepspeed", 25}},
    {.id = "hai-llm",
     .habits = {.transformer_engine = false, .grouped_gemm = true, .sends_once = true, .stores_fp8 = true},
     .names_modules = true,
     .residual = kUnmeasured},
    {.id = "litgpt",
     .habits = {.loss = LossKernel::chunked,
                .transformer_engine = false,
                .gradient_fusion = false,
                .activation_fusion = false,
                .sync_each_micro_batch = false},
     .plain_attention = AttentionKernel::unfused,
     .library = kPyTorch,
     .splits_models = false,  // FSDPStrategy alone (pretrain.py, finetune/full.py)
     .rings = Proposed::never,
     .deepest_zero = Zero::weights,
     .joins_adapters = false,
     .flat_gradients = true,
     .keeps_root = true,
     .keeps_unpacked_inputs = true,
     .stable_embedding = true,
     .logits_in_fp32 = true,  // Lightning Fabric, plugins/precision: convert_output
     .copies_heads = true,
     .recomputes_parts = false,  // activation_checkpointing_policy={Block}
     .frees_gradients = true,
     .residual = kPyTorchResidual,
     .band = Band{0.85, 1.16, "pytorch", 283}},
    {.id = "transformers",
     .habits = {.loss = LossKernel::gathered,
                .transformer_engine = false,
                .gradient_fusion = false,
                .activation_fusion = false,
                .plain_norms = true,
                .fully_shard = true,
                .sync_each_micro_batch = false,
                .grouped_gemm = true,  // Transformers 5 (integrations/moe.py: grouped_mm_experts_forward)
                .engine_groups = false},
     .plain_attention = AttentionKernel::unfused,
     .library = kPyTorch,
     .splits_models = false,
     .rings = Proposed::if_nothing_else_fits,         // accelerate, ParallelismConfig: cp_size; no run with it was measured
     .shard_copies = Proposed::if_nothing_else_fits,  // accelerate, ParallelismConfig: dp_replicate_size
     .syncs_to_fit = true,                            // accelerate, GradientAccumulationPlugin: sync_each_batch
     .deepest_zero = Zero::weights,
     .offloads_weights_alone = true,  // by DeepSpeed
     .joins_adapters = false,
     .keeps_root = true,
     .frees_logits = true,
     .single_operations = true,
     .joins_experts = true,
     .autocast = true,
     .masks_windows = true,
     .adapters_cast = true,
     .checkpoints_in_python = true,
     .scaled_dot_product = true,
     .recomputes_parts = false,
     .averages_in_buckets = true,
     .frees_gradients = true,
     .residual = kTransformersResidual,
     .band = Band{0.9, 1.18, "transformers", 136, true},
     .elsewhere = Band{0.66, 1.5, "transformers_elsewhere", 53, true}},
}};
static_assert(!kFrameworkRows.back().id.empty());  // every framework has a row

// The habits that a plan may set, each a field of the same name there.
struct HabitRow {
    Habit Plan::*asked;
    bool Framework::*habit;
};
static constexpr HabitRow kHabits[] = {
    {&Plan::transformer_engine, &Framework::transformer_engine},
    {&Plan::gradient_fusion, &Framework::gradient_fusion},
    {&Plan::softmax_fusion, &Framework::softmax_fusion},
    {&Plan::activation_fusion, &Framework::activation_fusion},
    {&Plan::grouped_gemm, &Framework::grouped_gemm},
    {&Plan::large_workspaces, &Framework::large_workspaces},
    {&Plan::attention_mask, &Framework::attention_mask},
    {&Plan::deferred_embedding_gradient, &Framework::deferred_embedding_gradient},
    {&Plan::fully_shard, &Framework::fully_shard},
    {&Plan::sync_each_micro_batch, &Framework::sync_each_micro_batch},
    {&Plan::gathered_inputs, &Framework::gathered_inputs},
};

// Megatron-LM overlaps them where chunks are interleaved, unless --no-overlap-p2p-communication is given (training/arguments.py).
bool Plan::overlaps_sends() const {
    if ((open & open_pipeline_overlap) == 0) return overlap_pipeline;
    return row_of(framework).overlaps_sends && row_of(running_schedule()).turns;
}

std::int64_t Plan::group_of_micro_batches() const {
    if (virtual_stage_group != kAuto) return virtual_stage_group;
    const std::int64_t stages = pipeline_parallel;
    if (virtual_stages == 1 || !row_of(framework).any_group) return stages;
    const std::int64_t all = micro_batches();
    for (std::int64_t group = stages; group <= all; ++group)
        if (row_of(schedule_kind()).takes(stages, all, group)) return group;
    return stages;
}

bool habit_of(const Plan& p, Habit Plan::*asked, bool Framework::*usual) {
    return p.*asked == Habit::automatic ? row_of(p.framework).habits.*usual : p.*asked == Habit::on;
}

bool fully_shards(const Plan& p) { return p.shards_gradients() && habit_of(p, &Plan::fully_shard, &Framework::fully_shard); }

bool gathers_by_weight(const Plan& p) {
    return p.zero == Zero::weights && !fully_shards(p) && habit_of(p, &Plan::sync_each_micro_batch, &Framework::sync_each_micro_batch);
}

bool adds_up_whole_gradients(const Plan& p) {
    if (!p.shards_gradients() || !p.adds_up()) return false;
    return (p.pipeline_parallel > 1 && row_of(p.framework).shards_in_pipelines) ||
           !habit_of(p, &Plan::sync_each_micro_batch, &Framework::sync_each_micro_batch);
}

Plan with_habits(Plan plan) {
    plan.overlap_pipeline = plan.overlaps_sends();
    plan.open &= ~open_pipeline_overlap;
    return plan;
}

bool sets_habits(const Plan& plan) {
    return std::any_of(std::begin(kHabits), std::end(kHabits), [&](const HabitRow& row) { return plan.*row.asked != Habit::automatic; });
}

// "auto" is the framework's kernel, but flash-attn on Ampere and in layers of Megatron's own. PyTorch's scaled_dot_product_attention takes
// cuDNN's on Hopper and Blackwell (aten/src/ATen/native/transformers/cuda/sdp_utils.cpp), and of some models none.
static AttentionKernel attention_of(const Model& model, const Plan& plan, const FrameworkRow& row, bool transformer_engine,
                                    Architecture card) {
    const bool ampere = card == Architecture::ampere;
    const bool hopper_or_later = card == Architecture::hopper || card == Architecture::blackwell || card == Architecture::blackwell_ultra;
    switch (plan.attention) {
        case Attention::flash:
            return AttentionKernel::flash;
        case Attention::cudnn:
            return AttentionKernel::cudnn;
        case Attention::plain:
            return transformer_engine ? AttentionKernel::unfused : row.plain_attention;
        case Attention::automatic:
            break;
    }
    if (row.scaled_dot_product && model.plain_attention) return row.plain_attention;
    if (row.scaled_dot_product) return hopper_or_later ? AttentionKernel::cudnn : AttentionKernel::flash;
    return ampere || !transformer_engine ? AttentionKernel::flash : row.habits.attention;
}

Framework framework_of(const Model& model, const Plan& plan, const Gpu& gpu) {
    constexpr double kSmallEngine = 4 * kMebi, kLargeEngine = 32 * kMebi;  // A100; Hopper and Blackwell
    const FrameworkRow& row = row_of(plan.framework);
    const bool ampere = gpu.architecture == Architecture::ampere;
    Framework f = row.habits;
    f.large_workspaces = gpu.architecture == Architecture::hopper;
    f.engine_workspace = ampere ? kSmallEngine : kLargeEngine;
    for (const auto& [asked, habit] : kHabits)
        if (plan.*asked != Habit::automatic) f.*habit = plan.*asked == Habit::on;
    f.caches_dummy_gradients = f.caches_dummy_gradients && f.transformer_engine && f.gradient_fusion;
    f.plain_norms = !plan.fused_norms || (f.plain_norms && !f.activation_fusion);  // Liger's kernels fuse both
    f.attention = attention_of(model, plan, row, f.transformer_engine, gpu.architecture);
    // Megatron Core takes DeepEP on Ampere, Hopper and Blackwell (core/transformer/moe/token_dispatcher.py).
    if (plan.expert_dispatch != ExpertDispatch::automatic)
        f.sends_once = plan.expert_dispatch == ExpertDispatch::deepep;
    else
        f.sends_once = f.sends_once && gpu.architecture <= Architecture::blackwell_ultra;
    if (plan.loss != Loss::automatic) f.loss = static_cast<LossKernel>(static_cast<int>(plan.loss) - 1);
    return f;
}

int norms_recomputed(const Model& model, const Plan& plan, const Framework& framework, bool expert_layer) {
    const bool named = plan.recomputes(layernorm), joined = framework.transformer_engine && !framework.plain_norms;
    if (!joined) return named ? 2 : 0;
    if (model.one_part) return named && expert_layer ? 2 : 0;  // a mixer's belongs to its first matrix
    const bool before_attention = named && model.latent.kv_rank > 0;
    const bool before_feed_forward = expert_layer ? named : plan.recomputes(mlp);
    return (before_attention ? 1 : 0) + (before_feed_forward ? 1 : 0);
}

}  // namespace fourfold
