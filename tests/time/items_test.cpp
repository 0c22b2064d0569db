// Every part of a step's time once, worked by hand: single operations, the parts of a layer, the items of a step. Sizes and rates are so
// small that each number can be checked with a pencil; the machine and its constants are invented for that.
//   the model: h = 48, f = 80 (gated), a = 6 heads, k = 2 KV heads, d = 10, 256 words; t = 2, s = 20 tokens, b = 3: M = 60 tokens
#include <doctest/doctest.h>

#include <cmath>

#include "memory/memory.h"
#include "time/op_times.h"
#include "time/step_time.h"

using namespace fourfold;
using doctest::Approx;

namespace {

constexpr double kH = 1e6;  // bytes per second that kernels reach, 0.85 of the machine's

Machine machine() {
    Machine m;
    m.peak = m.peak_16 = 1e12;
    m.memory = kH / 0.85;
    m.link = 2e6;
    m.node = 5e6;
    m.host = 1e5;
    m.processors = 10;
    m.gpus_per_node = 4;
    return m;
}
Timing timing() {
    Timing t{};
    t.gemm = 0.5;
    t.tile_fill = 16;
    t.wave_mix = 0.25;
    t.small_tile = 0.8;
    t.attention = 0.4;
    t.attention_backward = 0.8;
    t.attention_tail = 1.5;
    t.element_wise = 0.9;
    t.cross_entropy = 40;
    t.link = 0.5;
    t.link_latency = 1e-3;
    t.network = 0.4;
    t.network_latency = 2e-3;
    t.tensor_exposed = 0.6;
    t.tensor_overlap_exposed = 0.3;
    t.data_exposed = 0.2;
    t.context_correction = 1.25;
    t.ring_link = 0.25;
    t.ring_latency = 3e-3;
    t.ring_network = 0.3;
    t.ring_network_exposed = 0.9;
    t.host_layer = 0;
    t.fixed = 0.125;
    t.straggler = 0.01;
    t.stall = 0;
    t.pipeline = 0.5;
    t.accumulation = 3;
    t.micro_batch = 0;
    return t;
}
struct Case {
    Model model;
    Plan plan;
    Framework framework;
    Machine hw = machine();
    Timing k = timing();
    LayerTimes layers() const { return layer_times<double>(model, plan, framework, hw, k); }
};
Case dense() {
    Case c;
    Model& m = c.model;
    m.layers = 6, m.hidden = 48, m.ffn = 80, m.heads = 6, m.kv_heads = 2, m.head_dim = 10, m.vocabulary = 250;
    Plan& p = c.plan;
    p.gpus = 8, p.gpus_per_node = 4, p.sequence_length = 20, p.global_batch = 24;
    p.tensor_parallel = 2, p.context_parallel = 1, p.pipeline_parallel = 2, p.micro_batch = 3;
    c.framework.attention = AttentionKernel::cudnn;
    return c;
}

// Multiplications of a dense layer, limited by memory: bytes 2*(M*K + K*C) + 2*M*C, or 8*M*C for the gradient of a weight in fp32.
//   q, k, v   K 48, C (6+4)*10/2 = 50   forward 16,560   its input 16,560   itself 2*(48*60 + 60*50) + 8*48*50 = 30,960
//   output    K 30, C 48                forward 12,240   its input 12,240   itself 2*(30*60 + 60*48) + 8*30*48 = 20,880
//   widening  K 48, C 2*80/2 = 80       forward 23,040   its input 23,040   itself 2*(48*60 + 60*80) + 8*48*80 = 46,080
//   narrowing K 40, C 48                forward 14,400   its input 14,400   itself 2*(40*60 + 60*48) + 8*40*48 = 25,920
constexpr double kForward = 16'560 + 12'240 + 23'040 + 14'400, kWeights = 30'960 + 20'880 + 46'080 + 25'920;
constexpr double kLayer = 48 * 50 + 30 * 48 + 48 * 80 + 40 * 48;  // parameters: 9,600

}  // namespace

