// The model's FLOP of a step, and those computed again, worked by hand on the small model (time/small_machine.h): 24 sequences of 20
// tokens.
#include <doctest/doctest.h>

#include "time/small_machine.h"

using namespace fourfold;
using namespace fourfold::tests::by_hand;

namespace {

// Multiplications of a token. In a layer: attention's matrices 48 * (6 + 4) * 10 + 60 * 48, scores and their product 2 * 60 for every token
// attended to, three feed-forward matrices of 48 x 80; logits 48 * 256.
constexpr double kAttention = 7'680, kScores = 120, kFeedForward = 11'520, kLogits = 12'288;
constexpr double kTokens = 480;

double counted(const Case& c, FlopConvention convention = FlopConvention::causal) {
    return model_flop(c.model, c.plan, convention) / (6 * kTokens);
}
double of_operations(Case c) {
    c.plan.recompute = Recompute::operations;
    return recomputed_flop(c.model, c.plan) / (2 * kTokens);
}
double again(Case c, std::uint32_t modules) {
    c.plan.recompute = Recompute::selective, c.plan.recompute_modules = modules;
    return recomputed_flop(c.model, c.plan) / (2 * kTokens);
}
// Of four experts of width 24 two per token, and a shared one of 16: three matrices of 48 x 64.
Case with_experts(ExpertLayers layers) {
    Case c = dense();
    c.model.experts = {.count = 4, .per_token = 2, .ffn = 24, .shared_ffn = 16};
    c.model.expert_layers = std::move(layers);
    return c;
}
constexpr double kExpert = 9'216, kShared = 2'304;

}  // namespace

