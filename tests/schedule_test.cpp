// Pipeline schedules against the closed forms of the papers that introduced them.
#include "schedule.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <string>

using namespace fourfold;

namespace {

// "F0 F1 B0 …"; chunks after a dot.
std::string spelled(const Schedule& s, std::int32_t stage) {
    std::string line;
    for (const Op& op : s.ops[static_cast<std::size_t>(stage)])
        line += (line.empty() ? "" : " ") + std::string(1, "FBW"[static_cast<int>(op.kind)]) + std::to_string(op.micro_batch) +
                (s.chunks > 1 ? "." + std::to_string(op.chunk) : "");
    return line;
}

OpTimes even_times(const Schedule& s, double forward, double backward, double weight = 0) {
    const auto pieces = static_cast<std::size_t>(s.stages * s.chunks);
    return {std::vector<double>(pieces, forward), std::vector<double>(pieces, backward), std::vector<double>(pieces, weight), 0};
}

// Every schedule that exists for small p, V, m.
template <class Visit>
void each_schedule(Visit&& visit) {
    for (std::int32_t kind = 0; kind < kScheduleKinds; ++kind)
        for (std::int32_t p = 1; p <= 8; ++p)
            for (std::int32_t v = 1; v <= 4; ++v)
                for (std::int32_t m = 1; m <= 24; ++m)
                    if (schedule_obstacle(static_cast<ScheduleKind>(kind), p, v, m).empty())
                        visit(static_cast<ScheduleKind>(kind), make_schedule(static_cast<ScheduleKind>(kind), p, v, m));
}

}  // namespace

TEST_CASE("literal schedules") {
    const Schedule one = make_schedule(ScheduleKind::one_f_one_b, 3, 1, 4);
    CHECK(spelled(one, 0) == "F0 F1 F2 B0 F3 B1 B2 B3");
    CHECK(spelled(one, 2) == "F0 B0 F1 B1 F2 B2 F3 B3");
    CHECK(spelled(make_schedule(ScheduleKind::gpipe, 2, 1, 3), 1) == "F0 F1 F2 B0 B1 B2");
    const Schedule two = make_schedule(ScheduleKind::interleaved, 2, 2, 4);
    CHECK(spelled(two, 0) == "F0.0 F1.0 F0.1 F1.1 F2.0 B0.1 F3.0 B1.1 F2.1 B0.0 F3.1 B1.0 B2.1 B3.1 B2.0 B3.0");
    CHECK(spelled(make_schedule(ScheduleKind::zero_bubble_h1, 2, 1, 3), 1) == "F0 B0 F1 B1 W0 F2 B2 W1 W2");
}

TEST_CASE("every operation once, and no schedule deadlocks") {
    each_schedule([](ScheduleKind kind, const Schedule& s) {
        CAPTURE(std::string(text(kind).id));
        CAPTURE(s.stages);
        CAPTURE(s.chunks);
        CAPTURE(s.micro_batches);
        const int kinds = s.splits_backward ? 3 : 2;
        for (const auto& ops : s.ops) {
            std::vector<int> seen(static_cast<std::size_t>(3 * s.chunks * s.micro_batches));
            for (const Op& op : ops)
                ++seen[static_cast<std::size_t>((static_cast<int>(op.kind) * s.chunks + op.chunk) * s.micro_batches + op.micro_batch)];
            const auto used = static_cast<std::size_t>(kinds * s.chunks * s.micro_batches);
            CHECK(std::all_of(seen.begin(), seen.begin() + static_cast<std::ptrdiff_t>(used), [](int n) { return n == 1; }));
            CHECK(ops.size() == used);
        }
        CHECK(play(s, even_times(s, 1, 1, 1)).has_value());
    });
}

TEST_CASE("in flight: counting along the list gives the closed forms") {
    each_schedule([](ScheduleKind kind, const Schedule& s) {
        if (kind == ScheduleKind::zero_bubble_v) return;
        CAPTURE(std::string(text(kind).id));
        for (std::int32_t stage = 0; stage < s.stages; ++stage) {
            std::vector<std::int32_t> closed(static_cast<std::size_t>(s.chunks));
            in_flight_closed_form(kind, s.stages, s.chunks, s.micro_batches, stage, closed);
            CHECK(most_in_flight(s, stage) == std::accumulate(closed.begin(), closed.end(), 0));
        }
    });
}

TEST_CASE("1F1B and GPipe: the bubble is (p-1) * (forward + backward)") {
    for (const ScheduleKind kind : {ScheduleKind::gpipe, ScheduleKind::one_f_one_b})
        for (std::int32_t p = 1; p <= 8; ++p)
            for (std::int32_t m = p; m <= 24; m += 5) {
                const Schedule s = make_schedule(kind, p, 1, m);
                const auto played = play(s, even_times(s, 1, 2));
                CHECK((played && played->makespan == m * 3 + (p - 1) * 3));
            }
}

TEST_CASE("interleaved: the bubble shrinks by the number of chunks (arXiv 2104.04473, section 2.2.2)") {
    for (std::int32_t p = 2; p <= 8; p *= 2)
        for (std::int32_t v = 2; v <= 4; ++v) {
            const Schedule s = make_schedule(ScheduleKind::interleaved, p, v, 4 * p);
            const auto played = play(s, even_times(s, 1, 2));  // per chunk: a stage's whole forward takes v
            CHECK((played && played->makespan == doctest::Approx(4 * p * v * 3 + (p - 1) * 3)));
        }
}

TEST_CASE("ZB-H1: bubble (p-1) * (F + B - W), and no more than p micro-batches held anywhere (arXiv 2401.10241, table 2)") {
    for (std::int32_t p = 2; p <= 8; ++p) {
        const std::int32_t m = 3 * p;
        const Schedule s = make_schedule(ScheduleKind::zero_bubble_h1, p, 1, m);
        const auto played = play(s, even_times(s, 1, 1, 1));
        CHECK((played && played->makespan == 3 * m + (p - 1)));
        for (std::int32_t stage = 0; stage < p; ++stage) {
            std::int32_t most = 0;
            count_in_flight(s, stage,
                            [&](std::size_t, const InFlight& now) { most = std::max(most, now.until_backward[0] + now.until_weight[0]); });
            CHECK(most <= p);
        }
    }
}

TEST_CASE("ZB-V: with equal times no stage waits between its first and last operation, and each holds at most 2p chunks (table 2)") {
    for (std::int32_t p = 2; p <= 8; ++p) {
        const Schedule s = make_schedule(ScheduleKind::zero_bubble_v, p, 2, 2 * p + 3);
        const auto played = play(s, even_times(s, 1, 1, 1));
        CHECK(played.has_value());
        if (!played) continue;
        for (std::size_t stage = 0; stage < static_cast<std::size_t>(p); ++stage) {
            CAPTURE(p);
            CAPTURE(stage);
            CHECK(played->end[stage].back() - played->start[stage].front() == played->busy[stage]);
            CHECK(most_in_flight(s, static_cast<std::int32_t>(stage)) <= 2 * p);
        }
    }
}

TEST_CASE("a list that waits for itself is rejected") {
    Schedule s = make_schedule(ScheduleKind::one_f_one_b, 2, 1, 2);
    std::swap(s.ops[1][0], s.ops[1][1]);  // backward before its own forward
    CHECK_FALSE(play(s, even_times(s, 1, 1)).has_value());
}
