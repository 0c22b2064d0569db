// Sequences in slices: where they are cut, in which order they pass, and what of them stays.
#include "plan/token_slices.h"

#include <doctest/doctest.h>

#include <cmath>

#include "memory/memory.h"
#include "model/catalog.h"
#include "plan/rules.h"
#include "plan/stage.h"
#include "random_cases.h"
#include "support.h"

using namespace fourfold;

namespace {

using Ends = std::vector<std::int64_t>;

std::string in_order(const Schedule& s, std::int32_t stage) {
    std::string line;
    for (const Op& op : s.ops[static_cast<std::size_t>(stage)])
        line += (line.empty() ? "" : " ") + std::string(1, "FB"[static_cast<int>(op.kind)]) + std::to_string(op.micro_batch);
    return line;
}

OpTimes units_of(std::int32_t stages, double forward, double backward) {
    const auto pieces = static_cast<std::size_t>(stages);
    OpTimes times;
    times.forward.assign(pieces, forward), times.backward.assign(pieces, backward), times.weight.assign(pieces, 0);
    return times;
}

// TeraPipe's dynamic programme (zhuohan123/terapipe 1a17aa267, latency_model.py), for so many slices: the least sum t_i + (p-1) max t_i.
double terapipe(const SliceWork& work, std::int64_t count, double stages) {
    const auto cells = static_cast<std::size_t>(work.tokens) / static_cast<std::size_t>(kSliceGrid);
    const auto until = [&](std::size_t cell) { return work.until(static_cast<double>(cell) * static_cast<double>(kSliceGrid)); };
    constexpr auto kLeast = static_cast<std::size_t>(kShortestSlice / kSliceGrid);
    double best = INFINITY;
    for (std::size_t from = 0; from < cells; ++from)
        for (std::size_t to = from + kLeast; to <= cells; ++to) {
            const double most = until(to) - until(from);
            std::vector<double> sum(cells + 1, INFINITY);  // of the first cells in so many slices
            sum[0] = 0;
            for (std::int64_t slice = 0; slice < count; ++slice) {
                std::vector<double> next(cells + 1, INFINITY);
                for (std::size_t j = 1; j <= cells; ++j)
                    for (std::size_t i = j; i-- > 0 && until(j) - until(i) <= most;)
                        if (j - i >= kLeast) next[j] = std::min(next[j], sum[i] + until(j) - until(i));
                sum = next;
            }
            if (std::isfinite(sum[cells])) best = std::min(best, sum[cells] + (stages - 1) * most);
        }
    return best;
}

Plan sliced_plan(std::int64_t stages, std::int64_t slices, std::int64_t micro_batches) {
    Plan plan;
    plan.gpus = plan.pipeline_parallel = stages;
    plan.tensor_parallel = plan.context_parallel = plan.micro_batch = 1;
    plan.gpus_per_node = 8;
    plan.global_batch = micro_batches;
    plan.token_slices = slices;
    return plan;
}

}  // namespace

