// LoRA in time, worked by hand on the small machine: adapters of rank 4 beside frozen matrices.
#include <doctest/doctest.h>

#include "time/layer_time.h"
#include "time/small_machine.h"

using namespace fourfold;
using namespace fourfold::tests::by_hand;

namespace {

// Bytes of the four matrices, forward or for gradients of their inputs (items_test.cpp); and their values on a GPU.
constexpr double kFrozen = 16'560 + 12'240 + 23'040 + 14'400, kValues = 48 * 50 + 30 * 48 + 48 * 80 + 40 * 48;

Case adapted() {
    Case c = dense();
    c.plan.trained = TrainedPart::lora, c.plan.lora_rank = 4;
    return c;
}

}  // namespace

TEST_CASE("adapters by hand: what they read and write, and how many parameters learn") {
    Case c = adapted();
    // Megatron: queries, keys and values 48 -> 100, projection 60 -> 48, gate and up 48 -> 160, down 80 -> 48: 236 read, 356 written, over
    // t
    CHECK(c.layers().dense.multiply_forward == near((kFrozen + 60 * (2 * 236 + 8 * 356) / 2.0) / kH));
    CHECK(c.layers().dense.multiply_backward == near((kFrozen + 60 * (10 * 236 + 4 * 356) / 2.0) / kH));
    CHECK(c.layers().parameters_dense == 4 * (236 + 356) / 2.0);
    CHECK(c.layers().frozen_dense == 2 * kValues);
    CHECK(dense().layers().frozen_dense == 0);
    c.plan.frozen_weights = FrozenWeights::nf4_single;  // 0.5625 bytes are read and 2 written to unpack a value, in both passes
    CHECK(c.layers().dense.multiply_forward == near((kFrozen + 60 * (2 * 236 + 8 * 356) / 2.0 + 2.5625 * kValues) / kH));
    CHECK(c.layers().dense.multiply_backward == near((kFrozen + 60 * (10 * 236 + 4 * 356) / 2.0 + 2.5625 * kValues) / kH));
    CHECK(c.layers().frozen_dense == 0.5625 * kValues);
}

TEST_CASE("adapters by hand: their multiplications, where memory does not set the pace; and those of experts") {
    Case c = adapted();
    c.hw.memory = 1e15;
    const LayerTime four = c.layers().dense;
    c.plan.lora_rank = 8;  // 4 * 592 / 2 parameters more: two operations a token each, and four in the backward pass, at 5e11
    CHECK(5e11 * (c.layers().dense.multiply_forward - four.multiply_forward) == near(2 * 60 * 1'184, 1e-9));
    CHECK(5e11 * (c.layers().dense.multiply_backward - four.multiply_backward) == near(4 * 60 * 1'184, 1e-9));
    c = adapted();
    c.model.experts = {.count = 4, .per_token = 2, .ffn = 24}, c.model.expert_layers = {1, 1, 1, 1, 1, 1};
    c.plan.expert_parallel = 2;
    // attention as above; one adapter for both experts of a GPU: 48 -> 48 and 24 -> 48
    CHECK(c.layers().parameters_expert == 4 * (108 + 148) / 2.0 + 4 * (72 + 96));
    // 60 copies of tokens over 2 experts: both of their matrices move 10,368 and 6,624 bytes (experts_test.cpp), forward or for gradients
    // of their inputs; beside them the adapters of attention, and of experts for all copies at once
    CHECK(c.layers().expert.multiply_forward ==
          near((16'560 + 12'240 + 2 * (10'368 + 6'624) + 60 * ((2 * 108 + 8 * 148) / 2.0 + 2 * 72 + 8 * 96)) / kH));
    CHECK(c.layers().expert.multiply_backward ==
          near((16'560 + 12'240 + 2 * (10'368 + 6'624) + 60 * ((10 * 108 + 4 * 148) / 2.0 + 10 * 72 + 4 * 96)) / kH));
    CHECK(c.layers().frozen_expert == 2 * (2'400 + 1'440 + 2 * 3 * 48 * 24));
    c.model.experts.shared_ffn = 16;  // 48 -> 32 and 16 -> 48
    CHECK(c.layers().parameters_expert == 4 * (108 + 148) / 2.0 + 4 * (72 + 96) + 4 * (64 + 80) / 2.0);
    c.model.experts.shared_ffn = 0;
    c.plan.framework = FrameworkKind::pytorch;  // queries, keys and values, the projection: 48 -> 60, 20, 20 and 60 -> 48. Each expert has
                                                // its own: 48 -> 24 twice, 24 -> 48
    CHECK(c.layers().parameters_expert == 4 * (204 + 148) / 2.0 + 2 * 4 * (120 + 96));
    const double frozen = 16'560 + 12'240 + 2 * (10'368 + 6'624);
    CHECK(c.layers().expert.multiply_forward == near((frozen + 60 * ((2 * 204 + 8 * 148) / 2.0 + 2 * 120 + 8 * 96)) / kH));
}
