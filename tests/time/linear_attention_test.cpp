// The time of layers with linear attention: worked by hand, and published times of its kernels.
#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <span>
#include <utility>

#include "time/small_machine.h"
#include "time/update.h"

using namespace fourfold;
using namespace fourfold::tests;
using namespace fourfold::tests::by_hand;

namespace {

Case hybrid() {
    Case c = dense();
    c.model.linear = {.key_heads = 2, .value_heads = 4, .key_dim = 8, .value_dim = 5, .taps = 3, .layers = {1, 1, 0, 1, 1, 0}, .count = 4};
    return c;
}

struct KernelTime {
    double tokens, heads, sequences, milliseconds;
};
// flash-linear-attention 0.5.1 on H200, heads of 128 values: forward and backward pass.
// (QwenLM/FlashQLA 6e5d2ea, benchmark/benchmark_results_H200.txt, columns "FLA")
constexpr KernelTime kFlaForward[] = {{32768, 8, 1, 0.902},  {16384, 8, 1, 0.455},  {8192, 8, 1, 0.234},   {4096, 8, 1, 0.132},
                                      {2048, 8, 1, 0.081},   {32768, 8, 4, 0.467},  {32768, 8, 8, 0.471},  {32768, 16, 1, 1.241},
                                      {16384, 16, 1, 0.614}, {8192, 16, 1, 0.316},  {4096, 16, 1, 0.166},  {2048, 16, 1, 0.098},
                                      {32768, 16, 4, 0.935}, {32768, 16, 8, 0.945}, {32768, 32, 1, 1.885}, {16384, 32, 1, 0.914},
                                      {8192, 32, 1, 0.466},  {4096, 32, 1, 0.244},  {2048, 32, 1, 0.131},  {32768, 32, 4, 1.886},
                                      {32768, 32, 8, 1.902}, {32768, 64, 1, 3.331}, {16384, 64, 1, 1.598}, {8192, 64, 1, 0.814},
                                      {4096, 64, 1, 0.417},  {2048, 64, 1, 0.220},  {32768, 64, 4, 3.362}, {32768, 64, 8, 3.390},
                                      {32768, 48, 1, 2.711}, {16384, 48, 1, 1.311}, {8192, 48, 1, 0.665},  {4096, 48, 1, 0.344},
                                      {2048, 48, 1, 0.191},  {32768, 24, 1, 1.556}, {8192, 24, 1, 0.391},  {2048, 24, 1, 0.115}};
constexpr KernelTime kFlaBackward[] = {{8192, 32, 1, 1.444},  {8192, 32, 2, 1.453},  {8192, 32, 4, 1.467},  {8192, 32, 8, 1.500},
                                       {32768, 32, 1, 5.697}, {32768, 32, 2, 5.708}, {32768, 32, 4, 5.721}, {32768, 32, 8, 5.781},
                                       {8192, 16, 1, 0.957},  {8192, 16, 2, 0.894},  {8192, 16, 4, 0.830},  {8192, 16, 8, 0.788},
                                       {32768, 16, 1, 3.701}, {32768, 16, 2, 3.323}, {32768, 16, 4, 3.093}, {32768, 16, 8, 2.973},
                                       {8192, 8, 1, 0.722},   {8192, 8, 2, 0.656},   {8192, 8, 4, 0.587},   {8192, 8, 8, 0.455},
                                       {32768, 8, 1, 2.743},  {32768, 8, 2, 2.360},  {32768, 8, 4, 1.739},  {32768, 8, 8, 1.727},
                                       {8192, 4, 1, 0.606},   {8192, 4, 2, 0.538},   {8192, 4, 4, 0.469},   {8192, 4, 8, 0.331},
                                       {32768, 4, 1, 2.311},  {32768, 4, 2, 1.906},  {32768, 4, 4, 1.251},  {32768, 4, 8, 1.057}};
// The same on GB200. (there, 5f6aa53, benchmark_results_GB200.txt)
constexpr KernelTime kForwardGb200[] = {{32768, 8, 1, 1.016},  {32768, 16, 1, 1.253}, {32768, 32, 1, 1.770},
                                        {32768, 64, 1, 2.943}, {8192, 32, 1, 0.468},  {2048, 64, 1, 0.211}},
                     kBackwardGb200[] = {{8192, 32, 1, 1.446}, {32768, 32, 1, 5.714}, {32768, 16, 8, 2.982}, {32768, 8, 1, 3.068}};

// Seconds of the kernels alone, in a model of nothing but such layers.
LayerTime kernels(const KernelTime& one, double processors) {
    Case c = dense();
    c.hw.processors = processors;
    const auto heads = static_cast<std::int64_t>(one.heads);
    c.model.linear = {.key_heads = heads, .value_heads = heads, .key_dim = 128, .value_dim = 128, .taps = 4, .layers = {}, .count = 6};
    c.model.heads = c.model.kv_heads = heads;
    c.plan.tensor_parallel = c.plan.pipeline_parallel = c.plan.gpus = 1;
    c.plan.micro_batch = c.plan.global_batch = static_cast<std::int64_t>(one.sequences);
    c.plan.sequence_length = static_cast<std::int64_t>(one.tokens / one.sequences);
    return c.layers().dense;
}
// The average factor by which published and own times differ.
double off(std::initializer_list<std::pair<std::span<const KernelTime>, double LayerTime::*>> all, double processors) {
    double sum = 0, count = 0;
    for (const auto& [times, pass] : all)
        for (const KernelTime& one : times) {
            sum += std::abs(std::log(kernels(one, processors).*pass * 1e3 / one.milliseconds));
            ++count;
        }
    return std::exp(sum / count) - 1;
}

}  // namespace

