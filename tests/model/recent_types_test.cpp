// config.json files of models of 2025 and 2026: known types with their published numbers of weights, and refusals.
#include <doctest/doctest.h>

#include <string>

#include "model/model_import.h"
#include "random_cases.h"

using namespace fourfold;
using tests::brief;
using tests::import;
using tests::Import;
using tests::json;

namespace {

std::string refusals(const char* config) {
    std::string all;
    for (const Problem& problem : import(config).problems)
        all += (all.empty() ? "" : " ") + problem.field + " " + to_json(problem)["message"]["id"].get<std::string>();
    return all;
}

}  // namespace

// The number of weights of the safetensors files on the model's page, unless another source is named. The keys are those of its config.json
// that say anything of its size.
TEST_CASE("recent types: the published number of weights, of a type that is known") {
    struct Row {
        const char* name;
        std::int64_t parameters;
        const char* config;
    };
    const Row rows[] = {
        // 8,053,338,176 with the two numbers that each layer's xIELU learns
        {"swiss-ai/Apertus-8B-2509", 8'053'338'176 - 2 * 32,
         R"({"model_type": "apertus", "hidden_size": 4096, "intermediate_size": 21504, "num_attention_heads": 32, "num_key_value_heads": 8,
             "num_hidden_layers": 32, "vocab_size": 131072, "hidden_act": "xielu", "attention_bias": false, "mlp_bias": false,
             "qk_norm": true, "post_norm": false, "tie_word_embeddings": false})"},
        {"MiniMaxAI/MiniMax-M2", 228'689'764'864,
         R"({"model_type": "minimax_m2", "hidden_size": 3072, "intermediate_size": 1536, "num_attention_heads": 48,
             "num_key_value_heads": 8, "head_dim": 128, "num_hidden_layers": 62, "vocab_size": 200064, "num_local_experts": 256,
             "num_experts_per_tok": 8, "attn_type_list": [1, 1, 1, 1, 1, 1, 1, 1], "use_qk_norm": true, "qk_norm_type": "per_layer",
             "use_routing_bias": true, "shared_intermediate_size": 0, "num_mtp_modules": 3, "tie_word_embeddings": false})"},
        {"ByteDance-Seed/Seed-OSS-36B-Base", 36'151'104'512,
         R"({"model_type": "seed_oss", "hidden_size": 5120, "intermediate_size": 27648, "num_attention_heads": 80,
             "num_key_value_heads": 8, "head_dim": 128, "num_hidden_layers": 64, "vocab_size": 155136, "attention_bias": true,
             "attention_out_bias": false, "mlp_bias": false, "tie_word_embeddings": false})"},
        // the file says nothing of tied embeddings: the class ties them; transformers, models/cohere/modular_cohere.py
        {"CohereLabs/aya-expanse-8b", 8'028'033'024,
         R"({"model_type": "cohere", "hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32, "num_key_value_heads": 8,
             "num_hidden_layers": 32, "vocab_size": 256000, "attention_bias": false, "logit_scale": 0.125, "use_qk_norm": false})"},
        // 111B in its report, arXiv 2504.00698; here the sum over its matrices and norms
        {"CohereLabs/c4ai-command-a-03-2025", 111'057'580'032,
         R"({"model_type": "cohere2", "hidden_size": 12288, "intermediate_size": 36864, "num_attention_heads": 96,
             "num_key_value_heads": 8, "head_dim": 128, "num_hidden_layers": 64, "vocab_size": 256000, "attention_bias": false,
             "sliding_window": 4096, "sliding_window_pattern": 4})"},
        {"zai-org/GLM-4-9B-0414", 9'400'279'040,
         R"({"model_type": "glm4", "hidden_size": 4096, "intermediate_size": 13696, "num_attention_heads": 32, "num_key_value_heads": 2,
             "head_dim": 128, "num_hidden_layers": 40, "vocab_size": 151552, "attention_bias": true, "tie_word_embeddings": false})"},
        {"allenai/Olmo-3-1025-7B", 7'298'011'136,
         R"({"model_type": "olmo3", "hidden_size": 4096, "intermediate_size": 11008, "num_attention_heads": 32, "num_key_value_heads": 32,
             "num_hidden_layers": 32, "vocab_size": 100278, "attention_bias": false, "sliding_window": 4096,
             "tie_word_embeddings": false})"},
        {"allenai/Olmo-3-1125-32B", 32'233'522'176,
         R"({"model_type": "olmo3", "hidden_size": 5120, "intermediate_size": 27648, "num_attention_heads": 40, "num_key_value_heads": 8,
             "num_hidden_layers": 64, "vocab_size": 100278, "attention_bias": false, "sliding_window": 4096,
             "tie_word_embeddings": false})"},
        // its text part, which tensors of the file are summed for: 3,849,090,048 with the one for pictures
        {"mistralai/Ministral-3-3B-Base-2512", 3'429'006'336,
         R"({"model_type": "mistral3", "tie_word_embeddings": true, "vision_config": {"hidden_size": 1024},
             "text_config": {"model_type": "ministral3", "hidden_size": 3072, "intermediate_size": 9216, "num_attention_heads": 32,
                             "num_key_value_heads": 8, "head_dim": 128, "num_hidden_layers": 26, "vocab_size": 131072,
                             "sliding_window": null}})"},
        // as Qwen3-8B and Qwen3-30B-A3B
        {"Qwen/Qwen3-VL-8B-Instruct", 8'190'735'360,
         R"({"model_type": "qwen3_vl", "tie_word_embeddings": false, "vision_config": {"depth": 27},
             "text_config": {"model_type": "qwen3_vl_text", "hidden_size": 4096, "intermediate_size": 12288, "num_attention_heads": 32,
                             "num_key_value_heads": 8, "head_dim": 128, "num_hidden_layers": 36, "vocab_size": 151936,
                             "attention_bias": false}})"},
        {"Qwen/Qwen3-VL-30B-A3B-Instruct", 30'532'122'624,
         R"({"model_type": "qwen3_vl_moe", "vision_config": {"depth": 27},
             "text_config": {"model_type": "qwen3_vl_moe_text", "hidden_size": 2048, "intermediate_size": 6144,
                             "moe_intermediate_size": 768, "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128,
                             "num_hidden_layers": 48, "vocab_size": 151936, "num_experts": 128, "num_experts_per_tok": 8,
                             "decoder_sparse_step": 1, "mlp_only_layers": [], "attention_bias": false}})"},
        // as Qwen2.5-7B
        {"Qwen/Qwen2.5-VL-7B-Instruct", 7'615'616'512,
         R"({"model_type": "qwen2_5_vl", "hidden_size": 3584, "intermediate_size": 18944, "num_attention_heads": 28,
             "num_key_value_heads": 4, "num_hidden_layers": 28, "vocab_size": 152064, "use_sliding_window": false,
             "sliding_window": 32768, "max_window_layers": 28, "tie_word_embeddings": false, "vision_config": {"depth": 32}})"},
    };
    for (const Row& row : rows) {
        CAPTURE(std::string(row.name));
        const Import i = import(row.config);
        CHECK(brief(i.problems) == "");
        CHECK(i.parameters() == row.parameters);
        CHECK(i.assumed("model_type").is_null());
        CHECK(!i.ignored("vision_config"));  // it counts, though not here
    }
}

