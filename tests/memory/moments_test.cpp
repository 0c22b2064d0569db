// What of a stage's bytes comes and goes: late gradients, activations on their way to the host, global buffers, the layer at work; worked
// by hand on the small model.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "memory/host.h"
#include "memory/small_cases.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {

// One GPU, one micro-batch of so many sequences of 20 tokens.
Case alone(FrameworkKind framework, std::int64_t sequences) {
    Case c = dense();
    c.plan.gpus = 1, c.plan.tensor_parallel = c.plan.pipeline_parallel = 1, c.plan.micro_batch = c.plan.global_batch = sequences;
    c.plan.framework = framework, c.plan.zero = Zero::none;
    return c;
}
double kept_by_layers(const StageMemory<double>& all) {
    double sum = 0;
    for (std::size_t i = 0; i < all.items.size(); ++i)
        if (text(all.items.item(i)).group == Group::activations) sum += all.items.bytes(i);
    return sum;
}
// Of 60 tokens on two GPUs a dense layer keeps 36,480 bytes (activation_offload_test.cpp).
constexpr double kOfDense = 36'480, kFlowing = 2 * 30 * 48;

}  // namespace

TEST_CASE("moments by hand: late gradients beside layers that are computed again") {
    Case c = alone(FrameworkKind::pytorch, 3);
    c.plan.recompute = Recompute::full;
    const double flowing = 2 * 60 * 48, embedding = 4 * 256 * 48;
    // Logits in 14 bytes, norm 4 * 60 * 48. A layer: attention 4*60*48 + 2*60*(2*6 + 2*2)*10 + 4*60*60 = 45,120, the gradient of its
    // largest matrix 2 * 48 * 160 = 15,360, and what it keeps, 12,000 + 11,520 + 12,000 + 7,200 + 1,440 + 28,800 = 72,960, less its own
    // input
    const double head = 14.0 * 60 * 256 + 4 * 60 * 48, backward = 45'120 + 15'360 + 72'960 - flowing;
    CHECK(c.memory().at_head == head);
    CHECK(c.memory().at_backward == backward);
    // when the first layer works, its input is there and the embedding's gradient is not
    const double freed = 6 * flowing + head - (flowing + backward - embedding);
    CHECK(c(Item::gradients) == near(4 * kParameters - freed));
}

TEST_CASE("moments by hand: late gradients take the place of copies in 16 bits, too") {
    Case c = alone(FrameworkKind::transformers, 1);
    c.plan.sequence_length = 2;
    const StageMemory<double> all = c.memory();
    const double kept = kept_by_layers(all), copies = 2 * (kParameters - kWords);
    const double end = std::max(0.0, kept / 6 + all.at_backward - 4 * kWords);
    CHECK(c(Item::gradients) == near(4 * kParameters - (kept + copies + std::max(all.at_head, all.at_backward) - end)));
}

