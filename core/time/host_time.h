// What the CPU needs to launch the kernels of a layer. For layer_time.cpp. Based on
//   DeepSpeed, pull requests 6649 and 6694: ZeRO-3's hooks fetch and release weights one by one, which takes the host's time, most of all
//     where experts are many
//   transformers, integrations/deepspeed.py (trainer_config_finalize): weights of up to ten times the hidden size stay on every GPU, as
//     stage3_param_persistence_threshold "auto" has it: norms, biases, narrow adapters, the routers of few experts
#pragma once
#include <algorithm>

#include "plan/adapters.h"
#include "time/time_symbols.h"

namespace fourfold {

template <class N>
class HostTime : TimeSymbols<N> {
 public:
    HostTime(const Model& model, const Plan& plan, const Machine& machine, const Timing& timing)
        : TimeSymbols<N>(model, plan, machine, timing), adapters_(model, plan) {}

    // Seconds of a forward pass. `adapters`: how many the layer has.
    N forward(bool expert, bool linear, const N& adapters) const {
        N host = m_.one_part ? on_.of(&Timing::host_layer) / 2 : on_.of(&Timing::host_layer);  // (half of it: assumed)
        if (expert) host = host + on_.of(&Timing::host_experts);
        if (expert && calls_experts_in_turn(p_)) host = host + called_experts() * of_called_expert();
        if (linear && !m_.linear.is_convolution()) host = host + L::linear_part() * on_.of(&Timing::host_linear);
        if (p_.freezes() && value_of(on_.of(&Timing::host_adapter)) > 0) host = host + adapters * on_.of(&Timing::host_adapter);
        if (fully_shards(p_) && value_of(on_.of(&Timing::host_shard)) > 0) host = host + on_.of(&Timing::host_shard);
        if (gathers_by_weight(p_) && value_of(on_.of(&Timing::host_partition)) > 0)
            host = host + partitioned(expert, value_of(adapters)) * on_.of(&Timing::host_partition);
        return p_.cuda_graphs == CudaGraphs::layers ? on_.of(&Timing::graphed_host) * host : host;
    }
    N backward(const N& forward) const {
        const bool again = p_.recompute == Recompute::full || p_.recompute == Recompute::operations,
                   checkpoint = again && row_of(p_.framework).checkpoints_in_python;
        return on_.of(checkpoint ? kHostCheckpoint : kHostBackward[again ? 1 : 0]) * forward;
    }

 private:
    using T = TimeSymbols<N>;
    using L = Symbols<N>;
    using L::m_, L::p_;
    using T::on_;

    // Weights of a layer that are shared out: those of more than ten rows of the hidden size. Each projection is one (joined as
    // transformers' modules join them; those of linear attention are counted as attention's), as are both matrices of an adapter and the
    // router. Experts are three each where they are called in turn, else two in all.
    [[gnu::noinline]] N partitioned(bool expert, double adapters) const {
        const auto shared_out = [](std::int64_t rows, double weights) { return rows > 10 ? weights : 0; };
        const bool gate = m_.gated && !m_.joined_qkv;
        const double mixer = !L::has_mixer(expert) ? 0 : L::latent() ? (m_.latent.q_rank > 0 ? 5 : 4) : m_.joined_qkv ? 2 : 4;
        const double feed = gate ? 3 : 2, part = m_.one_part ? feed_forward_part(m_) : 1;
        double all = shared_out(p_.lora_rank, 2 * adapters);
        if (!expert) {
            all += (m_.one_part ? 1 - part : 1) * mixer + part * feed;
        } else {
            all += mixer + shared_out(m_.experts.count, 1) + (m_.experts.shared_ffn > 0 ? feed : 0);
            const double one = feed + shared_out(p_.lora_rank, 2 * adapters_.of_expert().count);
            all += calls_experts_in_turn(p_) ? L::as_double(m_.experts.count / p_.expert_parallel) * one : 2;
        }
        return quantity<N>({"n_p", "partitioned_weights", "", expert ? &kExpertLayer : nullptr}, all);
    }
    // Those of a GPU, or as many as tokens can reach.
    [[gnu::noinline]] N called_experts() const {
        const double here = L::as_double(m_.experts.count / p_.expert_parallel);
        const double copies = value_of(T::M_ / T::t_ * L::e()) * L::as_double(m_.experts.per_token);
        return L::number("n_i", "called_experts", "", std::min(here, copies));
    }
    [[gnu::noinline]] N of_called_expert() const {
        const N one = on_.of(&Timing::host_expert);
        const double adapters = adapters_.of_expert().count;
        return adapters > 0 ? one + adapters * on_.of(&Timing::host_adapter) : one;
    }

    const Adapters<N> adapters_;
};

}  // namespace fourfold
