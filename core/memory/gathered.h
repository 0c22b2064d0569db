// What FSDP holds whole for a moment. For memory_detailed.cpp. Its first version (flat parameters) is based on
//   Y. Zhao et al.: PyTorch FSDP, arXiv 2304.11277 (2023): what is gathered and when; section 3.3.4: between micro-batches that are
//     accumulated without communication, gradients stay whole
//   PyTorch, torch/distributed/fsdp/wrap.py, _validate_frozen_params: the gradient of a unit's flat parameter is as long as the unit,
//     frozen weights and all, wherever something in it learns
//   PEFT, utils/other.py, fsdp_auto_wrap_policy (Transformers' Trainer takes it): each adapter is a unit. The backward pass fetches ahead
//     the unit that worked before (_exec_order_utils.py): the next layer only when this one's first adapter works, behind its matrices
//   PyTorch, distributed/fsdp/_runtime_utils.py, _register_post_backward_reshard_only_hook: beside frozen weights a hook waits for the
//     gradients of a unit's inputs, and is there until the backward pass ends; of a layer that is computed again (Transformers before 5:
//     use_reentrant) the input is a leaf, which stays with its gradient as long as the hook does
// Its second version (fully_shard: each parameter by itself) on
//   accelerate, utils/fsdp_utils.py, fsdp2_prepare_model: each layer is a unit, an embedding with weights of its own, and last norm and
//     head (with a tied embedding), which stay whole from the forward to the backward pass
//   PyTorch, distributed/fsdp/_fully_shard/_fsdp_param_group.py: in the forward pass what was gathered last stays beside the weights that
//     were copied out of it; in the backward pass the next unit is gathered ahead; what a unit sends of its gradients stays until the next
//     unit sends
// and on measured runs (tests/evidence/transformers.jsonl).
#pragma once
#include "memory/memory.h"
#include "plan/adapters.h"
#include "plan/parameters.h"

namespace fourfold {

template <class N>
class Gathered : Symbols<N> {
 public:
    Gathered(const Model& model, const Plan& plan, const Stage& stage, Parameters<N>& parameters, Items<N>& items)
        : Symbols<N>(model, plan), stage_(stage), parameters_(parameters), items_(items) {}

    // What FSDP gathers for a moment: the layer at work and the one that is fetched ahead, or head and layer; and one unit's gradients.
    void add_items() {
        if (!p_.shards_gradients() || fully_shards(p_)) return;
        const N layer = named<N>({"G", "largest_layer", ""}, parameters_.largest_layer());
        const N head = parameters_.vocabulary();
        const bool head_is_largest = stage_.has_head && value_of(head) > value_of(layer);
        if (p_.freezes()) return frozen(layer, head_is_largest, head);
        if (p_.zero == Zero::weights)
            items_.add(Item::gathered_weights, root_stays() ? 2 * (root() + 2 * layer) : 2 * (head_is_largest ? head + layer : 2 * layer));
        items_.add(Item::whole_gradients, (p_.gradients_in_fp32 ? 4 : 2) * (head_is_largest ? head : layer));
    }

    // Of the second version, bytes beyond the head, while the last layer's backward pass works: its weights and the next ones, its
    // gradients, and those of the head, on their way or, where it is tied, whole until the end.
    [[gnu::noinline]] N at_backward() const {
        N bytes = p_.zero == Zero::weights ? layers_at_backward() : N(0.0);
        if (!p_.freezes()) bytes = bytes + gradients_at_backward();
        return bytes;
    }
    // In the forward pass, what was gathered last, beside the weights: the head, or a layer where a tied one is there from the beginning.
    [[gnu::noinline]] N at_head() const { return 2 * (parameters_.separate_head() ? parameters_.vocabulary() : layer()); }
    // What stays whole between the two passes without being gathered anew, and goes with each layer of the second.
    [[gnu::noinline]] double freed_by_backward() const {
        return fully_shards(p_) && p_.zero == Zero::gradients ? value_of(all()) - 2 * value_of(parameters_.vocabulary()) : 0;
    }
    // Whether the inputs of layers that are computed again stay until the backward pass ends, and their gradients with them.
    bool keeps_inputs() const { return p_.freezes() && wraps_adapters() && stage_.checkpoints > 0; }
    // At the moment of the head, or of that layer.
    [[gnu::noinline]] void add_items_of_moment(bool backward) {
        N weights = p_.zero == Zero::weights ? (stage_.has_head ? 2 * parameters_.vocabulary() : N(0.0)) : all();
        if (backward && p_.zero == Zero::weights) weights = value_of(weights) > 0 ? weights + layers_at_backward() : layers_at_backward();
        if (value_of(weights) > 0) items_.add(Item::gathered_weights, weights);
        if (backward && !p_.freezes()) items_.add(Item::whole_gradients, gradients_at_backward());
    }

