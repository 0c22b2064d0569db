// A step of layers with and without experts, schedules without a closed form, and stages of one layer: worked by hand
// (time/small_machine.h).
#include <doctest/doctest.h>

#include <algorithm>

#include "time/small_machine.h"
#include "time/token_slices.h"

using namespace fourfold;
using namespace fourfold::tests::by_hand;

namespace {

// A dense layer's 8 seconds, of which 1 is not of its parts; one with experts takes 15, of which 1.625 are not.
LayerTimes of_both_kinds() {
    LayerTimes l;
    LayerTime &d = l.dense, &e = l.expert;
    d.multiply_forward = 1, d.multiply_backward = 2, d.attention_forward = 0.25, d.attention_backward = 0.75;
    d.element_forward = 0.125, d.element_backward = 0.25, d.tensor_forward = 0.375, d.tensor_backward = 0.75;
    d.context_forward = 0.0625, d.context_backward = 0.1875, d.expert_forward = 0.1875, d.expert_backward = 0.3125;
    d.recomputed = 0.75, d.forward = 2.5, d.backward = 5.5;
    e.multiply_forward = 3, e.multiply_backward = 4, e.attention_forward = 0.5, e.attention_backward = 1;
    e.element_forward = 0.25, e.element_backward = 0.5, e.tensor_forward = 0.5, e.tensor_backward = 1;
    e.context_forward = 0.125, e.context_backward = 0.25, e.expert_forward = 0.5, e.expert_backward = 0.75;
    e.recomputed = 1, e.forward = 6, e.backward = 9;
    l.parameters_dense = 1'000, l.parameters_expert = 2'000;
    return l;
}
Case mixed(ExpertLayers layers) {
    Case c = dense();
    c.model.layers = static_cast<std::int64_t>(layers.size());
    c.model.experts = {.count = 4, .per_token = 2, .ffn = 24};
    c.model.expert_layers = std::move(layers);
    c.plan.expert_tensor_parallel = 2;  // as the rest: their gradients are sent with it
    return c;
}
StepTime<double> whole_step(const Case& c, const LayerTimes& layers) {
    return step_time<double>(c.model, c.plan, c.framework(), c.hw, c.k, layers);
}
double part(const StepTime<double>& step, TimeItem which) { return step.items[static_cast<std::size_t>(which)]; }

constexpr double kAdding = 3e-6;                    // seconds to add up a gradient of 3 bytes
constexpr double kSend = 2e-3 + 2'880 * 4 / 2.5e6;  // of a micro-batch to another node (step_items_test.cpp)

}  // namespace

