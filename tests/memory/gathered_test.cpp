// What FSDP holds whole for a moment, of frozen weights, of models with experts and in a pipeline: worked by hand on the small model.
#include <doctest/doctest.h>

#include "memory/small_cases.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {

// Adapters of rank 4; Megatron joins queries, keys and values, and gate and up: 48 -> 100, 60 -> 48, 48 -> 160, 80 -> 48, over t = 2.
constexpr double kLearnsOfLayer = 4 * (148 + 108 + 208 + 128) / 2.0;

Case frozen_on_one_stage() {
    Case c = dense();
    c.plan.pipeline_parallel = 1, c.plan.gpus = 8, c.plan.zero = Zero::weights;
    c.plan.trained = TrainedPart::lora, c.plan.lora_rank = 4;
    return c;
}
Case second_version(Zero zero) {
    Case c = dense();
    c.plan.gpus = 4, c.plan.tensor_parallel = c.plan.pipeline_parallel = 1, c.plan.global_batch = 12;
    c.plan.framework = FrameworkKind::transformers, c.plan.zero = zero;
    return c;
}

}  // namespace

TEST_CASE("gathered by hand: frozen layers as they are stored, and the gradients of a layer's adapters") {
    Case c = frozen_on_one_stage();
    CHECK(c(Item::gathered_weights) == 2 * 2 * kLayer);  // at work, and the next one
    CHECK(c(Item::whole_gradients) == 4 * kLearnsOfLayer);
    c.plan.gradients_in_fp32 = false;
    CHECK(c(Item::whole_gradients) == 2 * kLearnsOfLayer);
    c.plan.frozen_weights = FrozenWeights::nf4_single;
    CHECK(c(Item::gathered_weights) == 2 * 0.5625 * kLayer);
    c.model.vocabulary = 500;  // 512 / 2 * 48 = 12,288: the head, in 16 bits, and a layer
    CHECK(c(Item::gathered_weights) == 2 * 12'288 + 0.5625 * kLayer);
    c.plan.zero = Zero::gradients;
    CHECK(c(Item::gathered_weights) == -1);
    CHECK(c(Item::whole_gradients) == 2 * kLearnsOfLayer);
    c = frozen_on_one_stage();
    c.plan.framework = FrameworkKind::litgpt, c.plan.global_batch = 12, c.plan.gradients_in_fp32 = false;  // as long as the layer
    CHECK(c(Item::whole_gradients) == 2 * kLayer);
}

TEST_CASE("gathered by hand: the root of the first version stays") {
    Case c = second_version(Zero::weights);
    c.plan.fully_shard = Habit::off;
    CHECK(c(Item::gathered_weights) == 2 * (2 * kWords + 2 * kOfLayer));  // embedding and head, and two layers
    c.model.tied = true;
    CHECK(c(Item::gathered_weights) == 2 * (kWords + 2 * kOfLayer));
    c.plan.sync_each_micro_batch = Habit::on;  // DeepSpeed has no units
    CHECK(c(Item::gathered_weights) == 2 * 2 * kOfLayer);
    c.plan.sync_each_micro_batch = Habit::automatic, c.model.tied = false, c.plan.trained = TrainedPart::lora;
    CHECK(c(Item::gathered_weights) == 2 * 2 * kWords + 2 * kOfLayer);  // adapters are units of their own: no layer is fetched ahead
}

TEST_CASE("gathered by hand: beside frozen weights the first version keeps the inputs of layers, and their gradients") {
    Case c = second_version(Zero::weights);
    c.plan.fully_shard = Habit::off, c.plan.trained = TrainedPart::lora, c.plan.lora_rank = 4, c.plan.recompute = Recompute::full;
    CHECK(c(Item::input_gradients) == -1);  // 60 tokens of 256 logits are more than all that
    c.model.vocabulary = 1;
    CHECK(c(Item::checkpoints) == 6 * 2 * 60 * 48);
    CHECK(c(Item::input_gradients) == 6 * 2 * 60 * 48);
    CHECK(c.memory().at_backward == near(6 * 2 * 60 * 48 + c(Item::first_backward) + c(Item::recomputed_unit)));
    c.plan.sync_each_micro_batch = Habit::on;  // DeepSpeed has no such hooks
    CHECK(c(Item::input_gradients) == -1);
    c.plan.sync_each_micro_batch = Habit::automatic, c.plan.recompute = Recompute::none;
    CHECK(c(Item::input_gradients) == -1);
    c.plan.recompute = Recompute::full, c.plan.trained = TrainedPart::full;
    CHECK(c(Item::input_gradients) == -1);
    c.plan.trained = TrainedPart::lora, c.plan.fully_shard = Habit::automatic;  // the second version
    CHECK(c(Item::input_gradients) == -1);
}

TEST_CASE("gathered by hand: gradients of FSDP in pipelines are whole until they are sent, in the format in which they are sent") {
    Case c = dense();  // two stages: six layers on both
    c.plan.framework = FrameworkKind::pytorch, c.plan.zero = Zero::gradients;
    const double stage = 3 * kLayer + kVocabulary;
    CHECK(c(Item::gradients) == 4 * stage);
    c.plan.gradients_in_fp32 = false;
    CHECK(c(Item::gradients) == 2 * stage);
    c.plan.pipeline_parallel = 1, c.plan.gradients_in_fp32 = true, c.plan.gpus = 8;  // 4 copies send after each micro-batch
    CHECK(c(Item::gradients) == 4 * (6 * kLayer + 2 * kVocabulary + 48) / 4);
}

TEST_CASE("gathered by hand: the second version of FSDP between the passes, where ZeRO-2 keeps weights whole") {
    Case c = second_version(Zero::gradients);
    CHECK(c.memory().cast_weights == 2 * kParameters - 2 * kWords);  // layers go in the backward pass
    c.model.vocabulary = 1;
    c.plan.sequence_length = 2;
    // attention of 6 tokens, and one layer's gradients
    CHECK(c.memory().at_backward == near(6 * (4.0 * 48 + 2 * (2 * 6 + 2 * 2) * 10 + 4 * 6 * 10) + 2 * kOfLayer));
    c = second_version(Zero::gradients);
    c.model.experts = {.count = 4, .per_token = 2, .ffn = 24, .shared_ffn = 16, .shared_gate = true, .router_bias = true};
    c.model.expert_layers = {0, 1, 0, 1, 0, 1};
    // of six layers 4,800 + 2,880 + 96; three feed-forward parts of 11,520; three routers of 48 * 4 + 4, shared experts of 3 * 48 * 16
    // and their gates of 48; embedding, head and last norm; three times four experts of 3 * 48 * 24
    const double beside = 6 * 7'776 + 3 * 11'520 + 3 * (196 + 2'304 + 48) + 2 * kWords + 48, routed = 3 * 4 * 3'456;
    CHECK(c(Item::gathered_weights) == 2 * (beside + routed));
    c.model.expert_layers = {0, 0, 0, 0, 0, 1};  // one layer of them
    CHECK(c(Item::gathered_weights) == 2 * (6 * 7'776 + 5 * 11'520 + 196 + 2'304 + 48 + 2 * kWords + 48 + 4 * 3'456));
}

TEST_CASE("gathered by hand: the second version, beside frozen weights and on a stage without a head") {
    Case c = second_version(Zero::weights);
    c.model.vocabulary = 1, c.plan.sequence_length = 2;
    c.plan.trained = TrainedPart::lora, c.plan.lora_rank = 4;
    CHECK(c(Item::gathered_weights) == 2 * 128 * 48 + 2 * 2 * kOfLayer);  // 128 words, padded; two layers
    c = dense();
    c.plan.framework = FrameworkKind::pytorch, c.plan.fully_shard = Habit::on, c.plan.zero = Zero::weights;
    CHECK(c(Item::gathered_weights) == 2 * 2 * kLayer);
    CHECK(c(Item::whole_gradients) == 2 * kLayer);
}
