// The traffic between GPUs that hold the same weights: they add up gradients and hand out weights. Here alone is said what they send, for
// the step time and for placements on measured links.
//   S. Li et al.: PyTorch Distributed, arXiv 2006.15704, section 3.2.3: gradients are added up bucket by bucket
//   S. Rajbhandari et al.: ZeRO, arXiv 1910.02054, section 7;  Y. Zhao et al.: PyTorch FSDP, arXiv 2304.11277, section 3
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "time/holders.h"

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

inline constexpr Part kExpertsHeld{"e", "experts_weights"};

// What a GPU holds, as far as it is sent: parameters that learn, those of experts among them, and bytes of frozen ones.
template <class N>
struct HeldWeights {
    N parameters = 0.0, experts = 0.0, frozen = 0.0;
};

template <class N>
class DataTraffic {
 public:
    DataTraffic(const Plan& plan, const Machine& machine, const Cost<N>& cost) : p_(plan), hw_(machine), on_(cost) {}  // keeps references

    const N& sharers() const { return all_.sharers(); }
    // Parameters that a GPU updates.
    N updated(const HeldWeights<N>& held) const {
        if (!p_.shards_optimizer()) return held.parameters;
        return experts_ && value_of(held.experts) > 0 ? (held.parameters - held.experts) / sharers() + held.experts / experts_->sharers()
                                                      : held.parameters / sharers();
    }

    // Seconds of data-parallel traffic that no pass hides; the passes are those of one micro-batch.
    struct Exposed {
        N once = 0.0, every_micro_batch = 0.0, but_with_the_last = 0.0;
        N& of(Sent when) { return when == Sent::once ? once : when == Sent::every_micro_batch ? every_micro_batch : but_with_the_last; }
    };
    Exposed exposed(const HeldWeights<N>& held, const N& forward, const N& backward) const {
        const bool apart = experts_ && value_of(held.experts) > 0;
        const N others = apart ? held.parameters - held.experts : held.parameters;
        N once = all_.reduction(gradient_bytes(p_) * others);
        if (apart) add(once, experts_->reduction(gradient_bytes(p_) * held.experts));
        N gathered = kWeightBytes * others;
        if (gathers_frozen(p_)) add(gathered, held.frozen);
        N handed_out = all_.gathering(gathered);
        if (apart) add(handed_out, experts_->gathering(kWeightBytes * held.experts));
        Exposed result;
        for (const DataMessages& messages : data_messages(p_)) {
            N& sum = result.of(messages.when);
            N traffic = 0.0;
            if (messages.gatherings > 0)
                add(traffic, seconds("X_g", "weight_gathering", messages.gatherings == 2 ? 2 * handed_out : handed_out));
            if (messages.reductions > 0) add(traffic, seconds("X_r", "gradient_reduction", messages.reductions == 2 ? 2 * once : once));
            if (all_.cross_nodes()) add(traffic, bucket_seconds(on_, messages, held.parameters));
            N left = not_hidden(messages, traffic, messages.in_forward ? forward : backward);
            if (messages.has_last_bucket) add(left, traffic * on_.of(kLastBucket));
            add(sum, value_of(left) > value_of(traffic) ? traffic : left);  // where next to nothing hides it
        }
        return result;
    }

    // One collective of so many bytes, of weights that are no experts'.
    DataCollective parts(double bytes) const requires std::is_same_v<N, double> { return all_.parts(bytes); }
    // What goes its own way during a pass, each its collectives together: among those that share a copy, between copies, and both again for
    // the experts' weights.
    std::array<DataCollective, 4> flows(const DataMessages& sent, const HeldWeights<N>& held) const requires std::is_same_v<N, double> {
        std::array<DataCollective, 4> flows{};
        const auto fill = [&](const Holders<N>& by, double parameters, double frozen, std::size_t at) {
            const double reduced = sent.reductions * gradient_bytes(p_) * parameters;
            flows[at] = by.parts(reduced + sent.gatherings * (kWeightBytes * parameters + frozen));
            flows[at].fixed *= sent.reductions + sent.gatherings;
            flows[at + 1] = by.replica_parts(reduced);
            flows[at + 1].fixed *= sent.reductions;
        };
        const bool apart = experts_ && held.experts > 0;
        fill(all_, apart ? held.parameters - held.experts : held.parameters, gathers_frozen(p_) ? held.frozen : 0, 0);
        if (apart) fill(*experts_, held.experts, 0, 2);
        return flows;
    }

 private:
    static N number(const char* letter, const char* meaning, const char* unit, double value) {
        return quantity<N>({letter, meaning, unit}, value);
    }
    static N seconds(const char* letter, const char* meaning, const N& value) { return named<N>({letter, meaning, "seconds"}, value); }
    static double as_double(std::int64_t value) { return static_cast<double>(value); }

    N copies() const {
        return number("D", p_.weight_copies() == 1 ? "weight_copies" : "weight_copies_both_ways", "gpus",
                      as_double(p_.data_parallel() * p_.context_parallel * p_.weight_copies()));
    }
    // Experts that are split otherwise than the rest: other GPUs hold the same ones, and they are sent by themselves.
    //   Megatron-Core, parallel_state.py: the expert-data-parallel group; distributed/distributed_data_parallel.py: buffers of their own
    std::optional<Holders<N>> of_experts() const {
        const double split = as_double(p_.expert_parallel * p_.expert_tensor_parallel);
        if (split == as_double(p_.tensor_grid()) && p_.expert_parallel == 1) return {};
        const double same = std::max(1.0, as_double(p_.gpus * p_.weight_copies()) / (split * as_double(p_.pipeline_parallel)));
        return Holders<N>(p_, hw_, on_, number("D_e", "expert_copies", "gpus", same), split, &kExpertsHeld);
    }
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
    const Holders<N> all_{p_, hw_, on_, copies(), as_double(p_.tensor_grid()), nullptr};
    const std::optional<Holders<N>> experts_ = of_experts();
};

}  // namespace fourfold
