// How long a pipeline takes whose schedule has no closed form, and step times one after the other from one timer: by hand, and laws.
#include <doctest/doctest.h>

#include <set>

#include "model/catalog.h"
#include "plan/rules.h"
#include "random_cases.h"
#include "time/op_times.h"
#include "time/small_machine.h"

using namespace fourfold;
using namespace fourfold::tests::by_hand;

namespace {

// Layers whose traffic to experts is as long as their work.
LayerTimes with_traffic(double unit) {
    LayerTimes l;
    l.dense.forward = 2.5 * unit, l.dense.backward = 5.5 * unit, l.dense.recomputed = 0.75 * unit;
    l.dense.expert_forward = 1.5 * unit, l.dense.expert_backward = 1.75 * unit;
    l.head = 3 * unit, l.embedding = 1.5 * unit;
    return l;
}
PlayedStep played_part(const Case& c, const LayerTimes& layers) {
    const Stages stages(c.model, c.plan);
    return played_step(c.model, c.plan, c.hw, c.k, layers, stages, pace_of(c.model, c.plan, c.hw, c.k, layers, stages, false));
}
// The same, with every micro-batch played.
struct Whole {
    double makespan, with_transfers;
    std::vector<double> busy;
    OpTimes times;
};
Whole played_whole(const Case& c, const LayerTimes& layers) {
    OpTimes times = op_times(c.model, c.plan, c.hw, c.k, layers, Stages(c.model, c.plan));
    const Schedule schedule =
        make_schedule(c.plan.schedule, static_cast<std::int32_t>(c.plan.pipeline_parallel),
                      static_cast<std::int32_t>(c.plan.pieces_per_stage()), static_cast<std::int32_t>(c.plan.micro_batches()));
    const auto with = play(schedule, times);
    times.without_sends();
    const auto without = play(schedule, times);
    REQUIRE(with);
    REQUIRE(without);
    return {without->makespan, with->makespan, without->busy, times};
}

}  // namespace

TEST_CASE("played by hand: pipelines of 2 to 48 stages whose schedule has no closed form") {
    Plan plan;
    plan.schedule = ScheduleKind::zero_bubble_h1;
    for (const std::int64_t stages : {1, 2, 47, 48, 49}) {
        plan.pipeline_parallel = stages;
        CAPTURE(stages);
        CHECK(is_played(plan) == (stages >= 2 && stages <= 48));
    }
    plan.pipeline_parallel = 2, plan.schedule = ScheduleKind::one_f_one_b;
    CHECK_FALSE(is_played(plan));
}

TEST_CASE("played, law: once a pipeline repeats itself, a further micro-batch takes the slowest stage's time") {
    Case c = dense();
    c.plan.schedule = ScheduleKind::zero_bubble_h1;
    for (const std::int64_t micro_batches : {1, 2, 7, 8, 9, 10, 40}) {
        c.plan.global_batch = 6 * micro_batches;
        CAPTURE(micro_batches);
        const PlayedStep step = played_part(c, with_traffic(1));
        CHECK(step.together == near(played_whole(c, with_traffic(1)).makespan));
        CHECK(step.transfers == 0);
        CHECK(step.hidden == 0);
    }
}

TEST_CASE("played, law: pairs hide what the slowest stage's work exceeds its time by, and a further pair takes its own time") {
    for (const ScheduleKind kind : {ScheduleKind::dualpipe, ScheduleKind::dualpipe_v})
        for (const double unit : {1.0, 1e-3})
            for (const std::int64_t micro_batches : {4, 8, 10, 40}) {
                Case c = dense();
                c.plan.schedule = kind, c.plan.virtual_stages = kind == ScheduleKind::dualpipe_v ? 2 : 1;
                c.model.layers = 8, c.plan.global_batch = 6 * micro_batches;
                if (kind == ScheduleKind::dualpipe_v) {  // the last stage, which holds the second and the third piece, sets the pace
                    Problems problems;
                    set_notation(c.plan, "Et|ttt|ttt|tL", problems);
                    REQUIRE(problems.empty());
                }
                CAPTURE(static_cast<int>(kind));
                CAPTURE(micro_batches);
                CAPTURE(unit);
                const LayerTimes layers = with_traffic(unit);
                const PlayedStep step = played_part(c, layers);
                const Whole whole = played_whole(c, layers);
                CHECK(step.together == near(whole.makespan));
                if (micro_batches <= 8) CHECK(step.transfers == near(whole.with_transfers - whole.makespan));
                // of the stage that sets the pace: half of the micro-batches pass each piece where there are two copies
                const std::size_t pieces = 2, first = kind == ScheduleKind::dualpipe_v ? pieces : 0;
                double work = 0;
                for (std::size_t i = first; i < first + pieces; ++i)
                    work += whole.times.forward[i] + whole.times.backward[i] + whole.times.weight[i];
                const double passes = static_cast<double>(micro_batches) / (kind == ScheduleKind::dualpipe ? 2 : 1);
                CHECK(step.hidden == near(work * passes - whole.busy[first / pieces], 1e-9));
                CHECK(step.hidden > 0);
            }
}