TEST_CASE("recent types: published to a few digits") {
    const auto billions = [](const char* config) { return static_cast<double>(import(config).parameters()) / 1e9; };
    // ERNIE 4.5 report, table of models: 21B and 3B activated, 300B and 47B; transformers, models/ernie4_5_moe
    const char* const kErnie = R"({"model_type": "ernie4_5_moe", "hidden_size": 2560, "intermediate_size": 12288,
        "num_attention_heads": 20, "num_key_value_heads": 4, "num_hidden_layers": 28, "vocab_size": 103424, "use_bias": false,
        "moe_num_experts": 64, "moe_k": 6, "moe_intermediate_size": 1536, "moe_num_shared_experts": 2, "moe_layer_start_index": 1,
        "moe_layer_end_index": 27, "moe_layer_interval": 1})";
    const Import ernie = import(kErnie);
    REQUIRE(ernie.model);
    CHECK(billions(kErnie) == doctest::Approx(21.8).epsilon(0.003));
    // activated: without the embedding
    CHECK(static_cast<double>(active_parameters(*ernie.model) - 103'424 * 2'560) / 1e9 == doctest::Approx(3.1).epsilon(0.01));
    CHECK((ernie.model->tied && !ernie.model->expert_layers.has_experts(0) && ernie.model->expert_layers.count() == 27));
    Json other = json(kErnie);
    other["moe_layer_interval"] = 2;
    CHECK(import(other).model->expert_layers.count() == 14);  // layers 1, 3, ... 27
    other["moe_layer_end_index"] = 20;
    CHECK(brief(import(other).problems) == "moe_num_experts unsupported 64 -> null");
    // Trinity Mini: 26B (its page); the gate of attention is 0.27 of them; transformers, models/afmoe/modular_afmoe.py
    const char* const kTrinity = R"({"model_type": "afmoe", "hidden_size": 2048, "intermediate_size": 6144, "moe_intermediate_size": 1024,
        "num_hidden_layers": 32, "num_dense_layers": 2, "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128,
        "num_experts": 128, "num_experts_per_tok": 8, "num_shared_experts": 1, "vocab_size": 200192, "sliding_window": 2048,
        "global_attn_every_n_layers": 4, "tie_word_embeddings": false})";
    CHECK(billions(kTrinity) == doctest::Approx(26.12).epsilon(0.001));
    CHECK((import(kTrinity).model->attention_gate && import(kTrinity).model->norms_per_layer == 4));
    // Hunyuan-A13B, 80.4B (its page): numbers per layer. Hunyuan-Large, 389B: arXiv 2411.02265
    CHECK(billions(R"({"model_type": "hunyuan_v1_moe", "hidden_size": 4096, "intermediate_size": 3072, "num_attention_heads": 32,
        "num_key_value_heads": 8, "head_dim": 128, "num_hidden_layers": 32, "vocab_size": 128167, "use_qk_norm": true,
        "num_experts": 64, "moe_topk": [8, 8, 8], "moe_intermediate_size": [3072, 3072, 3072], "num_shared_expert": [1, 1, 1],
        "tie_word_embeddings": true})") == doctest::Approx(80.4).epsilon(0.001));
    CHECK(billions(R"({"model_type": "hunyuan", "hidden_size": 6400, "intermediate_size": 18304, "num_attention_heads": 80,
        "num_key_value_heads": 8, "num_hidden_layers": 64, "vocab_size": 129024, "use_qk_norm": true, "use_cla": true,
        "num_experts": 16, "moe_topk": 1, "num_shared_expert": 1, "tie_word_embeddings": true})") == doctest::Approx(389).epsilon(0.003));
    // IBM Granite 4.0 Micro, 3,402,836,480 weights: the keys of a model with state spaces, and no layer with them
    Json granite = json(R"({"model_type": "granitemoehybrid", "hidden_size": 2560, "intermediate_size": 8192,
        "shared_intermediate_size": 8192, "num_attention_heads": 40, "num_key_value_heads": 8, "num_hidden_layers": 40,
        "vocab_size": 100352, "num_local_experts": 0, "num_experts_per_tok": 0, "mamba_d_state": 256, "tie_word_embeddings": true})");
    granite["layer_types"] = std::vector<std::string>(40, "attention");
    CHECK(import(granite).parameters() == 3'402'836'480);
    CHECK(import(granite).model->type == "granitemoehybrid");
}

