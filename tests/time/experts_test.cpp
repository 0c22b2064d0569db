// Layers with experts in time, worked by hand (time/small_machine.h). Attention's two matrices move 16,560 and 12,240 bytes, forward or for
// gradients of their inputs, and 30,960 and 20,880 for their own (items_test.cpp).
#include <doctest/doctest.h>

#include <algorithm>

#include "time/small_machine.h"

using namespace fourfold;
using namespace fourfold::tests::by_hand;

TEST_CASE("by hand: a layer with experts, and its traffic") {
    Case c = dense();
    c.model.experts = {.count = 4, .per_token = 2, .ffn = 24, .shared_ffn = 0};
    c.model.expert_layers = {1, 1, 1, 1, 1, 1};
    c.plan.expert_parallel = 2;
    // 60 / 2 * 2 = 60 token copies over 2 experts: 30 each. Widening K 48, C 48: 2*(30*48 + 48*48) + 2*30*48 = 10,368; narrowing K 24, C
    // 48: 2*(30*24 + 24*48) + 2*30*48 = 6,624
    const LayerTime layer = c.layers().expert;
    CHECK(layer.multiply_forward == near((16'560 + 12'240 + 2 * (10'368 + 6'624)) / kH));
    CHECK(layer.routed_forward == near(2 * (10'368 + 6'624) / kH));
    // weights: 2*(48*30 + 30*48) + 8*48*48 = 24,192 and 2*(24*30 + 30*48) + 8*24*48 = 13,536
    CHECK(layer.routed_backward == near(2 * (10'368 + 6'624 + 24'192 + 13'536) / kH));
    CHECK(layer.multiply_backward == near((16'560 + 12'240 + 30'960 + 20'880 + 2 * (10'368 + 6'624 + 24'192 + 13'536)) / kH));
    CHECK(c.layers().parameters_expert == 2'400 + 1'440 + 2 * 3 * 48 * 24);
    // element-wise: two experts of 24 values in the place of 80; two copies of 48 sorted by expert and back, each read and written
    CHECK(layer.element_forward == near(0.9 * 120 * (240 + (360 + 3 * 48 + 8 * 48) / 2) / kH));
    // an exchange: 2 * 60 * 48 bytes, half of them move, by DeepEP at 0.95 of the link's rate; there and back
    const double one = 1e-3 + 5'760.0 / 2 / (0.95 * 0.5 * 2e6);
    CHECK(layer.expert_forward == near(2 * one));
    CHECK(layer.expert_backward == near(2 * one));
    c.plan.gpus = 64, c.plan.expert_parallel = 4, c.plan.expert_tensor_parallel = 2;  // 8 GPUs, two nodes: 120 copies, 11,520 bytes
    // of a token's two copies the other node gets one with probability 1 - 1/2^2: 0.375 of the bytes cross, 11,520 * 0.375 * 4 / (0.4 *
    // 5e6) = 8.64 ms; inside the node all but a GPU's own, 11,520 * 7 / 8 / (0.5 * 2e6) = 10.08 ms, are the slower part
    CHECK(c.layers().expert.expert_forward == near(2 * (2e-3 * 3 + 10.08e-3 / 0.95)));
    // all to all: half of the copies cross, 11,520 * 0.5 * 4 / (0.4 * 5e6) = 11.52 ms, at 0.75 of the rate
    c.plan.expert_dispatch = ExpertDispatch::all_to_all;
    // 60 copies to one of four, each; then two GPUs gather what the other has got: 5,760 bytes at 1e6
    CHECK(c.layers().expert.expert_forward == near(2 * (2e-3 * 2 + 5.76e-3 / 0.75 + 1e-3 + 5.76e-3)));
    c.plan.expert_parallel = 2;  // in a node: half of the 5,760 bytes leave
    CHECK(c.layers().expert.expert_forward == near(2 * (1e-3 + 2.88e-3 / 0.75 + 1e-3 + 5.76e-3)));
    c.plan.expert_parallel = 4;
    // all 120 for one expert: K 48, C 2*24/2: 2*(120*48 + 48*24) + 2*120*24 = 19,584; K 12, C 48: 2*(120*12 + 12*48) + 2*120*48 = 15,552
    CHECK(c.layers().expert.routed_forward == near((19'584 + 15'552) / kH));
    c.plan.expert_dispatch = ExpertDispatch::automatic;
    c.hw.link *= 2;  // now the network is the slower part
    CHECK(c.layers().expert.expert_forward == near(2 * (2e-3 * 3 + 8.64e-3 / 0.95)));
    // beneath the work of another micro-batch: 0.6 of it, or of as much as there is
    const LayerTime before = c.layers().expert;
    c.plan.expert_overlap = true, c.plan.pipeline_parallel = 1;
    CHECK(c.layers().expert.expert_forward ==
          near(before.expert_forward -
               0.6 * std::min(before.expert_forward, before.multiply_forward + before.attention_forward + before.element_forward)));
    c.plan.expert_overlap = false, c.plan.pipeline_parallel = 2;
    c = dense();
    c.model.experts = {.count = 4, .per_token = 2, .ffn = 24, .shared_ffn = 16};
    c.model.expert_layers = {1, 1, 1, 1, 1, 1};
    c.plan.expert_imbalance = 2;  // 120 copies over 4 experts
    // shared experts: widening K 48, C 16, narrowing K 8, C 48: 2*(60*48 + 48*16) + 2*60*16 = 9,216 and 2*(60*8 + 8*48) + 2*60*48 = 7,488
    CHECK(c.layers().expert.multiply_forward == near((16'560 + 12'240 + 4 * (10'368 + 6'624) + 9'216 + 7'488) / kH));
    CHECK(c.layers().expert.element_forward == near(0.9 * 120 * (240 + (360 + 3 * 64 + 6 * 48) / 2) / kH));
    CHECK(c.layers().expert.expert_forward == 0);
    const LayerTime all = c.layers().expert;
    c.plan.recompute = Recompute::selective;
    c.plan.recompute_modules = moe_act;
    CHECK(c.layers().expert.recomputed == near(0.9 * 120 * (3 * 48 / 2) / kH));
    c.plan.recompute_modules = shared_experts;  // its multiplications, its 3*16/2 values, two exchanges
    CHECK(c.layers().expert.recomputed == near((9'216 + 7'488 + 0.9 * 120 * 24) / kH + all.tensor_forward / 2));
}

