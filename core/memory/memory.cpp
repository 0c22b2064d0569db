#include "memory/memory.h"

namespace fourfold {

static constexpr std::array<GroupText, static_cast<std::size_t>(Group::count)> kGroups = {{
    {"weights", "Weights", "The model itself: every number that training adjusts, in 16 bits."},
    {"gradients", "Gradients", "For every weight, the direction in which it should move."},
    {"optimizer", "Optimizer", "What Adam remembers of every weight: a precise copy and two running averages."},
    {"activations", "Activations", "What the forward pass must keep until the backward pass needs it."},
    {"temporaries", "Loss and temporaries", "What exists only at the worst moment of the step."},
    {"workspaces", "Workspaces and buffers", "Set aside by libraries and framework."},
    {"outside", "Outside the allocator", "What the card holds beside what PyTorch handed out."},
}};
const GroupText& text(Group group) { return kGroups[static_cast<std::size_t>(group)]; }

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
    {"cuBLAS and Transformer Engine", "https://docs.nvidia.com/cuda/cublas/"},
    {"PyTorch: CUDACachingAllocator.cpp", "https://github.com/pytorch/pytorch/blob/main/c10/cuda/CUDACachingAllocator.cpp"},
    {"Megatron-LM and its measured test runs", "https://github.com/NVIDIA/Megatron-LM"},
    {"SimuMax: measured runs on B200", "https://github.com/MooreThreads/SimuMax"},
    {"NCCL", "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html"},
    {"NVIDIA: Matrix Multiplication Background User's Guide",
     "https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/index.html"},
    {"NVIDIA: Memory-Limited Layers User's Guide",
     "https://docs.nvidia.com/deeplearning/performance/dl-performance-memory-limited/index.html"},
    {"Liu, Zaharia, Abbeel: Ring Attention with Blockwise Transformers (2023)", "https://arxiv.org/abs/2310.01889"},
    {"Yim et al.: Pipette (2024)", "https://arxiv.org/abs/2405.18093"},
    {"DeepSeek-V3 (2024)", "https://arxiv.org/abs/2412.19437"},
}};
const Source& source(Paper paper) { return kSources[static_cast<std::size_t>(paper)]; }