TEST_CASE("token slices: cut where all work as long as each other, on the grid") {
    const Model model = catalog().model("llama-3.1-8b")->model;
    CHECK(cut_evenly({model, 1'024, 0}, 4) == Ends{256, 512, 768, 1'024});
    // attention alone: tokens^2 share the work; 8192*sqrt(1/4, 2/4, 3/4) = 4096, 5792.6, 7094.5, on the grid of 16: 256, 362 and 443 times
    // it
    CHECK(cut_evenly({model, 8'192, 1}, 4) == Ends{4'096, 5'792, 7'088, 8'192});
    // half: x/s/2 + (x/s)^2/2 = 1/2 where x/s = (sqrt(5) - 1)/2 = 0.618: 5062.9, 316 times 16
    CHECK(cut_evenly({model, 8'192, 0.5}, 2) == Ends{5'056, 8'192});
    // no slice is shorter than 128
    CHECK(cut_evenly({model, 640, 1}, 5) == Ends{128, 256, 384, 512, 640});
    CHECK(cut_evenly({model, 700, 1}, 5) == Ends{176, 304, 432, 560, 700});
    // 1000 + 2000 tokens with a window of 1000 in all layers: 1000^2/2 + 2000*1000 pairs, half of them until 1000 + 750
    Model windowed = model;
    windowed.window.tokens = 1'000;
    windowed.window.layers.assign(static_cast<std::size_t>(model.layers), 1);
    const SliceWork work{windowed, 3'000, 1};
    CHECK(work.tokens_until(0.5) == doctest::Approx(1'750));
    for (const double part : {0.05, 0.2, 0.6, 0.99}) CHECK(work.until(work.tokens_until(part)) == doctest::Approx(part));
    windowed.window.chunks = true;  // of 1000 tokens: 1000^2/2 + 2000*500 pairs, half of them until 1000 + 500
    CHECK(work.tokens_until(0.5) == doctest::Approx(1'500));
}

TEST_CASE("token slices: no cut of TeraPipe's dynamic programme is faster by more than the grid's width" * doctest::test_suite("quality")) {
    const Model model = catalog().model("llama-3.1-8b")->model;
    for (const double attention : {0.0, 0.3, 0.9})
        for (const std::int64_t count : {2, 3, 5}) {
            const SliceWork work{model, 1'280, attention};
            const Ends ends = cut_evenly(work, count);
            double most = 0, before = 0;
            for (const std::int64_t end : ends) {
                const double until = work.until(static_cast<double>(end));
                most = std::max(most, until - before), before = until;
            }
            const double best = terapipe(work, count, 8), widest = 1 - work.until(1'280.0 - static_cast<double>(kSliceGrid));
            CAPTURE(attention);
            CAPTURE(count);
            CHECK(1 + 7 * most >= best * (1 - 1e-12));
            CHECK(1 + 7 * most <= best + 7 * widest);
        }
}

TEST_CASE("token slices: literal schedules") {
    // two stages, two micro-batches of two slices: 0 and 1 are the first one's
    const Schedule s = make_schedule(ScheduleKind::one_f_one_b, 2, 1, 4, 0, 2);
    CHECK(in_order(s, 0) == "F0 F1 F2 B1 F3 B0 B3 B2");
    CHECK(in_order(s, 1) == "F0 F1 B1 F2 B0 F3 B3 B2");
    CHECK(in_order(make_schedule(ScheduleKind::gpipe, 2, 1, 4, 0, 2), 0) == "F0 F1 F2 F3 B1 B0 B3 B2");
}

TEST_CASE("token slices: played, even ones take (m M + p - 1)(F + B), in 1F1B's order and in GPipe's; one slice is the schedule itself") {
    for (const ScheduleKind kind : {ScheduleKind::one_f_one_b, ScheduleKind::gpipe})
        for (std::int32_t p = 2; p <= 8; ++p)
            for (std::int32_t m = 1; m <= 10; m += 3)
                for (std::int32_t n = 1; n <= 9; n += 2) {
                    const Schedule s = make_schedule(kind, p, 1, m * n, 0, n);
                    const auto played = play(s, units_of(p, 1, 2));
                    CHECK(played.has_value());
                    if (played) CHECK(played->makespan == (m * n + p - 1) * 3);
                    if (n == 1) CHECK(s.ops == make_schedule(kind, p, 1, m).ops);
                    for (std::int32_t i = 0; i < p; ++i)
                        CHECK(most_in_flight(s, i) == (kind == ScheduleKind::gpipe ? m * n : std::min(p - i + n - 1, m * n)));
                }
}

TEST_CASE("token slices: a stage holds what is counted along its operations, in longest slices") {
    const Model model = catalog().model("llama-3.1-8b")->model;
    for (const ScheduleKind kind : {ScheduleKind::one_f_one_b, ScheduleKind::gpipe})
        for (const std::int64_t p : {2, 4, 8})
            for (const std::int64_t m : {1, 2, 5})
                for (const std::int64_t n : {2, 3, 8, 16}) {
                    Plan plan = sliced_plan(p, n, m);
                    plan.sequence_length = 65'536;
                    plan.schedule = kind;
                    CHECK(is_legal(model, plan));
                    const Stages stages(model, plan);
                    const TokenSlices cut = stages.slices();
                    const auto ends = cut.ends();
                    const Schedule s = make_schedule(kind, static_cast<std::int32_t>(p), 1, static_cast<std::int32_t>(m * n), 0,
                                                     static_cast<std::int32_t>(n));
                    for (std::int32_t i = 0; i < p; ++i) {
                        std::int64_t now = 0, most = 0;
                        for (const Op& op : s.ops[static_cast<std::size_t>(i)]) {
                            const auto slice = static_cast<std::size_t>(op.micro_batch % n);
                            const std::int64_t tokens = ends[slice] - (slice == 0 ? 0 : ends[slice - 1]);
                            now += op.kind == OpKind::forward ? tokens : -tokens;
                            most = std::max(most, now);
                        }
                        const Stage stage = stages.fullest(i);
                        CHECK(stage.slices * stage.longest_slice == doctest::Approx(static_cast<double>(most)).epsilon(1e-12));
                        CHECK(stage.dense.alive == stage.dense.held * stage.slices);
                    }
                }
}

TEST_CASE("token slices: what is held for other slices, counted by hand") {
    const Model model = catalog().model("llama-3.1-8b")->model;
    const Gpu& gpu = *catalog().gpu("h100-sxm-80gb");
    const auto bytes = [&](const Plan& plan, Item item) {
        double sum = 0;
        const StageMemory<double> memory = detailed<double>(model, plan, framework_of(model, plan, gpu), Stages(model, plan).fullest(0));
        for (std::size_t i = 0; i < memory.items.size(); ++i)
            if (memory.items.item(i) == item) sum += memory.items.bytes(i);
        return sum;
    };
    Plan plan = sliced_plan(4, 8, 1);
    plan.sequence_length = 65'536;
    // gradients of 8 KV heads of 128, keys and values, 2 bytes, in the stage's 8 layers
    CHECK(bytes(plan, Item::slice_keys) == 2 * 65'536.0 * (2 * 8 * 128) * 8);
    // one micro-batch is alive as a whole: 32 heads' log-sum-exp in fp32
    CHECK(bytes(plan, Item::log_sum_exp) == doctest::Approx(4 * 65'536.0 * 32 * 8));
    // computed again, all layers keep keys and values of the slices in flight beside their inputs
    plan.recompute = Recompute::full;
    CHECK(bytes(plan, Item::slice_keys) == doctest::Approx(2 * (2 * 65'536.0 * (2 * 8 * 128) * 8)));
    CHECK(bytes(plan, Item::checkpoints) == doctest::Approx(2 * 65'536.0 * 4'096 * 8));
    plan.token_slices = 1;
    CHECK(bytes(plan, Item::slice_keys) == 0);
    // of 8 micro-batches in 16 slices the first of 4 stages holds (4 + 16 - 1)/16 micro-batches where slices are alike, and less than two
    plan = sliced_plan(4, 16, 8);
    plan.sequence_length = 8'192;
    const double whole = 4 * 8'192.0 * 32 * 8;
    CHECK(bytes(plan, Item::log_sum_exp) > 19 / 16.0 * whole);
    CHECK(bytes(plan, Item::log_sum_exp) < 1.35 * whole);
    plan.token_slices = 1;
    CHECK(bytes(plan, Item::log_sum_exp) == 4 * whole);
}

TEST_CASE("token slices: where they apply") {
    const Model model = catalog().model("llama-3.1-8b")->model;
    const auto problem = [&](auto&& change) {
        Plan plan = sliced_plan(4, 8, 1);
        change(plan);
        const Problems problems = broken_rules(model, plan);
        return problems.empty() ? std::string() : problems.front().rule + " " + problems.front().message.id();
    };
    CHECK(problem([](Plan&) {}).empty());
    CHECK(problem([](Plan& p) { p.pipeline_parallel = p.gpus = 1; }) == "slices_apply problem.slices_apply.stages");
    CHECK(problem([](Plan& p) { p.context_parallel = 2, p.gpus = 8; }) == "slices_apply problem.slices_apply.context");
    CHECK(problem([](Plan& p) { p.virtual_stages = 2, p.global_batch = 8; }) == "slices_apply problem.slices_apply.schedule");
    CHECK(problem([](Plan& p) { p.schedule = ScheduleKind::zero_bubble_h1; }) == "slices_apply problem.slices_apply.schedule");
    CHECK(problem([](Plan& p) { p.attention = Attention::plain; }) == "slices_apply problem.slices_apply.attention");
    CHECK(problem([](Plan& p) { p.activation_offload = 1; }) == "slices_apply problem.slices_apply.offload");
    CHECK(problem([](Plan& p) { p.sequence_length = 8 * 128 - 1; }) == "slices_apply problem.slices_apply.tokens");
    CHECK(problem([](Plan& p) { p.sequence_length = 8 * 128; }).empty());
}
