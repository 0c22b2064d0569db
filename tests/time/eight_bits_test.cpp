// What multiplications in 8 bits need besides: casts of what they read. By hand, on the machine of small_machine.h.
#include <doctest/doctest.h>

#include "time/small_machine.h"

using namespace fourfold;
using namespace fourfold::tests::by_hand;

TEST_CASE("by hand: what 8 bits are multiplied from is cast before, and transposed") {
    Case c = dense();
    const LayerTimes before = c.layers();
    c.hw.multiplies_in_8_bits = true;
    // forward, 4 bytes for each of the 60 tokens' inputs; of what two GPUs gather, (60 + 30) / 2 tokens: q, k, v and widening 48 wide
    constexpr double kInputs = 4 * (45 * 48 + 60 * 30 + 45 * 48 + 60 * 40);
    // gradients of outputs; those of the output and of narrowing are gathered
    constexpr double kOutputs = 4 * (60 * 50 + 45 * 48 + 60 * 80 + 45 * 48);
    CHECK(c.layers().dense.multiply_forward == near(before.dense.multiply_forward + kInputs / kH));
    CHECK(c.layers().dense.multiply_backward == near(before.dense.multiply_backward + kOutputs / kH));
    CHECK(c.layers().head == before.head);  // stays in 16
    c.plan.sequence_parallel = false;
    CHECK(c.layers().dense.multiply_forward == near(before.dense.multiply_forward + 4 * 60 * (48 + 30 + 48 + 40) / kH));
}

TEST_CASE("by hand: without copies in 8 bits each pass casts the weights, and reads them twice for that") {
    Case c = dense();
    c.plan.framework = FrameworkKind::pytorch;
    const LayerTimes before = c.layers();
    c.plan.precision = Precision::fp8;
    const double each = (2 + 2 + 1) * before.parameters_dense / kH;  // their largest is sought first
    CHECK(c.layers().dense.element_forward == near(before.dense.element_forward + each));
    CHECK(c.layers().dense.element_backward == near(before.dense.element_backward + each));
    c.plan.transformer_engine = Habit::on;  // keeps both layouts from one update to the next
    const double kept = c.layers().dense.element_forward;
    c.plan.precision = Precision::fp8_weights;
    CHECK(c.layers().dense.element_forward == kept);
    c.plan.transformer_engine = Habit::off;  // gathered in 8 bits
    CHECK(c.layers().dense.element_forward == before.dense.element_forward);
}
