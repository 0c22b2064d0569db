// Documents packed into a sequence, with attention inside each alone: what changes, and what does not.
#include <doctest/doctest.h>

#include "api.h"
#include "memory/memory.h"
#include "model/catalog.h"
#include "near.h"
#include "plan/token_slices.h"
#include "random_cases.h"
#include "support.h"
#include "time/step_time.h"

using namespace fourfold;
using tests::json;

namespace {

Plan packed_plan(std::int64_t sequence, std::int64_t document) {
    Plan p;
    p.gpus = p.gpus_per_node = 8;
    p.sequence_length = sequence;
    p.document_length = document;
    p.global_batch = 8;
    p.tensor_parallel = p.pipeline_parallel = p.context_parallel = p.micro_batch = 1;
    return p;
}

LayerTime layer_of(const Model& model, Plan p, const char* card = "h100-sxm-80gb") {
    const Gpu& gpu = *catalog().gpu(card);
    const Framework framework = framework_of(model, p, gpu);
    const Machine machine = machine_of(gpu, nullptr, p);
    return layer_times(model, p, framework, machine, timing_of(machine, nullptr, p, framework.attention)).dense;
}

double seconds_of(const Model& model, const Plan& p) {
    const Gpu& gpu = *catalog().gpu("h100-sxm-80gb");
    return StepTimer(model, gpu, nullptr, p).seconds(p);
}

const Json kJob = json(R"({"model": "llama-3.1-8b", "gpu": "h100-sxm-80gb", "gpus": 8, "sequence_length": 8192, "global_batch": 64,
    "tensor_parallel": 1, "context_parallel": 1, "pipeline_parallel": 1, "micro_batch": 1})");

Json answer(Json job, const Json& document) {
    job["document_length"] = document;
    return json(api::estimate(job.dump()));
}

}  // namespace

