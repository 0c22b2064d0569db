// What the search calls below every plan is below, by hand (time/small_machine.h).
#include "search/bounds.h"

#include <doctest/doctest.h>

#include "time/small_machine.h"

using namespace fourfold;
using namespace fourfold::tests::by_hand;

TEST_CASE("bounds: experts in 8 bits may be faster than their share in 16 says") {
    Case c = dense();
    c.model.experts.count = 4, c.model.experts.per_token = 2, c.model.experts.ffn = 80;
    c.hw.multiplies_in_8_bits = true, c.hw.peak = 2e12;
    c.k.eight_bits = 1.25;
    LayerTimes layers;
    layers.expert.forward = layers.expert.routed_forward = 1e-5;
    // three matrices for each of two copies of 60 tokens, of which this GPU has half
    const double flop = 2.0 * (60 / 2) * 2 * 48 * 80 * 3;
    CHECK(StepBound::without_experts(c.model, c.plan, c.hw, c.k, layers).expert.forward == near(flop / (0.5 * 1.25 * 2e12)));
}
