// Seconds of a schedule's single operations, and how long a schedule takes that is played: worked by hand on invented layers.
#include "time/op_times.h"

#include <doctest/doctest.h>

#include "time/small_machine.h"
#include "time/swap.h"

using namespace fourfold;
using namespace fourfold::tests::by_hand;

namespace {

// Layers of whole seconds; ends of 1.5 and 3 seconds, so 0.5 and 1 for each of three passes. Adding up 1,000 gradients takes 3 bytes each,
// 3 ms.
LayerTimes whole_seconds() {
    LayerTimes l;
    l.dense.forward = 2.5, l.dense.backward = 5.5, l.dense.recomputed = 0.75;
    l.dense.expert_forward = 0.1875, l.dense.expert_backward = 0.3125;
    l.head = 3, l.embedding = 1.5;
    l.parameters_dense = 1'000;
    return l;
}
// Dense layers of 6 seconds and layers with experts of 10, and nothing else; layers 0 1 0 on the first stage, 1 0 1 on the last.
LayerTimes two_kinds() {
    LayerTimes l;
    l.dense.forward = 2, l.dense.backward = 4, l.expert.forward = 3, l.expert.backward = 7;
    return l;
}
Case with_experts() {
    Case c = dense();
    c.model.experts = {.count = 4, .per_token = 2, .ffn = 24};
    c.model.expert_layers = {0, 1, 0, 1, 0, 1};
    return c;
}
OpTimes operations(const Case& c, const LayerTimes& layers) {
    return op_times(c.model, c.plan, c.hw, c.k, layers, Stages(c.model, c.plan));
}

}  // namespace

TEST_CASE("operations by hand: a CPU that is slower than both kinds of layers together") {
    Case c = with_experts();
    c.k.micro_batch = 0.5;
    LayerTimes layers = two_kinds();
    layers.dense.launch_forward = 1, layers.dense.launch_backward = 2;
    layers.expert.launch_forward = 10, layers.expert.launch_backward = 11;
    // first stage: the GPU 2 * 6 + 10 + 0.5 = 22.5, the CPU 2 * 3 + 21 + 0.5 = 27.5; last: 6 + 2 * 10 + 0.5 = 26.5 and 3 + 2 * 21 + 0.5 =
    // 45.5. Of 22 seconds 7 are forward, of 26 are 8
    OpTimes times = operations(c, layers);
    CHECK(times.forward[0] == near(27.5 * 7 / 22));
    CHECK(times.backward[0] == near(27.5 * 15 / 22));
    CHECK(times.forward[1] == near(45.5 * 8 / 26));
    CHECK(times.backward[1] == near(45.5 * 18 / 26));
    layers.expert.launch_forward = 0, layers.expert.launch_backward = 1;  // 7.5 and 5.5: the GPU is the slower one
    times = operations(c, layers);
    CHECK(times.forward[0] == near(22.5 * 7 / 22));
    CHECK(times.backward[1] == near(26.5 * 18 / 26));
}

TEST_CASE("operations by hand: recomputed blocks belong to the backward pass, not to the weights' half") {
    Case c = dense();
    c.plan.schedule = ScheduleKind::zero_bubble_h1;
    c.plan.recompute = Recompute::block, c.plan.recompute_layers = 1;  // one of three layers
    const OpTimes times = operations(c, whole_seconds());
    CHECK(times.backward[0] == near(3 * (5.5 + 0.3125) / 2 + 0.75 + 0.5));
    CHECK(times.weight[0] == near(3 * ((5.5 - 0.3125) / 2 + 3e-3) + 0.5));
}

TEST_CASE("operations by hand: frozen weights have no gradients, and ends two passes") {
    Case c = dense();
    c.plan.trained = TrainedPart::lora, c.plan.lora_rank = 4;
    const OpTimes times = operations(c, whole_seconds());
    CHECK(times.forward[0] == near(3 * 2.5 + 0.75));
    CHECK(times.backward[0] == near(3 * (5.5 + 3e-3) + 0.75));
    CHECK(times.forward[1] == near(3 * 2.5 + 1.5));
    CHECK(times.backward[1] == near(3 * (5.5 + 3e-3) + 1.5));
    CHECK(times.weight[1] == 0);
}

