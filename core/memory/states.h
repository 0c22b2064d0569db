// Bytes of weights, gradients and the optimizer's states on one GPU. For memory_detailed.cpp. Based on
//   S. Rajbhandari et al.: ZeRO, arXiv 1910.02054 (2019), sections 3.1 and 5: what an optimizer holds and how it is shared out
//   E. Hu et al.: LoRA, arXiv 2106.09685, section 4.2, and T. Dettmers et al.: QLoRA, arXiv 2305.14314, section 3: frozen weights have
//     neither gradient nor states, adapters have both
//   T. Dettmers et al.: 8-bit Optimizers via Block-wise Quantization, arXiv 2110.02861: a byte per average, and fp32 scales of blocks
//   Megatron-Core, optimizer/cpu_offloading/hybrid_optimizer.py: a copy of each offloaded weight is made in pinned memory, its original
//     stays; with a precision-aware optimizer alone that original is the weight in 16 bits
//   J. Liu et al.: Muon is Scalable for LLM Training, arXiv 2502.16982, section 2: one average, for matrices of layers alone; embedding,
//     head and norms keep Adam's two
#pragma once
#include <cmath>

#include "base/bytes.h"
#include "memory/host.h"
#include "memory/late_gradients.h"
#include "memory/memory.h"
#include "plan/adapters.h"
#include "plan/parameters.h"
#include "plan/shares.h"

namespace fourfold {

// PyTorch's caching allocator (c10/cuda/CUDACachingAllocator.cpp: kMinLargeAlloc, kRoundLarge, kSmallSize), bytes: from so many on a block
// takes steps of so many, and only more than so many are cut off again.
inline constexpr double kLargeBlock = 10 * kMebi, kLargeStep = 2 * kMebi, kLeastCutOff = kMebi;

template <class N>
class States : Symbols<N> {
 public:
    States(const Model& model, const Plan& plan, const Framework& framework, const Stage& stage, Parameters<N>& parameters,
           StageMemory<N>& result)
        : Symbols<N>(model, plan), fw_(framework), stage_(stage), parameters_(parameters), result_(result), items_(result.items) {}

    // What is held between steps besides, but not at the peak.
    double run() {
        const N P = named<N>({"P", "parameters_without_experts", ""}, parameters_.dense());
        has_experts_ = parameters_.expert_layers() > 0;
        const N X = has_experts_ ? named<N>({"X", "parameters_of_experts", ""}, parameters_.routed()) : N(0.0);
        if (p_.freezes())
            frozen({P, X});
        else
            learning({P, X});
        add_rounding(P);
        return between_steps_;
    }

 private:
    using L = Symbols<N>;
    using L::as_double, L::m_, L::p_, L::number;

    // Of everything that all data-parallel GPUs hold alike, and of the experts.
    struct Both {
        N dense, experts;
    };
    N whole(const Both& of) const { return has_experts_ ? of.dense + of.experts : of.dense; }
    [[gnu::noinline]] N share(const Both& of) const { return has_experts_ ? of.dense / S_ + of.experts / R_ : of.dense / S_; }
    [[gnu::noinline]] N held(const Both& of) const { return p_.zero == Zero::weights || fully_shards(p_) ? share(of) : whole(of); }
    // Those in 32 bits are the only ones (accelerate, utils/fsdp_utils.py, fsdp2_prepare_model).
    bool master_is_weight() const { return fully_shards(p_) && keeps_master(p_); }

    bool keeps_fp8_weights() const { return p_.precision == Precision::fp8 && !casts_to_8_bits(p_, fw_); }

