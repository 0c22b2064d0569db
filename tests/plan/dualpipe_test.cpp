// DualPipe and DualPipeV in memory, time, curve and timeline. Their lists of operations: schedule_test.cpp.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "answer/timeline.h"
#include "memory/curve.h"
#include "model/catalog.h"
#include "plan/rules.h"
#include "time/op_times.h"
#include "time/step_time.h"

using namespace fourfold;

namespace {

// DeepSeek-V3 without what predicts further tokens: 256 GPUs as PP 4 (16, 15, 15, 15 layers), EP 8, 64 micro-batches.
struct Run {
    Model model = catalog().model("deepseek-v3")->model;
    Plan plan;
    const Gpu& gpu = *catalog().gpu("h100-sxm-80gb");
    const Cluster* cluster = catalog().cluster("dgx-h100");

    explicit Run(ScheduleKind schedule) {
        model.multi_token_layers = 0;
        plan.gpus = 256;
        plan.gpus_per_node = 8;
        plan.sequence_length = 4'096;
        plan.global_batch = 4'096;
        plan.tensor_parallel = plan.context_parallel = plan.micro_batch = 1;
        plan.pipeline_parallel = 4;
        plan.first_stage_layers = 16;
        plan.expert_parallel = 8;
        plan.schedule = schedule;
    }
    // 64 layers, so that they can be cut in eight.
    Run& even() {
        model.layers = 64;
        model.expert_layers = ExpertLayers(std::vector<std::uint8_t>(64, 1));
        plan.first_stage_layers = 0;
        plan.virtual_stages = row_of(plan.schedule).chunks;
        return *this;
    }
    Framework framework() const { return framework_of(model, plan, gpu); }
    Machine machine() const { return machine_of(gpu, cluster, plan); }
    Timing timing() const { return timing_of(machine(), cluster, plan, framework().attention); }
    LayerTimes layers() const { return layer_times(model, plan, framework(), machine(), timing()); }
    StepTime<double> step() const { return step_time<double>(model, plan, framework(), machine(), timing(), layers()); }
    double item(TimeItem which) const { return step().items[static_cast<std::size_t>(which)]; }
    double bytes(std::int32_t stage, Item which) const {
        const Stages stages(model, plan);
        const auto items = detailed<double>(model, plan, framework(), fullest_moment(model, plan, framework(), stages, stage)).items;
        for (std::size_t i = 0; i < items.size(); ++i)
            if (items.item(i) == which) return items.bytes(i);
        return 0;
    }
};

}  // namespace

TEST_CASE("DualPipe holds two copies of weights and gradients, and shares one optimizer state over both") {
    Run one(ScheduleKind::one_f_one_b), two(ScheduleKind::dualpipe);
    CHECK(is_legal(two.model, two.plan));
    const auto both = [&](std::int32_t stage, Item item) { return one.bytes(stage, item) + one.bytes(3 - stage, item); };
    for (const Zero zero : {Zero::none, Zero::optimizer, Zero::gradients}) {
        one.plan.zero = two.plan.zero = zero;
        for (std::int32_t stage = 0; stage < 4; ++stage) {
            CAPTURE(stage);
            CHECK(two.bytes(stage, Item::weights) == doctest::Approx(both(stage, Item::weights)));
            CHECK(two.bytes(stage, Item::gradients) == doctest::Approx(both(stage, Item::gradients) / (zero == Zero::gradients ? 2 : 1)));
            for (const Item item : {Item::moments, Item::master_weights})
                CHECK(two.bytes(stage, item) == doctest::Approx(both(stage, item) / (zero == Zero::none ? 1 : 2)));
        }
    }
}

TEST_CASE("DualPipeV holds one copy; both hold PP + 1 micro-batches' activations of a piece") {
    Run one(ScheduleKind::one_f_one_b), two(ScheduleKind::dualpipe), v(ScheduleKind::dualpipe_v);
    one.even(), two.even(), v.even();
    CHECK(is_legal(v.model, v.plan));
    CHECK(is_legal(two.model, two.plan));
    double in_v = 0, in_one = 0;
    for (std::int32_t stage = 0; stage < 4; ++stage) {
        in_v += v.bytes(stage, Item::weights);
        in_one += one.bytes(stage, Item::weights);
        // 16 layers a piece of DualPipe, 8 a piece of DualPipeV
        const double a_layer = one.bytes(3, Item::attention_output) / 16;
        CHECK(two.bytes(stage, Item::attention_output) == doctest::Approx(5 * 16 * a_layer));
        CHECK(v.bytes(stage, Item::attention_output) == doctest::Approx(9 * 8 * a_layer));
    }
    CHECK(in_v == doctest::Approx(in_one));
}

