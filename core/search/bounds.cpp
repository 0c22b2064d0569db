#include "search/bounds.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "time/offload.h"
#include "time/step_time.h"
#include "time/update.h"

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
    const double gpus = number(p.gpus), one_in = timing.noise_groups;
    if (p.gpus > 1) stall_ = timing.stall * one_in * std::log(1 + (gpus / number(p.tensor_grid()) - 1) / one_in);
    factor_ = p.time_factor;
    if (p.gpus > machine.gpus_per_node) factor_ *= 1 + timing.straggler * std::log2(gpus / number(machine.gpus_per_node));
}

double StepBound::whole(double pipeline, double micro_batches) const {
    return (pipeline + timing_.fixed + micro_batches * stall_) * factor_;
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
        // in 1F1B the slowest stage works while the pipeline fills and drains (Pace::further)
        if (!schedule.played && !schedule.turns && !schedule.keeps_all)
            pipeline = sum + (m > stages ? (m - 1) * most - stages * (most - average) : (m - 1) * most / 2);
        if (stages_ != p.pipeline_parallel) stages_ = p.pipeline_parallel, transfer_ = transfer_seconds(model_, p, machine_, timing_);
        pipeline += transfer_ * 2 * ((stages - 1) * weights.sum_transfers + weights.most_transfers);
    }
    return whole(pipeline, m);
}

// The heaviest stage holds no fewer parameters than the mean one. How many of them are experts', which other GPUs share, is open: at least
// what is left beside the rest of the model, at most what layers with experts have of them. Seconds are linear in both numbers, so one of
// these two ends takes least. The passes hide whatever they may.
double StepBound::once_per_step(const Plan& p, const LayerTimes& layers) const {
    Stage model, words;  // all of it as one stage; a matrix of the vocabulary
    model.experts.held = number(model_.expert_layers.count()), model.dense.held = number(model_.layers) - model.experts.held;
    model.has_embedding = model.has_head = words.has_embedding = true;
    const auto weights = [&](const Stage& stage) { return stage_weights(model_, p, machine_, timing_, layers, stage); };
    const HeldWeights<double> all = weights(model);
    const double mean = number(p.weight_copies()) / number(p.pipeline_parallel) * all.parameters;
    const double in_layers = model.experts.held * layers.parameters_expert;  // of layers with experts
    const double others = number(p.weight_copies()) * (all.parameters - in_layers + weights(words).parameters);
    const double part = in_layers > 0 ? all.experts / in_layers : 0;

    const Cost<double> cost(machine_, timing_);
    const DataTraffic<double> data(p, machine_, cost);
    const auto seconds = [&](double experts) {
        const HeldWeights<double> held{mean, experts, 0};
        const auto sent = data.exposed(held, INFINITY, INFINITY);
        const double update = Update<double>(model_, p, machine_, timing_, {}).seconds(mean, data.updated(held), data.sharers());
        const double on_host = p.optimizer_offload > 0 ? HostUpdate<double>(model_, p, machine_, timing_).seconds(data.updated(held)) : 0;
        return sent.once + number(p.units()) * sent.every_micro_batch + number(p.units() - 1) * sent.but_with_the_last + update + on_host;
    };
    return std::min(seconds(part * mean), seconds(part * std::max(0.0, mean - others))) * factor_;
}

LayerTimes StepBound::without_experts(const Model& model, const Plan& p, const Machine& machine, const Timing& timing, LayerTimes t) {
    LayerTime& e = t.expert;
    const double tokens = number(p.micro_batch) * number(p.sequence_length) / number(p.token_slices) /
                          (number(p.context_parallel) * number(p.tensor_parallel));
    const double flop = 2 * tokens * number(model.experts.per_token) * number(model.expert_hidden()) * number(model.experts.ffn) *
                        (model.gated ? 3 : 2) * std::max(1.0, p.expert_imbalance);
    const double least = flop / Cost<double>(machine, timing).rate();
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