 private:
    using L = Symbols<N>;

    // Where layers alone are units, embedding and head are one, the root, which stays from the forward to the backward pass (PyTorch,
    // distributed/fsdp/_runtime_utils.py, _post_forward_reshard).
    bool root_stays() const {
        return row_of(p_.framework).keeps_root && !habit_of(p_, &Plan::sync_each_micro_batch, &Framework::sync_each_micro_batch);
    }
    // A unit of its own for each, in the way of PEFT.
    bool wraps_adapters() const {
        return p_.zero == Zero::weights && !fully_shards(p_) && root_stays() && !row_of(p_.framework).flat_gradients;
    }
    N root() const {
        return parameters_.separate_head() && stage_.has_embedding ? 2 * parameters_.vocabulary() : 1 * parameters_.vocabulary();
    }
    using L::m_, L::p_;

    N layer() const { return named<N>({"G", "largest_layer", ""}, parameters_.largest_layer()); }
    [[gnu::noinline]] N layers_at_backward() const {
        return 2 * (p_.freezes() ? L::number("i_q", "frozen_bytes", "bytes", frozen_bytes(p_)) * layer() : 2 * layer());
    }
    [[gnu::noinline]] N all() const {
        const N dense = parameters_.dense(), all = parameters_.expert_layers() > 0 ? dense + parameters_.gathered_routed() : dense;
        if (!is_packed(p_)) return 2 * all;
        const N words = parameters_.vocabularies() * parameters_.vocabulary();
        return L::number("i_q", "frozen_bytes", "bytes", frozen_bytes(p_)) * (all - words) + 2 * words;
    }
    [[gnu::noinline]] N gradients_at_backward() const {
        const bool whole_head = stage_.has_head && !parameters_.separate_head();
        return whole_head ? 2 * (layer() + parameters_.vocabulary()) : 2 * layer();
    }

    // Frozen weights are gathered as they are stored; gradients are those of a layer's adapters.
    [[gnu::noinline]] void frozen(const N& layer, bool head_is_largest, const N& head) {
        const N stored = L::number("i_q", "frozen_bytes", "bytes", frozen_bytes(p_)) * layer;
        if (p_.zero == Zero::weights)
            items_.add(Item::gathered_weights, wraps_adapters()  ? 2 * root() + stored
                                               : root_stays()    ? 2 * root() + 2 * stored
                                               : head_is_largest ? 2 * head + stored
                                                                 : 2 * stored);
        if (row_of(p_.framework).flat_gradients) return flat_gradients(layer);
        const Adapters<N> adapters(m_, p_);
        const N learns =
            stage_.last_is_expert ? adapters.sum(adapters.beside_experts(), adapters.experts_of_layer()) : adapters.dense_layer();
        if (value_of(learns) > 0) items_.add(Item::whole_gradients, (p_.gradients_in_fp32 ? 4 : 2) * learns);
    }

    // Of one layer, or of all while micro-batches are accumulated. Embedding and head are a unit in which nothing learns.
    [[gnu::noinline]] void flat_gradients(const N& layer) {
        const bool waits = adds_up_whole_gradients(p_);
        const N one = (p_.gradients_in_fp32 && !waits ? 4 : 2) * layer;
        items_.add(Item::whole_gradients, waits ? L::number("n_h", "stage_layers", "", stage_.layers()) * one : one);
    }

    const Stage& stage_;
    Parameters<N>& parameters_;
    Items<N>& items_;
};

}  // namespace fourfold
