// What the CPU needs to launch the kernels of a layer. For layer_time.cpp.
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
