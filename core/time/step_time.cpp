// Based on
//   S. Yim et al.: Pipette, DATE 2024, arXiv 2405.18093: the critical path of a pipeline, with point-to-point transfers on it
//   D. Narayanan et al., arXiv 2104.04473: bubbles, interleaved or not;  P. Qi et al., arXiv 2401.10241: zero bubble
#include "time/step_time.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "time/data_traffic.h"
#include "time/offload.h"
#include "time/stage_weights.h"
#include "time/swap.h"
#include "time/time_symbols.h"
#include "time/token_slices.h"
#include "time/update.h"

namespace fourfold {

namespace {

// A formula whose value the doubles know already: they do not compute it again.
template <class N, class Formula>
N formula_of(double known, Formula&& formula) {
    if constexpr (std::is_same_v<N, Traced>)
        return formula();
    else
        return known;
}

template <class N>
class StepCost : TimeSymbols<N> {
 public:
    StepCost(const Model& model, const Plan& plan, const Machine& machine, const Timing& timing, const LayerTimesOf<N>& layers)
        : TimeSymbols<N>(model, plan, machine, timing), timing_(timing), layers_(layers), weights_(model, plan, machine, timing, layers) {}

    // One micro-batch, forward and backward.
    N stage_seconds(const Stage& s) const {
        using std::max;
        return runs_ahead() ? max(stage_work(s), stage_launches(s)) : stage_work(s);
    }
    N stage_work(const Stage& s) const {
        N sum = 0.0;
        if (s.dense.held > 0) add(sum, layers_seconds(s.dense, nullptr, dense_layers(s), layers_.dense));
        if (s.experts.held > 0) add(sum, layers_seconds(s.experts, &kExpertLayer, expert_layers(s), layers_.expert));
        add(sum, accumulation(s, cited(layers_.parameters_dense), cited(layers_.parameters_expert)));
        add(sum, each_way(on_.of(&Timing::micro_batch)));
        if (p_.moves_in_passes()) add(sum, swapped(s));
        if (s.has_embedding) add(sum, cited(layers_.embedding));
        if (s.has_head) add(sum, cited(layers_.head));
        return sum;
    }
    N transfer_inside() const {
        const N bytes = 2 * M_ * h_ / t_;
        return on_.of(&Timing::link_latency) + bytes / on_.send_link_rate(as_double(p_.gpus));
    }
    // Seconds from hand to hand between two stages; where the pipeline lies in several nodes, some sends stay in one.
    N transfer() const {
        using std::max, std::min;
        if (p_.gpus <= hw_.gpus_per_node) return transfer_inside();
        const N bytes = 2 * M_ * h_ / t_;
        const N between = on_.network_latency() + bytes * min(on_.gpus_per_node(), gpus() / stages()) / on_.network_rate(&Timing::pipeline);
        return hw_.gpus_per_node > 1 ? max(between, transfer_inside()) : between;
    }

    // Which stage sets the pace (N = double).
    Pace find_pace(const Stages& stages, bool with_stage_seconds) const {
        Pace pace;
        const auto count = static_cast<std::int32_t>(p_.pipeline_parallel);
        double more = value_of(micro_batches_) - 1, later = -HUGE_VAL;
        for (std::int32_t i = 0, next = 0; i < count; i = next) {
            next = stages.next_different(i);  // one of those that hold the same stands for all
            const Stage s = stages.at_rest(i);
            const double here = stage_seconds(s), weight = weights_.parameters(s);
            // from a stage on each works on one further micro-batch, it on the others; or it alone, but for forwards done ahead
            if (count - next < more) later = std::max(later, (more - count + i) * here - pace.sum);
            pace.further = std::max(pace.further, more * here - std::min(as_double(count - next), more) * forward_seconds(s));
            pace.sum += (next - i) * here;
            if (here > pace.most) pace.most = here, pace.slowest = s;
            if (weight > pace.parameters) pace.parameters = weight, pace.heaviest = i;
            if (with_stage_seconds) pace.stage_seconds.insert(pace.stage_seconds.end(), static_cast<std::size_t>(next - i), here);
        }
        pace.further = std::max(pace.further, later + pace.sum);
        return pace;
    }
    double forward_seconds(const Stage& s) const {
        return s.dense.held * value_of(layers_.dense.forward) + s.experts.held * value_of(layers_.expert.forward);
    }

