#include "time/op_times.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/formula.h"
#include "time/step_time.h"
#include "time/swap.h"
#include "time/token_slices.h"

namespace fourfold {

// Where the CPU runs ahead of the GPU and is the slower of the two, all operations of a stage, the last ones of `times`, take longer alike.
static void as_launched(OpTimes& times, std::size_t operations, const Stage& stage, const LayerTimes& layers, double micro_batch) {
    const LayerTime &d = layers.dense, &e = layers.expert;
    const double cpu = stage.dense.held * (d.launch_forward + d.launch_backward) +
                       stage.experts.held * (e.launch_forward + e.launch_backward) + micro_batch;
    const std::array<std::vector<double>*, 3> passes = {&times.forward, &times.backward, &times.weight};
    const std::size_t first = times.forward.size() - operations;
    double work = 0;
    for (const auto* pass : passes) work = std::accumulate(pass->begin() + static_cast<std::ptrdiff_t>(first), pass->end(), work);
    // no traffic that is hidden makes a stage shorter than its launches
    if (!times.forward_hidden.empty()) {
        double hidden = 0;
        for (const auto* part : {&times.forward_hidden, &times.backward_hidden})
            hidden = std::accumulate(part->begin() + static_cast<std::ptrdiff_t>(first), part->end(), hidden);
        const double most = std::max(0.0, work - cpu);
        for (auto* part : {&times.forward_hidden, &times.backward_hidden})
            for (std::size_t i = first; i < part->size() && hidden > most; ++i) (*part)[i] *= most / hidden;
    }
    if (cpu <= work) return;
    for (auto* pass : passes)
        for (std::size_t i = first; i < pass->size(); ++i) (*pass)[i] *= cpu / work;
}

// How much sooner a layer is done without so much traffic, where the CPU launches it in `host` seconds (norm4, layer_time.cpp).
static double sooner_without(double traffic, double layer, double host) {
    if (host == 0 || traffic == 0) return traffic;
    const double work = std::pow(std::max(0.0, std::pow(layer, 4) - std::pow(host, 4)), 0.25);
    return layer - norm4(std::max(0.0, work - traffic), host);
}

OpTimes op_times(const Model& model, const Plan& plan, const Machine& machine, const Timing& timing, const LayerTimes& layers,
                 const Stages& stages) {
    const auto count = static_cast<std::int32_t>(plan.pipeline_parallel), chunks = static_cast<std::int32_t>(plan.pieces_per_stage());
    const bool splits = stages.splits_backward(), block = plan.recompute == Recompute::block;
    const bool pairs = row_of(plan.schedule_kind()).overlaps;
    const double accumulation = timing.accumulation / (kKernelBandwidth.value * machine.memory);
    // Forward, backward and weights: each end of the model has one multiplication in each, and none in the last where it is frozen.
    const double passes = plan.freezes() ? 2 : 3;
    constexpr double kOperations = 3;
    const Swap<double> swap(model, plan, machine, timing);
    const double each_way = timing.micro_batch * static_cast<double>(plan.weight_copies());
    OpTimes times;
    for (std::int32_t stage = 0; stage < count; ++stage) {
        const Stage whole = stages.at_rest(stage);
        const auto waits = plan.moves_in_passes() ? swap.of_stage(whole, layers) : Swap<double>::Waits{};
        for (std::int32_t chunk = 0; chunk < chunks; ++chunk) {
            const std::int32_t position = stages.position(stage, chunk);
            const Stage piece = stages.piece(position);
            double forward = 0, backward = 0, weight = 0, traffic_forward = 0, traffic_backward = 0, hidden_forward = 0,
                   hidden_backward = 0;
            const auto add = [&](const LayerCount& layer, const LayerTime& time, double parameters) {
                // of B, not of W, which stays as long whatever is computed again, also where the CPU sets the pace
                const double inside = sooner_without(block ? 0 : time.recomputed, time.backward, time.host_backward) + time.expert_backward;
                forward += layer.held * time.forward;
                backward += layer.held * (plan.freezes() ? time.backward : (time.backward + inside) / 2);
                if (block) backward += layer.recomputed * time.recomputed;
                weight += layer.held * ((plan.freezes() ? 0 : (time.backward - inside) / 2) + accumulation * parameters);
                traffic_forward += layer.held * time.expert_forward;
                traffic_backward += layer.held * time.expert_backward + layer.recomputed * time.expert_forward;
                if (!pairs || layer.held == 0) return;
                const double again = layer.recomputed * time.expert_forward / layer.held;
                const double sooner = sooner_without(time.expert_forward, time.forward, time.host_forward);
                hidden_forward += layer.held * sooner;
                hidden_backward +=
                    layer.held * sooner_without(time.expert_backward + (block ? 0 : again), time.backward, time.host_backward) +
                    (block ? layer.recomputed * sooner : 0);
            };
            add(piece.dense, layers.dense, layers.parameters_dense);
            add(piece.experts, layers.expert, layers.parameters_expert);
            const double work = forward + backward + weight, host = timing.micro_batch / static_cast<double>(plan.virtual_stages);
            // where passes wait for transfers too, in equal parts: else a faster GPU would shift host time from one pass to another
            const bool in_proportion = work > 0 && !plan.moves_in_passes();
            for (double* part : {&forward, &backward, &weight}) *part += in_proportion ? *part / work * host : host / kOperations;
            const double share = whole.layers() > 0 ? piece.layers() / whole.layers() : 0;
            forward += share * waits.forward, backward += share * waits.backward, weight += share * waits.weight;
            const double end =
                (position == 0 ? layers.embedding / passes : 0) + (position + 1 == stages.pieces() ? layers.head / passes : 0);
            const double end_weight = plan.freezes() ? 0 : end;
            times.forward.push_back(forward + end);
            times.backward.push_back(backward + end + (splits ? 0 : weight + end_weight));
            times.weight.push_back(splits ? weight + end_weight : 0);
            if (pairs) times.forward_traffic.push_back(traffic_forward);
            if (pairs) times.backward_traffic.push_back(traffic_backward);
            if (pairs) times.forward_hidden.push_back(hidden_forward);
            if (pairs) times.backward_hidden.push_back(hidden_backward);
        }
        if (layers.dense.launch_forward > 0) as_launched(times, static_cast<std::size_t>(chunks), whole, layers, each_way);
    }
    if (plan.token_slices > 1) times.slice_shares = stages.slices().shares(model, attention_part(layers, stages.piece(0)));
    if (count == 1) return times;
    const ScheduleRow& row = row_of(plan.schedule_kind());
    times.transfer = transfer_seconds(model, plan, machine, timing) * (plan.overlaps_sends() && row.turns ? kOverlappedSend.value : 1);
    if (pairs) return times;
    times.sending = times.transfer;
    if (!row.keeps_all && row.route == Route::straight && (count > 2 || splits || row.turns)) times.at_ends = times.sending;
    return times;
}

}  // namespace fourfold