TEST_CASE("recent types: which layers have experts") {
    const char* const kM3 = R"({"hidden_size": 256, "intermediate_size": 64, "dense_intermediate_size": 512, "num_attention_heads": 8,
        "num_key_value_heads": 4, "num_hidden_layers": 4, "vocab_size": 1000, "num_local_experts": 8, "num_experts_per_tok": 2,
        "shared_intermediate_size": 64, "moe_layer_freq": [0, 1, 1, 0], "sparse_attention_config": {"sparse_block_size": 128}})";
    const Import m3 = import(kM3);  // MiniMax-M3's text_config has these keys and no model_type
    REQUIRE(m3.model);
    CHECK((m3.model->ffn == 512 && m3.model->experts.ffn == 64 && m3.model->expert_layers == ExpertLayers{0, 1, 1, 0}));
    CHECK(!m3.ignored("sparse_attention_config"));
    Json kinds = json(kM3);
    kinds.erase("moe_layer_freq");
    kinds["mlp_layer_types"] = {"dense", "dense", "sparse", "sparse"};
    CHECK(import(kinds).model->expert_layers == ExpertLayers{0, 0, 1, 1});
}

TEST_CASE("recent types: read by their own family, not by numbers alone") {
    const auto reads = [](const char* config) {
        const Import i = import(config);
        CHECK(brief(i.problems) == "");
        CHECK(i.assumed("model_type").is_null());
        return i.parameters();
    };
    // 7.43 billion on the page of allenai/Olmo-Hybrid-7B: three layers of four have 30 heads of 96 and 192 values, their two matrices and
    // four taps, the others no gate; transformers, models/olmo_hybrid/modular_olmo_hybrid.py
    const std::int64_t linear = 3'840LL * (2 * (2'880 + 5'760) + 60 + 5'760) + 4 * 11'520 + 2 * 30 + 192,
                       feed_forward = 3LL * 3'840 * 11'008;
    const std::int64_t full = 4LL * 3'840 * 3'840 + 2 * 3'840, others = 65 * 3'840 + 2LL * 100'352 * 3'840;
    CHECK(reads(R"({"model_type": "olmo_hybrid", "hidden_size": 3840, "intermediate_size": 11008, "num_attention_heads": 30,
        "num_hidden_layers": 32, "vocab_size": 100352, "linear_num_key_heads": 30, "linear_num_value_heads": 30,
        "linear_key_head_dim": 96, "linear_value_head_dim": 192, "linear_conv_kernel_dim": 4, "tie_word_embeddings": false})") ==
          24 * linear + 8 * full + 32 * feed_forward + others);
    // LGAI-EXAONE/EXAONE-4.0-32B; its pattern is a text
    const char* const kExaone = R"({"model_type": "exaone4", "hidden_size": 5120, "intermediate_size": 27392, "num_hidden_layers": 64,
        "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 102400, "sliding_window": 4096,
        "sliding_window_pattern": "LLLG", "tie_word_embeddings": false})";
    CHECK(reads(kExaone) == 32'003'216'384);
    CHECK(windowed_share(*import(kExaone).model) == 0.75);
    Json other = json(kExaone);
    other["sliding_window_pattern"] = "LGLL";
    CHECK(brief(import(other).problems) == "sliding_window_pattern type \"LGLL\" -> null");
    // zai-org/GLM-4.1V-9B-Base and GLM-4.5V: the text parts are GLM-4-9B and GLM-4.5-Air
    CHECK(reads(R"({"model_type": "glm4v", "tie_word_embeddings": false, "vision_config": {"depth": 24}, "text_config": {
        "model_type": "glm4v_text", "hidden_size": 4096, "intermediate_size": 13696, "num_attention_heads": 32, "num_key_value_heads": 2,
        "num_hidden_layers": 40, "vocab_size": 151552, "attention_bias": true}})") == 9'400'279'040);
    CHECK(reads(R"({"model_type": "glm4v_moe", "tie_word_embeddings": false, "vision_config": {"depth": 24}, "text_config": {
        "model_type": "glm4v_moe_text", "hidden_size": 4096, "intermediate_size": 10944, "moe_intermediate_size": 1408,
        "num_attention_heads": 96, "num_key_value_heads": 8, "head_dim": 128, "num_hidden_layers": 46, "vocab_size": 151552,
        "n_routed_experts": 128, "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 1, "attention_bias": true,
        "use_qk_norm": false, "n_group": 1, "topk_group": 1}})") == 106'852'251'264);
    // deepseek-ai/DeepSeek-V3.2, without its indexer: as DeepSeek-V3
    CHECK(reads(R"({"model_type": "deepseek_v32", "hidden_size": 7168, "intermediate_size": 18432, "kv_lora_rank": 512, "q_lora_rank": 1536,
        "moe_intermediate_size": 2048, "n_group": 8, "n_routed_experts": 256, "n_shared_experts": 1, "num_attention_heads": 128,
        "num_experts_per_tok": 8, "num_hidden_layers": 61, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
        "topk_group": 4, "vocab_size": 129280, "first_k_dense_replace": 3, "index_topk": 2048, "tie_word_embeddings": false})") ==
          671'026'419'200);
    // deepseek-ai/DeepSeek-OCR: of a DeepSeek-V2 by its type, with ordinary attention; twelve layers of ten heads of 128
    const std::int64_t heads = 4LL * 1'280 * 1'280, expert = 3LL * 1'280 * 896;
    CHECK(reads(R"({"model_type": "deepseek_vl_v2", "vision_config": {"width": 1024}, "language_config": {"model_type": "deepseek_v2",
        "hidden_size": 1280, "intermediate_size": 6848, "moe_intermediate_size": 896, "num_hidden_layers": 12, "num_attention_heads": 10,
        "num_key_value_heads": 10, "n_routed_experts": 64, "n_shared_experts": 2, "num_experts_per_tok": 6, "first_k_dense_replace": 1,
        "kv_lora_rank": null, "q_lora_rank": null, "qk_nope_head_dim": 0, "qk_rope_head_dim": 0, "v_head_dim": 0, "use_mla": false,
        "vocab_size": 129280, "topk_method": "greedy"}})") ==
          12 * heads + 3LL * 1'280 * 6'848 + 11 * (66 * expert + 64 * 1'280) + 25 * 1'280 + 2LL * 129'280 * 1'280);
    // deepseek-ai/deepseek-moe-16b-base
    CHECK(reads(R"({"model_type": "deepseek", "hidden_size": 2048, "intermediate_size": 10944, "moe_intermediate_size": 1408,
        "num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 16, "n_routed_experts": 64, "n_shared_experts": 2,
        "num_experts_per_tok": 6, "first_k_dense_replace": 1, "vocab_size": 102400})") == 16'375'728'128);
    // THUDM/glm-4-9b names its words and groups in its own way: without the biases of its queries, keys and values
    CHECK(import(R"({"model_type": "chatglm", "hidden_size": 4096, "ffn_hidden_size": 13696, "num_layers": 40, "num_attention_heads": 32,
        "multi_query_attention": true, "multi_query_group_num": 2, "padded_vocab_size": 151552})")
              .parameters() == 9'399'951'360 - 40 * 4'608);
}

