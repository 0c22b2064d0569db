// What layers that are a mixer or a feed-forward part alone weigh and keep, worked by hand.
#include <doctest/doctest.h>

#include <cmath>

#include "memory/small_cases.h"
#include "model/small_mixers.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {

// Of six layers three state spaces, one attention, two feed-forward parts; each stage holds three layers of the average.
Case parts_alone() { return in_parts(dense(), "MM-*M-"); }
// Of six layers two have experts, one of each stage; of the four others two are state spaces, one attention, one a feed-forward part.
Case parts_routed() { return in_parts(experts(), "MEM*E-"); }

// Of a state space on one of two GPUs: 48 * 76 / 2, 20 * 48 / 2; three taps and a bias of 52, three numbers for 4 heads, a norm over 20.
constexpr double kSpace = 1'824 + 480 + (4 * 52 + 12 + 20) / 2.0;
// Beside a layer's experts: router and bias of four, a shared one of 16 over two GPUs, its gate.
constexpr double kBesideRouted = 48 * 4 + 4 + 3 * 48 * 16 / 2 + 48;
constexpr double kExperts = 2 * 3 * 48 * 24;  // of a GPU

}  // namespace

TEST_CASE("by hand: weights of layers of one part") {
    // each has one norm of 48
    CHECK(parts_alone()(Item::weights) == near(2 * (3 * (48 + kSpace / 2 + (kQkv + kProjection) / 6 + 3 * kMatrix / 3) + kVocabulary)));
    CHECK(parts_routed()(Item::weights) ==
          near(2 * (3 * 48 + 2 * (kSpace / 2 + (kQkv + kProjection) / 4 + 3 * kMatrix / 4) + kBesideRouted + kExperts + kVocabulary)));
    const std::int64_t space = 48 * 76 + 48 * 20 + 4 * 52 + 12 + 20, attention = 48 * 100 + 60 * 48, feed_forward = 3 * 48 * 80;
    const std::int64_t ends = 2 * 250 * 48 + 48;
    CHECK(parameter_count(parts_alone().model) == 3 * space + attention + 2 * feed_forward + 6 * 48 + ends);
    CHECK(parameter_count(parts_routed().model) ==
          2 * space + attention + feed_forward + 6 * 48 + ends + 2 * (48 * 4 + 4 + 3 * 48 * 16 + 48 + 4 * 3 * 48 * 24));
}

TEST_CASE("by hand: stages of experts alone, and frozen layers without a feed-forward part") {
    Case c = in_parts(experts(), "M*-EEE");
    c.stage = 1;
    CHECK(c(Item::weights) == near(2 * (3 * (48 + kBesideRouted + kExperts) + kVocabulary + 48)));
    c.plan.trained = TrainedPart::lora, c.plan.lora_targets = lora_query;  // nothing learns in the last layer, which FSDP would send
    c.plan.framework = FrameworkKind::pytorch, c.plan.zero = Zero::weights;
    CHECK(c(Item::whole_gradients) == -1);
    c = in_parts(experts(), "MEM*EM");
    c.plan.trained = TrainedPart::lora, c.plan.frozen_weights = FrozenWeights::fp8;
    // a byte for matrices: of two mixers, of the shared expert, of experts; two for norms, for what else a state space has (kSpace), for
    // router and gate, and for the embedding
    const double matrices = 2 * (3 * 2'304 / 4.0 + 3'840 / 4.0) + 3 * 48 * 16 / 2 + kExperts;
    CHECK(c(Item::frozen_weights) == near(matrices + 2 * (3 * 48 + 2 * 3 * 120 / 4.0 + 48 * 4 + 4 + 48 + kVocabulary)));
}

