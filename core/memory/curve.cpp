#include "memory/curve.h"

#include <algorithm>

namespace fourfold {

static constexpr std::int64_t kMostStagesDrawn = 256, kMostKept = 512;  // stages; micro-batches of a schedule that keeps all, or of a group
static constexpr double kLeastForward = 0.05;  // of an average stage's forward pass: a chunk without layers has a width too

// Beyond warm-up and cool-down a schedule repeats itself. Three micro-batches per stage reach the fullest moment of zero-bubble schedules
// (schedule.h); where chunks take turns, three groups, whose size decides how many are alive. Of a long step that keeps all, as GPipe does,
// the middle is left out.
static std::int64_t micro_batches_to_show(const Plan& plan) {
    const std::int64_t p = plan.pipeline_parallel, m = plan.micro_batches() * plan.token_slices;
    if (p == 1) return std::min<std::int64_t>(m, 4);
    const ScheduleRow& row = row_of(plan.schedule_kind());
    const std::int64_t n = plan.token_slices, each = row.turns ? plan.group_of_micro_batches() : p,
                       some = row.keeps_all ? kMostKept : row.drawn(each);
    return std::min(m, n == 1 ? some : (some / n + 2) * n);  // of slices, those of whole micro-batches
}

// The micro-batches in the middle of a long step that keeps all, which are not drawn. A stage holds them from their forward passes, which
// lie between two that are drawn, to their backward passes, which run in the same order.
struct NotDrawn {
    std::int32_t first = 0, count = 0;
    std::int32_t held_at(const Op& op) const { return (op.kind == OpKind::forward) == (op.micro_batch >= first) ? count : 0; }
};
static NotDrawn not_drawn_of(const Plan& plan, std::int64_t drawn) {
    if (!row_of(plan.running_schedule()).keeps_all) return {};
    const std::int64_t n = plan.token_slices;
    return {static_cast<std::int32_t>(drawn / n / 2 * n), static_cast<std::int32_t>(plan.micro_batches() * n - drawn)};
}

// Frozen weights have no gradient: a backward pass takes as long as a forward pass then.
static OpTimes times_of(const Stages& stages, const Schedule& schedule, const Model& model, bool freezes) {
    OpTimes times;
    const double average = static_cast<double>(model.layers) / schedule.pieces();
    for (std::int32_t stage = 0; stage < schedule.stages; ++stage)
        for (std::int32_t chunk = 0; chunk < schedule.chunks; ++chunk) {
            const double forward = std::max(kLeastForward, static_cast<double>(stages.layers_of(stage, chunk)) / average);
            times.forward.push_back(forward);
            times.backward.push_back(schedule.splits_backward || freezes ? forward : 2 * forward);
            times.weight.push_back(freezes ? 0 : forward);
        }
    return times;
}

namespace {

// Bytes of one stage from operation to operation.
class StageCurve {
 public:
    StageCurve(const Model& model, const Plan& plan, const Framework& framework, const Stages& stages, const Schedule& schedule,
               std::int32_t stage)
        : model_(model), plan_(plan), framework_(framework), stages_(stages), schedule_(schedule), stage_(stage) {}

    // At most, while the operation runs with so many micro-batches in flight. Where the backward pass is split, the estimate counts what a
    // backward pass works with at every moment; so do both of its halves here.
    double during(const Op& op, const InFlight& now) const {
        const StageMemory<double> moment = memory_at(now);
        if (op.kind != OpKind::forward && schedule_.splits_backward) return moment.items.total() - moment.beyond_passes;
        const double head = holds_head(op) ? moment.at_head : 0;
        return without_work(moment) + (op.kind == OpKind::forward ? head : std::max(head, moment.at_backward));
    }

    // So many forward passes have begun. (Slices differ: which of them are alive counts.)
    void begun(std::int32_t forwards) { forwards_ = forwards; }

    // Once it is done: a backward pass has freed its micro-batch, or left what W needs.
    double after(std::size_t i, InFlight now) const {
        finish(schedule_, schedule_.ops[static_cast<std::size_t>(stage_)], i, now);
        return without_work(memory_at(now));
    }

 private:
    bool holds_head(const Op& op) const { return schedule_.position(stage_, op.chunk) + 1 == schedule_.pieces(); }
    StageMemory<double> memory_at(const InFlight& now) const {
        if (const TokenSlices slices = stages_.slices(); !slices.empty()) {
            const double held = slices.held(forwards_, forwards_ - now.until_backward.front());
            return detailed<double>(model_, plan_, framework_, stages_.at_slices(stage_, held));
        }
        return detailed<double>(model_, plan_, framework_, stages_.at(stage_, now.until_backward, now.until_weight));
    }
    static double without_work(const StageMemory<double>& moment) {
        return moment.items.total() - moment.beyond_passes - std::max(moment.at_head, moment.at_backward);
    }

    const Model& model_;
    const Plan& plan_;
    const Framework& framework_;
    const Stages& stages_;
    const Schedule& schedule_;
    const std::int32_t stage_;
    std::int32_t forwards_ = 0;
};

}  // namespace

std::optional<Curve> memory_curve(const Model& model, const Plan& plan, const Framework& framework, std::int32_t stage) {
    if (plan.pipeline_parallel > kMostStagesDrawn || plan.group_of_micro_batches() > kMostKept) return std::nullopt;
    Curve curve;
    curve.micro_batches = micro_batches_to_show(plan);
    const Schedule schedule = make_schedule(
        plan.running_schedule(), static_cast<std::int32_t>(plan.pipeline_parallel), static_cast<std::int32_t>(plan.pieces_per_stage()),
        static_cast<std::int32_t>(curve.micro_batches), static_cast<std::int32_t>(plan.group_of_micro_batches()),
        static_cast<std::int32_t>(plan.token_slices), plan.early_forwards());
    const Stages stages(model, plan);
    const auto played = play(schedule, times_of(stages, schedule, model, plan.freezes()));
    if (!played) return std::nullopt;
    const auto at = static_cast<std::size_t>(stage);
    curve.ops = schedule.ops[at];
    curve.start = played->start[at];
    curve.end = played->end[at];
    const NotDrawn left_out = not_drawn_of(plan, curve.micro_batches);
    std::int32_t forwards = 0;
    StageCurve bytes(model, plan, framework, stages, schedule, stage);
    count_in_flight(schedule, stage, [&](std::size_t i, InFlight now) {
        Op& op = curve.ops[i];
        now.until_backward[0] += left_out.held_at(op);
        forwards += op.kind == OpKind::forward ? 1 : 0;
        bytes.begun(forwards + (op.kind == OpKind::backward || op.micro_batch >= left_out.first ? left_out.count : 0));
        curve.bytes.push_back(bytes.during(op, now));
        curve.after.push_back(bytes.after(i, now));
        if (op.micro_batch >= left_out.first) op.micro_batch += left_out.count;
    });
    return curve;
}

}  // namespace fourfold
