// Attention to a window of the earlier tokens: what it costs.
#include <doctest/doctest.h>

#include "model/catalog.h"
#include "random_cases.h"
#include "time/step_time.h"

using namespace fourfold;

namespace {

LayerTime layer_of(const Model& model, std::int64_t sequence, Attention attention = Attention::flash, std::int64_t context = 1) {
    Plan p;
    p.gpus = p.gpus_per_node = 8;
    p.sequence_length = sequence;
    p.tensor_parallel = p.pipeline_parallel = p.micro_batch = 1;
    p.context_parallel = context;
    p.attention = attention;
    const Gpu& gpu = *catalog().gpu("h100-sxm-80gb");
    const Framework framework = framework_of(model, p, gpu);
    const Machine machine = machine_of(gpu, nullptr, p);
    return layer_times(model, p, framework, machine, timing_of(machine, nullptr, p, framework.attention)).dense;
}

}  // namespace

TEST_CASE("windows: FLOP and time of Mistral 7B by hand") {
    const Model& mistral = catalog().model("mistral-7b")->model;
    CHECK(mistral.window.tokens == 4'096);
    CHECK(windowed_share(mistral) == 1);
    Model full = mistral;
    full.window = {};
    Plan plan;
    plan.sequence_length = 16'384;
    plan.global_batch = 1;
    plan.tensor_parallel = 1;
    // 32 layers, scores and values 2·4,096 multiplications a token attended to: 4,096 instead of 16,384 tokens; under the causal mask the
    // first 4,096 see half as many: 4,096 - 4,096²/(2·16,384) = 3,584 instead of 8,192
    const double each = 6 * 16'384.0 * 32 * 2 * 4'096;
    CHECK(model_flop(full, plan, FlopConvention::full) - model_flop(mistral, plan, FlopConvention::full) ==
          doctest::Approx(each * (16'384 - 4'096)));
    CHECK(model_flop(full, plan, FlopConvention::causal) - model_flop(mistral, plan, FlopConvention::causal) ==
          doctest::Approx(each * (8'192 - 3'584)));
    // the kernel's tiles of 128 queries reach 128 tokens further: 3,712 of 8,192
    CHECK(layer_of(mistral, 16'384).attention_forward == doctest::Approx(3'712.0 / 8'192 * layer_of(full, 16'384).attention_forward));
    CHECK(layer_of(mistral, 16'384).multiply_forward == layer_of(full, 16'384).multiply_forward);
    CHECK(layer_of(mistral, 4'096).attention_forward == layer_of(full, 4'096).attention_forward);  // no sequence is longer than the window
    // plain attention computes every score
    CHECK(layer_of(mistral, 16'384, Attention::plain).attention_forward == layer_of(full, 16'384, Attention::plain).attention_forward);
    Model half = mistral;  // every second layer: the average of both
    for (std::size_t i = 0; i < half.window.layers.size(); i += 2) half.window.layers[i] = 0;
    CHECK(layer_of(half, 16'384).attention_forward ==
          doctest::Approx((3'712.0 + 8'192) / 2 / 8'192 * layer_of(full, 16'384).attention_forward));
    half.window.chunks = true;  // 2,048 of a chunk of 4,096
    CHECK(layer_of(half, 16'384).attention_forward ==
          doctest::Approx((2'048.0 + 8'192) / 2 / 8'192 * layer_of(full, 16'384).attention_forward));
}

TEST_CASE("windows: wider ones cost no less, none costs more than attention to all tokens, and a ring hides no more under them") {
    tests::Random random(53);
    Model m = catalog().model("mistral-7b")->model, full = m;
    full.window = {};
    for (int i = 0; i < 500; ++i) {
        const std::int64_t context = random.one_of<std::int64_t>({1, 2, 4, 8}), sequence = 2 * context * random.from(64, 4'000);
        for (std::uint8_t& layer : m.window.layers) layer = random.coin() ? 1 : 0;
        m.window.chunks = random.coin();
        m.window.tokens = random.from(1, sequence);
        const LayerTime narrow = layer_of(m, sequence, Attention::flash, context);
        m.window.tokens = random.from(m.window.tokens, 2 * sequence);
        const LayerTime wide = layer_of(m, sequence, Attention::flash, context);
        const LayerTime all = layer_of(full, sequence, Attention::flash, context);
        CHECK(narrow.attention_forward <= wide.attention_forward * (1 + 1e-12));
        CHECK(wide.attention_forward <= all.attention_forward * (1 + 1e-12));
        CHECK(wide.context_forward >= all.context_forward * (1 - 1e-12));
        CHECK(narrow.context_backward >= wide.context_backward * (1 - 1e-12));
        CHECK(narrow.forward <= all.forward * (1 + 1e-12));
    }
}
