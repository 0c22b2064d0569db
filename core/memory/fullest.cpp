// Which stage holds most, and when.
#include <vector>

#include "memory/memory.h"

namespace fourfold {

namespace {

// The moment with most of something.
Stage moment_of_most(double StageMemory<double>::*what, const Model& model, const Plan& plan, const Framework& framework,
                     const Stages& stages, std::int32_t stage, KnownMoments* known) {
    if (!stages.has_many_moments(stage)) return stages.fullest(stage);
    const std::vector<Stage> moments = stages.moments(stage, known);
    std::size_t fullest = 0;
    double most = 0;
    for (std::size_t i = 0; moments.size() > 1 && i < moments.size(); ++i) {
        const double bytes = detailed<double>(model, plan, framework, moments[i]).*what;
        if (bytes > most) most = bytes, fullest = i;
    }
    return moments[fullest];
}

}  // namespace

Stage fullest_moment(const Model& model, const Plan& plan, const Framework& framework, const Stages& stages, std::int32_t stage,
                     KnownMoments* known) {
    return moment_of_most(&StageMemory<double>::peak_bytes, model, plan, framework, stages, stage, known);
}
Stage fullest_on_host(const Model& model, const Plan& plan, const Framework& framework, const Stages& stages, std::int32_t stage) {
    return moment_of_most(&StageMemory<double>::host_bytes, model, plan, framework, stages, stage, nullptr);
}

// Stages that hold the same differ in their micro-batches in flight alone, which become fewer from stage to stage: the first of them stands
// for all; where a schedule bends back, the last one too. (A test compares this with looking at every stage.)
Fullest fullest_stage(const Model& model, const Plan& plan, const Framework& framework, KnownMoments* known, double most) {
    const auto stages = static_cast<std::int32_t>(plan.pipeline_parallel);
    const ScheduleRow& schedule = row_of(plan.schedule_kind());
    const bool bends = schedule.splits_backward;
    // with two directions the second half of the stages mirrors the first
    const std::int32_t different = schedule.route == Route::two_ways ? stages / 2 : stages;
    const Stages all(model, plan);
    Fullest fullest{0, 0};
    const auto bytes_at = [&](const Stage& moment) { return detailed<double>(model, plan, framework, moment).peak_bytes; };
    const auto look_at = [&](std::int32_t stage) {
        if (most < INFINITY && !all.splits_backward() && all.has_many_moments(stage)) {  // one moment may be too much already
            Stage moment = all.fullest(stage);
            moment.head_works = false;
            if (const double bytes = bytes_at(moment); bytes > most) fullest = {bytes, stage};
            if (fullest.bytes > most) return;
        }
        const double bytes = bytes_at(fullest_moment(model, plan, framework, all, stage, known));
        if (bytes > fullest.bytes) fullest = {bytes, stage};
    };
    for (std::int32_t stage = 0; stage < different && fullest.bytes <= most;) {
        const std::int32_t next = std::min(all.next_different(stage), different);
        look_at(stage);
        if (bends && next - stage > 1) look_at(next - 1);
        stage = next;
    }
    return fullest;
}

}  // namespace fourfold
