// The time of layers that are a mixer or a feed-forward part alone, worked by hand; what a whole layer takes is worked in items_test.cpp
// and experts_test.cpp, a state space in mixers_test.cpp.
#include <doctest/doctest.h>

#include "model/small_mixers.h"
#include "time/small_machine.h"
#include "time/step_time.h"
#include "time/update.h"

using namespace fourfold;
using namespace fourfold::tests;
using namespace fourfold::tests::by_hand;

namespace {

Case all_routed() {
    Case c = dense();
    c.model.experts = {.count = 4, .per_token = 2, .ffn = 24, .shared_ffn = 0};
    c.model.expert_layers = {1, 1, 1, 1, 1, 1};
    c.plan.expert_parallel = 2;
    return c;
}
// Three of six layers are state spaces, one attention, two feed-forward parts.
Case parts_alone() { return in_parts(dense(), "MM-*M-"); }
// Without experts are four, of which two are state spaces, one attention, one a feed-forward part.
Case parts_routed() { return in_parts(all_routed(), "MEM*E-"); }

// Of 60 tokens with a matrix of so many rows and columns on a GPU.
double matrix_seconds(double rows, double columns) { return (2 * (60 * rows + rows * columns) + 120 * columns) / kH; }
double attention_seconds() { return matrix_seconds(48, 50) + matrix_seconds(30, 48); }
double space_seconds() { return matrix_seconds(48, 38) + matrix_seconds(10, 48); }
double feed_forward_seconds() { return dense().layers().dense.multiply_forward - attention_seconds(); }

}  // namespace

