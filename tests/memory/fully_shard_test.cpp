// FSDP of the second version and DistributedDataParallel's buckets (Hugging Face's transformers), worked by hand on the small model: 60
// tokens, h = 48, f = 80, 6 heads and 2 KV heads 10 wide, 6 layers, 256 words; four GPUs.
#include <doctest/doctest.h>

#include "memory/small_cases.h"
#include "plan/shares.h"

using namespace fourfold;
using namespace fourfold::tests;
using doctest::Approx;

namespace {

// Everything that learns is held in 32 bits, and multiplied in 16.
Case on_four(Zero zero) {
    Case c = dense();
    c.model.tied = false;
    c.plan.gpus = 4, c.plan.tensor_parallel = c.plan.pipeline_parallel = 1, c.plan.global_batch = 12;
    c.plan.framework = FrameworkKind::transformers, c.plan.zero = zero, c.plan.attention = Attention::automatic;
    return c;
}

}  // namespace

TEST_CASE("fully_shard by hand: weights of 32 bits are the only ones, and the head stays whole") {
    Case c = on_four(Zero::weights);
    CHECK(c(Item::weights) == -1);
    CHECK(c(Item::master_weights) == 4 * kParameters / 4);
    CHECK(c(Item::moments) == 8 * kParameters / 4);
    CHECK(c.memory().static_bytes == 12 * kParameters / 4 + c(Item::library_workspaces));
    c.plan.sequence_length = 2'000;  // 6,000 tokens: the head is the fullest moment, in its backward pass
    CHECK(c(Item::gathered_weights) == 2 * kWords);
    CHECK(c(Item::whole_gradients) == -1);
    CHECK(c(Item::head) == 6'000 * (8.0 * 48 + 12 * 256));
    CHECK(c(Item::gradients) == -1);  // they come while activations go
    c.plan.sequence_length = 2;       // 6 tokens: in its forward pass, what was gathered last stands beside the weights
    CHECK(c.memory().at_head == 6 * (8.0 * 48 + 10 * 256) + 2 * kWords);
    c.model.tied = true;  // gathered for the embedding already: last was a layer
    CHECK(c.memory().at_head == 6 * (8.0 * 48 + 10 * 256) + 2 * kOfLayer);
    c.plan.fully_shard = Habit::off;  // the first version, and DeepSpeed: weights in 16 bits beside those
    CHECK(c(Item::weights) == 2 * (kParameters - kWords) / 4);
}

TEST_CASE("fully_shard by hand: the last layer's backward pass, two layers' weights and one's gradients") {
    Case c = on_four(Zero::weights);
    c.model.vocabulary = 1, c.model.hidden = 48;
    const double words = 128 * 48;  // padded
    c.plan.sequence_length = 2;
    const double first = 6 * (4.0 * 48 + 2 * (2 * 6 + 2 * 2) * 10 + 4 * 6 * 10);  // attention
    CHECK(c.memory().at_backward == near(first + 2 * 2 * kOfLayer + 2 * kOfLayer));
    CHECK(c(Item::gathered_weights) == 2 * words + 2 * 2 * kOfLayer);
    CHECK(c(Item::whole_gradients) == 2 * kOfLayer);
    c.model.tied = true;  // the head's own wait for the embedding's
    CHECK(c(Item::whole_gradients) == 2 * (kOfLayer + words));
    c.plan.trained = TrainedPart::lora, c.plan.lora_rank = 4;
    CHECK(c(Item::whole_gradients) == -1);
    CHECK(c(Item::adapters) == -1);  // in 32 bits alone, too
}

TEST_CASE("fully_shard by hand: the end of the backward pass, where gradients of 32 bits are there but the embedding's") {
    Case c = on_four(Zero::weights);
    c.model.vocabulary = 4'096;
    const double words = 4'096 * 48, parameters = 6 * kOfLayer + 2 * words + 48;
    c.plan.micro_batch = 1, c.plan.global_batch = 4, c.plan.sequence_length = 1;
    // beside the states: the embedding whole and its gradient, and what the first layer sends
    CHECK(c.memory().peak_bytes ==
          Approx(12 * parameters / 4 + c(Item::library_workspaces) + 4 * (parameters - words) / 4 + 2 * words + 2 * words + 2 * kOfLayer)
              .epsilon(1e-4));
    c.model.tied = true;  // it, its gradient, the head's and the sum
    const double tied = parameters - words;
    CHECK(c.memory().peak_bytes ==
          Approx(12 * tied / 4 + c(Item::library_workspaces) + 4 * (tied - words) / 4 + 4 * 2 * words + 2 * kOfLayer).epsilon(1e-4));
}

TEST_CASE("fully_shard by hand: micro-batches are added up in whole gradients; ZeRO-2 keeps whole weights between the passes") {
    Case c = on_four(Zero::weights);
    c.plan.global_batch = 24;
    CHECK(c(Item::gradients) == 2 * kParameters);
    CHECK(c.memory().static_bytes == 12 * kParameters / 4 + c(Item::library_workspaces));
    c.plan.sync_each_micro_batch = Habit::on;  // a quarter of them in 32 bits, which stays
    CHECK(c(Item::gradients) == 4 * kParameters / 4);
    CHECK(c.memory().static_bytes == 16 * kParameters / 4 + c(Item::library_workspaces));
    c = on_four(Zero::gradients);
    c.plan.sequence_length = 2'000;
    CHECK(c(Item::gathered_weights) == 2 * kParameters);
    CHECK(c(Item::weights) == -1);
    CHECK(c(Item::gradients) == -1);
    CHECK(c.memory().static_bytes == 12 * kParameters / 4 + c(Item::library_workspaces));
    c.plan.trained = TrainedPart::lora;  // gathered as they are stored: 4.5 bits a value, and two vocabularies of 16
    CHECK(c(Item::gathered_weights) == 2 * kParameters);
    c.plan.frozen_weights = FrozenWeights::nf4_single;
    CHECK(c(Item::gathered_weights) == (0.5 + 4 / 64.0) * (kParameters - 2 * kWords) + 2 * 2 * kWords);
}

// Whole gradients of 16 bits while the first version of FSDP adds them up; a quarter in 32 bits with DeepSpeed, or in a single micro-batch.
TEST_CASE("fully_shard by hand: its first version adds up whole gradients too, DeepSpeed does not") {
    Case c = on_four(Zero::weights);
    c.plan.fully_shard = Habit::off;
    c.plan.global_batch = 24;
    CHECK(c(Item::gradients) == 2 * kParameters);
    c.plan.sync_each_micro_batch = Habit::on;
    CHECK(c(Item::gradients) == 4 * kParameters / 4);
    c.plan.zero = Zero::optimizer, c.plan.sync_each_micro_batch = Habit::off;  // shares out no gradients
    CHECK(c(Item::gradients) == 4 * kParameters);
}

TEST_CASE("fully_shard by hand: no torch.autocast, so that LayerNorm and GELU in steps keep 16 bits") {
    Case c = on_four(Zero::weights);
    c.model.layer_norm = true, c.model.gated = false, c.model.gelu_steps = true;
    CHECK(c(Item::norm_copies) == 6 * 60.0 * (2 * 2 * 48 + 2 * 8));
    CHECK(c(Item::norm_outputs) == 6 * 60.0 * 2 * 2 * 48);
    CHECK(c(Item::feed_forward_activations) == 6 * 60.0 * (2 + 2 + 2 + 2 + 2) * 80);
}

TEST_CASE("buckets by hand: gradients that are averaged over copies stand beside each copy's own") {
    Case c = on_four(Zero::none);
    c.plan.sequence_length = 2'000;
    CHECK(c(Item::gradients) == 4 * kParameters);  // its own come late
    CHECK(c.memory().static_bytes == 16 * kParameters + c(Item::library_workspaces));
    c.plan.global_batch = 24;
    CHECK(c(Item::gradients) == 8 * kParameters);  // its own are added up
    CHECK(c.memory().static_bytes == 16 * kParameters + c(Item::library_workspaces));
    c.plan.gpus = 1, c.plan.global_batch = 6;
    CHECK(c(Item::gradients) == 4 * kParameters);  // no copies
    CHECK(c.memory().static_bytes == 12 * kParameters + c(Item::library_workspaces));
}

TEST_CASE("fully_shard by hand: experts are shared out whole, and gathered as if all held as many as the first") {
    Case c = on_four(Zero::weights);
    c.model.experts = {.count = 6, .per_token = 2, .ffn = 24}, c.model.expert_layers = {1, 1, 1, 1, 1, 1};
    const double experts = 6 * 6 * 3 * 48 * 24.0;
    c.plan.framework = FrameworkKind::pytorch;
    const double rest = c(Item::master_weights) - experts;  // 4 bytes on four GPUs
    c.plan.framework = FrameworkKind::transformers;
    CHECK(c(Item::master_weights) == Approx(4 * (rest / 4 + experts * 2 / 6)));  // two of six, not one and a half
    c.plan.gpus = 12, c.plan.global_batch = 36;
    CHECK(c(Item::master_weights) == Approx(4 * (rest / 12 + experts / 6)));  // no less than one
    CHECK(expert_padding(c.model, c.plan) == 2);
    const double padded = c.memory().at_backward;
    c.plan.framework = FrameworkKind::pytorch;
    CHECK(expert_padding(c.model, c.plan) == 1);
    CHECK(c(Item::master_weights) == Approx(4 * (rest + experts) / 12));
    c.plan.framework = FrameworkKind::transformers, c.plan.gpus = 6, c.plan.global_batch = 18;
    // two layers' weights and one layer's gradients, in 2 bytes, of experts that count twice
    CHECK(padded - c.memory().at_backward == Approx(3 * 2 * experts / 6));
    c.plan.zero = Zero::gradients, c.plan.sequence_length = 2'000;  // which keeps all that it gathered
    const double six = c(Item::gathered_weights);
    c.plan.gpus = 12, c.plan.global_batch = 36;
    CHECK(c(Item::gathered_weights) - six == Approx(2 * experts));
}
