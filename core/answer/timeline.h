// A step's pipeline as it runs: which stage works on what and when, and when it waits. The schedule is played (schedule.h) with the
// seconds that the step time is made of (step_time.h).
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "job/job.h"
#include "plan/schedule.h"
#include "time/op_times.h"

namespace fourfold {

struct Timeline {
    ScheduleKind kind = kUsualSchedule;
    Schedule schedule;  // as drawn
    Played played;
    std::int64_t all_micro_batches = 1;  // of the step; schedule.micro_batches are drawn
    double makespan = 0;                 // seconds of all micro-batches of the step
    std::vector<double> busy;            // per stage, of all micro-batches
    std::int32_t slowest = 0;            // the first of the stages with the most work
    std::int32_t equally_slow = 1;       // how many have as much, to a thousandth
    double bubble_share() const;         // mean over the stages of what they wait, over the makespan
};

inline constexpr std::int64_t kMostDrawn = 20'000;  // operations of a timeline
inline constexpr std::int64_t kMostStages = 128;    // longer pipelines exist on paper alone

// How many micro-batches show filling, steady state and draining within kMostDrawn operations; 0 = too few for this schedule to exist.
std::int64_t micro_batches_drawn(ScheduleKind kind, std::int64_t stages, std::int64_t chunks, std::int64_t micro_batches,
                                 std::int64_t group = 0, std::int64_t slices = 1);

// Plays a step of `micro_batches`, which are slices of them where `times` has shares of slices. nullopt when too many operations would be
// needed. Short steps are played whole; of longer ones the makespan grows, beyond what is played, by what the last micro-batches took on
// average (exact once the schedule repeats itself).
std::optional<Timeline> play_timeline(ScheduleKind kind, std::int32_t stages, std::int32_t chunks, std::int64_t micro_batches,
                                      const OpTimes& times, std::int64_t group = 0, std::int32_t early = 0);

// The answer to timeline() of api.h; `job` is complete and legal.
Json timeline_answer(const Job& job);

}  // namespace fourfold
