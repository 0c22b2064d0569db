// Models of which some layers have a state space or Kimi's delta attention: their keys, the layers, the weights.
#include <doctest/doctest.h>

#include "model/model_import.h"
#include "model/operations.h"
#include "near.h"
#include "plan/rules.h"
#include "random_cases.h"

using namespace fourfold;
using tests::brief;
using tests::import;
using tests::Import;
using tests::json;
using tests::near;

namespace {

// The config.json of the models' pages, by what says anything of their sizes.
Json granite(const char* sizes) {
    Json config = json(R"({"model_type": "granitemoehybrid", "hidden_act": "silu", "vocab_size": 100352, "num_hidden_layers": 40,
        "mamba_chunk_size": 256, "mamba_conv_bias": true, "mamba_d_conv": 4, "mamba_d_state": 128, "mamba_expand": 2, "mamba_n_groups": 1,
        "mamba_proj_bias": false, "position_embedding_type": "nope", "attention_bias": false, "tie_word_embeddings": true,
        "max_position_embeddings": 131072})");
    std::vector<std::string> types(40, "mamba");
    for (const std::size_t full : {5, 15, 25, 35}) types[full] = "attention";
    config["layer_types"] = types;
    config.update(json(sizes));
    return config;
}
const char* const kSmall = R"({"hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8, "mamba_n_heads": 128,
    "mamba_d_head": 64, "intermediate_size": 768, "shared_intermediate_size": 1536, "num_local_experts": 72, "num_experts_per_tok": 10})";
const char* const kTiny = R"({"hidden_size": 1536, "num_attention_heads": 12, "num_key_value_heads": 4, "mamba_n_heads": 48,
    "mamba_d_head": 64, "intermediate_size": 512, "shared_intermediate_size": 1024, "num_local_experts": 64, "num_experts_per_tok": 6})";
const char* const kMicro = R"({"hidden_size": 2048, "num_attention_heads": 32, "num_key_value_heads": 8, "mamba_n_heads": 64,
    "mamba_d_head": 64, "intermediate_size": 8192, "shared_intermediate_size": 8192, "num_local_experts": 0, "num_experts_per_tok": 0})";
const char* const kBamba = R"({"model_type": "bamba", "attn_layer_indices": [9, 18, 27], "hidden_size": 4096, "intermediate_size": 14336,
    "mamba_chunk_size": 256, "mamba_conv_bias": true, "mamba_d_conv": 4, "mamba_d_head": "auto", "mamba_d_state": 128, "mamba_expand": 2,
    "mamba_n_groups": 1, "mamba_n_heads": 128, "mamba_proj_bias": false, "num_attention_heads": 32, "num_hidden_layers": 32,
    "num_key_value_heads": 8, "tie_word_embeddings": false, "vocab_size": 128256})";
const char* const kKimi = R"({"model_type": "kimi_linear", "first_k_dense_replace": 1, "head_dim": 72, "hidden_size": 2304,
    "intermediate_size": 9216, "kv_lora_rank": 512, "linear_attn_config": {
        "full_attn_layers": [4, 8, 12, 16, 20, 24, 27], "head_dim": 128,
        "kda_layers": [1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 17, 18, 19, 21, 22, 23, 25, 26], "num_heads": 32,
        "short_conv_kernel_size": 4},
    "mla_use_nope": true, "moe_intermediate_size": 1024, "moe_layer_freq": 1, "num_attention_heads": 32, "num_expert_group": 1,
    "num_experts": 256, "num_experts_per_token": 8, "num_hidden_layers": 27, "num_key_value_heads": 32, "num_nextn_predict_layers": 0,
    "num_shared_experts": 1, "q_lora_rank": null, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "tie_word_embeddings": false,
    "topk_group": 1, "v_head_dim": 128, "vocab_size": 163840})";

}  // namespace