// In the order of the enum.
static constexpr std::array<ItemText, static_cast<std::size_t>(Item::count)> kItems = {{
    {"weights", Group::weights, "Weights", "Two bytes (bf16) for every weight that this GPU holds.", Paper::zero, "3.1"},
    {"gradients", Group::gradients, "Gradients", "One gradient for every weight that this GPU holds.", Paper::zero, "3.1"},
    {"dropout_masks", Group::activations, "Dropout masks", "Which values dropout set to zero, in every layer.", Paper::recomputation,
     "4.1"},
    {"embedding_dropout_mask", Group::activations, "Embedding dropout mask", "Which values dropout set to zero after the embedding.",
     Paper::recomputation, "4.3"},
    {"optimizer", Group::optimizer, "Optimizer state",
     "Twelve bytes for every weight: a 4-byte copy and two 4-byte averages (Adam). The distributed optimizer shares them out among the "
     "data-parallel and context-parallel GPUs.",
     Paper::fujii, ""},
    {"attention_activations", Group::activations, "Attention and norms",
     "Inputs and outputs of the norms and of attention (queries, keys, values), for every layer of the stages whose micro-batches are in "
     "flight.",
     Paper::fujii, ""},
    {"embedding_activations", Group::activations, "Input embedding",
     "Kept at the input of the first stage for every micro-batch in flight. The paper counts the token ids once per hidden value.",
     Paper::fujii, ""},
    {"head_activations", Group::activations, "Final norm and logits",
     "With one pipeline stage, the first GPU also computes the model's output: one 4-byte number per token and word of the vocabulary.",
     Paper::fujii, ""},
    {"fp8_weights", Group::weights, "fp8 copies", "Each weight matrix once more in fp8, in both layouts.", Paper::engine, "Float8Tensor"},
    {"master_weights", Group::optimizer, "Precise weights", "A 4-byte copy of every weight, which the optimizer updates.", Paper::zero,
     "3.1"},
    {"moments", Group::optimizer, "Adam's averages", "Two running averages of every gradient.", Paper::zero, "3.1"},
    {"norm_activations", Group::activations, "Norms", "What the norms read, and their statistics.", Paper::recomputation, "4.1"},
    {"norm_outputs", Group::activations, "Outputs of the norms", "What attention and feed-forward read.", Paper::recomputation, "4.1"},
    {"norm_copies", Group::activations, "Norms in single operations", "Copies in fp32 that a fused norm does without.",
     Paper::recomputation, "4.1"},
    {"latent_activations", Group::activations, "Latents", "The compressed queries, keys and values of latent attention.", Paper::latent,
     "2.1"},
    {"qkv_activations", Group::activations, "Queries, keys, values", "What attention compares and mixes.", Paper::recomputation, "4.1"},
    {"qk_norm_activations", Group::activations, "Query and key norm", "Their outputs and statistics.", Paper::runs, "qk-layernorm"},
    {"attention_output", Group::activations, "Attention output", "The mixed values, before they are projected back.", Paper::recomputation,
     "4.1"},
    {"attention_output_copy", Group::activations, "Copy of the attention output", "Once more: transposed, or kept by context parallelism.",
     Paper::runs, "flash-attn, context parallel"},
    {"log_sum_exp", Group::activations, "Log-sum-exp", "One 4-byte number per token and head, from which scores are rebuilt.", Paper::flash,
     "3.1"},
    {"attention_scores", Group::activations, "Attention scores",
     "The table of every token against every other token, which plain attention writes to memory.", Paper::recomputation, "4.1"},
    {"feed_forward_activations", Group::activations, "Feed-forward",
     "The inner values of the feed-forward part, the widest of every layer.", Paper::recomputation, "4.1"},
    {"router_activations", Group::activations, "Router", "Which expert each token goes to, and with what weight.", Paper::experts, "2.1"},
    {"expert_activations", Group::activations, "Experts", "What the experts read, and their inner values.", Paper::experts, "2.2"},
    {"expert_products", Group::activations, "Expert activation", "What the experts' activation function returns.", Paper::experts, "2.2"},
    {"shared_expert_activations", Group::activations, "Shared experts", "Inner values of the experts that every token visits.",
     Paper::latent, "2.2"},
    {"checkpoints", Group::activations, "Checkpoints", "The inputs from which recomputed layers start again.", Paper::recomputation, "5"},
    {"waiting_activations", Group::activations, "Waiting for weight gradients",
     "What the second half of the backward pass will need: inputs, and gradients of outputs.", Paper::zero_bubble, "2"},
    {"head", Group::temporaries, "Logits and loss", "One number per token and word, while the loss is computed.", Paper::recomputation,
     "4.3"},
    {"first_backward", Group::temporaries, "First layer of the backward pass", "Gradients of the layer that is worked on first.",
     Paper::runs, "peak of a step"},
    {"recomputed_unit", Group::temporaries, "Layers computed again", "Everything between two checkpoints, for one micro-batch.",
     Paper::recomputation, "5"},
    {"gathered_weights", Group::temporaries, "Gathered weights", "The layer at work, whole, and the one that is fetched ahead.",
     Paper::fsdp, "3.2, 3.3"},
    {"whole_gradients", Group::temporaries, "Gradients before sharing out", "Of one layer, whole.", Paper::fsdp, "3.2"},
    {"library_workspaces", Group::workspaces, "Library workspaces", "Scratch memory of cuBLAS and Transformer Engine.", Paper::cublas,
     "cublasSetWorkspace"},
    {"dummy_gradients", Group::workspaces, "Dummy gradients", "One 16-bit gradient per weight shape, kept by Transformer Engine.",
     Paper::engine, "get_dummy_wgrad"},
    {"global_buffer", Group::workspaces, "Gather buffer", "One buffer for the largest gather of a step.", Paper::runs,
     "GlobalMemoryBuffer"},
    {"pipeline_buffers", Group::workspaces, "Pipeline buffers", "Tensors on their way between stages.", Paper::pipeline, "2.2"},
    {"attention_mask", Group::workspaces, "Attention mask", "Which token may look at which.", Paper::runs, "attention mask"},
    {"allocator_rounding", Group::workspaces, "Rounding", "Large blocks are handed out in steps of 2 MiB.", Paper::allocator,
     "kRoundLarge"},
    {"between_steps", Group::workspaces, "Between steps", "Copies of gradients and receive buffers that live while nothing is computed.",
     Paper::runs, "between steps"},
    {"allocator_slack", Group::outside, "Fragmentation", "Reserved by PyTorch's allocator, but not handed out.", Paper::b200_runs,
     "reserved over allocated, mean"},
    {"nccl_buffers", Group::outside, "NCCL buffers", "Set aside for every group of GPUs that talk to each other.", Paper::nccl,
     "NCCL_BUFFSIZE"},
    {"cuda_context", Group::outside, "CUDA context", "The driver's own share, before anything is computed.", Paper::cublas, "measured"},
}};
static_assert(!kItems.back().id.empty(), "every item has a text");
const ItemText& text(Item item) { return kItems[static_cast<std::size_t>(item)]; }

static constexpr std::string_view kFujiiLimits[] = {
    "Looks at the first pipeline stage only: with more than one stage, the last stage's logits and loss are not counted.",
    "Token ids are counted once per hidden value, which is too much.",
    "The feed-forward part is counted as if its activation function were not fused.",
    "Logits are counted with 4 bytes each; the loss often holds more.",
    "Full recomputation of activations is not covered.",
    "Its authors' own table leaves seven entries below the 80 % line without a result, all on A100 40 GB: they failed or were not run.",
    "Library workspaces, the CUDA context, NCCL buffers and fragmentation are not counted: that is what the 20 % between the line and the "
    "card are for.",
};
static constexpr std::string_view kDetailedLimits[] = {
    "Checked against 325 runs of Megatron-LM, dense and with experts; ZeRO-2/3, fp8, offloading, recomputation and zero-bubble schedules "
    "follow their papers and await such a check.",
    "Experts get their tokens evenly, times the imbalance that you set.",
    "What lies outside of PyTorch's allocator (CUDA context, NCCL, fragmentation) is estimated apart, and decides together with it.",
};
static constexpr std::array<MethodText, kMethods> kMethodTexts = {{
    {"detailed",
     "Fourfold, every stage",
     "Counts what Megatron-Core allocates on every pipeline stage at the worst moment of a step. Against 325 measured runs the mean error "
     "is 0.4 % on dense models and 1.8 % on models with experts.",
     {"Korthikanti et al. (2022) and measured runs", "https://arxiv.org/abs/2205.05198"},
     kDetailedLimits},
    {"fujii2024", "Fujii et al. 2024",
     "The published formulas for Llama. Their authors made 454 runs on A100 and H100 and report that none ran out of memory when the "
     "estimate was below 80 % of the card.",
     kSources[static_cast<std::size_t>(Paper::fujii)], kFujiiLimits},
}};
const MethodText& text(Method method) { return kMethodTexts[static_cast<std::size_t>(method)]; }

}  // namespace fourfold
