// Weights, gradients and the optimizer's states where a framework, a format or a part of the model changes them; what the allocator adds to
// large blocks: worked by hand on the small model.
#include <doctest/doctest.h>

#include "memory/small_cases.h"
#include "memory/waiting.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {

Case with_adapters(Case c) {
    c.plan.trained = TrainedPart::lora, c.plan.lora_rank = 4;
    return c;
}
// One micro-batch of 3 sequences on so many GPUs.
Case transformers(std::int64_t gpus) {
    Case c = dense();
    c.plan.gpus = gpus, c.plan.tensor_parallel = c.plan.pipeline_parallel = 1, c.plan.global_batch = 3 * gpus;
    c.plan.framework = FrameworkKind::transformers, c.plan.zero = Zero::none;
    return c;
}
constexpr double kFirstMatrices = 3 * (kLayer - kNorms);  // of the first stage

}  // namespace

TEST_CASE("states by hand: one copy in fp8 where a framework needs no second one") {
    Case c = dense();
    c.plan.framework = FrameworkKind::hai_llm, c.plan.precision = Precision::fp8;
    CHECK(c(Item::fp8_weights) == kFirst - kVocabulary);
    CHECK(with_adapters(c)(Item::fp8_weights) == kFirstMatrices);  // of frozen ones the matrices alone
    c.plan.framework = FrameworkKind::megatron_2024;
    CHECK(with_adapters(c)(Item::fp8_weights) == 2 * kFirstMatrices);
    CHECK(with_adapters(dense())(Item::fp8_weights) == -1);  // in bf16
}

TEST_CASE("states by hand: torch.autocast copies a tied head, and never an embedding that is looked up") {
    Case c = transformers(1);
    CHECK(c(Item::weights) == 2 * (kParameters - kWords));
    c.model.tied = true;  // one matrix of words, which the head multiplies by
    CHECK(c(Item::weights) == 2 * (kParameters - kWords));
}

TEST_CASE("states by hand: only LitGPT adds an embedding of its own, and only beside matrices in 4 bits") {
    Case c = with_adapters(dense());
    CHECK(c(Item::stable_embedding) == -1);
    c.plan.frozen_weights = FrozenWeights::nf4;
    CHECK(c(Item::stable_embedding) == -1);
    c.plan.framework = FrameworkKind::litgpt;
    CHECK(c(Item::stable_embedding) == 4 * kVocabulary);
    c.stage = 1;
    CHECK(c(Item::stable_embedding) == -1);
    c.stage = 0, c.plan.frozen_weights = FrozenWeights::bf16;
    CHECK(c(Item::stable_embedding) == -1);
}

TEST_CASE("states by hand: adapters of layers that predict further tokens, and of layers with experts") {
    // rank 4, over t = 2: 48 -> 100, 60 -> 48, 48 -> 160, 80 -> 48
    constexpr double kOfAttention = 4 * (148 + 108) / 2.0, kOfDenseLayer = kOfAttention + 4 * (208 + 128) / 2.0;
    Case c = with_adapters(dense());
    c.model.multi_token_layers = 1;
    CHECK(c(Item::adapters) == 2 * 3 * kOfDenseLayer);  // they are in the last stage
    c.stage = 1;
    CHECK(c(Item::adapters) == 2 * 4 * kOfDenseLayer);
    // experts: a shared one 48 -> 32 and 16 -> 48; one adapter for all routed ones of a GPU, 48 -> 48 and 24 -> 48, not divided by t
    constexpr double kBeside = kOfAttention + 4 * (80 + 64) / 2.0, kRouted = 4 * (96 + 72);
    c = with_adapters(experts());
    CHECK(c(Item::adapters) == 2 * (2 * kOfDenseLayer + kBeside + kRouted));  // layers 0 1 0
    c.stage = 1;
    CHECK(c(Item::adapters) == 2 * (kOfDenseLayer + 2 * (kBeside + kRouted)));  // layers 1 0 1
    c.model.multi_token_layers = 1;                                             // one more like the last
    CHECK(c(Item::adapters) == 2 * (kOfDenseLayer + 3 * (kBeside + kRouted)));
}

TEST_CASE("states by hand: adapters in 32 bits are copied to 16 in each pass, and not held between steps") {
    Case c = with_adapters(transformers(1));
    // rank 4: queries 48 -> 60, keys and values 48 -> 20 each, projection 60 -> 48, gate and up 48 -> 80 each, down 80 -> 48
    const double learn = 6 * 4 * (108 + 68 + 68 + 108 + 128 + 128 + 128.0);
    CHECK(c(Item::adapters) == 2 * learn);
    CHECK(c.memory().static_bytes == 2 * kParameters + (4 + 8) * learn + c(Item::library_workspaces));
}