TEST_CASE("documents: operations by hand, whatever the lengths") {
    const Model& m = catalog().model("llama-3.1-8b")->model;
    // 6,144 + 1,024 + 1,024 tokens: 39,845,888 pairs, of which a causal mask leaves half; over 8,192 tokens: 4,864
    const Plan whole = packed_plan(8'192, 0), packed = packed_plan(8'192, 4'864);
    // of a pair 32 layers multiply scores and values, 2*4,096; multiply and add, three times
    const double each = 6 * 32 * 2 * 4'096.0 * 8;
    const auto saved = [&](FlopConvention convention, Plan a, Plan b) {
        return model_flop(m, a, convention) - model_flop(m, b, convention);
    };
    CHECK(saved(FlopConvention::causal, whole, packed) == doctest::Approx(each * (67'108'864.0 - 39'845'888) / 2).epsilon(1e-12));
    CHECK(saved(FlopConvention::full, whole, packed) == doctest::Approx(each * (67'108'864.0 - 39'845'888)).epsilon(1e-12));
    Plan frozen = whole, frozen_packed = packed;  // scores have both gradients there, too
    frozen.trained = frozen_packed.trained = TrainedPart::lora;
    CHECK(saved(FlopConvention::causal, frozen, frozen_packed) == doctest::Approx(each * (67'108'864.0 - 39'845'888) / 2).epsilon(1e-12));
    CHECK(model_flop(m, packed_plan(8'192, 8'192), FlopConvention::causal) == model_flop(m, whole, FlopConvention::causal));
    // Qwen3-8B on 4 GPUs in Megatron-Bridge (docs/model-verification, sft): 2,048 tokens a pack, 101.63 TFLOP/s a GPU in 7.42424 s of 32
    // packs. 36 layers, 152,064 words with TP 4; sum d^2 / sum d = 725.
    const Model& qwen = catalog().model("qwen3-8b")->model;
    Plan card = packed_plan(2'048, 725);
    card.gpus = card.tensor_parallel = 4, card.global_batch = 32;
    CHECK(model_flop(qwen, card, FlopConvention::causal) / (4 * 7.42424) == doctest::Approx(101.63e12).epsilon(1e-4));
}

TEST_CASE("documents: time of attention by hand") {
    const Model &llama = catalog().model("llama-3.1-8b")->model, &mistral = catalog().model("mistral-7b")->model;
    const auto ratio = [](const Model& m, Plan p, const char* card = "h100-sxm-80gb") {
        Plan whole = p;
        whole.document_length = 0;
        const LayerTime a = layer_of(m, p, card), b = layer_of(m, whole, card);
        CHECK(a.multiply_forward == b.multiply_forward);
        CHECK(a.element_forward == b.element_forward);
        CHECK(a.attention_backward / b.attention_backward == doctest::Approx(a.attention_forward / b.attention_forward));
        return a.attention_forward / b.attention_forward;
    };
    // FlashAttention-2 on A100: as many operations at the same rate
    CHECK(ratio(llama, packed_plan(8'192, 1'024), "a100-sxm-80gb") == doctest::Approx(1'024.0 / 8'192));
    // the kernel of H100 loses 380 tokens at the start of each (constants.cpp): (1,024 + 380)/(8,192 + 380)
    CHECK(ratio(llama, packed_plan(8'192, 1'024)) == doctest::Approx(1'404.0 / 8'572));
    Plan ring = packed_plan(8'192, 1'024);  // on two GPUs half of each document: (512 + 380)/(4,096 + 380)
    ring.context_parallel = 2;
    CHECK(ratio(llama, ring) == doctest::Approx(892.0 / 4'476));
    // a window of 4,096 in documents of 8,192: 4,096 - 4,096^2/(2*8,192) + 128 = 3,200; in a sequence of 16,384: 3,712
    CHECK(ratio(mistral, packed_plan(16'384, 8'192), "a100-sxm-80gb") == doctest::Approx(3'200.0 / 3'712));
    CHECK(ratio(mistral, packed_plan(16'384, 4'096), "a100-sxm-80gb") == doctest::Approx(2'048.0 / 3'712));  // no document is longer
    // every score is computed, whatever the mask hides
    Plan plain = packed_plan(8'192, 1'024);
    plain.attention = Attention::plain;
    CHECK(ratio(llama, plain) == 1);
}

TEST_CASE("documents as long as the sequence, and longer ones, are the sequence; the formula says their length") {
    Json none = answer(kJob, 0), same = answer(kJob, 8'192), longer = answer(kJob, 16'000'000), short_ones = answer(kJob, 640);
    for (Json* one : {&none, &same, &longer}) (*one)["job"].erase("document_length");
    CHECK(none == same);
    CHECK(none == longer);
    CHECK(short_ones["step_seconds"] < none["step_seconds"]);
    for (const char* key : {"total_bytes", "whole_bytes", "groups"}) CHECK(short_ones[key] == none[key]);  // memory
    const std::string text = short_ones.dump();
    CHECK(text.find(R"({"symbol":"s_d"})") != std::string::npos);
    CHECK(text.find(R"("meaning":"document_length")") != std::string::npos);
    CHECK(none.dump().find("s_d") == std::string::npos);
}

TEST_CASE("documents: a length that is none is told with its field") {
    CHECK(tests::brief(answer(kJob, -1)["problems"]) == "document_length range -1 -> 0");
    CHECK(tests::brief(answer(kJob, 16'777'217)["problems"]) == "document_length range 16777217 -> 16777216");
    CHECK(tests::brief(answer(kJob, "long")["problems"]) == "document_length type \"long\" -> null");
}

TEST_CASE("documents: positions start again in each, so that a pack may be longer than the model's") {
    Json job = kJob;
    job["sequence_length"] = 262'144;
    const auto warned = [&](const Json& document) { return tests::brief(answer(job, document)["warnings"]); };
    CHECK(warned(0).find("sequence_beyond_model") != std::string::npos);
    CHECK(warned(4'096).find("sequence_beyond_model") == std::string::npos);
}

TEST_CASE("documents: slices of packs have as many tokens each") {
    const Model& m = catalog().model("llama-3.1-8b")->model;
    Plan p = packed_plan(8'192, 1'024);
    p.token_slices = 4;
    const TokenSlices slices(m, p);
    CHECK(std::vector<std::int64_t>(slices.ends().begin(), slices.ends().end()) == std::vector<std::int64_t>{2'048, 4'096, 6'144, 8'192});
    for (const double share : slices.shares(m, 0.5)) CHECK(share == doctest::Approx(1));
}

TEST_CASE("documents: shorter ones never take longer, hold no more, and one as long as the sequence changes nothing") {
    tests::Random random(71);
    for (int i = 0; i < (tests::kSlowBuild ? 60 : 600); ++i) {
        Model m = tests::random_model(random);
        if (random.coin()) m.latent = {random.coin() ? 0 : 512, 256, 128, 64, 128}, m.kv_heads = m.heads, m.head_dim = 192;
        if (random.coin()) {
            m.window.tokens = random.from(1, 8'192), m.window.chunks = random.coin();
            for (std::int64_t layer = 0; layer < m.layers; ++layer) m.window.layers.push_back(random.coin() ? 1 : 0);
        }
        Plan p = tests::random_legal_plan(random, m);
        p.sequence_length *= 8;
        p.document_length = 0;
        const double whole = seconds_of(m, p), flop = model_flop(m, p, FlopConvention::causal);
        p.document_length = p.sequence_length + random.from(0, 2) * 1'000;
        CHECK(seconds_of(m, p) == whole);
        CHECK(model_flop(m, p, FlopConvention::causal) == flop);
        double before = whole, operations = flop;
        for (std::int64_t d = p.sequence_length; d > 1; d = d * random.from(1, 9) / 10) {
            p.document_length = std::max<std::int64_t>(d, 1);
            const double now = seconds_of(m, p), count = model_flop(m, p, FlopConvention::causal);
            CHECK(now <= before * (1 + 1e-12));
            CHECK(count <= operations * (1 + 1e-12));
            before = now, operations = count;
        }
    }
}
