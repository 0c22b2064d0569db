// The traffic between GPUs that hold the same weights: they add up gradients and hand out weights. Here alone is said what they send, for
// the step time and for placements on measured links.
//   S. Li et al.: PyTorch Distributed, arXiv 2006.15704, section 3.2.3: gradients are added up bucket by bucket
//   S. Rajbhandari et al.: ZeRO, arXiv 1910.02054, section 7;  Y. Zhao et al.: PyTorch FSDP, arXiv 2304.11277, section 3, of which 3.2.2 is
//   on copies of shards (HSDP): gradients are shared out within a copy, then each share is added up among the copies
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "plan/shares.h"
#include "time/rank_group.h"

namespace fourfold {

enum class Sent { once, every_micro_batch, but_with_the_last };

// What they send during one pass. A reduction adds up gradients (an all-reduce costs two), a gathering hands out weights of 16 bits.
struct DataMessages {
    int reductions = 0, gatherings = 0;
    bool in_forward = false;       // during the forward pass, else the backward pass
    bool overlaps = false;         // that pass hides it
    bool has_last_bucket = false;  // the last part of it is sent after that pass
    Sent when = Sent::once;        // of a step
};
// Both passes. ZeRO-3 gathers weights in each pass of every micro-batch. Gradients that are shared out are sent in every backward pass too,
// or in the last one alone, where they are added up whole:
//   PyTorch, distributed/fsdp/_fully_shard/_fsdp_param_group.py: the second version's ZeRO-2 shares weights out again after each backward
//     pass; the first's (_runtime_utils.py, _should_free_in_backward) after the last
//   DeepSpeed, runtime/zero/stage_1_and_2.py: with ZeRO-2 each backward pass reduces, with ZeRO-1 the last one alone
std::array<DataMessages, 3> data_messages(const Plan& p);
inline bool sends_every_micro_batch(const Plan& p) {
    return p.zero == Zero::weights || fully_shards(p) || (p.shards_gradients() && !adds_up_whole_gradients(p));
}
// How often in a step of so many micro-batches.
inline double times(Sent when, double micro_batches) {
    return when == Sent::once ? 1 : when == Sent::every_micro_batch ? micro_batches : micro_batches - 1;
}
inline bool gathers_frozen(const Plan& p) { return p.freezes() && p.zero == Zero::weights; }  // only what is shared out

// Seconds that all-reduces between nodes take longer because gradients go bucket by bucket.
template <class N>
N bucket_seconds(const Cost<N>& on, const DataMessages& messages, const N& parameters) {
    const N latency = on.of(&Timing::bucket_latency);
    return value_of(latency) == 0 || messages.reductions < 2 ? N(0.0) : latency * kWeightBytes * parameters / on.of(kBucket);
}

inline constexpr double kAllReduce = 2;  // collectives: a reduction to shares, and a gathering of them

template <class N>
class DataTraffic {
 public:
    DataTraffic(const Plan& plan, const Machine& machine, const Cost<N>& cost) : p_(plan), hw_(machine), on_(cost) {}  // keeps references

    const N& sharers() const { return shards_.ranks(); }  // GPUs that share one copy of what ZeRO shares out; without it, all that hold one

    // Seconds that no pass hides, with so many parameters that learn on each GPU, and bytes of frozen ones; the passes are those of one
    // micro-batch.
    struct Exposed {
        N once = 0.0, every_micro_batch = 0.0, but_with_the_last = 0.0;
        N& of(Sent when) { return when == Sent::once ? once : when == Sent::every_micro_batch ? every_micro_batch : but_with_the_last; }
    };
    Exposed exposed(const N& parameters, const N& frozen, const N& forward, const N& backward) const {
        const N gradients = gradient_bytes(p_) * parameters, once = shards_.seconds(gradients);
        N gathered = kWeightBytes * parameters;
        if (gathers_frozen(p_)) add(gathered, frozen);
        Exposed result;
        for (const DataMessages& messages : data_messages(p_)) {
            N& sum = result.of(messages.when);
            N traffic = 0.0;
            if (messages.gatherings > 0) add(traffic, seconds("X_g", "weight_gathering", shards_.seconds(gathered)));
            if (messages.reductions > 0) add(traffic, seconds("X_r", "gradient_reduction", messages.reductions == 2 ? 2 * once : once));
            if (messages.reductions > 0 && replicas_) add(traffic, seconds("X_R", "replica_reduction", between_replicas(gradients)));
            if (shards_.crosses_nodes()) add(traffic, bucket_seconds(on_, messages, parameters));
            add(sum, not_hidden(messages, traffic, messages.in_forward ? forward : backward));
            if (messages.has_last_bucket) add(sum, traffic * on_.of(kLastBucket));
        }
        return result;
    }

