// Activations that go to the host and come back beneath the passes; heads that are swapped for parts of a sequence: by hand, and laws.
#include "time/swap.h"
#include "model/catalog.h"

#include <doctest/doctest.h>

#include <cmath>

#include "random_cases.h"
#include "time/small_machine.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {

by_hand::Case small() {
    by_hand::Case c = by_hand::dense();  // a stage: three of the six layers
    c.plan.framework = FrameworkKind::megatron_2024;
    c.plan.activation_offload = 0.5;
    return c;
}
constexpr double kKept = 36'480;  // bytes of a layer (memory/activation_offload_test.cpp)

struct Waits {
    double forward, backward, weight;
};
Waits waits(const by_hand::Case& c, double layer_forward, double layer_backward, double parameters = 0, double exchange = 0) {
    LayerTimes layers;
    layers.kept = kept_bytes(c.model, c.plan, c.framework());
    layers.parameters_dense = parameters;
    layers.dense.forward = layer_forward, layers.dense.backward = layer_backward, layers.dense.recomputed = layer_forward;
    layers.dense.expert_backward = exchange;
    const auto all = Swap<double>(c.model, c.plan, c.hw, c.k).of_stage(Stages(c.model, c.plan).at_rest(0), layers);
    return {all.forward, all.backward, all.weight};
}

}  // namespace

TEST_CASE("by hand: what the passes do not hide of activations on their way to the host") {
    by_hand::Case c = small();
    // half of three layers' 36,480 bytes at 0.8 * 1e5 byte/s
    const double way = 0.5 * 3 * kKept / 8e4;
    CHECK(way == near(0.684));
    const Waits slow = waits(c, 0.1, 0.2);  // passes of 0.3 and 0.6 s
    CHECK(slow.forward == near(way - 0.3));
    CHECK(slow.backward == near(way - 0.6));
    CHECK(slow.weight == 0);
    const Waits hidden = waits(c, 0.25, 0.5);
    CHECK(hidden.forward == 0);
    CHECK(hidden.backward == 0);
}