    void learning(const Both& all) {
        if (casts_weights(p_))
            copies_of_weights(all);
        else if (!master_is_weight())
            weights(Item::weights, 2 * held(all));
        if (keeps_fp8_weights()) {  // rowwise and columnwise copies of the matrices, where one does not serve for both; embedding and head
                                    // stay in bf16
            const N matrices = whole(all) - parameters_.vocabularies() * parameters_.vocabulary();
            items_.add(Item::fp8_weights, (fw_.stores_fp8 ? 1 : 2) * (p_.zero == Zero::weights ? matrices / S_ : matrices));
        }
        updated(all, p_.optimizer == Optimizer::muon ? share({parameters_.matrices(), parameters_.expert_matrices()}) : N(0.0));
    }

    // In 16 bits, from each matrix's forward to its backward pass; of layers that are computed again, only that long. (memory.h)
    [[gnu::noinline]] void copies_of_weights(const Both& all) {
        const bool of_head = p_.recompute == Recompute::full;
        if (of_head && !stage_.has_head) return;
        N bytes = 2 * whole(all);
        if (stage_.has_embedding && parameters_.separate_head()) bytes = bytes - 2 * parameters_.vocabulary();  // a look-up casts none
        if (of_head) {
            result_.forward_casts = named<N>({"W_c", "forward_casts", "bytes"}, bytes - 2 * parameters_.vocabulary());
            bytes = 2 * parameters_.vocabulary();
        }
        result_.cast_weights = value_of(bytes);
        between_steps_ -= value_of(bytes);
        items_.add(Item::weights, bytes);
    }
    // Frozen weights as they are stored, and adapters, which learn.
    [[gnu::noinline]] void frozen(const Both& all) {
        const Both matrices = {parameters_.matrices(), has_experts_ ? parameters_.expert_matrices() : N(0.0)};
        const N P_m = named<N>({"P_m", "matrix_parameters", ""}, held(matrices));
        if (is_packed(p_))
            weights(Item::frozen_weights,
                    number("i_q", "frozen_bytes", "bytes", frozen_bytes(p_)) * P_m + (frozen_in_32_bits(p_) ? 4 : 2) * (held(all) - P_m));
        else
            weights(Item::frozen_weights, 2 * held(all));
        // LitGPT (finetune/lora.py) puts bitsandbytes' StableEmbedding in the place of the embedding, which stays beside it; it learns, but
        // is in no optimizer, so that nobody clears its gradient
        if (row_of(p_.framework).stable_embedding && keeps_unpacked_inputs(p_) && stage_.has_embedding)
            items_.add(Item::stable_embedding, (2 + 2) * parameters_.vocabulary());
        if (keeps_fp8_weights() && !is_packed(p_)) items_.add(Item::fp8_weights, (fw_.stores_fp8 ? 1 : 2) * P_m);
        const Adapters<N> adapters(m_, p_);
        const bool further = stage_.has_head && m_.multi_token_layers > 0, further_expert = this->multi_token_is_expert();
        const double dense = stage_.dense.held + (further && !further_expert ? m_.multi_token_layers : 0);
        Both learn{N(0.0), N(0.0)};
        if (dense > 0) learn.dense = dense * adapters.dense_layer();
        if (const double experts = parameters_.expert_layers(); experts > 0) {
            const N beside = experts * adapters.beside_experts();
            learn.dense = dense > 0 ? learn.dense + beside : beside;
            learn.experts = experts * adapters.experts_of_layer();
        }
        learn.dense = named<N>({"P_a", "adapter_parameters", ""}, learn.dense);
        if (has_experts_) learn.experts = named<N>({"X_a", "expert_adapter_parameters", ""}, learn.experts);
        if (!master_is_weight()) weights(Item::adapters, 2 * held(learn));
        if (casts_what_learns(p_))  // made in each pass
            between_steps_ -= value_of(2 * held(learn));
        updated(learn, p_.optimizer == Optimizer::muon ? share(learn) : N(0.0));
    }