TEST_CASE("two kinds by hand: the last stage, of one dense layer and two with experts, sets the pace") {
    Case c = mixed({0, 1, 0, 1, 0, 1});
    c.k.micro_batch = 0.25;
    StepTime<double> step = whole_step(c, of_both_kinds());
    CHECK(part(step, TimeItem::multiplications) == near(4 * (3 + 2 * 7.0)));
    CHECK(part(step, TimeItem::attention) == near(4 * (1 + 2 * 1.5)));
    CHECK(part(step, TimeItem::element_wise) == near(4 * (0.375 + 2 * 0.75)));
    CHECK(part(step, TimeItem::tensor_traffic) == near(4 * (1.125 + 2 * 1.5)));
    CHECK(part(step, TimeItem::context_traffic) == near(4 * (0.25 + 2 * 0.375)));
    CHECK(part(step, TimeItem::expert_traffic) == near(4 * (0.5 + 2 * 1.25)));
    CHECK(part(step, TimeItem::recomputation) == near(4 * (0.75 + 2 * 1.0)));
    CHECK(part(step, TimeItem::host) == near(4 * (1 + 2 * 1.625 + 0.25)));
    CHECK(part(step, TimeItem::accumulation) == near(4 * kAdding * 5'000));
    CHECK(part(step, TimeItem::bubble) == near(2 * 8 + 15 + 0.25 + kAdding * 4'000));
    CHECK(step.forward == near(2.5 + 2 * 6));
    CHECK(step.backward == near(5.5 + 2 * 9));
    CHECK(part(step, TimeItem::optimizer) == near((34 / 2 + 12) * (5'000 + 6'144.0) / (0.8 * kH / 0.85)));
    c.plan.time_factor = 2;
    CHECK(whole_step(c, of_both_kinds()).seconds == near(2 * step.seconds));
    CHECK(part(whole_step(c, of_both_kinds()), TimeItem::fixed) == 2 * 0.125);
    c.plan.time_factor = 1;
    // launched ahead: 0.5 + 8.2 s for a dense layer, 10 + 11 for one with experts; the GPU's 8 + 2 * 15 and adding up are hidden
    LayerTimes layers = of_both_kinds();
    layers.dense.launch_forward = 0.5, layers.dense.launch_backward = 8.2;
    layers.expert.launch_forward = 10, layers.expert.launch_backward = 11;
    step = whole_step(c, layers);
    CHECK(part(step, TimeItem::host) == near(4 * (8.7 + 2 * 21 - 38 - kAdding * 5'000 + 0.25)));
    CHECK(step.forward == near(0.5 + 2 * 10));
    CHECK(step.backward == near(8.2 + 2 * 11));
}

TEST_CASE("two kinds by hand: one layer a stage, of either kind") {
    Case c = mixed({0, 0});
    StepTime<double> step = whole_step(c, of_both_kinds());
    CHECK(part(step, TimeItem::multiplications) == near(4 * 3.0));
    CHECK(part(step, TimeItem::accumulation) == near(4 * kAdding * 1'000));
    CHECK(part(step, TimeItem::bubble) == near(8 + kAdding * 1'000));
    CHECK(step.forward == 2.5);
    c = mixed({1, 1});
    step = whole_step(c, of_both_kinds());
    CHECK(part(step, TimeItem::multiplications) == near(4 * 7.0));
    CHECK(part(step, TimeItem::accumulation) == near(4 * kAdding * 2'000));
    CHECK(part(step, TimeItem::bubble) == near(15 + kAdding * 2'000));
    CHECK(step.backward == 9);
    LayerTimes layers = of_both_kinds();
    layers.dense.launch_forward = layers.dense.launch_backward = 1;  // of no layer
    layers.expert.launch_forward = 8, layers.expert.launch_backward = 10;
    step = whole_step(c, layers);
    CHECK(part(step, TimeItem::host) == near(4 * (18 - 15 - kAdding * 2'000)));
    CHECK(step.forward == 8);
    c = mixed({0, 0});
    layers.dense.launch_forward = 4, layers.dense.launch_backward = 6;
    step = whole_step(c, layers);
    CHECK(part(step, TimeItem::host) == near(4 * (10 - 8 - kAdding * 1'000)));
}

TEST_CASE("two kinds by hand: blocks of layers that are computed again belong to their stage") {
    Case c = mixed({0, 1, 0, 1, 0, 1});
    c.plan.recompute = Recompute::block, c.plan.recompute_layers = 1;  // the first of each stage: 0.75 on the one, 1 on the other
    const StepTime<double> step = whole_step(c, of_both_kinds());
    CHECK(part(step, TimeItem::recomputation) == near(4 * 1.0));
    CHECK(part(step, TimeItem::bubble) == near(2 * 8 + 15 + 0.75 + kAdding * 4'000));
    CHECK(part(step, TimeItem::host) == near(4 * (1 + 0.75 + 2 * 2.625)));  // of the others' time nothing is recomputation
}

TEST_CASE("two kinds by hand: sends of schedules without a closed form, of few GPUs a stage, and of two directions") {
    Case c = dense();
    LayerTimes layers = of_both_kinds();
    c.plan.schedule = ScheduleKind::zero_bubble_h1;
    CHECK(part(whole_step(c, layers), TimeItem::pipeline_traffic) == near((2 + 2 * 3) * kSend));
    c = dense();
    c.plan.pipeline_parallel = 4, c.model.layers = 4;                                 // two GPUs a stage send at once
    CHECK(transfer_seconds(c.model, c.plan, c.hw, c.k) == near(1e-3 + 2'880 / 6e5));  // in a node: slower
    c.hw.link = 2e7;
    CHECK(transfer_seconds(c.model, c.plan, c.hw, c.k) == near(2e-3 + 2'880 * 2 / 2.5e6));
    // fifty stages are not played: 100 micro-batches, 50 of each direction; a stage holds a layer of either
    c = dense();
    c.model.layers = 50, c.k.micro_batch = 0.25;
    c.plan.schedule = ScheduleKind::dualpipe, c.plan.pipeline_parallel = 50, c.plan.gpus = 200, c.plan.global_batch = 600;
    const StepTime<double> step = whole_step(c, layers);
    CHECK(part(step, TimeItem::host) == near(50 * (2 * 1 + 2 * 0.25)));
    CHECK(part(step, TimeItem::multiplications) == near(50 * 2 * 3.0));
    // two of four played stages: what pairs hide of the experts' traffic becomes part of the bubble, however little it is
    for (const double unit : {1.0, 1e-3}) {
        c = dense();
        c.plan.schedule = ScheduleKind::dualpipe;
        layers = LayerTimes();
        layers.dense.forward = 2.5 * unit, layers.dense.backward = 5.5 * unit;
        layers.dense.expert_forward = 1.5 * unit, layers.dense.expert_backward = 1.75 * unit;
        const Stages stages(c.model, c.plan);
        const PlayedStep played =
            played_step(c.model, c.plan, c.hw, c.k, layers, stages, pace_of(c.model, c.plan, c.hw, c.k, layers, stages, false));
        REQUIRE(played.hidden > 0);
        const StepTime<double> pairs = whole_step(c, layers);
        // two micro-batches of each direction, three layers of either
        CHECK(part(pairs, TimeItem::expert_traffic) == near(2 * 2 * 3 * 3.25 * unit - played.hidden));
        CHECK(part(pairs, TimeItem::bubble) == near(played.together - 2 * 2 * 3 * 8 * unit + played.hidden, 1e-9));
        CHECK(part(pairs, TimeItem::pipeline_traffic) == near(played.transfers));
    }
}

TEST_CASE("two kinds by hand: one copy waits for no ring of copies") {
    Case c = dense();
    c.plan.gpus = 4, c.k.shard_latency = 1;
    CHECK(part(whole_step(c, of_both_kinds()), TimeItem::data_traffic) == 0);
}

TEST_CASE("two kinds by hand: the part of a stage's time that attention takes") {
    LayerTimes layers;
    layers.dense.attention_forward = 1, layers.dense.attention_backward = 2, layers.dense.forward = 4, layers.dense.backward = 6;
    layers.expert.attention_forward = layers.expert.attention_backward = 1, layers.expert.forward = layers.expert.backward = 5;
    Stage stage;
    CHECK(attention_part(layers, stage) == 0);
    stage.dense.held = 3, stage.experts.held = 2;
    CHECK(attention_part(layers, stage) == near((3 * 3 + 2 * 2) / (3 * 10 + 2 * 10.0)));
}