TEST_CASE("by hand: what layers of one part keep") {
    // six layers of micro-batches are alive, of one norm: half of what two norms read; half of them are state spaces
    const double whole = dense()(Item::norm_activations);
    CHECK(parts_alone()(Item::norm_activations) == near(whole / 2));
    CHECK(parts_alone()(Item::linear_activations) == near(6 / 2.0 * 2 * 60 / 2 * (76 + 3 * 20)));
    CHECK(parts_alone()(Item::qkv_activations) == near(6 / 6.0 * 2 * 60 * (6 + 2 * 2) * 10 / 2));
    CHECK(parts_alone()(Item::attention_output) == near(dense()(Item::attention_output) / 6));
    CHECK(parts_alone()(Item::feed_forward_activations) == near(dense()(Item::feed_forward_activations) / 3));
    // four layers of micro-batches without experts, two with them
    CHECK(parts_routed()(Item::norm_activations) == near(whole / 2));
    CHECK(parts_routed()(Item::linear_activations) == near(4 / 2.0 * 2 * 60 / 2 * (76 + 3 * 20)));
    CHECK(parts_routed()(Item::qkv_activations) == near(4 / 4.0 * 2 * 60 * (6 + 2 * 2) * 10 / 2));
    CHECK(parts_routed()(Item::feed_forward_activations) == near(dense()(Item::feed_forward_activations) / 6));
    Case whole_experts = experts();  // its first stage has one layer of experts, too
    CHECK(parts_routed()(Item::router_activations) == near(whole_experts(Item::router_activations)));
    CHECK(parts_routed()(Item::shared_expert_activations) == near(whole_experts(Item::shared_expert_activations)));
    // without dense feed-forward parts nothing stands for them
    const Case none = in_parts(experts(), "MEM*EM");
    CHECK(none(Item::feed_forward_activations) == -1);
    CHECK(none(Item::weights) ==
          near(2 * (3 * 48 + 2 * (3 * kSpace / 4 + (kQkv + kProjection) / 4) + kBesideRouted + kExperts + kVocabulary)));
}

TEST_CASE("by hand: experts that read a latent") {
    Case c = experts(), whole = experts();
    c.model.experts.latent = 12;
    // a GPU's two experts of three matrices of 12 x 24 in the place of 48 x 24; from 48 to 12 and back, on every GPU; one such layer
    CHECK(whole(Item::weights) - c(Item::weights) == near(2 * (2 * 3 * (48 - 12) * 24 - 2 * 48 * 12)));
    CHECK(parameter_count(whole.model) - parameter_count(c.model) == 3 * (4 * 3 * (48 - 12) * 24 - 2 * 48 * 12));
    // two micro-batches: 30 tokens of a GPU go to two experts each, and are 12 wide in the place of 48; once more behind the experts
    CHECK(whole(Item::expert_activations) - c(Item::expert_activations) == near(2 * (60 * 2 * (48 - 12) - 2 * 30 * 12)));
    CHECK(whole(Item::shared_expert_activations) == near(c(Item::shared_expert_activations)));
    c.model.expert_layers = {1, 1, 1, 1, 1, 1};
    c.plan.schedule = ScheduleKind::zero_bubble_h1, c.stage = 1;
    // attention as above; input and gradient of 30 tokens before it and before the experts, of 60 copies, and before and behind two more
    // matrices; of the copies' inner values two gradients and an input
    const double layer = 2 * 60 * 160 / 2 + 2 * 4 * 30 * 48 + 60 * (4 * 12 + 24 * 6) + 4 * 30 * (48 + 12);
    const double waiting = c(Item::waiting_activations) / layer;
    CHECK(std::abs(waiting - std::round(waiting)) < 1e-9);
    CHECK(waiting >= 1);
}