    // On the GPU, or on the host: then either pass brings them once for every micro-batch.
    [[gnu::noinline]] void weights(Item item, const N& bytes) {
        if (!p_.weights_on_host()) return items_.add(item, bytes);
        add(result_.host_bytes, bytes);
        result_.pcie_bytes += 2 * value_of(bytes) * as_double(p_.micro_batches());
    }
    // Gradient and optimizer of what learns; of this GPU's share, so much is Muon's.
    [[gnu::noinline]] void updated(const Both& all, const N& by_muon) {
        // those that DistributedDataParallel averages over copies lie in its buckets
        const bool copies = p_.data_parallel() * p_.context_parallel > 1;
        const double twice = fw_.gradients_twice && p_.gradients_in_fp32 && copies ? 2 : 0;
        const double gradient = (p_.gradients_in_fp32 ? 4 : 2) + twice;
        const N mine = share(all);
        // those that are shared out wait where they are used (ZeRO-Offload, section 4)
        if (adds_up_whole_gradients(p_))
            whole_until_sent(all);
        else if (fully_shards(p_))
            gradients_of_shards(all);
        else if (!p_.shards_gradients())
            gradients(gradient * whole(all));
        else if (p_.optimizer_offload < 1)
            gradients(gradient * on_gpu(mine));
        optimizer(mine, by_muon);
        if (p_.updates_by_lists()) result_.at_update = gradients_at_update_ + average_bytes(p_) * on_gpu(mine);
        if (!p_.gradients_in_fp32 && !p_.shards_gradients() && keeps_master(p_))
            between_steps_ += value_of(4 * mine);  // Megatron's fp32 copies
    }
    // Gradients of which nothing is left between steps are there while weights are updated.
    void come_late(const N& bytes) { result_.late_gradients = gradients_at_update_ = bytes; }
    void gone_between_steps(const N& bytes) {
        gradients_at_update_ = bytes;
        between_steps_ -= value_of(bytes);
    }
    // A weight's own gradient stands in the moment of its layer or head.
    void gradients(const N& bytes) {
        if (p_.updates_in_backward() && !fw_.gradient_fusion) return;
        const bool alone = p_.data_parallel() * p_.context_parallel == 1;
        const bool copies = p_.zero == Zero::none && !alone;  // DeepSpeed and FSDP share out something, and have no such buckets
        if (row_of(p_.framework).averages_in_buckets && copies) return beside_buckets(bytes);
        if (frees_gradients(p_))
            come_late(bytes);
        else
            items_.add(Item::gradients, bytes);
        if (row_of(p_.framework).frees_gradients && p_.adds_up() && alone) gone_between_steps(bytes);
    }
    // Buckets stay; a copy's own gradients come late, or stay while micro-batches are added up (PyTorch, nn/parallel/distributed.py:
    // gradient_as_bucket_view is off).
    [[gnu::noinline]] void beside_buckets(const N& bytes) {
        if (!p_.adds_up()) {
            items_.add(Item::gradients, bytes);
            return come_late(bytes);
        }
        items_.add(Item::gradients, number("c_g", "gradient_copies", "", 2) * bytes);
        gone_between_steps(bytes);
    }
    // In 16 bits, as the weights that a pass sees (framework.h). FSDP of the second version adds them up in the format in which they are
    // sent (_fsdp_param.py, to_accumulated_grad_if_needed); accelerate sends 16 bits.
    [[gnu::noinline]] void whole_until_sent(const Both& all) {
        const bool in_32_bits = row_of(p_.framework).shards_in_pipelines && p_.gradients_in_fp32;
        const N bytes = (in_32_bits ? 4 : 2) * whole(all);
        items_.add(Item::gradients, bytes);
        between_steps_ -= value_of(bytes);
        gradients_at_update_ = (keeps_master(p_) ? 4 : 2) * on_gpu(share(all));  // as they are sent
    }
    // Shares in the weights' own format: they come late, or stay where micro-batches are added up.
    [[gnu::noinline]] void gradients_of_shards(const Both& all) {
        if (p_.optimizer_offload >= 1) return;
        const N bytes = (keeps_master(p_) ? 4 : 2) * on_gpu(share(all));
        if (p_.adds_up())
            items_.add(Item::gradients, bytes);
        else
            come_late(bytes);
    }
    N on_gpu(const N& states) const {
        if (p_.optimizer_offload == 0) return states;
        const N rest = 1 - number("o", "optimizer_on_host", "", p_.optimizer_offload);
        return rest * states;
    }
    [[gnu::noinline]] void optimizer(const N& share, const N& by_muon) {
        const double average = average_bytes(p_);
        const bool mixed = value_of(by_muon) > 0 && value_of(by_muon) != value_of(share);
        const double moments = p_.optimizer == Optimizer::muon || p_.optimizer == Optimizer::sgd ? average : 2 * average;
        if (keeps_master(p_) && !p_.master_on_host())
            items_.add(Item::master_weights, 4 * share);
        else if (keeps_master(p_) && p_.optimizer_offload < 1)
            items_.add(Item::master_weights, 4 * on_gpu(share));
        if (p_.optimizer_offload < 1) {
            items_.add(Item::moments,
                       mixed ? average * on_gpu(2 * share - named<N>({"P_u", "muon_parameters", ""}, by_muon)) : moments * on_gpu(share));
        }
        // each step gradients go down and weights come back
        if (p_.optimizer_offload == 0) return;
        const N moved = number("o", "optimizer_on_host", "", p_.optimizer_offload) * share;
        const double held = mixed ? average * (2 - value_of(by_muon) / value_of(share)) : moments;
        const HostBytes<N> host = host_bytes(p_, moved, (keeps_master(p_) ? 4 : 0) + held);
        add(result_.host_bytes, host.memory);
        result_.nvme_bytes = host.drives;
        result_.pcie_bytes += value_of(moved) * ((p_.gradients_in_fp32 ? 4 : 2) + returned_bytes(p_));
    }