TEST_CASE("by hand: experts over two GPUs each, in groups at a rate of their own, with CPU time of their own") {
    Case c = dense();
    c.model.experts = {.count = 4, .per_token = 2, .ffn = 24};
    c.model.expert_layers = {1, 1, 1, 1, 1, 1};
    c.plan.expert_tensor_parallel = 2;  // four experts of three matrices of 48 x 12
    CHECK(c.layers().parameters_expert == 2'400 + 1'440 + 4 * 3 * 48 * 12);
    c.plan.recompute = Recompute::selective, c.plan.recompute_modules = shared_experts;  // there is none
    CHECK(c.layers().expert.recomputed == 0);
    c.plan.recompute = Recompute::none;
    c.plan.expert_tensor_parallel = 1, c.plan.expert_parallel = 2;
    // 60 copies of 48 values, half of them move, at 0.95 of 1e6 bytes per second; DeepSeek sends them there in fp8 and back in bf16
    const auto exchange = [](double bytes) { return 2 * (1e-3 + bytes * 60 * 48 / 2 / 0.95e6); };
    c.plan.precision = Precision::fp8;
    CHECK(c.layers().expert.expert_forward == near(exchange(2)));
    c.plan.framework = FrameworkKind::hai_llm;
    CHECK(c.layers().expert.expert_forward == near(exchange(1.5)));
    c.plan.precision = Precision::bf16;
    CHECK(c.layers().expert.expert_forward == near(exchange(2)));
    c.plan.framework = Plan().framework;
    c.plan.expert_parallel = 4;  // all of a node: three quarters move
    CHECK(c.layers().expert.expert_forward == near(2 * (1e-3 + 2 * 60 * 48 * 0.75 / 0.95e6)));
    c.plan.expert_parallel = 2;
    c.hw.memory = 1e15;  // the rate sets the pace
    const LayerTime before = c.layers().expert;
    for (const double share : {0.5, 2.0}) {
        c.k.grouped = share;
        CHECK(c.layers().expert.routed_forward == near(before.routed_forward / share));
        CHECK(c.layers().expert.routed_backward == near(before.routed_backward / share));
    }
    c.k.host_layer = 1'000, c.k.host_experts = 5;  // the GPU's work is nothing beside it
    CHECK(c.layers().expert.forward == near(1'005));
    CHECK(c.layers().dense.forward == near(1'000));
    c.k.graphed_host = 0.5, c.plan.cuda_graphs = CudaGraphs::layers;
    CHECK(c.layers().expert.forward == near(502.5));
}

TEST_CASE("by hand: experts with biases, and with limits before the gate") {
    Case c = dense();
    c.model.experts = {.count = 4, .per_token = 2, .ffn = 24, .shared_ffn = 16};
    c.model.expert_layers = {1, 1, 1, 1, 1, 1};
    c.plan.expert_parallel = 2;
    const LayerTime plain = c.layers().expert, dense_layer = c.layers().dense;
    // per token 2 * 24 values of experts (the shared one has no limits): 8 forward, 10 backward, 2 bytes each, over t = 2
    c.model.limited_gate = true;
    CHECK(c.layers().expert.element_forward == near(plain.element_forward + 0.9 * 120 * (8 * 48 / 2) / kH));
    CHECK(c.layers().expert.element_backward == near(plain.element_backward + 0.9 * 120 * (10 * 48 / 2) / kH));
    c.plan.recompute = Recompute::selective;
    c.plan.recompute_modules = moe_act;  // with its activation: 3 + 8 values
    CHECK(c.layers().expert.recomputed == near(0.9 * 120 * (11 * 48 / 2) / kH));
    c.plan.recompute = Recompute::none;
    c.model.limited_gate = false;
    // 48 values of each of a token's two copies; probabilities of 32 bits where DeepEP sends them: 28 and 40 bytes
    c.model.mlp_bias = true;
    CHECK(c.layers().expert.element_forward == near(plain.element_forward + 0.9 * 60 * (28 * 96 / 2) / kH));
    CHECK(c.layers().expert.element_backward == near(plain.element_backward + 0.9 * 60 * (40 * 96 / 2) / kH));
    c.plan.expert_dispatch = ExpertDispatch::all_to_all;  // of 16 bits: 12 and 16 bytes; 14 values moved in place of 8
    const double sorted = 0.9 * 120 * (6 * 48 / 2) / kH;
    CHECK(c.layers().expert.element_forward == near(plain.element_forward + sorted + 0.9 * 60 * (12 * 96 / 2) / kH));
    CHECK(c.layers().expert.element_backward == near(plain.element_backward + sorted + 0.9 * 60 * (16 * 96 / 2) / kH));
    CHECK(c.layers().dense.element_forward == dense_layer.element_forward);
    c.plan.expert_dispatch = ExpertDispatch::automatic, c.plan.expert_parallel = 1;  // nothing is sent: 6 values moved
    CHECK(c.layers().expert.element_forward == near(plain.element_forward - sorted / 3 + 0.9 * 60 * (12 * 96 / 2) / kH));
    c.plan.recompute = Recompute::selective;
    c.plan.recompute_modules = moe;
    const double with = c.layers().expert.recomputed;
    c.model.mlp_bias = false;
    CHECK(with == near(c.layers().expert.recomputed + 0.9 * 60 * (12 * 96 / 2) / kH));
}
