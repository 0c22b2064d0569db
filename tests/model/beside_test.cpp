// Models whose layers have attention and a state space side by side (Falcon-H1), or in places a convolution over a few tokens (LFM2).
#include <doctest/doctest.h>

#include "model/model_import.h"
#include "model/operations.h"
#include "near.h"

using namespace fourfold;
using tests::brief;
using tests::import;
using tests::Import;
using tests::json;
using tests::near;

namespace {

// The config.json of the models' pages, by what says anything of their sizes.
Json falcon(const char* sizes) {
    Json config = json(R"({"model_type": "falcon_h1", "mamba_d_conv": 4, "mamba_expand": 2, "mamba_conv_bias": true,
        "mamba_proj_bias": false, "mamba_norm_before_gate": false, "mamba_chunk_size": 128, "attn_layer_indices": null,
        "tie_word_embeddings": false, "max_position_embeddings": 16384})");
    config.update(json(sizes));
    return config;
}
const char* const kHalf = R"({"hidden_size": 1024, "intermediate_size": 2048, "num_hidden_layers": 36, "num_attention_heads": 8,
    "num_key_value_heads": 2, "head_dim": 64, "vocab_size": 32784, "mamba_d_ssm": 1536, "mamba_n_heads": 24, "mamba_d_head": 64,
    "mamba_d_state": 128, "mamba_n_groups": 1, "mamba_rms_norm": false})";
const char* const kSeven = R"({"hidden_size": 3072, "intermediate_size": 12288, "num_hidden_layers": 44, "num_attention_heads": 12,
    "num_key_value_heads": 2, "head_dim": 128, "vocab_size": 130049, "mamba_d_ssm": 3072, "mamba_n_heads": 24, "mamba_d_head": 128,
    "mamba_d_state": 256, "mamba_n_groups": 1, "mamba_rms_norm": true})";
const char* const kLarge = R"({"hidden_size": 5120, "intermediate_size": 21504, "num_hidden_layers": 72, "num_attention_heads": 20,
    "num_key_value_heads": 4, "head_dim": 128, "vocab_size": 261120, "mamba_d_ssm": 4096, "mamba_n_heads": 32, "mamba_d_head": 128,
    "mamba_d_state": 256, "mamba_n_groups": 2, "mamba_rms_norm": true})";

Json lfm2(const char* sizes) {
    Json config = json(R"({"model_type": "lfm2", "vocab_size": 65536, "num_key_value_heads": 8, "num_hidden_layers": 16,
        "full_attn_idxs": [2, 5, 8, 10, 12, 14], "conv_L_cache": 3, "conv_bias": false, "block_auto_adjust_ff_dim": true,
        "block_multiple_of": 256, "block_ffn_dim_multiplier": 1.0, "max_position_embeddings": 128000})");
    config.update(json(sizes));
    return config;
}
Json named_layers(Json config, std::initializer_list<std::size_t> full) {
    std::vector<std::string> types(config["num_hidden_layers"], "conv");
    for (const std::size_t layer : full) types[layer] = "full_attention";
    config.erase("full_attn_idxs");
    config["layer_types"] = types;
    return config;
}
const char* const kOne = R"({"hidden_size": 2048, "block_ff_dim": 12288, "num_attention_heads": 32})";
Json lfm2_of_2b() {
    return named_layers(lfm2(R"({"hidden_size": 2048, "block_ff_dim": 10752, "block_auto_adjust_ff_dim": false, "num_attention_heads": 32,
                                 "num_hidden_layers": 30})"),
                        {2, 5, 9, 13, 17, 21, 25, 28});
}
Json lfm2_experts() {
    return named_layers(json(R"({"model_type": "lfm2_moe", "hidden_size": 2048, "intermediate_size": 7168, "moe_intermediate_size": 1792,
        "num_hidden_layers": 24, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 65536, "conv_L_cache": 3,
        "conv_bias": false, "num_dense_layers": 2, "num_experts": 32, "num_experts_per_tok": 4, "use_expert_bias": true})"),
                        {2, 6, 10, 14, 18, 21});
}

}  // namespace

