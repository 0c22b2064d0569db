// What FSDP holds whole for a moment. For memory_detailed.cpp. Based on
//   Y. Zhao et al.: PyTorch FSDP, arXiv 2304.11277 (2023): what is gathered and when; section 3.3.4: between micro-batches that are
//     accumulated without communication, gradients stay whole
//   PyTorch, torch/distributed/fsdp/wrap.py, _validate_frozen_params: the gradient of a unit's flat parameter is as long as the unit,
//     frozen weights and all, wherever something in it learns
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
        if (p_.zero != Zero::weights && p_.zero != Zero::gradients) return;
        const N layer = named<N>({"G", "largest_layer", ""}, parameters_.largest_layer());
        const N head = parameters_.vocabulary();
        const bool head_is_largest = stage_.has_head && value_of(head) > value_of(layer);
        if (p_.freezes()) return frozen(layer, head_is_largest, head);
        if (p_.zero == Zero::weights) items_.add(Item::gathered_weights, 2 * (head_is_largest ? head + layer : 2 * layer));
        items_.add(Item::whole_gradients, (p_.gradients_in_fp32 ? 4 : 2) * (head_is_largest ? head : layer));
    }

 private:
    using L = Symbols<N>;
    using L::m_, L::p_;

    // Frozen weights are gathered as they are stored; gradients are those of a layer's adapters.
    [[gnu::noinline]] void frozen(const N& layer, bool head_is_largest, const N& head) {
        const N stored = L::number("i_q", "frozen_bytes", "bytes", frozen_bytes(p_)) * layer;
        if (p_.zero == Zero::weights) items_.add(Item::gathered_weights, head_is_largest ? 2 * head + stored : 2 * stored);
        if (row_of(p_.framework).flat_gradients) return flat_gradients(layer);
        const Adapters<N> adapters(m_, p_);
        const N learns =
            stage_.last_is_expert ? adapters.sum(adapters.beside_experts(), adapters.experts_of_layer()) : adapters.dense_layer();
        if (value_of(learns) > 0) items_.add(Item::whole_gradients, (p_.gradients_in_fp32 ? 4 : 2) * learns);
    }

    // Of one layer, or of all while micro-batches are accumulated. Embedding and head are a unit in which nothing learns.
    [[gnu::noinline]] void flat_gradients(const N& layer) {
        const N one = (p_.gradients_in_fp32 ? 4 : 2) * layer;
        items_.add(Item::whole_gradients, p_.micro_batches() > 1 ? L::number("n_h", "stage_layers", "", stage_.layers()) * one : one);
    }

    const Stage& stage_;
    Parameters<N>& parameters_;
    Items<N>& items_;
};

}  // namespace fourfold