TEST_CASE("recent types: a text part within a part, and what stands beside it") {
    // Qwen3-Omni-30B-A3B: the text part of its thinker is as Qwen3-30B-A3B, with 128 more words
    const Import omni = import(R"({"model_type": "qwen3_omni_moe", "talker_config": {"model_type": "qwen3_omni_moe_talker"},
        "thinker_config": {"audio_config": {}, "text_config": {"model_type": "qwen3_omni_moe_text", "hidden_size": 2048,
            "intermediate_size": 768, "moe_intermediate_size": 768, "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128,
            "num_hidden_layers": 48, "vocab_size": 152064, "num_experts": 128, "num_experts_per_tok": 8}}})");
    CHECK(omni.parameters() == 30'532'122'624 + 2 * 128 * 2'048);
    const auto says_text_alone = [](const Import& i, const char* key) {
        return std::any_of(i.report.assumed.begin(), i.report.assumed.end(), [&](const auto& one) {
            return one.key == key && one.why.json().dump().find("import.text_alone") != std::string::npos;
        });
    };
    CHECK((says_text_alone(omni, "thinker_config") && says_text_alone(omni, "talker_config")));
    const char* const kPhi = R"({"model_type": "phi4mm", "hidden_size": 3072, "intermediate_size": 8192, "num_attention_heads": 24,
        "num_key_value_heads": 8, "num_hidden_layers": 32, "vocab_size": 200064, "tie_word_embeddings": true,
        "audio_processor": {"name": "cascades"}, "img_processor": null, "vision_config": null})";
    CHECK(import(kPhi).parameters() == 3'836'021'760);  // microsoft/Phi-4-mini-instruct
    CHECK(says_text_alone(import(kPhi), "audio_processor"));
    CHECK_FALSE(says_text_alone(import(kPhi), "vision_config"));
    // Llama 3.2 11B Vision: layers that attend to a picture are told as counted like the others
    CHECK(import(R"({"model_type": "mllama", "text_config": {"model_type": "mllama_text_model", "hidden_size": 4096,
        "intermediate_size": 14336, "num_attention_heads": 32, "num_key_value_heads": 8, "num_hidden_layers": 40, "vocab_size": 128256,
        "cross_attention_layers": [3, 8, 13, 18, 23, 28, 33, 38]}})")
              .report.assumed.size() >= 2);
}

