// GPUs of one collective, as evenly in nodes as their ranks lie: what each of them sends inside its node, and its node to others.
#pragma once
#include <algorithm>
#include <cmath>

#include "time/transfers.h"

namespace fourfold {

// A collective of `bytes` per GPU, taken apart: before + max(inside, across / rate) + fixed seconds, where the rate is what a node reaches,
// byte/s.
struct DataCollective {
    double before = 0;        // seconds in a node on the wire that then carries what leaves it
    double inside = 0;        // seconds in a node beneath that
    double inside_bytes = 0;  // that a GPU sends in its node
    double across = 0;        // bytes that a node sends
    double fixed = 0;         // seconds
};

template <class N>
class RankGroup {
 public:
    struct Names {
        Symbol near, nodes, sharing;
    };
    // So many ranks, `stride` GPUs apart, of which a node holds `within`; keeps a reference to the costs.
    [[gnu::noinline]] RankGroup(const Cost<N>& cost, const Names& names, const N& ranks, double stride, double within, double gpus_per_node)
        : on_(cost),
          ranks_(ranks),
          reach_(stride * within),
          near_(quantity<N>(names.near, within)),
          nodes_(named<N>(names.nodes, ranks / near_)),
          sharing_(quantity<N>(names.sharing, std::max(1.0, gpus_per_node / within))),
          latency_(on_.of(kDataLatencies) * on_.network_latency() * log2_of(nodes_)) {}

    const N& ranks() const { return ranks_; }
    bool crosses_nodes() const { return value_of(nodes_) > 1; }

    // Of one collective that moves each byte once: a reduction to its shares, or a gathering of them.
    [[gnu::noinline]] N seconds(const N& bytes) const {
        using std::max;
        if (value_of(ranks_) <= 1) return 0.0;
        N near = 0.0, far = 0.0;
        if (value_of(near_) > 1) near = inside(bytes);
        if (crosses_nodes()) far = sent_across(bytes) / on_.network_rate();
        if (value_of(near) == 0 || value_of(far) == 0) return (value_of(near) == 0 ? far : near) + latency_;
        return (on_.shares_wire(reach_) ? near + far : max(near, far)) + latency_;
    }
    DataCollective parts(double bytes) const requires std::is_same_v<N, double> {
        if (ranks_ <= 1) return {};
        DataCollective parts{.fixed = latency_};
        if (near_ > 1) {
            parts.inside_bytes = sent_inside(bytes);
            (crosses_nodes() && on_.shares_wire(reach_) ? parts.before : parts.inside) = inside(bytes);
        }
        if (crosses_nodes()) parts.across = sent_across(bytes);
        return parts;
    }

 private:
    static N log2_of(const N& nodes) {
        using std::log2, std::max;
        return log2(max(N(2.0), nodes));
    }
    N sent_inside(const N& bytes) const { return bytes * (near_ - 1) / near_; }
    N inside(const N& bytes) const { return sent_inside(bytes) / on_.link_rate(near_, reach_); }
    // All the groups of a full node send at once.
    N sent_across(const N& bytes) const { return bytes * sharing_ * (nodes_ - 1) / nodes_; }

    const Cost<N>& on_;
    const N ranks_;
    const double reach_;  // in a node
    const N near_, nodes_, sharing_, latency_;
};

}  // namespace fourfold
