// Models of which some layers have linear attention: their keys, the layers, the weights.
#include <doctest/doctest.h>

#include "model/model_import.h"
#include "model/operations.h"
#include "near.h"
#include "plan/rules.h"

using namespace fourfold;
using tests::import;
using tests::Import;
using tests::json;
using tests::near;

namespace {

// Qwen3.5-35B-A3B, as its config.json says: the language model stands beside an image encoder.
const char* const kQwen = R"({"model_type": "qwen3_5_moe", "vision_config": {"depth": 27}, "text_config": {
    "model_type": "qwen3_5_moe_text", "hidden_size": 2048, "num_hidden_layers": 40, "num_attention_heads": 16, "num_key_value_heads": 2,
    "head_dim": 256, "vocab_size": 248320, "num_experts": 256, "num_experts_per_tok": 8, "moe_intermediate_size": 512,
    "shared_expert_intermediate_size": 512, "full_attention_interval": 4, "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128,
    "linear_num_key_heads": 16, "linear_num_value_heads": 32, "linear_value_head_dim": 128, "attn_output_gate": true,
    "mtp_num_hidden_layers": 1, "tie_word_embeddings": false}})";

Json text_of(const char* config) { return json(config)["text_config"]; }

}  // namespace

TEST_CASE("linear attention: three layers of four, and every weight") {
    const Import i = import(kQwen);
    REQUIRE(i.model);
    const Model& m = *i.model;
    CHECK(m.linear.count == 30);
    CHECK(std::vector<std::uint8_t>(m.linear.layers.begin(), m.linear.layers.begin() + 5) == std::vector<std::uint8_t>{1, 1, 1, 0, 1});
    CHECK(m.linear.in() == 2 * (2'048 + 4'096 + 32));
    CHECK(m.linear.mixed() == 2 * 2'048 + 4'096);
    CHECK(m.attention_gate);
    CHECK(m.window.tokens == 0);
    // a layer with linear attention: 2048 * 12352, 4096 * 2048, four taps of 8192 values, 2 * 32 of decays, a norm over 128
    const std::int64_t linear = 25'296'896 + 8'388'608 + 32'768 + 64 + 128;
    // the others: queries and gates 2048 * 8192, keys and values 2048 * 1024, 4096 * 2048, two norms over 256
    const std::int64_t full = 16'777'216 + 2'097'152 + 8'388'608 + 512;
    // experts: 256 and a shared one of 3 * 2048 * 512, a router of 256 and a gate of one column
    const std::int64_t experts = 257 * 3'145'728 + 257 * 2'048, norms = 2 * 2'048;
    CHECK(i.parameters() == 30 * linear + 10 * full + 40 * (experts + norms) + 2'048 + 2 * 248'320 * 2'048);
    CHECK(active_parameters(m) == i.parameters() - 40 * 248 * 3'145'728LL);
    CHECK(i.assumed("vision_config") == nullptr);  // told as left out
    CHECK(i.used("full_attention_interval"));
    CHECK(i.ignored("mtp_num_hidden_layers"));
}

TEST_CASE("linear attention: a model is written as the keys that give it again") {
    for (const char* kind : {"interval", "list", "none"}) {
        Json config = text_of(kQwen);
        if (kind != std::string("interval")) config.erase("full_attention_interval");
        if (kind == std::string("list")) {
            Json types = Json::array();
            for (int i = 0; i < 40; ++i) types.push_back(i < 20 ? "linear_attention" : "full_attention");
            config["layer_types"] = types;
        }
        const Import i = import(config);
        REQUIRE(i.model);
        CHECK(i.model->linear.count == (kind == std::string("list") ? 20 : 30));
        const Json canonical = canonical_config(*i.model);
        CHECK(canonical.contains("layer_types") == (kind == std::string("list")));
        CHECK(canonical.contains("full_attention_interval") != (kind == std::string("list")));
        const Import again = import(canonical);
        REQUIRE(again.model);
        CHECK(canonical_config(*again.model) == canonical);
        CHECK(again.parameters() == i.parameters());
        CHECK(again.model->linear.layers == i.model->linear.layers);
        CHECK(i.assumed("full_attention_interval") == (kind == std::string("none") ? Json(4) : Json()));
    }
    Json config = text_of(kQwen);
    config["attn_output_gate"] = false;
    const Import i = import(config);
    REQUIRE(i.model);
    CHECK_FALSE(i.model->attention_gate);
    CHECK(canonical_config(*i.model)["attn_output_gate"] == false);
    config["layer_types"] = Json::array();
    for (int k = 0; k < 40; ++k) config["layer_types"].push_back("full_attention");
    const Import full = import(config);  // in no layer: as if the keys were not there
    REQUIRE(full.model);
    CHECK_FALSE(full.model->linear.any());
}

TEST_CASE("linear attention: a type that nobody knows is read by its keys, and what cannot be is named") {
    Json config = text_of(kQwen);
    config["model_type"] = "qwen3_9_moe_text";
    CHECK(import(config).parameters() == import(kQwen).parameters());
    CHECK(import(config).assumed("model_type") == "qwen3_5_moe_text");
    const auto only = [](const Json& from, const char* field, const char* rule) {
        const Import i = import(from);
        REQUIRE(i.problems.size() == 1);
        CHECK(i.problems[0].field == field);
        CHECK(std::string(i.problems[0].rule) == rule);
    };
    Json lacks = config;
    lacks.erase("linear_key_head_dim");
    only(lacks, "linear_key_head_dim", "missing");
    config["linear_num_value_heads"] = 24;
    only(config, "linear_num_value_heads", "range");
    CHECK(import(config).problems[0].nearest == 16);
    Json other = text_of(kQwen);
    other["layer_types"] = Json::array();
    for (int k = 0; k < 40; ++k) other["layer_types"].push_back(k == 7 ? "mamba" : "linear_attention");
    only(other, "layer_types", "unsupported");
    Json streams = text_of(kQwen);
    streams["hc_count"] = 4;  // Qwen3.8-Flash-Next
    only(streams, "hc_count", "unsupported");
    CHECK(tests::said(import(streams).problems[0].message.json()) == R"(problem.unsupported.other_parts {"key":"hc_count"})");
    Json llama = json(R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
        "num_attention_heads": 4, "vocab_size": 100, "linear_num_key_heads": 2})");
    only(llama, "linear_num_key_heads", "unsupported");
}

