// Pipeline schedules against the closed forms of the papers that introduced them.
#include "plan/schedule.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "random_cases.h"

using namespace fourfold;

namespace {

// "F0 F1 B0 …"; chunks after a dot. "BW0" is a backward pass that is not split, "F1&BW0" an overlapped pair.
std::string spelled(const Schedule& s, std::int32_t stage) {
    std::string line;
    const auto& ops = s.ops[static_cast<std::size_t>(stage)];
    for (std::size_t i = 0; i < ops.size(); ++i) {
        const Op& op = ops[i];
        if (op.joined && op.kind == OpKind::weight) continue;
        const bool whole = i + 1 < ops.size() && ops[i + 1].joined && ops[i + 1].kind == OpKind::weight;
        line += (op.joined      ? "&"
                 : line.empty() ? ""
                                : " ") +
                std::string(1, "FBW"[static_cast<int>(op.kind)]) + (whole ? "W" : "") + std::to_string(op.micro_batch) +
                (s.chunks > 1 ? "." + std::to_string(op.chunk) : "");
    }
    return line;
}

OpTimes even_times(const Schedule& s, double forward, double backward, double weight = 0) {
    const auto pieces = static_cast<std::size_t>(s.stages * s.chunks);
    return {std::vector<double>(pieces, forward), std::vector<double>(pieces, backward), std::vector<double>(pieces, weight), 0, {}, {}};
}
// With so much traffic in F and in B, each, that overlapped pairs can hide.
OpTimes with_traffic(OpTimes times, double each) {
    times.forward_traffic.assign(times.forward.size(), each);
    times.backward_traffic.assign(times.forward.size(), each);
    return times;
}

// Every schedule that exists for small p, V, m.
template <class Visit>
void each_schedule(Visit&& visit) {
    for (std::int32_t kind = 0; kind < kScheduleKinds; ++kind)
        for (std::int32_t p = 1; p <= 8; ++p)
            for (std::int32_t v = 1; v <= 4; ++v)
                for (std::int32_t m = 1; m <= 24; ++m)
                    if (schedule_exists(static_cast<ScheduleKind>(kind), p, v, m))
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
    // one forward more comes first where its tokens travel beneath a backward pass
    CHECK(spelled(make_schedule(ScheduleKind::interleaved, 2, 2, 4, 0, 1, 1), 0) ==
          "F0.0 F1.0 F0.1 F1.1 F2.0 F3.0 B0.1 F2.1 B1.1 F3.1 B0.0 B1.0 B2.1 B3.1 B2.0 B3.0");
    CHECK(spelled(make_schedule(ScheduleKind::zero_bubble_h1, 2, 1, 3), 1) == "F0 B0 F1 B1 W0 F2 B2 W1 W2");
}

TEST_CASE("every operation once, and no schedule deadlocks") {
    each_schedule([](ScheduleKind kind, const Schedule& s) {
        CAPTURE(std::string(row_of(kind).id));
        CAPTURE(s.stages);
        CAPTURE(s.chunks);
        CAPTURE(s.micro_batches);
        const int kinds = s.splits_backward ? 3 : 2;
        // every micro-batch passes every piece of the model, whichever way it goes
        std::vector<int> seen(static_cast<std::size_t>(3 * s.pieces() * s.micro_batches));
        std::size_t all = 0;
        for (std::int32_t stage = 0; stage < s.stages; ++stage) {
            const auto& ops = s.ops[static_cast<std::size_t>(stage)];
            for (const Op& op : ops)
                ++seen[static_cast<std::size_t>((static_cast<int>(op.kind) * s.pieces() + s.position(stage, op.chunk)) * s.micro_batches +
                                                op.micro_batch)];
            CHECK(ops.size() == static_cast<std::size_t>(row_of(kind).operations(1, s.chunks) * s.micro_batches));
            all += ops.size();
        }
        const auto used = static_cast<std::size_t>(kinds * s.pieces() * s.micro_batches);
        CHECK(std::all_of(seen.begin(), seen.begin() + static_cast<std::ptrdiff_t>(used), [](int n) { return n == 1; }));
        CHECK(all == used);
        CHECK(play(s, even_times(s, 1, 1, 1)).has_value());
    });
}

TEST_CASE("in flight: counting along the list gives the closed forms") {
    each_schedule([](ScheduleKind kind, const Schedule& s) {
        if (row_of(kind).in_flight == nullptr) return;
        CAPTURE(std::string(row_of(kind).id));
        for (std::int32_t stage = 0; stage < s.stages; ++stage) {
            std::vector<std::int32_t> closed(static_cast<std::size_t>(s.chunks));
            row_of(kind).in_flight({s.stages, s.chunks, s.micro_batches, 0}, stage, closed);
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

TEST_CASE("rows: ids, and which framework has which schedule") {
    const auto row = [](ScheduleKind kind) { return std::string(row_of(kind).id); };
    CHECK(row(ScheduleKind::one_f_one_b) == "1f1b");
    CHECK(row(ScheduleKind::gpipe) == "gpipe");
    CHECK(row(ScheduleKind::zero_bubble_h1) == "zb-h1");
    CHECK(row(ScheduleKind::zero_bubble_v) == "zb-v");
    CHECK(row(ScheduleKind::dualpipe) == "dualpipe");
    CHECK(row(ScheduleKind::dualpipe_v) == "dualpipev");
    CHECK(row(ScheduleKind::interleaved) == "interleaved");
    std::string megatron, pytorch;
    for (const ScheduleRow& one : kScheduleRows) {
        if ((one.libraries & kMegatronCore) != 0) megatron += std::string(one.id) + " ";
        if ((one.libraries & kPyTorch) != 0) pytorch += std::string(one.id) + " ";
    }
    CHECK(megatron == "1f1b interleaved ");
    CHECK(pytorch == "1f1b gpipe zb-v dualpipev interleaved ");
}

// By hand, from the published description: 4 stages, 8 micro-batches, of which 4 to 7 enter at the last stage.
TEST_CASE("literal DualPipe and DualPipeV (arXiv 2412.19437, figure 5; github.com/deepseek-ai/DualPipe)") {
    const Schedule s = make_schedule(ScheduleKind::dualpipe, 4, 2, 8);
    CHECK(spelled(s, 0) == "F0.0 F1.0 F2.0 F4.1 B4.1 W4.1 F5.1 F3.0&BW5.1 F6.1&BW0.0 BW6.1 F7.1&BW1.0 BW7.1 B2.0 W2.0 B3.0 W3.0");
    CHECK(spelled(s, 1) == "F0.0 F4.1 F1.0 F5.1 F2.0 BW4.1 F6.1&BW0.0 F3.0&BW5.1 F7.1&BW1.0 BW6.1 BW2.0 B7.1 B3.0 W7.1 W3.0");
    CHECK(spelled(s, 2) == "F4.1 F0.0 F5.1 F1.0 F6.1 BW0.0 F2.0&BW4.1 F7.1&BW1.0 F3.0&BW5.1 BW2.0 BW6.1 B3.0 B7.1 W3.0 W7.1");
    CHECK(spelled(s, 3) == "F4.1 F5.1 F6.1 F0.0 B0.0 W0.0 F1.0 F7.1&BW1.0 F2.0&BW4.1 BW2.0 F3.0&BW5.1 BW3.0 B6.1 W6.1 B7.1 W7.1");
    const Schedule v = make_schedule(ScheduleKind::dualpipe_v, 4, 2, 10);
    CHECK(spelled(v, 0) ==
          "F0.0 F1.0 F2.0 F3.0 F4.0 F5.0 F6.0 F0.1 B0.1 W0.1 F1.1 B1.1 W1.1 F2.1 B2.1 W2.1 F3.1 F7.0&BW3.1 F4.1&BW0.0 F8.0&BW4.1 "
          "F5.1&BW1.0 F9.0&BW5.1 F6.1&BW2.0 BW6.1 F7.1&BW3.0 BW7.1 F8.1&BW4.0 BW8.1 F9.1&BW5.0 BW9.1 B6.0 W6.0 B7.0 W7.0 B8.0 W8.0 B9.0 "
          "W9.0");
    CHECK(spelled(v, 3) ==
          "F0.0 F0.1 F1.0 F1.1 F2.0 F2.1 F3.0 F3.1 F4.0 BW0.1 F4.1&BW0.0 F5.0&BW1.1 F5.1&BW1.0 F6.0&BW2.1 F6.1&BW2.0 F7.0&BW3.1 "
          "F7.1&BW3.0 F8.0&BW4.1 F8.1&BW4.0 F9.0&BW5.1 F9.1&BW5.0 BW6.1 BW6.0 BW7.1 BW7.0 B8.1 B8.0 B9.1 B9.0 W8.1 W8.0 W9.1 W9.0");
}

TEST_CASE("an overlapped pair: the longer of the work and the traffic of both, and F + B + W without traffic") {
    OpTimes times{{1, 10}, {2, 20}, {4, 40}, 0, {}, {}};
    CHECK(times.pair(0, 1, 2) == 61);
    times.transfer = 0.5;
    CHECK(times.pair(0, 1, 2) == 61);  // hidden
    times.transfer = 40;
    CHECK(times.pair(0, 1, 2) == 80);
    CHECK(times.pair(0, 1, 1) == 61);
    times.transfer = 0.5;
    times.forward_traffic = {0.25, 3};
    times.backward_traffic = {1, 15};
    CHECK(times.pair(0, 1, 2) == 61 - 15.25);
    CHECK(times.pair(1, 0, 0) == 16 - 4);
    times.forward_hidden = {0.125, 2};  // a slow CPU: less is won
    times.backward_hidden = {1, 10};
    CHECK(times.pair(0, 1, 2) == 61 - 10.125);
    times.forward_traffic = {0.9, 9};
    times.backward_traffic = {1.9, 45};
    CHECK(times.pair(0, 1, 2) == doctest::Approx(61 - 10.125));
    times.forward_hidden = times.backward_hidden = {};
    CHECK(times.pair(0, 1, 2) == doctest::Approx(46.9));  // traffic alone, with two hand-overs
}

namespace {
struct Dual {
    ScheduleKind kind;
    std::int32_t stages, pieces, micro_batches;
};
// DualPipe over `pieces` pieces of the model, and DualPipeV over as many with half the stages and half the micro-batches.
template <class Visit>
void each_dual(Visit&& visit) {
    for (std::int32_t pieces = 4; pieces <= 16; pieces += 2)
        for (const std::int32_t m : {2 * pieces, 2 * pieces + 2, 3 * pieces, 4 * pieces + 6}) {
            visit(Dual{ScheduleKind::dualpipe, pieces, pieces, m});
            visit(Dual{ScheduleKind::dualpipe_v, pieces / 2, pieces, m / 2});
        }
}
double longest_wait(const Schedule& s, const OpTimes& times) {
    const auto played = play(s, times);
    CHECK(played.has_value());
    return played ? played->makespan - *std::min_element(played->busy.begin(), played->busy.end()) : 0;
}
}  // namespace

// Table 2 of the report and the table of the repository, per device that holds two of PP pieces. B there is the whole backward pass. The
// formula holds to the digit where F and both parts of B take as long, as long as a pair takes no less than B; with a shorter W it is an
// upper bound.
TEST_CASE("DualPipe and DualPipeV: the bubble is (PP/2 - 1)(F&B + B - 3W)") {
    each_dual([](const Dual& d) {
        CAPTURE(std::string(row_of(d.kind).id));
        CAPTURE(d.stages);
        CAPTURE(d.micro_batches);
        const Schedule s = make_schedule(d.kind, d.stages, 2, d.micro_batches);
        for (const double traffic : {0.0, 0.1, 0.25, 0.4, 0.5}) {
            const double pair = std::max(3 - 2 * traffic, 2 * traffic);
            CHECK(longest_wait(s, with_traffic(even_times(s, 1, 1, 1), traffic)) == doctest::Approx((d.pieces / 2.0 - 1) * (pair + 2 - 3)));
        }
        for (const auto& [b, w] : {std::pair(1.2, 0.8), std::pair(1.5, 1.0), std::pair(2.0, 1.0), std::pair(1.0, 0.5)}) {
            const double closed = (d.pieces / 2.0 - 1) * ((1 + b + w) + (b + w) - 3 * w);
            const double wait = longest_wait(s, even_times(s, 1, b, w));
            CHECK(wait <= closed * (1 + 1e-12));
            CHECK(wait >= 0.7 * closed);
        }
    });
}

TEST_CASE("DualPipe and DualPipeV: at most PP + 1 pieces' activations on every stage") {
    each_dual([](const Dual& d) {
        const Schedule s = make_schedule(d.kind, d.stages, 2, d.micro_batches);
        for (std::int32_t stage = 0; stage < s.stages; ++stage) {
            CHECK(most_in_flight(s, stage) == d.pieces + 1);
            std::int32_t most = 0;
            count_in_flight(s, stage, [&](std::size_t, const InFlight& now) {
                most = std::max(most, now.until_backward[0] + now.until_backward[1] + now.until_weight[0] + now.until_weight[1]);
            });
            CHECK(most == d.pieces + 1);
        }
    });
}

TEST_CASE("DualPipe and DualPipeV: with any times they end, and wait no longer than 1F1B over the same stages") {
    tests::Random random(31);
    for (int i = 0; i < 300; ++i) {
        const bool two_ways = random.coin();
        const auto p = static_cast<std::int32_t>(two_ways ? 2 * random.from(1, 16) : random.from(2, 16));
        const auto m = static_cast<std::int32_t>(2 * p + 2 * random.from(0, 2 * p));
        const double f = 1, b = 0.1 * static_cast<double>(random.from(8, 20)), w = 0.1 * static_cast<double>(random.from(5, 10));
        const Schedule s = make_schedule(two_ways ? ScheduleKind::dualpipe : ScheduleKind::dualpipe_v, p, 2, m);
        // a piece of the V is half a stage of 1F1B
        const Schedule one = make_schedule(ScheduleKind::one_f_one_b, p, 1, m);
        const double size = two_ways ? 1 : 2;
        const OpTimes times = even_times(s, f, b, w);
        CHECK(longest_wait(s, times) <= longest_wait(one, even_times(one, size * f, size * (b + w))) + 1e-9);
        OpTimes any = times;
        for (auto* list : {&any.forward, &any.backward, &any.weight})
            for (double& seconds : *list) seconds = 0.1 * static_cast<double>(random.from(1, 30));
        any.transfer = 0.1 * static_cast<double>(random.from(0, 5));
        const auto played = play(s, any);
        CHECK(played.has_value());
        for (std::size_t stage = 0; played && stage < s.ops.size(); ++stage)
            for (std::size_t k = 0; k + 1 < s.ops[stage].size(); ++k) {
                CHECK(played->start[stage][k] <= played->end[stage][k]);
                CHECK(played->end[stage][k] <= played->start[stage][k + 1]);
                if (s.ops[stage][k + 1].joined) CHECK(played->end[stage][k] == played->start[stage][k + 1]);
            }
    }
}

TEST_CASE("DualPipe and DualPipeV: once they repeat themselves a micro-batch takes the slowest stage's pairs, with no transfer in sight") {
    for (const ScheduleKind kind : {ScheduleKind::dualpipe, ScheduleKind::dualpipe_v}) {
        const std::int32_t p = 8;
        const Schedule few = make_schedule(kind, p, 2, 4 * p), many = make_schedule(kind, p, 2, 8 * p);
        OpTimes times = with_traffic(even_times(few, 1, 1.1, 0.9), 0.3);
        times.transfer = 0.05;
        times.forward[5] = times.backward[5] = 1.4;
        const auto a = play(few, times), b = play(many, times);
        CHECK((a && b));
        if (!a || !b) continue;
        double slowest = 0;
        for (std::int32_t stage = 0; stage < p; ++stage) slowest = std::max(slowest, repeating_seconds(kind, p, 2, times, stage));
        CHECK(b->makespan - a->makespan == doctest::Approx(4 * p * slowest));
    }
}

TEST_CASE("a list that waits for itself is rejected") {
    Schedule s = make_schedule(ScheduleKind::one_f_one_b, 2, 1, 2);
    std::swap(s.ops[1][0], s.ops[1][1]);  // backward before its own forward
    CHECK_FALSE(play(s, even_times(s, 1, 1)).has_value());
}

TEST_CASE("interleaving in groups: as Megatron's table, and the closed form counts as the list does") {
    // 2 stages, 2 chunks, 5 micro-batches in groups of 3: the last group has two
    const Schedule s = make_schedule(ScheduleKind::interleaved, 2, 2, 5, 3);
    std::string forwards;
    for (const Op& op : s.ops[0])
        if (op.kind == OpKind::forward) forwards += std::to_string(op.chunk) + ":" + std::to_string(op.micro_batch) + " ";
    CHECK(forwards == "0:0 0:1 0:2 1:0 1:1 1:2 0:3 0:4 1:3 1:4 ");
    CHECK_FALSE(schedule_exists(ScheduleKind::interleaved, 4, 2, 10, 4));  // two are left, fewer than four stages
    CHECK(schedule_exists(ScheduleKind::interleaved, 4, 2, 10, 5));
    CHECK_FALSE(schedule_exists(ScheduleKind::interleaved, 4, 2, 10, 3));
    for (std::int32_t p = 2; p <= 6; ++p)
        for (std::int32_t v = 1; v <= 3; ++v)
            for (std::int32_t m = p; m <= 4 * p + 3; ++m)
                for (std::int32_t g = p; g <= m; ++g) {
                    if (v == 1 || !schedule_exists(ScheduleKind::interleaved, p, v, m, g)) continue;
                    const std::int32_t early = g % 2;
                    const Schedule schedule = make_schedule(ScheduleKind::interleaved, p, v, m, g, 1, early);
                    OpTimes times;
                    times.forward.assign(static_cast<std::size_t>(p * v), 1);
                    times.backward.assign(static_cast<std::size_t>(p * v), 2);
                    times.weight.assign(static_cast<std::size_t>(p * v), 0);
                    const auto played = play(schedule, times);
                    REQUIRE(played.has_value());                                     // nobody waits for ever
                    if (early == 0) CHECK(played->makespan == 3 * (m * v + p - 1));  // whatever the group
                    for (std::int32_t stage = 0; stage < p; ++stage) {
                        std::vector<std::int32_t> counts(static_cast<std::size_t>(v));
                        row_of(ScheduleKind::interleaved).in_flight({p, v, m, g, early}, stage, counts);
                        std::int32_t sum = 0;
                        for (const std::int32_t count : counts) sum += count;
                        CHECK(sum == most_in_flight(schedule, stage));
                    }
                }
}

TEST_CASE("interleaving played turn by turn is interleaving played operation by operation") {
    tests::Random random(47);
    for (int i = 0; i < 400; ++i) {
        const auto p = static_cast<std::int32_t>(random.from(2, 12)), v = static_cast<std::int32_t>(random.from(2, 5));
        const auto g = static_cast<std::int32_t>(random.coin() ? p : p + random.from(0, 5));
        const auto m = static_cast<std::int32_t>(random.from(p, 6 * p)), early = static_cast<std::int32_t>(random.from(0, 1));
        if (!schedule_exists(ScheduleKind::interleaved, p, v, m, g)) continue;
        OpTimes times;
        for (auto* list : {&times.forward, &times.backward})
            for (std::int32_t piece = 0; piece < p * v; ++piece) list->push_back(0.1 * static_cast<double>(random.from(1, 30)));
        times.weight.assign(times.forward.size(), 0);
        times.transfer = 0.1 * static_cast<double>(random.from(0, 5)), times.sending = random.coin() ? times.transfer / 4 : times.transfer;
        times.at_ends = random.coin() ? times.sending : 0;
        CAPTURE(p);
        CAPTURE(v);
        CAPTURE(m);
        CAPTURE(g);
        const auto played = play(make_schedule(ScheduleKind::interleaved, p, v, m, g, 1, early), times);
        REQUIRE(played);
        CHECK(play_turns({p, v, m, g, early}, times).makespan == doctest::Approx(played->makespan).epsilon(1e-12));
    }
}

// Two stages of two chunks, two micro-batches. Every pass takes 1 s: each stage works 8 s, and the other waits half of a stage's
// micro-batch, 4 s, over two chunks: 8 + 2. If the first stage's first chunk and the last stage's last one take 2 s a pass, a stage works
// 12 s, and the same count says 12 + 6 / 2 = 15. But then, F0 0-2 2-4, F1 4-5 5-6, B1 9-10 13-14, B0 14-16 16-18 is the first stage's day
// (the chunk's number, seconds), and F0 2-3 4-5, F1 5-7, B1 7-9, F1 9-11, B1 11-13, B0 13-14 14-15 the last one's.
TEST_CASE("by hand: chunks that do not work equally long") {
    OpTimes times{{1, 1, 1, 1}, {1, 1, 1, 1}, {0, 0, 0, 0}, 0, {}, {}};
    CHECK(play_turns({2, 2, 2, 2}, times).makespan == 10);
    times.forward = times.backward = {2, 1, 1, 2};
    CHECK(play_turns({2, 2, 2, 2}, times).makespan == 18);
}
