#include "memory/memory.h"

#include <algorithm>

#include "base/bytes.h"

namespace fourfold {

static constexpr std::array<GroupText, static_cast<std::size_t>(Group::count)> kGroupTexts = {{
    {"weights"},
    {"gradients"},
    {"optimizer"},
    {"activations"},
    {"temporaries"},
    {"workspaces"},
    {"outside"},
}};
const GroupText& text(Group group) { return kGroupTexts[static_cast<std::size_t>(group)]; }

static constexpr std::array<Source, static_cast<std::size_t>(Paper::count)> kSources = {{
    {"Fujii, Watanabe, Yokota: Accelerating Large Language Model Training with 4D Parallelism and Memory Consumption Estimator (2024)",
     "https://arxiv.org/abs/2411.06465"},
    {"Rajbhandari et al.: ZeRO (2019)", "https://arxiv.org/abs/1910.02054"},
    {"Korthikanti et al.: Reducing Activation Recomputation in Large Transformer Models (2022)", "https://arxiv.org/abs/2205.05198"},
    {"Dao: FlashAttention-2 (2023)", "https://arxiv.org/abs/2307.08691"},
    {"DeepSeek-V2 (2024)", "https://arxiv.org/abs/2405.04434"},
    {"Fedus et al.: Switch Transformers (2021)", "https://arxiv.org/abs/2101.03961"},
    {"Qi et al.: Zero Bubble Pipeline Parallelism (2023)", "https://arxiv.org/abs/2401.10241"},
    {"Narayanan et al.: Efficient Large-Scale Language Model Training (2021)", "https://arxiv.org/abs/2104.04473"},
    {"Zhao et al.: PyTorch FSDP (2023)", "https://arxiv.org/abs/2304.11277"},
    {"Transformer Engine", "https://github.com/NVIDIA/TransformerEngine"},
    {"cuBLAS, Transformer Engine", "https://docs.nvidia.com/cuda/cublas/"},
    {"PyTorch: CUDACachingAllocator.cpp", "https://github.com/pytorch/pytorch/blob/main/c10/cuda/CUDACachingAllocator.cpp"},
    {"NVIDIA: Megatron-LM", "https://github.com/NVIDIA/Megatron-LM"},
    {"SimuMax (B200)", "https://github.com/MooreThreads/SimuMax"},
    {"NCCL", "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html"},
    {"NVIDIA: Matrix Multiplication Background User's Guide",
     "https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/index.html"},
    {"NVIDIA: Memory-Limited Layers User's Guide",
     "https://docs.nvidia.com/deeplearning/performance/dl-performance-memory-limited/index.html"},
    {"Liu, Zaharia, Abbeel: Ring Attention with Blockwise Transformers (2023)", "https://arxiv.org/abs/2310.01889"},
    {"Yim et al.: Pipette (2024)", "https://arxiv.org/abs/2405.18093"},
    {"DeepSeek-V3 (2024)", "https://arxiv.org/abs/2412.19437"},
    {"Hu et al.: LoRA (2021)", "https://arxiv.org/abs/2106.09685"},
    {"Dettmers et al.: QLoRA (2023)", "https://arxiv.org/abs/2305.14314"},
    {"Maurya et al.: Deep Optimizer States (2024)", "https://arxiv.org/abs/2410.21316"},
    {"Maurya et al.: MLP-Offload (2025)", "https://arxiv.org/abs/2509.02480"},
    {"Ren et al.: ZeRO-Offload (2021)", "https://arxiv.org/abs/2101.06840"},
    {"Wahib et al.: KARMA (2020)", "https://arxiv.org/abs/2008.11421"},
    {"Jacobs et al.: DeepSpeed Ulysses (2023)", "https://arxiv.org/abs/2309.14509"},
    {"Bekman et al.: Arctic Long Sequence Training (2025)", "https://arxiv.org/abs/2506.13996"},
    {"Hsu et al.: Liger Kernel (2024)", "https://arxiv.org/abs/2410.10989"},
    {"Li et al.: TeraPipe (2021)", "https://arxiv.org/abs/2102.07988"},
    {"Sun et al.: Seq1F1B (2024)", "https://arxiv.org/abs/2406.03488"},
    {"Singh et al.: AxoNN (2023)", "https://arxiv.org/abs/2305.13525"},
    {"LitGPT", "https://github.com/Lightning-AI/litgpt"},
    {"torchtitan", "https://github.com/pytorch/torchtitan"},
    {"Yang et al.: Gated Delta Networks (2024)", "https://arxiv.org/abs/2412.06464"},
    {"PyTorch: adam.py", "https://github.com/pytorch/pytorch/blob/main/torch/optim/adam.py"},
}};
const Source& source(Paper paper) { return kSources[static_cast<std::size_t>(paper)]; }

// In the order of the enum.
static constexpr std::array<ItemText, static_cast<std::size_t>(Item::count)> kItems = {{
    {"weights", Group::weights, Paper::zero, "3.1"},
    {"gradients", Group::gradients, Paper::zero, "3.1"},
    {"dropout_masks", Group::activations, Paper::recomputation, "4.1"},
    {"embedding_dropout_mask", Group::activations, Paper::recomputation, "4.3"},
    {"optimizer", Group::optimizer, Paper::fujii, ""},
    {"attention_activations", Group::activations, Paper::fujii, ""},
    {"embedding_activations", Group::activations, Paper::fujii, ""},
    {"head_activations", Group::activations, Paper::fujii, ""},
    {"fp8_weights", Group::weights, Paper::engine, "Float8Tensor"},
    {"frozen_weights", Group::weights, Paper::qlora, "2, 3"},
    {"stable_embedding", Group::weights, Paper::litgpt, "finetune/lora.py"},
    {"adapters", Group::weights, Paper::lora, "4.1"},
    {"master_weights", Group::optimizer, Paper::zero, "3.1"},
    {"moments", Group::optimizer, Paper::zero, "3.1"},
    {"norm_activations", Group::activations, Paper::recomputation, "4.1"},
    {"norm_outputs", Group::activations, Paper::recomputation, "4.1"},
    {"norm_copies", Group::activations, Paper::recomputation, "4.1"},
    {"adapter_inputs", Group::activations, Paper::lora, "4.1"},
    {"adapter_activations", Group::activations, Paper::lora, "4.1"},
    {"latent_activations", Group::activations, Paper::latent, "2.1"},
    {"linear_activations", Group::activations, Paper::delta, "3.3"},
    {"qkv_activations", Group::activations, Paper::recomputation, "4.1"},
    {"qk_norm_activations", Group::activations, Paper::runs, "qk_layernorm"},
    {"attention_output", Group::activations, Paper::recomputation, "4.1"},
    {"attention_output_copy", Group::activations, Paper::runs, "flash_attn_context_parallel"},
    {"attention_gate", Group::activations, Paper::runs, "attn_output_gate"},
    {"log_sum_exp", Group::activations, Paper::flash, "3.1"},
    {"attention_scores", Group::activations, Paper::recomputation, "4.1"},
    {"feed_forward_activations", Group::activations, Paper::recomputation, "4.1"},
    {"router_activations", Group::activations, Paper::experts, "2.1"},
    {"expert_activations", Group::activations, Paper::experts, "2.2"},
    {"expert_products", Group::activations, Paper::experts, "2.2"},
    {"limited_activations", Group::activations, Paper::runs, "weighted_bias_quick_geglu"},
    {"shared_expert_activations", Group::activations, Paper::latent, "2.2"},
    {"matrix_outputs", Group::activations, Paper::torchtitan, "distributed/activation_checkpoint.py"},
    {"exchange_outputs", Group::activations, Paper::torchtitan, "distributed/activation_checkpoint.py"},
    {"checkpoints", Group::activations, Paper::recomputation, "5"},
    {"waiting_activations", Group::activations, Paper::zero_bubble, "2"},
    {"slice_keys", Group::activations, Paper::seq1f1b, "token_slices"},
    {"offload_buffers", Group::temporaries, Paper::karma, "swapped_blocks"},
    {"head", Group::temporaries, Paper::recomputation, "4.3"},
    {"first_backward", Group::temporaries, Paper::runs, "peak_of_a_step"},
    {"input_gradients", Group::temporaries, Paper::fsdp, "3.2"},
    {"recomputed_unit", Group::temporaries, Paper::recomputation, "5"},
    {"gathered_weights", Group::temporaries, Paper::fsdp, "3.2, 3.3"},
    {"whole_gradients", Group::temporaries, Paper::fsdp, "3.2"},
    {"unpacked_weights", Group::temporaries, Paper::qlora, "3"},
    {"inputs_before", Group::temporaries, Paper::litgpt, "finetune/lora.py"},
    {"library_workspaces", Group::workspaces, Paper::cublas, "cublasSetWorkspace"},
    {"dummy_gradients", Group::workspaces, Paper::engine, "get_dummy_wgrad"},
    {"global_buffer", Group::workspaces, Paper::runs, "GlobalMemoryBuffer"},
    {"pipeline_buffers", Group::workspaces, Paper::pipeline, "2.2"},
    {"attention_mask", Group::workspaces, Paper::runs, "attention_mask"},
    {"allocator_rounding", Group::workspaces, Paper::allocator, "kRoundLarge"},
    {"between_steps", Group::workspaces, Paper::runs, "between_steps"},
    {"update", Group::temporaries, Paper::torch_adam, "_multi_tensor_adam"},
    {"allocator_slack", Group::outside, Paper::b200_runs, "reserved_over_allocated_mean"},
    {"nccl_buffers", Group::outside, Paper::nccl, "NCCL_BUFFSIZE"},
    {"cuda_context", Group::outside, Paper::cublas, "measured"},
}};
static_assert(!kItems.back().id.empty(), "every item has a text");
const ItemText& text(Item item) { return kItems[static_cast<std::size_t>(item)]; }

static constexpr std::string_view kFujiiLimits[] = {"first_stage_only",   "token_ids_per_value",   "feed_forward_not_fused",
                                                    "logits_four_bytes",  "no_full_recomputation", "table_without_seven",
                                                    "outside_not_counted"};
static constexpr std::string_view kDetailedLimits[] = {"checked_on", "even_experts", "outside_estimated"};
static constexpr std::array<MethodText, kMethods> kMethodTexts = {{
    {"detailed", kSources[static_cast<std::size_t>(Paper::recomputation)], kDetailedLimits},
    {"fujii2024", kSources[static_cast<std::size_t>(Paper::fujii)], kFujiiLimits},
}};
double memory_calibration(const Plan& plan, double bytes) {
    constexpr double kLeast = 0.1;  // chosen: a constant below zero must leave something of a small model
    return std::max(kLeast, plan.memory_factor + plan.memory_extra * kGibi / bytes);
}

const MethodText& text(Method method) { return kMethodTexts[static_cast<std::size_t>(method)]; }

}  // namespace fourfold
