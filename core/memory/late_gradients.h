// Gradients that do not outlive a step. For memory_detailed.cpp.
//   PyTorch, torch/optim/optimizer.py: zero_grad sets gradients to None; each comes back in the backward pass, while that frees
//     activations. So most is held where the pass begins, with all activations, or where it ends, with all gradients.
//   PyTorch, torch/csrc/autograd/input_buffer.cpp: two gradients of one tensor are added up when the second is there; in 16 bits that of a
//     tied head is a view, so that the sum is a third one (tests/evidence/transformers.jsonl)
//   torchtune, training/memory.py, register_optim_in_bwd_hooks, and K. Lv et al.: LOMO, arXiv 2306.09782: updated at once, none remains
#pragma once
#include <algorithm>

#include "memory/memory.h"
#include "plan/framework.h"
#include "plan/parameters.h"
#include "plan/shares.h"

namespace fourfold {

// Buffers of gradients stay where micro-batches are added up, and where DistributedDataParallel averages over copies.
inline bool frees_gradients(const Plan& p) {
    return row_of(p.framework).frees_gradients && !p.adds_up() && (p.shards_gradients() || p.data_parallel() * p.context_parallel == 1);
}

// Where FSDP of the second version shares them out: while the first layer works, or the embedding, whose share comes last. Whole are then
// the embedding's gradient, or a tied one's, the head's and their sum; and what the first layer sends.
template <class N>
[[gnu::noinline]] double end_of_shards(const Plan& p, Parameters<N>& parameters, double at_layer) {
    if (p.freezes()) return at_layer;
    const double share = (keeps_master(p) ? 4 : 2) / optimizer_sharers(p, p.tensor_grid());
    const double embedding = value_of(parameters.vocabulary()), layer = value_of(parameters.largest_layer());
    const double whole = 2 * ((parameters.separate_head() ? 1 : 3) * embedding + layer);
    return std::max(at_layer - share * layer, whole) - share * embedding;
}

// Adds what gradients need beyond the room that activations leave behind. `kept`: all that layers keep on the GPU, `of_layer`: by one of
// them. The gradient of the embedding comes last, when no layer works any more; that of a tied head comes first.
template <class N>
void add_late_gradients(const Plan& p, Parameters<N>& parameters, double of_layer, double kept, StageMemory<N>& result) {
    using std::max;
    const bool comes_last = !p.freezes() && parameters.separate_head();
    const double embedding = comes_last ? (p.gradients_in_fp32 ? 4 : 2) * value_of(parameters.vocabulary()) : 0;
    const bool tied = !p.freezes() && !parameters.separate_head() && p.zero == Zero::none && p.pipeline_parallel == 1;
    const double both = tied ? 4 * value_of(parameters.vocabulary()) : 0;  // one of 32 bits, or two of 16, beside the sum
    const double beginning = kept + std::max(result.at_head, result.at_backward);
    const double end = fully_shards(p) ? end_of_shards(p, parameters, of_layer + result.at_backward)
                                       : std::max(of_layer + result.at_backward - embedding, both);
    const N freed = quantity<N>({"A_z", "freed_activations", "bytes"}, beginning - std::max(0.0, end));
    const N rest = max(named<N>({"G_a", "late_gradients", "bytes"}, result.late_gradients) - freed, N(0.0));
    if (value_of(rest) > 0) result.items.raise(Item::gradients, rest);
}

}  // namespace fourfold
