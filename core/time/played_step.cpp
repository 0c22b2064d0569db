// Pipelines whose step time has no closed form are played, operation by operation, as far as they repeat themselves. Based on
//   P. Qi et al., arXiv 2401.10241: zero bubble;  D. Narayanan et al., arXiv 2104.04473: chunks that take turns
#include <algorithm>

#include "base/numbers.h"
#include "time/op_times.h"
#include "time/step_time.h"

namespace fourfold {

bool is_played(const Plan& p) {
    constexpr std::int64_t kMostStagesPlayed = 48;  // longer pipelines exist on paper alone, and take 1F1B's time at most
    return row_of(p.schedule_kind()).played && p.pipeline_parallel > 1 && p.pipeline_parallel <= kMostStagesPlayed;
}

// Where all forwards are done before any backward pass: each way takes what its longest passes take, on whatever stage.
static double together_in_phases(const Plan& p, const OpTimes& times) {
    double sum = 0, forward = 0, backward = 0;
    const std::size_t last = times.forward.size() - 1;
    for (std::size_t i = 0; i <= last; ++i) {
        const double on = times.forward[i] + (i < last ? times.sending : 0), back = times.backward[i] + (i > 0 ? times.sending : 0);
        sum += on + back;
        forward = std::max(forward, on), backward = std::max(backward, back);
    }
    return sum + number(p.micro_batches() - 1) * (forward + backward);
}

bool goes_one_way_first(const Plan& p) { return row_of(p.schedule_kind()).keeps_all && p.pipeline_parallel > 1 && p.token_slices == 1; }

// Played up to where it repeats itself; every further micro-batch takes the slowest stage's time.
PlayedStep played_step(const Model& model, const Plan& p, const Machine& machine, const Timing& timing, const LayerTimes& layers,
                       const Stages& stages, const Pace& pace) {
    const ScheduleKind kind = p.schedule_kind();
    const auto count = static_cast<std::int32_t>(p.pipeline_parallel), chunks = static_cast<std::int32_t>(p.pieces_per_stage());
    const double m = number(p.micro_batches()), copies = number(p.weight_copies());
    const auto few = static_cast<std::int32_t>(std::min(m, 4 * number(p.pipeline_parallel)));
    OpTimes times = op_times(model, p, machine, timing, layers, stages);
    const double transfer = times.transfer, with_sends = goes_one_way_first(p) ? together_in_phases(p, times) : 0;
    times.without_sends();
    if (with_sends > 0) {
        const double work = together_in_phases(p, times);
        return {work, with_sends - work};
    }
    const Schedule schedule = make_schedule(kind, count, chunks, few);
    const auto played = play(schedule, times);
    if (!played || !row_of(kind).overlaps) return {(played ? played->makespan : pace.sum) + (m - few) * pace.most};

    // pairs hide traffic: a further micro-batch takes less than its operations one by one
    PlayedStep step;
    double repeating = 0, hidden = 0;
    for (std::int32_t stage = count - 1; stage >= 0; --stage) {
        const double seconds = repeating_seconds(kind, count, chunks, times, stage);
        repeating = std::max(repeating, seconds);
        double work = 0;  // of a micro-batch in each direction
        const auto pieces = static_cast<std::size_t>(chunks), first = static_cast<std::size_t>(stage) * pieces;
        for (std::size_t i = first; i < first + pieces; ++i) work += times.forward[i] + times.backward[i] + times.weight[i];
        if (work >= pace.most * (1 - 1e-9))  // the first stage that sets the pace
            hidden = work * m / copies - played->busy[static_cast<std::size_t>(stage)] - (m - few) * seconds;
    }
    times.transfer = transfer;
    const auto with_transfers = play(schedule, times);
    step.together = played->makespan + (m - few) * repeating;
    step.transfers = with_transfers ? std::max(0.0, with_transfers->makespan - played->makespan) : 0;
    step.hidden = hidden > 1e-9 * step.together ? hidden : 0;  // less is rounding
    return step;
}

// The first groups of micro-batches and what is left after whole groups; every further group takes as long as the last one of them.
// Nothing where even so it would be too long.
static double together_in_turns(const Plan& p, const OpTimes& times) {
    constexpr std::int64_t kGroupsPlayed = 4, kMostOperations = 300'000;
    const std::int64_t m = p.micro_batches(), group = p.group_of_micro_batches(), part = std::min(m, kGroupsPlayed * group + m % group);
    if (part > kMostOperations / row_of(p.schedule_kind()).operations(p.pipeline_parallel, p.virtual_stages)) return 0;
    const PlayedTurns played =
        play_turns({narrow(p.pipeline_parallel), narrow(p.virtual_stages), narrow(part), narrow(group), p.early_forwards()}, times);
    return played.makespan + number(m - part) / number(group) * played.group_seconds;
}

double uneven_turns(const Model& model, const Plan& p, const Machine& machine, const Timing& timing, const LayerTimes& layers,
                    const Stages& stages, double alike) {
    const double more = together_in_turns(p, op_times(model, p, machine, timing, layers, stages)) - alike;
    return more > 1e-9 * alike ? more : 0;  // less is rounding
}

PipelineWeights pipeline_weights(const Plan& p) {
    const auto m = static_cast<double>(p.units()), chunks = static_cast<double>(p.virtual_stages);
    if (row_of(p.schedule_kind()).overlaps)  // the pairs hide transfers but those of filling and draining
        return {0, m, chunks, 0, false};
    if (is_played(p)) return {0, m, 1, m - 1, false};
    if (p.pipeline_parallel > 1 && row_of(p.schedule_kind()).turns) {
        const double felt = p.overlaps_sends() ? kOverlappedSend.value : 1;
        return {1 / chunks, m - 1 / chunks, felt, m * chunks * felt, true};
    }
    return {1, m - 1, 1, (m - 1) * (p.pipeline_parallel == 2 || goes_one_way_first(p) ? 0.5 : 1), false};
}

}  // namespace fourfold