    StepTime<N> run(const Stages& stages, const Pace& pace, const PlayedStep& played) {
        slow_ = &pace.slowest;
        n_ = dense_layers(*slow_);
        x_ = expert_layers(*slow_);
        of_layers();
        of_stage();
        of_pipeline(pace, played);
        once_per_step(stages, pace);
        noise();
        result_.stage_seconds = pace.stage_seconds;
        if (p_.time_factor != 1) calibrate(p_.time_factor);
        return std::move(result_);
    }

 private:
    using T = TimeSymbols<N>;
    using L = Symbols<N>;
    using L::as_double, L::m_, L::p_, L::number;
    using T::hw_, T::on_, T::h_, T::t_, T::M_, T::seconds, T::part_recomputed;
    using Layer = LayerTimeOf<N>;

    N& item(TimeItem which) { return result_.items[static_cast<std::size_t>(which)]; }
    static N dense_layers(const Stage& s) { return number("n", "stage_layers", "", s.dense.held); }
    static N expert_layers(const Stage& s) { return number("n_e", "stage_expert_layers", "", s.experts.held); }

    // ---- a stage
    // Whether the CPU may launch a whole micro-batch before the GPU has done it, the head's work under that of layers, too.
    bool runs_ahead() const { return value_of(layers_.dense.launch_forward) > 0; }
    N stage_launches(const Stage& s) const {
        N sum = each_way(on_.of(&Timing::micro_batch));
        if (s.dense.held > 0) add(sum, dense_layers(s) * (cited(layers_.dense.launch_forward) + cited(layers_.dense.launch_backward)));
        if (s.experts.held > 0) add(sum, expert_layers(s) * (cited(layers_.expert.launch_forward) + cited(layers_.expert.launch_backward)));
        return sum;
    }
    // With "block" only some layers are computed again.
    bool recomputes_some() const { return p_.recompute == Recompute::block; }
    N layers_seconds(const LayerCount& count, const Part* kind, const N& held, const Layer& t) const {
        const N both = cited(t.forward) + cited(t.backward);
        return held * (recomputes_some() ? both + part_recomputed(count, kind) * cited(t.recomputed) : both);
    }
    N accumulation(const Stage& s, const N& dense, const N& experts) const {
        N sum = 0.0;
        if (s.dense.held > 0) add(sum, dense_layers(s) * dense);
        if (s.experts.held > 0) add(sum, expert_layers(s) * experts);
        return per_parameter_ * sum;
    }

    // What goes to the host and back beside the passes.
    N swapped(const Stage& s) const {
        const auto waits = Swap<N>(m_, p_, hw_, timing_).of_stage(s, layers_);
        N sum = 0.0;
        for (const N* part : {&waits.forward, &waits.backward, &waits.weight}) add(sum, *part);
        return sum;
    }