TEST_CASE("linear attention: published times of its kernels") {
    CHECK(off({{kFlaForward, &LayerTime::attention_forward}, {kFlaBackward, &LayerTime::attention_backward}}, 132) < 0.12);
    CHECK(off({{kForwardGb200, &LayerTime::attention_forward}, {kBackwardGb200, &LayerTime::attention_backward}}, 148) < 0.12);
}

TEST_CASE("by hand: matrices of layers with linear attention") {
    Case c = hybrid();
    // 2 * (60 * K + K * C) + 120 * C bytes; one third: queries, keys and values K 48, C 50; output K 30, C 48; two thirds: K 48, C 80 / 2;
    // K 20 / 2, C 48; beside them the feed-forward part's 37,440
    const double full = 16'560 + 12'240, linear = 14'400 + 7'920;
    CHECK(c.layers().dense.multiply_forward == near((full / 3 + 2 * linear / 3 + 37'440) / kH));
    CHECK(c.layers().parameters_dense == near((2'400 + 1'440) / 3.0 + 2 * (1'920 + 480) / 3.0 + 3'840 + 1'920));
    c.plan.trained = TrainedPart::lora, c.plan.lora_targets = lora_query | lora_output, c.plan.lora_rank = 2;
    // adapters of queries (which the framework joins with keys and values): 2 * (48 + 100) and 2 * (48 + 80); output: 2 * (60 + 48) and
    // 2 * (20 + 48); shared out over two GPUs
    CHECK(c.layers().parameters_dense == near((296 + 216) / 3.0 / 2 + 2 * (256 + 136) / 3.0 / 2));
    // Muon: of 48 x 80 and 20 x 48 two thirds; of 48 x 60 and 20 x 48, twice each, one third; three of 48 x 80
    CHECK(muon_flop(c.model, false) == near((2 * 3'870'720 + 2 * 464'000) / 3.0 + 2 * (4'792'320 + 464'000) / 3.0 + 3 * 4'792'320));
}

TEST_CASE("by hand: what the CPU takes more for linear attention") {
    Case c = hybrid();
    c.k.host_layer = 1'000, c.k.host_linear = 6;  // the GPU's work is nothing beside it; two thirds of 6
    CHECK(c.layers().dense.forward == near(1'004));
    CHECK(c.layers().dense.backward == near(1.3 * 1'004));
}

TEST_CASE("by hand: kernels, element-wise work and all-to-alls of linear attention") {
    Case c = hybrid();
    const LayerTime plain = dense().layers().dense, both = c.layers().dense;
    // 60 tokens of 4 / 2 heads: 2 * 60 * 2 * (3 * 8 * 5 + 64 * (3 * 8 + 2 * 5)) operations on 10 multiprocessors; a fifth of them, which
    // hands states on, takes 1.25 us for each 64 of the 20 tokens
    const double one = 551'040 / (780e9 * 10), each = 0.8 * one + 20 / 64.0 * 1.25e-6;
    CHECK(both.attention_forward == near(plain.attention_forward / 3 + 2 * each / 3));
    CHECK(both.attention_backward == near(plain.attention_backward / 3 + 2 * 3.2 * each / 3));
    // element by element: 8 and 13 of 80 values, where queries, keys and values have 2 * 8 * 10 + 2 * 10 * 10
    CHECK(both.element_forward - plain.element_forward == near(0.9 * 2 * 60 * 2 / 3 * (8 * 80 - 360) / 2 / kH));
    CHECK(both.element_backward - plain.element_backward == near(0.9 * 2 * 60 * 2 / 3 * (13 * 80 - 360) / 2 / kH));
    c.plan.recompute = Recompute::selective, c.plan.recompute_modules = core_attn;  // of the other layers alone
    CHECK(c.layers().dense.recomputed == near(plain.attention_forward / 3));
    c = dense();
    c.plan.tensor_parallel = 1, c.plan.context_parallel = 2;
    const double ring = c.layers().dense.context_forward;
    Case h = hybrid();
    h.plan = c.plan;
    // 30 tokens; 80 values to the heads and 20 back, half of which leave the GPU
    const double swap = 4 * 1e-3 + 2 * 30 * 100 / 2 / (0.75 * 0.5 * 2e6);
    CHECK(h.layers().dense.context_forward == near(ring / 3 + 2 * swap / 3));
    h.plan.recompute = Recompute::selective, h.plan.recompute_modules = core_attn;  // the ring once more, not the swaps
    CHECK(h.layers().dense.recomputed == near((c.layers().dense.attention_forward + ring) / 3));
}
