// Traffic of a layer's attention between the GPUs that share a sequence (context parallelism). For layer_time.cpp. Based on
//   H. Liu et al.: Ring Attention, arXiv 2310.01889: keys and values go round beneath attention
//   S. A. Jacobs et al.: DeepSpeed-Ulysses, arXiv 2309.14509, section 3: queries, keys and values are swapped for whole sequences of fewer
//     heads in three all-to-alls, attention's output back in a fourth; each GPU sends N h / c of each
// Linear attention swaps likewise what its first matrix writes and what its second one reads (assumed: flash-linear-attention can hand
// states over instead).
#pragma once
#include <algorithm>

#include "time/layer_time.h"
#include "time/time_symbols.h"

namespace fourfold {

template <class N>
class ContextTraffic : TimeSymbols<N> {
 public:
    ContextTraffic(const Model& model, const Plan& plan, const Machine& machine, const Timing& timing)
        : TimeSymbols<N>(model, plan, machine, timing) {}

    // What attention's own time does not hide.
    void add_to(LayerTimeOf<N>& layer) const {
        if (p_.context_parallel <= 1) return;
        if (p_.swaps_heads())
            layer.context_forward = layer.context_backward = swaps("Z_s", swapped_values());
        else
            ring(layer);
        if (!L::has_linear()) return;
        // what linear attention exchanges is no part of core attention
        if (p_.recomputes(core_attn)) layer.recomputed = layer.recomputed + layer.context_forward;
        const N linear = swaps("Z_l", L::linear_passed() / t_);
        for (N* one : {&layer.context_forward, &layer.context_backward}) *one = L::averaged(*one, linear);
    }

 private:
    using T = TimeSymbols<N>;
    using L = Symbols<N>;
    using L::as_double, L::m_, L::p_, L::number;
    using T::hw_, T::on_, T::t_, T::M_, T::seconds;

    bool crosses_nodes() const { return p_.tensor_grid() * p_.context_parallel > hw_.gpus_per_node; }
    N kv_heads() const {
        const N mine = number("k_m", "kv_heads", "", as_double(m_.kv_heads)) / t_;
        return value_of(mine) >= 1 ? mine : N(1.0);
    }

    // With a window all keys and values still go round, and the shorter attention hides less: time with a window never profits from a ring
    // that would skip steps.
    N in_node(const N& bytes, double reach) const { return on_.of(&Timing::ring_latency) + bytes / on_.ring_link_rate(reach); }
    // The slower of those that cross and those that do not.
    N between_nodes(const N& bytes) const {
        using std::max, std::min;
        const N crossing = on_.network_latency() + on_.of(&Timing::ring_network_latency) +
                           bytes * min(T::grid(), on_.gpus_per_node()) / on_.network_rate(&Timing::ring_network);
        const double node = as_double(hw_.gpus_per_node);
        return as_double(p_.tensor_grid()) < node ? max(crossing, in_node(bytes, node)) : crossing;
    }
    // Bytes of keys and values. Under latent attention a key is as wide as a query, a value is not.
    [[gnu::noinline]] N passed_on() const {
        if (L::latent()) return 2 * M_ * kv_heads() * (T::nope() + T::rope() + T::value_width());
        return 4 * M_ * kv_heads() * L::d();
    }
    N output_width() const { return L::latent() ? T::value_width() : L::d(); }
    void ring(LayerTimeOf<N>& layer) const {
        using std::min;
        const N c = L::c();
        const N bytes = passed_on();
        const N step = seconds("K_1", "ring_step",
                               crosses_nodes() ? between_nodes(bytes) : in_node(bytes, as_double(p_.context_parallel * p_.tensor_grid())));
        const N rescaling =
            seconds("K_r", "rescaling",
                    c * on_.of(kRescale) * on_.of(&Timing::context_correction) * M_ * L::a() * output_width() / (t_ * on_.memory()));
        const auto around = [&](const N& transfer, const N& hidden) { return (c - 1) * (transfer - hidden) + rescaling; };
        const N back = seconds("K_2", "ring_step_backward", step * (2 * c - 1) / (c - 1));
        layer.context_forward = around(step, seconds("U_f", "ring_under_attention", min(step, cited(layer.attention_forward) / c)));
        layer.context_backward =
            around(back, seconds("U_b", "ring_under_attention_backward", min(back, cited(layer.attention_backward) / c)));
    }

    // ---- all-to-alls, which nothing hides; in the backward pass the gradients take the same way back
    // Values of a token that are swapped: of queries and output, and of keys and values, each of which a GPU needs a head of.
    [[gnu::noinline]] N swapped_values() const {
        if (L::latent()) {
            const LatentAttention& l = m_.latent;
            const N wide = number("d_s", "head_width_swapped", "values", as_double(2 * (l.nope_dim + l.rope_dim + l.value_dim)));
            return L::a() / t_ * wide;
        }
        const N held = kv_heads(), c = L::c();
        return 2 * (L::a() / t_ + (value_of(held) >= value_of(c) ? held : c)) * L::d();
    }
    [[gnu::noinline]] N swaps(const char* letter, const N& values) const {
        using std::max;
        constexpr double kSwaps = 4;
        const N c = L::c(), bytes = named<N>({letter, "swapped_bytes", "bytes"}, 2 * M_ * values);
        const N share = on_.of(kAllToAllShare);
        if (!crosses_nodes()) return kSwaps * on_.of(&Timing::link_latency) + bytes * (c - 1) / (c * on_.share_of_link(share, c * t_));
        // what goes to other nodes shares a node's network with the other GPUs' swaps
        const N nodes = named<N>({"n_c", "context_nodes", ""}, c * T::grid() / on_.gpus_per_node());
        const N across = bytes * (nodes - 1) / nodes * on_.gpus_per_node() / on_.network_rate(share);
        const N latency = kSwaps * on_.slower_latency(on_.network_latency());
        if (hw_.gpus_per_node == 1) return latency + across;
        const N inside = bytes * (1 / nodes - 1 / c) / on_.share_of_link(share, on_.gpus_per_node());
        return latency + (on_.shares_wire(as_double(hw_.gpus_per_node)) ? across + inside : max(across, inside));
    }
};

}  // namespace fourfold