    // What the allocator adds to a block.
    static N rounding(const N& bytes) {
        using std::ceil;
        const N step = number("O", "allocator_step", "bytes", kLargeStep), rest = ceil(bytes / step) * step - bytes;
        return value_of(bytes) >= kLargeBlock && value_of(rest) <= kLeastCutOff ? rest : N(0.0);
    }
    // The gradients lie in one buffer, and so do the weights under the distributed optimizer. Otherwise every tensor has a block of its
    // own; in small models those of the vocabulary alone are large blocks, and in large models the rest does not matter. Beside adapters no
    // such buffer is large.
    void add_rounding(const N& parameters) {
        if (p_.freezes() || (p_.zero != Zero::none && p_.zero != Zero::optimizer)) return;
        N bytes = rounding((p_.gradients_in_fp32 ? 4 : 2) * parameters);
        const double tensors = (stage_.has_embedding ? 1 : 0) + (stage_.has_head && parameters_.separate_head() ? 1 : 0);
        if (p_.zero == Zero::none && tensors > 0) {
            N each = rounding(2 * parameters_.vocabulary());
            add(each, 3 * rounding(4 * parameters_.vocabulary()));  // copy, two averages
            add(bytes, tensors * each);
        } else if (p_.zero == Zero::optimizer)
            add(bytes, rounding(2 * parameters));
        if (value_of(bytes) > 0) items_.add(Item::allocator_rounding, bytes);
    }

    const Framework& fw_;
    const Stage& stage_;
    Parameters<N>& parameters_;
    StageMemory<N>& result_;
    Items<N>& items_;
    bool has_experts_ = false;
    double between_steps_ = 0;
    N gradients_at_update_ = 0.0;
    const N S_ = number("S", "optimizer_group", "gpus", optimizer_sharers(p_, p_.tensor_grid()));
    const N R_ = number("R", "expert_optimizer_group", "gpus", m_.experts.count > 0 ? expert_sharers(m_, p_) : 1);
};

}  // namespace fourfold
