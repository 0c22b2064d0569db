#include "curve.h"

#include <algorithm>

namespace fourfold {

// Beyond warm-up and cool-down a schedule repeats itself, except GPipe, which keeps everything.
static std::int64_t micro_batches_to_show(const Plan& plan) {
    const std::int64_t p = plan.pipeline_parallel, m = plan.micro_batches();
    if (p == 1) return std::min<std::int64_t>(m, 4);
    if (plan.schedule == PipelineSchedule::gpipe) return std::min<std::int64_t>(m, 512);
    return std::min(m, plan.virtual_stages > 1 ? 3 * p : 2 * p + 2);  // a multiple of p where it must be one
}

static OpTimes times_of(const Stages& stages, const Schedule& schedule, const Model& model) {
    OpTimes times;
    const double average = static_cast<double>(model.layers) / (schedule.stages * schedule.chunks);
    for (std::int32_t stage = 0; stage < schedule.stages; ++stage)
        for (std::int32_t chunk = 0; chunk < schedule.chunks; ++chunk) {
            const double forward = std::max(0.05, static_cast<double>(stages.layers_of(stage, chunk)) / average);
            times.forward.push_back(forward);
            times.backward.push_back(schedule.splits_backward ? forward : 2 * forward);
            times.weight.push_back(forward);
        }
    return times;
}

std::optional<Curve> memory_curve(const Model& model, const Plan& plan, const Framework& framework, std::int32_t stage) {
    if (plan.pipeline_parallel > 256) return std::nullopt;
    Curve curve;
    curve.micro_batches = micro_batches_to_show(plan);
    const bool alone = plan.pipeline_parallel == 1;
    const Schedule schedule =
        make_schedule(alone ? ScheduleKind::one_f_one_b : plan.schedule_kind(), static_cast<std::int32_t>(plan.pipeline_parallel),
                      static_cast<std::int32_t>(plan.virtual_stages), static_cast<std::int32_t>(curve.micro_batches));
    const Stages stages(model, plan);
    const auto played = play(schedule, times_of(stages, schedule, model));
    if (!played) return std::nullopt;
    const auto at = static_cast<std::size_t>(stage);
    curve.ops = schedule.ops[at];
    curve.start = played->start[at];
    curve.end = played->end[at];
    const std::int32_t pieces = schedule.stages * schedule.chunks;
    count_in_flight(schedule, stage, [&](std::size_t i, const InFlight& now) {
        const StageMemory<double> moment = detailed<double>(model, plan, framework, stages.at(stage, now.until_backward, now.until_weight));
        const Op& op = curve.ops[i];
        const bool head = schedule.position(stage, op.chunk) + 1 == pieces;
        const double worst = moment.items.total() - std::max(moment.at_head, moment.at_backward);
        const double of_op = op.kind == OpKind::forward    ? (head ? moment.at_head : 0)
                             : op.kind == OpKind::backward ? std::max(head ? moment.at_head : 0, moment.at_backward)
                                                           : 0;
        curve.bytes.push_back(worst + of_op);
        // done: a backward pass has freed its micro-batch, or left what W needs
        InFlight left = now;
        const auto chunk = static_cast<std::size_t>(op.chunk);
        if (op.kind == OpKind::backward) --left.until_backward[chunk];
        if (op.kind == OpKind::backward && schedule.splits_backward) ++left.until_weight[chunk];
        if (op.kind == OpKind::weight) --left.until_weight[chunk];
        const StageMemory<double> later =
            detailed<double>(model, plan, framework, stages.at(stage, left.until_backward, left.until_weight));
        curve.after.push_back(later.items.total() - std::max(later.at_head, later.at_backward));
    });
    return curve;
}

}  // namespace fourfold