TEST_CASE("by hand: weights that each pass brings from the host") {
    by_hand::Case c = small();
    c.plan.zero = Zero::weights, c.plan.weights_offload = true;
    // two copies share three layers of 8,000 parameters: 24,000 bytes at 0.8 * 1e5 byte/s; activations leave in the other direction
    const double in = 0.3, out = 0.684;
    Waits w = waits(c, 0.1, 0.2, 8'000);
    CHECK(w.forward == near(out - 0.3));
    CHECK(w.backward == near(out + in - 0.6));
    c.plan.activation_offload = 0;
    w = waits(c, 0.05, 0.05, 8'000);
    CHECK(w.forward == near(in - 0.15));
    CHECK(w.backward == near(in - 0.15));
    c.plan.zero = Zero::optimizer;  // not shared out: they are there
    w = waits(c, 0.05, 0.05, 8'000);
    CHECK(w.forward == 0);
    CHECK(w.backward == 0);
}

TEST_CASE("by hand: weights of one layer of either kind") {
    by_hand::Case c = small();
    c.model.layers = 4, c.model.expert_layers = {0, 1, 0, 1};
    c.model.experts = {.count = 4, .per_token = 2, .ffn = 24};
    c.plan.zero = Zero::weights, c.plan.weights_offload = true, c.plan.activation_offload = 0;
    LayerTimes layers;
    layers.parameters_dense = 8'000, layers.parameters_expert = 4'000;
    layers.dense.forward = 0.05, layers.expert.forward = 0.02;
    // two copies share 12,000 parameters: 12,000 bytes at 8e4 byte/s; passes of 0.07 s
    const auto all = Swap<double>(c.model, c.plan, c.hw, c.k).of_stage(Stages(c.model, c.plan).at_rest(0), layers);
    CHECK(all.forward == near(0.15 - 0.07));
    CHECK(all.backward == near(0.15));  // nothing hides it
}

TEST_CASE("by hand: layers that are computed again hide more and send less") {
    by_hand::Case c = small();
    c.plan.recompute = Recompute::block;  // one of three: 2 * 30 * 48 bytes in place of 36,480
    const double way = 0.5 * (2 * kKept + 2'880) / 8e4;
    const Waits w = waits(c, 0.05, 0.1);
    CHECK(w.forward == near(way - 0.15));
    CHECK(w.backward == near(way - 0.3 - 0.05));
}

TEST_CASE("by hand: either half of a split backward pass waits for its part") {
    by_hand::Case c = small();
    c.plan.schedule = ScheduleKind::zero_bubble_h1;
    // backward 0.6 s, of it 0.3 s computed again: halves of 0.45 and 0.15 s, each of 0.342 s of transfers
    const Waits w = waits(c, 0.1, 0.2);
    CHECK(w.backward == 0);
    CHECK(w.weight == near(0.342 - 0.15));
    // shorter layers: of 0.3 s 0.15 are computed again, so that either half of the way, 0.342, is longer than its pass
    const Waits shorter = waits(c, 0.05, 0.1);
    CHECK(shorter.backward == near(0.342 - (0.3 + 0.15) / 2));
    CHECK(shorter.weight == near(0.342 - (0.3 - 0.15) / 2));
    // of the 0.3 s also 3 * 0.02 = 0.06 are traffic of experts, which the half with the input's gradient has: 0.15 + 0.06 = 0.21
    const Waits sends = waits(c, 0.05, 0.1, 0, 0.02);
    CHECK(sends.backward == near(0.342 - (0.3 + 0.21) / 2));
    CHECK(sends.weight == near(0.342 - (0.3 - 0.21) / 2));
}

TEST_CASE("law: more on the host never makes a step faster; a link without end hides it all") {
    Random random(62);
    const Gpu& gpu = *catalog().gpu("h100-sxm-80gb");
    for (int i = 0; i < (kSlowBuild ? 50 : 500); ++i) {
        const Model model = random_model(random);
        Plan plan = random_legal_plan(random, model);
        plan.activation_offload = 0;
        if (is_played(plan)) continue;  // host time is shared out otherwise there (op_times.cpp)
        const Framework framework = framework_of(model, plan, gpu);
        Machine machine = machine_of(gpu, nullptr, plan);
        const Timing timing = timing_of(machine, nullptr, plan, framework.attention);
        const auto seconds = [&](double part) {
            plan.activation_offload = part;
            return step_time<double>(model, plan, framework, machine, timing, layer_times(model, plan, framework, machine, timing)).seconds;
        };
        double before = seconds(0);
        for (const double part : {0.25, 0.5, 1.0}) {
            const double now = seconds(part);
            CHECK(now >= before * (1 - 1e-12));
            before = now;
        }
        machine.host = 1e30;
        CHECK(seconds(1) == near(seconds(0)));
    }
}

TEST_CASE("by hand: layers say what they keep where some of it goes to the host, and only there") {
    by_hand::Case c = small();
    CHECK(c.layers().kept.dense == kKept);
    c.plan.activation_offload = 1;
    CHECK(c.layers().kept.dense == kKept);
    c.plan.activation_offload = 0;
    CHECK(c.layers().kept.dense == 0);
}

TEST_CASE("by hand: four all-to-alls in place of a ring") {
    by_hand::Case c = by_hand::dense();
    c.plan.tensor_parallel = 1, c.plan.context_parallel = 2, c.plan.context_parallel_kind = ContextKind::all_to_all;
    // 30 tokens; queries and output of 6 heads, keys and values of 2: 2 * (6 + 2) * 10 values of 2 bytes. Half of it leaves the GPU.
    const double bytes = 2 * 30 * 160.0;
    LayerTime layer = c.layers().dense;
    CHECK(layer.context_forward == near(4 * 1e-3 + bytes / 2 / (0.75 * 0.5 * 2e6)));
    CHECK(layer.context_backward == layer.context_forward);
    by_hand::Case latent = c;  // of 6 heads queries and keys of 7 + 4, values and output of 9
    latent.model.latent = {.q_rank = 14, .kv_rank = 18, .nope_dim = 7, .rope_dim = 4, .value_dim = 9};
    CHECK(latent.layers().dense.context_forward == near(4 * 1e-3 + 2 * 30 * 6 * 2 * (7 + 4 + 9.0) / 2 / (0.75 * 0.5 * 2e6)));
    // Over two nodes: 8 GPUs of 8 heads, of which each needs a KV head; half of the bytes cross the network, which four GPUs share.
    c.model.heads = 8, c.plan.context_parallel = 8, c.plan.gpus = 16, c.plan.sequence_length = 80, c.plan.global_batch = 12;
    layer = c.layers().dense;
    const double more = 2 * 30 * (2 * (8 + 8) * 10.0);
    CHECK(layer.context_forward == near(4 * 2e-3 + more / 2 * 4 / (0.75 * 0.4 * 5e6)));
    // Over four nodes: three quarters cross. On a network without end the links inside a node are slower: a quarter stays there, less a
    // GPU's own sixteenth.
    c.model.heads = 16, c.plan.context_parallel = 16, c.plan.gpus = 32, c.plan.sequence_length = 160;
    const double most = 2 * 30 * (2 * (16 + 16) * 10.0);
    CHECK(c.layers().dense.context_forward == near(4 * 2e-3 + most * 3 / 4 * 4 / (0.75 * 0.4 * 5e6)));
    c.hw.node = 5e12;
    CHECK(c.layers().dense.context_forward == near(4 * 2e-3 + most * 3 / 16 / (0.75 * 0.5 * 2e6)));
}