TEST_CASE("states by hand: nanotron's gradients in 16 bits, in the buckets of copies, beside their sums") {
    Case c = dense();
    c.plan.framework = FrameworkKind::nanotron;
    CHECK(c(Item::gradients) == (4 + 2) * kFirst);
    c.plan.zero = Zero::none;
    CHECK(c(Item::gradients) == (4 + 2) * kFirst);
    c.plan.gradients_in_fp32 = false;
    CHECK(c(Item::gradients) == 2 * kFirst);
    c.plan.gradients_in_fp32 = true, c.plan.gpus /= 2, c.plan.global_batch /= 2;  // one copy: nothing to average
    REQUIRE(c.plan.data_parallel() == 1);
    CHECK(c(Item::gradients) == 4 * kFirst);
}

TEST_CASE("states by hand: between steps gradients of 16 bits have copies in 32, shared out") {
    Case c = dense();
    c.plan.gradients_in_fp32 = false;
    // weights 2, gradients 2; of half of the parameters a copy 4, averages 8, gradients 4; receive buffers 2 * 2 * 30 * 48
    CHECK(c.memory().static_bytes == (2 + 2 + (4 + 8 + 4) / 2.0) * kFirst + c(Item::library_workspaces) + 5'760);
    c.plan.master_weights = Habit::off;
    CHECK(c.memory().static_bytes == (2 + 2 + 8 / 2.0) * kFirst + c(Item::library_workspaces) + 5'760);
    c.plan.master_weights = Habit::automatic, c.plan.gradients_in_fp32 = true;
    CHECK(c.memory().static_bytes == (2 + 4 + (4 + 8) / 2.0) * kFirst + c(Item::library_workspaces) + 5'760);
    c.plan.virtual_stages = 3;  // a buffer for each chunk, both ways
    CHECK(c.memory().static_bytes == (2 + 4 + (4 + 8) / 2.0) * kFirst + c(Item::library_workspaces) + 3 * 5'760);
}

TEST_CASE("states by hand: buckets average over copies and parts of a sequence alike") {
    Case c = transformers(4);
    c.plan.context_parallel = 2;  // two copies of two; 12 / (3 * 2) = 2 micro-batches are added up, beside the buckets
    CHECK(c(Item::gradients) == 2 * 4 * kParameters);
    c.plan.gpus = 2, c.plan.global_batch = 6;
    CHECK(c(Item::gradients) == 2 * 4 * kParameters);
}

TEST_CASE("states by hand: the end of FSDP's backward pass, where all is in 16 bits") {
    Case c = transformers(4);
    c.plan.zero = Zero::weights, c.plan.master_weights = Habit::off;
    c.model.vocabulary = 4'096;
    c.plan.micro_batch = 1, c.plan.global_batch = 4, c.plan.sequence_length = 1;
    const double words = 4'096 * 48, parameters = 6 * kOfLayer + 2 * words + 48;
    // shares: weights 2, averages 8, gradients 2 of all but the embedding; whole: the embedding, its gradient, and what a layer sends
    CHECK(c.memory().peak_bytes ==
          doctest::Approx((2 + 8) * parameters / 4 + c(Item::library_workspaces) + 2 * (parameters - words) / 4 + 4 * words + 2 * kOfLayer)
              .epsilon(1e-4)
              .scale(0));
}

TEST_CASE("states by hand: Muon's one average on the host, and a host without copies in 32 bits") {
    Case c = dense();
    c.plan.optimizer = Optimizer::muon, c.plan.optimizer_offload = 0.5;
    const double share = kFirst / 2, by_muon = kFirstMatrices / 2;
    CHECK(c(Item::moments) == 4 * 0.5 * (2 * share - by_muon));
    // copy 4, gradient 4, two averages of 4 bytes but for matrices, which have one
    CHECK(c.memory().host_bytes == near(0.5 * ((4 + 4 + 8) * share - 4 * by_muon)));
    c.plan.optimizer = Optimizer::adam, c.plan.master_weights = Habit::off;
    CHECK(c.memory().host_bytes == 0.5 * (8 + 4) * share);
}

TEST_CASE("states by hand: blocks of the allocator") {
    Case c = dense();
    // 10 MiB is where steps of 2 MiB begin: gradients 4 * (6 * (3,936 + 72 * 5,680) + 2 * 6,144 + 48) = 9,958,848 bytes, 0.503 MiB below
    // the next step, have a block of their own size
    c.plan.pipeline_parallel = 1, c.plan.gpus = 4, c.model.ffn = 5'680;
    CHECK(c(Item::gradients) == 9'958'848);
    CHECK(c(Item::allocator_rounding) == -1);
    c = dense();
    // 256,768 words: V = 128,384 * 48 = 6,162,432 values. In 16 bits 12,324,864 bytes, 258,048 below 12 MiB; in 32 bits 24,649,728 bytes,
    // 516,096 below 24 MiB. With three layers 6,191,520: gradients 24,766,080 bytes, 399,744 below; weights 12,383,040 bytes, 199,872 below
    c.model.vocabulary = 256'768;
    CHECK(c(Item::allocator_rounding) == 399'744 + 199'872);
    c.plan.zero = Zero::none;  // every tensor by itself: the embedding, its copy and its averages
    const double each = 258'048 + 3 * 516'096;
    CHECK(c(Item::allocator_rounding) == 399'744 + each);
    c.plan.gradients_in_fp32 = false;
    CHECK(c(Item::allocator_rounding) == 199'872 + each);
    c.plan.gradients_in_fp32 = true;
    c.stage = 1;  // the head; 48 values of the last norm more
    CHECK(c(Item::allocator_rounding) == 399'744 - 4 * 48 + each);
    c.plan.pipeline_parallel = 1, c.plan.gpus = 4, c.stage = 0;  // both: gradients 4 * (2 * V + 58,224) = 49,532,352, 799,296 below 48 MiB
    CHECK(c(Item::allocator_rounding) == 799'296 + 2 * each);
    c.model.tied = true;  // one matrix: 4 * (V + 58,224) = 24,882,624, 283,200 below 24 MiB
    CHECK(c(Item::allocator_rounding) == 283'200 + each);
    c.plan.zero = Zero::gradients;
    CHECK(c(Item::allocator_rounding) == -1);
    c.plan.zero = Zero::optimizer;
    CHECK(c(Item::allocator_rounding) > 0);
    CHECK(with_adapters(c)(Item::allocator_rounding) == -1);
    // 1 MiB is still kept: 53,248 words of 64 values in 32 bits are 13 MiB; in 16 bits 6.5 MiB. Gradients of all are far from a step:
    c = dense();
    c.model.hidden = 64, c.model.vocabulary = 53'248;
    c.plan.tensor_parallel = 1, c.plan.gpus = 4, c.plan.zero = Zero::none;
    // three layers of 64 * 100 + 60 * 64 + 128 + 3 * 64 * 80 = 25,728 beside 3,407,872: 4 * 3,485,056 = 13,940,224, 739,840 below 14 MiB
    CHECK(c(Item::allocator_rounding) == 739'840 + 3 * kMebi);
}

TEST_CASE("by hand: an update within the backward pass needs no gradients but where they are added in place") {
    Case c = dense();  // on one stage with two copies: 6 / (3 * 2) = 1 micro-batch
    c.plan.pipeline_parallel = 1, c.plan.gpus = 4, c.plan.global_batch = 6, c.plan.optimizer_in_backward = true;
    CHECK(c(Item::gradients) == 4 * (6 * kLayer + 2 * kVocabulary + 48));
    c.plan.gradient_fusion = Habit::off;
    CHECK(c(Item::gradients) == -1);
}

TEST_CASE("by hand: latent attention that waits for its weight gradients, and one layer with experts") {
    Case c = dense();
    c.model.latent = {.q_rank = 14, .kv_rank = 18, .nope_dim = 7, .rope_dim = 4, .value_dim = 9};
    Stage stage;
    stage.dense.waiting = 1;
    const auto bytes = [&] { return WaitingForWeights<double>(c.model, c.plan, stage, Alive<double>(c.model, c.plan, stage)).bytes(2, 2); };
    // of 60 tokens and three heads 2 * 7 + 4 + 2 * 9 values, of 30 tokens 2 * (14 + 18) + 4; norms' 11,520 and the feed-forward part's
    // 14,400 as in moment_items_test.cpp
    CHECK(bytes() == 2 * 60 * 3 * 36 + 2 * 30 * 68 + 11'520 + 14'400);
    const Alive<double> alive(c.model, c.plan, stage);  // in fp8 what was read in a byte: 9 a head, and 14 + 18; 2'880 less, and 2'400
    CHECK(WaitingForWeights<double>(c.model, c.plan, stage, alive).bytes(1, 2) == bytes() - 60 * 3 * 9 - 30 * 32 - 2'880 - 2'400);
    c = experts();
    stage.dense.waiting = 0, stage.experts.waiting = 1;
    CHECK(bytes() == 6'000 + 3'600 + 11'520 + 60 * 2 * (2 * 48 + 3 * 24));
}