TEST_CASE("moments by hand: the larger of two requests shares the global buffer") {
    Case c = dense();
    c.plan.attention = Attention::plain, c.plan.transformer_engine = Habit::off;
    c.stage = 1;
    CHECK(c(Item::global_buffer) == 2 * 3.0 * 3 * 20 * 20);  // scores
    c.plan.sequence_length = 10;                             // 1,800 bytes of scores, 2 * 30 * 48 of hidden values for the head
    CHECK(c(Item::global_buffer) == 2'880);
    c.stage = 0;  // no head
    CHECK(c(Item::global_buffer) == 1'800);
    c.stage = 1, c.plan.sequence_parallel = false;
    CHECK(c(Item::global_buffer) == 1'800);
}

TEST_CASE("moments by hand: what is on its way to the host beside layers of which some are computed again") {
    Case c = dense();
    c.plan.activation_offload = 1, c.plan.recompute = Recompute::block;  // two of three layers keep everything
    CHECK(c(Item::offload_buffers) == 2 * kOfDense);
    c = experts();
    c.stage = 1, c.plan.activation_offload = 1, c.plan.recompute = Recompute::block;
    // layers 1 0 1, one micro-batch: an input, a dense layer, and one with experts: up to the feed-forward part 22,080, router 14*30*4, of
    // 60 copies 2*48 + 2*48 + 4 and 2*24, a shared expert 2*60*24: less than twice the last one
    const double last = 22'080 + 1'680 + 60 * 196 + 60 * 48 + 2'880;
    CHECK(c(Item::offload_buffers) == kFlowing + kOfDense + last);
}

TEST_CASE("moments by hand: the first layer of the backward pass") {
    // attention 4*30*48 + 2*60*(2*6 + 2*2)*10/2 + 4*60*6*10/2 = 22,560
    Case c = dense();
    CHECK(c(Item::first_backward) == 22'560);
    c.plan.attention = Attention::flash;  // four bytes for gradients of queries; keys and values for 2 heads: 2*60*(4*6 + 2*2)*10/2
    CHECK(c(Item::first_backward) == 5'760 + 16'800 + 7'200);
    c.model.kv_heads = 6;  // not grouped: 2*60*(2*6 + 2*6)*10/2
    CHECK(c(Item::first_backward) == 5'760 + 14'400 + 7'200);
    c = dense();
    c.model.latent = {.q_rank = 14, .kv_rank = 18, .nope_dim = 7, .rope_dim = 4, .value_dim = 9};
    CHECK(c(Item::first_backward) == 9'600 + 5'760);  // the feed-forward part, 2*60*80*2/2 + 4*30*48
    c = dense();
    c.model.ffn = 640;  // 2*60*640*2/2 = 76,800
    CHECK(c(Item::first_backward) == 76'800 + 5'760);
    c.plan.feed_forward_tiles = 4;  // a quarter, and again all that a tile keeps: 2*60*640*3/2/4 = 28,800
    CHECK(c(Item::first_backward) == 19'200 + 5'760 + 28'800);
    c.plan.feed_forward_tiles = 1;
    c.plan.gradient_fusion = Habit::off;  // gate and up, 48 * 1,280 / 2
    CHECK(c(Item::first_backward) == 76'800 + 5'760 + 2 * 30'720);
    c.plan.trained = TrainedPart::lora;
    CHECK(c(Item::first_backward) == 76'800 + 5'760);
    c = experts();  // the last layer of the last stage; experts of width 400 over two GPUs each: 120 copies of half the width
    c.model.experts.ffn = 400, c.plan.expert_tensor_parallel = 2, c.plan.expert_parallel = 1, c.stage = 1;
    c.model.vocabulary = 2;
    CHECK(c.memory().at_backward == 120 * (2 * 400 * 2 / 2 + 2 * 48) + 5'760);
}

TEST_CASE("moments by hand: a stage without layers has the head's moment alone, or none") {
    Case c = dense();
    Problems problems;
    set_notation(c.plan, "Et*6|L", problems);
    REQUIRE(problems.empty());
    c.stage = 1;
    CHECK(c(Item::head) == 4 * 30 * 48 + 6 * 7'680);
    CHECK(c.memory().at_backward == 0);
    set_notation(c.plan, "E|t*6L", problems);
    c.stage = 0;
    CHECK(c(Item::first_backward) == -1);
    CHECK(c(Item::recomputed_unit) == -1);
    CHECK(c.memory().at_backward == 0);
}

TEST_CASE("moments by hand: tensors between stages, and recomputed units of layers in 32 bits") {
    Case c = dense();
    c.plan.virtual_stages = 3;
    CHECK(c(Item::pipeline_buffers) == 3 * kFlowing);
    c.plan.pipeline_parallel = 1, c.plan.virtual_stages = 1;
    CHECK(c(Item::pipeline_buffers) == -1);
    // none to receive into; one GPU of the pair has the head, whose input it gathers, 2 * 60 * 48
    CHECK(c(Item::global_buffer) == 5'760);
    CHECK(c.memory().static_bytes == (2 + 4 + 12 / 4.0) * (6 * kLayer + 2 * kVocabulary + 48) + c(Item::library_workspaces) + 5'760);
    // torch.autocast: 4 bytes flow; of a unit of two layers all is there, less its input, and copies of both layers' weights in 16 bits
    c = alone(FrameworkKind::transformers, 3);
    const double layer = kept_by_layers(c.memory()) / 6;
    c.plan.recompute = Recompute::full, c.plan.recompute_layers = 2;
    CHECK(c(Item::checkpoints) == 3 * 4 * 60.0 * 48);
    const StageMemory<double> all = c.memory();
    c.plan.recompute_layers = 3;
    CHECK(c.memory().at_backward - all.at_backward == near(layer + 2 * kOfLayer));
}

TEST_CASE("moments by hand: layers of both kinds that wait for their weight gradients, and keys of earlier slices") {
    Case c = experts();
    c.model.layers = 4, c.model.expert_layers = {0, 1, 0, 1};  // one of each kind on a stage
    c.plan.schedule = ScheduleKind::zero_bubble_h1, c.stage = 1;
    // q, k, v, output and four norms' worth of either, the dense feed-forward part; of 60 copies what each of two matrices reads and the
    // gradient of what it writes
    const double one = 2 * (6'000 + 3'600 + 11'520) + 14'400 + 60 * 2 * (2 * 48 + 3 * 24.0);
    const double micro_batches = c(Item::waiting_activations) / one;
    CHECK(micro_batches == std::floor(micro_batches));
    CHECK(micro_batches >= 1);
    c = dense();
    c.plan.sequence_length = 512;
    CHECK(c(Item::slice_keys) == -1);
    c.plan.token_slices = 2;  // gradients of 20 values of 2 bytes of each token in three layers
    CHECK(c(Item::slice_keys) == 2 * 3 * 512 * 20.0 * 3);
    // Of one layer that is computed again also the values, of three slices: a sequence and the first slice of the next one. Its x tokens
    // have half of the work 3 * 19,200 x + 3.5 * 120 x^2 / 2 of 512 tokens where x = 332; 21 times 16 = 336
    c.plan.recompute = Recompute::block;
    CHECK(c(Item::slice_keys) == tests::near(2 * 3 * 20.0 * (3 * 512 + 512 + 336)));
}

TEST_CASE("moments by hand: logits of a further token, by the loss's kernel") {
    Case c = dense();
    c.stage = 1, c.model.multi_token_layers = 1;
    // norm 4 * 30 * 48; 7,680 logits; twelve values of a token and what the further layer keeps
    const double beside = 5'760 + 12 * 30 * 48 + kOfDense;
    CHECK(c(Item::head) == (6 + 4) * 7'680 + beside);
    c.plan.loss = Loss::native_fused;
    CHECK(c(Item::head) == (10 + 4) * 7'680 + beside);
    c.plan.loss = Loss::gathered;
    CHECK(c(Item::head) == (14 + 4) * 2 * 7'680 + beside);
    c.plan.loss = Loss::chunked;
    CHECK(c(Item::head) == (4 + 4) * 7'680 + beside);
    c.plan.loss = Loss::tiled;  // in either pass as many as hidden values; 2 * 60 * 48 of gradients
    CHECK(c(Item::head) == 2 * 60 * 48 / 2 + 2 * 60 * 48 + beside);
}

TEST_CASE("moments by hand: what LitGPT's matrices of 4 bits read, in layers with experts, too") {
    Case c = experts();
    c.plan.pipeline_parallel = 1, c.plan.framework = FrameworkKind::litgpt;
    c.plan.trained = TrainedPart::lora, c.plan.lora_rank = 4, c.plan.frozen_weights = FrozenWeights::nf4;
    // 60 tokens: 48 and 60 values of six layers over t = 2, 48 and 80 of three; of 60 copies 48 and 24 values of three; 7,680 logits
    CHECK(c(Item::inputs_before) == 6 * 2 * 60 * 108 / 2.0 + 3 * 2 * 60 * 128 / 2.0 + 3 * 2 * 60 * 72 + 10 * 7'680);
    c.model.layers = 2, c.model.expert_layers = {0, 1};  // one of each kind
    CHECK(c(Item::inputs_before) == 2 * 2 * 60 * 108 / 2.0 + 2 * 60 * 128 / 2.0 + 2 * 60 * 72 + 10 * 7'680);
}

TEST_CASE("moments by hand: shares of gradients come while the first layer works, the embedding's last") {
    Case c = alone(FrameworkKind::transformers, 3);
    c.plan.gpus = 4, c.plan.global_batch = 12, c.plan.zero = Zero::weights, c.plan.sequence_length = 2;
    const StageMemory<double> all = c.memory();
    const double kept = kept_by_layers(all);
    // there, without the shares of 4 bytes of one layer in four and of the embedding: more than what is whole where that comes
    const double end = kept / 6 + all.at_backward - kOfLayer;
    CHECK(end > 2 * (kWords + kOfLayer));
    CHECK(c(Item::gradients) == near(4 * kParameters / 4 - (kept + std::max(all.at_head, all.at_backward) - (end - kWords))));
}

TEST_CASE("by hand: the search for the fullest stage ends behind the first with too many bytes; a node's memory") {
    Case c = dense();
    c.model.vocabulary = 12'800;  // the head's stage is the fuller one
    const double first = c.memory().peak_bytes;
    c.stage = 1;
    const double last = c.memory().peak_bytes;
    REQUIRE(last > first);
    const Plan read = as_requested(c.plan);
    const Framework framework = framework_of(c.model, read, *catalog().gpu(c.gpu));
    const auto found = [&](double most) { return fullest_stage(c.model, read, framework, nullptr, most); };
    CHECK(found(INFINITY).stage == 1);
    CHECK(found(INFINITY).bytes == last);
    CHECK(found(first).stage == 1);  // not too many
    CHECK(found(first - 1).stage == 0);
    CHECK(found(first - 1).bytes == first);
    // published runs held up to 1.8 times the states
    CHECK_FALSE(judge_host(10, 0).has_value());
    CHECK(judge_host(55, 100) == Fit::fits);
    CHECK(judge_host(56, 100) == Fit::at_risk);
    CHECK(judge_host(100, 100) == Fit::at_risk);
    CHECK(judge_host(101, 100) == Fit::does_not_fit);
}
