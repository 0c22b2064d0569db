// Based on the defaults of Megatron-LM (training/arguments.py, d98e8a64dd) and Transformer Engine 1.x and 2.x; which attention kernel
// "auto" means per GPU was read off measured runs (tests/measured/memory_runs.json).
#include "plan/framework.h"

namespace fourfold {

// Residuals, fitted to tests/measured/runs.json (tests/memory/verdict_test.cpp). Megatron: the paper's runs on A100 and H100 (without three
// series whose dashes look like "not run"), NVIDIA's, SimuMax', vTrain's and Korthikanti's. PyTorch: Hagemann et al., arXiv 2311.05610,
// whose framework is its authors' own: hence the wide band.
static constexpr Residual kMegatronResidual{0.90, 0.03, 229, "megatron"}, kPyTorchResidual{0.87, 0.13, 309, "pytorch"};
// nanotron: 1,247 runs of tests/evidence/ultrascale2024.jsonl that ran or ran out of memory (tests/evidence/evidence_test.cpp).
static constexpr Residual kNanotronResidual{0.82, 0.16, 1247, "nanotron"};

constexpr std::array<FrameworkRow, kFrameworkKinds> kFrameworkRows = {{
    {.id = "megatron-2025",
     .habits = {.attention = AttentionKernel::cudnn, .caches_dummy_gradients = true, .grouped_gemm = true},
     .any_group = true,
     .residual = kMegatronResidual},
    {.id = "megatron-2024",
     .habits = {.grouped_gemm = true},
     .any_layout = false,  // --pipeline-model-parallel-layout came with 0.13; before, only the ends differ
     .residual = kMegatronResidual},
    {.id = "pytorch",
     .habits = {.loss = LossKernel::gathered, .transformer_engine = false, .fused_gradient_accumulation = false},
     .plain_attention = AttentionKernel::unfused,
     .library = kPyTorch,
     .deepest_zero = Zero::weights,
     .residual = kPyTorchResidual,
     .band = Band{0.9, 1.15, "pytorch", 134}},
    {.id = "nanotron",
     .habits = {.loss = LossKernel::native_fused, .transformer_engine = false, .fused_gradient_accumulation = false, .gradients_twice = true},
     .plain_attention = AttentionKernel::unfused,
     .library = kPyTorch,
     .hides_shards = false,
     .residual = kNanotronResidual,
     .band = Band{0.83, 1.18, "nanotron", 143}},
    {.id = "fsdp",
     .habits = {.loss = LossKernel::te_fused, .transformer_engine = false, .fused_gradient_accumulation = false},
     .plain_attention = AttentionKernel::unfused,
     .library = kPyTorch,
     .deepest_zero = Zero::weights,
     .residual = kPyTorchResidual,
     .band = Band{0.92, 1.16, "fsdp", 114}},
    {.id = "megatron-deepspeed",
     .habits = {.transformer_engine = false},
     .plain_attention = AttentionKernel::unfused,
     .any_layout = false,
     .deepest_zero = Zero::weights,
     .hides_shards = false,
     .residual = kMegatronResidual,
     .band = Band{0.85, 1.2, "megatron_deepspeed", 25}},
}};

// "auto" is the framework's kernel, but on Ampere flash-attn.
static AttentionKernel attention_of(const Plan& plan, const Framework& habits, AttentionKernel plain, bool ampere) {
    switch (plan.attention) {
        case Attention::flash:
            return AttentionKernel::flash;
        case Attention::cudnn:
            return AttentionKernel::cudnn;
        case Attention::plain:
            return habits.transformer_engine ? AttentionKernel::unfused : plain;
        case Attention::automatic:
            break;
    }
    return ampere ? AttentionKernel::flash : habits.attention;
}

Framework framework_of(const Plan& plan, const Gpu& gpu) {
    const FrameworkRow& row = row_of(plan.framework);
    const bool ampere = gpu.architecture == Architecture::ampere;
    Framework f = row.habits;
    f.attention = attention_of(plan, f, row.plain_attention, ampere);
    if (plan.loss != Loss::automatic) f.loss = static_cast<LossKernel>(static_cast<int>(plan.loss) - 1);
    f.large_cublas_workspace = gpu.architecture == Architecture::hopper;
    if (ampere) f.engine_workspace = 4.0 * 1024 * 1024;
    return f;
}

int norms_recomputed(const Model& model, const Plan& plan, const Framework& framework, bool expert_layer) {
    const bool named = plan.recomputes(layernorm), joined = framework.transformer_engine && plan.fused_norms;
    if (!joined) return named ? 2 : 0;
    const bool before_attention = named && model.latent.kv_rank > 0;
    const bool before_feed_forward = expert_layer ? named : plan.recomputes(mlp);
    return (before_attention ? 1 : 0) + (before_feed_forward ? 1 : 0);
}

}  // namespace fourfold
