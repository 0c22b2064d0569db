// Layers of PyTorch's single operations (Hugging Face's transformers), worked by hand on the small model: 60 tokens, h = 48, f = 80, 6
// heads and 2 KV heads 10 wide, 6 layers, 256 words.
#include <doctest/doctest.h>

#include "memory/small_cases.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {

constexpr double kTokens = 60;

// One GPU, one micro-batch; weights, gradients and averages in 16 bits.
Case in_16_bits() {
    Case c = dense();
    c.model.tied = false;
    c.plan.gpus = 1, c.plan.tensor_parallel = c.plan.pipeline_parallel = 1, c.plan.global_batch = 3;
    c.plan.framework = FrameworkKind::transformers, c.plan.zero = Zero::none, c.plan.attention = Attention::automatic;
    c.plan.master_weights = Habit::off, c.plan.gradients_in_fp32 = false, c.plan.moments = Moments::bits16;
    return c;
}
// Weights, gradients and averages in 32 bits, multiplied in 16.
Case in_32_bits() {
    Case c = in_16_bits();
    c.plan.master_weights = Habit::automatic, c.plan.gradients_in_fp32 = true, c.plan.moments = Moments::fp32;
    return c;
}
Case beside_frozen() {
    Case c = in_32_bits();
    c.plan.trained = TrainedPart::lora, c.plan.lora_rank = 4;
    return c;
}

}  // namespace

TEST_CASE("single operations by hand: what layers keep where 16 bits flow") {
    const Case c = in_16_bits();
    // each of two norms: its input in 32 bits, the normalised value in 16, its output, and 4 bytes of a token
    CHECK(c(Item::norm_activations) == -1);
    CHECK(c(Item::norm_copies) == 6 * kTokens * (2 * (4 + 2) * 48 + 2 * 4));
    CHECK(c(Item::norm_outputs) == 6 * kTokens * 2 * 2 * 48);
    CHECK(c(Item::qkv_activations) == 6 * kTokens * 2 * (6 + 2 * 2) * 10);
    CHECK(c(Item::attention_output) == 6 * kTokens * 2 * 60);
    CHECK(c(Item::attention_output_copy) == -1);
    CHECK(c(Item::log_sum_exp) == 6 * kTokens * 4 * 6);
    CHECK(c(Item::feed_forward_activations) == 6 * kTokens * 4 * 2 * 80);  // gate, its activation, the other factor, the product
    CHECK(c(Item::weights) == 2 * kParameters);
    CHECK(c(Item::moments) == 4 * kParameters);
    CHECK(c(Item::master_weights) == -1);
    CHECK(c.memory().static_bytes == 6 * kParameters + c(Item::library_workspaces));
}

TEST_CASE("single operations by hand: 32 bits between layers, and a copy of 16 for each matrix") {
    Case c = in_32_bits();
    CHECK(c(Item::norm_copies) == 6 * kTokens * (2 * (4 + 4) * 48 + 2 * 4));
    CHECK(c(Item::norm_outputs) == 6 * kTokens * 2 * (3 + 2) * 48);  // queries, keys, values; gate and up
    CHECK(c(Item::master_weights) == 4 * kParameters);
    CHECK(c(Item::moments) == 8 * kParameters);
    CHECK(c(Item::weights) == 2 * (kParameters - kWords));  // copies, of all that is multiplied
    c.model.joined_qkv = true;                              // one matrix of attention's, one of the gate's
    CHECK(c(Item::norm_outputs) == 6 * kTokens * 2 * (1 + 1) * 48);
    c.model.joined_qkv = false;
    c.plan.recompute = Recompute::full;
    CHECK(c(Item::checkpoints) == 6 * kTokens * 4 * 48);
    CHECK(c(Item::weights) == 2 * kWords);  // the head's
    CHECK(c.memory().static_bytes == 12 * kParameters + c(Item::library_workspaces));
    // A layer that is computed again: norms 60 * (2 * 8 * 48 + 8), what five matrices read, queries, keys and values 12,000, output 7,200,
    // log-sum-exp 1,440, feed-forward part 38,400; less its input, and with copies of its weights and their gradients
    const double again = 46'560 + 28'800 + 12'000 + 7'200 + 1'440 + 38'400 - 60 * 4 * 48 + 2 * kOfLayer;
    const double with = c.memory().at_backward;
    c.plan.recompute = Recompute::none;
    CHECK(with - c.memory().at_backward == again);
}

