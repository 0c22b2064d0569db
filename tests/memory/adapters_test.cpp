// LoRA and optimizers, worked by hand on the small model: adapters of rank 4.
#include <doctest/doctest.h>

#include "memory/small_cases.h"
#include "plan/adapters.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {

Case adapted(std::uint32_t targets = lora_all) {
    Case c = dense();
    c.plan.trained = TrainedPart::lora, c.plan.lora_rank = 4, c.plan.lora_targets = targets;
    return c;
}

// Megatron: one adapter for queries, keys and values (48 -> 100), projection (60 -> 48), gate and up (48 -> 160), down (80 -> 48);
// 4 * (148 + 108 + 208 + 128) / 2 per layer.
constexpr double kAdapters = 4 * (148 + 108 + 208 + 128) / 2.0;
constexpr double kMatrices = 3 * (kLayer - kNorms);  // of the first stage

}  // namespace

TEST_CASE("LoRA by hand: frozen weights have no gradient and no optimizer, adapters have both") {
    Case c = adapted();
    CHECK(kAdapters == 1'184);
    CHECK(c(Item::weights) == -1);
    CHECK(c(Item::frozen_weights) == 2 * kFirst);
    CHECK(c(Item::adapters) == 2 * 3 * kAdapters);
    CHECK(c(Item::gradients) == 4 * 3 * kAdapters);
    CHECK(c(Item::master_weights) == 4 * 3 * kAdapters / 2);  // shared out over 2 GPUs
    CHECK(c(Item::moments) == 8 * 3 * kAdapters / 2);
    c.plan.lora_rank = 8;
    CHECK(c(Item::adapters) == 2 * 3 * 2 * kAdapters);
    CHECK(c(Item::frozen_weights) == 2 * kFirst);
    CHECK(c(Item::unpacked_weights) == -1);
    // PyTorch: queries 48 -> 60, keys and values 48 -> 20 each, projection, gate and up 48 -> 80 each, down: 4 * 736 / 2
    c = adapted();
    c.plan.framework = FrameworkKind::pytorch;
    CHECK(c(Item::adapters) == 2 * 3 * 4 * (108 + 68 + 68 + 108 + 128 + 128 + 128) / 2.0);
}

TEST_CASE("LoRA by hand: matrices in few bits, embedding and norms in 16") {
    Case c = adapted();
    CHECK(kMatrices == 28'800);
    c.plan.frozen_weights = FrozenWeights::nf4;  // 4 bits, 8 per 64 values, 32 per 64 * 256: 0.515869140625 bytes
    CHECK(c(Item::frozen_weights) == near(0.515869140625 * kMatrices + 2 * (kFirst - kMatrices)));
    CHECK(c(Item::unpacked_weights) == 2 * 3'840);  // gate and up: 48 * 160 / 2
    c.plan.frozen_weights = FrozenWeights::nf4_single;
    CHECK(c(Item::frozen_weights) == 0.5625 * kMatrices + 2 * (kFirst - kMatrices));
    c.plan.frozen_weights = FrozenWeights::fp8;
    CHECK(c(Item::frozen_weights) == kMatrices + 2 * (kFirst - kMatrices));
}

TEST_CASE("LoRA by hand: only what an adapter reads is kept for it, and the values between its matrices") {
    const double K = 3 * 2;
    Case c = adapted();
    CHECK(c(Item::norm_outputs) == -1);
    CHECK(c(Item::adapter_inputs) == K * 2 * 2 * 60 * 48);      // of attention and feed-forward part, gathered
    CHECK(c(Item::adapter_activations) == K * 2 * 4 * 60 * 4);  // four adapters
    CHECK(c(Item::feed_forward_activations) == K * (2 + 1) * 2 * 60 * 80 / 2);
    c = adapted(lora_query);
    CHECK(c(Item::adapter_inputs) == K * 2 * 60 * 48);
    CHECK(c(Item::adapter_activations) == K * 2 * 60 * 4);
    CHECK(c(Item::feed_forward_activations) == K * 2 * 2 * 60 * 80 / 2);  // the second matrix is frozen: not its input
    CHECK(c(Item::attention_output) == K * 2 * 60 * 60 / 2);              // for its own backward pass
    c.plan.attention = Attention::plain;                                  // that needs its scores alone
    CHECK(c(Item::attention_output) == -1);
    c = adapted();
    c.plan.precision = Precision::fp8;
    CHECK(c(Item::adapter_inputs) == K * 2 * 60 * 48);
    CHECK(c(Item::fp8_weights) == 2 * kMatrices);
    c.plan.framework = FrameworkKind::pytorch;  // torchao keeps no copies
    CHECK(c(Item::fp8_weights) == -1);
    c = adapted();
    c.plan.fused_norms = false;  // two norms keep their input in 32 bits, and 4 bytes of a token
    CHECK(c(Item::norm_copies) == K * (4 * 2 * 30 * 48 + 4 * 2 * 30));
    CHECK(c(Item::norm_activations) == -1);
    c = adapted();
    c.plan.lora_dropout = true;  // each keeps what is left of its input, and a byte per value
    CHECK(c(Item::adapter_inputs) == -1);
    CHECK(c(Item::adapter_activations) == K * (2 * 4 * 60 * 4 + 3 * 60 * (48 + 60 / 2.0 + 48 + 80 / 2.0)));  // two read whole inputs
    CHECK(c(Item::feed_forward_activations) == K * 2 * 2 * 60 * 80 / 2);
}

TEST_CASE("LoRA by hand: which matrices have an adapter") {
    Case c = adapted();
    const auto parameters = [&](std::uint32_t targets) {
        c.plan.lora_targets = targets;
        return adapter_count(c.model, c.plan) / (6 * 4);  // a layer's, of rank 1
    };
    // Megatron: one for queries, keys and values, and one for gate and up
    for (const std::uint32_t one : {lora_query, lora_key, lora_value}) CHECK(parameters(one) == 48 + 100);
    for (const std::uint32_t one : {lora_gate, lora_up}) CHECK(parameters(one) == 48 + 160);
    c.model.attention_gate = true;  // 60 more, of queries
    CHECK(parameters(lora_key) == 48 + 160);
    c.plan.framework = FrameworkKind::pytorch;
    CHECK(parameters(lora_query) == 48 + 120);
    c.model.attention_gate = false;
    CHECK(parameters(lora_query) == 48 + 60);
    for (const std::uint32_t one : {lora_key, lora_value}) CHECK(parameters(one) == 48 + 20);
    CHECK(parameters(lora_output) == 60 + 48);
    for (const std::uint32_t one : {lora_gate, lora_up, lora_down}) CHECK(parameters(one) == 48 + 80);
    c.model.gated = false;
    CHECK(parameters(lora_gate) == 0);
    CHECK(parameters(lora_up) == 48 + 80);
    // queries 48 -> 14 -> 6 heads of 13 + 3; keys and values 48 -> 18 + 3, 18 -> 6 heads of 13 + 8; output 6 * 8 -> 48
    c.model.latent = {.q_rank = 14, .kv_rank = 18, .nope_dim = 13, .rope_dim = 3, .value_dim = 8};
    CHECK(parameters(lora_query) == 48 + 14 + 14 + 96);
    for (const std::uint32_t one : {lora_key, lora_value}) CHECK(parameters(one) == 48 + 21 + 18 + 126);
    CHECK(parameters(lora_output) == 48 + 48);
    c.model.latent.q_rank = 0;
    CHECK(parameters(lora_query) == 48 + 96);
}

TEST_CASE("LoRA by hand: copies of what adapters read") {
    Case c = adapted();
    const auto kept = [&](std::uint32_t matrices) { return kept_inputs(c.model, c.plan, matrices); };
    CHECK(kept(kLoraQkv) == 1);
    c.plan.framework = FrameworkKind::transformers;  // each casts its own
    CHECK(kept(kLoraQkv) == 3);
    CHECK(kept(kLoraIn) == 2);
    c.model.joined_qkv = true;
    CHECK(kept(kLoraQkv) == 1);
    c.model.gated = false;  // there is no gate
    c.model.joined_qkv = false;
    CHECK(kept(kLoraIn) == 1);
    c.plan.lora_targets = lora_query | lora_gate;
    CHECK(kept(kLoraQkv) == 1);
    CHECK(kept(kLoraIn) == 0);
    c.plan.lora_dropout = true;
    CHECK(kept(kLoraQkv) == 0);
}

TEST_CASE("LoRA by hand: Muon, fp8, flash-attn and Transformer Engine 2 beside adapters") {
    Case c = adapted();
    c.plan.optimizer = Optimizer::muon;  // one average of all that learns
    CHECK(c(Item::moments) == 4 * 3 * kAdapters / 2);
    const double output = 3 * 2 * 2 * 60 * 60 / 2;
    c = adapted(lora_query);
    c.plan.precision = Precision::fp8;  // the projection is frozen: attention alone keeps its output, in 16 bits
    CHECK(c(Item::attention_output) == output);
    c = adapted(lora_query);
    c.plan.attention = Attention::flash;
    CHECK(c(Item::attention_output_copy) == -1);
    c.plan.lora_targets = lora_output;
    CHECK(c(Item::attention_output_copy) == output);
    c = dense();
    c.plan.framework = FrameworkKind::megatron_2025;
    CHECK(c(Item::dummy_gradients) > 0);
    c.plan.trained = TrainedPart::lora;
    CHECK(c(Item::dummy_gradients) == -1);
}

TEST_CASE("LoRA by hand: adapters of experts and their states") {
    Case c = experts();
    c.plan.trained = TrainedPart::lora, c.plan.lora_rank = 4, c.plan.expert_parallel = 4;
    // of the first stage: attention of three layers, 48 -> 100 and 60 -> 48; feed-forward part of two, 48 -> 160 and 80 -> 48; of one with
    // experts the shared one, 48 -> 32 and 16 -> 48, and one adapter for all of a GPU's, 48 -> 48 and 24 -> 48, which is not split
    const double beside = 4 * (3 * 256 + 2 * 336 + 144) / 2.0, routed = 4 * (96 + 72);
    CHECK(c(Item::adapters) == 2 * (beside + routed));
    CHECK(c(Item::gradients) == 4 * (beside + routed));
    CHECK(c(Item::master_weights) == 4 * (beside / 2 + routed));  // two copies, but of experts one: they lie on all four GPUs of a stage
    CHECK(c(Item::moments) == 8 * (beside / 2 + routed));
    c.plan.framework = FrameworkKind::pytorch, c.plan.expert_parallel = 2;  // queries, keys and values, gate and up one by one; each of two
                                                                            // experts has its own, of which there are two copies
    const double apart = 4 * (3 * (108 + 68 + 68 + 108) + 2 * 3 * 128 + 3 * 64) / 2.0, each = 2 * 4 * 3 * 72;
    CHECK(c(Item::adapters) == 2 * (apart + each));
    CHECK(c(Item::moments) == 8 * (apart + each) / 2);
    c.plan.pipeline_parallel = 1, c.plan.zero = Zero::weights;  // FSDP sends a layer's: the last one has experts
    CHECK(c(Item::whole_gradients) == 4 * (4 * ((108 + 68 + 68 + 108) + 3 * 64) / 2.0 + each));
}

TEST_CASE("LoRA by hand: what adapters of experts keep") {
    Case c = experts();
    c.plan.trained = TrainedPart::lora, c.plan.lora_rank = 4;
    // of two micro-batches: two dense layers with inputs of attention and feed-forward part, and four adapters; one with experts, whose
    // shared expert reads a second input: two adapters of attention, two of it, and two of 60 routed tokens
    CHECK(c(Item::adapter_inputs) == (2 * 2 * 2 + 2 * 2) * 2 * 60 * 48);
    CHECK(c(Item::adapter_activations) == (2 * 2 * 4 + 2 * 6) * 2 * 4 * 60);
    c.model.experts.shared_ffn = 0, c.model.experts.shared_gate = false;
    CHECK(c(Item::adapter_inputs) == (2 * 2 * 2 + 2) * 2 * 60 * 48);
    CHECK(c(Item::adapter_activations) == (2 * 2 * 4 + 2 * 4) * 2 * 4 * 60);
}

TEST_CASE("PEFT by hand: beside 4 bits all else in 32, and so what flows between layers and what packed matrices return") {
    Case c = adapted(lora_query);
    c.plan.gpus = c.plan.tensor_parallel = c.plan.pipeline_parallel = 1, c.plan.global_batch = 3, c.plan.zero = Zero::none;
    c.plan.framework = FrameworkKind::transformers, c.plan.frozen_weights = FrozenWeights::nf4_single;
    const double matrices = 6 * (kOfLayer - 96), rest = 2 * kWords + 6 * 96 + 48;
    const double logits = 60 * 256, hidden = 60 * 48;
    CHECK(c(Item::frozen_weights) == 0.5625 * matrices + 2 * rest);
    CHECK(c(Item::feed_forward_activations) == 6 * 2 * 3 * 60 * 80);
    CHECK(c(Item::head) == 4 * hidden + 12 * logits);
    c.plan.frozen_in_fp32 = true;
    CHECK(c(Item::frozen_weights) == 0.5625 * matrices + 4 * rest);
    CHECK(c(Item::feed_forward_activations) == 6 * 4 * 3 * 60 * 80);   // gate, its activation, up
    CHECK(c(Item::norm_copies) == 6 * (2 * 4 * hidden + 2 * 4 * 60));  // as they flow
    CHECK(c(Item::qkv_activations) == 6 * 2 * 60 * (6 + 2 * 2) * 10);  // attention's kernel reads 16 bits
    CHECK(c(Item::head) == 4 * hidden + 12 * logits + 2 * kWords);     // and a copy of the head's weights in 16
    c.plan.recompute = Recompute::full;
    CHECK(c(Item::checkpoints) == 6 * 4 * hidden);
    c.plan.zero = Zero::weights;  // one GPU alone shares nothing out
    CHECK(c(Item::checkpoints) == 6 * 4 * hidden);
    c.plan.zero = Zero::none;
    c.model.vocabulary = 1, c.model.ffn = 160;
    // gradients of gate, up and their product, which nothing has kept; of the layer's output and input
    CHECK(c(Item::first_backward) == 4 * 60 * 3 * 160 + 2 * 4 * hidden);
    c.plan.frozen_in_fp32 = false;
    CHECK(c(Item::first_backward) == 2 * 60 * 3 * 160 + 2 * 2 * hidden);
    c.plan.lora_targets = lora_query | lora_down;  // the gradient of the product takes the product's place
    CHECK(c(Item::first_backward) == 2 * 60 * 2 * 160 + 2 * 2 * hidden);
    c.plan.lora_targets = lora_query;
    c.plan.frozen_in_fp32 = true, c.plan.gpus = 4, c.plan.global_batch = 12, c.plan.zero = Zero::weights;  // there nothing is cast
    CHECK(c(Item::checkpoints) == 6 * 2 * hidden);
    c.plan.zero = Zero::none, c.plan.frozen_weights = FrozenWeights::bf16;
    CHECK(c(Item::checkpoints) == 6 * 2 * hidden);
    c.plan.frozen_weights = FrozenWeights::nf4, c.plan.framework = FrameworkKind::litgpt;
    CHECK(c(Item::checkpoints) == 6 * 2 * hidden);
}

TEST_CASE("LitGPT by hand: 4-bit matrices keep what they read, gradients of FSDP are as long as its units") {
    const double K = 3 * 2;
    Case c = adapted(lora_query);
    c.plan.lora_dropout = true, c.plan.frozen_weights = FrozenWeights::nf4;
    CHECK(c(Item::adapter_inputs) == -1);
    const double product = K * 2 * 60 * 80 / 2, read = c(Item::feed_forward_activations);
    c.plan.framework = FrameworkKind::litgpt;
    CHECK(c(Item::adapter_inputs) == K * 2 * 2 * 60 * 48);                 // of attention and feed-forward part
    CHECK(c(Item::feed_forward_activations) == read + product + product);  // of the second matrix; and both factors of the gate
    CHECK(c(Item::stable_embedding) == (2 + 2) * kVocabulary);             // the first one, and the gradient of the second
    CHECK(c(Item::inputs_before) == -1);                                   // the first stage has no logits
    // On one stage 6 layers read 48 values for attention, 60 for its projection, 48 and 80 for the feed-forward part, of 60 tokens; and of
    // 60 * 256 / 2 logits those of the pass before are there in 4 bytes, and the new ones in 2 and in 4.
    Case one = c;
    one.plan.pipeline_parallel = 1;
    CHECK(one(Item::inputs_before) == 6 * 2 * 60 * (48 + 60 + 48 + 80) / 2.0 + (4 + 2 + 4) * 60 * 256 / 2.0);
    CHECK(one(Item::head) == -1);
    CHECK(one.memory().at_head == one(Item::inputs_before));  // what the curve adds there, and late gradients are held against
    c.plan.frozen_weights = FrozenWeights::bf16;
    CHECK(c(Item::adapter_inputs) == -1);
    c.plan.pipeline_parallel = 1, c.plan.zero = Zero::weights;  // 4 copies; 24 / (3 * 4) = 2 micro-batches
    CHECK(c(Item::whole_gradients) == 2 * 6 * kLayer);          // in the format of the weights until they are sent
    c.plan.global_batch = 12;
    CHECK(c(Item::whole_gradients) == 4 * kLayer);
    c.plan.framework = FrameworkKind::pytorch;  // FSDP of single parameters: queries alone, 4 * (48 + 60) / 2
    CHECK(c(Item::whole_gradients) == 4 * 4 * 108 / 2.0);
}

TEST_CASE("by hand: what optimizers hold") {
    Case c = dense();
    c.plan.optimizer = Optimizer::adam_8bit;
    CHECK(c(Item::moments) == (2 + 8.0 / 256) * kFirst / 2);
    c.plan.optimizer = Optimizer::sgd;
    CHECK(c(Item::moments) == 4 * kFirst / 2);
    c.plan.optimizer = Optimizer::muon;  // one average for the matrices of layers, two for embedding and norms
    CHECK(c(Item::moments) == 4 * (2 * kFirst - kMatrices) / 2);
    c.plan.master_weights = Habit::off;
    CHECK(c(Item::master_weights) == -1);
}

TEST_CASE("law: all weights with Adam is what a plan without these fields is, and experts are adapted") {
    Case c = dense(), same = dense();
    same.plan.lora_rank = 64, same.plan.lora_targets = lora_query, same.plan.frozen_weights = FrozenWeights::nf4;
    CHECK(same.memory().peak_bytes == c.memory().peak_bytes);
    Case with = experts();
    with.plan.trained = TrainedPart::lora, with.plan.lora_rank = 4;
    CHECK(with.memory().peak_bytes < experts().memory().peak_bytes);
    const double one = with(Item::adapters);
    with.plan.lora_rank = 8;
    CHECK(with(Item::adapters) == 2 * one);
}
