// What layers with linear attention weigh and keep, worked by hand: in four of the six layers, so two thirds of every stage's.
#include <doctest/doctest.h>

#include <cmath>

#include "memory/small_cases.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {

// Keys of 2 * 8 = 16 values, values of 4 * 5 = 20: the first matrix writes 2 * (16 + 20 + 4) = 80, the convolution reads 2 * 16 + 20 = 52.
Case hybrid() {
    Case c = dense();
    c.model.linear = {.key_heads = 2, .value_heads = 4, .key_dim = 8, .value_dim = 5, .taps = 3, .layers = {1, 1, 0, 1, 1, 0}, .count = 4};
    return c;
}

}  // namespace

TEST_CASE("by hand: weights of layers with linear attention") {
    Case c = hybrid();
    // 48 * 80 / 2, 20 * 48 / 2, three taps of 52 and two values for each of 4 heads over 2 GPUs, a norm over 5
    const double linear = 1'920 + 480 + (156 + 8) / 2.0 + 5, full = kQkv + kProjection;
    CHECK(c(Item::weights) == near(2 * (3 * ((full + 2 * linear) / 3 + kNorms + 3 * kMatrix) + kVocabulary)));
    c.model.attention_gate = true;  // 6 heads of 10 more: 48 * 60 / 2
    CHECK(c(Item::weights) == near(2 * (3 * ((full + 1'440 + 2 * linear) / 3 + kNorms + 3 * kMatrix) + kVocabulary)));
}

TEST_CASE("by hand: what layers with linear attention keep") {
    Case c = hybrid();
    const double keeps = dense()(Item::first_backward);
    // of a token and GPU: the convolution's input twice, four times the values, and of 4 heads queries and keys of 8, 64 + 7 others
    CHECK(c(Item::linear_activations) == near(6 * 2.0 / 3 * 2 * 60 / 2 * (2 * 52 + 4 * 20 + 4 * (2 * 8 + 71))));
    CHECK(c(Item::qkv_activations) == near(6 / 3.0 * 2 * 60 * (6 + 2 * 2) * 10 / 2));
    CHECK(c(Item::attention_output) == near(6 / 3.0 * 2 * 60 * 6 * 10 / 2));
    CHECK(c(Item::attention_gate) == -1);
    CHECK(c(Item::norm_outputs) == dense()(Item::norm_outputs));
    // backward: two states of 8 * 5 for each 64 tokens, thrice the keys, of 4 heads; six times 20, twice 52, 80
    const double backward = 2 * 60 / 2 * (4 * (2 * 8 * 5 / 64.0 + 3 * 8) + 6 * 20 + 2 * 52 + 80);
    CHECK(backward > keeps);
    CHECK(c(Item::first_backward) == near(backward));
    c.model.attention_gate = true;  // the gate, and the product
    CHECK(c(Item::attention_gate) == near(6 / 3.0 * 2 * (2 * 60 * 6 * 10 / 2)));
    c.plan.hidden_dropout = true;
    CHECK(c(Item::dropout_masks) == 6 * 2 * 30 * 48);  // of all layers
    c = hybrid();
    c.plan.framework = FrameworkKind::transformers, c.plan.tensor_parallel = 1, c.plan.pipeline_parallel = 1, c.plan.gpus = 1;
    c.plan.zero = Zero::none, c.model.attention_gate = true;
    const double kept = c(Item::linear_activations);  // the convolution's input once, and the sigmoid
    CHECK(kept == near(6 * 2.0 / 3 * 2 * 60 * (52 + 4 * 20 + 4 * (2 * 8 + 71))));
    CHECK(c(Item::attention_gate) == near(6 / 3.0 * 3 * (2 * 60 * 6 * 10)));
}

TEST_CASE("by hand: LitGPT's matrices of 4 bits keep what linear attention reads") {
    Case c = hybrid();
    c.plan.trained = TrainedPart::lora, c.plan.lora_rank = 4, c.plan.lora_targets = lora_query, c.plan.lora_dropout = true;
    c.plan.frozen_weights = FrozenWeights::nf4, c.plan.framework = FrameworkKind::litgpt, c.plan.pipeline_parallel = 1;
    // two layers read 48 and 60 values of a token, four 48 and 20, the feed-forward parts of all six 48 and 80; logits: adapters_test.cpp
    CHECK(c(Item::inputs_before) == near(2 * 60 * (2 * 108 + 4 * 68 + 6 * 128) / 2.0 + (4 + 2 + 4) * 60 * 256 / 2.0));
}

TEST_CASE("by hand: linear attention between the halves of a split backward pass") {
    Case c = hybrid();
    c.plan.schedule = ScheduleKind::zero_bubble_h1, c.stage = 1;
    // q, k, v of (6 + 4) heads and the output of 6, or 80 and 20 values; two norms' worth; the feed-forward part
    const double layer = (2 * 60 * 160 / 2 + 2 * 2 * 60 * 100 / 2) / 3.0 + 4 * 2 * 30 * 48 + 2 * 60 * 80 * 3 / 2.0;
    const double waiting = c(Item::waiting_activations) / layer;  // layers and micro-batches
    CHECK(std::abs(waiting - std::round(waiting)) < 1e-9);
    CHECK(waiting >= 1);
}
