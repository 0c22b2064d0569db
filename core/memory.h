// How many bytes a GPU holds at the worst moment of a training step, item by item. Each method is written once over the number type
// (formula.h): double in the search, Traced for the plan on the page.
#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "formula.h"
#include "framework.h"
#include "model.h"
#include "plan.h"

namespace fourfold {

struct Source {
    std::string_view title, url;
};

// ---- what can fill a GPU
enum class Group { weights, gradients, optimizer, activations, temporaries, workspaces, count };
struct GroupText {
    std::string_view id, label, summary;
};
const GroupText& text(Group group);

enum class Item {
    weights,
    gradients,
    optimizer,
    attention_activations,
    feed_forward_activations,
    attention_scores,
    dropout_masks,
    embedding_activations,
    embedding_dropout_mask,
    head_activations,
    // detailed
    master_weights,
    moments,
    dummy_gradients,
    library_workspaces,
    global_buffer,
    pipeline_buffers,
    attention_mask,
    allocator_rounding,
    norm_activations,
    latent_activations,
    qkv_activations,
    qk_norm_activations,
    attention_output,
    attention_output_copy,
    log_sum_exp,
    router_activations,
    expert_activations,
    shared_expert_activations,
    head,
    first_backward,
    count
};
struct ItemText {
    std::string_view id;
    Group group;
    std::string_view label, summary;
    std::string_view source_place;  // where in the method's source
};
const ItemText& text(Item item);

// The items of one estimate: at most one of each kind, no allocation for N = double.
template <class N>
class Items {
 public:
    void add(Item item, const N& bytes) {
        items_[size_] = item;
        bytes_[size_++] = bytes;
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
enum class Method { fujii2024 };
struct MethodText {
    std::string_view id, label, summary;
    Source source;
    std::span<const std::string_view> limits;  // what it is known not to count
};
inline constexpr std::size_t kMethods = 1;
const MethodText& text(Method method);

// Bytes on a GPU of the first pipeline stage after Fujii, Watanabe, Yokota 2024 (arXiv 2411.06465) and its authors' tool, to the letter;
// `plan` must be legal. Megatron-LM, bf16 weights, Adam, sequence parallelism.
template <class N>
Items<N> fujii2024(const Model& model, const Plan& plan);
extern template Items<double> fujii2024<double>(const Model&, const Plan&);
extern template Items<Traced> fujii2024<Traced>(const Model&, const Plan&);

// ---- detailed: every stage, every item
struct Workspaces {
    double transformer_engine = 32.0 * 1024 * 1024;  // bytes of one workspace: 32 MiB on Hopper and Blackwell, 4 MiB on A100
    double cublas_small = 8.125 * 1024 * 1024;
    double cublas_large = 32.0 * 1024 * 1024;
};

template <class N>
struct StageMemory {
    Items<N> items;           // at the worst moment of a step
    double static_bytes = 0;  // between steps
    double peak_bytes = 0;    // the items' sum, or static_bytes where that is more
};

// Layers per stage and chunk where they are not even; empty = even.
using StageLayers = std::vector<std::vector<std::int32_t>>;

// Allocated bytes of one rank of pipeline stage `stage`; sources beside each term in memory_detailed.cpp.
template <class N>
StageMemory<N> detailed(const Model& model, const Plan& plan, const Framework& framework, const Workspaces& workspaces,
                        const StageLayers& layers, std::int32_t stage);
extern template StageMemory<double> detailed<double>(const Model&, const Plan&, const Framework&, const Workspaces&, const StageLayers&,
                                                     std::int32_t);
extern template StageMemory<Traced> detailed<Traced>(const Model&, const Plan&, const Framework&, const Workspaces&, const StageLayers&,
                                                     std::int32_t);

// ---- verdict: the paper's rule, "below 80 % never out of memory"
inline constexpr double kLineShare = 0.8;
enum class Fit : std::uint8_t { fits, at_risk, does_not_fit };
inline constexpr std::string_view kFitIds[] = {"fits", "at_risk", "does_not_fit"};
inline Fit classify(double share) { return share <= kLineShare ? Fit::fits : share <= 1 ? Fit::at_risk : Fit::does_not_fit; }

}  // namespace fourfold
