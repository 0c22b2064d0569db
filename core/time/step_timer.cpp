// Many plans of one space, timed one after the other.
#include "time/step_time.h"

#include <bit>
#include <cmath>

#include "base/numbers.h"

namespace fourfold {

constexpr std::size_t kPlaces = 256;  // of layer times; more than the (micro-batch, SP, recompute) of one TP and CP

StepTimer::StepTimer(const Model& model, const Gpu& gpu, const Cluster* cluster, const Plan& like)
    : model_(model), on_(model, gpu, cluster, like) {}

const LayerTimes& StepTimer::layers(const Plan& p) {
    if (known_.empty()) known_.resize(kPlaces), last_ = known_.data();
    const bool by_weight = on_.timing.host_partition > 0 && gathers_by_weight(p);
    const Key key{p.tensor_parallel,
                  p.context_parallel,
                  p.micro_batch,
                  p.expert_parallel,
                  p.expert_tensor_parallel,
                  p.token_slices,
                  p.recompute,
                  p.recompute_modules,
                  p.sequence_parallel,
                  p.activation_offload > 0,
                  p.hides_exchange(),
                  casts_weights(p),
                  fully_shards(p),
                  by_weight};
    const auto log2 = [](std::int64_t value) { return static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(value))); };
    const std::size_t place = static_cast<std::size_t>(key.micro_batch) +
                              17 * (static_cast<std::size_t>(key.recompute) + (key.sequence_parallel ? 0 : 4)) + key.recompute_modules +
                              (key.hides_exchange ? 13 : 0) + (key.by_weight ? 7 : 0) + (key.offloads ? 128 : 0) +
                              5 * log2(key.expert_parallel) + 31 * log2(key.context_parallel) + 67 * log2(key.expert_tensor_parallel) +
                              101 * static_cast<std::size_t>(key.tensor_parallel) + 41 * (log2(key.token_slices) - 1);
    Known& known = known_[place % kPlaces];
    if (known.key != key) {
        Key alike = key;  // but for its experts
        alike.expert_parallel = last_->key.expert_parallel, alike.expert_tensor_parallel = last_->key.expert_tensor_parallel;
        alike.hides_exchange = last_->key.hides_exchange;
        known = {key, layer_times(model_, p, on_.framework, on_.machine, on_.timing, alike == last_->key ? &last_->times : nullptr)};
        last_ = &known;
    }
    return known.times;
}

double StepTimer::seconds(const Plan& p, double most) {
    return step_time<double>(model_, p, on_.framework, on_.machine, on_.timing, layers(p), most).seconds;
}

double StepTimer::seconds_but_data(const Plan& p) {
    const StepTime<double> step = step_time<double>(model_, p, on_.framework, on_.machine, on_.timing, layers(p), 0);
    const auto item = [&](TimeItem i) { return step.items[static_cast<std::size_t>(i)]; };
    const double data = item(TimeItem::data_traffic) + item(TimeItem::weight_traffic),
                 nodes = number(p.gpus) / number(on_.machine.gpus_per_node);
    return step.seconds - data * (nodes > 1 ? 1 + on_.timing.straggler * std::log2(nodes) : 1);
}

}  // namespace fourfold
