// Seconds of the model's two ends, weights of a stage, how a pipeline's seconds follow from its stages', and how wide the band is: worked
// by hand (time/small_machine.h).
#include <doctest/doctest.h>

#include <cmath>

#include "time/small_machine.h"

using namespace fourfold;
using namespace fourfold::tests::by_hand;

namespace {

// An all-gather of 2 * 60 * 48 bytes among two GPUs, the loss's bytes, and the logits' forward pass: 2 * (60 * 48 + 48 * 128) + 2 * 60 *
// 128 bytes, their input's gradient the same.
constexpr double kGather = 3.88e-3, kLossBytes40 = 40 * 7'680, kLogitsForward = 33'408;
constexpr double kLookUp = 6 * 60 * 48 / (0.5 * kH / 0.85);

void check_weights(const PipelineWeights& all, double sum_work, double most_work, double sum_transfers, double most_transfers,
                   bool closed = false) {
    CHECK(all.sum_work == near(sum_work));
    CHECK(all.most_work == near(most_work));
    CHECK(all.sum_transfers == near(sum_transfers));
    CHECK(all.most_transfers == near(most_transfers));
    CHECK(all.closed == closed);
}
// Nine of ten measured runs lie between; so many of them (core/time/step_time_texts.cpp).
void check_band(const Case& c, std::string_view basis, double low, double high, int runs) {
    const Band band = band_of(c.model, c.plan, c.hw, 0);
    CHECK(band.basis == basis);
    CHECK(band.low == low);
    CHECK(band.high == high);
    CHECK(band.runs == runs);
}
std::string basis_of(const Case& c, double host_share = 0) { return std::string(band_of(c.model, c.plan, c.hw, host_share).basis); }

}  // namespace

