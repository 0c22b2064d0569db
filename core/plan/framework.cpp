// Based on the defaults of Megatron-LM (training/arguments.py, d98e8a64dd) and Transformer Engine 1.x and 2.x; which attention kernel
// "auto" means per GPU was read off measured runs (tests/measured/memory_runs.json).
#include "plan/framework.h"

namespace fourfold {

static AttentionKernel kernel_of(const Plan& plan, bool ampere) {
    switch (plan.attention) {
        case Attention::flash:
            return AttentionKernel::flash;
        case Attention::cudnn:
            return AttentionKernel::cudnn;
        case Attention::plain:
            return AttentionKernel::unfused;
        case Attention::automatic:
            break;
    }
    return plan.framework == FrameworkKind::megatron_2025 && !ampere ? AttentionKernel::cudnn : AttentionKernel::flash;
}

Framework framework_of(const Plan& plan, const Gpu& gpu) {
    const bool ampere = gpu.architecture == Architecture::ampere, pytorch = plan.framework == FrameworkKind::pytorch;
    Framework f;
    f.attention = kernel_of(plan, ampere);
    f.loss = plan.loss == Loss::automatic ? (pytorch ? LossKernel::gathered : LossKernel::plain)
                                          : static_cast<LossKernel>(static_cast<int>(plan.loss) - 1);
    f.transformer_engine = !pytorch;
    f.fused_gradient_accumulation = !pytorch;
    f.caches_dummy_gradients = plan.framework == FrameworkKind::megatron_2025;
    f.grouped_gemm = !pytorch;
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
