// The time of layers with a state space or Kimi's delta attention: worked by hand, and published times of Kimi's kernels.
#include <doctest/doctest.h>

#include "model/small_mixers.h"
#include "time/small_machine.h"
#include "time/update.h"

using namespace fourfold;
using namespace fourfold::tests;
using namespace fourfold::tests::by_hand;

namespace {

// 76 and 98 values that the first matrix writes, 20 that the last one reads.
Case with(Mixer kind) {
    Case c = dense();
    c.model.linear = small_mixer(kind);
    return c;
}
// Of 60 tokens with a matrix of so many rows and columns on a GPU.
double multiply(double rows, double columns) { return (2 * (60 * rows + rows * columns) + 120 * columns) / kH; }
double full() { return multiply(48, 50) + multiply(30, 48); }
double feed_forward() { return dense().layers().dense.multiply_forward - full(); }

}  // namespace

TEST_CASE("by hand: matrices of mixers") {
    CHECK(with(Mixer::mamba).layers().dense.multiply_forward ==
          near(full() / 3 + 2 * (multiply(48, 38) + multiply(10, 48)) / 3 + feed_forward()));
    const Case kimi = with(Mixer::kimi);  // and its gates: 5 values to 32 and 20, on two GPUs
    CHECK(kimi.layers().dense.multiply_forward ==
          near(full() / 3 + 2 * (multiply(48, 49) + multiply(5, 26) + multiply(10, 48)) / 3 + feed_forward()));
    CHECK(kimi.layers().parameters_dense == near((2'400 + 1'440) / 3.0 + 2 * (2'352 + 130 + 480) / 3.0 + 3'840 + 1'920));
    // Muon: of 48 x 98, 20 x 48, 5 x 32 and 5 x 20 two thirds; of 48 x 60 and 20 x 48, twice each, one third; three of 48 x 80
    CHECK(muon_flop(kimi.model, false) ==
          near((2 * 3'870'720 + 2 * 464'000) / 3.0 + 2 * (5'621'760 + 464'000 + 17'250 + 11'250) / 3.0 + 3 * 4'792'320));
}

TEST_CASE("by hand: scans, element-wise work and all-to-alls of mixers") {
    const LayerTime plain = dense().layers().dense, mamba = with(Mixer::mamba).layers().dense, kimi = with(Mixer::kimi).layers().dense;
    // 60 tokens of 4 / 2 heads: 2 * 60 * 2 * (2 * 8 * 5 + 10 * (5 + 8 / 2)) operations on 10 multiprocessors; 12 bytes for each of 8 * 5
    // values of a state of 10 tokens
    const double scan = 40'800 / (780e9 * 10) + 12 * 60 * 2 * 8 * 5 / 10 / kH;
    CHECK(mamba.attention_forward == near(plain.attention_forward / 3 + 2 * scan / 3));
    CHECK(mamba.attention_backward == near(plain.attention_backward / 3 + 2 * 3.2 * scan / 3));
    CHECK(mamba.element_forward - plain.element_forward == near(0.9 * 2 * 60 * 2 / 3 * (4.5 * 76 - 360) / 2 / kH));
    CHECK(mamba.element_backward - plain.element_backward == near(0.9 * 2 * 60 * 2 / 3 * (12 * 76 - 360) / 2 / kH));
    // as the gated delta rule's, at its own rate
    const double one = 551'040 / (405e9 * 10), each = 0.8 * one + 20 / 64.0 * 1.25e-6;
    CHECK(kimi.attention_forward == near(plain.attention_forward / 3 + 2 * each / 3));
    CHECK(kimi.element_forward - plain.element_forward == near(0.9 * 2 * 60 * 2 / 3 * (8 * 98 - 360) / 2 / kH));
    Case c = dense();
    c.plan.tensor_parallel = 1, c.plan.context_parallel = 2;
    const double ring = c.layers().dense.context_forward;
    for (const auto& [kind, passed] : {std::pair{Mixer::mamba, 96.0}, std::pair{Mixer::kimi, 98.0 + 20 + 52}}) {
        Case h = with(kind);
        h.plan = c.plan;
        const double swap = 4 * 1e-3 + 2 * 30 * passed / 2 / (0.75 * 0.5 * 2e6);
        CHECK(h.layers().dense.context_forward == near(ring / 3 + 2 * swap / 3));
    }
}

TEST_CASE("by hand: a state space beside attention, and convolutions") {
    const LayerTime plain = dense().layers().dense, both = beside(dense()).layers().dense;
    CHECK(both.multiply_forward == near(full() + multiply(48, 38) + multiply(10, 48) + feed_forward()));
    const double scan = 40'800 / (780e9 * 10) + 12 * 60 * 2 * 8 * 5 / 10 / kH;
    CHECK(both.attention_forward == near(plain.attention_forward + scan));
    CHECK(both.element_forward - plain.element_forward == near(0.9 * 2 * 60 * 4.5 * 76 / 2 / kH));
    CHECK(both.tensor_forward == near(plain.tensor_forward));  // what both return is added first
    const Case c = with(Mixer::convolution);
    const LayerTime own = c.layers().dense;
    CHECK(own.multiply_forward == near(full() / 3 + 2 * (multiply(48, 72) + multiply(24, 48)) / 3 + feed_forward()));
    CHECK(own.attention_forward == near(plain.attention_forward / 3));
    CHECK(own.attention_backward == near(plain.attention_backward / 3));
    // 8 and 21 values read and written for each of the 48 that the convolution reads; in the place of 360 and 360
    CHECK(own.element_forward - plain.element_forward == near(0.9 * 2 * 60 * 2 / 3 * (8 * 48 - 360) / 2 / kH));
    CHECK(own.element_backward - plain.element_backward == near(0.9 * 2 * 60 * 2 / 3 * (21 * 48 - 360) / 2 / kH));
    Case host = c;
    host.k.host_layer = 1'000, host.k.host_linear = 6;  // which is of the delta rule's many kernels
    CHECK(host.layers().dense.forward == near(1'000));
}

// MoonshotAI/FlashKDA 9f54414, BENCHMARK_H20.md, column fla_chunk_kda: 8192 tokens, heads of 128, 78 multiprocessors; what it takes
// backward over forward: BENCHMARK_TRAIN_RTX5090.md, 070933c
TEST_CASE("mixers: published times of Kimi's kernels") {
    struct KernelTime {
        std::int64_t heads;
        double milliseconds, backward_over_forward;
    };
    for (const KernelTime& one : {KernelTime{96, 4.5052, 18.0492 / 5.4185}, KernelTime{64, 2.9587, 11.7343 / 3.5908}}) {
        Case c = dense();
        c.hw.processors = 78;
        c.model.linear = {.key_heads = one.heads,
                          .value_heads = one.heads,
                          .key_dim = 128,
                          .value_dim = 128,
                          .taps = 4,
                          .layers = {},
                          .count = 6,
                          .kind = Mixer::kimi};
        c.model.heads = c.model.kv_heads = one.heads;
        c.plan.tensor_parallel = c.plan.pipeline_parallel = c.plan.gpus = c.plan.micro_batch = c.plan.global_batch = 1;
        c.plan.sequence_length = 8'192;
        const LayerTime times = c.layers().dense;
        CHECK(times.attention_forward * 1e3 == doctest::Approx(one.milliseconds).epsilon(0.02));
        CHECK(times.attention_backward / times.attention_forward == doctest::Approx(one.backward_over_forward).epsilon(0.05));
    }
}