    // ---- per micro-batch
    // Of all layers of the stage that sets the pace, all micro-batches.
    N all_layers(const N& dense, const N& expert) const {
        if (slow_->experts.held == 0) return micro_batches_ * n_ * dense;
        if (slow_->dense.held == 0) return micro_batches_ * x_ * expert;
        return micro_batches_ * (n_ * dense + x_ * expert);
    }
    N recomputed(const LayerCount& count, const Part* kind, const Layer& t) const {
        return recomputes_some() ? part_recomputed(count, kind) * t.recomputed : t.recomputed;
    }
    // What is left of a layer's time when all that it does is taken off.
    N waiting(const Layer& t) const {
        N work = cited(t.multiply_forward);
        for (const N* part :
             {&t.multiply_backward, &t.attention_forward, &t.attention_backward, &t.element_forward, &t.element_backward, &t.tensor_forward,
              &t.tensor_backward, &t.context_forward, &t.context_backward, &t.expert_forward, &t.expert_backward})
            add(work, cited(*part));
        if (!recomputes_some()) add(work, cited(t.recomputed));
        return t.forward + t.backward - work;
    }
    void of_layers() {
        const Layer &d = layers_.dense, &e = layers_.expert;
        item(TimeItem::multiplications) = all_layers(d.multiply_forward + d.multiply_backward, e.multiply_forward + e.multiply_backward);
        item(TimeItem::attention) = all_layers(d.attention_forward + d.attention_backward, e.attention_forward + e.attention_backward);
        item(TimeItem::element_wise) = all_layers(d.element_forward + d.element_backward, e.element_forward + e.element_backward);
        item(TimeItem::tensor_traffic) = all_layers(d.tensor_forward + d.tensor_backward, e.tensor_forward + e.tensor_backward);
        item(TimeItem::context_traffic) = all_layers(d.context_forward + d.context_backward, e.context_forward + e.context_backward);
        item(TimeItem::expert_traffic) = all_layers(d.expert_forward + d.expert_backward, e.expert_forward + e.expert_backward);
        item(TimeItem::recomputation) = all_layers(recomputed(slow_->dense, nullptr, d), recomputed(slow_->experts, &kExpertLayer, e));
        const N idle = runs_ahead() ? micro_batches_ * (stage_seconds(*slow_) - stage_work(*slow_)) : all_layers(waiting(d), waiting(e));
        item(TimeItem::host) = idle + micro_batches_ * each_way(on_.of(&Timing::micro_batch));
    }
    void of_stage() {
        item(TimeItem::activation_offload) = p_.moves_in_passes() ? micro_batches_ * swapped(*slow_) : N(0.0);
        item(TimeItem::accumulation) = micro_batches_ * accumulation(*slow_, layers_.parameters_dense, layers_.parameters_expert);
        N ends = 0.0;
        if (slow_->has_embedding) add(ends, layers_.embedding);
        if (slow_->has_head) add(ends, layers_.head);
        item(TimeItem::head) = micro_batches_ * ends;
    }

    // ---- the pipeline
    N gpus() const { return number("G", "gpus", "gpus", as_double(p_.gpus)); }
    N stages() const { return number("p", "pipeline_parallel", "", as_double(p_.pipeline_parallel)); }

    // One micro-batch through all stages: those between the ends of an even pipeline are alike.
    static N all_stages(const Pace& pace) {
        return formula_of<N>(pace.sum, [&] {
            const std::vector<double>& each = pace.stage_seconds;
            const auto stage = [](const char* letter, const char* meaning, double value) {
                return number(letter, meaning, "seconds", value);
            };
            const N first = stage("Y_1", "first_stage", each.front()), last = stage("Y_p", "last_stage", each.back());
            if (each.size() == 2) return first + last;
            const double between = as_double(static_cast<std::int64_t>(each.size())) - 2;
            const N inner = number("p_i", "middle_stages", "", between) * stage("Y_2", "middle_stage", each[1]);
            const N sum = first + inner + last;
            return value_of(sum) == pace.sum ? sum : stage("Y_s", "all_stages", pace.sum);
        });
    }

