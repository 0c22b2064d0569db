// Single operations and every part of a layer's time once, worked by hand (time/small_machine.h).
#include <doctest/doctest.h>

#include <cmath>

#include "time/layer_time.h"
#include "time/small_machine.h"

using namespace fourfold;
using namespace fourfold::tests::by_hand;

namespace {

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
    CHECK(on.gemm(Pass::forward, kMatrix, 5e11, 60, 50, 48) == near(31'744.0 * 64 * 10 / 5e11));
    // 1,000 x 1,000: 4 * 8 = 32 tiles of 256 x 128, 3.2 waves; 0.25 * 3.2 + 0.75 * 4 = 3.8, times 65,536 = 249,036.8. Small: 64 tiles, 6.4
    // waves, 6.85 * 32,768 / 0.8 = 280,576
    CHECK(on.gemm(Pass::forward, kMatrix, 5e11, 1'000, 1'000, 100) == near(249'036.8 * 116 * 10 / 5e11));
    // 300 x 100: tiles of 256 x 128 take 2, of 128 x 256 take 3, and of 128 x 128 take 3: 0.25*0.2 + 0.75 = 0.8 * 65,536 = 52,428.8,
    // against (0.25*0.3 + 0.75) * 40,960 = 33,792
    CHECK(on.gemm(Pass::input, kMatrix, 5e11, 300, 100, 100) == near(33'792.0 * 116 * 10 / 5e11));
    // ten tiles of 256 x 128 are one wave; of the others, 20 are two: 65,536 against 131,072 and 2 * 40,960
    CHECK(on.gemm(Pass::forward, kMatrix, 5e11, 2'560, 128, 100) == near(65'536.0 * 116 * 10 / 5e11));
    CHECK(on.gemm(Pass::forward, kMatrix, 5e11, 128, 2'560, 100) == near(65'536.0 * 116 * 10 / 5e11));
    CHECK(slow.gemm(Pass::weight, kMatrix, 5e11, 60, 50, 48, 8) == near((2 * (60 * 48 + 48 * 50) + 8 * 60 * 50) / kH));
    CHECK(slow.gemm(Pass::forward, kMatrix, 5e11, 60, 50, 48) == near(16'560 / kH));
    CHECK(slow.rate() == 5e11);
    wide.multiplies_in_8_bits = true, wide.peak = 2e12;
    CHECK(on.rate() == 1e12);
    CHECK(on.rate_16() == 5e11);
    Timing faster = k;
    faster.eight_bits = 1.25;
    CHECK(Cost<double>(wide, faster).rate() == 1.25e12);
    CHECK(Cost<double>(wide, faster).rate_16() == 5e11);
    CHECK(Cost<double>(hw, faster).rate() == 5e11);
}

TEST_CASE("by hand: attention reaches its rate with the length of a GPU's sequence") {
    Case c = dense();
    const LayerTime before = c.layers().dense;
    // as many tokens as this GPU has of a sequence: half the rate, both passes
    c.k.attention_start = static_cast<double>(c.plan.sequence_length / c.plan.context_parallel);
    CHECK(c.layers().dense.attention_forward == near(2 * before.attention_forward));
    CHECK(c.layers().dense.attention_backward == near(2 * before.attention_backward));
    // a third of that: three quarters of it
    c.k.attention_start /= 3;
    CHECK(c.layers().dense.attention_forward == near(4.0 / 3 * before.attention_forward));
    c = dense();
    c.plan.context_parallel = 2, c.plan.gpus = 16;
    const double whole = c.layers().dense.attention_forward;
    c.k.attention_start = 10;  // of 20 tokens a GPU has 10
    CHECK(c.layers().dense.attention_forward == near(2 * whole));
}

TEST_CASE("by hand: an all-gather, within a node and between nodes, with a switch and without") {
    Machine hw = machine();
    const Timing k = timing();
    const Cost<double> on(hw, k);
    CHECK(on.collective(6'000, 1) == 0);
    CHECK(on.collective(6'000, 4) == near(1e-3 + 4'500 / (0.5 * 2e6)));      // three quarters move
    CHECK(on.collective(6'000, 8) == near(2e-3 * 3 + 5'250 / (0.5 * 2e6)));  // three latencies; a GPU's link is slower than the network
    hw.node = 2e6;
    CHECK(on.collective(6'000, 8) == near(2e-3 * 3 + 5'250 / (0.4 * 2e6)));
    hw.node = 5e6, hw.gpus_per_node = 1;  // no link at all
    CHECK(on.collective(6'000, 8) == near(2e-3 * 3 + 5'250 / (0.4 * 5e6)));
    hw = machine();
    Timing spans = k;  // half a second for each further node, at a share of the network of its own
    spans.spanning_latency = 0.5, spans.spanning_network = 0.1;
    const Cost<double> over(hw, spans);
    CHECK(over.collective(6'000, 4) == on.collective(6'000, 4));
    CHECK(over.collective(6'000, 8) == near(2e-3 * 3 + 0.5 + 5'250 / (0.1 * 5e6)));
    CHECK(over.collective(6'000, 16) == near(2e-3 * 4 + 0.5 * 3 + 5'625 / (0.1 * 5e6)));
    hw.topology = Topology::mesh;  // two of four GPUs: one of the three links of a GPU leads to the other
    CHECK(on.collective(6'000, 2) == near(1e-3 + 3'000 / (0.5 * 2e6 / 3)));
    CHECK(on.collective(6'000, 4) == near(1e-3 + 4'500 / (0.5 * 2e6)));
    CHECK(on.ring_link_rate(4) == near(0.25 * 2e6 / 3));
    CHECK(on.send_link_rate(4) == near(0.6 * 0.5 * 2e6 / 3));
    hw.mesh_gpus = 8;  // four of a mesh of eight: the links to the others stay idle
    CHECK(on.collective(6'000, 4) == near(1e-3 + 4'500 / (0.5 * 2e6 * 3 / 7)));
    CHECK(on.ring_link_rate(4) == near(0.25 * 2e6 / 7));
    hw.topology = Topology::bridges;  // of two neighbours; what reaches further goes over PCIe, 1e5 bytes/s
    CHECK(on.collective(6'000, 2) == near(1e-3 + 3'000 / (0.5 * 2e6)));
    CHECK(on.collective(6'000, 4) == near(1e-3 + 4'500 / (0.5 * 1e5)));
    CHECK(on.strided_collective(6'000, 2, 1) == near(1e-3 + 3'000 / (0.5 * 2e6)));
    CHECK(on.strided_collective(6'000, 2, 2) == near(1e-3 + 3'000 / (0.5 * 1e5)));  // two, but no neighbours
    CHECK(on.share_of_link(0.3, 4) == near(0.3 * 0.5 * 1e5));
    CHECK(on.ring_link_rate(2) == near(0.25 * 2e6));
    CHECK(on.ring_link_rate(4) == near(0.25 * 1e5));
    CHECK(on.send_link_rate(2) == near(0.6 * 0.5 * 2e6));
    CHECK(on.send_link_rate(4) == near(0.6 * 0.5 * 1e5));
}

TEST_CASE("by hand: a dense layer") {
    Case c = dense();
    const LayerTime layer = c.layers().dense;
    CHECK(layer.multiply_forward == near(kForward / kH));
    CHECK(layer.multiply_backward == near((kForward + kWeights) / kH));
    CHECK(c.layers().parameters_dense == kLayer);
    // attention: 2*b*s*s*(a/t)*d = 72,000 operations at 4e11; the tail 1.5 * 10 * 128 / (3 * 3 * 20) = 32/3 of the whole
    CHECK(layer.attention_forward == near(72'000 / 4e11 * (1 + 32.0 / 3)));
    CHECK(layer.attention_backward == near(2.5 * 72'000 / 3.2e11 * (1 + 0.4 * 32 / 3)));
    // element by element, per token: norms 4*48 and residuals 6*48, over t; positions 2*(6+2)*10 and copies 2*(6+4)*10, the activation
    // 3*80, over t: 240 + 300 values of 2 bytes
    CHECK(layer.element_forward == near(0.9 * 2 * 60 * (240 + 300) / kH));
    CHECK(layer.element_backward == near(0.9 * 2 * 60 * ((6 + 6) * 48 / 2 + (360 + 5 * 80) / 2) / kH));
    // an all-gather of 2*60*48 bytes: 1e-3 + 2,880 / 1e6
    const double one = 3.88e-3;
    CHECK(layer.tensor_forward == near(4 * one));
    CHECK(layer.tensor_backward == near(2 * one + 0.6 * 4 * one));  // all that can hide does
    CHECK(layer.context_forward == 0);
    CHECK(layer.expert_forward == 0);
    const double forward = layer.multiply_forward + layer.attention_forward + layer.element_forward + layer.tensor_forward;
    CHECK(layer.forward == near(forward));
    c.k.host_layer = 2 * forward;  // the CPU is the slower one: fourth root of 1 + 2^4
    CHECK(c.layers().dense.forward == near(forward * std::pow(17, 0.25)));
    const double backward = layer.multiply_backward + layer.attention_backward + layer.element_backward + layer.tensor_backward;
    CHECK(c.layers().dense.backward == near(std::pow(std::pow(backward, 4) + std::pow(2.6 * forward, 4), 0.25)));
    c.plan.cuda_graphs = CudaGraphs::layers;  // half of it is left: as long as the GPU, fourth root of 2
    c.k.graphed_host = 0.5;
    CHECK(c.layers().dense.forward == near(forward * std::pow(2, 0.25)));
    CHECK(c.layers().dense.backward == near(std::pow(std::pow(backward, 4) + std::pow(1.3 * forward, 4), 0.25)));
    c.plan.cuda_graphs = CudaGraphs::step;  // nothing
    CHECK(c.layers().dense.forward == near(forward));
    CHECK(c.layers().dense.backward == near(backward));
    CHECK(c.layers().dense.launch_forward == 0);
    c.plan.framework = FrameworkKind::nanotron;
    CHECK(c.layers().dense.launch_forward == 0);
    c.plan.cuda_graphs = CudaGraphs::none;  // launched ahead: beside the GPU's work
    CHECK(c.layers().dense.launch_forward == near(2 * forward));
    CHECK(c.layers().dense.launch_backward == near(2.6 * forward));
}

TEST_CASE("by hand: variants of a dense layer's multiplications and element-wise work") {
    Case c = dense();
    c.plan.gradients_in_fp32 = false;  // 4 bytes per element of a weight's gradient: 4 * 9,600 fewer
    CHECK(c.layers().dense.multiply_backward == near((kForward + kWeights - 4 * 9'600) / kH));
    c = dense();
    c.model.gated = false;  // widening: C 40, forward 2*(60*48 + 48*40) + 2*60*40 = 14,400; element-wise 2*80 in the place of 3*80
    CHECK(c.layers().dense.multiply_forward == near((kForward - 23'040 + 14'400) / kH));
    CHECK(c.layers().dense.element_forward == near(0.9 * 120 * (240 + (360 + 160) / 2) / kH));
    CHECK(c.layers().dense.element_backward == near(0.9 * 120 * (288 + (360 + 3.5 * 80) / 2) / kH));
    c = dense();
    c.model.learned_positions = true;  // no rotary positions: 160 values fewer
    c.plan.hidden_dropout = true;      // 2*48 more
    CHECK(c.layers().dense.element_forward == near(0.9 * 120 * ((480 + 96) / 2 + (200 + 240) / 2) / kH));
    c = dense();
    c.plan.fused_norms = false;  // norms 10*48 forward, 2.5 * 6*48 backward
    CHECK(c.layers().dense.element_forward == near(0.9 * 120 * ((480 + 288) / 2 + 300) / kH));
    CHECK(c.layers().dense.element_backward == near(0.9 * 120 * ((720 + 288) / 2 + 380) / kH));
    c = dense();
    c.plan.sequence_parallel = false;  // every GPU works through whole norms; four all-reduces, which nothing hides
    CHECK(c.layers().dense.element_forward == near(0.9 * 120 * (480 + 300) / kH));
    CHECK(c.layers().dense.tensor_backward == near(4 * 3.88e-3));
}

TEST_CASE("by hand: tensor-parallel traffic that work cannot hide, and tp-comm-overlap") {
    Case c = dense();
    c.hw.link = 2e5;  // one = 1e-3 + 2,880 / 1e5 = 0.0298; twice that is more than the input gradients' (16,560 + 23,040) / 1e6 = 0.0396,
                      // and less than the weight gradients' 0.07704
    CHECK(c.layers().dense.tensor_backward == near(2 * 0.0298 + (0.0596 - 0.0396) + 0.6 * (0.0396 + 0.0596)));
    c.plan.tensor_overlap = true;  // 8e-6 and three tenths of what is beyond the latency
    CHECK(c.layers().dense.tensor_forward == near(4 * (8e-6 + 0.3 * 0.0288)));
    CHECK(c.layers().dense.tensor_backward == near(6 * (8e-6 + 0.3 * 0.0288)));
    c.hw.gpus_per_node = 2;  // still in one node
    CHECK(c.layers().dense.tensor_forward == near(4 * (8e-6 + 0.3 * 0.0288)));
    c.plan.tensor_parallel = 1;
    CHECK(c.layers().dense.tensor_forward == 0);
    c = dense();
    c.hw.link = 1e5;  // one = 1e-3 + 2,880 / 5e4 = 0.0586: twice that is more than either can hide
    CHECK(c.layers().dense.tensor_backward == near(2 * 0.0586 + (0.1172 - 0.0396) + (0.1172 - 0.07704) + 0.6 * (0.0396 + 0.07704)));
}

TEST_CASE("by hand: attention of heads narrower than 128") {
    Case c = dense();
    const LayerTime usual = c.layers().dense;
    c.k.attention_narrow = static_cast<double>(c.model.head_dim);  // the rest of a score takes as long as its multiplications
    const double times = 2 / (1 + c.k.attention_narrow / 128);     // 1 + 1, over what is so at 128
    CHECK(c.layers().dense.attention_forward == near(times * usual.attention_forward));
    CHECK(c.layers().dense.attention_backward == near(times * usual.attention_backward));
    Case wide = dense();
    for (const std::int64_t width : {128, 256}) {
        wide.model.head_dim = width, wide.k.attention_narrow = 0;
        const double before = wide.layers().dense.attention_forward;
        wide.k.attention_narrow = 56;
        CHECK(wide.layers().dense.attention_forward == before);
    }
}

TEST_CASE("by hand: attention that writes its scores, and attention to a window") {
    Case c = dense();
    c.plan.attention = Attention::plain;
    // 4*b*s*s*(a/t)*d = 144,000 operations at 0.62 * 5e11, and half of it since 10 values are not whole 16 bytes; 3,600 scores, 8 and 11
    // bytes, at 0.8 of the memory's rate
    const double rate = 1.55e11, memory = 0.8 * kH / 0.85;
    CHECK(c.layers().dense.attention_forward == near(144'000 / rate + 8 * 3'600 / memory));
    CHECK(c.layers().dense.attention_backward == near(288'000 / rate + 11 * 3'600 / memory));
    c.plan.attention_dropout = true;
    CHECK(c.layers().dense.attention_forward == near(144'000 / rate + 11 * 3'600 / memory));
    CHECK(c.layers().dense.attention_backward == near(288'000 / rate + 14 * 3'600 / memory));
    c.plan.recompute = Recompute::selective, c.plan.recompute_modules = core_attn;  // one of the two multiplications, and the scores
    CHECK(c.layers().dense.recomputed == near(72'000 / rate + 11 * 3'600 / memory));
    c.plan.attention_dropout = false;
    c.model.head_dim = 16;
    CHECK(c.layers().dense.attention_forward == near(1.6 * 144'000 / 3.1e11 + 8 * 3'600 / memory));
    c.model.latent = {.q_rank = 14, .kv_rank = 18, .nope_dim = 13, .rope_dim = 3, .value_dim = 8};  // (16 + 8) / 2 values a head
    CHECK(c.layers().dense.attention_forward == near(1.2 * 144'000 / 3.1e11 + 8 * 3'600 / memory));
    c.model.latent.value_dim = 9;
    CHECK(c.layers().dense.attention_forward == near(1.25 * 144'000 / 1.55e11 + 8 * 3'600 / memory));
    c.model.latent.value_dim = 8, c.model.latent.nope_dim = 14;
    CHECK(c.layers().dense.attention_forward == near(1.25 * 144'000 / 1.55e11 + 8 * 3'600 / memory));
    c = dense();
    c.plan.sequence_length = 1'000, c.plan.micro_batch = 1;
    c.model.window = {.tokens = 100, .chunks = true, .layers = {}};
    c.model.window.layers = {1, 0, 1, 0, 1, 0};
    // half of the layers attend to 50 tokens of their chunk, the others to 500: 275 on average; tail 1,920 / (3 * 1,000) = 0.64
    CHECK(c.layers().dense.attention_forward == near(4.0 * 1'000 * 275 * 3 * 10 / 4e11 * 1.64));
    c.model.window.chunks = false;  // 100 - 100*100 / 2,000 + 128 = 223
    CHECK(c.layers().dense.attention_forward == near(4.0 * 1'000 * 361.5 * 3 * 10 / 4e11 * 1.64));
    c.plan.sequence_length = 200;  // 100 - 100*100 / 400 + 128 = 203 are more than half of the sequence; tail 1,920 / (3 * 200)
    CHECK(c.layers().dense.attention_forward == near(4.0 * 200 * 100 * 3 * 10 / 4e11 * 4.2));
    c.plan.sequence_length = 1'000;
    c.plan.micro_batch = 2;  // twice the work, half the tail
    CHECK(c.layers().dense.attention_forward == near(4.0 * 2 * 1'000 * 361.5 * 3 * 10 / 4e11 * 1.32));
}

TEST_CASE("by hand: a sequence in two slices, and a feed-forward part in two tiles") {
    Case c = dense();
    c.plan.token_slices = 2;  // 10 queries and 20 keys: 2*3*20*10*3*10 = 36,000 operations; the longest block 1.5 * (1 + 1/2) / 2 = 1.125
    CHECK(c.layers().dense.attention_forward == near(36'000 / 4e11 * (1 + 1.125 * 10 * 128 / (3 * 3 * 10))));
    // 30 tokens; and gradients of keys and values of 3 * (20 - 10) / 2 earlier tokens on average, of 2*2*10/2 values, in 6 bytes
    CHECK(c.layers().dense.element_backward == near(0.9 * (60 * ((6 + 6) * 48 / 2 + (360 + 5 * 80) / 2) + 6 * 15 * 20) / kH));
    c = dense();
    c.plan.feed_forward_tiles = 2;
    // of 30 tokens: widening 2*(30*48 + 48*80) + 2*30*80 = 15,360, itself 2*(48*30 + 30*80) + 8*48*80 = 38,400; narrowing 2*(30*40 +
    // 40*48) + 2*30*48 = 9,120, itself 2*(40*30 + 30*48) + 8*40*48 = 20,640; forward once more in the backward pass
    const double tiles = 2 * (15'360 + 9'120);
    CHECK(c.layers().dense.multiply_forward == near((16'560 + 12'240 + tiles) / kH));
    CHECK(c.layers().dense.multiply_backward == near((16'560 + 12'240 + 30'960 + 20'880 + 2 * tiles + 2 * (38'400 + 20'640)) / kH));
    // the activation function too: 3 of 80 / 2 values
    CHECK(c.layers().dense.element_backward == near(0.9 * 120 * (288 + (360 + 5 * 80) / 2 + 3 * 80 / 2) / kH));
}

TEST_CASE("by hand: a ring of context parallelism") {
    Case c = dense();
    c.plan.context_parallel = 2, c.plan.gpus = 16;  // M = 30
    // keys and values of one KV head: 4 * 30 * 1 * 10 = 1,200 bytes at 0.25 * 2e6, 3e-3 of latency
    const double step = 3e-3 + 1'200 / 5e5, rescaling = 2 * 16 * 1.25 * 30 * 6 * 10 / (2 * kH);
    const double flop = 2.0 * 3 * 20 * 20 * 3 * 10 / 2, tail = 1.5 * 10 * 128 / (3 * 3 * 10.0);
    const double forward = flop / 4e11 * (1 + tail), backward = 2.5 * flop / 3.2e11 * (1 + 0.4 * tail);
    CHECK(c.layers().dense.attention_forward == near(forward));
    CHECK(c.layers().dense.context_forward == near(step - forward / 2 + rescaling));
    CHECK(c.layers().dense.context_backward == near(3 * step - backward / 2 + rescaling));
    c.plan.context_parallel = 4, c.plan.gpus = 32;  // 2 * 4 GPUs lie in two nodes; M = 15, 600 bytes; two GPUs of a node send at once
    const double far = 2e-3 + 5e-3 + 600 * 2 / (0.3 * 5e6), again = 4 * 16 * 1.25 * 15 * 6 * 10 / (2 * kH);
    const double quarter = 2.0 * 3 * 20 * 20 * 3 * 10 / 4 / 4e11 * (1 + 1.5 * 10 * 128 / (3 * 3 * 5.0)) / 4;
    CHECK(c.layers().dense.context_forward == near(3 * (far - quarter) + again));
    c = dense();
    c.plan.tensor_parallel = 4, c.plan.context_parallel = 2, c.plan.gpus = 16, c.hw.gpus_per_node = 8;
    c.k.attention = 1e6;  // hides nothing
    // two KV heads for four GPUs: each has one, 4 * 30 * 10 bytes; as far as attention takes no time
    CHECK(c.layers().dense.context_forward == near(3e-3 + 1'200 / 5e5 + 2 * 16 * 1.25 * 30 * 6 * 10 / (4 * kH), 1e-6));
    c = dense();
    c.plan.context_parallel = 2, c.plan.gpus = 16, c.k.attention = 1e6;
    c.model.latent = {.q_rank = 14, .kv_rank = 18, .nope_dim = 13, .rope_dim = 3, .value_dim = 8}, c.model.kv_heads = 6;
    // three heads of this GPU, each with a key of 13 + 3 and a value of 8: 2 * 30 * 3 * 24 bytes; outputs of 8 are added up
    CHECK(c.layers().dense.context_forward == near(3e-3 + 4'320 / 5e5 + 2 * 16 * 1.25 * 30 * 6 * 8 / (2 * kH), 1e-6));
}

TEST_CASE("by hand: heads that are swapped, on a mesh and among four GPUs") {
    Case c = dense();
    c.model.heads = 8, c.plan.context_parallel = 2, c.plan.context_parallel_kind = ContextKind::all_to_all, c.plan.gpus = 16;
    // queries and output of 4 heads of 10, keys and values of as many as GPUs need, 2: 2 * (4 + 2) * 10 values of 30 tokens, half of which
    // leave; at 0.75 of what collectives reach
    const double bytes = 2 * 30 * 120 / 2.0;
    CHECK(c.layers().dense.context_forward == near(4 * 1e-3 + bytes / (0.75 * 0.5 * 2e6)));
    c.hw.topology = Topology::mesh, c.hw.mesh_gpus = 8;  // 2 x 2 GPUs: three of seven links of each
    CHECK(c.layers().dense.context_forward == near(4 * 1e-3 + bytes / (0.75 * 0.5 * 2e6 * 3 / 7)));
    // among four GPUs of a switch, of 8 heads and 4: 2 * (8 + 4) * 10 values of 15 tokens, three quarters of which leave
    c.hw.topology = Topology::one_switch, c.plan.tensor_parallel = 1, c.plan.context_parallel = 4;
    CHECK(c.layers().dense.context_forward == near(4 * 1e-3 + 2 * 15 * 240 * 3 / 4.0 / (0.75 * 0.5 * 2e6)));
}

TEST_CASE("by hand: recomputation") {
    Case c = dense();
    const LayerTime kept = c.layers().dense;
    c.plan.recompute = Recompute::full;
    CHECK(c.layers().dense.recomputed == near(kept.forward));
    CHECK(c.layers().dense.backward == near(kept.backward + kept.forward));
    c.plan.recompute = Recompute::block;
    CHECK(c.layers().dense.backward == near(kept.backward));
    CHECK(c.layers().dense.recomputed == near(kept.forward));
    c.plan.recompute = Recompute::selective;
    c.plan.recompute_modules = core_attn;
    CHECK(c.layers().dense.recomputed == near(kept.attention_forward));
    c.plan.transformer_engine = Habit::off;
    c.plan.recompute_modules = layernorm;  // half of four values of each norm, split along the sequence
    CHECK(c.layers().dense.recomputed == near(0.9 * 2 * 60 * (4 * 48 / 2) / kH));
    c.plan.recompute_modules = mlp;  // its two multiplications, 3*80/2 values, and two of the four exchanges
    CHECK(c.layers().dense.recomputed == near((23'040 + 14'400) / kH + 0.9 * 120 * 120 / kH + kept.tensor_forward / 2));
    c.k.host_layer = 1;
    c.plan.recompute = Recompute::full;
    const double work = 2 * kept.forward + kept.backward - kept.forward;
    CHECK(c.layers().dense.backward == near(std::pow(std::pow(work, 4) + std::pow(2.3, 4), 0.25)));
}

TEST_CASE("by hand: recomputation of single operations") {
    Case c = dense();
    c.plan.framework = FrameworkKind::pytorch;
    const LayerTime kept = c.layers().dense;
    c.plan.recompute = Recompute::operations;
    // keys, 2 of the 10 heads of the joint matrix: K 48, C 50; wo: K 30, C 48; w3, half of the joint one; two of the four exchanges
    const double qkv = 2 * (60 * 48 + 48 * 50) + 2 * 60 * 50, output = 2 * (60 * 30 + 30 * 48) + 2 * 60 * 48;
    CHECK(c.layers().dense.recomputed == near((qkv * 2 / 10 + output + 23'040 / 2) / kH + kept.element_forward + kept.tensor_forward / 2));
    CHECK(c.layers().dense.backward == near(kept.backward + c.layers().dense.recomputed));
    c.plan.framework = FrameworkKind::pytorch, c.plan.tensor_parallel = 1, c.plan.gpus = 4;
    c.plan.recompute = Recompute::none;
    const LayerTime alone = c.layers().dense;
    c.plan.recompute = Recompute::operations;  // K 48, C 100; K 60, C 48; K 48, C 160
    const double wide = 2 * (60 * 48 + 48 * 100) + 2 * 60 * 100, narrow = 2 * (60 * 60 + 60 * 48) + 2 * 60 * 48,
                 up = 2 * (60 * 48 + 48 * 160) + 2 * 60 * 160;
    CHECK(c.layers().dense.recomputed == near((wide * 2 / 10 + narrow + up / 2) / kH + alone.element_forward));
    c.model.kv_heads = 6;  // without groups: a third of K 48, C 180
    c.plan.recompute = Recompute::none;
    const double elements = c.layers().dense.element_forward;
    c.plan.recompute = Recompute::operations;
    CHECK(c.layers().dense.recomputed == near(((2 * (60 * 48 + 48 * 180) + 2 * 60 * 180) / 3.0 + narrow + up / 2) / kH + elements));
    c.model.kv_heads = 2;
    c.plan.attention = Attention::plain;  // it is computed again too
    c.plan.recompute = Recompute::none;
    const LayerTime plain = c.layers().dense;
    c.plan.recompute = Recompute::operations;
    CHECK(c.layers().dense.recomputed == near((wide * 2 / 10 + narrow + up / 2) / kH + plain.element_forward + plain.attention_forward));
}

TEST_CASE("by hand: latent attention's multiplications") {
    Case c = dense();
    c.model.latent = {.q_rank = 14, .kv_rank = 18, .nope_dim = 7, .rope_dim = 4, .value_dim = 9};
    // down K 48, C 14; up K 14, C 6*11/2 = 33; down K 48, C 22; up K 18, C 6*16/2 = 48; output K 27, C 48. 2*(60*K + K*C) + 120*C:
    const double down = 2 * (2'880 + 672) + 1'680, up = 2 * (840 + 462) + 3'960, kv_down = 2 * (2'880 + 1'056) + 2'640,
                 kv_up = 2 * (1'080 + 864) + 5'760, output = 2 * (1'620 + 1'296) + 5'760;
    CHECK(c.layers().dense.multiply_forward == near((down + up + kv_down + kv_up + output + 23'040 + 14'400) / kH));
    CHECK(c.layers().parameters_dense == 672 + 462 + 1'056 + 864 + 1'296 + 3'840 + 1'920);
    CHECK(c.layers().dense.attention_forward == near(2.0 * 3 * 400 * 3 * 10 / 4e11 * (1 + 32.0 / 3)));  // (7 + 4 + 9) / 2
    const LayerTime kept = c.layers().dense;
    c.plan.recompute = Recompute::selective, c.plan.recompute_modules = mla_up_proj;
    CHECK(c.layers().dense.recomputed == near((up + kv_up + 0.9 * 120 * 180) / kH + kept.tensor_forward / 4));
    c.model.latent.q_rank = 0;  // K 48, C 33
    c.plan.recompute = Recompute::none;
    CHECK(c.layers().dense.multiply_forward == near((2 * (2'880 + 1'584) + 3'960 + kv_down + kv_up + output + 23'040 + 14'400) / kH));
}

TEST_CASE("by hand: the ends of the model") {
    Case c = dense();
    const double one = 3.88e-3;
    // logits: K 48, C 128: 2*(60*48 + 48*128) + 2*60*128 = 33,408; its input the same; itself 2*(48*60 + 60*128) + 8*48*128 = 70,272; 40
    // bytes for each of 7,680 logits; adding up 3 bytes for each of 128*48 weights
    CHECK(c.layers().head == near((2 * 33'408 + 70'272 + 40 * 7'680 + 3 * 6'144) / kH + 3 * one));
    CHECK(c.layers().embedding == near(2 * one + 6 * 60 * 48 / (0.5 * kH / 0.85) + 14 * 6'144 / kH));
    const double head = c.layers().head, embedding = c.layers().embedding;
    c.plan.loss = Loss::te_fused;  // half of the loss's bytes
    CHECK(c.layers().head == near(head - 20 * 7'680 / kH));
    c.plan.loss = Loss::gathered;  // the whole vocabulary on every GPU
    CHECK(c.layers().head == near(head + 40 * 7'680 / kH));
    c.plan.loss = Loss::plain;
    c.plan.tensor_parallel = 1;
    c.model.vocabulary = 128;
    CHECK(c.layers().embedding == near(6 * 60 * 48 / (0.5 * kH / 0.85) + 14 * 6'144 / kH));
    c = dense();
    c.model.multi_token_layers = 2;
    // two inputs joined: K 96, C 24: 2*(60*96 + 96*24) + 2*60*24 = 19,008, its input 2*(60*24 + 24*96) + 2*60*96 = 19,008, itself
    // 2*(96*60 + 60*24) + 8*96*24 = 32,832
    const LayerTime layer = c.layers().dense;
    const double further = embedding + (2 * 19'008 + 32'832) / kH + layer.forward + layer.backward + head + 3 * (kLayer + 2'304) / kH;
    CHECK(c.layers().head == near(head + 2 * further));
}
