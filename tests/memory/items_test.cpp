// What a GPU holds over a whole step, every item once, worked by hand.
#include <doctest/doctest.h>

#include "memory/small_cases.h"

using namespace fourfold;
using namespace fourfold::tests;

TEST_CASE("the title of a source is a name: what is said of it, as that it was measured, stands in words that are translated") {
    for (int i = 0; i < static_cast<int>(Paper::count); ++i)
        CHECK(source(static_cast<Paper>(i)).title.find("measured") == std::string_view::npos);
    CHECK(text(Method::detailed).source.title == source(Paper::recomputation).title);
}

TEST_CASE("by hand: weights, gradients and optimizer of both stages") {
    Case c = dense();
    CHECK(kFirst == 35'232);
    CHECK(c(Item::weights) == 2 * 35'232.0);
    CHECK(c(Item::gradients) == 4 * 35'232.0);
    CHECK(c(Item::master_weights) == 4 * 35'232.0 / 2);  // shared out over 8 / (2 * 2) = 2 GPUs
    CHECK(c(Item::moments) == 8 * 35'232.0 / 2);
    c.stage = 1;
    CHECK(c(Item::weights) == 2 * kLast);
    c.model.tied = true;  // the head is a copy of the embedding, which lies on the other stage
    CHECK(c(Item::weights) == 2 * kLast);
    c.plan.moments = Moments::bits16;
    CHECK(c(Item::moments) == 4 * kLast / 2);
    c.plan.moments = Moments::bits8;  // a byte each, and a 4-byte scale per 256
    CHECK(c(Item::moments) == (2 + 8.0 / 256) * kLast / 2);
    c.plan.gradients_in_fp32 = false;
    CHECK(c(Item::gradients) == 2 * kLast);
}

TEST_CASE("by hand: one stage holds embedding and head, and each once") {
    Case c = dense();
    c.plan.pipeline_parallel = 1, c.plan.gpus = 4;
    CHECK(c(Item::weights) == 2 * (6 * kLayer + 2 * kVocabulary + 48));
    c.model.tied = true;
    CHECK(c(Item::weights) == 2 * (6 * kLayer + kVocabulary + 48));
    c.model.learned_positions = true, c.model.max_positions = 32;  // 32 rows of 48
    CHECK(c(Item::weights) == 2 * (6 * kLayer + kVocabulary + 48 + 1'536));
}

TEST_CASE("by hand: what biases and norms add to the weights") {
    Case c = dense();
    c.model.qkv_bias = true;  // (6 + 4) * 10 / 2 = 50 values per layer
    CHECK(c(Item::weights) == 2 * (kFirst + 3 * 50));
    c.model.attention_out_bias = true;  // 48
    CHECK(c(Item::weights) == 2 * (kFirst + 3 * 98));
    c.model.mlp_bias = true;  // 80 * 2 / 2 + 48 = 128
    CHECK(c(Item::weights) == 2 * (kFirst + 3 * 226));
    c.model.qk_norm = true;  // two norms of 10 values
    CHECK(c(Item::weights) == 2 * (kFirst + 3 * 246));
    c.model.layer_norm = true;  // twice the parameters of every norm: 96 + 20 more per layer
    CHECK(c(Item::weights) == 2 * (kFirst + 3 * 362));
    c.model.norms_per_layer = 4;  // two more, of 2 * 48 values each
    CHECK(c(Item::weights) == 2 * (kFirst + 3 * 554));
}

TEST_CASE("by hand: ZeRO and what is shared out") {
    Case c = dense();
    c.plan.pipeline_parallel = 1, c.plan.gpus = 8;  // 4 copies
    const double all = 6 * kLayer + 2 * kVocabulary + 48;
    c.plan.zero = Zero::none;
    CHECK(c(Item::master_weights) == 4 * all);
    c.plan.zero = Zero::optimizer;
    CHECK(c(Item::master_weights) == all);
    CHECK(c(Item::gradients) == 4 * all);
    c.plan.zero = Zero::gradients;
    CHECK(c(Item::gradients) == 4 * all / 4);
    CHECK(c(Item::weights) == 2 * all);
    CHECK(c(Item::whole_gradients) == 4 * kLayer);  // of one layer, larger than the vocabulary's 6,144
    CHECK(c(Item::gathered_weights) == -1);
    c.plan.zero = Zero::weights;
    CHECK(c(Item::weights) == 2 * all / 4);
    CHECK(c(Item::gathered_weights) == 2 * 2 * kLayer);  // the layer at work and the next one
    c.plan.gradients_in_fp32 = false;
    CHECK(c(Item::whole_gradients) == 2 * kLayer);
    c.plan.shard_replicas = 2;  // shared out over half of the copies
    CHECK(c(Item::weights) == 2 * all / 2);
    c.model.vocabulary = 500;  // 512 / 2 * 48 = 12,288: the head is larger than a layer
    CHECK(c(Item::gathered_weights) == 2 * (12'288 + kLayer));
    CHECK(c(Item::whole_gradients) == 2 * 12'288);
}

TEST_CASE("by hand: an optimizer in host memory") {
    Case c = dense();
    c.plan.optimizer_offload = 0.25;
    const double share = kFirst / 2;
    CHECK(c(Item::master_weights) == 4 * 0.75 * share);
    CHECK(c(Item::moments) == 8 * 0.75 * share);
    CHECK(c.memory().host_bytes == 0.25 * share * (4 + 8 + 4));  // copy, averages, a gradient in fp32
    CHECK(c.memory().nvme_bytes == 0);
    CHECK(c.memory().pcie_bytes == 0.25 * share * (4 + 2));  // gradients down, weights back
    c.plan.optimizer_offload = 1;
    CHECK(c(Item::master_weights) == -1);
    CHECK(c(Item::moments) == -1);
    c.plan.gradients_in_fp32 = false;
    CHECK(c.memory().pcie_bytes == share * (2 + 2));
}

TEST_CASE("by hand: fp8 keeps two copies of every matrix, not of the vocabulary") {
    Case c = dense();
    c.plan.precision = Precision::fp8;
    CHECK(c(Item::fp8_weights) == 2 * (kFirst - kVocabulary));
    c.plan.zero = Zero::weights;
    CHECK(c(Item::fp8_weights) == 2 * (kFirst - kVocabulary) / 2);
    c.plan.precision = Precision::fp8_weights;
    CHECK(c(Item::fp8_weights) == -1);
}

TEST_CASE("by hand: what the layers keep for their backward pass") {
    Case c = dense();
    const double K = 3 * 2;                                              // layers times micro-batches alive
    CHECK(c(Item::norm_activations) == K * (4 * 30 * 48 + 4 * 2 * 30));  // two inputs of 2 bytes, two statistics of 4 bytes per token
    CHECK(c(Item::norm_outputs) == K * 4 * 30 * 48);
    CHECK(c(Item::qkv_activations) == K * 2 * 60 * (6 + 4) * 10 / 2);
    CHECK(c(Item::attention_output) == K * 2 * 60 * 6 * 10 / 2);
    CHECK(c(Item::log_sum_exp) == K * 4 * 60 * 6 / 2);
    CHECK(c(Item::feed_forward_activations) == K * (2 * 60 * 80 * 2 / 2 + 2 * 60 * 80 / 2));  // both gates, and their product
    CHECK(c(Item::attention_output_copy) == -1);
    CHECK(c(Item::attention_scores) == -1);
    c.stage = 1;  // one micro-batch alive
    CHECK(c(Item::qkv_activations) == 3.0 * 2 * 60 * 10 * 10 / 2);
    c.plan.sequence_parallel = false;  // the norms hold all 60 tokens
    CHECK(c(Item::norm_outputs) == 3.0 * 4 * 60 * 48);
    c.plan.global_batch = 6;  // one micro-batch per step
    c.stage = 0;
    CHECK(c(Item::qkv_activations) == 3.0 * 2 * 60 * 10 * 10 / 2);
    c.model.gated = false;
    CHECK(c(Item::feed_forward_activations) == 3.0 * (2 * 60 * 80 / 2 + 2 * 60 * 80 / 2));
    c.model.gelu_steps = true;  // one kernel here, whatever a model's config names
    CHECK(c(Item::feed_forward_activations) == 3.0 * (2 * 60 * 80 / 2 + 2 * 60 * 80 / 2));
}

TEST_CASE("by hand: matrices split by columns that keep what they gathered") {
    Case c = dense();
    c.plan.gathered_inputs = Habit::on;
    CHECK(c(Item::norm_outputs) == 3 * 2 * 2 * 2 * 60 * 48);  // of both parts of a layer all 60 tokens, not 30
    CHECK(c(Item::norm_activations) == 3 * 2 * (4 * 30 * 48 + 4 * 2 * 30));
    c.plan.sequence_parallel = false;  // nothing is gathered
    CHECK(c(Item::norm_outputs) == 3 * 2 * 2 * 2 * 60 * 48);
    Case mixed = experts();  // tokens leave for their experts from where they are: a layer of the three has experts
    mixed.plan.gathered_inputs = Habit::on;
    CHECK(mixed(Item::norm_outputs) == 2 * (2 * 2 * 2 * 60 * 48 + 2 * (60 + 30) * 48));
}

TEST_CASE("by hand: activations with context parallelism") {
    Case c = dense();
    c.plan.context_parallel = 2, c.plan.gpus = 16;  // 10 tokens of each sequence: N = 30, N_s = 15
    const double K = 6;
    CHECK(c(Item::qkv_activations) == K * 2 * 30 * 10 * 10 / 2);
    CHECK(c(Item::norm_outputs) == K * 4 * 15 * 48);
    CHECK(c(Item::attention_output_copy) == K * 2 * 30 * 6 * 10 / 2);
    c.plan.attention = Attention::flash;  // one more copy, transposed, as the micro-batch is larger than 1
    CHECK(c(Item::attention_output_copy) == K * 2 * 2 * 30 * 6 * 10 / 2);
    c.plan.micro_batch = 1;  // N = 10; m = 12
    CHECK(c(Item::attention_output_copy) == K * 2 * 10 * 6 * 10 / 2);
    c.plan.context_parallel = 1, c.plan.gpus = 8, c.plan.micro_batch = 2;  // N = 40
    CHECK(c(Item::attention_output_copy) == K * 2 * 40 * 6 * 10 / 2);
    c = dense();
    c.plan.context_parallel = 3, c.plan.gpus = 24, c.plan.sequence_length = 24;  // N = 24
    CHECK(c(Item::qkv_activations) == K * 2 * 24 * (6 + 2 * 2) * 10 / 2);
    c.plan.context_parallel_kind = ContextKind::all_to_all;  // 3 * 2 GPUs swap heads: each needs a KV head of its own
    CHECK(c(Item::qkv_activations) == K * 2 * 24 * (6 + 2 * 6) * 10 / 2);
}

TEST_CASE("by hand: attention that keeps its scores") {
    Case c = dense();
    c.plan.attention = Attention::plain;
    const double scores = 3.0 * 6 / 2 * 20 * 20;  // b * a / t * s * s
    CHECK(c(Item::attention_scores) == 6 * 2 * scores);
    CHECK(c(Item::log_sum_exp) == -1);
    c.plan.attention_dropout = true;  // its output and its mask
    CHECK(c(Item::attention_scores) == 6 * 5 * scores);
    c.plan.transformer_engine = Habit::off;
    CHECK(c(Item::attention_scores) == 6 * 5 * scores);
    CHECK(c(Item::global_buffer) == 2 * scores);
    c.plan.softmax_fusion = Habit::off;  // three copies of 2 bytes, and the mask
    CHECK(c(Item::attention_scores) == 6 * 7 * scores);
    c.plan.attention_mask = Habit::on;
    CHECK(c(Item::attention_mask) == 3.0 * 20 * 20);
}

TEST_CASE("by hand: dropout, unfused norms, norms of queries and keys, fp8") {
    Case c = dense();
    c.plan.hidden_dropout = true;
    CHECK(c(Item::dropout_masks) == 6 * 2 * 30 * 48);
    CHECK(c(Item::embedding_dropout_mask) == 2 * 30 * 48);  // two micro-batches alive in the first chunk
    c.plan.global_batch = 6;                                // one
    CHECK(c(Item::embedding_dropout_mask) == 30 * 48);
    c.plan.global_batch = 24;
    c.plan.fused_norms = false;
    CHECK(c(Item::norm_copies) == 6 * 6 * 2 * 30 * 48);
    c.model.qk_norm = true;
    CHECK(c(Item::qk_norm_activations) == 6 * (2 * 60 * (6 + 2 * 2) * 10 / 2 + 8 * 60 * 6 / 2));
    c.model.norms_per_layer = 4;
    CHECK(c(Item::norm_activations) == 6 * ((4 + 2 * 2) * 30 * 48 + 4 * 4 * 30));
    CHECK(c(Item::norm_outputs) == 6 * 2 * 2 * 30 * 48);  // matrices read two of the four
    c.model.layer_norm = true;                            // mean and variance
    CHECK(c(Item::qk_norm_activations) == 6 * (2 * 60 * (6 + 2 * 2) * 10 / 2 + 8 * 2 * 60 * 6 / 2));
    CHECK(c(Item::norm_activations) == 6 * ((4 + 2 * 2) * 30 * 48 + 4 * 4 * 2 * 30));
    c = dense();
    c.plan.precision = Precision::fp8;
    CHECK(c(Item::norm_outputs) == 6 * 2 * 30 * 48);
    CHECK(c(Item::attention_output) == 6 * 3 * 60 * 6 * 10 / 2);
    CHECK(c(Item::feed_forward_activations) == 6 * (2 * 60 * 80 * 2 / 2 + 60 * 80 / 2));
    c = experts();
    c.plan.precision = Precision::fp8;  // a byte of what the second matrix reads, of 60 copies of tokens
    CHECK(c(Item::expert_products) == 2 * 60 * 24);
    c = dense();
    c.plan.feed_forward_tiles = 2;  // each tile is computed again
    CHECK(c(Item::feed_forward_activations) == -1);
    c.plan.feed_forward_tiles = 1, c.plan.precision = Precision::fp8;
    c.plan.framework = FrameworkKind::hai_llm;  // attention keeps its output in 12 bits
    CHECK(c(Item::attention_output) == 6 * 1.5 * 60 * 6 * 10 / 2);
    CHECK(c(Item::feed_forward_activations) == 6 * 60 * 80 * 2 / 2);  // both gates in a byte; the product is computed again
}

TEST_CASE("by hand: latent attention") {
    Case c = dense();
    c.model.latent = {.q_rank = 14, .kv_rank = 18, .nope_dim = 7, .rope_dim = 4, .value_dim = 9};
    // down 48*14, up 14*6*11/2; down 48*(18+4), up 18*6*(7+9)/2; projection 6*9*48/2
    const double attention = 672 + 462 + 1'056 + 864 + 1'296;
    CHECK(c(Item::weights) == 2 * (3 * (attention + kNorms + 3 * kMatrix) + kVocabulary));
    CHECK(c(Item::latent_activations) == 6 * 2 * 30 * (14 + 18 + 4));
    CHECK(c(Item::qkv_activations) == 6 * 2 * 60 * 6 * (2 * 11 + 16) / 2);
    CHECK(c(Item::attention_output) == 6 * 2 * 60 * 6 * 9 / 2);
    c.plan.recompute = Recompute::selective, c.plan.recompute_modules = mla_up_proj;  // once, beside 4*30*48 of attention's
    CHECK(c(Item::qkv_activations) == -1);
    CHECK(c(Item::first_backward) == 5'760 + 2 * 60 * 6 * (2 * 11 + 16) / 2);
    c.plan.recompute_modules = layernorm;  // of two norms the one in front of latent attention stands apart
    CHECK(c(Item::norm_outputs) == 6 * 2 * 30 * 48);
    CHECK(c(Item::first_backward) == 9'600 + 5'760 + 2 * 30 * 48);
    c.plan.recompute = Recompute::none;
    c.model.qk_norm = true;  // the latents' norms keep what they write
    CHECK(c(Item::latent_activations) == 6 * 2 * 30 * (2 * 32 + 4));
    CHECK(c(Item::weights) == 2 * (3 * (attention + 32 + kNorms + 3 * kMatrix) + kVocabulary));
    c.model.qkv_bias = true;
    CHECK(c(Item::weights) == 2 * (3 * (attention + 32 + 36 + kNorms + 3 * kMatrix) + kVocabulary));
    c.model.latent.q_rank = 0;  // 48*6*11/2 in the place of down and up
    c.model.qk_norm = c.model.qkv_bias = false;
    CHECK(c(Item::weights) == 2 * (3 * (1'584 + 1'056 + 864 + 1'296 + kNorms + 3 * kMatrix) + kVocabulary));
}

TEST_CASE("by hand: experts") {
    Case c = experts();
    // stage 0: layers 0 and 2 dense, layer 1 with experts. Router 48*4 + 4; shared expert 3*48*16/2 + a gate of 48
    const double attention = kQkv + kProjection + kNorms, beside = 196 + 1'152 + 48;
    const double P = 2 * kLayer + attention + beside + kVocabulary;
    const double X = 2 * 3 * 48 * 24;  // two of the four experts are this GPU's
    CHECK(c(Item::weights) == 2 * (P + X));
    // the experts' optimizer is shared by 8 / (1 * 2 * 2) = 2 GPUs, as is the rest's
    CHECK(c(Item::master_weights) == 4 * (P / 2 + X / 2));
    CHECK(c(Item::qkv_activations) == 6 * 2 * 60 * 10 * 10 / 2);
    CHECK(c(Item::feed_forward_activations) == 4 * 3 * 2 * 60 * 80 / 2);  // K_d = 2 layers * 2 micro-batches
    const double T = 30 * 2;                                              // N_s tokens, two experts each, ETP 1
    CHECK(c(Item::router_activations) == 2 * 14 * 30 * 4);
    CHECK(c(Item::expert_activations) == 2 * T * (2 * 48 + 2 * 24 * 2 + 4));
    CHECK(c(Item::expert_products) == 2 * 2 * T * 24);
    CHECK(c(Item::shared_expert_activations) == 2 * (2 * 60 * 16 * 2 / 2 + 2 * 60 * 16 / 2));
    c.plan.recompute = Recompute::selective, c.plan.recompute_modules = moe_act;  // what the activation function writes
    CHECK(c(Item::expert_products) == -1);
    CHECK(c(Item::expert_activations) == 2 * T * (2 * 48 + 2 * 24 * 2 + 4));
    c.plan.recompute_modules = moe;  // everything of the experts
    for (const Item item : {Item::router_activations, Item::expert_activations, Item::expert_products, Item::shared_expert_activations})
        CHECK(c(item) == -1);
    c.plan.recompute = Recompute::none;
    c.model.limited_gate = true;  // both matrices' outputs once more
    CHECK(c(Item::limited_activations) == 2 * 2 * T * 2 * 24);
    c.model.limited_gate = false;
    c.model.gated = false;  // one matrix before the activation, which is no fused one: its result is kept before it is scaled
    CHECK(c(Item::expert_activations) == 2 * T * (2 * 48 + 2 * 24 + 4 + 2 * 24));
    c.model.gated = true;
    c.plan.activation_fusion = Habit::off;
    CHECK(c(Item::expert_activations) == 2 * T * (2 * 48 + 2 * 24 * 2 + 4 + 2 * 24));
    CHECK(c(Item::library_workspaces) == (2 * 32 + 5 * 32) * kMebi);  // five of Transformer Engine: grouped
    c.plan.grouped_gemm = Habit::off;
    CHECK(c(Item::library_workspaces) == (2 * 32 + 32) * kMebi);
    c.plan.transformer_engine = Habit::off;  // Megatron's router multiplies by it all the same
    CHECK(c(Item::library_workspaces) == (2 * 32 + 32) * kMebi);
    c.plan.framework = FrameworkKind::pytorch;
    CHECK(c(Item::library_workspaces) == 2 * 32 * kMebi);
    c.plan.framework = FrameworkKind::megatron_2024, c.plan.transformer_engine = Habit::automatic;
    c.plan.expert_imbalance = 1.5;
    CHECK(c(Item::expert_products) == 2 * 2 * 1.5 * T * 24);
    c.plan.expert_tensor_parallel = 2;  // every expert over two GPUs: twice the tokens, half the width
    CHECK(c(Item::expert_products) == 2 * 2 * 1.5 * 2 * T * 24 / 2);
    CHECK(c(Item::expert_activations) == 2 * 1.5 * 2 * T * (2 * 48 + 2 * 24 * 2 / 2 + 4 + 2 * 24 / 2));
    c.model.limited_gate = true;
    CHECK(c(Item::limited_activations) == 2 * 2 * 1.5 * 2 * T * 2 * 24 / 2);
    c.model.limited_gate = false;
    CHECK(c(Item::weights) == 2 * (P + X / 2));
}