    // How long the stages take together, and the transfers on the critical path (Pipette).
    void of_pipeline(const Pace& pace, const PlayedStep& played) {
        item(TimeItem::bubble) = item(TimeItem::pipeline_traffic) = 0.0;
        if (p_.pipeline_parallel == 1) return;
        const N& m = micro_batches_;
        const N slowest = formula_of<N>(pace.most, [&] {
            return named<N>({"Y", "slowest_stage", "seconds"}, stage_seconds(*slow_), pace.most);
        });
        const N send = seconds("Y_t", "stage_send", transfer());
        const N p = stages();
        const bool interleaved = row_of(p_.schedule_kind()).turns;
        N together = 0.0;
        if (played.together > 0)
            together = number("Y_a", "played_stages", "seconds", played.together);
        else if (interleaved)
            together = m * slowest + (all_stages(pace) - slowest) / chunks();
        else if (p_.weight_copies() > 1)
            together = m * slowest + (all_stages(pace) - slowest) / copies_of_weights();
        else if (p_.token_slices > 1)
            together = m * slowest + (all_stages(pace) - slowest) * longest_slice();
        else
            together = all_stages(pace) + (m - 1) * slowest - beneath_fills(pace);
        if (played.uneven > 0) together = together + number("Y_u", "uneven_chunks", "seconds", played.uneven);
        item(TimeItem::bubble) = together - m * slowest;
        if (played.together > 0 && (row_of(p_.schedule_kind()).overlaps || goes_one_way_first(p_))) return of_pairs(played);
        const N further = interleaved ? 2 * m * chunks() : p_.pipeline_parallel == 2 && !is_played(p_) ? m - 1 : 2 * (m - 1);
        const N times = 2 * (p - 1) + further;
        item(TimeItem::pipeline_traffic) = send * (interleaved && p_.overlaps_sends() ? times * on_.of(kOverlappedSend) : times);
    }
    // Where a stage before the last one sets the pace, the pipeline fills and drains while it works.
    N beneath_fills(const Pace& pace) const {
        const double most = (value_of(micro_batches_) - 1) * pace.most, beneath = most - pace.further;
        return beneath > 1e-9 * most && !row_of(p_.schedule_kind()).played ? number("Y_e", "early_stages", "seconds", beneath) : N(0.0);
    }
    // Overlapped pairs hide traffic of the experts, and that between stages except at the ends of a step (schedule.h).
    void of_pairs(const PlayedStep& played) {
        item(TimeItem::pipeline_traffic) = number("Y_x", "played_sends", "seconds", played.transfers);
        if (played.hidden <= 0) return;
        const N hidden = number("Y_h", "played_hidden_traffic", "seconds", played.hidden), traffic = item(TimeItem::expert_traffic);
        const double again = played.hidden - value_of(traffic);
        if (again > 0)
            item(TimeItem::recomputation) = item(TimeItem::recomputation) - number("Y_r", "played_hidden_again", "seconds", again);
        item(TimeItem::expert_traffic) = again > 0 ? N(0.0) : traffic - hidden;
        item(TimeItem::bubble) = item(TimeItem::bubble) + hidden;
    }
    // The copies of the weights that a pipeline of two directions holds: a stage works on a micro-batch of each in turn.
    N copies_of_weights() const { return number("w", "directions", "", as_double(p_.weight_copies())); }
    N each_way(const N& one) const { return p_.weight_copies() > 1 ? copies_of_weights() * one : one; }
    // TeraPipe: the stages wait for each other as long as the longest slice takes.
    N longest_slice() const {
        return number("u_l", "longest_slice_time", "", longest_slice_share(m_, p_, attention_part(layers_, *slow_)));
    }
    N chunks() const { return number("V", "virtual_stages", "", as_double(p_.virtual_stages)); }

    // ---- once per step
    N of_both(const Stage& s, const N& dense, const N& expert) const {
        const bool own = s.dense.held != slow_->dense.held || s.experts.held != slow_->experts.held;
        N sum = 0.0;
        if (s.dense.held > 0) add(sum, (own ? number("n_w", "heaviest_layers", "", s.dense.held) : n_) * cited(dense));
        if (s.experts.held > 0) add(sum, (own ? number("n_v", "heaviest_expert_layers", "", s.experts.held) : x_) * cited(expert));
        return sum;
    }
    // Of a stage whose traffic is hidden beneath it.
    N pass(const Stage& s, const char* letter, const char* meaning, N Layer::*work, N Layer::*launches) const {
        using std::max;
        const Layer &d = layers_.dense, &e = layers_.expert;
        const N sum = of_both(s, d.*work, e.*work);
        return seconds(letter, meaning, runs_ahead() ? max(sum, of_both(s, d.*launches, e.*launches)) : sum);
    }

