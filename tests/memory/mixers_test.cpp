// What layers with a state space or Kimi's delta attention weigh and keep, worked by hand.
#include <doctest/doctest.h>

#include <cmath>

#include "memory/small_cases.h"
#include "model/small_mixers.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {

Case with_mixer(Mixer kind) {
    Case c = dense();
    c.model.linear = small_mixer(kind);
    return c;
}
Case mamba() { return with_mixer(Mixer::mamba); }
Case kimi() { return with_mixer(Mixer::kimi); }
Case on_one(Case c) {
    c.plan.framework = FrameworkKind::transformers, c.plan.tensor_parallel = 1, c.plan.pipeline_parallel = 1, c.plan.gpus = 1;
    c.plan.zero = Zero::none;
    return c;
}

}  // namespace

TEST_CASE("by hand: weights of layers with a state space or Kimi's delta attention") {
    const auto weights = [](double linear) {
        return near(2 * (3 * ((kQkv + kProjection + 2 * linear) / 3 + kNorms + 3 * kMatrix) + kVocabulary));
    };
    // 48 * 76 / 2, 20 * 48 / 2; over 2 GPUs three taps and a bias of 52, three numbers for each of 4 heads, a norm over 20
    CHECK(mamba()(Item::weights) == weights(1'824 + 480 + (4 * 52 + 12 + 20) / 2.0));
    Case plain = mamba();
    plain.model.linear.bias = false;
    CHECK(plain(Item::weights) == weights(1'824 + 480 + (3 * 52 + 12 + 20) / 2.0));
    // 48 * 98 / 2, 20 * 48 / 2; gates from 5 values to 32 and 20; three taps of 84, a factor for each of 4 heads and a bias for each of
    // their 8 values; a norm over 5
    CHECK(kimi()(Item::weights) == weights(2'352 + 480 + 5 * 52 / 2.0 + (3 * 84 + 4 * 9) / 2.0 + 5));
    CHECK(parameter_count(mamba().model) - parameter_count(dense().model) ==
          4 * (48 * 76 + 48 * 20 + 4 * 52 + 12 + 20 - 48 * (6 + 4) * 10 - 60 * 48));
}

TEST_CASE("by hand: attention and a state space side by side") {
    // as above without the norm over 20, beside attention
    CHECK(beside(dense())(Item::weights) ==
          near(2 * (3 * (kQkv + kProjection + 1'824 + 480 + (4 * 52 + 12) / 2.0 + kNorms + 3 * kMatrix) + kVocabulary)));
    CHECK(parameter_count(beside(dense()).model) - parameter_count(dense().model) == 6 * (48 * 76 + 48 * 20 + 4 * 52 + 12));
    for (const Item item : {Item::qkv_activations, Item::attention_output, Item::norm_activations})
        CHECK(beside(dense())(item) == near(dense()(item)));
    CHECK(beside(dense())(Item::linear_activations) == near(6 * 2 * 60 / 2 * (76 + 3 * 20)));
}

TEST_CASE("by hand: convolutions in the place of attention") {
    const Case c = with_mixer(Mixer::convolution);
    // 48 * 144 / 2 and 48 * 48 / 2, three taps of 48 over 2 GPUs
    const double own = 3'456 + 1'152 + 3 * 48 / 2.0;
    CHECK(c(Item::weights) == near(2 * (3 * ((kQkv + kProjection + 2 * own) / 3 + kNorms + 3 * kMatrix) + kVocabulary)));
    CHECK(parameter_count(c.model) - parameter_count(dense().model) == 4 * (48 * 144 + 48 * 48 + 3 * 48 - 48 * (6 + 4) * 10 - 60 * 48));
    // both gates, what the convolution reads and writes, what the last matrix reads; whatever the framework
    CHECK(c(Item::linear_activations) == near(6 * 2.0 / 3 * 2 * 60 / 2 * (144 + 3 * 48)));
    CHECK(on_one(c)(Item::linear_activations) == near(6 * 2.0 / 3 * 2 * 60 * (144 + 3 * 48)));
    CHECK(c(Item::qkv_activations) == near(dense()(Item::qkv_activations) / 3));
    Case wide = c;
    wide.model.linear.value_dim = 16;  // so that it is what counts: their gradients
    CHECK(wide(Item::first_backward) == near(2 * 60 / 2 * (288 + 3 * 96)));
}

TEST_CASE("by hand: what layers with a state space keep") {
    // of a token and GPU of two: what the first matrix writes, the scan's output, the norm's input, the last matrix' input
    CHECK(mamba()(Item::linear_activations) == near(6 * 2.0 / 3 * 2 * 60 / 2 * (76 + 3 * 20)));
    CHECK(mamba()(Item::qkv_activations) == near(6 / 3.0 * 2 * 60 * (6 + 2 * 2) * 10 / 2));
    // transformers: norm and last matrix are within the kernel, and computed again
    CHECK(on_one(mamba())(Item::linear_activations) == near(6 * 2.0 / 3 * 2 * 60 * (76 + 20)));
    // backward: of 4 heads 12 bytes for each of 8 * 5 values of a state of 10 tokens, and of a group of two 10 products in 32 bits; three
    // times 20, twice 52, 76
    Case c = mamba();
    c.model.linear.chunk = 1;  // so that it is what counts
    CHECK(c(Item::first_backward) == near(2 * 60 / 2 * (4 * (6 * 8 * 5 / 1.0 + 2 * 1 / 2.0) + 3 * 20 + 2 * 52 + 76)));
}

TEST_CASE("by hand: what layers with Kimi's delta attention keep") {
    // of a token and GPU of two: the convolutions' input twice, four times the values; of 4 heads queries, keys and decay of 8, two
    // products of 64, 6 others; on each GPU the insides of both gates
    CHECK(kimi()(Item::linear_activations) ==
          near(6 * 2.0 / 3 * (2 * 60 / 2 * (2 * 84 + 4 * 20 + 4 * (3 * 8 + 2 * 64 + 6)) + 2 * 60 * 2 * 5)));
    CHECK(on_one(kimi())(Item::linear_activations) ==
          near(6 * 2.0 / 3 * (2 * 60 * (84 + 4 * 20 + 4 * (3 * 8 + 2 * 64 + 6)) + 2 * 60 * 2 * 5)));
    // backward, of 4 heads: two states of 8 * 5 for each 64 tokens, eleven keys, six values, both products in 32 bits
    CHECK(kimi()(Item::first_backward) == near(2 * 60 / 2 * 4 * (2 * 8 * 5 / 64.0 + 11 * 8 + 6 * 5 + 4 * 64)));
}

TEST_CASE("by hand: mixers between the halves of a split backward pass") {
    // q, k, v of (6 + 4) heads and the output of 6; or what a state space's matrices pass on, 76 + 20; or Kimi's, with the gates' 32 + 20
    for (const auto& [hybrid, passed] : {std::pair{mamba(), 96.0}, std::pair{kimi(), 98.0 + 20 + 52}}) {
        Case c = hybrid;
        c.plan.schedule = ScheduleKind::zero_bubble_h1, c.stage = 1;
        const double layer = (2 * 60 * 160 / 2 + 2 * 2 * 60 * passed / 2) / 3.0 + 4 * 2 * 30 * 48 + 2 * 60 * 80 * 3 / 2.0;
        const double waiting = c(Item::waiting_activations) / layer;
        CHECK(std::abs(waiting - std::round(waiting)) < 1e-9);
        CHECK(waiting >= 1);
    }
}