TEST_CASE("ends by hand: frozen, no gradients of either end") {
    Case c = dense();
    c.plan.trained = TrainedPart::lora, c.plan.lora_rank = 4;
    const double head = (2 * kLogitsForward + kLossBytes40) / kH + 3 * kGather, embedding = 2 * kGather + kLookUp;
    CHECK(c.layers().head == near(head));
    CHECK(c.layers().embedding == near(embedding));
    c.model.multi_token_layers = 1;  // of what joins two inputs no gradient either: 19,008 twice; adding up the adapters of a layer
    const LayerTimesOf<double> all = c.layers();
    CHECK(all.head ==
          near(head + embedding + 2 * 19'008 / kH + all.dense.forward + all.dense.backward + head + 3 * all.parameters_dense / kH));
}

TEST_CASE("ends by hand: a further token behind a layer with experts, and fused losses") {
    Case c = dense();
    const double head = c.layers().head, embedding = c.layers().embedding;
    c.plan.loss = Loss::native_fused;
    CHECK(c.layers().head == near(head - kLossBytes40 / 2 / kH));
    c.plan.loss = Loss::tiled;
    CHECK(c.layers().head == near(head - kLossBytes40 / 2 / kH));
    c.plan.loss = Loss::automatic;
    c.model.experts = {.count = 4, .per_token = 2, .ffn = 24};
    c.model.expert_layers = {0, 0, 0, 0, 0, 1};
    c.model.multi_token_layers = 1;
    const LayerTimesOf<double> all = c.layers();
    const double join = (2 * 19'008 + 32'832) / kH;  // items_test.cpp
    CHECK(all.head ==
          near(head + embedding + join + all.expert.forward + all.expert.backward + head + 3 * (all.parameters_expert + 2'304) / kH));
}

TEST_CASE("ends by hand: logits of half of the hidden values, added up along the columns of a grid") {
    Case c = dense();
    c.plan.gpus = 16, c.plan.tensor_columns = 2;
    // K 24, C 128: 2 * (60 * 24 + 24 * 128) + 2 * 60 * 128 = 24,384, its input the same, itself 2 * (24 * 60 + 60 * 128) + 8 * 24 * 128 =
    // 42,816; three all-gathers of 2 * 60 * 24 bytes; an all-reduce of 2 * 60 * 128 bytes is two passes of half of them
    CHECK(c.layers().head == near((2 * 24'384 + 42'816 + kLossBytes40 + 3 * 24 * 128) / kH + 3 * (1e-3 + 1.44e-3) + 2 * (1e-3 + 7.68e-3)));
}

TEST_CASE("ends by hand: parameters of a stage, and bytes of its frozen ones") {
    Case c = dense();
    LayerTimes layers;
    layers.parameters_dense = 10, layers.parameters_expert = 100, layers.frozen_dense = 1'000, layers.frozen_expert = 10'000;
    Stage stage;
    stage.dense.held = 3, stage.experts.held = 2;
    const auto learn = [&] { return stage_weights(c.model, c.plan, c.hw, c.k, layers, stage).parameters; };
    const auto frozen = [&] { return stage_weights(c.model, c.plan, c.hw, c.k, layers, stage).frozen; };
    const double words = 128 * 48;
    CHECK(learn() == 230);
    stage.dense.held = 1, stage.experts.held = 1;
    CHECK(learn() == 110);
    stage.dense.held = 3, stage.experts.held = 2;
    stage.has_embedding = true;
    CHECK(learn() == 230 + words);
    stage.has_head = true;
    CHECK(learn() == 230 + 2 * words);
    CHECK(frozen() == 0);
    c.model.tied = true;  // the same matrix
    CHECK(learn() == 230 + words);
    stage.has_embedding = false;  // a copy of its own
    CHECK(learn() == 230 + words);
    c.plan.trained = TrainedPart::lora;
    CHECK(learn() == 230);
    CHECK(frozen() == 23'000 + 2 * words);
    stage.has_embedding = true;
    CHECK(frozen() == 23'000 + 2 * words);
    c.model.tied = false;
    CHECK(frozen() == 23'000 + 4 * words);
    stage.has_head = false;
    CHECK(frozen() == 23'000 + 2 * words);
    stage = Stage();
    stage.dense.held = 1;
    CHECK(frozen() == 1'000);
    stage.dense.held = 0, stage.experts.held = 1;
    CHECK(frozen() == 10'000);
    CHECK(learn() == 100);
}

TEST_CASE("ends by hand: how often a pipeline's stages and transfers count") {
    Case c = dense();  // two stages, four micro-batches
    check_weights(pipeline_weights(c.plan), 1, 3, 1, 1.5);
    c.plan.pipeline_parallel = 1;  // 24 / (3 * 4) = 2
    check_weights(pipeline_weights(c.plan), 1, 1, 1, 1);
    c.plan.gpus = 32, c.plan.pipeline_parallel = 4, c.plan.global_batch = 60;  // 60 / (3 * 4) = 5
    check_weights(pipeline_weights(c.plan), 1, 4, 1, 4);
    c = dense();
    c.plan.virtual_stages = 3;  // a third of filling and draining; every border three times
    check_weights(pipeline_weights(c.plan), 1.0 / 3, 4 - 1.0 / 3, 1, 12, true);
    c.plan.overlap_pipeline = true;
    check_weights(pipeline_weights(c.plan), 1.0 / 3, 4 - 1.0 / 3, 0.25, 3, true);
    c = dense();
    c.plan.schedule = ScheduleKind::zero_bubble_h1;
    check_weights(pipeline_weights(c.plan), 0, 4, 1, 3);
    c.plan.schedule = ScheduleKind::dualpipe;  // two in each direction
    check_weights(pipeline_weights(c.plan), 0, 2, 1, 0);
    c.plan.schedule = ScheduleKind::dualpipe_v, c.plan.virtual_stages = 2;
    check_weights(pipeline_weights(c.plan), 0, 4, 2, 0);
}

TEST_CASE("ends by hand: which runs a band rests on") {
    Case c = dense();
    c.hw.architecture = Architecture::hopper;
    check_band(c, "hopper", 0.88, 1.1, 120);
    for (const Zero divided : {Zero::gradients, Zero::weights}) {  // none of the 102 does so
        c.plan.zero = divided;
        check_band(c, "sharded", 0.79, 1.3, 0);
    }
    c.plan.zero = Zero::optimizer;
    c.hw.multiplies_in_8_bits = true;
    check_band(c, "hopper_fp8", 0.91, 1.11, 64);
    c.hw.architecture = Architecture::ampere;
    check_band(c, "ampere", 0.89, 1.25, 43);
    c.hw.architecture = Architecture::blackwell;
    check_band(c, "blackwell", 0.88, 1.15, 42);
    c.hw.architecture = Architecture::blackwell_ultra;
    check_band(c, "blackwell_ultra", 0.92, 1.08, 11);
    c.plan.framework = FrameworkKind::nanotron;
    CHECK(basis_of(c) == "nanotron");
    c.model.experts.count = 4;  // of which no framework's runs tell but transformers'
    check_band(c, "experts", 0.7, 1.4, 120);
    c.model.attention_sinks = true;
    check_band(c, "gpt_oss", 0.78, 2.05, 21);
    c.model.experts.count = 0;
    CHECK(basis_of(c) == "nanotron");
    c.plan.trained = TrainedPart::lora;
    check_band(c, "adapters", 0.85, 2.14, 39);
    c.plan.framework = FrameworkKind::transformers;
    check_band(c, "transformers_elsewhere", 0.66, 1.5, 53);
    c.hw.architecture = Architecture::hopper, c.plan.gpus = 2;
    CHECK(basis_of(c) == "transformers_elsewhere");
    c.plan.gpus = 1;
    check_band(c, "transformers", 0.9, 1.18, 136);
    c.plan.trained = TrainedPart::full, c.model.experts.count = 4;
    CHECK(basis_of(c) == "transformers");
    c.plan.time_factor = 1.5;
    CHECK(basis_of(c) == "calibrated");
    c.plan.time_factor = 1, c.plan.time_spread = 2;
    CHECK(basis_of(c) == "widened");
    // 0.9 to 1.18: twice as wide as logarithms; and where a quarter of a step is on the host, a quarter of the way to 0.76 and 2.7
    CHECK(band_of(c.model, c.plan, c.hw, 0).low == near(0.9 * 0.9));
    CHECK(band_of(c.model, c.plan, c.hw, 0).high == near(1.18 * 1.18));
    c.plan.time_spread = 1;
    CHECK(basis_of(c, 0.25) == "offload");
    CHECK(band_of(c.model, c.plan, c.hw, 0.25).low == near(0.9 - 0.14 / 4));
    CHECK(band_of(c.model, c.plan, c.hw, 0.25).high == near(1.18 + 1.52 / 4));
    c = dense();
    c.hw.architecture = Architecture::cdna3;
    check_band(c, "no_run", 0.7, 1.5, 0);
    c.plan.framework = FrameworkKind::transformers;
    check_band(c, "no_run", 0.7, 1.5, 0);
}