    void once_per_step(const Stages& stages, const Pace& pace) {
        const N parameters = formula_of<N>(pace.parameters, [&] {
            return named<N>({"P", "most_parameters", ""}, weights_.parameters(stages.at_rest(pace.heaviest)), pace.parameters);
        });
        const Stage heaviest = stages.at_rest(pace.heaviest);
        N forward = pass(heaviest, "F_s", "stage_forward", &Layer::forward, &Layer::launch_forward),
          backward = pass(heaviest, "B_s", "stage_backward", &Layer::backward, &Layer::launch_backward);
        if (p_.moves_in_passes()) {  // what hides beneath the passes has as long as they take
            const auto waits = Swap<N>(m_, p_, hw_, timing_).of_stage(heaviest, layers_);
            add(forward, waits.forward), add(backward, waits.backward), add(backward, waits.weight);
        }
        const DataTraffic<N> data(p_, hw_, on_);
        const HeldWeights<N> held{parameters, weights_.expert_parameters(heaviest), weights_.frozen_bytes(heaviest)};
        auto [once, often, but_last] = data.exposed(held, forward, backward);
        const bool gathers = p_.zero == Zero::weights;
        if (p_.shards_optimizer()) add(gathers ? often : once, one_after_the_other(data.sharers()));
        item(TimeItem::data_traffic) = once;
        item(TimeItem::weight_traffic) = sends_every_micro_batch(p_) ? micro_batches_ * often : N(0.0);
        if (value_of(but_last) > 0) add(item(TimeItem::weight_traffic), (micro_batches_ - 1) * but_last);
        item(TimeItem::optimizer) = Update<N>(m_, p_, hw_, timing_, heaviest).seconds(parameters, data.updated(held), data.sharers());
        item(TimeItem::host_optimizer) = 0.0;
        if (p_.optimizer_offload > 0) item(TimeItem::host_optimizer) = HostUpdate<N>(m_, p_, hw_, timing_).seconds(data.updated(held));
        item(TimeItem::fixed) = on_.of(&Timing::fixed);
        result_.forward = value_of(forward);
        result_.backward = value_of(backward);
    }
    // Where every tensor has a collective of its own: latencies of rings through all copies.
    N one_after_the_other(const N& ranks) const {
        const N latency = on_.of(&Timing::shard_latency);
        return value_of(latency) == 0 || value_of(ranks) <= 1 ? N(0.0) : latency * (n_ + x_) * ranks;
    }
    // ---- noise of the machine and of other jobs; the slowest node sets the pace
    void noise() {
        using std::log, std::log2;
        // Of j_n groups one is late in a micro-batch, by a time that is exponentially distributed: what the latest of all groups costs.
        const N one_in = on_.of(&Timing::noise_groups);
        N& stalls = item(TimeItem::stalls);
        stalls = 0.0;
        if (p_.gpus > 1) stalls = each_way(micro_batches_) * (on_.of(&Timing::stall) * one_in * log(1 + (gpus() / T::grid() - 1) / one_in));
        result_.seconds = 0;
        for (const N& one : result_.items) result_.seconds += value_of(one);
        if (p_.gpus <= hw_.gpus_per_node) return;
        const N lag =
            number("T_0", "step_before", "seconds", result_.seconds) * on_.of(&Timing::straggler) * log2(gpus() / on_.gpus_per_node());
        stalls = stalls + lag;
        result_.seconds += value_of(lag);
    }