// Two stages of two chunks that hold 2, 1, 1 and 2 layers; a layer takes 1 s a pass: each stage works 6 s on a micro-batch, and the count
// says 6 m + 6 / 2. The first two micro-batches take 18 s (plan/schedule_test.cpp): 3 s more. From then on no stage waits: on the first one
// groups begin at 0, 6, 20, 32 and 44 s. Its fourth group's forwards are F0 32-34 35-37, F1 38-39 41-42; what is left after them are
// backward passes, B0 42-44, B1 45-46 49-50, B0 50-52 52-54. So four groups take 54 s, and every further one 12.
TEST_CASE("chunks in turns by hand: chunks that do not hold as many layers") {
    Case c = dense();
    c.plan.virtual_stages = 2, c.plan.gpus = 4, c.k.accumulation = 0;
    c.k.link_latency = c.k.network_latency = 0, c.hw.link = c.hw.node = 1e30;  // sends take no time
    c.plan.layout = std::make_shared<const Layout>(std::vector<std::int32_t>{2, 1, 1, 2});
    LayerTimes layers;
    layers.dense.forward = layers.dense.backward = 1;
    for (const auto& one : {std::pair{2, 18}, {8, 54}, {10, 66}, {16, 102}}) {
        const auto& [micro_batches, seconds] = one;
        c.plan.global_batch = 3 * micro_batches;
        CAPTURE(one.first);
        const StepTime<double> step = step_time<double>(c.model, c.plan, c.framework(), c.hw, c.k, layers);
        CHECK(step.items[static_cast<std::size_t>(TimeItem::bubble)] == near(seconds - 6 * micro_batches));
    }
    c.plan.layout = std::make_shared<const Layout>(std::vector<std::int32_t>{3, 1, 1, 1});  // alone the first stage works 8 s
    c.plan.global_batch = 3 * 2;
    // F0 0-3 3-6, F1 6-7 7-8, B1 9-10 11-12, B0 12-15 15-18 there, and F0 3-4 6-7, F1 7-8, B1 8-9, F1 9-10, B1 10-11, B0 11-12 12-13 on
    // the last one: no longer than the count says, 8 * 2 + 4 / 2
    const StepTime<double> step = step_time<double>(c.model, c.plan, c.framework(), c.hw, c.k, layers);
    CHECK(step.items[static_cast<std::size_t>(TimeItem::bubble)] == near(18 - 16));
}