TEST_CASE("recent types: refused by what they have") {
    // experts for pictures, too
    CHECK(refusals(R"({"model_type": "ernie4_5_moe_vl", "hidden_size": 2560, "moe_num_experts": [64, 64], "moe_k": 6,
        "moe_layer_end_index": [29, 28]})") == "moe_num_experts problem.unsupported.own_expert_rules");
    CHECK(refusals(R"({"model_type": "gemma4", "text_config": {"model_type": "gemma4_text", "global_head_dim": 512,
        "hidden_size_per_layer_input": 0}})") == "text_config.global_head_dim problem.unsupported.mixed_attention");
    CHECK(refusals(R"({"model_type": "gemma3n", "text_config": {"model_type": "gemma3n_text", "intermediate_size": [16384, 8192],
        "hidden_size_per_layer_input": 256}})") == "text_config.hidden_size_per_layer_input problem.unsupported.other_parts");
    CHECK(refusals(R"({"model_type": "deepseek_v4", "hidden_size": 4096, "compress_ratios": [0, 0, 4, 128]})") ==
          "compress_ratios problem.unsupported.mixed_attention");
    CHECK(refusals(R"({"model_type": "mimo_v2_flash", "hidden_size": 4096, "hybrid_layer_pattern": [0, 1, 1]})") ==
          "hybrid_layer_pattern problem.unsupported.mixed_attention");
    CHECK(refusals(R"({"model_type": "longcat_flash", "hidden_size": 6144, "zero_expert_num": 256})") ==
          "zero_expert_num problem.unsupported.own_expert_rules");
    CHECK(refusals(R"({"model_type": "step3p5", "hidden_size": 4096, "moe_num_experts": 288})") ==
          "moe_num_experts problem.unsupported.own_expert_rules");
    // Mistral's own params.json: its experts would not be counted
    CHECK(refusals(R"({"dim": 7168, "n_layers": 61, "kv_lora_rank": 512, "moe": {"num_experts": 128}})") ==
          "moe problem.unsupported.nested_feed_forward");
    CHECK(refusals(R"({"model_type": "nemotron-nas", "hidden_size": 8192, "block_configs": [{"ffn": {"ffn_mult": 5.25}}]})") ==
          "block_configs problem.unsupported.nested_feed_forward");
    CHECK(refusals(R"({"model_type": "minimax_m1", "hidden_size": 6144, "attn_type_list": [0, 1]})") ==
          "attn_type_list problem.unsupported.mixed_attention");
}