    // A calibration's factor, on every term alike, so that they still sum to the step.
    void calibrate(double factor) {
        const N measured = number("k_y", "calibration_factor", "", factor);
        for (N& one : result_.items)
            if (value_of(one) != 0) one = measured * one;
        for (double& stage : result_.stage_seconds) stage *= factor;
        result_.seconds *= factor;
        result_.forward *= factor;
        result_.backward *= factor;
    }

    const Timing& timing_;
    const LayerTimesOf<N>& layers_;
    const StageWeights<N> weights_;
    const Stage* slow_ = nullptr;
    const N per_parameter_ = on_.of(&Timing::accumulation) / on_.memory();  // of adding up gradients
    const N micro_batches_ = number("m",
                                    p_.token_slices > 1       ? "all_slices"
                                    : p_.weight_copies() == 1 ? "micro_batches"
                                                              : "micro_batches_each_way",
                                    "", as_double(p_.units()));
    N n_ = 0.0, x_ = 0.0;  // layers of the slowest stage
    StepTime<N> result_;
};

}  // namespace

#ifndef FOURFOLD_TRACED
Pace pace_of(const Model& model, const Plan& plan, const Machine& machine, const Timing& timing, const LayerTimes& layers,
             const Stages& stages, bool with_stage_seconds) {
    return StepCost<double>(model, plan, machine, timing, layers).find_pace(stages, with_stage_seconds);
}
double transfer_seconds_inside(const Model& model, const Plan& plan, const Machine& machine, const Timing& timing) {
    const LayerTimes none;
    return StepCost<double>(model, plan, machine, timing, none).transfer_inside();
}
DataCollective data_collective_parts(const Plan& plan, const Machine& machine, const Timing& timing, double bytes) {
    const Cost<double> cost(machine, timing);
    return DataTraffic<double>(plan, machine, cost).parts(bytes);
}
HeldWeights<double> stage_weights(const Model& model, const Plan& plan, const Machine& machine, const Timing& timing,
                                  const LayerTimes& layers, const Stage& stage) {
    const StageWeights<double> weights(model, plan, machine, timing, layers);
    return {weights.parameters(stage), weights.expert_parameters(stage), weights.frozen_bytes(stage)};
}
double transfer_seconds(const Model& model, const Plan& plan, const Machine& machine, const Timing& timing) {
    const LayerTimes none;
    return StepCost<double>(model, plan, machine, timing, none).transfer();
}
#endif

template <class N>
StepTime<N> step_time(const Model& model, const Plan& p, const Framework&, const Machine& hw, const Timing& k,
                      const LayerTimesOf<N>& layers, double most) {
    const Stages stages(model, p);
    constexpr bool is_traced = std::is_same_v<N, Traced>;
    const LayerTimes& plain = values_of(layers);
    const Pace pace = pace_of(model, p, hw, k, plain, stages, is_traced);
    PlayedStep played;
    if (is_played(p) || goes_one_way_first(p)) played = played_step(model, p, hw, k, plain, stages, pace);
    StepTime<N> step = StepCost<N>(model, p, hw, k, layers).run(stages, pace, played);
    if (p.pipeline_parallel == 1 || !row_of(p.schedule_kind()).turns || step.seconds > most) return step;
    const auto item = [&](TimeItem i) { return value_of(step.items[static_cast<std::size_t>(i)]) / p.time_factor; };
    const double alike = number(p.units()) * pace.most + item(TimeItem::bubble) + item(TimeItem::pipeline_traffic);
    played.uneven = uneven_turns(model, p, hw, k, plain, stages, alike);
    return played.uneven > 0 ? StepCost<N>(model, p, hw, k, layers).run(stages, pace, played) : std::move(step);
}
#ifdef FOURFOLD_TRACED
template StepTime<Traced> step_time<Traced>(const Model&, const Plan&, const Framework&, const Machine&, const Timing&,
                                            const LayerTimesOf<Traced>&, double);
#else
template StepTime<double> step_time<double>(const Model&, const Plan&, const Framework&, const Machine&, const Timing&, const LayerTimes&,
                                            double);
#endif

}  // namespace fourfold