TEST_CASE("pairs hide the experts' traffic, and without it the step takes what the operations take") {
    Run one(ScheduleKind::one_f_one_b), two(ScheduleKind::dualpipe), v(ScheduleKind::dualpipe_v);
    one.even(), two.even(), v.even();
    for (Run* run : {&two, &v}) {
        CAPTURE(std::string(row_of(run->plan.schedule).id));
        CHECK(run->item(TimeItem::expert_traffic) < 0.5 * one.item(TimeItem::expert_traffic));
        CHECK(run->item(TimeItem::expert_traffic) >= 0);
        CHECK(run->item(TimeItem::bubble) < one.item(TimeItem::bubble));
        CHECK(run->item(TimeItem::bubble) > 0);
        CHECK(run->step().seconds < one.step().seconds);
        // the work is the same: two directions of half of the micro-batches, or two pieces of half of the layers
        for (const TimeItem same : {TimeItem::multiplications, TimeItem::attention, TimeItem::element_wise})
            CHECK(run->item(same) == doctest::Approx(one.item(same)));
        // all to itself: no traffic of experts, none hidden
        run->plan.expert_parallel = 1;
        CHECK(run->item(TimeItem::expert_traffic) == 0);
        const Stages stages(run->model, run->plan);
        const OpTimes times = op_times(run->model, run->plan, run->machine(), run->timing(), run->layers(), stages);
        CHECK(times.pair(0, 1, 0) == doctest::Approx(times.forward[0] + times.backward[1] + times.weight[1]));
        run->plan.expert_parallel = 8;
    }
}

TEST_CASE("a timeline and a curve draw both directions") {
    Run two(ScheduleKind::dualpipe);
    const Stages stages(two.model, two.plan);
    const OpTimes times = op_times(two.model, two.plan, two.machine(), two.timing(), two.layers(), stages);
    const auto line = play_timeline(ScheduleKind::dualpipe, 4, 2, two.plan.micro_batches(), times);
    CHECK(line.has_value());
    if (!line) return;
    CHECK(line->schedule.micro_batches == 16);
    CHECK(line->bubble_share() > 0);
    CHECK(line->bubble_share() < 0.1);
    for (std::size_t stage = 0; stage < 4; ++stage) CHECK(line->schedule.ops[stage].size() == 16 * 3);
    const auto curve = memory_curve(two.model, two.plan, two.framework(), 0);
    CHECK(curve.has_value());
    if (!curve) return;
    CHECK(curve->micro_batches == 12);
    CHECK(curve->ops.size() == 36);
    CHECK(curve->ops.front() == Op{OpKind::forward, 0, 0});
    CHECK(curve->ops[3] == Op{OpKind::forward, 6, 1});
    CHECK(curve->after.back() < curve->bytes.front());
}

// DeepSeek-V3's own run (arXiv 2412.19437, sections 1 and 3.2, 4.2): 2,048 H800, PP 16, EP 64, ZeRO-1, fp8, 15,360 sequences of 4,096
// tokens a step; 180,000 GPU hours per 10^12 tokens. Assumed: a micro-batch of 1, 1, 4 and 14 times 4 layers per stage, an H100's links
// within a node (an H800's are slower) and tokens that go to experts on any node (the run's go to 4 nodes at most).
TEST_CASE("DeepSeek-V3's own run: DualPipe comes nearer to it than 1F1B") {
    const double measured = 180e3 * 3'600 / 1e12 * 15'360 * 4'096 / 2'048;  // seconds of a step
    const auto seconds = [](ScheduleKind schedule) {
        Run run(schedule);
        run.model = catalog().model("deepseek-v3")->model;
        run.plan.gpus = 2'048;
        run.plan.global_batch = 15'360;
        run.plan.pipeline_parallel = 16;
        run.plan.first_stage_layers = 1;
        run.plan.last_stage_layers = 4;
        run.plan.expert_parallel = 64;
        run.plan.precision = Precision::fp8;
        run.plan.recompute = Recompute::selective;
        run.plan.recompute_modules = layernorm | mla_up_proj;
        CHECK(is_legal(run.model, run.plan));
        return run.step().seconds;
    };
    const double dual = seconds(ScheduleKind::dualpipe), one = seconds(ScheduleKind::one_f_one_b);
    MESSAGE("measured " << measured << " s, DualPipe " << dual << " s, 1F1B " << one << " s");
    CHECK(dual < 0.7 * one);
    CHECK(std::abs(dual / measured - 1) < 0.3);
}
