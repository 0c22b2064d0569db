// Based on
//   D. Narayanan et al., arXiv 2104.04473, section 2.2: interleaved 1F1B
#include <algorithm>
#include <utility>
#include <vector>

#include "plan/schedule.h"

namespace fourfold {

namespace {

// The passes of every stage in their order: forwards, and backwards with the chunks from the last one on.
struct TurnOrder {
    std::vector<std::int32_t> chunk, group;  // of each forward; micro-batches of the group that it belongs to
    TurnOrder(const ScheduleShape& shape) {
        for (std::int32_t left = shape.micro_batches; left > 0; left -= std::min(left, shape.group))
            for (std::int32_t c = 0; c < shape.chunks; ++c)
                for (std::int32_t i = 0, size = std::min(left, shape.group); i < size; ++i) chunk.push_back(c), group.push_back(size);
    }
};

}  // namespace

PlayedTurns play_turns(const ScheduleShape& s, const OpTimes& times) {
    const TurnOrder order(s);
    const auto all = static_cast<std::int32_t>(order.chunk.size()), last = s.stages - 1;
    const auto at = [](std::int32_t i) { return static_cast<std::size_t>(i); };
    const std::int32_t least_behind = (s.chunks - 1) * s.group + s.early;
    // when the results of the last stage's forwards, and of the first stage's backwards, are where they are needed next
    std::vector<double> from_last(at(all)), from_first(at(all));
    // the same of every stage's passes, and when it is free
    std::vector<double> on(at(s.stages)), back(at(s.stages)), free(at(s.stages));
    PlayedTurns played;
    double group_before = 0;
    // In a turn every stage does one forward and one backward: what it needs for them left the others in an earlier turn.
    for (std::int32_t turn = 0; turn < all + 2 * last + least_behind; ++turn) {
        double passed_on = 0;  // by the stage before, in an earlier turn
        for (std::int32_t i = 0; i <= last; ++i) {
            double now = free[at(i)];
            const double* const forward = &times.forward[at(i * s.chunks)];
            const double on_before = on[at(i)];
            if (const std::int32_t k = turn - i; k >= 0 && k < all) {
                const std::int32_t c = order.chunk[at(k)];
                if (i == 0) passed_on = c > 0 ? from_last[at(k - order.group[at(k)])] : 0;
                now = std::max(now, passed_on);
                if (i == 0 && k % (s.group * s.chunks) == 0) played.group_seconds = now - std::exchange(group_before, now);
                now += forward[c];
                on[at(i)] = now + times.transfer;
                if (i == last) from_last[at(k)] = on[at(i)];
                now += i < last || c + 1 < s.chunks ? times.sending : times.at_ends;
            }
            passed_on = on_before;
            if (const std::int32_t k = turn + i - 2 * last - least_behind; k >= 0 && k < all) {
                const std::int32_t c = order.chunk[at(k)];
                const double data = i < last ? back[at(i + 1)] : c > 0 ? from_first[at(k - order.group[at(k)])] : 0;
                now = std::max(now, data) + times.backward[at(i * s.chunks + s.chunks - 1 - c)];
                back[at(i)] = now + times.transfer;
                if (i == 0) from_first[at(k)] = back[0], played.makespan = now;
                now += i > 0 || c + 1 < s.chunks ? times.sending : times.at_ends;
            }
            free[at(i)] = now;
        }
    }
    return played;
}

}  // namespace fourfold
