// What a stage holds at once: counted along its list of operations, and in closed form.
#include <algorithm>
#include <numeric>

#include "plan/schedule.h"

namespace fourfold {

// More micro-batches only repeat the same moments.
static std::int32_t most_that_differ(ScheduleKind kind, std::int32_t stages) {
    const std::int32_t most = 3 * stages + 3, by = row_of(kind).batches_by;
    return (most + by - 1) / by * by;
}

std::vector<InFlight> fullest_moments(ScheduleKind kind, std::int32_t stages, std::int32_t chunks, std::int32_t micro_batches,
                                      std::int32_t stage) {
    const ScheduleRow& row = row_of(kind);
    Schedule schedule{stages, chunks, std::min(micro_batches, most_that_differ(kind, stages)), row.splits_backward, stages, row.route, {}};
    schedule.ops.resize(static_cast<std::size_t>(stages));
    row.generate(schedule, stage, schedule.ops[static_cast<std::size_t>(stage)]);
    const auto nowhere_more = [](const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
        for (std::size_t i = 0; i < a.size(); ++i)
            if (a[i] > b[i]) return false;
        return true;
    };
    const auto within = [&](const InFlight& a, const InFlight& b) {
        return nowhere_more(a.until_backward, b.until_backward) && nowhere_more(a.until_weight, b.until_weight);
    };
    std::vector<InFlight> moments;
    constexpr std::int32_t kMostCompared = 128;  // stages; longer pipelines exist on paper alone: their two extreme moments do
    if (stages > kMostCompared) {
        moments.resize(2, InFlight{std::vector<std::int32_t>(static_cast<std::size_t>(chunks)),
                                   std::vector<std::int32_t>(static_cast<std::size_t>(chunks))});
        const auto more = [](const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
            return std::accumulate(a.begin(), a.end(), 0) - std::accumulate(b.begin(), b.end(), 0);
        };
        count_in_flight(schedule, stage, [&](std::size_t, const InFlight& now) {
            const std::int32_t alive[] = {more(now.until_backward, moments[0].until_backward),
                                          more(now.until_backward, moments[1].until_backward)};
            const std::int32_t waiting[] = {more(now.until_weight, moments[0].until_weight),
                                            more(now.until_weight, moments[1].until_weight)};
            if (alive[0] > 0 || (alive[0] == 0 && waiting[0] > 0)) moments[0] = now;
            if (waiting[1] > 0 || (waiting[1] == 0 && alive[1] > 0)) moments[1] = now;
        });
        return moments;
    }
    count_in_flight(schedule, stage, [&](std::size_t, const InFlight& now) {
        for (const InFlight& known : moments)
            if (within(now, known)) return;
        std::size_t kept = 0;
        for (std::size_t i = 0; i < moments.size(); ++i)
            if (!within(moments[i], now)) std::swap(moments[kept++], moments[i]);
        moments.resize(kept);
        moments.push_back(now);
    });
    return moments;
}

std::int32_t most_in_flight(const Schedule& schedule, std::int32_t stage) {
    std::int32_t most = 0;
    count_in_flight(schedule, stage, [&](std::size_t, const InFlight& now) {
        std::int32_t sum = 0;
        for (const std::int32_t count : now.until_backward) sum += count;
        most = std::max(most, sum);
    });
    return most;
}

Turns::Turns(std::int32_t stages, std::int32_t chunks, std::int32_t micro_batches, std::int32_t stage, std::int32_t group)
    : chunks_(chunks),
      group_(group == 0 ? stages : group),
      all_(std::int64_t{micro_batches} * chunks),
      ahead_(std::min<std::int64_t>(std::int64_t{2} * (stages - stage - 1) + (chunks_ - 1) * group_ + 1, all_)),
      whole_(micro_batches / group_ * group_),
      last_size_(micro_batches % group_) {}

std::int64_t Turns::done(std::int64_t passes, std::int64_t turn) const {
    if (passes <= 0) return 0;
    const std::int64_t first = std::min(passes / (group_ * chunks_) * group_, whole_), size = first < whole_ ? group_ : last_size_;
    return first + std::clamp<std::int64_t>(passes - first * chunks_ - turn * size, 0, size);
}

std::int64_t Turns::turn_of(std::int64_t pass) const {
    const std::int64_t last = pass - whole_ * chunks_;
    return last < 0 ? pass / group_ % chunks_ : last / last_size_;
}

std::int64_t Turns::end_of(std::int64_t pass) const {
    const std::int64_t last = pass - whole_ * chunks_;
    return last < 0 ? (pass / group_ + 1) * group_ : whole_ * chunks_ + (last / last_size_ + 1) * last_size_;
}

namespace closed_form {

void all(const ScheduleShape& shape, std::int32_t, std::span<std::int32_t> counts) { counts[0] = shape.micro_batches; }

void stages_to_the_end(const ScheduleShape& shape, std::int32_t stage, std::span<std::int32_t> counts) {
    counts[0] = std::min(shape.stages - stage, shape.micro_batches);
}

void in_turns(const ScheduleShape& shape, std::int32_t stage, std::span<std::int32_t> counts) {
    const Turns turns(shape.stages, shape.chunks, shape.micro_batches, stage, shape.group);
    for (std::int32_t chunk = 0; chunk < shape.chunks; ++chunk) counts[static_cast<std::size_t>(chunk)] = turns.alive_at_first(chunk);
}

}  // namespace closed_form

const std::vector<InFlight>& KnownMoments::of(ScheduleKind kind, std::int32_t stages, std::int32_t chunks, std::int32_t micro_batches,
                                              std::int32_t stage) {
    constexpr std::size_t kPlaces = 1'024;
    if (known_.empty()) known_.resize(kPlaces);
    const std::int32_t enough = std::min(micro_batches, most_that_differ(kind, stages));
    Known& known = known_[static_cast<std::size_t>(stage + 131 * stages + 29 * enough + 13 * static_cast<std::int32_t>(kind)) % kPlaces];
    if (known.kind != kind || known.stages != stages || known.chunks != chunks || known.micro_batches != enough || known.stage != stage)
        known = {kind, stages, chunks, enough, stage, fullest_moments(kind, stages, chunks, enough, stage)};
    return known.moments;
}

}  // namespace fourfold