// 50 stages of 30 chunks are 3,000 operations for each micro-batch, of at most 300,000.
TEST_CASE("chunks in turns, law: what is too long to be played is counted as alike") {
    Case c = dense();
    Plan& p = c.plan;
    p.pipeline_parallel = 50, p.virtual_stages = 30, p.gpus = 100, c.k.accumulation = 0;
    std::vector<std::int32_t> chunks(1'500, 1);
    chunks.front() = chunks.back() = 2;
    p.layout = std::make_shared<const Layout>(chunks);
    c.model.layers = p.layout->layers();
    LayerTimes layers;
    layers.dense.forward = layers.dense.backward = 1;
    const auto bubble = [&](std::int64_t micro_batches) {
        p.global_batch = 3 * micro_batches;
        const StepTime<double> step = step_time<double>(c.model, p, c.framework(), c.hw, c.k, layers);
        return step.items[static_cast<std::size_t>(TimeItem::bubble)];
    };
    const double alike = (62 + 48 * 60) / 30.0;  // the other stages' 31 and 30 layers, over 30 chunks
    CHECK(bubble(100) > 1.01 * alike);
    CHECK(bubble(150) == near(alike));
}

TEST_CASE("chunks in turns, law: a step takes what its list of operations takes, if that is more than the closed form says") {
    tests::Random random(29);
    int longer = 0;
    for (int k = 0; k < 200; ++k) {
        Case c = dense();
        Plan& p = c.plan;
        p.pipeline_parallel = random.from(2, 6), p.virtual_stages = random.from(2, 4), p.gpus = 4 * p.pipeline_parallel;
        const std::int64_t group = random.from(p.pipeline_parallel, p.pipeline_parallel + 3);
        const std::int64_t m = group * random.from(1, 9) + (random.coin() ? 0 : random.from(p.pipeline_parallel, group));
        p.virtual_stage_group = group, p.global_batch = 6 * m;
        std::vector<std::int32_t> chunks;
        for (std::int64_t i = 0; i < p.chunks(); ++i) chunks.push_back(static_cast<std::int32_t>(random.from(1, random.coin() ? 1 : 3)));
        p.layout = std::make_shared<const Layout>(chunks);
        c.model.layers = p.layout->layers();
        CAPTURE(layout_text(*p.layout));
        CAPTURE(m);
        const LayerTimes layers = with_traffic(1);
        OpTimes times = op_times(c.model, p, c.hw, c.k, layers, Stages(c.model, p));
        const auto whole =
            play(make_schedule(ScheduleKind::interleaved, static_cast<std::int32_t>(p.pipeline_parallel),
                               static_cast<std::int32_t>(p.virtual_stages), static_cast<std::int32_t>(m), static_cast<std::int32_t>(group)),
                 times);
        REQUIRE(whole);
        const StepTime<double> step = step_time<double>(c.model, p, c.framework(), c.hw, c.k, layers);
        const double slowest = *std::max_element(whole->busy.begin(), whole->busy.end()), n = static_cast<double>(m);
        double sum = 0;
        for (const double busy : whole->busy) sum += busy / n;
        const double closed = slowest + (sum - slowest / n) / static_cast<double>(p.virtual_stages);
        const double sends = step.items[static_cast<std::size_t>(TimeItem::pipeline_traffic)];
        const double together = slowest + step.items[static_cast<std::size_t>(TimeItem::bubble)] + sends;
        CHECK(together == near(std::max(closed + sends, whole->makespan), 1e-9));
        longer += whole->makespan > 1.01 * (closed + sends);
        // a limit changes nothing below it, and is passed above it
        const auto within = [&](double most) { return step_time<double>(c.model, p, c.framework(), c.hw, c.k, layers, most).seconds; };
        CHECK(within(step.seconds) == step.seconds);
        CHECK(within(0.99 * step.seconds) > 0.99 * step.seconds);
    }
    CHECK(longer > 100);
}

TEST_CASE("a timer that remembers layers tells ZeRO-3 that gathers weights one by one from ZeRO-1") {
    const Model& model = catalog().models.front().model;
    const Gpu& gpu = *catalog().gpu("a100-sxm-80gb");
    Plan p;
    p.framework = FrameworkKind::transformers, p.gpus = p.gpus_per_node = 8, p.global_batch = 8, p.sequence_length = 256;
    p.tensor_parallel = p.context_parallel = p.pipeline_parallel = p.virtual_stages = p.expert_parallel = p.micro_batch = 1;
    p.fully_shard = Habit::off, p.sync_each_micro_batch = Habit::on;
    StepTimer remembers(model, gpu, nullptr, p);
    std::set<double> forward;
    for (const Zero zero : {Zero::optimizer, Zero::weights, Zero::optimizer, Zero::gradients}) {
        p.zero = zero;
        CHECK(remembers.seconds(p) == StepTimer(model, gpu, nullptr, p).seconds(p));
        forward.insert(remembers.layers(p).dense.host_forward);
    }
    CHECK(forward.size() == 2);
}

TEST_CASE("law: a timer that remembers layers answers as one that has never been asked") {
    tests::Random random(83);
    const Gpu& gpu = *catalog().gpu("h100-sxm-80gb");
    int asked = 0;
    for (int k = 0; k < (tests::kSlowBuild ? 3 : 20); ++k) {
        const Model model = tests::random_model(random);
        const Plan like = tests::random_legal_plan(random, model);
        StepTimer remembers(model, gpu, nullptr, like);
        for (int i = 0; i < 100; ++i) {
            Plan p = like;
            p.micro_batch = random.from(1, 2), p.tensor_parallel = random.one_of<std::int64_t>({1, like.tensor_parallel});
            p.recompute = random.one_of({Recompute::none, Recompute::selective, Recompute::full});
            p.recompute_modules = random.one_of<std::uint32_t>({core_attn, layernorm, mlp});
            p.sequence_parallel = random.coin(), p.expert_overlap = random.coin();
            p.zero = random.one_of({Zero::none, Zero::optimizer, Zero::weights});
            p.activation_offload = random.one_of({0.0, 0.25, 1.0});
            if (!is_legal(model, p)) continue;
            ++asked;
            CHECK(remembers.seconds(p) == StepTimer(model, gpu, nullptr, like).seconds(p));
        }
    }
    CHECK(asked > (tests::kSlowBuild ? 20 : 200));
}