// The numbers of weights in the safetensors files of the models' pages.
TEST_CASE("mixers: the published number of weights") {
    CHECK(import(granite(kSmall)).parameters() == 32'207'337'984);  // ibm-granite/granite-4.0-h-small
    CHECK(import(granite(kTiny)).parameters() == 6'939'037'248);    // ibm-granite/granite-4.0-h-tiny-base
    CHECK(import(granite(kMicro)).parameters() == 3'191'396'096);   // ibm-granite/granite-4.0-h-micro
    CHECK(import(kKimi).parameters() == 49'122'681'728);            // moonshotai/Kimi-Linear-48B-A3B-Instruct
    CHECK(import(kBamba).parameters() == 9'780'235'392);            // ibm-ai-platform/Bamba-9B: 9.78B on its page
    // 9B, 1B, 3B on their pages; of Kimi's 3.1 and embedding and head, which it leaves out
    CHECK(active_parameters(*import(granite(kSmall)).model) == 32'207'337'984 - 40LL * 62 * 3 * 4096 * 768);
    CHECK(active_parameters(*import(kKimi).model) == 49'122'681'728 - 26LL * 248 * 3 * 2304 * 1024);
}

TEST_CASE("mixers: a state space's layers and widths") {
    const Import i = import(granite(kSmall));
    REQUIRE(i.model);
    const LinearAttention& l = i.model->linear;
    CHECK(l.is_mamba());
    CHECK(l.count == 36);
    CHECK(l.layers[5] == 0);
    CHECK(l.in() == 2 * 8'192 + 2 * 128 + 128);  // z and x, B and C, dt
    CHECK(l.mixed() == 8'192 + 2 * 128);
    CHECK(l.chunk == 256);
    CHECK(l.bias);
    CHECK(i.used("mamba_d_head"));
    CHECK(i.ignored("position_embedding_type"));
    // width of a head: said, "auto", or not there
    Json config = granite(kSmall);
    for (const char* width : {"\"auto\"", "null"}) {
        config["mamba_d_head"] = json(width);
        CHECK(import(config).parameters() == i.parameters());
    }
    config["mamba_n_heads"] = 96;  // does not divide 8192
    CHECK(brief(import(config).problems) == "mamba_d_head missing null -> null");
    config["mamba_n_heads"] = 128, config["mamba_n_groups"] = 3;
    CHECK(brief(import(config).problems) == "mamba_n_heads range 128 -> 126");
    // what a file leaves out is the class's
    Json bare = json(kBamba);
    for (const char* key : {"attn_layer_indices", "mamba_d_state", "mamba_n_heads"}) bare.erase(key);
    const Import all = import(bare);
    REQUIRE(all.model);
    CHECK(all.model->linear.count == 32);
    CHECK(all.assumed("mamba_d_state") == 256);
    bare["attn_layer_indices"] = {9, 32};
    CHECK(brief(import(bare).problems) == "attn_layer_indices type null -> null");
}

TEST_CASE("mixers: Kimi's layers and widths") {
    const Import i = import(kKimi);
    REQUIRE(i.model);
    const LinearAttention& l = i.model->linear;
    CHECK(l.is_kimi());
    CHECK(l.count == 20);
    CHECK(std::vector<std::uint8_t>(l.layers.begin() + 22, l.layers.end()) == std::vector<std::uint8_t>{1, 0, 1, 1, 0});
    CHECK(l.in() == 3 * 4'096 + 32 + 2 * 128);  // queries, keys, values, beta, and the insides of two gates
    CHECK(l.gates() == 128 * 2 * 4'096);
    CHECK(i.model->latent.q_rank == 0);
    CHECK(i.model->ffn == 9'216);
    CHECK(i.model->expert_layers.count() == 26);
    Json config = json(kKimi);
    config["linear_attn_config"] = nullptr;  // latent attention in every layer
    REQUIRE(import(config).model);
    CHECK_FALSE(import(config).model->linear.any());
    const auto refused = [](const char* change) {
        Json other = json(kKimi);
        other["linear_attn_config"].update(json(change));
        const Import no = import(other);
        REQUIRE(no.problems.size() == 1);
        return tests::said(no.problems[0].message.json());
    };
    for (const char* change : {R"({"use_full_rank_gate": true})", R"({"kda_layers": [0, 1]})", R"({"kda_layers": [28]})",
                               R"({"num_heads": null})", R"({"head_dim": 100000})"})
        CHECK(refused(change) == R"(problem.unsupported.linear_attention {"key":"linear_attn_config"})");
}

TEST_CASE("mixers: a model is written as the keys that give it again") {
    std::vector<Json> configs = {granite(kSmall), granite(kTiny), granite(kMicro), json(kBamba), json(kKimi)};
    configs.push_back(granite(kMicro));
    configs.back()["layer_types"] = std::vector<std::string>(40, "attention");
    configs.push_back(granite(kMicro));
    configs.back()["mamba_conv_bias"] = false, configs.back()["shared_intermediate_size"] = 4'096;
    configs.push_back(json(kBamba));
    configs.back()["layers_block_type"] = std::vector<std::string>(32, "mamba");
    for (const Json& config : configs) {
        const Import i = import(config);
        REQUIRE(i.model);
        const Json canonical = canonical_config(*i.model);
        const Import again = import(canonical);
        REQUIRE(again.model);
        CHECK(canonical_config(*again.model) == canonical);
        CHECK(again.parameters() == i.parameters());
        CHECK(again.model->linear.layers == i.model->linear.layers);
        CHECK(again.model->linear.kind == i.model->linear.kind);
        CHECK(again.report.assumed.empty());
        for (const Json& value : canonical) CHECK_FALSE(value.is_structured());  // a link holds no other
    }
    CHECK(canonical_config(*import(configs[0]).model)["attn_layer_indices"] == "5,15,25,35");
    CHECK(canonical_config(*import(kKimi).model)["attn_layer_indices"] == "3,7,11,15,19,23,26");
    CHECK_FALSE(canonical_config(*import(configs.back()).model).contains("attn_layer_indices"));
    Json one = json(kBamba);
    for (const char* list : {"9", "\"9\"", "[9]"}) {  // a link says a number
        one["attn_layer_indices"] = json(list);
        CHECK(import(one).model->linear.count == 31);
    }
    one["attn_layer_indices"] = "9,,";
    CHECK(brief(import(one).problems) == "attn_layer_indices type \"9,,\" -> null");
}

TEST_CASE("mixers: without experts Granite's shared one is the feed-forward part") {
    Json config = granite(kMicro);
    config["shared_intermediate_size"] = 4'096;
    CHECK(import(config).model->ffn == 4'096);
    CHECK(import(config).parameters() == 3'191'396'096 - 40LL * 3 * 2'048 * 4'096);
}

TEST_CASE("mixers: operations of a token, and heads that tensor parallelism divides") {
    const Model granite_small = *import(granite(kSmall)).model, kimi = *import(kKimi).model;
    // full: 4096 * (2 * 32 + 2 * 8) * 128; else 4096 * (16768 + 8192), four taps, x into the state of 128 and out of it
    const double full = 4'096.0 * 80 * 128, state = 4'096.0 * 24'960 + 4 * 8'448 + 2.0 * 8'192 * 128;
    CHECK(attention_weights(granite_small) == near(0.1 * full + 0.9 * state));
    // latent: 2304 * 32 * 192, 2304 * 576, 512 * 32 * 256, 32 * 128 * 2304; else two matrices, gates, taps, four products of 4096 and 128
    const double latent = 14'155'776.0 + 1'327'104 + 4'194'304 + 9'437'184;
    const double delta = 2'304.0 * (12'576 + 4'096) + 1'048'576 + 4 * 12'288 + 4.0 * 4'096 * 128;
    CHECK(attention_weights(kimi) == near((7 * latent + 20 * delta) / 27));
    Plan plan;
    const auto goes = [&](const Model& model, std::int64_t tensor) {
        plan.tensor_parallel = tensor;
        return check_tensor_rules(model, plan, [](Rule, bool holds) { return holds; });
    };
    CHECK(goes(granite_small, 1));
    CHECK_FALSE(goes(granite_small, 2));  // one group (Megatron-LM, core/ssm/mamba_mixer.py)
    CHECK(goes(kimi, 8));
}

// transformers, models/jamba, zamba2, configuration_*.py; flash-linear-attention, fla/models/kda
TEST_CASE("mixers: other state spaces stay refused by their names") {
    const auto refused = [](const char* config) {
        std::string all;
        for (const Problem& problem : import(config).problems)
            all += (all.empty() ? "" : " ") + problem.field + " " + to_json(problem)["message"]["id"].get<std::string>();
        return all;
    };
    CHECK(refused(R"({"model_type": "jamba", "hidden_size": 4096, "mamba_d_state": 16, "attn_layer_period": 8})") ==
          "model_type problem.unsupported.other_layers mamba_d_state problem.unsupported.state_space");
    CHECK(refused(R"({"model_type": "zamba2", "hidden_size": 2048, "mamba_d_state": 64, "layers_block_type": ["mamba", "hybrid"]})") ==
          "mamba_d_state problem.unsupported.state_space");
    CHECK(refused(R"({"model_type": "bamba2", "hidden_size": 4480, "ssm_state_size": 128})") ==
          "ssm_state_size problem.unsupported.state_space");
    CHECK(refused(R"({"model_type": "kda", "hidden_size": 2048, "num_heads": 16, "num_hidden_layers": 24, "vocab_size": 32000})") ==
          "model_type problem.unsupported.other_layers");
    Json biased = granite(kSmall);
    biased["mamba_proj_bias"] = true;
    CHECK(brief(import(biased).problems) == "mamba_proj_bias unsupported true -> null");
    Json hybrid = granite(kSmall);
    hybrid["layer_types"][3] = "hybrid";
    CHECK(brief(import(hybrid).problems) == "layer_types unsupported \"hybrid\" -> null");
}
