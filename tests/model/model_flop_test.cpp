// The FLOP of a step that a rate and MFU are counted in: latent attention, further tokens, windows.
#include <doctest/doctest.h>

#include "model/catalog.h"
#include "time/step_time.h"

using namespace fourfold;

namespace {

Plan plan_of(std::int64_t sequence) {
    Plan p;
    p.sequence_length = sequence;
    p.global_batch = 1;
    p.tensor_parallel = 1;
    return p;
}

}  // namespace

TEST_CASE("FLOP of a step: DeepSeek-V3 by hand, 37 billion activated parameters") {
    Model deepseek = catalog().model("deepseek-v3")->model;
    CHECK(deepseek.multi_token_layers == 1);
    deepseek.multi_token_layers = 0;
    const Plan plan = plan_of(4'096);
    // attention of a layer: queries 7,168·1,536 + 1,536·128·192, keys and values 7,168·576 + 512·128·256, output 128·128·7,168
    const double attention = 11'010'048.0 + 37'748'736 + 4'128'768 + 16'777'216 + 117'440'512;
    CHECK(attention == 187'105'280);
    // 61 of them; 3 dense parts of width 18,432 and 58 times 8 + 1 experts of width 2,048, three matrices each; logits 7,168·129,280
    const double weights = 61 * attention + 3 * 396'361'728.0 + 58 * 396'361'728.0 + 926'679'040.0;
    CHECK(weights == 36'518'166'528);  // and the embedding, 926,679,040, whose rows are looked up: 37.4 billion (published: 37 B)
    // scores and their product with the values: 128 heads of 192 + 128 values against 4,096 tokens, half of them masked away
    const double scores = 61 * 128 * 320.0 * 4'096;
    CHECK(scores == 10'234'101'760);
    CHECK(model_flop(deepseek, plan, FlopConvention::full) == doctest::Approx(6 * 4'096 * (weights + scores)));
    CHECK(model_flop(deepseek, plan, FlopConvention::causal) == doctest::Approx(6 * 4'096 * (weights + scores / 2)));
    // against the published number: 6·37e9 per token and attention by its causal half
    const double published = 6 * 4'096 * (37e9 + scores / 2);
    CHECK(std::abs(model_flop(deepseek, plan, FlopConvention::causal) / published - 1) <= 0.02);
    // a further token: 2·7,168² to join its inputs, a layer with experts, logits
    deepseek.multi_token_layers = 1;
    const double further = 102'760'448.0 + attention + 396'361'728 + 926'679'040 + scores / 61;
    CHECK(model_flop(deepseek, plan, FlopConvention::full) == doctest::Approx(6 * 4'096 * (weights + scores + further)));
}

TEST_CASE("FLOP of a step: queries without a rank of their own (DeepSeek-V2-Lite)") {
    const Model& lite = catalog().model("deepseek-v2-lite")->model;
    // 27 layers: queries 2,048·16·192, keys and values 2,048·576 + 512·16·256, output 16·128·2,048
    const double attention = 6'291'456.0 + 1'179'648 + 2'097'152 + 4'194'304;
    // one dense part of width 10,944; 26 times 6 experts of width 1,408 and 2,816 of shared ones; logits 2,048·102,400
    const double weights = 27 * attention + 3 * 2'048 * (10'944.0 + 26 * (6 * 1'408 + 2'816)) + 209'715'200.0;
    const double scores = 27 * 16 * 320.0 * 4'096;
    CHECK(model_flop(lite, plan_of(4'096), FlopConvention::full) == doctest::Approx(6 * 4'096 * (weights + scores)));
}
