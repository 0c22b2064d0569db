// Based on
//   K. Fujii, K. Watanabe, R. Yokota: Accelerating Large Language Model Training with 4D Parallelism and Memory Consumption Estimator,
//   arXiv 2411.06465 (2024), and the estimator that its authors publish in their fork of Megatron-LM.
// Legend
//   s sequence length   b micro-batch   h hidden size   f feed-forward width   a attention heads   k KV heads   d head width   L layers
//   v padded vocabulary   t, p, c, D tensor, pipeline, context, data parallel   V chunks per GPU   m micro-batches per step
#include "memory.h"

namespace fourfold {

static constexpr std::array<GroupText, static_cast<std::size_t>(Group::count)> kGroups = {{
    {"weights", "Weights", "The model itself: every number that training adjusts, in 16 bits."},
    {"gradients", "Gradients", "For every weight, the direction in which it should move."},
    {"optimizer", "Optimizer", "What Adam remembers of every weight: a precise copy and two running averages."},
    {"activations", "Activations", "What the forward pass must keep until the backward pass needs it."},
    {"temporaries", "Loss and temporaries", "What exists only at the worst moment of the step."},
    {"workspaces", "Workspaces and buffers", "Set aside by libraries and framework."},
}};
const GroupText& text(Group group) { return kGroups[static_cast<std::size_t>(group)]; }

static constexpr std::array<ItemText, static_cast<std::size_t>(Item::count)> kItems = {{
    {"weights", Group::weights, "Weights", "Two bytes (bf16) for every weight that this GPU holds.", "model states"},
    {"gradients", Group::gradients, "Gradients", "One gradient for every weight that this GPU holds.", "model states"},
    {"optimizer", Group::optimizer, "Optimizer state",
     "Twelve bytes for every weight: a 4-byte copy and two 4-byte averages (Adam). The distributed optimizer shares them out among the "
     "data-parallel and context-parallel GPUs.",
     "model states"},
    {"attention_activations", Group::activations, "Attention and norms",
     "Inputs and outputs of the norms and of attention (queries, keys, values), for every layer of the stages whose micro-batches are in "
     "flight.",
     "activations"},
    {"feed_forward_activations", Group::activations, "Feed-forward",
     "The inner values of the feed-forward part, the widest of every layer.", "activations"},
    {"attention_scores", Group::activations, "Attention scores",
     "The table of every token against every other token, which plain attention writes to memory.", "activations"},
    {"dropout_masks", Group::activations, "Dropout masks", "Which values dropout set to zero, in every layer.", "activations"},
    {"embedding_activations", Group::activations, "Input embedding",
     "Kept at the input of the first stage for every micro-batch in flight. The paper counts the token ids once per hidden value.",
     "activations"},
    {"embedding_dropout_mask", Group::activations, "Embedding dropout mask", "Which values dropout set to zero after the embedding.",
     "activations"},
    {"head_activations", Group::activations, "Final norm and logits",
     "With one pipeline stage, the first GPU also computes the model's output: one 4-byte number per token and word of the vocabulary.",
     "activations"},
    {"master_weights", Group::optimizer, "Precise weights", "A 4-byte copy of every weight, which the optimizer updates.", "persistent"},
    {"moments", Group::optimizer, "Adam's averages", "Two running averages of every gradient.", "persistent"},
    {"dummy_gradients", Group::workspaces, "Dummy gradients", "One 16-bit gradient per weight shape, kept by Transformer Engine.",
     "persistent"},
    {"library_workspaces", Group::workspaces, "Library workspaces", "Scratch memory of cuBLAS and Transformer Engine.", "persistent"},
    {"global_buffer", Group::workspaces, "Gather buffer", "One buffer for the largest gather of a step.", "persistent"},
    {"pipeline_buffers", Group::workspaces, "Pipeline buffers", "Tensors on their way between stages.", "persistent"},
    {"attention_mask", Group::workspaces, "Attention mask", "Which token may look at which.", "persistent"},
    {"allocator_rounding", Group::workspaces, "Rounding", "Large blocks are handed out in steps of 2 MiB.", "persistent"},
    {"norm_activations", Group::activations, "Norms", "Inputs and outputs of the norms, and their statistics.", "per layer"},
    {"latent_activations", Group::activations, "Latents", "The compressed queries, keys and values of latent attention.", "per layer"},
    {"qkv_activations", Group::activations, "Queries, keys, values", "What attention compares and mixes.", "per layer"},
    {"qk_norm_activations", Group::activations, "Query and key norm", "Their outputs and statistics.", "per layer"},
    {"attention_output", Group::activations, "Attention output", "The mixed values, before they are projected back.", "per layer"},
    {"attention_output_copy", Group::activations, "Copy of the attention output", "Once more: transposed, or kept by context parallelism.",
     "per layer"},
    {"log_sum_exp", Group::activations, "Log-sum-exp", "One 4-byte number per token and head, from which scores are rebuilt.", "per layer"},
    {"router_activations", Group::activations, "Router", "Which expert each token goes to, and with what weight.", "per layer"},
    {"expert_activations", Group::activations, "Experts", "Inputs and inner values of the experts.", "per layer"},
    {"shared_expert_activations", Group::activations, "Shared experts", "Inner values of the experts that every token visits.",
     "per layer"},
    {"head", Group::temporaries, "Logits and loss", "One number per token and word, while the loss is computed.", "head"},
    {"first_backward", Group::temporaries, "First layer of the backward pass", "Gradients of the layer that is worked on first.", "head"},
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
static constexpr std::array<MethodText, kMethods> kMethodTexts = {{
    {"fujii2024",
     "Fujii et al. 2024",
     "The published formulas for Llama. Their authors made 454 runs on A100 and H100 and report that none ran out of memory when the "
     "estimate was below 80 % of the card.",
     {"Fujii, Watanabe, Yokota: Accelerating Large Language Model Training with 4D Parallelism and Memory Consumption Estimator (2024)",
      "https://arxiv.org/abs/2411.06465"},
     kFujiiLimits},
}};
const MethodText& text(Method method) { return kMethodTexts[static_cast<std::size_t>(method)]; }

template <class N>
Items<N> fujii2024(const Model& model, const Plan& plan) {
    const auto number = [](const char* letter, const char* meaning, const char* unit, std::int64_t value) {
        return quantity<N>({letter, meaning, unit}, static_cast<double>(value));
    };
    const N L = number("L", "layers", "", model.layers);
    const N h = number("h", "hidden size", "values per token", model.hidden);
    const N f = number("f", "feed-forward width", "values per token", model.ffn);
    const N a = number("a", "attention heads", "", model.heads);
    const N k = number("k", "KV heads", "", model.kv_heads);
    const N d = number("d", "head width", "values", model.head_dim);
    const N v = number("v", "vocabulary, padded to a multiple of 128·t", "words", padded_vocabulary(model, plan.tensor_parallel));
    const N s = number("s", "sequence length", "tokens", plan.sequence_length);
    const N b = number("b", "micro-batch", "sequences", plan.micro_batch);
    const N t = number("t", "tensor parallel (TP)", "GPUs", plan.tensor_parallel);
    const N p = number("p", "pipeline parallel (PP)", "stages", plan.pipeline_parallel);
    const N c = number("c", "context parallel (CP)", "GPUs", plan.context_parallel);
    const N D = number("D", "data parallel (DP)", "copies of the model", plan.data_parallel());
    const bool one_stage = plan.pipeline_parallel == 1;
    Items<N> items;

    // parameters: all layers with the final norm; then the share of the heaviest GPU
    const N layers = named<N>({"W", "parameters of all layers and the final norm", ""},
                              2 * L * squared(h) * ((1 + k / a) * (d * a / h) + (model.gated ? 1.5 : 1.0) * f / h + 1 / h) + h);
    N heaviest = ((layers - h) / p + h * v) / t;
    if (one_stage && !model.tied) heaviest = heaviest + h * v / t + h;
    const N P = named<N>({"P", "parameters of the heaviest GPU", ""}, heaviest);

    // states
    items.add(Item::weights, 2 * P);
    items.add(Item::gradients, (plan.gradients_in_fp32 ? 4 : 2) * P);
    items.add(Item::optimizer, plan.distributed_optimizer ? 12 / (D * c) * P : 12 * P);

    // activations of the first stage; `in_flight` corrects for schedules that hold more, or steps that hold less, than p micro-batches
    const N x = named<N>({"x", "tokens of a sequence on one GPU", "tokens"}, s / c);
    N in_flight = 1;
    bool corrected = false;
    if (plan.virtual_stages > 1) {
        const N V = number("V", "chunks per GPU (interleaved schedule)", "", plan.virtual_stages);
        in_flight = named<N>({"i", "micro-batches in flight, relative to p", ""}, 1 + (p - 1) / (p * V));
        corrected = true;
    } else if (plan.global_batch < plan.micro_batch * plan.data_parallel() * plan.pipeline_parallel) {  // m < p
        const N m = number("m", "micro-batches per step", "", plan.micro_batches());
        in_flight = named<N>({"i", "micro-batches in flight, relative to p", ""}, m / p);
        corrected = true;
    }
    const auto add = [&](Item item, const N& bytes) { items.add(item, corrected ? bytes * in_flight : bytes); };

    add(Item::attention_activations, L / t * (x * b * (h * (12 + 4 * k / a))));
    add(Item::feed_forward_activations, L / t * (x * b * (8 * f)));
    if (plan.attention == Attention::plain) add(Item::attention_scores, L / t * ((plan.attention_dropout ? 5 : 4) * b * a * squared(x)));
    if (plan.hidden_dropout) add(Item::dropout_masks, L / t * (2 * x * b * h));
    add(Item::embedding_activations, 8 * x * b * h * p / t);
    if (plan.hidden_dropout) add(Item::embedding_dropout_mask, s * b * h * p);
    if (one_stage) items.add(Item::head_activations, 4 * x * b * h * (1 + v / h) / t);
    return items;
}

template Items<double> fujii2024<double>(const Model&, const Plan&);
template Items<Traced> fujii2024<Traced>(const Model&, const Plan&);

}  // namespace fourfold