TEST_CASE("single operations by hand: the loss, in 12 bytes a logit or with all copies of weights") {
    Case c = in_16_bits();
    c.plan.sequence_length = 2'000;  // 6,000 tokens
    CHECK(c(Item::head) == 6'000 * (8.0 * 48 + 12 * 256));
    c.model.capped_logits = true;  // what the tangent wrote
    CHECK(c(Item::head) == 6'000 * (8.0 * 48 + 14 * 256));
    c = in_32_bits();
    c.plan.recompute = Recompute::full;
    c.plan.sequence_length = 2'000;
    CHECK(c(Item::head) == 6'000 * (10.0 * 48 + 12 * 256));
    c.plan.sequence_length = 20;  // 60 tokens: the end of the forward pass is fuller
    CHECK(c.memory().at_head == 60 * (10.0 * 48 + 10 * 256) + 2 * (kParameters - 2 * kWords));
}

TEST_CASE("single operations by hand: gradients of a tied embedding are added up at the end") {
    Case c = in_16_bits();
    c.model.tied = true;
    c.plan.micro_batch = c.plan.global_batch = 1, c.plan.sequence_length = 1;
    const double parameters = kParameters - kWords;
    const StageMemory<double> all = c.memory();
    // behind the last layer: all gradients, and those of the embedding twice more
    CHECK(all.peak_bytes - all.static_bytes == doctest::Approx(2 * parameters + 2 * 2 * kWords).epsilon(0.01));
}

TEST_CASE("single operations by hand: adapters keep a copy each of what they read") {
    Case c = beside_frozen();
    CHECK(c(Item::norm_copies) == 6 * kTokens * (2 * 4 * 48 + 2 * 4));  // frozen: the input alone, in 32 bits
    CHECK(c(Item::adapter_inputs) == 6 * kTokens * 2 * (3 + 2) * 48);
    CHECK(c(Item::attention_output_copy) == 6 * kTokens * 2 * 60);
    CHECK(c(Item::adapter_activations) == 6 * kTokens * 2 * 7 * 4);
    CHECK(c(Item::norm_outputs) == -1);
    CHECK(c(Item::checkpoints) == -1);
    CHECK(c.memory().at_head == 60 * (4.0 * 48 + 12 * 256));  // of the last norm its input alone
    c.plan.lora_targets = lora_query | lora_value;
    CHECK(c(Item::adapter_inputs) == 6 * kTokens * 2 * 2 * 48);
    CHECK(c(Item::attention_output_copy) == -1);
    c.model.joined_qkv = true;
    CHECK(c(Item::adapter_inputs) == 6 * kTokens * 2 * 48);
}

TEST_CASE("single operations by hand: scores, masks, joined matrices, LayerNorm, GELU in steps, Liger") {
    Case c = in_16_bits();
    c.plan.attention = Attention::plain;  // softmax in 32 bits and its copy in 16; keys and values for every query head
    CHECK(c(Item::attention_scores) == 6 * (4 + 2) * 3 * 6 * 20 * 20);
    CHECK(c(Item::qkv_activations) == 6 * kTokens * 2 * 3 * 6 * 10);
    c = in_16_bits();
    c.model.window.tokens = 20, c.model.window.layers = {1, 1, 1, 1, 1, 1};
    CHECK(c(Item::qkv_activations) == 6 * kTokens * 2 * 3 * 6 * 10);
    c.plan.attention = Attention::flash;  // no mask
    CHECK(c(Item::qkv_activations) == 6 * kTokens * 2 * (6 + 4) * 10);
    c.plan.attention = Attention::automatic;
    c.model.window.tokens = 21;
    CHECK(c(Item::qkv_activations) == 6 * kTokens * 2 * (6 + 4) * 10);
    c = in_16_bits();
    c.model.joined_qkv = true;  // new queries and keys; values keep the joint output
    CHECK(c(Item::qkv_activations) == 6 * kTokens * 2 * (6 + 2 + 6 + 4) * 10);
    CHECK(c(Item::attention_output_copy) == 6 * kTokens * 2 * 60);
    c = in_16_bits();
    c.model.layer_norm = true, c.model.gated = false;  // LayerNorm: input in 32 bits, two statistics; a copy for three matrices and for one
    CHECK(c(Item::norm_copies) == 6 * kTokens * (2 * 4 * 48 + 2 * 8));
    CHECK(c(Item::norm_outputs) == 6 * kTokens * 2 * (3 + 1) * 48);
    CHECK(c.memory().at_head == 60 * ((4.0 + 2) * 48 + 12 * 256));  // of the last one its input in 32 bits and its output
    CHECK(c(Item::feed_forward_activations) == 6 * kTokens * 2 * 2 * 80);
    c.model.gelu_steps = true;
    CHECK(c(Item::feed_forward_activations) == 6 * kTokens * (4 + 4 + 2 + 4 + 2) * 80);
    c.plan.gpus = c.plan.tensor_parallel = 2;
    CHECK(c(Item::feed_forward_activations) == 6 * kTokens * (4 + 4 + 2 + 4 + 2) * 80 / 2);
    c = in_16_bits();
    c.model.gated = false, c.model.relu = true;  // what it writes
    CHECK(c(Item::feed_forward_activations) == 6 * kTokens * 2 * 80);
    c = in_16_bits();
    c.model.norms_in_32_bits = true;  // the normalised value, too
    CHECK(c(Item::norm_copies) == 6 * kTokens * (2 * (4 + 4) * 48 + 2 * 4));
    c = in_32_bits();
    c.model.layer_norm = c.model.parallel_norms = true;  // both read what flows, in 32 bits
    CHECK(c(Item::norm_copies) == 6 * kTokens * (4 * 48 + 2 * 8));
    c = in_16_bits();
    c.model.layer_norm = c.model.parallel_norms = true;  // each casts it for itself
    CHECK(c(Item::norm_copies) == 6 * kTokens * (2 * 4 * 48 + 2 * 8));
    c = in_16_bits();
    c.model.qk_norm = true;  // of 6 heads and 2: input in 32 bits, normalised value in 16
    CHECK(c(Item::qk_norm_activations) == 6 * kTokens * (4 + 2) * (6 + 2) * 10);
    c.plan.gpus = c.plan.tensor_parallel = 2;
    CHECK(c(Item::qk_norm_activations) == 6 * kTokens * (4 + 2) * (6 + 2) * 10 / 2);
    c = beside_frozen();
    c.model.qk_norm = true;
    CHECK(c(Item::qk_norm_activations) == 6 * kTokens * 4 * (6 + 2) * 10);
    c = in_16_bits();
    c.plan.activation_fusion = Habit::on;
    CHECK(c(Item::norm_copies) == -1);
    CHECK(c(Item::feed_forward_activations) == 6 * kTokens * 3 * 2 * 80);
}

TEST_CASE("single operations by hand: experts keep what they return, and a limited gate its sigmoid") {
    Case c = in_16_bits();
    c.model.experts = {.count = 4, .per_token = 2, .ffn = 24}, c.model.expert_layers = {1, 1, 1, 1, 1, 1};
    const double copies = 6 * 2 * kTokens;
    // in: 48; gate, its activation and the other factor: 3 * 24; out: 48; the router's weight in 4 bytes; then their product
    CHECK(c(Item::expert_activations) == copies * (2 * (48 + 3 * 24 + 48) + 4));
    CHECK(c(Item::expert_products) == copies * 2 * 24);
    c.model.limited_gate = true;
    CHECK(c(Item::limited_activations) == copies * 2 * 3 * 24);
    c.plan.framework = FrameworkKind::pytorch;
    CHECK(c(Item::limited_activations) == copies * 2 * 2 * 24);
}

TEST_CASE("single operations by hand: beside sinks softmax keeps 16 bits alone") {
    Case c = in_16_bits();
    c.plan.attention = Attention::plain;
    CHECK(c(Item::attention_scores) == 6 * 6 * 7'200.0);  // three sequences of 20 x 20 scores, 6 heads
    c.model.attention_sinks = true;
    CHECK(c(Item::attention_scores) == 2 * 6 * 7'200.0);
}
