// Based on
//   D. Narayanan et al., arXiv 2104.04473, figures 3 and 4: the picture;  S. Yim et al.: Pipette, arXiv 2405.18093: transfers on the
//   critical path;  P. Qi et al., arXiv 2401.10241: B and W apart
#include "answer/timeline.h"

#include <algorithm>

#include "answer/parts.h"
#include "base/numbers.h"
#include "time/step_time.h"

namespace fourfold {

double Timeline::bubble_share() const {
    double work = 0;
    for (const double seconds : busy) work += seconds;
    return makespan > 0 ? std::max(0.0, 1 - work / (makespan * schedule.stages)) : 0;
}

std::int64_t micro_batches_drawn(ScheduleKind kind, std::int64_t stages, std::int64_t chunks, std::int64_t micro_batches,
                                 std::int64_t group, std::int64_t slices) {
    if (stages > kMostStages) return 0;
    if (group == 0) group = stages;
    const ScheduleRow& row = row_of(kind);
    const std::int64_t round = slices > 1 ? slices : row.turns ? group : row.multiple(stages);  // what comes in groups is drawn whole
    constexpr std::int64_t kRounds = 4, kLeast = 16;  // chosen: so often all stages, and so many micro-batches, show the pattern
    const std::int64_t enough = stages * std::max(kRounds, (kLeast + stages - 1) / stages),
                       wanted = std::max(round, enough / round * round);
    const std::int64_t most = kMostDrawn / row.operations(stages, chunks) / round * round;
    const std::int64_t drawn = std::min({micro_batches, wanted, most});
    return drawn > 0 && schedule_exists(kind, stages, chunks, drawn, group) ? drawn : 0;
}

namespace {

struct PlayedPipeline {
    ScheduleKind kind;
    std::int32_t stages, chunks;
    std::int64_t group;
    std::int32_t early;
};

std::int32_t slices_of(const OpTimes& times) { return std::max(1, narrow(static_cast<std::int64_t>(times.slice_shares.size()))); }

Schedule schedule_of(const PlayedPipeline& of, std::int64_t micro_batches, const OpTimes& times) {
    return make_schedule(of.kind, of.stages, of.chunks, narrow(micro_batches), narrow(of.group), slices_of(times), of.early);
}

std::optional<double> makespan_of(const PlayedPipeline& of, std::int64_t micro_batches, const OpTimes& times) {
    const auto played = play(schedule_of(of, micro_batches, times), times);
    return played ? std::optional(played->makespan) : std::nullopt;
}

// Of a step of any length. What is too long is played in part (at least three rounds of all stages) and continued at the rate of that
// part's second half: exact where the schedule repeats itself by then, as it does with alike stages.
std::optional<double> whole_makespan(const PlayedPipeline& of, std::int64_t micro_batches, const OpTimes& times) {
    constexpr std::int64_t kMostPlayed = 150'000;  // operations, which take 44 bytes each while they are played
    const std::int64_t most = kMostPlayed / row_of(of.kind).operations(of.stages, of.chunks);
    if (micro_batches <= most) return makespan_of(of, micro_batches, times);
    const std::int64_t slices = slices_of(times);
    const std::int64_t round = slices > 1      ? slices
                               : of.group == 0 ? of.stages
                                               : of.group,
                       part = most / round * round, half = most / 2 / round * round;  // whole groups
    if (half == 0) return std::nullopt;
    const auto to_part = makespan_of(of, part, times), to_half = makespan_of(of, half, times);
    if (!to_part || !to_half) return std::nullopt;
    return *to_part + static_cast<double>(micro_batches - part) * (*to_part - *to_half) / static_cast<double>(part - half);
}

}  // namespace

std::optional<Timeline> play_timeline(ScheduleKind kind, std::int32_t stages, std::int32_t chunks, std::int64_t micro_batches,
                                      const OpTimes& times, std::int64_t group, std::int32_t early) {
    const PlayedPipeline whole{kind, stages, chunks, group, early};
    const std::int64_t drawn = micro_batches_drawn(kind, stages, chunks, micro_batches, group, slices_of(times));
    if (drawn == 0) return std::nullopt;
    Timeline line;
    line.kind = kind;
    line.all_micro_batches = micro_batches;
    line.schedule = schedule_of(whole, drawn, times);
    auto played = play(line.schedule, times);
    if (!played) return std::nullopt;
    line.played = std::move(*played);
    const auto makespan = drawn == micro_batches ? line.played.makespan : whole_makespan(whole, micro_batches, times);
    if (!makespan) return std::nullopt;
    line.makespan = *makespan;
    for (std::int32_t stage = 0; stage < stages; ++stage) {
        const double seconds = line.played.busy[static_cast<std::size_t>(stage)];
        line.busy.push_back(row_of(kind).overlaps ? seconds + static_cast<double>(micro_batches - drawn) *
                                                                  repeating_seconds(kind, stages, chunks, times, stage)
                                                  : seconds * static_cast<double>(micro_batches) / static_cast<double>(drawn));
    }
    const double most = *std::max_element(line.busy.begin(), line.busy.end());
    constexpr double kAsSlow = 0.999;
    const auto slow = [most](double seconds) { return seconds >= kAsSlow * most; };
    line.slowest = narrow(std::find_if(line.busy.begin(), line.busy.end(), slow) - line.busy.begin());
    line.equally_slow = narrow(std::count_if(line.busy.begin(), line.busy.end(), slow));
    return line;
}

// ---- the answer
static Json describe_stage(const Timeline& line, std::size_t stage) {
    const double idle = std::max(0.0, line.makespan - line.busy[stage]);
    Json entry = Object()
                     .add("busy_seconds", line.busy[stage])
                     .add("idle_seconds", idle)
                     .add("idle_share", line.makespan > 0 ? idle / line.makespan : 0)
                     .add("start", line.played.start[stage])
                     .add("end", line.played.end[stage]);
    add_operations(entry, line.schedule.ops[stage]);
    return entry;
}

static Json describe(const Timeline& line) {
    Json stages = Json::array();
    for (std::size_t i = 0; i < line.busy.size(); ++i) stages.push_back(describe_stage(line, i));
    const ScheduleRow& schedule = row_of(line.kind);
    return Object()
        .add("schedule", Object().add("id", schedule.id))
        .add("micro_batches", std::int64_t{line.schedule.micro_batches})
        .add("all_micro_batches", line.all_micro_batches)
        .add("cut", line.schedule.micro_batches < line.all_micro_batches)
        .add("chunks", std::int64_t{line.schedule.chunks})
        .add("slices", std::int64_t{line.schedule.slices})
        .add("drawn_seconds", line.played.makespan)
        .add("makespan_seconds", line.makespan)
        .add("bubble_share", line.bubble_share())
        .add("slowest_stage", std::int64_t{line.slowest})
        .add("equally_slow", std::int64_t{line.equally_slow})
        .add("stages", std::move(stages));
}

// The calibration's factor counts for every operation, as it does for the step.
static void multiply(OpTimes& times, double factor) {
    for (auto* list : {&times.forward, &times.backward, &times.weight, &times.forward_traffic, &times.backward_traffic,
                       &times.forward_hidden, &times.backward_hidden})
        for (double& seconds : *list) seconds *= factor;
    times.transfer *= factor;
    times.sending *= factor, times.at_ends *= factor;
}

// How the picture was cut, or why there is none; nothing where it shows the whole step.
static Text note_of(const std::optional<Timeline>& line, const Plan& plan) {
    if (!line) return Text("timeline.too_long").with("stages", plan.pipeline_parallel).with("chunks", plan.pieces_per_stage());
    const std::int64_t drawn = line->schedule.micro_batches, all = line->all_micro_batches;
    if (drawn == all) return {};
    const char* const id = drawn > plan.pipeline_parallel ? "timeline.cut_repeats" : "timeline.cut_dense";
    return Text(id).with("drawn", drawn).with("all", all);
}

Json timeline_answer(const Job& job) {
    const Plan& plan = job.plan;
    std::optional<Timeline> line;
    if (plan.pipeline_parallel <= kMostStages) {
        const TimedPlan<> timed = job.timed(plan);
        OpTimes times = op_times(job.model, plan, timed.machine, timed.timing, timed.layers, Stages(job.model, plan));
        multiply(times, plan.time_factor);
        line = play_timeline(plan.running_schedule(), narrow(plan.pipeline_parallel), narrow(plan.pieces_per_stage()),
                             plan.micro_batches() * plan.token_slices, times, plan.group_of_micro_batches(), plan.early_forwards());
    }
    return Object()
        .add("ok", true)
        .add("job", to_json(job))
        .add("basis", Text("timeline.basis"))
        .add("note", note_of(line, plan))
        .add("timeline", line ? describe(*line) : Json());
}

}  // namespace fourfold
