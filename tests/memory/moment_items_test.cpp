// What a GPU holds at the worst moment, besides, and outside of the allocator: every item once, worked by hand.
#include <doctest/doctest.h>

#include <cmath>

#include "memory/small_cases.h"
#include "memory/verdict.h"
#include "memory/waiting.h"

using namespace fourfold;
using namespace fourfold::tests;

TEST_CASE("by hand: layers that predict further tokens") {
    Case c = dense();
    c.stage = 1;
    c.model.multi_token_layers = 1;
    // beside the stage: a layer, its matrix 2*h*h/t, three norms, and the embedding once more
    CHECK(c(Item::weights) == 2 * (kLast + kLayer + 2 * 48 * 48 / 2 + 3 * 48 + kVocabulary));
    c.plan.loss = Loss::te_fused;
    // 60 * 256 / 2 = 7,680 logits in 2 bytes for each of both predictions, the norm's 5,760 and as much of gradients; of the further one
    // 12 * 30 * 48 and what its layer keeps: norms 6,000 and 5,760; q, k, v 6,000; output 3,600; log-sum-exp 720; feed-forward 14,400
    CHECK(c.memory().at_head == 4 * 7'680 + 2 * 5'760 + 17'280 + 36'480);
}

// The backward pass of a fused attention: two inputs 4*30*48; gradients of the output and the queries of 6 heads, of keys and values of 2,
// 2*60*(2*6 + 2*2)*10/2; sums of the queries' in 32 bits, 4*60*6*10/2.
static constexpr double kAttention = 5'760 + 9'600 + 7'200;

