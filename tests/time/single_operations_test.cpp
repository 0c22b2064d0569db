// Layers of PyTorch's single operations (Hugging Face's transformers) in time, worked by hand on the small machine.
#include <doctest/doctest.h>

#include "random_cases.h"
#include "time/small_machine.h"

using namespace fourfold;
using namespace fourfold::tests::by_hand;

namespace {

// forward, or gradients of the inputs, of the four matrices; bytes, as in items_test.cpp
constexpr double kMatrices = 16'560 + 12'240 + 23'040 + 14'400;

// Of an operation of which so much does not depend on memory, on a machine whose 10 multiprocessors have 100e9 bytes per second each, not
// the 36.4e9 of an H200's.
constexpr double computed(double part) { return 1 - part + part * (kH / 0.85 / 10) / (4'800e9 / 132); }
constexpr double kNorms = computed(0.41), kRotary = computed(0.82), kAdapters = computed(0.38);

Case in_16_bits() {
    Case c = dense();
    c.plan.framework = FrameworkKind::transformers, c.plan.zero = Zero::none, c.plan.master_weights = Habit::off;
    return c;
}

}  // namespace

TEST_CASE("single operations by hand: element-wise work where 16 bits flow, and where 32 do") {
    Case c = in_16_bits();
    // 60 tokens, 2 bytes, 0.9 of them: norms 10 and residuals 6 of 48 values, rotary positions 28 of 8 heads of 10, the gate 5 of 80
    CHECK(c.layers().dense.element_forward == near(0.9 * 120 * ((kNorms * 480 + 288) / 2 + (kRotary * 28 * 80 + 5 * 80) / 2) / kH));
    CHECK(c.layers().dense.element_backward == near(0.9 * 120 * ((kNorms * 720 + 288) / 2 + (kRotary * 35 * 80 + 8.5 * 80) / 2) / kH));
    c.plan.master_weights = Habit::automatic;  // 8 and 30 of 48 more; 9,600 weights of a layer are cast, in 6 bytes each
    CHECK(c.layers().dense.element_forward ==
          near((0.9 * 120 * ((kNorms * 480 + 288 + 384) / 2 + (kRotary * 28 * 80 + 5 * 80) / 2) + 6 * 9'600) / kH));
    CHECK(c.layers().dense.element_backward ==
          near((0.9 * 120 * ((kNorms * 720 + 288 + 1'440) / 2 + (kRotary * 35 * 80 + 8.5 * 80) / 2) + 6 * 9'600) / kH));
    c = in_16_bits();
    const LayerTime narrow = c.layers().dense;
    c.plan.trained = TrainedPart::lora, c.plan.frozen_weights = FrozenWeights::nf4, c.plan.frozen_in_fp32 = true;
    CHECK(c.layers().dense.element_forward == near(2 * narrow.element_forward));  // packed matrices return 32 bits
    CHECK(c.layers().dense.element_backward == near(2 * narrow.element_backward));
    c.plan.zero = Zero::weights;
    CHECK(c.layers().dense.element_forward == narrow.element_forward);
    c = in_16_bits();
    c.model.layer_norm = true, c.model.gated = false;  // 20 and 32 of 48; GELU 2 of 80
    CHECK(c.layers().dense.element_forward == near(0.9 * 120 * ((960 + 288) / 2 + (kRotary * 28 * 80 + 2 * 80) / 2) / kH));
    c.model.gelu_steps = true;  // 25 and 45
    CHECK(c.layers().dense.element_forward == near(0.9 * 120 * ((960 + 288) / 2 + (kRotary * 28 * 80 + 25 * 80) / 2) / kH));
    CHECK(c.layers().dense.element_backward == near(0.9 * 120 * ((1'536 + 288) / 2 + (kRotary * 35 * 80 + 45 * 80) / 2) / kH));
    c = in_16_bits();
    c.model.learned_positions = true;  // no rotary ones: 2 of 8 heads
    CHECK(c.layers().dense.element_forward == near(0.9 * 120 * ((kNorms * 480 + 288) / 2 + (2 * 80 + 5 * 80) / 2) / kH));
    c = in_16_bits();
    c.plan.activation_fusion = Habit::on;  // Liger: norms 4, rotary positions 2 of 8 heads, the gate 3
    CHECK(c.layers().dense.element_forward == near(0.9 * 120 * ((192 + 288) / 2 + (160 + 240) / 2) / kH));
}

TEST_CASE("single operations by hand: norms at a rate of their own, and norms of queries and keys") {
    Case c = in_16_bits();
    c.k.plain_norms = 2;  // twice as long as 10 of 48 values
    CHECK(c.layers().dense.element_forward == near(0.9 * 120 * ((kNorms * 960 + 288) / 2 + (kRotary * 28 * 80 + 5 * 80) / 2) / kH));
    c = in_16_bits();
    c.model.qk_norm = true;  // one norm more, not two: 5 and 7.5 of 8 heads of 10
    CHECK(c.layers().dense.element_forward ==
          near(0.9 * 120 * ((kNorms * 480 + 288) / 2 + (kRotary * 28 * 80 + kNorms * 5 * 80 + 5 * 80) / 2) / kH));
    CHECK(c.layers().dense.element_backward ==
          near(0.9 * 120 * ((kNorms * 720 + 288) / 2 + (kRotary * 35 * 80 + kNorms * 7.5 * 80 + 8.5 * 80) / 2) / kH));
}

TEST_CASE("single operations by hand: four norms, or one; norms and positions of latent attention") {
    Case c = in_16_bits();
    c.model.norms_per_layer = 4;  // 20 values of 48
    CHECK(c.layers().dense.element_forward == near(0.9 * 120 * ((kNorms * 960 + 288) / 2 + (kRotary * 28 * 80 + 5 * 80) / 2) / kH));
    c.model.norms_per_layer = 1;
    CHECK(c.layers().dense.element_forward == near(0.9 * 120 * ((kNorms * 240 + 288) / 2 + (kRotary * 28 * 80 + 5 * 80) / 2) / kH));
    c = in_16_bits();
    // positions of 4 values, of 6 heads and one key; 4 * 6 heads of 8 + 4 joined; norms of what 16 and 12 values make, 5 values each
    c.model.latent = {.q_rank = 12, .kv_rank = 16, .nope_dim = 8, .rope_dim = 4, .value_dim = 8};
    CHECK(c.layers().dense.element_forward ==
          near(0.9 * 120 * ((kNorms * 480 + 288) / 2 + (kRotary * 28 * 7 * 4 + 4 * 6 * 12 + kNorms * 5 * 28 + 5 * 80) / 2) / kH));
}

TEST_CASE("single operations by hand: experts are sorted, masked and weighted, all in one launch") {
    Case c = in_16_bits();
    c.model.experts = {.count = 4, .per_token = 2, .ffn = 24, .shared_ffn = 16}, c.model.expert_layers = {1, 1, 1, 1, 1, 1};
    // two copies of 48 values in, 24 inside: 19 and 29 of them; the shared expert's gate 5 and 8.5 of 16
    CHECK(c.layers().expert.element_forward ==
          near(0.9 * 120 * ((kNorms * 480 + 288) / 2 + (kRotary * (28 * 80 + 19 * 2 * 72) + 5 * 16) / 2) / kH));
    CHECK(c.layers().expert.element_backward ==
          near(0.9 * 120 * ((kNorms * 720 + 288) / 2 + (kRotary * (35 * 80 + 29 * 2 * 72) + 8.5 * 16) / 2) / kH));
    c.hw.memory = 1e15;  // the rate sets the pace: one tile of ten at once counts 0.25 of a tenth and 0.75 of a wave, or a tenth
    const double whole = c.layers().expert.routed_forward;
    c.k.grouped_waves = 1;
    CHECK(c.layers().expert.routed_forward == near(whole * 0.1 / (0.25 * 0.1 + 0.75)));
}

TEST_CASE("single operations by hand: the loss reads every logit of the whole vocabulary") {
    Case c = in_16_bits();
    c.k.cross_entropy = 0;
    const double without = c.layers().head;
    c.k.cross_entropy = 1'000;  // bytes for each of 256 words of 60 tokens, on both GPUs
    CHECK(c.layers().head - without == near(computed(0.23) * 1'000 * 60 * 256 / kH, 1e-9));
    c.plan.loss = Loss::native_fused;  // half of the bytes for half of the words, in one kernel
    CHECK(c.layers().head - without == near(0.5 * 1'000 * 60 * 128 / kH, 1e-9));
}

TEST_CASE("single operations by hand: attention with a mask computes every score, and so does plain attention") {
    Case c = in_16_bits();
    c.model.window.tokens = 20, c.model.window.layers = {1, 1, 1, 1, 1, 1};
    // 4 * 3 sequences * 20 * 20 * 3 heads * 10 operations at 0.33 of 1e12
    CHECK(c.layers().dense.attention_forward == near(144'000 / 3.3e11));
    CHECK(c.layers().dense.attention_backward == near(2.5 * 144'000 / (0.9 * 3.3e11)));
    c.plan.context_parallel = 2, c.plan.gpus = 16;
    CHECK(c.layers().dense.attention_forward == near(72'000 / 3.3e11));
    c = in_16_bits();
    const LayerTime whole = c.layers().dense;
    c.model.window.tokens = 20, c.model.window.layers = {1, 1, 1, 1, 1, 1};
    c.plan.attention = Attention::flash;  // the package flash-attn takes no mask, and all 20 tokens lie in the window
    CHECK(c.layers().dense.attention_forward == whole.attention_forward);
    CHECK(c.layers().dense.attention_backward == whole.attention_backward);
    c = in_16_bits();
    c.plan.attention = Attention::plain;  // 3,600 scores, 42 and 47 bytes
    const double rate = 1.55e11, memory = 0.8 * kH / 0.85;
    CHECK(c.layers().dense.attention_forward == near(144'000 / rate + 42 * 3'600 / memory));
    CHECK(c.layers().dense.attention_backward == near(288'000 / rate + 47 * 3'600 / memory));
    c.model.attention_sinks = true;  // 29 and 11 bytes more
    CHECK(c.layers().dense.attention_forward == near(144'000 / rate + 71 * 3'600 / memory));
    CHECK(c.layers().dense.attention_backward == near(288'000 / rate + 58 * 3'600 / memory));
}

TEST_CASE("single operations by hand: adapters that cast what they read, and their CPU time") {
    Case c = in_16_bits();
    c.plan.trained = TrainedPart::lora, c.plan.lora_rank = 4;
    // they read 3 * 48 + 60 and 2 * 48 + 80 values, and write 60 + 20 + 20 + 48 and 80 + 80 + 48
    CHECK(c.layers().dense.multiply_forward == near((kMatrices + kAdapters * 60 * (20 * 380 + 14 * 356) / 2.0) / kH));
    CHECK(c.layers().dense.multiply_backward == near((kMatrices + kAdapters * 60 * (29 * 380 + 8 * 356) / 2.0) / kH));
    c.k.host_layer = 1'000, c.k.host_adapter = 10;  // seven of them
    CHECK(c.layers().dense.forward == near(1'070, 1e-9));
    CHECK(c.layers().dense.backward == near(1.3 * 1'070, 1e-9));
    c.k.host_adapter = 0.5;
    CHECK(c.layers().dense.forward == near(1'003.5, 1e-9));
    c.k.host_adapter = 10;
    c.model.experts = {.count = 4, .per_token = 2, .ffn = 24}, c.model.expert_layers = {1, 1, 1, 1, 1, 1};
    CHECK(c.layers().expert.forward == near(1'040, 1e-9));  // the four of attention
    c.k.host_expert = 7;
    CHECK(c.layers().expert.forward == near(1'040, 1e-9));  // all of them at once
    c.plan.grouped_gemm = Habit::off;                       // one by one, each with three adapters
    CHECK(c.layers().expert.forward == near(1'040 + 4 * 37, 1e-9));
    c.model.experts.count = 400;  // 60 / 2 tokens reach no more than two each
    CHECK(c.layers().expert.forward == near(1'040 + 60 * 37, 1e-9));
    c.plan.lora_targets = lora_query;
    CHECK(c.layers().expert.forward == near(1'010 + 60 * 7, 1e-9));
    c.plan.grouped_gemm = Habit::automatic, c.plan.lora_targets = lora_all, c.model.experts.count = 4;
    c.plan.recompute = Recompute::full;
    CHECK(c.layers().dense.backward == near(3.5 * 1'070, 1e-9));
    c.k.host_shard = 100;  // where FSDP gathers it
    CHECK(c.layers().dense.backward == near(3.5 * 1'070, 1e-9));
    c.plan.zero = Zero::weights;
    CHECK(c.layers().dense.backward == near(3.5 * 1'170, 1e-9));
    c.k.host_shard = 0.5;
    CHECK(c.layers().dense.backward == near(3.5 * 1'070.5, 1e-9));
    c.k.host_shard = 100;
    c.plan.fully_shard = Habit::off;
    CHECK(c.layers().dense.backward == near(3.5 * 1'070, 1e-9));
}

TEST_CASE("single operations by hand: weights that DeepSpeed's ZeRO-3 gathers one by one") {
    Case c = in_16_bits();
    c.k.host_layer = 1'000, c.k.host_partition = 10;
    c.plan.zero = Zero::weights, c.plan.fully_shard = Habit::off, c.plan.sync_each_micro_batch = Habit::on;
    CHECK(c.layers().dense.forward == near(1'070, 1e-9));  // queries, keys, values, output, gate, up, down
    CHECK(c.layers().dense.backward == near(1.3 * 1'070, 1e-9));
    c.model.joined_qkv = true;  // and the gate with up
    CHECK(c.layers().dense.forward == near(1'040, 1e-9));
    c.model.joined_qkv = false, c.model.gated = false;
    CHECK(c.layers().dense.forward == near(1'060, 1e-9));
    c.model.gated = true, c.model.latent = {.q_rank = 12, .kv_rank = 10, .nope_dim = 6, .rope_dim = 4, .value_dim = 10};
    CHECK(c.layers().dense.forward == near(1'080, 1e-9));  // two of queries, two of keys and values
    c.model.latent = {};
    c.model.experts = {.count = 12, .per_token = 2, .ffn = 24}, c.model.expert_layers = {1, 1, 1, 1, 1, 1};
    CHECK(c.layers().expert.forward == near(1'070, 1e-9));  // four, the router, and experts in two
    c.plan.grouped_gemm = Habit::off;
    CHECK(c.layers().expert.forward == near(1'410, 1e-9));  // four, the router, and 36 of experts
    c.plan.expert_parallel = 2;
    CHECK(c.layers().expert.forward == near(1'230, 1e-9));
    c.plan.expert_parallel = 1, c.model.experts.shared_ffn = 24;
    CHECK(c.layers().expert.forward == near(1'440, 1e-9));
    c.model.experts.shared_ffn = 0, c.model.experts.count = 10;  // a router of ten rows stays on every GPU
    CHECK(c.layers().expert.forward == near(1'340, 1e-9));
    c.plan.trained = TrainedPart::lora, c.plan.lora_rank = 10;  // so do adapters
    CHECK(c.layers().dense.forward == near(1'070, 1e-9));
    c.plan.lora_rank = 11;  // two matrices for each of seven
    CHECK(c.layers().dense.forward == near(1'210, 1e-9));
    CHECK(c.layers().expert.forward == near(1'000 + 10 * (4 + 8 + 10 * 9), 1e-9));
    c.plan.sync_each_micro_batch = Habit::automatic;  // FSDP
    CHECK(c.layers().dense.forward == near(1'000, 1e-9));
}

TEST_CASE("law: with ZeRO-3 that gathers weights one by one more of them never make a layer faster; ZeRO-1 and ZeRO-2 do not know them") {
    tests::Random random(19);
    int gathered = 0;
    for (int i = 0; i < 200; ++i) {
        Case c = in_16_bits();
        c.model = tests::random_model(random);
        c.plan.fully_shard = Habit::off, c.plan.sync_each_micro_batch = Habit::on;
        c.plan.grouped_gemm = random.one_of({Habit::on, Habit::off});
        c.plan.recompute = random.one_of({Recompute::none, Recompute::full});
        if (random.coin()) c.plan.trained = TrainedPart::lora, c.plan.lora_rank = random.from(1, 64);
        c.k.host_layer = 1e-3;
        for (const Zero zero : {Zero::optimizer, Zero::gradients, Zero::weights}) {
            c.plan.zero = zero, c.k.host_partition = 0;
            const LayerTimes none = c.layers();
            c.k.host_partition = 1e-4;
            const LayerTimes some = c.layers();
            c.k.host_partition = 2e-4;
            const LayerTimes more = c.layers();
            if (zero != Zero::weights) {
                CHECK(some.dense.forward == none.dense.forward);
                CHECK(some.expert.backward == none.expert.backward);
                continue;
            }
            gathered += some.dense.host_forward > none.dense.host_forward ? 1 : 0;
            for (const auto kind : {&LayerTimes::dense, &LayerTimes::expert}) {
                CHECK((some.*kind).forward >= (none.*kind).forward);
                CHECK((some.*kind).backward >= (none.*kind).backward);
                CHECK((more.*kind).forward >= (some.*kind).forward);
            }
            Case further = c;
            further.model.gated = true;
            const double all = further.layers().dense.host_forward;
            further.model.joined_qkv = !c.model.joined_qkv;
            CHECK((further.model.joined_qkv ? all >= further.layers().dense.host_forward : all <= further.layers().dense.host_forward));
        }
    }
    CHECK(gathered > 100);
}