TEST_CASE("side by side: the number of weights, by hand and as published") {
    // of a state space of one group, 24 heads of 64, 128 values: the first matrix writes 2 * 1536 + 2 * 128 + 24 = 3352, the convolution's
    // taps and bias are of 1792; three numbers for a head; attention; three matrices; two norms
    const std::int64_t space = 1'024 * (3'352 + 1'536) + 5 * 1'792 + 3 * 24, attention = 1'024 * 64 * (2 * 8 + 2 * 2);
    const std::int64_t all = 36 * (space + attention + 3 * 1'024 * 2'048 + 2 * 1'024) + 1'024 + 2 * 32'784 * 1'024;
    CHECK(all == 521'411'104);
    CHECK(import(falcon(kHalf)).parameters() == all);  // the safetensors file of tiiuae/Falcon-H1-0.5B-Base
    // 7.59 and 33.6 billion on the pages of tiiuae/Falcon-H1-7B-Base and 34B-Base, with a norm over all heads
    CHECK(import(falcon(kSeven)).parameters() == 7'585'654'880);
    CHECK(import(falcon(kLarge)).parameters() == 33'642'516'224);
}

TEST_CASE("side by side: every layer has both") {
    const Import i = import(falcon(kHalf));
    REQUIRE(i.model);
    const Model& m = *i.model;
    CHECK((m.linear.beside && m.linear.is_mamba() && !m.linear.norm && m.linear.count == 36));
    CHECK((linear_part(m) == 1 && full_part(m) == 1));
    CHECK(i.report.assumed.empty());
    // four taps; x into the state of 128 and out of it
    CHECK(attention_weights(m) == near(1'024.0 * 64 * 20 + 1'024 * (3'352 + 1'536) + 4 * 1'792 + 2.0 * 1'536 * 128));
    CHECK(score_width(m) == 2 * 8 * 64);
    Json bare = falcon(kHalf);  // the width of a head is that of all over their number
    bare["mamba_d_head"] = "auto", bare.erase("mamba_rms_norm");
    CHECK(import(bare).parameters() == i.parameters());
    bare["layers_block_type"] = std::vector<std::string>(36, "hybrid");
    CHECK(import(bare).parameters() == i.parameters());
    bare["mamba_proj_bias"] = true;
    CHECK(brief(import(bare).problems) == "mamba_proj_bias unsupported true -> null");
}

// As the page of LiquidAI/LFM2-350M lists them for the four dense models; LFM2-8B-A1B's says 8.3 billion, 1.5 active. Its bias for experts
// is no weight.
TEST_CASE("convolutions: the published number of weights") {
    CHECK(import(lfm2(R"({"hidden_size": 1024, "block_ff_dim": 6656, "num_attention_heads": 16})")).parameters() == 354'483'968);
    CHECK(import(lfm2(R"({"hidden_size": 1536, "block_ff_dim": 10240, "num_attention_heads": 24})")).parameters() == 742'489'344);
    CHECK(import(lfm2(kOne)).parameters() == 1'170'340'608);
    CHECK(import(lfm2_of_2b()).parameters() == 2'569'272'320);
    const Import experts = import(lfm2_experts());
    CHECK(experts.parameters() == 8'339'929'856);
    REQUIRE(experts.model);
    CHECK(static_cast<double>(active_parameters(*experts.model)) / 1e9 == doctest::Approx(1.5).epsilon(0.05));  // 1.5 on its page
}

TEST_CASE("convolutions: layers and widths") {
    const Import i = import(lfm2(kOne));
    REQUIRE(i.model);
    const LinearAttention& l = i.model->linear;
    CHECK((l.is_convolution() && l.count == 10 && l.layers[2] == 0 && l.layers[3] == 1));
    CHECK((l.in() == 3 * 2'048 && l.mixed() == 2'048 && l.values() == 2'048 && l.taps == 3));
    CHECK(i.model->ffn == 8'192);  // two thirds
    CHECK((i.model->tied && i.model->qk_norm));
    // 2048 to 6144 and 2048 to 2048, three taps; attention of 32 and 8 heads of 64
    CHECK(attention_weights(*i.model) == near((10 * (2'048.0 * 8'192 + 3 * 2'048) + 6 * 2'048.0 * 64 * 80) / 16));
    CHECK(import(named_layers(lfm2(kOne), {2, 5, 8, 10, 12, 14})).parameters() == i.parameters());
    Json other = lfm2(kOne);
    other["block_ff_dim"] = 12'289, other["block_ffn_dim_multiplier"] = 1.3;
    CHECK(import(other).model->ffn == 10'752);  // 8192 * 1.3 = 10649
    other["tie_embedding"] = false;
    CHECK_FALSE(import(other).model->tied);
    other["full_attn_idxs"] = nullptr;  // attention in all
    CHECK_FALSE(import(other).model->linear.any());
    other["conv_bias"] = true;
    CHECK(brief(import(other).problems) == "conv_bias unsupported true -> null");
    CHECK(brief(import(R"({"model_type": "new", "hidden_size": 1024, "conv_L_cache": 3})").problems) ==
          "conv_L_cache unsupported 3 -> null");
}

TEST_CASE("side by side, convolutions: a model is written as the keys that give it again") {
    Json all = lfm2(kOne), none = lfm2(kOne);
    all["full_attn_idxs"] = nullptr, none["full_attn_idxs"] = Json::array();
    for (const Json& config : {falcon(kHalf), falcon(kSeven), lfm2(kOne), lfm2_of_2b(), lfm2_experts(), all, none}) {
        const Import i = import(config);
        REQUIRE(i.model);
        const Json canonical = canonical_config(*i.model);
        CAPTURE(canonical);
        const Import again = import(canonical);
        REQUIRE(again.model);
        CHECK(canonical_config(*again.model) == canonical);
        CHECK(again.parameters() == i.parameters());
        CHECK(again.model->linear.layers == i.model->linear.layers);
        CHECK((again.report.assumed.empty() && again.report.ignored.empty()));
        for (const Json& value : canonical) CHECK_FALSE(value.is_structured());  // a link holds no other
    }
}