TEST_CASE("operations by hand: the CPU's time for a micro-batch is spread over chunks and passes") {
    Case c = dense();
    c.plan.virtual_stages = 3, c.k.micro_batch = 0.75;  // a layer and 0.25 s each
    OpTimes times = operations(c, whole_seconds());
    REQUIRE(times.forward.size() == 6);
    const double work = 2.5 + 5.5 + 3e-3;
    CHECK(times.forward[1] == near(2.5 * (1 + 0.25 / work)));
    CHECK(times.backward[1] == near((5.5 + 3e-3) * (1 + 0.25 / work)));
    LayerTimes little;  // in proportion of however little
    little.dense.forward = 0.125, little.dense.backward = 0.5;
    times = operations(c, little);
    CHECK(times.forward[1] == near(0.125 + 0.25 / 5));
    CHECK(times.backward[1] == near(0.5 + 4 * 0.25 / 5));
    // beside transfers in equal parts, and of what a stage waits for them each chunk has its third
    c.plan.activation_offload = 0.5;
    LayerTimes layers = whole_seconds();
    layers.kept = kept_bytes(c.model, c.plan, c.framework());
    const auto waits = Swap<double>(c.model, c.plan, c.hw, c.k).of_stage(Stages(c.model, c.plan).at_rest(0), layers);
    layers.dense.forward = 1e-3;  // hides next to nothing
    const auto longer = Swap<double>(c.model, c.plan, c.hw, c.k).of_stage(Stages(c.model, c.plan).at_rest(0), layers);
    CHECK(waits.forward == 0);
    CHECK(longer.forward > 0.1);
    times = operations(c, layers);
    CHECK(times.forward[1] == near(1e-3 + 0.25 / 3 + longer.forward / 3));
    CHECK(times.backward[1] == near(5.5 + 3e-3 + 2 * 0.25 / 3 + longer.backward / 3));
    // a stage without layers: the CPU's time alone, in three parts, and the embedding
    c = dense();
    c.k.micro_batch = 0.75;
    Problems problems;
    set_notation(c.plan, "E|t*6L", problems);
    REQUIRE(problems.empty());
    times = operations(c, whole_seconds());
    CHECK(times.forward[0] == near(0.25 + 0.5));
    CHECK(times.backward[0] == near(2 * 0.25 + 2 * 0.5));
}

TEST_CASE("operations by hand: traffic of experts that pairs hide, once more where a layer is computed again") {
    Case c = dense();
    c.plan.schedule = ScheduleKind::dualpipe, c.plan.recompute = Recompute::full;
    const OpTimes times = operations(c, whole_seconds());
    REQUIRE(times.forward_traffic.size() == 4);  // two chunks of three layers on each stage, one for each direction
    CHECK(times.forward_traffic[0] == near(3 * 0.1875));
    CHECK(times.backward_traffic[0] == near(3 * 0.3125 + 3 * 0.1875));
    CHECK(times.backward_hidden == times.backward_traffic);  // the CPU takes no time
    LayerTimes layers = whole_seconds();  // where it takes a second, without a second of two a layer takes the fourth root of 1 + 1
    LayerTime& layer = layers.dense;
    layer.host_forward = layer.host_backward = layer.expert_forward = 1, layer.expert_backward = 0.5;
    layer.forward = std::pow(16 + 1, 0.25), layer.backward = std::pow(81 + 1, 0.25);
    const OpTimes slow = operations(c, layers);
    CHECK(slow.forward_hidden[0] == near(3 * (std::pow(17, 0.25) - std::pow(2, 0.25))));
    CHECK(slow.backward_hidden[0] == near(3 * (std::pow(82, 0.25) - std::pow(1.5 * 1.5 * 1.5 * 1.5 + 1, 0.25))));
    CHECK(slow.backward_traffic[0] == near(3 * 1.5));
}

TEST_CASE("operations by hand: a quarter of a send where chunks take turns and sends overlap, and none of one stage") {
    Case c = dense();
    const double send = 2e-3 + 2'880.0 * 4 / 2.5e6;  // two nodes; step_items_test.cpp
    c.plan.overlap_pipeline = true;
    CHECK(operations(c, whole_seconds()).transfer == near(send));  // in 1F1B no chunks take turns
    c.plan.virtual_stages = 3;
    CHECK(operations(c, whole_seconds()).transfer == near(send / 4));
    c.plan.overlap_pipeline = false;
    CHECK(operations(c, whole_seconds()).transfer == near(send));
    c = dense();
    c.plan.pipeline_parallel = 1;
    CHECK(operations(c, whole_seconds()).transfer == 0);
}
