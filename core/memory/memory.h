// How many bytes a GPU holds at the worst moment of a training step, item by item. Each method is written once over the number type
// (formula.h): double in the search, Traced for the plan on the page.
#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "base/formula.h"
#include "model/model.h"
#include "plan/framework.h"
#include "plan/plan.h"
#include "plan/stage.h"

namespace fourfold {

struct Source {
    std::string_view title, url;
};

// ---- what can fill a GPU
enum class Group { weights, gradients, optimizer, activations, temporaries, workspaces, outside, count };
inline constexpr auto kGroups = static_cast<std::size_t>(Group::count);
struct GroupText {
    std::string_view id;
};
const GroupText& text(Group group);

// Of both methods, of fujii2024, of detailed.
enum class Item {
    weights,
    gradients,
    dropout_masks,
    embedding_dropout_mask,
    optimizer,
    attention_activations,
    embedding_activations,
    head_activations,
    fp8_weights,
    frozen_weights,
    stable_embedding,
    adapters,
    master_weights,
    moments,
    norm_activations,
    norm_outputs,
    norm_copies,
    adapter_inputs,
    adapter_activations,
    latent_activations,
    linear_activations,
    // a layer's attention, from its projections to the scores: layer_kept.h relies on the order
    qkv_activations,
    qk_norm_activations,
    attention_output,
    attention_output_copy,
    attention_gate,
    log_sum_exp,
    attention_scores,
    feed_forward_activations,
    router_activations,
    expert_activations,
    expert_products,
    limited_activations,
    shared_expert_activations,
    matrix_outputs,
    exchange_outputs,
    checkpoints,
    waiting_activations,
    slice_keys,
    offload_buffers,
    head,
    first_backward,
    input_gradients,
    recomputed_unit,
    gathered_weights,
    whole_gradients,
    unpacked_weights,
    inputs_before,
    library_workspaces,
    dummy_gradients,
    global_buffer,
    pipeline_buffers,
    attention_mask,
    allocator_rounding,
    between_steps,
    update,
    allocator_slack,
    nccl_buffers,
    cuda_context,
    count
};
enum class Paper {
    fujii,
    zero,
    recomputation,
    flash,
    latent,
    experts,
    zero_bubble,
    pipeline,
    fsdp,
    engine,
    cublas,
    allocator,
    runs,
    b200_runs,
    nccl,
    matrix_guide,  // of time
    memory_guide,
    ring,
    pipette,
    dualpipe,
    lora,
    qlora,
    deep_optimizer_states,
    mlp_offload,
    zero_offload,
    karma,
    ulysses,
    long_sequences,
    liger,
    terapipe,
    seq1f1b,
    axonn,
    litgpt,
    torchtitan,
    delta,
    torch_adam,
    count
};
struct ItemText {
    std::string_view id;
    Group group;
    Paper paper;
    std::string_view place;  // where in the paper
};
const ItemText& text(Item item);
const Source& source(Paper paper);

// The items of one estimate: at most one of each kind, no allocation for N = double.
template <class N>
class Items {
 public:
    void add(Item item, const N& bytes) {
        items_[size_] = item;
        bytes_[size_++] = bytes;
    }
    // The same of one that may be there.
    void raise(Item item, const N& bytes) {
        for (std::size_t i = 0; i < size_; ++i)
            if (items_[i] == item) {
                bytes_[i] = bytes_[i] + bytes;
                return;
            }
        add(item, bytes);
    }
    void multiply(const N& by) {
        for (std::size_t i = 0; i < size_; ++i) bytes_[i] = by * bytes_[i];
    }
    std::size_t size() const { return size_; }
    Item item(std::size_t i) const { return items_[i]; }
    const N& bytes(std::size_t i) const { return bytes_[i]; }
    double total() const {
        double sum = 0;
        for (std::size_t i = 0; i < size_; ++i) sum += value_of(bytes_[i]);
        return sum;
    }

