// What GPUs with the same weights send each other, worked by hand (time/small_machine.h): nodes of 4 GPUs.
#include <doctest/doctest.h>

#include <array>

#include "time/data_traffic.h"
#include "time/small_machine.h"

using namespace fourfold;
using namespace fourfold::tests::by_hand;

namespace {

DataCollective sent(const Case& c) { return data_collective_parts(c.plan, c.hw, c.k, 1'000); }

// Of gradients of 1,000 bytes, `experts` of them of experts.
std::array<DataCollective, 4> flows(const Case& c, double experts = 0) {
    const Cost<double> cost(c.hw, c.k);
    const double each = gradient_bytes(c.plan);
    return DataTraffic<double>(c.plan, c.hw, cost).flows({.reductions = 1}, {.parameters = 1'000 / each, .experts = experts / each});
}

// Seconds of data-parallel traffic that no pass hides, with layers of 1,000 parameters.
double exposed(Case c, TimeItem which = TimeItem::data_traffic) {
    c.plan.overlap_gradients = c.plan.overlap_parameters = false;
    LayerTimes layers;
    layers.parameters_dense = 1'000;
    const StepTime<double> step = step_time<double>(c.model, c.plan, c.framework(), c.hw, c.k, layers);
    return step.items[static_cast<std::size_t>(which)];
}
constexpr double kLatency = 8 * 2e-3;  // of two nodes, and at least

}  // namespace

TEST_CASE("copies by hand: inside a node and across") {
    Case c = dense();  // 8 GPUs, t = 2, p = 2: two copies in one node
    CHECK(sent(c).inside_bytes == 500);
    CHECK(sent(c).inside == near(500 / 1e6));
    CHECK(sent(c).across == 0);
    CHECK(sent(c).fixed == near(kLatency));
    c.plan.tensor_parallel = 4, c.plan.pipeline_parallel = 1;  // a node each: all four GPUs send half of it at once
    CHECK(sent(c).inside_bytes == 0);
    CHECK(sent(c).across == near(2'000));
    c.plan.gpus = 4;  // one copy
    CHECK(sent(c).fixed == 0);
    c = dense();
    c.plan.gpus = 64;  // 16 copies on 8 nodes of 2: 7 eighths, twice; three doublings
    CHECK(sent(c).across == near(1'000 * 2 * 7 / 8.0));
    CHECK(sent(c).fixed == near(3 * kLatency));
}

TEST_CASE("copies by hand: bridges join two neighbours") {
    Case c = dense();
    c.hw.topology = Topology::bridges;
    c.plan.pipeline_parallel = 1, c.plan.gpus = 4;  // t = 2: two copies, whose GPUs lie two apart
    CHECK(sent(c).inside == near(500 / (0.5 * 1e5)));
    c.plan.tensor_parallel = 1, c.plan.gpus = 2;  // neighbours
    CHECK(sent(c).inside == near(500 / 1e6));
    c.plan.gpus = 4;
    CHECK(sent(c).inside == near(750 / (0.5 * 1e5)));
}

TEST_CASE("copies by hand: a pipeline of two directions holds every layer twice") {
    Case c = dense();
    c.plan.schedule = ScheduleKind::dualpipe;  // four copies; the other direction's lie on the other stage, in the other node
    CHECK(sent(c).inside_bytes == 500);
    CHECK(sent(c).across == near(1'000 * 2 / 2.0));
    CHECK(sent(c).fixed == near(kLatency));
    c.hw.gpus_per_node = 8;  // all in one node
    CHECK(sent(c).inside_bytes == 750);
    CHECK(sent(c).across == 0);
}

TEST_CASE("copies by hand: a pipeline of two directions holds every expert twice, too") {
    Case c = dense();
    c.model.experts = {.count = 16, .per_token = 2, .ffn = 24};
    c.plan.tensor_parallel = 1, c.plan.expert_tensor_parallel = 1, c.plan.expert_parallel = 2;  // 8 GPUs, p = 2: 4 a stage
    c.hw.gpus_per_node = 8;
    CHECK(flows(c, 400)[2].inside_bytes == near(400 * 1 / 2.0));  // each expert on 4 / 2 GPUs
    c.plan.schedule = ScheduleKind::dualpipe;
    CHECK(flows(c, 400)[2].inside_bytes == near(400 * 3 / 4.0));  // on 8 / 2
}

TEST_CASE("copies by hand: reductions and gatherings of either pass") {
    Case c = dense();
    const auto count = [&](Zero zero) {
        c.plan.zero = zero;
        const auto [first, second, third] = data_messages(c.plan);
        CHECK(third.reductions + third.gatherings == 0);
        return std::array{first.reductions, first.gatherings, second.reductions, second.gatherings};
    };
    CHECK(count(Zero::none) == std::array{2, 0, 0, 0});       // an all-reduce: a reduction, and its result to all
    CHECK(count(Zero::optimizer) == std::array{1, 0, 0, 1});  // each updates its share, whose weights the others need
    CHECK(count(Zero::weights) == std::array{0, 1, 1, 1});    // weights for either pass, gradients after the second
    // Transformers recomputes around units of FSDP's first version, which gather twice in the backward pass, and send after the last one
    c.plan.framework = FrameworkKind::transformers, c.plan.fully_shard = Habit::off, c.plan.recompute = Recompute::full;
    const auto gathered = [&] {
        const auto [forward, backward, last] = data_messages(c.plan);
        CHECK(forward.gatherings == 1);
        return std::array{backward.gatherings, last.gatherings, last.reductions};
    };
    CHECK(gathered() == std::array{2, 2, 1});
    c.plan.recompute = Recompute::none;
    CHECK(gathered() == std::array{1, 1, 1});
    c.plan.recompute = Recompute::full, c.plan.fully_shard = Habit::automatic;  // the second version knows which pass it is
    CHECK(gathered() == std::array{1, 1, 1});
    c.plan.fully_shard = Habit::off, c.plan.sync_each_micro_batch = Habit::on;  // DeepSpeed keeps what it needs again at once
    CHECK(gathered() == std::array{1, 0, 0});
}

TEST_CASE("copies by hand: seconds of a step") {
    Case c = dense();
    c.plan.tensor_parallel = 4, c.plan.pipeline_parallel = 1;
    // six layers, embedding and head of 512 / 4 * 48 each: 18,288 parameters. Gradients of 4 bytes, then weights of 2
    const double P = 6'000 + 2 * 6'144, across = 4 * 0.5 / (0.4 * 5e6);
    CHECK(exposed(c) == near((4 + 2) * P * across + 2 * kLatency));
    c.k.shard_latency = 0.01;  // six layers, two copies
    CHECK(exposed(c) == near((4 + 2) * P * across + 2 * kLatency + 0.01 * 6 * 2));
    c.k.bucket_latency = 0.5;  // of all-reduces alone
    CHECK(exposed(c) == near((4 + 2) * P * across + 2 * kLatency + 0.01 * 6 * 2));
    c.plan.zero = Zero::none;  // an all-reduce of 4 bytes is two passes; 2 bytes a parameter fill buckets of 25 MiB
    CHECK(exposed(c) == near(2 * 4 * P * across + 2 * kLatency + 0.5 * 2 * P / (25.0 * 1'024 * 1'024)));
    c.plan.tensor_parallel = 2, c.plan.gpus = 4;  // one node: no buckets wait. Embedding and head 256 / 2 * 48
    CHECK(exposed(c) == near(2 * (4 * P / 2 / 1e6 + kLatency)));
    c.plan.zero = Zero::weights, c.k.shard_latency = 0;  // every micro-batch, 24 / (3 * 2) = 4: gathered twice
    CHECK(exposed(c) == 0);
    CHECK(exposed(c, TimeItem::weight_traffic) == near(4 * ((4 + 2 * 2) * P / 2 / 1e6 + 3 * kLatency)));
    c.plan.trained = TrainedPart::lora;  // frozen embedding and head of 2 bytes are gathered with what learns
    CHECK(exposed(c, TimeItem::weight_traffic) == near(4 * ((4 * 6'000 + 2 * (2 * 6'000 + 2 * 2 * 6'144.0)) / 2 / 1e6 + 3 * kLatency)));
}

TEST_CASE("copies by hand: shards in several copies (HSDP)") {
    Case c = dense();
    c.plan.tensor_parallel = 2, c.plan.pipeline_parallel = 1, c.plan.gpus = 8, c.plan.zero = Zero::weights;
    c.plan.shard_replicas = 2;  // two nodes, a copy in each: two GPUs share it; each adds up its half with its peer in the other node
    CHECK(sent(c).inside_bytes == 500);
    CHECK(sent(c).across == 0);
    DataCollective replicas = flows(c)[1];
    CHECK(replicas.inside_bytes == 0);
    CHECK(replicas.across ==
          near(2 * 500 * 4 / 2.0));  // an all-reduce of half the bytes by four GPUs of a node, each with half of its shares
    CHECK(replicas.fixed == near(2 * kLatency));
    // 24 / (3 * 4) = 2 micro-batches: weights twice, gradients once and between the copies
    const double P = 6'000 + 2 * 6'144;
    CHECK(exposed(c, TimeItem::weight_traffic) ==
          near(2 * ((4 + 2 * 2) * P / 2 / 1e6 + 3 * kLatency + 2 * (4 * P / 2 * 4 / 2 / (0.4 * 5e6) + kLatency))));
    c.plan.zero = Zero::none;  // nothing is shared out: one all-reduce of all four
    CHECK(sent(c).across == near(1'000 * 2 / 2.0));
    CHECK(flows(c)[1].across == 0);
    c.plan.zero = Zero::optimizer, c.plan.tensor_parallel = 1;  // copies of four GPUs, a node each
    CHECK(sent(c).inside_bytes == 750);
    c.plan.shard_replicas = 4;  // copies of two GPUs, two in a node
    replicas = flows(c)[1];
    CHECK(sent(c).inside_bytes == 500);
    CHECK(replicas.inside_bytes == near(2 * 500 / 2.0));
    CHECK(replicas.across == near(2 * 500 * 2 / 2.0));
}

TEST_CASE("copies by hand: fewer GPUs hold the same experts, and these lie further apart") {
    Case c = dense();
    c.model.experts = {.count = 16, .per_token = 2, .ffn = 24};
    c.plan.tensor_parallel = 1, c.plan.pipeline_parallel = 1, c.plan.gpus = 16, c.plan.expert_tensor_parallel = 1;
    c.plan.expert_parallel = 4;  // a node: each expert once in each of the four nodes
    const auto [all, copies, experts, expert_copies] = flows(c, 400);
    CHECK(all.inside_bytes == near(600 * 3 / 4.0));
    CHECK(all.across == near(600 * 3 / 4.0));  // four in a node, which is one group's
    CHECK(copies.across == 0);
    CHECK(experts.inside_bytes == 0);
    CHECK(experts.across == near(400 * 4 * 3 / 4.0));  // four groups share the network of a node
    CHECK(experts.fixed == near(2 * kLatency));
    CHECK(expert_copies.across == 0);
    c.plan.expert_parallel = 2;  // every node has each expert twice
    CHECK(flows(c, 400)[2].inside_bytes == near(400 / 2.0 * 1));
    c.plan.expert_parallel = 16;  // nobody holds the same ones
    CHECK(flows(c, 400)[2].across == 0);
    CHECK(flows(c, 400)[2].fixed == 0);
    c.plan.expert_parallel = 1;  // sent with the rest
    CHECK(flows(c, 400)[0].inside_bytes == near(1'000 * 3 / 4.0));
    CHECK(flows(c, 400)[2].inside_bytes == 0);
}

TEST_CASE("copies by hand: gradients after every micro-batch, or once") {
    Case c = dense();
    c.plan.tensor_parallel = 2, c.plan.pipeline_parallel = 1, c.plan.gpus = 4;  // two copies in one node, 4 micro-batches
    const double P = 6'000 + 2 * 6'144;
    const auto once = [&](double bytes) { return bytes * P / 2 / 1e6 + kLatency; };
    c.plan.zero = Zero::gradients;  // gradients of 4 bytes each time, weights once
    CHECK(exposed(c, TimeItem::weight_traffic) == near(4 * once(4)));
    CHECK(exposed(c) == near(once(2)));
    c.plan.sync_each_micro_batch = Habit::off;
    CHECK(exposed(c, TimeItem::weight_traffic) == 0);
    CHECK(exposed(c) == near(once(4) + once(2)));
    c.plan.fully_shard = Habit::on;  // weights are shared out after each backward pass
    CHECK(exposed(c, TimeItem::weight_traffic) == near(4 * once(2)));
    CHECK(exposed(c) == near(once(4)));
    c.plan.zero = Zero::weights;  // before each pass; the last backward pass sends both
    CHECK(exposed(c, TimeItem::weight_traffic) == near((4 + 3) * once(2)));
    CHECK(exposed(c) == near(once(2) + once(4)));
    c.plan.global_batch = 6;  // one micro-batch: nothing is added up
    CHECK(exposed(c, TimeItem::weight_traffic) == near(2 * once(2) + once(4)));
    CHECK(exposed(c) == 0);
}

TEST_CASE("copies by hand: a pipeline of two directions that is too long to be played fills and drains half as long") {
    Case c = dense();
    c.model.layers = 50;
    c.plan.schedule = ScheduleKind::dualpipe, c.plan.pipeline_parallel = 50, c.plan.gpus = 200, c.plan.global_batch = 600;
    LayerTimes layers;
    layers.dense.forward = 1, layers.dense.backward = 2, layers.head = 4, layers.embedding = 2;
    // a stage works on a micro-batch of each direction, on one layer each: 6 s; the ends of both lie on the first and the last stage: 12 s.
    // Together 48 * 6 + 2 * 12 = 312 s
    const StepTime<double> step = step_time<double>(c.model, c.plan, c.framework(), c.hw, c.k, layers);
    CHECK(step.items[static_cast<std::size_t>(TimeItem::bubble)] == near((312 - 12) / 2.0));
}

TEST_CASE("copies by hand: over PCIe what leaves a node waits for what stays in it") {
    Case c = dense();
    c.plan.pipeline_parallel = 1, c.plan.tensor_parallel = 1;  // 8 copies on two nodes of 4
    const DataCollective beneath = sent(c);
    CHECK(beneath.inside == near(750 / 1e6));
    CHECK(beneath.before == 0);
    c.hw.over_pcie = true;
    CHECK(sent(c).inside == 0);
    CHECK(sent(c).before == near(750 / 1e6));
    CHECK(sent(c).across == beneath.across);
    const Cost<double> on(c.hw, c.k);
    const double across = 4'000 / 2 / (0.4 * 5e6);  // 4 bytes each
    CHECK(DataTraffic<double>(c.plan, c.hw, on).exposed({.parameters = 1'000}, 0, 0).once ==
          near((3'000 / 1e6 + across + kLatency) + (1'500 / 1e6 + across / 2 + kLatency)));
}