TEST_CASE("flop by hand: causal and full attention, with and without a gate, and to a window") {
    Case c = dense();
    CHECK(counted(c) == near(6 * (kAttention + 10 * kScores + kFeedForward) + kLogits));
    CHECK(counted(c, FlopConvention::full) == near(6 * (kAttention + 20 * kScores + kFeedForward) + kLogits));
    c.model.gated = false;  // two matrices
    CHECK(counted(c) == near(6 * (kAttention + 10 * kScores + 7'680) + kLogits));
    c = dense();
    c.model.window.tokens = 8, c.model.window.layers = {1, 0, 1, 0, 1, 0};  // half of the layers: 8 - 8 * 8 / 40 = 6.4 tokens
    CHECK(counted(c) == near(6 * (kAttention + (10 + 6.4) / 2 * kScores + kFeedForward) + kLogits));
    CHECK(counted(c, FlopConvention::full) == near(6 * (kAttention + (20 + 8) / 2.0 * kScores + kFeedForward) + kLogits));
    c.model.window.chunks = true;  // half of 8
    CHECK(counted(c) == near(6 * (kAttention + (10 + 4) / 2.0 * kScores + kFeedForward) + kLogits));
    c.model.window.tokens = 32;  // more than there are
    CHECK(counted(c) == near(6 * (kAttention + 10 * kScores + kFeedForward) + kLogits));
}

TEST_CASE("flop by hand: experts, further tokens, frozen weights") {
    Case c = with_experts({0, 0, 1, 0, 0, 1});
    const double layers = 6 * (kAttention + 10 * kScores) + 4 * kFeedForward + 2 * kExpert + kLogits;
    CHECK(counted(c) == near(layers));
    // 2 * 48 * 48 to join two inputs, a layer like the last one, logits
    const double further = 4'608 + kAttention + 10 * kScores + kLogits;
    c.model.multi_token_layers = 2;
    CHECK(counted(c) == near(layers + 2 * (further + kExpert)));
    c.model.expert_layers = {0, 1, 1, 0, 0, 0};
    CHECK(counted(c) == near(layers + 2 * (further + kFeedForward)));
    c.model.expert_layers = {0, 0, 0, 0, 0, 1};  // one alone
    CHECK(counted(c) == near(layers + kFeedForward - kExpert + 2 * (further + kExpert)));
    c.plan.trained = TrainedPart::lora;  // four for weights, six for the scores of eight layers
    CHECK(counted(c) == near((4 * (layers + kFeedForward - kExpert + 2 * (further + kExpert)) + 2 * 8 * 10 * kScores) / 6));
}

TEST_CASE("flop by hand: what is computed again, with attention counted whole") {
    Case c = dense();
    CHECK(recomputed_flop(c.model, c.plan) == 0);
    c.plan.recompute = Recompute::full;
    CHECK(recomputed_flop(c.model, c.plan) == near(2 * kTokens * 6 * (kAttention + 20 * kScores + kFeedForward)));
    c.plan.recompute = Recompute::block, c.plan.recompute_layers = 1;  // one of each chunk: two of six layers
    CHECK(recomputed_flop(c.model, c.plan) == near(2 * kTokens * 2 * (kAttention + 20 * kScores + kFeedForward)));
    c.plan.recompute_layers = 4;  // no more than there are
    CHECK(recomputed_flop(c.model, c.plan) == near(2 * kTokens * 6 * (kAttention + 20 * kScores + kFeedForward)));
    CHECK(again(c, core_attn) == near(6 * 20 * kScores));
    CHECK(again(c, mlp) == near(6 * kFeedForward));
    c.model.gated = false;
    CHECK(again(c, mlp) == near(6 * 7'680));
    c = dense();
    c.model.latent = {.q_rank = 14, .kv_rank = 18, .nope_dim = 7, .rope_dim = 4, .value_dim = 9};
    CHECK(again(c, mla_up_proj) == near(6 * 6 * (14 * 11 + 18 * 16)));  // six heads
    c = with_experts({0, 0, 1, 0, 0, 1});
    CHECK(again(c, mlp) == near(4 * kFeedForward));
    CHECK(again(c, moe) == near(2 * kExpert));
    CHECK(again(c, moe | shared_experts) == near(2 * kExpert));
    CHECK(again(c, shared_experts) == near(2 * kShared));
    CHECK(again(c, shared_experts | core_attn) == near(2 * kShared + 6 * 20 * kScores));
    c.plan.recompute = Recompute::full;
    CHECK(recomputed_flop(c.model, c.plan) == near(2 * kTokens * (6 * (kAttention + 20 * kScores) + 4 * kFeedForward + 2 * kExpert)));
}

TEST_CASE("flop by hand: single operations computed again") {
    Case c = dense();  // keys 48 * 20, wo 60 * 48, w3 48 * 80
    CHECK(of_operations(c) == near(6 * (960 + 2'880 + 3'840)));
    c.model.gated = false;  // keys, wo, w2
    CHECK(of_operations(c) == near(6 * (960 + 2'880 + 3'840)));
    c = with_experts({0, 0, 1, 0, 0, 1});  // two experts of width 24 whole, and w3 of the shared one
    CHECK(of_operations(c) == near(6 * (960 + 2'880) + 4 * 3'840 + 2 * (3 * 48 * 48 + 48 * 16)));
    c = with_experts({0, 0, 0, 0, 0, 1});
    CHECK(of_operations(c) == near(6 * (960 + 2'880) + 5 * 3'840 + (3 * 48 * 48 + 48 * 16)));
    c = dense();
    c.model.latent = {.q_rank = 14, .kv_rank = 18, .nope_dim = 7, .rope_dim = 4, .value_dim = 9};
    CHECK(of_operations(c) == near(6 * (14 * 66 + 18 * 96 + 2 * 3'840)));  // wq_b, wkv_b, w1, w2
    c.model.latent.q_rank = 0;
    CHECK(of_operations(c) == near(6 * (48 * 22 + 54 * 48 + 3'840)));  // wkv_a, wo, w3
    c = dense();
    c.plan.attention = Attention::plain;  // with scores and their product, for every token
    CHECK(of_operations(c) == near(6 * (960 + 2'880 + 3'840 + 20 * kScores)));
}