TEST_CASE("by hand: masks and adapters of layers of one part") {
    Case c = parts_alone();
    c.plan.hidden_dropout = true;
    CHECK(c(Item::dropout_masks) == 6 * 30 * 48);  // one of a layer
    // of six layers four mixers read what their norm writes, two feed-forward parts
    const auto adapted = [](Case one, std::uint32_t targets) {
        one.plan.trained = TrainedPart::lora, one.plan.lora_rank = 4, one.plan.lora_targets = targets;
        return one;
    };
    CHECK(adapted(parts_alone(), lora_query)(Item::adapter_inputs) == near(4 * 2 * 60 * 48));
    CHECK(adapted(parts_alone(), lora_query)(Item::adapter_activations) == near(4 * 2 * 60 * 4));
    CHECK(adapted(parts_alone(), lora_up)(Item::adapter_inputs) == near(2 * 2 * 60 * 48));
    CHECK(adapted(parts_alone(), lora_all)(Item::adapter_inputs) == near(6 * 2 * 60 * 48));
    CHECK(adapted(parts_alone(), lora_all)(Item::adapter_activations) == near(2 * 6 * 2 * 60 * 4));  // two each
    // three mixers and a feed-forward part, two layers of experts: these read no norm but for the shared one, and have two adapters for 60
    // copies of tokens and two for the shared one
    CHECK(adapted(parts_routed(), lora_query)(Item::adapter_inputs) == near(3 * 2 * 60 * 48));
    CHECK(adapted(parts_routed(), lora_all)(Item::adapter_inputs) == near(6 * 2 * 60 * 48));
    CHECK(adapted(parts_routed(), lora_all)(Item::adapter_activations) == near((2 * 4 + 4 * 2) * 2 * 60 * 4));
    // LitGPT's 4 bits, on one stage: attention reads 48 and its last matrix 60, three state spaces 48 and 20, two feed-forward parts 48 and
    // 80; and the logits of two passes (adapters_test.cpp)
    c = adapted(parts_alone(), lora_query);
    c.plan.lora_dropout = true, c.plan.frozen_weights = FrozenWeights::nf4, c.plan.framework = FrameworkKind::litgpt;
    c.plan.pipeline_parallel = 1;
    CHECK(c(Item::inputs_before) == near(2 * 60 * (108 + 3 * 68 + 2 * 128) / 2.0 + (4 + 2 + 4) * 60 * 256 / 2.0));
}

TEST_CASE("by hand: layers of one part between the halves of a split backward pass") {
    Case c = parts_alone();
    c.plan.schedule = ScheduleKind::zero_bubble_h1, c.stage = 1;
    // a sixth of attention's q, k, v and output, half of a state space's 76 + 20, a third of the feed-forward part's; one input, one
    // gradient
    const double layer = 2 * 60 * 160 / 2 / 6.0 + 2 * 60 * 96 / 2 / 2.0 + 2 * 60 * 80 * 3 / 2 / 3.0 + 2 * 2 * 30 * 48;
    const double waiting = c(Item::waiting_activations) / layer;
    CHECK(std::abs(waiting - std::round(waiting)) < 1e-9);
    CHECK(waiting >= 1);
    // "*E-": two layers without experts, a quarter of what attention and a feed-forward part pass on, half of a state space's; one with
    // them, whose 60 copies of tokens read and write 48 and pass 3 * 24 on
    c = parts_routed();
    c.plan.schedule = ScheduleKind::zero_bubble_h1, c.stage = 1;
    const double plain = 2 * 60 * 160 / 2 / 4.0 + 2 * 60 * 96 / 2 / 2.0 + 2 * 60 * 80 * 3 / 2 / 4.0 + 2 * 2 * 30 * 48;
    const double routed = 2 * 2 * 30 * 48 + 2 * 60 * (2 * 48 + 3 * 24), both = c(Item::waiting_activations) / (2 * plain + routed);
    CHECK(std::abs(both - std::round(both)) < 1e-9);
    CHECK(both >= 1);
}

TEST_CASE("by hand: adapters of layers of one part") {
    Case c = parts_routed();
    c.plan.trained = TrainedPart::lora, c.plan.lora_rank = 4, c.plan.lora_targets = lora_all;
    c.plan.framework = FrameworkKind::pytorch, c.plan.tensor_parallel = 1, c.plan.pipeline_parallel = 1, c.plan.expert_parallel = 1;
    c.plan.gpus = 1, c.plan.zero = Zero::none;
    // of a state space 48 to 76 and 20 to 48; of attention 48 to 60, to 20, to 20 and 60 to 48; of a feed-forward part of width w twice 48
    // to w, and w to 48
    const auto of = [](double width) { return 3 * (48 + width); };
    const double space = 48 + 76 + 20 + 48, attention = 48 + 60 + 2 * (48 + 20) + 60 + 48;
    CHECK(adapter_count(c.model, c.plan) == near(4 * (2 * space + attention + of(80) + 2 * (of(16) + 4 * of(24)))));
}

TEST_CASE("single operations are not computed again in layers of one part: the rule names it") {
    Case c = parts_alone();
    c.plan.framework = FrameworkKind::pytorch, c.plan.recompute = Recompute::operations;
    CHECK_FALSE(may_recompute_operations(c.model, c.plan));
    c.model.one_part = false;
    CHECK(may_recompute_operations(c.model, c.plan));
}
