// The optimizer's update, worked by hand (time/small_machine.h).
#include "time/update.h"

#include <doctest/doctest.h>

#include "time/small_machine.h"

using namespace fourfold;
using namespace fourfold::tests::by_hand;

namespace {

double update(const Case& c, const Stage& stage, double parameters, double ranks) {
    return Update<double>(c.model, c.plan, c.hw, c.k, stage)
        .seconds(parameters, c.plan.shards_optimizer() ? parameters / ranks : parameters, ranks);
}

}  // namespace

TEST_CASE("by hand: Muon's iterations, 5 * (4 m m n + 2 m m m) for each matrix") {
    Case c = dense();
    // 48 x 60 twice, 48 x 20 twice, 48 x 80 three times
    const double attention = 2 * 3'870'720 + 2 * 464'000, layer = attention + 3 * 4'792'320;
    CHECK(muon_flop(c.model, false) == layer);
    c.model.experts = {.count = 4, .per_token = 2, .ffn = 24};  // three of 24 x 48 each
    CHECK(muon_flop(c.model, true) == attention + 4 * 3 * 691'200);
    c.model.experts.shared_ffn = 16;
    CHECK(muon_flop(c.model, true) == attention + 4 * 3 * 691'200 + 3 * 286'720);
    c = dense();
    c.model.gated = false;
    CHECK(muon_flop(c.model, false) == attention + 2 * 4'792'320);
    c = dense();
    c.plan.optimizer = Optimizer::muon;
    Stage stage;
    stage.dense.held = 3;  // over 2 tensor-parallel GPUs and 2 that share the optimizer, at 5e11
    CHECK(update(c, stage, 0, 2) == near(3 * layer / 4 / 5e11));
    c.plan.zero = Zero::none;  // each for itself
    CHECK(update(c, stage, 0, 2) == near(3 * layer / 2 / 5e11));
    c.model.experts = {.count = 4, .per_token = 2, .ffn = 24};
    stage.experts.held = 1;
    CHECK(update(c, stage, 0, 2) == near((3 * layer + attention + 4 * 3 * 691'200) / 2 / 5e11));
    c.plan.trained = TrainedPart::lora;  // adapters are so small that their iterations take no time
    CHECK(update(c, stage, 0, 2) == 0);
}

TEST_CASE("by hand: Muon's iterations for latent attention") {
    Case c = dense();
    c.model.latent = {.q_rank = 14, .kv_rank = 18, .nope_dim = 7, .rope_dim = 4, .value_dim = 9};
    // queries 48 x 14 and 14 x 6 * 11 = 66, keys and values 48 x 22 and 18 x 6 * 16 = 96, output 54 x 48, three of 48 x 80. m = 14, n = 48:
    // 5 * (4 * 196 * 48 + 2 * 2,744) = 215,600; 14, 66: 286,160; 22, 48: 571,120; 18, 96: 680,400; 48, 54: 3,594,240
    const double others = 571'120 + 680'400 + 3'594'240 + 3 * 4'792'320;
    CHECK(muon_flop(c.model, false) == 215'600 + 286'160 + others);
    c.model.latent.q_rank = 0;  // 48 x 66: 5 * (4 * 2,304 * 66 + 2 * 110,592)
    CHECK(muon_flop(c.model, false) == 4'147'200 + others);
}

TEST_CASE("by hand: bytes of an update for each parameter") {
    Plan p;
    CHECK(update_bytes(p) == 34);
    // gradient twice, 4 bytes of the copy in 32 bits read and written, averages read and written, a weight of 2 bytes written; two averages
    // of a byte with a scale of 4 for 256 values
    p.optimizer = Optimizer::adam_8bit;
    CHECK(update_bytes(p) == 8 + 8 + 2 * 2 * (1 + 4.0 / 256) + 2);
    p.master_weights = Habit::off;  // the weight itself is read
    CHECK(update_bytes(p) == 8 + 2 + 2 * 2 * (1 + 4.0 / 256) + 2);
    p.gradients_in_fp32 = false;
    CHECK(update_bytes(p) == 4 + 2 + 2 * 2 * (1 + 4.0 / 256) + 2);
    p.optimizer = Optimizer::sgd;  // one average of 4
    CHECK(update_bytes(p) == 4 + 2 + 2 * 4 + 2);
    p.optimizer = Optimizer::adam, p.moments = Moments::bits16;
    CHECK(update_bytes(p) == 4 + 2 + 2 * 2 * 2 + 2);
}

TEST_CASE("by hand: an update of PyTorch's single operations calculates as well") {
    Case c = dense();
    const Stage stage;
    const double stream = 0.8 * kH / 0.85;
    CHECK(update(c, stage, 1'000, 4) == near((34 * 250 + 12 * 1'000) / stream));
    c.plan.framework = FrameworkKind::transformers;
    // a quarter of it does not depend on memory where averages have 32 bits, and 0.53 where they have 16; this machine's 10 processors
    // have 1e6 / 8.5 bytes per second each, not 4.8e12 / 132
    const double slower = kH / 8.5 / (4.8e12 / 132);
    CHECK(update(c, stage, 1'000, 4) == near((34 * 250 + 12 * 1'000) / stream * (0.75 + 0.25 * slower)));
    // without copies in 32 bits: gradient twice 4, weight read and written, averages of 2 bytes read and written: 8 + 2 + 2 * 2 * 2 + 2
    c.plan.moments = Moments::bits16, c.plan.master_weights = Habit::off;
    CHECK(update(c, stage, 1'000, 4) == near((20 * 250 + 12 * 1'000) / stream * (0.47 + 0.53 * slower)));
    c.plan.zero = Zero::none;
    CHECK(update(c, stage, 1'000, 4) == near(32 * 1'000 / stream * (0.47 + 0.53 * slower)));
}