 private:
    static constexpr std::size_t kMost = static_cast<std::size_t>(Item::count);
    std::array<Item, kMost> items_;
    std::array<N, kMost> bytes_;
    std::size_t size_ = 0;
};

// ---- methods
enum class Method { detailed, fujii2024 };
struct MethodText {
    std::string_view id;
    Source source;
    std::span<const std::string_view> limits;  // ids: what it is known not to count
};
inline constexpr std::size_t kMethods = 2;
const MethodText& text(Method method);

// Bytes on a GPU of the first pipeline stage after Fujii, Watanabe, Yokota 2024 (arXiv 2411.06465) and its authors' tool, exactly;
// `plan` must be legal. Megatron-LM, bf16 weights, Adam, sequence parallelism.
template <class N>
Items<N> fujii2024(const Model& model, const Plan& plan);
extern template Items<double> fujii2024<double>(const Model&, const Plan&);
extern template Items<Traced> fujii2024<Traced>(const Model&, const Plan&);

// Bytes per parameter of Adam's two averages, by Moments; 8 bits come with one fp32 scale per block of 256 values.
inline constexpr double kMomentsBytes[] = {8, 4, 2 * (1 + 4.0 / 256)};
// Of one average of the gradients, in the format of the plan's optimizer; Adam has two, SGD with momentum one, Muon one for the matrices of
// layers.
inline double average_bytes(const Plan& p) {
    return kMomentsBytes[static_cast<std::size_t>(p.optimizer == Optimizer::adam_8bit ? Moments::bits8 : p.moments)] / 2;
}
// Bytes per logit, by LossKernel: at the worst moment of the loss, and kept by every further prediction of a token.
struct LossBytes {
    double at_worst, kept;
};
inline constexpr LossBytes kLossBytes[] = {{6, 4}, {10, 4}, {2, 2}, {14, 4}, {4, 4}, {2, 0}, {14, 4}};
// In chunks, logits and their log-softmax are whole: both in 32 bits where the model hands its logits over so.
inline LossBytes loss_bytes(const Model& m, const Plan& p, LossKernel loss) {
    const bool wide = loss == LossKernel::chunked && row_of(p.framework).logits_in_fp32;
    // log-softmax, its gradient, and the gradient of the logits, in 32 bits
    if (loss == LossKernel::gathered && row_of(p.framework).frees_logits) return {4 + 4 + 4 + (m.capped_logits ? 2.0 : 0), 4};
    // Split among several: log-softmax, -1 at the targets, exp(log-softmax) and the sum of both, in 32 bits (PyTorch,
    // distributed/tensor/parallel/loss.py: _nll_loss_and_log_softmax_backward); torchtitan frees the logits before (train.py).
    if (loss == LossKernel::parallel && p.tensor_parallel > 1) return {4 + 4 + 4 + 4, 4};
    return wide ? LossBytes{4 + 4, 4 + 4} : kLossBytes[static_cast<std::size_t>(loss)];
}

// How many times as much the user's own runs held as is estimated without them, of a GPU with so many bytes. A constant is spread over all
// items in proportion: which of them is larger nobody measured.
double memory_calibration(const Plan& plan, double bytes);
template <class N>
void calibrate(Items<N>& items, double times) {
    items.multiply(quantity<N>({"k_z", "memory_calibration", ""}, times));
}

template <class N>
struct StageMemory {
    Items<N> items;                        // at the worst moment of a step
    double static_bytes = 0;               // between steps
    double peak_bytes = 0;                 // the items' sum
    double at_head = 0, at_backward = 0;   // of the items' sum, what exists only while the head or the first layer of a backward pass works
    double beyond_passes = 0;              // of the items' sum, what an update alone needs
    double cast_weights = 0;               // among the items: copies of weights that the backward pass frees
    N forward_casts = 0.0;                 // not among the items: such copies that are gone when the backward pass begins
    N late_gradients = 0.0;                // not among the items yet (late_gradients.h)
    N at_update = 0.0;                     // while weights are updated by lists of tensors, more than between steps
    N host_bytes = 0.0, nvme_bytes = 0.0;  // in the node's own memory and on its drives, for this GPU (host.h)
    double pcie_bytes = 0;                 // between host and GPU, per step
};

// Allocated bytes of one rank of a pipeline stage at the moment that `stage` describes (stage.h); sources beside each term in
// memory_detailed.cpp. `plan` must be legal.
template <class N>
StageMemory<N> detailed(const Model& model, const Plan& plan, const Framework& framework, const Stage& stage);
extern template StageMemory<double> detailed<double>(const Model&, const Plan&, const Framework&, const Stage&);
extern template StageMemory<Traced> detailed<Traced>(const Model&, const Plan&, const Framework&, const Stage&);

// The moment of a step at which a stage holds most.
Stage fullest_moment(const Model& model, const Plan& plan, const Framework& framework, const Stages& stages, std::int32_t stage,
                     KnownMoments* known = nullptr);
// The moment at which most of a stage's activations wait on the host.
Stage fullest_on_host(const Model& model, const Plan& plan, const Framework& framework, const Stages& stages, std::int32_t stage);

// The stage that holds most, and its bytes (double alone: for searches). It ends at the first stage with more than `most` bytes.
struct Fullest {
    double bytes;
    std::int32_t stage;
};
Fullest fullest_stage(const Model& model, const Plan& plan, const Framework& framework, KnownMoments* known = nullptr,
                      double most = INFINITY);

}  // namespace fourfold