    // Of one collective among those that share a copy; and of adding up such a reduction's shares among the copies (HSDP).
    DataCollective parts(double bytes) const requires std::is_same_v<N, double> { return shards_.parts(bytes); }
    DataCollective replica_parts(double bytes) const requires std::is_same_v<N, double> {
        if (!replicas_) return {};
        DataCollective parts = replicas_->parts(bytes / sharers());
        for (double DataCollective::*of :
             {&DataCollective::inside, &DataCollective::inside_bytes, &DataCollective::across, &DataCollective::fixed})
            parts.*of *= kAllReduce;
        return parts;
    }

 private:
    static N number(const char* letter, const char* meaning, const char* unit, double value) {
        return quantity<N>({letter, meaning, unit}, value);
    }
    static N seconds(const char* letter, const char* meaning, const N& value) { return named<N>({letter, meaning, "seconds"}, value); }
    static double as_double(std::int64_t value) { return static_cast<double>(value); }

    double node() const { return as_double(hw_.gpus_per_node); }
    double replicas() const { return p_.shards_optimizer() ? as_double(p_.shard_replicas) : 1; }
    N all_copies() const {
        return number("D", p_.weight_copies() == 1 ? "weight_copies" : "weight_copies_both_ways", "gpus",
                      as_double(p_.data_parallel() * p_.context_parallel * p_.weight_copies()));
    }
    RankGroup<N> shards() const {
        N ranks = all_copies();
        const double all = value_of(ranks);
        if (replicas() > 1) ranks = named<N>({"D_s", "shard_ranks", "gpus"}, ranks / number("R", "shard_replicas", "", replicas()));
        // the other direction's copy lies on another stage: within the node only where the node holds the whole pipeline
        const double near_ranks = as_double(p_.gpus) > node() ? all / as_double(p_.weight_copies()) : all;
        const double within =
            std::max(1.0, std::min(std::min(value_of(ranks), near_ranks), std::floor(node() / as_double(p_.tensor_grid()))));
        // groups share a node's network where copies lie in several nodes alone, all of them full
        return {on_,    {{"D_n", "copies_in_node", "gpus"}, {"D_m", "copy_nodes", ""}, {"D_g", "groups_per_node", ""}},
                ranks,  as_double(p_.tensor_grid()),
                within, node()};
    }
    // GPUs with the same share of different copies: as far from each other as one copy reaches.
    std::optional<RankGroup<N>> of_replicas() const {
        if (replicas() == 1) return {};
        const double reach = as_double(p_.tensor_grid()) * value_of(sharers()) / as_double(p_.weight_copies());
        const double within = std::max(1.0, std::min(replicas(), std::floor(node() / reach)));
        return RankGroup<N>(on_, {{"R_n", "replicas_in_node", "gpus"}, {"R_m", "replica_nodes", ""}, {"R_g", "groups_per_node", ""}},
                            number("R", "shard_replicas", "", replicas()), reach, within, node());
    }
    // Each GPU adds up its share with those of the other copies: an all-reduce.
    N between_replicas(const N& gradients) const { return kAllReduce * replicas_->seconds(gradients / sharers()); }
    N not_hidden(const DataMessages& messages, const N& traffic, const N& work) const {
        using std::min;
        if (!messages.overlaps || value_of(traffic) == 0) return traffic;
        const N most = min(traffic, work);
        const N hidden = messages.in_forward        ? seconds("U_g", "weights_hidden", most)
                         : messages.reductions == 0 ? seconds("U_w", "weights_hidden_backward", most)
                         : messages.gatherings == 0 ? seconds("U_r", "gradients_hidden", most)
                                                    : seconds("U_b", "both_hidden", most);
        return traffic - hidden + on_.of(&Timing::data_exposed) * hidden;
    }

    const Plan& p_;
    const Machine& hw_;
    const Cost<N>& on_;
    const RankGroup<N> shards_ = shards();
    const std::optional<RankGroup<N>> replicas_ = of_replicas();
};

}  // namespace fourfold
