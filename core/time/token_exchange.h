// How tokens reach their experts. For layer_time.cpp. Based on
//   DeepSeek-V3, arXiv 2412.19437, section 3.2.2: a token is sent once to each node, and handed on inside
//   Megatron-LM, moe/token_dispatcher.py (MoEAlltoAllTokenDispatcher): all-to-all of the expert group, then a gathering among the GPUs that
//     share each expert; on the way back its reduction to shares comes first
#pragma once
#include <algorithm>
#include <cmath>

#include "time/layer_time.h"
#include "time/time_symbols.h"

namespace fourfold {

template <class N>
class TokenExchange : TimeSymbols<N> {
 public:
    TokenExchange(const Model& model, const Plan& plan, const Framework& framework, const Machine& machine, const Timing& timing)
        : TimeSymbols<N>(model, plan, machine, timing), fw_(framework) {}

    // Each token copy travels to its expert, and later back: `bytes` of what a GPU's part of the experts reads.
    N seconds(const N& bytes) const {
        if (fw_.sends_once || p_.expert_tensor_parallel == 1) return sent(bytes);
        return sent(bytes / L::e()) + on_.collective(bytes, L::e());
    }
    // Megatron-Core's --overlap-moe-expert-parallel-comm; schedules that work in pairs do it themselves (schedule.h).
    void hide(LayerTimeOf<N>& layer) const {
        if (!p_.hides_exchange() || value_of(layer.expert_forward) == 0) return;
        hide(layer.expert_forward, layer.multiply_forward, layer.attention_forward, layer.element_forward);
        hide(layer.expert_backward, layer.multiply_backward, layer.attention_backward, layer.element_backward);
    }

 private:
    using T = TimeSymbols<N>;
    using L = Symbols<N>;
    using L::as_double, L::m_, L::p_, L::number;
    using T::hw_, T::on_;

    void hide(N& exchange, const N& multiplied, const N& attention, const N& element_wise) const {
        using std::min;
        N work = 0.0;
        add(work, multiplied), add(work, attention), add(work, element_wise);
        exchange = exchange - on_.of(kHiddenExchange) * min(exchange, work);
    }

    // `bytes` per GPU; what reached a node is handed on inside.
    N sent(const N& bytes) const {
        using std::log2, std::max;
        const N members = number("x", "expert_group", "gpus", as_double(p_.expert_parallel * p_.expert_tensor_parallel));
        const N peers = fw_.sends_once ? members : members / L::e();
        const N share = on_.of(fw_.sends_once ? kDeepEpShare : kAllToAllShare);
        const N moved = bytes * (peers - 1) / peers;
        if (value_of(members) <= as_double(hw_.gpus_per_node))
            return on_.of(&Timing::link_latency) + moved / on_.share_of_link(share, members);
        const N crossing_part = number("x_n", "copies_between_nodes", "", crossing(value_of(members) / as_double(hw_.gpus_per_node)));
        const N across = bytes * crossing_part * on_.gpus_per_node() / on_.network_rate(share);
        const N latency = on_.slower_latency(on_.network_latency() * log2(peers));
        return latency + (hw_.gpus_per_node == 1 ? across : max(across, moved / on_.share_of_link(share, on_.gpus_per_node())));
    }

    // Of a token's copies, the part that crosses the network. Routed evenly, a token is sent once to each node that holds an expert of its
    // (DeepSeek-V3, arXiv 2412.19437, section 3.2.2); where its experts lie in few groups, in the nodes of those groups alone.
    double crossing(double nodes) const {
        const auto once_each = [](double of, double copies) {
            double none = 1;
            for (int i = 0; i < copies; ++i) none *= 1 - 1 / of;
            return of * (1 - none);
        };
        const double others = 1 - 1 / nodes, copies = as_double(m_.experts.per_token);
        if (!fw_.sends_once) return others;
        double within = nodes;
        if (m_.experts.groups > 0) {
            const double groups = as_double(m_.experts.groups), used = as_double(m_.experts.groups_per_token);
            within = nodes >= groups ? nodes * used / groups : once_each(nodes, used);
        }
        return others * once_each(within, copies) / copies;
    }

    const Framework& fw_;
};

}  // namespace fourfold