TEST_CASE("by hand: a matrix multiplication") {
    constexpr Part kMatrix{"q", "a_matrix"};
    const Machine hw = machine();
    const Timing k = timing();
    Machine wide = hw;
    wide.memory = 1e15;
    const Cost<double> on(wide, k), slow(hw, k);
    // 60 x 50, K = 48: one tile of any kind, 0.1 waves of 10 processors; 0.25 * 0.1 + 0.75 * 1 = 0.775 of a wave. The small tile is the
    // fastest: 0.775 * 2*128*128 / 0.8 = 31,744 operations per step; (48 + 16) steps, 10 processors, 5e11 per second
    CHECK(on.gemm(Pass::forward, kMatrix, 5e11, 60, 50, 48) == Approx(31'744.0 * 64 * 10 / 5e11).epsilon(1e-12));
    // 1,000 x 1,000: 4 * 8 = 32 tiles of 256 x 128, 3.2 waves; 0.25 * 3.2 + 0.75 * 4 = 3.8, times 65,536 = 249,036.8. Small: 64 tiles, 6.4
    // waves, 6.85 * 32,768 / 0.8 = 280,576
    CHECK(on.gemm(Pass::forward, kMatrix, 5e11, 1'000, 1'000, 100) == Approx(249'036.8 * 116 * 10 / 5e11).epsilon(1e-12));
    // 300 x 100: tiles of 256 x 128 take 2, of 128 x 256 take 3, and of 128 x 128 take 3: 0.25*0.2 + 0.75 = 0.8 * 65,536 = 52,428.8,
    // against (0.25*0.3 + 0.75) * 40,960 = 33,792
    CHECK(on.gemm(Pass::input, kMatrix, 5e11, 300, 100, 100) == Approx(33'792.0 * 116 * 10 / 5e11).epsilon(1e-12));
    CHECK(slow.gemm(Pass::weight, kMatrix, 5e11, 60, 50, 48, 8) == Approx((2 * (60 * 48 + 48 * 50) + 8 * 60 * 50) / kH).epsilon(1e-12));
    CHECK(slow.gemm(Pass::forward, kMatrix, 5e11, 60, 50, 48) == Approx(16'560 / kH).epsilon(1e-12));
    CHECK(slow.rate() == 5e11);
    wide.multiplies_in_8_bits = true, wide.peak = 2e12;
    CHECK(on.rate() == 1e12);
    CHECK(on.rate_16() == 5e11);
}

TEST_CASE("by hand: an all-gather, within a node and between nodes, with a switch and without") {
    Machine hw = machine();
    const Timing k = timing();
    const Cost<double> on(hw, k);
    CHECK(on.collective(6'000, 1) == 0);
    CHECK(on.collective(6'000, 4) == Approx(1e-3 + 4'500 / (0.5 * 2e6)).epsilon(1e-12));      // three quarters move
    CHECK(on.collective(6'000, 8) == Approx(2e-3 * 3 + 5'250 / (0.4 * 5e6)).epsilon(1e-12));  // three latencies, at the node's rate
    hw.has_switch = false;  // two of four GPUs: one of the three links of a GPU leads to the other
    CHECK(on.collective(6'000, 2) == Approx(1e-3 + 3'000 / (0.5 * 2e6 / 3)).epsilon(1e-12));
    CHECK(on.collective(6'000, 4) == Approx(1e-3 + 4'500 / (0.5 * 2e6)).epsilon(1e-12));
    CHECK(on.pair_link() == Approx(2e6 / 3).epsilon(1e-12));
}

TEST_CASE("by hand: a dense layer") {
    Case c = dense();
    const LayerTime layer = c.layers().dense;
    CHECK(layer.multiply_forward == Approx(kForward / kH).epsilon(1e-12));
    CHECK(layer.multiply_backward == Approx((kForward + kWeights) / kH).epsilon(1e-12));
    CHECK(c.layers().parameters_dense == kLayer);
    // attention: 2*b*s*s*(a/t)*d = 72,000 operations at 4e11; the tail 1.5 * 10 * 128 / (3 * 3 * 20) = 32/3 of the whole
    CHECK(layer.attention_forward == Approx(72'000 / 4e11 * (1 + 32.0 / 3)).epsilon(1e-12));
    CHECK(layer.attention_backward == Approx(2.5 * 72'000 / 3.2e11 * (1 + 0.4 * 32 / 3)).epsilon(1e-12));
    // element by element, per token: norms 4*48 and residuals 6*48, over t; positions 2*(6+2)*10 and copies 2*(6+4)*10, the activation
    // 3*80, over t: 240 + 300 values of 2 bytes
    CHECK(layer.element_forward == Approx(0.9 * 2 * 60 * (240 + 300) / kH).epsilon(1e-12));
    CHECK(layer.element_backward == Approx(0.9 * 2 * 60 * ((6 + 6) * 48 / 2 + (360 + 5 * 80) / 2) / kH).epsilon(1e-12));
    // an all-gather of 2*60*48 bytes: 1e-3 + 2,880 / 1e6
    const double one = 3.88e-3;
    CHECK(layer.tensor_forward == Approx(4 * one).epsilon(1e-12));
    CHECK(layer.tensor_backward == Approx(2 * one + 0.6 * 4 * one).epsilon(1e-12));  // all that can hide does
    CHECK(layer.context_forward == 0);
    CHECK(layer.expert_forward == 0);
    const double forward = layer.multiply_forward + layer.attention_forward + layer.element_forward + layer.tensor_forward;
    CHECK(layer.forward == Approx(forward).epsilon(1e-12));
    c.k.host_layer = 2 * forward;  // the CPU is the slower one: fourth root of 1 + 2^4
    CHECK(c.layers().dense.forward == Approx(forward * std::pow(17, 0.25)).epsilon(1e-12));
    const double backward = layer.multiply_backward + layer.attention_backward + layer.element_backward + layer.tensor_backward;
    CHECK(c.layers().dense.backward == Approx(std::pow(std::pow(backward, 4) + std::pow(2.6 * forward, 4), 0.25)).epsilon(1e-12));
}

TEST_CASE("by hand: variants of a dense layer's multiplications and element-wise work") {
    Case c = dense();
    c.plan.gradients_in_fp32 = false;  // 4 bytes per element of a weight's gradient: 4 * 9,600 fewer
    CHECK(c.layers().dense.multiply_backward == Approx((kForward + kWeights - 4 * 9'600) / kH).epsilon(1e-12));
    c = dense();
    c.model.gated = false;  // widening: C 40, forward 2*(60*48 + 48*40) + 2*60*40 = 14,400; element-wise 2*80 in the place of 3*80
    CHECK(c.layers().dense.multiply_forward == Approx((kForward - 23'040 + 14'400) / kH).epsilon(1e-12));
    CHECK(c.layers().dense.element_forward == Approx(0.9 * 120 * (240 + (360 + 160) / 2) / kH).epsilon(1e-12));
    CHECK(c.layers().dense.element_backward == Approx(0.9 * 120 * (288 + (360 + 3.5 * 80) / 2) / kH).epsilon(1e-12));
    c = dense();
    c.model.learned_positions = true;  // no rotary positions: 160 values fewer
    c.plan.hidden_dropout = true;      // 2*48 more
    CHECK(c.layers().dense.element_forward == Approx(0.9 * 120 * ((480 + 96) / 2 + (200 + 240) / 2) / kH).epsilon(1e-12));
    c = dense();
    c.plan.fused_norms = false;  // norms 10*48 forward, 2.5 * 6*48 backward
    CHECK(c.layers().dense.element_forward == Approx(0.9 * 120 * ((480 + 288) / 2 + 300) / kH).epsilon(1e-12));
    CHECK(c.layers().dense.element_backward == Approx(0.9 * 120 * ((720 + 288) / 2 + 380) / kH).epsilon(1e-12));
    c = dense();
    c.plan.sequence_parallel = false;  // every GPU works through whole norms; four all-reduces, which nothing hides
    CHECK(c.layers().dense.element_forward == Approx(0.9 * 120 * (480 + 300) / kH).epsilon(1e-12));
    CHECK(c.layers().dense.tensor_backward == Approx(4 * 3.88e-3).epsilon(1e-12));
}

TEST_CASE("by hand: tensor-parallel traffic that work cannot hide, and tp-comm-overlap") {
    Case c = dense();
    c.hw.link = 2e5;  // one = 1e-3 + 2,880 / 1e5 = 0.0298; twice that is more than the input gradients' (16,560 + 23,040) / 1e6 = 0.0396,
                      // and less than the weight gradients' 0.07704
    CHECK(c.layers().dense.tensor_backward == Approx(2 * 0.0298 + (0.0596 - 0.0396) + 0.6 * (0.0396 + 0.0596)).epsilon(1e-12));
    c.plan.tensor_overlap = true;  // 8e-6 and three tenths of what is beyond the latency
    CHECK(c.layers().dense.tensor_forward == Approx(4 * (8e-6 + 0.3 * 0.0288)).epsilon(1e-12));
    CHECK(c.layers().dense.tensor_backward == Approx(6 * (8e-6 + 0.3 * 0.0288)).epsilon(1e-12));
    c.plan.tensor_parallel = 1;
    CHECK(c.layers().dense.tensor_forward == 0);
}

TEST_CASE("by hand: attention that writes its scores, and attention to a window") {
    Case c = dense();
    c.framework.attention = AttentionKernel::unfused;
    // 4*b*s*s*(a/t)*d = 144,000 operations at 0.62 * 5e11; 3,600 scores, 8 and 11 bytes, at 0.8 of the memory's rate
    const double rate = 3.1e11, memory = 0.8 * kH / 0.85;
    CHECK(c.layers().dense.attention_forward == Approx(144'000 / rate + 8 * 3'600 / memory).epsilon(1e-12));
    CHECK(c.layers().dense.attention_backward == Approx(288'000 / rate + 11 * 3'600 / memory).epsilon(1e-12));
    c.plan.attention_dropout = true;
    CHECK(c.layers().dense.attention_forward == Approx(144'000 / rate + 11 * 3'600 / memory).epsilon(1e-12));
    CHECK(c.layers().dense.attention_backward == Approx(288'000 / rate + 14 * 3'600 / memory).epsilon(1e-12));
    c.plan.recompute = Recompute::selective, c.plan.recompute_modules = core_attn;  // one of the two multiplications, and the scores
    CHECK(c.layers().dense.recomputed == Approx(72'000 / rate + 11 * 3'600 / memory).epsilon(1e-12));
    c = dense();
    c.plan.sequence_length = 1'000, c.plan.micro_batch = 1;
    c.model.window = {.tokens = 100, .chunks = true, .layers = {}};
    c.model.window.layers = {1, 0, 1, 0, 1, 0};
    // half of the layers attend to 50 tokens of their chunk, the others to 500: 275 on average; tail 1,920 / (3 * 1,000) = 0.64
    CHECK(c.layers().dense.attention_forward == Approx(4.0 * 1'000 * 275 * 3 * 10 / 4e11 * 1.64).epsilon(1e-12));
    c.model.window.chunks = false;  // 100 - 100*100 / 2,000 + 128 = 223
    CHECK(c.layers().dense.attention_forward == Approx(4.0 * 1'000 * 361.5 * 3 * 10 / 4e11 * 1.64).epsilon(1e-12));
}

TEST_CASE("by hand: a ring of context parallelism") {
    Case c = dense();
    c.plan.context_parallel = 2, c.plan.gpus = 16;  // M = 30
    // keys and values of one KV head: 4 * 30 * 1 * 10 = 1,200 bytes at 0.25 * 2e6, 3e-3 of latency
    const double step = 3e-3 + 1'200 / 5e5, rescaling = 2 * 16 * 1.25 * 30 * 6 * 10 / (2 * kH);
    const double flop = 2.0 * 3 * 20 * 20 * 3 * 10 / 2, tail = 1.5 * 10 * 128 / (3 * 3 * 10.0);
    const double forward = flop / 4e11 * (1 + tail), backward = 2.5 * flop / 3.2e11 * (1 + 0.4 * tail);
    CHECK(c.layers().dense.attention_forward == Approx(forward).epsilon(1e-12));
    CHECK(c.layers().dense.context_forward == Approx(step - forward / 2 + rescaling).epsilon(1e-12));
    CHECK(c.layers().dense.context_backward == Approx(3 * step - backward / 2 + rescaling).epsilon(1e-12));
    c.plan.context_parallel = 4, c.plan.gpus = 32;  // 2 * 4 GPUs lie in two nodes; M = 15, 600 bytes; two GPUs of a node send at once
    const double far = 2e-3 + 600 * 2 / (0.3 * 5e6), again = 4 * 16 * 1.25 * 15 * 6 * 10 / (2 * kH);
    const double quarter = 2.0 * 3 * 20 * 20 * 3 * 10 / 4 / 4e11 * (1 + 1.5 * 10 * 128 / (3 * 3 * 5.0)) / 4;
    CHECK(c.layers().dense.context_forward == Approx(3 * (far - quarter + 0.9 * quarter) + again).epsilon(1e-12));
}

TEST_CASE("by hand: recomputation") {
    Case c = dense();
    const LayerTime kept = c.layers().dense;
    c.plan.recompute = Recompute::full;
    CHECK(c.layers().dense.recomputed == Approx(kept.forward).epsilon(1e-12));
    CHECK(c.layers().dense.backward == Approx(kept.backward + kept.forward).epsilon(1e-12));
    c.plan.recompute = Recompute::block;
    CHECK(c.layers().dense.backward == Approx(kept.backward).epsilon(1e-12));
    CHECK(c.layers().dense.recomputed == Approx(kept.forward).epsilon(1e-12));
    c.plan.recompute = Recompute::selective;
    c.plan.recompute_modules = core_attn;
    CHECK(c.layers().dense.recomputed == Approx(kept.attention_forward).epsilon(1e-12));
    c.framework.transformer_engine = false;
    c.plan.recompute_modules = layernorm;  // half of four values of each norm, split along the sequence
    CHECK(c.layers().dense.recomputed == Approx(0.9 * 2 * 60 * (4 * 48 / 2) / kH).epsilon(1e-12));
    c.plan.recompute_modules = mlp;  // its two multiplications, 3*80/2 values, and two of the four exchanges
    CHECK(c.layers().dense.recomputed == Approx((23'040 + 14'400) / kH + 0.9 * 120 * 120 / kH + kept.tensor_forward / 2).epsilon(1e-12));
    c.k.host_layer = 1;
    c.plan.recompute = Recompute::full;
    const double work = 2 * kept.forward + kept.backward - kept.forward;
    CHECK(c.layers().dense.backward == Approx(std::pow(std::pow(work, 4) + std::pow(2.3, 4), 0.25)).epsilon(1e-12));
}

TEST_CASE("by hand: a layer with experts, and its traffic") {
    Case c = dense();
    c.model.experts = {.count = 4, .per_token = 2, .ffn = 24, .shared_ffn = 0};
    c.model.expert_layers = {1, 1, 1, 1, 1, 1};
    c.plan.expert_parallel = 2;
    // 60 / 2 * 2 = 60 token copies over 2 experts: 30 each. Widening K 48, C 48: 2*(30*48 + 48*48) + 2*30*48 = 10,368; narrowing K 24, C
    // 48: 2*(30*24 + 24*48) + 2*30*48 = 6,624
    const LayerTime layer = c.layers().expert;
    CHECK(layer.multiply_forward == Approx((16'560 + 12'240 + 2 * (10'368 + 6'624)) / kH).epsilon(1e-12));
    CHECK(layer.routed_forward == Approx(2 * (10'368 + 6'624) / kH).epsilon(1e-12));
    // weights: 2*(48*30 + 30*48) + 8*48*48 = 24,192 and 2*(24*30 + 30*48) + 8*24*48 = 13,536
    CHECK(layer.routed_backward == Approx(2 * (10'368 + 6'624 + 24'192 + 13'536) / kH).epsilon(1e-12));
    CHECK(c.layers().parameters_expert == 2'400 + 1'440 + 2 * 3 * 48 * 24);
    // element-wise: two experts of 24 values in the place of 80
    CHECK(layer.element_forward == Approx(0.9 * 120 * (240 + (360 + 3 * 48) / 2) / kH).epsilon(1e-12));
    // an exchange: 2 * 60 * 48 bytes, half of them move; there and back
    const double one = 1e-3 + 5'760.0 / 2 / (0.5 * 2e6);
    CHECK(layer.expert_forward == Approx(2 * one).epsilon(1e-12));
    CHECK(layer.expert_backward == Approx(2 * one).epsilon(1e-12));
    c.plan.gpus = 64, c.plan.expert_parallel = 4, c.plan.expert_tensor_parallel = 2;  // 8 GPUs, two nodes: 120 copies, 11,520 bytes
    CHECK(c.layers().expert.expert_forward == Approx(2 * (2e-3 * 3 + 11'520 * 7.0 / 8 * 4 / (0.4 * 5e6))).epsilon(1e-12));
    c = dense();
    c.model.experts = {.count = 4, .per_token = 2, .ffn = 24, .shared_ffn = 16};
    c.model.expert_layers = {1, 1, 1, 1, 1, 1};
    c.plan.expert_imbalance = 2;  // 120 copies over 4 experts
    // shared experts: widening K 48, C 16, narrowing K 8, C 48: 2*(60*48 + 48*16) + 2*60*16 = 9,216 and 2*(60*8 + 8*48) + 2*60*48 = 7,488
    CHECK(c.layers().expert.multiply_forward == Approx((16'560 + 12'240 + 4 * (10'368 + 6'624) + 9'216 + 7'488) / kH).epsilon(1e-12));
    CHECK(c.layers().expert.element_forward == Approx(0.9 * 120 * (240 + (360 + 3 * 64) / 2) / kH).epsilon(1e-12));
    CHECK(c.layers().expert.expert_forward == 0);
    const LayerTime all = c.layers().expert;
    c.plan.recompute = Recompute::selective;
    c.plan.recompute_modules = moe_act;
    CHECK(c.layers().expert.recomputed == Approx(0.9 * 120 * (3 * 48 / 2) / kH).epsilon(1e-12));
    c.plan.recompute_modules = shared_experts;  // its multiplications, its 3*16/2 values, two exchanges
    CHECK(c.layers().expert.recomputed == Approx((9'216 + 7'488 + 0.9 * 120 * 24) / kH + all.tensor_forward / 2).epsilon(1e-12));
}

TEST_CASE("by hand: latent attention's multiplications") {
    Case c = dense();
    c.model.latent = {.q_rank = 14, .kv_rank = 18, .nope_dim = 7, .rope_dim = 4, .value_dim = 9};
    // down K 48, C 14; up K 14, C 6*11/2 = 33; down K 48, C 22; up K 18, C 6*16/2 = 48; output K 27, C 48. 2*(60*K + K*C) + 120*C:
    const double down = 2 * (2'880 + 672) + 1'680, up = 2 * (840 + 462) + 3'960, kv_down = 2 * (2'880 + 1'056) + 2'640,
                 kv_up = 2 * (1'080 + 864) + 5'760, output = 2 * (1'620 + 1'296) + 5'760;
    CHECK(c.layers().dense.multiply_forward == Approx((down + up + kv_down + kv_up + output + 23'040 + 14'400) / kH).epsilon(1e-12));
    CHECK(c.layers().parameters_dense == 672 + 462 + 1'056 + 864 + 1'296 + 3'840 + 1'920);
    CHECK(c.layers().dense.attention_forward == Approx(2.0 * 3 * 400 * 3 * 10 / 4e11 * (1 + 32.0 / 3)).epsilon(1e-12));  // (7 + 4 + 9) / 2
    const LayerTime kept = c.layers().dense;
    c.plan.recompute = Recompute::selective, c.plan.recompute_modules = mla_up_proj;
    CHECK(c.layers().dense.recomputed == Approx((up + kv_up + 0.9 * 120 * 180) / kH + kept.tensor_forward / 4).epsilon(1e-12));
    c.model.latent.q_rank = 0;  // K 48, C 33
    c.plan.recompute = Recompute::none;
    CHECK(c.layers().dense.multiply_forward ==
          Approx((2 * (2'880 + 1'584) + 3'960 + kv_down + kv_up + output + 23'040 + 14'400) / kH).epsilon(1e-12));
}

TEST_CASE("by hand: the ends of the model") {
    Case c = dense();
    const double one = 3.88e-3;
    // logits: K 48, C 128: 2*(60*48 + 48*128) + 2*60*128 = 33,408; its input the same; itself 2*(48*60 + 60*128) + 8*48*128 = 70,272; 40
    // bytes for each of 7,680 logits; adding up 3 bytes for each of 128*48 weights
    CHECK(c.layers().head == Approx((2 * 33'408 + 70'272 + 40 * 7'680 + 3 * 6'144) / kH + 3 * one).epsilon(1e-12));
    CHECK(c.layers().embedding == Approx(2 * one + 6 * 60 * 48 / (0.5 * kH / 0.85) + 14 * 6'144 / kH).epsilon(1e-12));
    const double head = c.layers().head, embedding = c.layers().embedding;
    c.framework.loss = LossKernel::te_fused;  // half of the loss's bytes
    CHECK(c.layers().head == Approx(head - 20 * 7'680 / kH).epsilon(1e-12));
    c.framework.loss = LossKernel::gathered;  // the whole vocabulary on every GPU
    CHECK(c.layers().head == Approx(head + 40 * 7'680 / kH).epsilon(1e-12));
    c.framework.loss = LossKernel::plain;
    c.plan.tensor_parallel = 1;
    c.model.vocabulary = 128;
    CHECK(c.layers().embedding == Approx(6 * 60 * 48 / (0.5 * kH / 0.85) + 14 * 6'144 / kH).epsilon(1e-12));
    c = dense();
    c.model.multi_token_layers = 2;
    // two inputs joined: K 96, C 24: 2*(60*96 + 96*24) + 2*60*24 = 19,008, its input 2*(60*24 + 24*96) + 2*60*96 = 19,008, itself
    // 2*(96*60 + 60*24) + 8*96*24 = 32,832
    const LayerTime layer = c.layers().dense;
    const double further = embedding + (2 * 19'008 + 32'832) / kH + layer.forward + layer.backward + head + 3 * (kLayer + 2'304) / kH;
    CHECK(c.layers().head == Approx(head + 2 * further).epsilon(1e-12));
}

namespace {

// A layer of invented times: forward 2.5, backward 5.5 seconds, half a second each of them waiting for the CPU.
LayerTimes invented() {
    LayerTimes l;
    LayerTime& d = l.dense;
    d.multiply_forward = 1, d.multiply_backward = 2, d.attention_forward = 0.25, d.attention_backward = 0.75;
    d.element_forward = 0.125, d.element_backward = 0.25, d.tensor_forward = 0.375, d.tensor_backward = 0.75;
    d.context_forward = 0.0625, d.context_backward = 0.1875, d.expert_forward = 0.1875, d.expert_backward = 0.3125;
    d.recomputed = 0.75;
    d.forward = 2.5, d.backward = 5.5;
    l.head = 3, l.embedding = 1.5;
    l.parameters_dense = 1'000;
    return l;
}
double item(const StepTime<double>& step, TimeItem which) { return step.items[static_cast<std::size_t>(which)]; }
StepTime<double> step_of(const Case& c, const LayerTimes& layers) {
    return step_time<double>(c.model, c.plan, c.framework, c.hw, c.k, layers);
}

}  // namespace

TEST_CASE("by hand: the items of a step") {
    Case c = dense();  // 8 GPUs: t = 2, p = 2, 2 copies; 4 micro-batches; three layers a stage
    const LayerTimes layers = invented();
    c.k.micro_batch = 0.25;
    StepTime<double> step = step_of(c, layers);
    // stages: 3 * 8 s, adding up 3 * 1,000 gradients of 3 bytes, 0.25 of the CPU; the first one 1.5 more, the last one 3
    const double adding = 3'000.0 * 3 / kH, first = 24 + adding + 0.25 + 1.5, last = 24 + adding + 0.25 + 3;
    CHECK(item(step, TimeItem::multiplications) == Approx(4 * 3 * 3.0).epsilon(1e-12));
    CHECK(item(step, TimeItem::attention) == Approx(4 * 3 * 1.0).epsilon(1e-12));
    CHECK(item(step, TimeItem::element_wise) == Approx(4 * 3 * 0.375).epsilon(1e-12));
    CHECK(item(step, TimeItem::recomputation) == Approx(4 * 3 * 0.75).epsilon(1e-12));
    CHECK(item(step, TimeItem::tensor_traffic) == Approx(4 * 3 * 1.125).epsilon(1e-12));
    CHECK(item(step, TimeItem::context_traffic) == Approx(4 * 3 * 0.25).epsilon(1e-12));
    CHECK(item(step, TimeItem::expert_traffic) == Approx(4 * 3 * 0.5).epsilon(1e-12));
    // 8 - (3 + 1 + 0.375 + 1.125 + 0.25 + 0.5 + 0.75) = 1 second of a layer is waiting, and 0.25 of a micro-batch
    CHECK(item(step, TimeItem::host) == Approx(4 * (3 * 1.0 + 0.25)).epsilon(1e-12));
    CHECK(item(step, TimeItem::accumulation) == Approx(4 * adding).epsilon(1e-12));
    CHECK(item(step, TimeItem::head) == Approx(4 * 3.0).epsilon(1e-12));
    CHECK(item(step, TimeItem::bubble) == Approx(first).epsilon(1e-12));  // all stages, and three times the slowest, less four times it
    // 2 * 60 * 48 / 2 = 2,880 bytes; two nodes: 2e-3 + 2,880 * 4 / (0.5 * 5e6); min(4, 8 / 2) GPUs send at once
    const double send = 2e-3 + 2'880.0 * 4 / 2.5e6;
    CHECK(transfer_seconds(c.model, c.plan, c.hw, c.k) == Approx(send).epsilon(1e-12));
    CHECK(item(step, TimeItem::pipeline_traffic) == Approx((2 + 3) * send).epsilon(1e-12));
    CHECK(step.forward == 7.5);
    CHECK(step.backward == 16.5);
    // the last stage holds most: 3,000 and the head's 6,144. Two copies: floor(4 / 2) = 2 in a node, one group of 2 beside: all within
    const double P = 9'144, latency = 8 * 2e-3;
    const double reduce = 4 * P / 2 / (0.5 * 2e6) + latency, gather = 2 * P / 2 / (0.5 * 2e6) + latency;
    CHECK(item(step, TimeItem::data_traffic) == Approx(0.2 * reduce + reduce / 8 + 0.2 * gather).epsilon(1e-12));
    CHECK(item(step, TimeItem::optimizer) == Approx((34 * P / 2 + 12 * P) / (0.8 * kH / 0.85)).epsilon(1e-12));
    CHECK(item(step, TimeItem::fixed) == 0.125);
    double sum = 0;
    for (const double one : step.items) sum += one;
    CHECK(step.seconds == Approx(sum).epsilon(1e-12));
    // two nodes: one doubling, a hundredth slower
    const double before = 4 * last + first + 5 * send + item(step, TimeItem::data_traffic) + item(step, TimeItem::optimizer) + 0.125;
    CHECK(step.seconds == Approx(1.01 * before).epsilon(1e-12));
    CHECK(item(step, TimeItem::stalls) == Approx(0.01 * before).epsilon(1e-12));
}

TEST_CASE("by hand: traffic between copies over nodes, and without overlap") {
    Case c = dense();
    c.plan.gpus = 32, c.plan.global_batch = 96;  // 8 copies: 2 in each of 4 nodes, where 2 such groups share the network
    const LayerTimes layers = invented();
    const double P = 9'144, latency = 8 * 2e-3 * 2;  // log2(4)
    const auto both = [&](double bytes) { return std::max(bytes / 2 / (0.5 * 2e6), bytes * 2 * 3 / 4 / (0.4 * 5e6)) + latency; };
    const double reduce = both(4 * P), gather = both(2 * P);
    CHECK(item(step_of(c, layers), TimeItem::data_traffic) == Approx(0.2 * reduce + reduce / 8 + 0.2 * gather).epsilon(1e-12));
    c.plan.overlap_gradients = false;
    CHECK(item(step_of(c, layers), TimeItem::data_traffic) == Approx(reduce + 0.2 * gather).epsilon(1e-12));
    c.plan.overlap_parameters = false;
    CHECK(item(step_of(c, layers), TimeItem::data_traffic) == Approx(reduce + gather).epsilon(1e-12));
    c.plan.gradients_in_fp32 = false;
    CHECK(item(step_of(c, layers), TimeItem::data_traffic) == Approx(2 * gather).epsilon(1e-12));
    c.plan.zero = Zero::none;  // an all-reduce is both
    CHECK(item(step_of(c, layers), TimeItem::data_traffic) == Approx(2 * gather).epsilon(1e-12));
    CHECK(item(step_of(c, layers), TimeItem::optimizer) == Approx((34 * P + 12 * P) / (0.8 * kH / 0.85)).epsilon(1e-12));
    c.plan.zero = Zero::weights;  // for every one of the 4 micro-batches: gathered twice, shared out once
    CHECK(item(step_of(c, layers), TimeItem::weight_traffic) == Approx(4 * 3 * gather).epsilon(1e-12));
    CHECK(item(step_of(c, layers), TimeItem::data_traffic) == 0);
    c.plan.zero = Zero::optimizer;
    c.plan.optimizer_offload = 0.5;  // half of the update on the host: 2 + 2 bytes of each parameter's share over PCIe
    CHECK(item(step_of(c, layers), TimeItem::optimizer) ==
          Approx((0.5 * 34 * P / 8 + 12 * P) / (0.8 * kH / 0.85) + 0.5 * P / 8 * 4 / 1e5).epsilon(1e-12));
    const DataCollective parts = data_collective_parts(c.plan, c.hw, c.k, 1'000);
    CHECK(parts.inside == Approx(500 / (0.5 * 2e6)).epsilon(1e-12));
    CHECK(parts.across == Approx(1'000 * 2 * 3 / 4.0).epsilon(1e-12));
    CHECK(parts.fixed == Approx(latency).epsilon(1e-12));
}

TEST_CASE("by hand: schedules") {
    Case c = dense();
    c.plan.gpus = 4, c.plan.global_batch = 12;  // one node: sends go over its links, 2,880 / (0.6 * 0.5 * 2e6)
    const LayerTimes layers = invented();
    const double adding = 9e-3, first = 24 + adding + 1.5, last = 24 + adding + 3, send = 1e-3 + 2'880 / 6e5;
    CHECK(item(step_of(c, layers), TimeItem::pipeline_traffic) == Approx(5 * send).epsilon(1e-12));
    c.plan.virtual_stages = 3;  // a third of the bubble; a micro-batch passes the border three times, both ways
    CHECK(item(step_of(c, layers), TimeItem::bubble) == Approx(first / 3).epsilon(1e-12));
    CHECK(item(step_of(c, layers), TimeItem::pipeline_traffic) == Approx((2 + 2 * 4 * 3) * send).epsilon(1e-12));
    c.plan.overlap_pipeline = true;  // a quarter is felt
    CHECK(item(step_of(c, layers), TimeItem::pipeline_traffic) == Approx((2 + 2 * 4 * 3 * 0.25) * send).epsilon(1e-12));
    c = dense();
    c.plan.gpus = 12, c.plan.pipeline_parallel = 3;  // two layers a stage
    const double stage = 16 + 6e-3;
    const StepTime<double> three = step_of(c, layers);
    CHECK(item(three, TimeItem::bubble) == Approx(stage + 1.5 + stage).epsilon(1e-12));
    const double far = 2e-3 + 2'880.0 * 4 / 2.5e6;
    CHECK(item(three, TimeItem::pipeline_traffic) == Approx((4 + 2 * 3) * far).epsilon(1e-12));
    c.plan.recompute = Recompute::block, c.plan.recompute_layers = 1;  // one of two layers: half of 0.75 more for each
    CHECK(item(step_of(c, layers), TimeItem::recomputation) == Approx(4 * 2 * 0.375).epsilon(1e-12));
    c = dense();
    c.plan.pipeline_parallel = 1, c.plan.gpus = 4;
    const StepTime<double> one = step_of(c, layers);
    CHECK(item(one, TimeItem::bubble) == 0);
    CHECK(item(one, TimeItem::pipeline_traffic) == 0);
    CHECK(item(one, TimeItem::head) == Approx(4 * 4.5).epsilon(1e-12));
    CHECK(item(one, TimeItem::stalls) == 0);
    c.k.stall = 0.1;  // one other group of GPUs: 0.1 * ln(1 + 0.1 / 0.1) for each of 4 micro-batches
    CHECK(item(step_of(c, layers), TimeItem::stalls) == Approx(4 * 0.1 * std::log(2)).epsilon(1e-12));
    const double seconds = step_of(c, layers).seconds;
    c.plan.time_factor = 1.5;
    CHECK(step_of(c, layers).seconds == Approx(1.5 * seconds).epsilon(1e-12));
    CHECK(step_of(c, layers).forward == Approx(1.5 * 15).epsilon(1e-12));
}

TEST_CASE("by hand: how long each operation of a schedule takes") {
    Case c = dense();
    const LayerTimes layers = invented();
    c.plan.schedule = ScheduleKind::zero_bubble_h1;
    const OpTimes times = op_times(c.model, c.plan, c.hw, c.k, layers, Stages(c.model, c.plan));
    REQUIRE(times.forward.size() == 2);
    // B: half of the backward pass and of what is recomputed or sent to experts, (5.5 + 0.75 + 0.3125) / 2; W: the rest, and adding up
    CHECK(times.forward[0] == Approx(3 * 2.5 + 0.5).epsilon(1e-12));
    CHECK(times.backward[0] == Approx(3 * 3.28125 + 0.5).epsilon(1e-12));
    CHECK(times.weight[0] == Approx(3 * (2.21875 + 3e-3) + 0.5).epsilon(1e-12));
    CHECK(times.forward[1] == Approx(3 * 2.5 + 1).epsilon(1e-12));
    CHECK(times.transfer == Approx(2e-3 + 2'880.0 * 4 / 2.5e6).epsilon(1e-12));
    c.plan.schedule = ScheduleKind::one_f_one_b;
    const OpTimes whole = op_times(c.model, c.plan, c.hw, c.k, layers, Stages(c.model, c.plan));
    CHECK(whole.backward[1] == Approx(3 * (5.5 + 3e-3) + 2).epsilon(1e-12));
    CHECK(whole.weight[1] == 0);
}

TEST_CASE("by hand: what the profiles of GPU, cluster and plan make of the machine") {
    Gpu gpu;
    gpu.architecture = Architecture::ampere;
    gpu.bf16_flop_per_s = 3e14, gpu.fp16_flop_per_s = 2e14, gpu.fp8_flop_per_s = 0, gpu.hbm_byte_per_s = 2e12, gpu.link_byte_per_s = 3e11;
    gpu.streaming_multiprocessors = 108;
    Plan plan;
    plan.gpus_per_node = 8;
    Machine m = machine_of(gpu, nullptr, plan);
    CHECK(m.peak == 3e14);
    CHECK(m.node == 8 * 25e9);  // an adapter of 200 Gbit/s per GPU
    CHECK(m.host == 32e9);      // PCIe Gen4 x16
    CHECK(m.has_switch);
    plan.precision = Precision::fp16;
    CHECK(machine_of(gpu, nullptr, plan).peak == 2e14);
    plan.precision = Precision::fp8;
    CHECK(machine_of(gpu, nullptr, plan).peak == 3e14);  // no fp8 on that card
    gpu.architecture = Architecture::hopper;
    gpu.fp8_flop_per_s = 9e14, gpu.pcie_byte_per_s = 6e10;
    m = machine_of(gpu, nullptr, plan);
    CHECK(m.peak == 9e14);
    CHECK(m.peak_16 == 3e14);
    CHECK(m.multiplies_in_8_bits);
    CHECK(m.node == 8 * 50e9);
    CHECK(m.host == 6e10);
    plan.precision = Precision::fp8_weights;
    CHECK(machine_of(gpu, nullptr, plan).peak == 9e14);
    Cluster cluster;
    cluster.nic_byte_per_s = 1e10, cluster.nics_per_node = 3, cluster.has_switch = false;
    m = machine_of(gpu, &cluster, plan);
    CHECK(m.node == 3e10);
    CHECK_FALSE(m.has_switch);
}

TEST_CASE("the constants are those of the fit, GPU by GPU and site by site") {
    Machine m;
    Plan plan;
    m.architecture = Architecture::ampere;
    const Timing a = timing_of(m, nullptr, plan, AttentionKernel::flash);
    const double ampere[] = {0.827, 138,   0.36, 0.85,  0.635, 0.82,  1.67,  0.929,   46.5, 0.95,    72e-6,   0.7, 25e-6, 0.615,
                             0.289, 0.202, 1.77, 0.368, 10e-6, 0.306, 0.911, 1.15e-3, 0.1,  0.00103, 0.02e-3, 0.5, 2.38,  2.89e-3};
    const double* values = &a.gemm;
    for (std::size_t i = 0; i < sizeof ampere / sizeof(double); ++i) CHECK(values[i] == ampere[i]);
    m.architecture = Architecture::hopper;
    const Timing h = timing_of(m, nullptr, plan, AttentionKernel::flash);
    CHECK(h.gemm == 0.737);
    CHECK(h.attention == 0.368);
    CHECK(h.link == 0.737);
    CHECK(h.host_layer == 0.434e-3);
    CHECK(timing_of(m, nullptr, plan, AttentionKernel::cudnn).attention == 0.541);
    m.architecture = Architecture::blackwell;
    CHECK(timing_of(m, nullptr, plan, AttentionKernel::cudnn).gemm == 0.493);
    CHECK(timing_of(m, nullptr, plan, AttentionKernel::cudnn).attention == 0.473);
    plan.site = SiteKind::shared;
    CHECK(timing_of(m, nullptr, plan, AttentionKernel::flash).stall == 0.5e-3);
    plan.site = SiteKind::own;
    plan.site_network = 0.3, plan.site_fixed = 0.2, plan.site_stall = 0.4, plan.site_pipeline = 0.6;
    const Timing own = timing_of(m, nullptr, plan, AttentionKernel::flash);
    CHECK(own.network == 0.3);
    CHECK(own.fixed == 0.2);
    CHECK(own.stall == 0.4);
    CHECK(own.pipeline == 0.6);
}
