// GPUs that hold the same weights. ZeRO shares out what they keep among all of them, or among those of a copy of the shards (HSDP).
//   Y. Zhao et al.: PyTorch FSDP, arXiv 2304.11277, section 3.2.2: gradients are shared out within a copy, then each share is added up
//   among
//     the copies
#pragma once
#include <optional>

#include "plan/plan.h"
#include "time/rank_group.h"

namespace fourfold {

inline constexpr double kAllReduce = 2;  // collectives: a reduction to shares, and a gathering of them

template <class N>
class Holders {
 public:
    // So many GPUs, `stride` apart; `of` is what they hold, where not all weights. Keeps a reference to the costs.
    [[gnu::noinline]] Holders(const Plan& plan, const Machine& machine, const Cost<N>& cost, const N& holders, double stride,
                              const Part* of)
        : p_(plan),
          node_(static_cast<double>(machine.gpus_per_node)),
          on_(cost),
          of_(of),
          shards_(shards(holders, stride, of)),
          replicas_(of_replicas(stride, of)) {}

    const N& sharers() const { return shards_.ranks(); }  // that share one copy of what ZeRO shares out; without ZeRO, all
    bool cross_nodes() const { return shards_.crosses_nodes(); }
    // Seconds to hand out so many bytes of weights, and to add up so many of gradients.
    N gathering(const N& bytes) const { return shards_.seconds(bytes); }
    [[gnu::noinline]] N reduction(const N& bytes) const {
        const N within = shards_.seconds(bytes);
        if (!replicas_) return within;
        return within + named<N>({"X_R", "replica_reduction", "seconds", of_}, kAllReduce * replicas_->seconds(bytes / sharers()));
    }
    // The same, taken apart: within a copy, and of a reduction between copies.
    DataCollective parts(double bytes) const requires std::is_same_v<N, double> { return shards_.parts(bytes); }
    DataCollective replica_parts(double bytes) const requires std::is_same_v<N, double> {
        if (!replicas_) return {};
        DataCollective parts = replicas_->parts(bytes / sharers());
        for (double DataCollective::*one : {&DataCollective::before, &DataCollective::inside, &DataCollective::inside_bytes,
                                            &DataCollective::across, &DataCollective::fixed})
            parts.*one *= kAllReduce;
        return parts;
    }

 private:
    double replicas() const { return p_.shards_optimizer() ? static_cast<double>(p_.shard_replicas) : 1; }
    RankGroup<N> shards(const N& holders, double stride, const Part* of) const {
        const double all = value_of(holders);
        N ranks = holders;
        if (replicas() > 1) ranks = all > replicas() ? named<N>({"D_s", "shard_ranks", "gpus", of}, holders / shown_replicas()) : N(1.0);
        // the other direction's copy lies on another stage: within the node only where the node holds the whole pipeline
        const double near = static_cast<double>(p_.gpus) > node_ ? all / static_cast<double>(p_.weight_copies()) : all;
        const double within = std::max(1.0, std::min(std::min(value_of(ranks), near), std::floor(node_ / stride)));
        // groups share a node's network where copies lie in several nodes alone, all of them full
        return {on_,    {{"D_n", "copies_in_node", "gpus", of}, {"D_m", "copy_nodes", "", of}, {"D_g", "groups_per_node", "", of}},
                ranks,  stride,
                within, node_};
    }
    // GPUs with the same share of different copies: as far from each other as one copy reaches.
    std::optional<RankGroup<N>> of_replicas(double stride, const Part* of) const {
        if (replicas() == 1) return {};
        const double reach = stride * value_of(sharers()) / static_cast<double>(p_.weight_copies());
        const double within = std::max(1.0, std::min(replicas(), std::floor(node_ / reach)));
        return RankGroup<N>(on_,
                            {{"R_n", "replicas_in_node", "gpus", of}, {"R_m", "replica_nodes", "", of}, {"R_g", "groups_per_node", "", of}},
                            shown_replicas(), reach, within, node_);
    }
    N shown_replicas() const { return quantity<N>({"R", "shard_replicas", ""}, replicas()); }

    const Plan& p_;
    const double node_;
    const Cost<N>& on_;
    const Part* const of_;
    const RankGroup<N> shards_;
    const std::optional<RankGroup<N>> replicas_;
};

}  // namespace fourfold