TEST_CASE("by hand: recomputation") {
    Case c = dense();
    c.plan.transformer_engine = Habit::off;
    const double flowing = 2 * 30 * 48;
    c.plan.recompute = Recompute::selective, c.plan.recompute_modules = core_attn;
    CHECK(c(Item::log_sum_exp) == -1);
    // feed-forward 2*60*80*2/2 + 4*30*48 = 15,360; attention and 720 of log-sum-exp: the larger one counts
    CHECK(c(Item::first_backward) == kAttention + 720);
    c.plan.recompute_modules = mlp;
    CHECK(c(Item::feed_forward_activations) == -1);
    CHECK(c(Item::first_backward) == 9'600 + 5'760 + 14'400);
    c.plan.recompute_modules = mlp | layernorm;
    CHECK(c(Item::first_backward) == 9'600 + 5'760 + 14'400 + 5'760);
    c.plan.recompute_modules = layernorm;
    CHECK(c(Item::norm_outputs) == -1);
    CHECK(c(Item::first_backward) == kAttention);  // 9,600 + 5,760 + 5,760 are less
    c.plan.recompute = Recompute::full;            // an input per layer and micro-batch
    CHECK(c(Item::checkpoints) == 6 * flowing);
    CHECK(c(Item::qkv_activations) == -1);
    // norms 4*30*48 + 240 and 4*30*48; q, k, v 6,000; output 3,600; log-sum-exp 720; feed-forward 14,400; less the checkpoint itself
    const double layer = 6'000 + 5'760 + 6'000 + 3'600 + 720 + 14'400;
    CHECK(c(Item::recomputed_unit) == layer - flowing);
    c.plan.recompute_layers = 3;  // all three of the stage from one input
    CHECK(c(Item::checkpoints) == 2 * flowing);
    CHECK(c(Item::recomputed_unit) == 3 * layer - flowing);
    c.plan.recompute = Recompute::block;
    c.plan.recompute_layers = 1;  // one of three is recomputed
    CHECK(c(Item::checkpoints) == 2 * flowing);
    CHECK(c(Item::qkv_activations) == 2 * 2 * 6'000);
}

TEST_CASE("by hand: recomputation of single operations") {
    Case c = dense();
    c.plan.framework = FrameworkKind::pytorch;
    c.plan.recompute = Recompute::operations;
    // three layers of two micro-batches. Of wq wk wv wo w1 w3 w2 every second one: 6*10/2 values of queries, 2*10/2 of values, 80/2 of w1,
    // and 48 of w2, which are a part of the sum for every token
    const double matrices = 2 * 60 * (30 + 10 + 40 + 48);
    CHECK(c(Item::matrix_outputs) == 6 * matrices);
    CHECK(c(Item::checkpoints) == 6 * 2 * 30 * 48);
    CHECK(c(Item::exchange_outputs) == 6 * 2 * 2 * 30 * 48);  // what two reduce_scatter return
    CHECK(c(Item::attention_output) == 6 * 2 * 60 * 30);
    CHECK(c(Item::log_sum_exp) == 6 * 4 * 60 * 3);
    for (const Item none : {Item::norm_activations, Item::norm_outputs, Item::qkv_activations, Item::feed_forward_activations})
        CHECK(c(none) == -1);
    // in the backward pass a layer keeps everything (above), and what w2 and its reduce_scatter return beside it
    const double layer = 6'000 + 5'760 + 6'000 + 3'600 + 720 + 14'400, kept = matrices + 3 * 2'880 + 3'600 + 720;
    CHECK(c(Item::recomputed_unit) == layer - kept + 5'760 + 2'880);
    c.plan.sequence_parallel = false;  // the sums are added up by all_reduce, which is none of those that are kept
    CHECK(c(Item::checkpoints) == 6 * 2 * 60 * 48);
    CHECK(c(Item::exchange_outputs) == -1);
    c = dense();
    c.plan.framework = FrameworkKind::pytorch, c.plan.recompute = Recompute::operations;
    c.plan.tensor_parallel = 1, c.plan.gpus = 4;
    CHECK(c(Item::matrix_outputs) == 6 * 2 * 60 * (60 + 20 + 80 + 48));
    CHECK(c(Item::exchange_outputs) == -1);
    c.model.kv_heads = 6;  // without groups
    CHECK(c(Item::matrix_outputs) == 6 * 2 * 60 * (60 + 60 + 80 + 48));
    c.model.gated = false;  // wq wv w1; not w2, the sixth
    CHECK(c(Item::matrix_outputs) == 6 * 2 * 60 * (60 + 60 + 80));
    c.model.qkv_bias = true;  // those are none that count: wo, w2
    CHECK(c(Item::matrix_outputs) == 6 * 2 * 60 * (48 + 48));
    c.plan.attention = Attention::plain;  // made of operations that are computed again
    CHECK(c(Item::attention_output) == -1);
    CHECK(c(Item::log_sum_exp) == -1);
    CHECK(c(Item::attention_scores) == -1);
}

TEST_CASE("by hand: recomputation of single operations, latent attention and experts") {
    Case c = dense();
    c.plan.framework = FrameworkKind::pytorch, c.plan.recompute = Recompute::operations;
    c.model.latent = {.q_rank = 14, .kv_rank = 18, .nope_dim = 7, .rope_dim = 4, .value_dim = 9};
    // wq_a: 14, wkv_a: 18 + 4, wo: 48, w3: 80/2; not wq_b, wkv_b, w1, w2
    CHECK(c(Item::matrix_outputs) == 6 * 2 * 60 * (14 + 22 + 48 + 40));
    CHECK(c(Item::attention_output) == 6 * 2 * 60 * (6 * 9 / 2));
    c.model.latent.q_rank = 0;  // wq: 6*(7 + 4)/2, wkv_b: 6*(7 + 9)/2, w1: 80/2, w2: 48
    CHECK(c(Item::matrix_outputs) == 6 * 2 * 60 * (33 + 48 + 40 + 48));
    c = experts();
    c.plan.framework = FrameworkKind::pytorch, c.plan.recompute = Recompute::operations;
    // two dense layers and one with experts, whose shared one has the width 16
    CHECK(c(Item::matrix_outputs) == 2 * 2 * 60 * (2 * (30 + 10 + 40 + 48) + (30 + 10 + 8 + 48)));
    // beside reduce_scatter, 30 * 2 copies of tokens there and back
    CHECK(c(Item::exchange_outputs) == 2 * (3 * 5'760 + 2 * 2 * 60 * 48));
    CHECK(c(Item::expert_activations) == -1);
}

TEST_CASE("by hand: recomputation where one layer of one micro-batch is alive") {
    Case c = dense();
    c.plan.transformer_engine = Habit::off;
    c.plan.pipeline_parallel = 6, c.plan.gpus = 24, c.stage = 5;
    c.plan.recompute = Recompute::selective, c.plan.recompute_modules = mlp;
    CHECK(c.memory().at_backward == 9'600 + 5'760 + 14'400);
}

TEST_CASE("by hand: the loss, and the first layer of the backward pass") {
    Case c = dense();
    c.stage = 1;
    const double logits = 60 * 256 / 2;
    CHECK(c(Item::head) == 4 * 30 * 48 + 6 * logits);
    c.plan.fused_norms = false;  // of the last norm its input and output all the same
    CHECK(c(Item::head) == 4 * 30 * 48 + 6 * logits);
    c.plan.fused_norms = true;
    c.plan.framework = FrameworkKind::litgpt;  // logits and their log-softmax, both in 32 bits
    CHECK(c(Item::head) == 4 * 30 * 48 + 8 * logits);
    c.plan.framework = FrameworkKind::megatron_2024;
    c.plan.loss = Loss::tiled;  // as many logits at a time as hidden values, 60 * 48 / 2: in 16 bits, beside 2 * 60 * 48 of gradients
    CHECK(c.memory().at_head == 4 * 30 * 48 + 2 * 1'440 + 2 * 60 * 48);
    c.plan.loss = Loss::native_fused;
    CHECK(c(Item::head) == 4 * 30 * 48 + 10 * logits);
    c.plan.loss = Loss::gathered;  // the whole vocabulary
    CHECK(c(Item::head) == 4 * 30 * 48 + 14 * 2 * logits);
    c.plan.loss = Loss::parallel;  // the GPU's share of it
    CHECK(c(Item::head) == 4 * 30 * 48 + 16 * logits);
    c.plan.tensor_parallel = 1;
    CHECK(c(Item::head) == 4 * 60 * 48 + 14 * 2 * logits);
    c.plan.tensor_parallel = 2;
    c.plan.loss = Loss::te_fused;  // the gradient of the input is the larger moment: 2*60*48 beside it
    CHECK(c(Item::head) == 4 * 30 * 48 + 2 * logits + 2 * 60 * 48);
    c.plan.gradient_fusion = Habit::off;  // a gradient of the head in 16 bits
    CHECK(c(Item::head) == 4 * 30 * 48 + 2 * logits + 2 * 60 * 48 + 2 * kVocabulary);
    c.plan.deferred_embedding_gradient = Habit::on;
    CHECK(c(Item::head) == 4 * 30 * 48 + 2 * logits + 2 * 60 * 48 + 2 * kVocabulary + 2 * (2 * logits + 2 * 60 * 48));
    c.stage = 0;  // and the largest weight's gradient: fc1, h * 2f / t = 3,840
    CHECK(c(Item::first_backward) == kAttention + 2 * 3'840);
    CHECK(c(Item::head) == -1);
    c.plan.gradient_fusion = Habit::on;
    CHECK(c(Item::first_backward) == kAttention);
    c.model.ffn = 160;  // gates' gradients and two inputs
    CHECK(c(Item::first_backward) == 2 * 60 * 160 * 2 / 2 + 4 * 30 * 48);
    c.model.ffn = 80;
    c.plan.attention = Attention::plain;  // 4 bytes per score: 4 * 3,600 = 14,400 against 15,360
    CHECK(c(Item::first_backward) == 15'360);
    c.plan.sequence_length = 40;  // scores grow with the square: 4 * 14,400 against 30,720
    CHECK(c(Item::first_backward) == 57'600);
    c = dense();
    c.stage = 1;
    c.model.multi_token_layers = 1;  // its logits once more, twelve values per token, and all that its layer keeps
    const double layer = 6'000 + 5'760 + 6'000 + 3'600 + 720 + 14'400;
    CHECK(c(Item::head) == 4 * 30 * 48 + (6 + 4) * logits + 12 * 30 * 48 + layer);
    c = experts();  // the last layer of stage 1 has experts
    c.stage = 1;
    c.plan.sequence_length = 20;
    c.model.vocabulary = 2, c.model.experts.ffn = 400;
    CHECK(c.memory().at_backward == 60 * (2 * 400 * 2 + 2 * 48) + 4 * 30 * 48);
}

TEST_CASE("by hand: waiting for the weight gradients") {
    Case c = dense();
    c.plan.schedule = ScheduleKind::zero_bubble_h1;
    c.stage = 1;
    // the last stage does W two micro-batches later at most; of one layer and micro-batch: q, k, v 6,000, output 3,600, four norms' worth
    // 8*30*48 = 11,520, feed-forward 2*60*80*3/2 = 14,400
    const double one = 6'000 + 3'600 + 11'520 + 14'400;
    const double waiting = c(Item::waiting_activations) / one;
    CHECK(waiting == std::floor(waiting));
    CHECK(waiting > 0);
    CHECK(std::fmod(waiting, 3) == 0);  // whole stages
    // in fp8 inputs wait in one byte a value, gradients by rows and by columns: 6,000, 1,800, 3/4 of 11,520, and 9,600 + 2,400
    c.plan.precision = Precision::fp8;
    CHECK(c(Item::waiting_activations) == waiting * (6'000 + 1'800 + 8'640 + 12'000));
    c = experts();
    Stage stage;
    stage.dense.waiting = 1, stage.experts.waiting = 2;
    // attention 6,000 + 3,600 and 11,520 three times, 14,400 once; twice 60 copies of tokens, of each both hidden states and three widths
    const double beside = 3 * (6'000 + 3'600 + 11'520) + 14'400;
    const auto bytes = [&] { return WaitingForWeights<double>(c.model, c.plan, stage, Alive<double>(c.model, c.plan, stage)).bytes(2, 2); };
    CHECK(bytes() == beside + 2 * 60 * 2 * (2 * 48 + 3 * 24));
    const Alive<double> alive(c.model, c.plan, stage);
    const WaitingForWeights<double> waits(c.model, c.plan, stage, alive);
    CHECK(waits.bytes(1, 2) == 3 * (6'000 + 1'800 + 8'640) + 12'000 + 2 * 60 * (3 * 48 + 5 * 24));
    c.plan.expert_tensor_parallel = 2;  // twice the copies, half the width
    CHECK(bytes() == beside + 2 * 120 * 2 * (2 * 48 + 3 * 24 / 2));
}

TEST_CASE("by hand: workspaces and buffers") {
    Case c = dense();
    CHECK(c(Item::library_workspaces) == (2 * 32 + 32) * kMebi);
    CHECK(c(Item::pipeline_buffers) == 2 * 2 * 30 * 48);
    CHECK(c(Item::global_buffer) == -1);
    c.gpu = "a100-sxm-80gb";
    CHECK(c(Item::library_workspaces) == (2 * 8.125 + 4) * kMebi);
    c.plan.large_workspaces = Habit::on;
    CHECK(c(Item::library_workspaces) == (2 * 32 + 4) * kMebi);
    c.plan.large_workspaces = Habit::off, c.plan.transformer_engine = Habit::off;
    CHECK(c(Item::library_workspaces) == 2 * 8.125 * kMebi);
    c.plan.framework = FrameworkKind::megatron_2025;  // Transformer Engine 2 keeps them, where it adds up gradients in place
    CHECK(c(Item::dummy_gradients) == -1);
    c.plan.transformer_engine = Habit::on;  // qkv, projection, fc1 (both gates), fc2
    CHECK(c(Item::dummy_gradients) == 2 * (kQkv + kProjection + 3 * kMatrix));
    c.stage = 1;
    CHECK(c(Item::dummy_gradients) == 2 * (kQkv + kProjection + 3 * kMatrix + kVocabulary));
    CHECK(c(Item::global_buffer) == 2 * 60 * 48);  // the head's input, gathered from the sequence
    c.stage = 0;
    c.plan.virtual_stages = 3;  // one layer each; one more buffer
    CHECK(c(Item::pipeline_buffers) == 3 * 2 * 30 * 48);
}

TEST_CASE("by hand: bytes of a logit at the loss's worst moment, and of those of a further prediction") {
    Case c = dense();
    const auto bytes = [&](LossKernel loss, double at_worst, double kept) {
        const LossBytes all = loss_bytes(c.model, c.plan, loss);
        return all.at_worst == at_worst && all.kept == kept;
    };
    CHECK(bytes(LossKernel::plain, 6, 4));
    CHECK(bytes(LossKernel::native_fused, 10, 4));
    CHECK(bytes(LossKernel::te_fused, 2, 2));
    CHECK(bytes(LossKernel::gathered, 14, 4));
    CHECK(bytes(LossKernel::chunked, 4, 4));
    CHECK(bytes(LossKernel::tiled, 2, 0));
    CHECK(bytes(LossKernel::parallel, 16, 4));  // log-softmax, targets, exp and their sum
    c.plan.tensor_parallel = 1;
    CHECK(bytes(LossKernel::parallel, 14, 4));
    c.plan.framework = FrameworkKind::litgpt;  // logits of 32 bits
    CHECK(bytes(LossKernel::chunked, 8, 8));
    c.plan.framework = FrameworkKind::transformers;  // log-softmax and two gradients; capped ones keep 2 bytes beside them
    CHECK(bytes(LossKernel::gathered, 12, 4));
    c.model.capped_logits = true;
    CHECK(bytes(LossKernel::gathered, 14, 4));
}

TEST_CASE("by hand: what the allocator adds to large blocks") {
    Case c = dense();
    c.plan.pipeline_parallel = 1, c.plan.gpus = 4;
    c.model.ffn = 7'200;  // 3 * 48 * 7,200 / 2 = 518,400 per layer: 3,148,000 and a little parameters
    const double P = 6 * (kQkv + kProjection + kNorms + 518'400) + 2 * kVocabulary + 48;
    const auto rest = [](double bytes) { return std::ceil(bytes / (2 * kMebi)) * 2 * kMebi - bytes; };
    CHECK(rest(4 * P) > kMebi);  // gradients, 12.08 MiB: more than 1 MiB above is cut off and used again
    CHECK(c(Item::allocator_rounding) == -1);
    c.model.ffn = 8'200;  // 13.7 MiB of gradients end 0.3 MiB below the next step; 6.8 MiB of weights are below 10 MiB
    const double larger = 6 * (kQkv + kProjection + kNorms + 3 * 48 * 8'200 / 2) + 2 * kVocabulary + 48;
    CHECK(rest(4 * larger) < kMebi);
    CHECK(c(Item::allocator_rounding) == rest(4 * larger));
}

TEST_CASE("by hand: between steps, where it is the fuller moment") {
    Case c = dense();
    c.plan.gradients_in_fp32 = false;
    c.model.ffn = 30'000;  // few activations beside many weights
    c.plan.micro_batch = 1, c.plan.sequence_length = 2, c.plan.global_batch = 8;
    c.plan.recompute = Recompute::full;
    const StageMemory<double> memory = c.memory();
    const double P = 3 * (kQkv + kProjection + kNorms + 3.0 * 48 * 30'000 / 2) + kVocabulary;
    CHECK(memory.static_bytes >= 4 * P / 2);  // copies of the gradients in fp32, shared out
    CHECK(c(Item::between_steps) > 0);
    CHECK(memory.peak_bytes == memory.static_bytes);
}

TEST_CASE("by hand: what lies outside of the allocator, and the verdict") {
    Case c = dense();
    const Items<double> items = outside<double>(c.plan, 1'000);
    REQUIRE(items.size() == 3);
    CHECK(items.bytes(0) == 50);               // 5 % of what is allocated
    CHECK(items.bytes(1) == 0.5 * kGibi * 4);  // tensor, data, and two of the pipeline
    CHECK(items.bytes(2) == 0.5 * kGibi);
    Plan one;
    one.gpus = one.tensor_parallel = one.context_parallel = one.pipeline_parallel = 1;
    CHECK(outside<double>(one, 0).total() == 0.5 * kGibi);
    one.gpus = one.context_parallel = 2;
    CHECK(outside<double>(one, 0).total() == 1.0 * kGibi);
    // half of the runs fail where the whole GPU reaches 90 % (PyTorch: 87 %); one standard deviation of the logarithm: 84.13 %
    CHECK(probability_to_run({0.9, 0.03}, 0.9) == near(0.5));
    CHECK(probability_to_run({0.9, 0.03}, 0.9 * std::exp(-0.03)) == doctest::Approx(0.005 + 0.99 * 0.841345).epsilon(1e-5));
    CHECK(row_of(FrameworkKind::megatron_2025).residual.middle == 0.9);
    CHECK(row_of(FrameworkKind::megatron_2025).residual.spread == 0.03);
    CHECK(row_of(FrameworkKind::pytorch).residual.middle == 0.87);
    CHECK(row_of(FrameworkKind::pytorch).residual.spread == 0.13);
    // fujii2024: up to 80 % it fits, up to the card it may
    CHECK(judge(Method::fujii2024, one, 80, 100).fit == Fit::fits);
    CHECK(judge(Method::fujii2024, one, 80.5, 100).fit == Fit::at_risk);
    CHECK(judge(Method::fujii2024, one, 100, 100).fit == Fit::at_risk);
    CHECK(judge(Method::fujii2024, one, 100.5, 100).fit == Fit::does_not_fit);
    // 60 GiB and a twentieth, 0.5 for NCCL (cp), 0.5 for CUDA: 64 of 80 GiB
    CHECK(judge(Method::detailed, one, 60 * kGibi, 80 * kGibi).probability == probability_to_run({0.9, 0.03}, 64.0 / 80));
    CHECK(judge(Method::detailed, one, 60 * kGibi, 80 * kGibi).fit == Fit::fits);
    CHECK(judge(Method::detailed, one, 67.6 * kGibi, 80 * kGibi).fit == Fit::at_risk);
    CHECK(judge(Method::detailed, one, 75 * kGibi, 80 * kGibi).fit == Fit::does_not_fit);
    CHECK(allocated_of_whole(one, 64 * kGibi) == near(60 * kGibi));
    CHECK(most_whole_share({0.9, 0.03}, 0.5) == near(0.9));
}