TEST_CASE("linear attention: operations of a token, and heads that tensor parallelism divides") {
    const Model m = *import(kQwen).model;
    // full: 2048 * (3 * 16 + 2 * 2) * 256; linear: 2048 * (12352 + 4096), four taps, four products of 128 keys with 4096 values
    const double full = 2'048.0 * 52 * 256, linear = 2'048.0 * 16'448 + 4 * 8'192 + 4.0 * 4'096 * 128;
    CHECK(attention_weights(m) == near(full / 4 + 0.75 * linear));
    CHECK(score_width(m) == 16 * 2 * 256 / 4.0);
    Model odd = m;
    odd.heads = odd.kv_heads = 24;
    Plan plan;
    const auto goes = [&](std::int64_t tensor) {
        plan.tensor_parallel = tensor;
        return check_tensor_rules(odd, plan, [](Rule, bool holds) { return holds; });
    };
    CHECK(goes(4));
    CHECK_FALSE(goes(3));  // 16 key heads
}

TEST_CASE("linear attention: the rule that its layers follow") {
    const auto every = [](std::vector<std::uint8_t> layers) { return full_attention_every({.layers = std::move(layers)}); };
    CHECK(every({1, 1, 0, 1, 1, 0}) == 3);
    CHECK(every({1, 1, 0, 1}) == 3);
    CHECK(every({1, 1, 1}) == 4);  // none of them is full
    CHECK(every({1, 0, 0, 1}) == 0);
    CHECK(every({0, 1, 1}) == 0);
    CHECK(every({}) == 0);
}
