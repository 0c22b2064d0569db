#include "search/bounds.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "time/step_time.h"

namespace fourfold {

StepBound::StepBound(const Model& model, const Plan& p, const Machine& machine, const Timing& timing, const LayerTimes& t)
    : model_(model), machine_(machine), timing_(timing) {
    const double experts = number(model.expert_layers.count());
    const double dense = number(model.layers) - experts, accumulation = timing.accumulation / (kKernelBandwidth.value * machine.memory);
    work_ = t.head + t.embedding;
    layer_ = layer_forward_ = INFINITY;
    const auto add = [&](double layers, const LayerTime& layer, double parameters) {
        if (layers == 0) return;
        const double seconds = layer.forward + layer.backward + accumulation * parameters;
        work_ += layers * seconds;
        layer_ = std::min(layer_, seconds), layer_forward_ = std::min(layer_forward_, layer.forward);
    };
    add(dense, t.dense, t.parameters_dense);
    add(experts, t.expert, t.parameters_expert);
    hidden_ = experts * (2 * t.expert.expert_forward + t.expert.expert_backward);  // recomputed, tokens travel once more
    micro_batches_ =                                                               // or their slices
        number(p.token_slices) * number(p.global_batch) * number(p.tensor_grid()) * number(p.context_parallel) /
        (number(p.micro_batch) * number(p.gpus));
    gpus_ = number(p.gpus);
    tensor_ = number(p.tensor_grid());
    factor_ = p.time_factor;
    spans_nodes_ = p.gpus > machine.gpus_per_node;
}

double StepBound::whole(double pipeline, double micro_batches) const {
    double seconds = pipeline + timing_.fixed;
    const double one_in = timing_.noise_groups;
    if (gpus_ > 1) seconds += micro_batches * timing_.stall * one_in * std::log(1 + (gpus_ / tensor_ - 1) / one_in);
    if (spans_nodes_) seconds *= 1 + timing_.straggler * std::log2(gpus_ / number(machine_.gpus_per_node));
    return seconds * factor_;
}

double StepBound::seconds(const Plan& p, double layers_again) const {
    const double stages = number(p.pipeline_parallel), m = micro_batches_ * stages;  // a pipeline of p stages has p times as many
    const double work = work_ + layers_again * layer_forward_, sum = work + stages * timing_.micro_batch, average = sum / stages;
    // some stage holds as many layers as the average, rounded up
    const double most = std::max(average, std::ceil(number(model_.layers) / stages) * layer_ + timing_.micro_batch);
    double pipeline = m * average;
    if (p.pipeline_parallel > 1) {
        const PipelineWeights weights = pipeline_weights(p);
        const ScheduleRow& schedule = row_of(p.schedule_kind());
        if (schedule.overlaps) return whole((work - hidden_) * micro_batches_ + m * timing_.micro_batch, m);
        pipeline = schedule.played ? m * most : weights.sum_work * sum + weights.most_work * most;
        pipeline += transfer_seconds(model_, p, machine_, timing_) * 2 * ((stages - 1) * weights.sum_transfers + weights.most_transfers);
    }
    return whole(pipeline, m);
}

LayerTimes StepBound::without_experts(const Model& model, const Plan& p, const Machine& machine, const Timing& timing, LayerTimes t) {
    LayerTime& e = t.expert;
    const double tokens = number(p.micro_batch) * number(p.sequence_length) / number(p.token_slices) /
                          (number(p.context_parallel) * number(p.tensor_parallel));
    const double flop = 2 * tokens * number(model.experts.per_token) * number(model.expert_hidden()) * number(model.experts.ffn) *
                        (model.gated ? 3 : 2) * std::max(1.0, p.expert_imbalance);
    const double least = flop / (timing.gemm * machine.peak);
    const bool further_are_experts = !model.expert_layers.empty() && model.expert_layers.back() != 0;
    if (further_are_experts)
        t.head -= model.multi_token_layers *
                  (e.forward + e.backward + timing.accumulation * t.parameters_expert / (kKernelBandwidth.value * machine.memory));
    // taking work off a layer shortens it by as much at most
    const double forward = e.routed_forward + e.expert_forward - least,
                 backward = e.routed_backward + e.expert_backward - (p.freezes() ? 1 : 2) * least;
    e.forward = std::max(e.forward - std::max(0.0, forward), 0.0);
    e.backward = std::max(e.backward - std::max(0.0, backward), 0.0);
    t.parameters_expert = 0;
    e.expert_forward = e.expert_backward = 0;
    return t;
}

}  // namespace fourfold