TEST_CASE("recent types: the canonical config of a model is that model") {
    tests::Random random(7);
    for (const char* type : {"cohere", "cohere2", "ernie4_5", "ernie4_5_moe", "apertus", "glm4", "exaone4", "olmo3", "afmoe",
                             "qwen3_vl_text", "qwen3_vl_moe_text", "minimax_m2", "seed_oss", "granite"})
        for (int n = 0; n < 40; ++n) {
            Json config = json(R"({"hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 6, "num_attention_heads": 8,
                                   "num_key_value_heads": 4, "vocab_size": 1000, "num_experts_per_tok": 2})");
            config["model_type"] = type;
            for (const char* name : {"attention_bias", "attention_out_bias", "use_qk_norm", "attn_output_gate", "tie_word_embeddings"})
                if (random.coin()) config[name] = random.coin();
            if (random.coin()) config["sliding_window"] = random.coin() ? Json(128) : Json();
            CAPTURE(config);
            const Import first = import(config);
            REQUIRE(first.model);
            const Json canonical = canonical_config(*first.model);
            CAPTURE(canonical);
            const Import again = import(canonical);
            REQUIRE(again.model);
            CHECK(canonical_config(*again.model) == canonical);
            CHECK((again.report.assumed.empty() && again.report.ignored.empty()));
            CHECK(again.parameters() == first.parameters());
            CHECK((again.model->qkv_bias == first.model->qkv_bias && again.model->attention_out_bias == first.model->attention_out_bias));
            CHECK((again.model->qk_norm == first.model->qk_norm && again.model->attention_gate == first.model->attention_gate));
            CHECK((again.model->window.layers == first.model->window.layers && again.model->expert_layers == first.model->expert_layers));
        }
}