TEST_CASE("by hand: matrices of layers of one part") {
    CHECK(parts_alone().layers().dense.multiply_forward ==
          near(space_seconds() / 2 + attention_seconds() / 6 + feed_forward_seconds() / 3));
    CHECK(parts_alone().layers().parameters_dense == near((1'824 + 480) / 2.0 + (2'400 + 1'440) / 6.0 + 3 * 1'920 / 3.0));
    CHECK(parts_routed().layers().dense.multiply_forward ==
          near(space_seconds() / 2 + attention_seconds() / 4 + feed_forward_seconds() / 4));
    // experts alone
    const LayerTime with_attention = all_routed().layers().expert, alone = parts_routed().layers().expert;
    CHECK(alone.multiply_forward == near(with_attention.multiply_forward - attention_seconds()));
    CHECK(alone.routed_backward == near(with_attention.routed_backward));
    CHECK(alone.expert_forward == near(with_attention.expert_forward));
    CHECK(alone.attention_forward == 0);
    CHECK(alone.attention_backward == 0);
    CHECK(parts_routed().layers().parameters_expert == 2 * 3 * 48 * 24);
    // no dense feed-forward part
    CHECK(in_parts(all_routed(), "MEM*EM").layers().dense.multiply_forward == near(3 * space_seconds() / 4 + attention_seconds() / 4));
    // Muon: of 48 x 76 and 20 x 48; of 48 x 60 and 20 x 48, twice each; three of 48 x 80; four experts' three of 24 x 48
    const auto muon = [](double rows, double columns) { return 5 * (4 * rows * rows * columns + 2 * rows * rows * rows); };
    const double spaces = muon(48, 76) + muon(20, 48), attention = 2 * (muon(48, 60) + muon(20, 48));
    CHECK(muon_flop(parts_alone().model, false) == near(spaces / 2 + attention / 6 + 3 * muon(48, 80) / 3));
    CHECK(muon_flop(parts_routed().model, true) == near(4 * 3 * muon(24, 48)));
}

TEST_CASE("by hand: what stands beside the matrices of layers of one part") {
    const LayerTime whole = dense().layers().dense, part = parts_alone().layers().dense;
    // one norm and one residual of two; attention's rotary positions and copies, 360 values, in a sixth of the layers; 4.5 for each of the
    // 76 that a state space's first matrix writes, in half of them; 3 for each of the 80 of a feed-forward part, in a third
    const double norms = whole.element_forward / (0.9 * 120 / kH) - (360 + 3 * 80) / 2.0;
    CHECK(part.element_forward == near(0.9 * 120 * (norms / 2 + (360 / 6.0 + 4.5 * 76 / 2 + 3 * 80 / 3.0) / 2) / kH));
    CHECK(parts_routed().layers().expert.element_forward == near(0.9 * 120 * (norms / 2 + (3 + 8) * 48 / 2.0) / kH));
    // two exchanges of a tensor-parallel group, in place of four
    CHECK(part.tensor_forward == near(whole.tensor_forward / 2));
    CHECK(parts_routed().layers().expert.tensor_forward == near(whole.tensor_forward / 2));
    // the scan of a state space (mixers_test.cpp)
    const double scan = 40'800 / (780e9 * 10) + 12 * 60 * 2 * 8 * 5 / 10 / kH;
    CHECK(part.attention_forward == near(whole.attention_forward / 6 + scan / 2));
    CHECK(part.attention_backward == near(whole.attention_backward / 6 + 3.2 * scan / 2));
    // the CPU: half of a whole layer's, and half of what a state space takes more
    Case c = parts_alone();
    c.k.host_layer = 1'000, c.k.host_linear = 6;
    CHECK(c.layers().dense.forward == near(503));
    c = parts_routed();
    c.k.host_layer = 1'000, c.k.host_experts = 100, c.k.host_linear = 6;
    CHECK(c.layers().expert.forward == near(600));
}

TEST_CASE("by hand: experts that read a latent") {
    Case c = all_routed();
    c.model.experts.latent = 12;
    const LayerTime whole = all_routed().layers().expert, part = c.layers().expert;
    // 30 tokens of a GPU, 48 to 12 and back, by the bytes that the memory moves; a quarter of what is sent
    CHECK(c.layers().parameters_expert == 4'800 / 2.0 + 2'880 / 2.0 + 2 * 48 * 12 + 2 * 3 * 12 * 24);
    const auto exchanged = [](const LayerTime& layer) { return layer.expert_forward - 2 * 1e-3; };  // without its two latencies
    CHECK(exchanged(part) == near(exchanged(whole) / 4));
    CHECK(part.attention_forward == near(whole.attention_forward));
    const auto muon = [](double rows, double columns) { return 5 * (4 * rows * rows * columns + 2 * rows * rows * rows); };
    CHECK(muon_flop(all_routed().model, true) - muon_flop(c.model, true) == near(4 * 3 * (muon(24, 48) - muon(12, 24)) - 2 * muon(12, 48)));
    const auto flop = [](const Case& of) { return model_flop(of.model, of.plan, FlopConvention::causal) / (6 * 24 * 20); };
    CHECK(flop(all_routed()) - flop(c) == near(6 * (2 * 3 * (48 - 12) * 24.0 - 2 * 48 * 12)));
}

TEST_CASE("by hand: what layers of one part compute again") {
    const auto again = [](Case c, std::uint32_t module) {
        c.plan.recompute = Recompute::selective, c.plan.recompute_modules = module;
        return c.layers();
    };
    const LayerTime kept = parts_alone().layers().dense, routed = parts_routed().layers().expert;
    CHECK(again(parts_alone(), core_attn).dense.recomputed == near(dense().layers().dense.attention_forward / 6));
    // a third of the layers: both matrices, 3 for each of 80 values, both exchanges
    CHECK(again(parts_alone(), mlp).dense.recomputed ==
          near((feed_forward_seconds() + 0.9 * 120 * (3 * 80 / 2) / kH + kept.tensor_forward) / 3));
    // a layer of experts is nothing else
    CHECK(again(parts_routed(), moe).expert.recomputed ==
          near(routed.routed_forward + 0.9 * 120 * (11 * 48 / 2) / kH + routed.expert_forward + routed.tensor_forward));
    CHECK(again(parts_routed(), moe).dense.recomputed == 0);
    // the one norm of a layer of experts; a mixer's is joined to its first matrix
    CHECK(again(parts_routed(), layernorm).expert.recomputed == near(0.9 * 2 * 60 * (2 * 48 / 2) / kH));
    CHECK(again(parts_routed(), layernorm).dense.recomputed == 0);
    Case c = parts_routed();
    c.plan.transformer_engine = Habit::off;
    CHECK(again(c, layernorm).dense.recomputed == near(0.9 * 2 * 60 * (2 * 48 / 2) / kH));
}

TEST_CASE("by hand: adapters of layers of one part in time") {
    const auto adapted = [](Case c) {
        c.plan.trained = TrainedPart::lora, c.plan.lora_rank = 4;
        return c.layers();
    };
    // read and written: of a state space 48 to 76 and 20 to 48, of attention 48 to 100 and 60 to 48, of a feed-forward part 48 to 160 and
    // 80 to 48; forward 2 bytes for each value read and 8 for each one written, over two GPUs
    const double in = 68 / 2.0 + 108 / 6.0 + 128 / 3.0, out = 124 / 2.0 + 148 / 6.0 + 208 / 3.0;
    const LayerTimes alone = adapted(parts_alone());
    CHECK(alone.parameters_dense == near(4 * (in + out) / 2));
    CHECK(alone.frozen_dense == near(2 * ((1'824 + 480) / 2.0 + (2'400 + 1'440) / 6.0 + 3 * 1'920 / 3.0)));
    CHECK(alone.dense.multiply_forward ==
          near(space_seconds() / 2 + attention_seconds() / 6 + feed_forward_seconds() / 3 + 60 * (2 * in + 8 * out) / 2 / kH));
    // one adapter for both experts of a GPU, 48 to 48 and 24 to 48, which 60 copies of tokens pass
    const LayerTimes routed = adapted(parts_routed());
    CHECK(routed.parameters_expert == 4 * (72 + 96));
    CHECK(routed.frozen_expert == 2 * 2 * 3 * 48 * 24);
    CHECK(routed.expert.multiply_forward == near(parts_routed().layers().expert.routed_forward + 60 * (2 * 72 + 8 * 96) / kH));
}

TEST_CASE("by hand: operations of a step with layers of one part") {
    // of a token: attention's 48 * (6 + 4) * 10 and 60 * 48, and 10 tokens it attends to of 2 * 60; a state space's 48 * (76 + 20), three
    // taps of 52, 20 values into 8 and out of them; three matrices of 48 * 80; two experts of three of 48 * 24; logits of 48 * 256
    const double attention = 4'800 + 2'880 + 10 * 120, space = 4'608 + 156 + 320, feed_forward = 11'520, expert = 2 * 3'456,
                 logits = 12'288;
    const auto flop = [](const Case& c) { return model_flop(c.model, c.plan, FlopConvention::causal) / (6 * 24 * 20); };
    CHECK(flop(parts_alone()) == near(3 * space + attention + 2 * feed_forward + logits));
    CHECK(flop(parts_routed()) == near(2 * space + attention + feed_forward + 2 * expert + logits));
    Case c = parts_routed();
    c.plan.recompute = Recompute::full;
    CHECK(recomputed_flop(c.model, c.plan) / (2 * 24 * 20) ==
          near(2 * space + attention + 10 * 120 + feed_forward + 2 * expert));  // every score, whatever the mask hides
}
