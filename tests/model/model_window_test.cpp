// Which earlier tokens a layer attends to, as the configs of every family say it.
#include <doctest/doctest.h>

#include "model/model_import.h"

using namespace fourfold;
using tests::Import;

namespace {

Json config_of(const char* type, std::int64_t layers) {
    return Json{{"model_type", type},          {"hidden_size", 1'024},
                {"intermediate_size", 4'096},  {"num_hidden_layers", layers},
                {"num_attention_heads", 16},   {"num_key_value_heads", 8},
                {"vocab_size", 32'000},        {"head_dim", 64},
                {"tie_word_embeddings", true}, {"max_position_embeddings", 32'768}};
}
Json with(Json config, std::initializer_list<std::pair<const char*, Json>> keys) {
    for (const auto& [key, value] : keys) config[key] = value;
    return config;
}
std::int64_t windowed(const Import& i) { return std::count(i.model->window.layers.begin(), i.model->window.layers.end(), std::uint8_t{1}); }
Json types(const char* a, const char* b, int pairs) {
    Json list = Json::array();
    for (int i = 0; i < pairs; ++i) list.push_back(a), list.push_back(b);
    return list;
}

}  // namespace

TEST_CASE("windows: the keys of every family") {
    const Import v01 = tests::import(with(config_of("mistral", 32), {{"sliding_window", 4'096}}));
    CHECK(v01.model->window.tokens == 4'096);
    CHECK(windowed(v01) == 32);
    CHECK(v01.used("sliding_window"));
    CHECK(v01.report.assumed.empty());
    CHECK(tests::import(with(config_of("mistral", 32), {{"sliding_window", nullptr}})).model->window.tokens == 0);  // v0.3
    CHECK(tests::import(config_of("mistral", 32)).assumed("sliding_window") == 4'096);                              // the class default

    const Import gemma2 = tests::import(with(config_of("gemma2", 26), {{"sliding_window", 4'096}}));
    CHECK(windowed(gemma2) == 13);
    CHECK(gemma2.model->window.layers[0] == 1);  // the first layer has the window, every second one has none
    const Import gemma3 = tests::import(with(config_of("gemma3_text", 26), {{"sliding_window", 512}, {"sliding_window_pattern", 6}}));
    CHECK(gemma3.model->window.tokens == 512);
    CHECK(windowed(gemma3) == 22);  // all but layers 5, 11, 17, 23
    CHECK(gemma3.used("sliding_window_pattern"));

    // gpt-oss: every second layer, as its layer_types say
    const Import oss = tests::import(with(config_of("gpt_oss", 24), {{"num_local_experts", 32},
                                                                     {"num_experts_per_tok", 4},
                                                                     {"sliding_window", 128},
                                                                     {"layer_types", types("sliding_attention", "full_attention", 12)}}));
    CHECK(oss.model->window.tokens == 128);
    CHECK(windowed(oss) == 12);
    CHECK((oss.used("layer_types") && oss.used("sliding_window")));

    // Qwen writes its window into files that do not use it
    const auto qwen = [](bool on) {
        return tests::import(
            with(config_of("qwen2", 48), {{"use_sliding_window", on}, {"sliding_window", 8'192}, {"max_window_layers", 28}}));
    };
    CHECK(qwen(false).model->window.tokens == 0);
    CHECK(qwen(true).model->window.tokens == 8'192);
    CHECK(windowed(qwen(true)) == 20);  // layers 28 to 47
    CHECK(qwen(true).used("max_window_layers"));

    const Import chunks = tests::import(
        with(config_of("llama", 4), {{"attention_chunk_size", 8'192}, {"layer_types", types("chunked_attention", "full_attention", 2)}}));
    CHECK((chunks.model->window.chunks && chunks.model->window.tokens == 8'192 && windowed(chunks) == 2));
    CHECK(tests::import(config_of("llama", 4)).model->window.tokens == 0);
    const Import unknown = tests::import(with(config_of("some_new_thing", 4), {{"sliding_window", 2'047}}));
    CHECK(windowed(unknown) == 4);
    CHECK(unknown.assumed("layer_types") == "sliding_attention");
}

TEST_CASE("windows: what no formula covers is said") {
    const Import indexed = tests::import(with(config_of("llama", 4), {{"index_topk", 2'048}}));
    CHECK(indexed.assumed("index_topk") == 2'048);  // DeepSeek-V3.2: counted as full attention
    CHECK(!indexed.ignored("index_topk"));
    CHECK(tests::brief(tests::import(with(config_of("llama", 4), {{"layer_types", types("mamba", "full_attention", 2)}})).problems) ==
          "layer_types unsupported \"mamba\" -> null");
    CHECK(tests::brief(
              tests::import(with(config_of("llama", 4), {{"layer_types", types("sliding_attention", "full_attention", 2)}})).problems) ==
          "sliding_window missing null -> null");
    CHECK(tests::brief(tests::import(with(config_of("llama", 8), {{"layer_types", Json::array({"full_attention"})}})).problems) ==
          "layer_types type null -> null");
    CHECK(tests::brief(tests::import(with(config_of("mistral", 4), {{"sliding_window", -1}})).problems) == "sliding_window range -1 -> 0");
}

TEST_CASE("windows: a model written down and read again has the same one") {
    for (const Json& config :
         {config_of("mistral", 4), with(config_of("mistral", 4), {{"sliding_window", nullptr}}), config_of("gemma3_text", 26),
          with(config_of("gemma2", 4), {{"sliding_window", nullptr}}),
          with(config_of("qwen3", 36), {{"use_sliding_window", true}, {"sliding_window", 4'096}}), config_of("qwen3", 36),
          with(config_of("llama", 4), {{"attention_chunk_size", 64}}), with(config_of("some_new_thing", 4), {{"sliding_window", 2'047}})}) {
        const Import once = tests::import(config);
        const Import again = tests::import(canonical_config(*once.model));
        CAPTURE(config.dump());
        CHECK(again.model->window.tokens == once.model->window.tokens);
        CHECK(again.model->window.chunks == once.model->window.chunks);
        CHECK(again.model->window.layers == once.model->window.layers);
        CHECK(canonical_config(*again.model) == canonical_config(*once.model));
    }
}
