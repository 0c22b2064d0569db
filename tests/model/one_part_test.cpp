// Models whose layers are a mixer or a feed-forward part alone: their keys, the letters of the layers, the weights.
#include <doctest/doctest.h>

#include "model/model_import.h"
#include "model/operations.h"
#include "near.h"
#include "plan/rules.h"

using namespace fourfold;
using tests::brief;
using tests::import;
using tests::Import;
using tests::json;
using tests::near;

namespace {

// transformers, models/nemotron_h/configuration_nemotron_h.py: the keys; NVIDIA-NeMo/Megatron-Bridge,
// models/nemotronh/nemotron_h_provider.py: their values
Json nemotron(const char* parts, const char* sizes) {
    Json config = json(R"({"model_type": "nemotron_h", "vocab_size": 131072, "num_key_value_heads": 8, "head_dim": 128, "n_groups": 8,
        "mamba_num_heads": 128, "mamba_head_dim": 64, "ssm_state_size": 128, "conv_kernel": 4, "chunk_size": 128, "expand": 2,
        "use_conv_bias": true, "mlp_hidden_act": "relu2", "mamba_proj_bias": false, "tie_word_embeddings": false,
        "max_position_embeddings": 8192})");
    config["hybrid_override_pattern"] = parts;
    config.update(json(sizes));
    return config;
}
Json dense_8b() {
    return nemotron("M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-",
                    R"({"hidden_size": 4096, "intermediate_size": 21504, "num_attention_heads": 32, "num_hidden_layers": 52})");
}
Json dense_47b() {
    return nemotron("M-M-M-M-M-M-M-M-M*-M-M-M-M-M-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-M-M---MM---M-M*-M-M-M-M-M-",
                    R"({"hidden_size": 8192, "intermediate_size": 30720, "num_attention_heads": 64, "mamba_num_heads": 256,
                        "ssm_state_size": 256})");
}
Json dense_56b() {
    return nemotron(
        "M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-",
        R"({"hidden_size": 8192, "intermediate_size": 32768, "num_attention_heads": 64, "mamba_num_heads": 256,
                        "ssm_state_size": 256})");
}
Json dense_9b() {
    return nemotron("M-M-M-MM-M-M-M*-M-M-M*-M-M-M-M*-M-M-M-M*-M-MM-M-M-M-M-M-",
                    R"({"hidden_size": 4480, "intermediate_size": 15680, "num_attention_heads": 40, "mamba_head_dim": 80})");
}
Json dense_12b() {
    return nemotron("M-M-M-M*-M-M-M-M*-M-M-M-M*-M-M-M-M*-M-M-M-M*-M-M-M-M*-M-M-M-M-",
                    R"({"hidden_size": 5120, "intermediate_size": 20480, "num_attention_heads": 40, "mamba_head_dim": 80})");
}
Json experts_30b() {
    return nemotron("MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME",
                    R"({"hidden_size": 2688, "intermediate_size": 1856, "num_attention_heads": 32, "num_key_value_heads": 2,
                        "mamba_num_heads": 64, "n_routed_experts": 128, "num_experts_per_tok": 6, "n_shared_experts": 1,
                        "moe_intermediate_size": 1856, "moe_shared_expert_intermediate_size": 3712, "n_group": 1, "topk_group": 1,
                        "max_position_embeddings": 262144})");
}
// The same sources; llama.cpp prints 120.67 billion of its files
Json experts_120b() {
    return nemotron("MEMEMEM*EMEMEMEM*EMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEM*EMEMEMEME",
                    R"({"hidden_size": 4096, "intermediate_size": 2688, "num_attention_heads": 32, "num_key_value_heads": 2,
                        "num_hidden_layers": 88, "n_routed_experts": 512, "num_experts_per_tok": 22, "n_shared_experts": 1,
                        "moe_intermediate_size": 2688, "moe_shared_expert_intermediate_size": 5376, "moe_latent_size": 1024,
                        "n_group": 1, "topk_group": 1, "num_nextn_predict_layers": 1, "mtp_hybrid_override_pattern": "*E"})");
}
std::int64_t with(Json config, const char* key, Json value) {
    config[key] = std::move(value);
    return import(config).parameters();
}

}  // namespace

TEST_CASE("layers of one part: the number of weights, by hand and as published") {
    // of a state space of 8 groups, 128 heads of 64, 128 values: the first matrix writes 2 * 8192 + 2 * 1024 + 128 = 18560, the
    // convolution's four taps and bias are of 8192 + 2048; three numbers for a head, a norm over 8192, a norm of the layer
    const std::int64_t space = 4'096 * (18'560 + 8'192) + 5 * 10'240 + 3 * 128 + 8'192, norm = 4'096;
    const std::int64_t attention = 4'096 * 128 * (2 * 32 + 2 * 8), feed_forward = 2 * 4'096 * 21'504;
    const std::int64_t all = 24 * space + 4 * attention + 24 * feed_forward + 53 * norm + 2 * 131'072 * 4'096;
    CHECK(all == 8'100'852'736);
    CHECK(import(dense_8b()).parameters() == all);
    // The total in a public table of model sizes for nvidia/NVIDIA-Nemotron-Nano-9B-v2; 47, 56 and 12 billion on the pages of Nemotron-H
    // and Nano 12B v2
    CHECK(import(dense_47b()).parameters() == 46'791'554'816);
    CHECK(import(dense_56b()).parameters() == 56'324'350'464);
    CHECK(import(dense_9b()).parameters() == 8'888'227'328);
    CHECK(import(dense_12b()).parameters() == 12'310'001'152);
    // llama.cpp prints it of unsloth/Nemotron-3-Nano-30B-A3B-GGUF (n_params)
    CHECK(import(experts_30b()).parameters() == 31'577'940'288);
    // 3.2 billion with the head alone, 3.6 with the embedding (NVIDIA Nemotron 3 Nano, technical report, section 2.1)
    CHECK(active_parameters(*import(experts_30b()).model) == 31'577'940'288 - 23LL * 122 * 2 * 2'688 * 1'856);
}

TEST_CASE("layers of one part: experts that read a latent, and further tokens") {
    const Import i = import(experts_120b());
    REQUIRE(i.model);
    // a layer's experts: 512 of two matrices of 1024 x 2688; from 4096 to 1024 and back; router and bias; a shared one of 5376; a state
    // space and attention as those of the 8B model
    const std::int64_t experts = 512LL * 2 * 1'024 * 2'688 + 2 * 4'096 * 1'024 + 512 * 4'097 + 2 * 4'096 * 5'376;
    const std::int64_t space = 4'096 * (18'560 + 8'192) + 5 * 10'240 + 3 * 128 + 8'192, attention = 4'096 * 128 * (2 * 32 + 2 * 2);
    CHECK(i.parameters() == 40 * (experts + space) + 8 * attention + 89 * 4'096 + 2 * 131'072LL * 4'096);
    CHECK(i.parameters() == 120'668'707'840);  // 120.6 billion, of which 12.7 are active (NVIDIA Nemotron 3 Super, technical report)
    CHECK(active_parameters(*i.model) == 120'668'707'840 - 40LL * 490 * 2 * 1'024 * 2'688);
    CHECK(expert_weights(*i.model) == near(2.0 * (1'024 * 22 * 2'688 + 4'096 * 5'376) + 2 * 4'096 * 1'024));
    CHECK(i.assumed("num_nextn_predict_layers") == 0);
    CHECK(i.model->multi_token_layers == 0);
    CHECK(with(experts_120b(), "moe_latent_size", nullptr) == 120'668'707'840 + 40LL * (512LL * 2 * 3'072 * 2'688 - 2 * 4'096 * 1'024));
    // of other families, too; not without experts
    Json other = json(R"({"model_type": "mixtral", "hidden_size": 256, "intermediate_size": 64, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": 1000, "num_local_experts": 8, "num_experts_per_tok": 2})");
    CHECK(with(other, "moe_latent_size", 32) == with(other, "moe_latent_size", 0) - 2 * (8LL * 3 * 224 * 64 - 2 * 256 * 32));
    other["model_type"] = "llama", other.erase("num_local_experts"), other["moe_latent_size"] = 32;
    CHECK(brief(import(other).problems) == "moe_latent_size unsupported 32 -> null");
}

TEST_CASE("layers of one part: their kinds") {
    const Import i = import(experts_30b());
    REQUIRE(i.model);
    const Model& m = *i.model;
    CHECK(m.layers == 52);
    CHECK(m.linear.count == 23);
    CHECK(m.expert_layers.count() == 23);
    CHECK(m.plain_layers() == 29);
    CHECK(m.dense_layers() == 0);
    CHECK(linear_part(m) == near(23 / 29.0));
    CHECK(full_part(m) == near(6 / 29.0));
    CHECK(m.experts.shared_ffn == 3'712);
    CHECK(m.experts.router_bias);
    CHECK(m.linear.is_mamba());
    CHECK(m.linear.in() == 2 * 4'096 + 2 * 8 * 128 + 64);
    CHECK(m.linear.chunk == 128);
    CHECK(i.report.assumed.empty());
    CHECK(i.used("ssm_state_size"));
    const Model dense = *import(dense_8b()).model;
    CHECK(dense.expert_layers.empty());
    CHECK(dense.experts.count == 0);
    CHECK(dense.dense_layers() == 24);
    CHECK(feed_forward_part(dense) == near(24 / 52.0));
    CHECK(full_part(dense) == near(4 / 52.0));
    CHECK(score_width(dense) == near(4 / 52.0 * 32 * 256));
    // names in the place of letters, of older files and newer ones; what they say counts, and a number of layers need not stand there
    Json named = experts_30b();
    named.erase("hybrid_override_pattern");
    for (const bool newer : {false, true}) {
        Json list = Json::array();
        for (const char part : parts_of(m))
            list.push_back(part == 'E'   ? "moe"
                           : part == 'M' ? (newer ? "linear_attention" : "mamba")
                                         : (newer ? "full_attention" : "attention"));
        CHECK(with(named, "layers_block_type", list) == 31'577'940'288);
    }
    Json older = dense_8b();  // nvidia/Nemotron-H-8B-Base-8K
    older.erase("head_dim");
    CHECK(with(older, "attention_head_dim", 128) == 8'100'852'736);
    CHECK(with(older, "attention_head_dim", 64) == 8'100'852'736 - 4LL * 4'096 * 64 * 80);
}

TEST_CASE("layers of one part: a model is written as the keys that give it again") {
    Json bare = dense_9b();
    bare["use_conv_bias"] = false;
    Json mixed = experts_30b();
    mixed["hybrid_override_pattern"] = "ME*-M";
    for (const Json& config : {dense_8b(), bare, experts_30b(), experts_120b(), mixed}) {
        const Import i = import(config);
        REQUIRE(i.model);
        const Json canonical = canonical_config(*i.model);
        const Import again = import(canonical);
        REQUIRE(again.model);
        CHECK(canonical_config(*again.model) == canonical);
        CHECK(again.parameters() == i.parameters());
        CHECK(parts_of(*again.model) == config["hybrid_override_pattern"]);
        CHECK(again.report.assumed.empty());
        for (const Json& value : canonical) CHECK_FALSE(value.is_structured());  // a link holds no other
    }
}

TEST_CASE("layers of one part: what is refused") {
    const auto refused = [](Json config, const char* change) {
        config.update(json(change));
        return brief(import(config).problems);
    };
    CHECK(refused(dense_8b(), R"({"hybrid_override_pattern": "M-*X"})") == "hybrid_override_pattern type \"M-*X\" -> null");
    CHECK(refused(dense_8b(), R"({"hybrid_override_pattern": "M-M-"})") == "hybrid_override_pattern type \"M-M-\" -> null");  // 52 layers
    CHECK(refused(dense_8b(), R"({"hybrid_override_pattern": "*-", "num_hidden_layers": 2})") ==
          "hybrid_override_pattern type \"*-\" -> null");
    CHECK(refused(dense_8b(), R"({"layers_block_type": "hybrid"})") == "layers_block_type type \"hybrid\" -> null");
    CHECK(refused(dense_8b(), R"({"hybrid_override_pattern": null})") == "hybrid_override_pattern missing null -> null");
    CHECK(refused(experts_30b(), R"({"n_routed_experts": 0})") == "n_routed_experts missing null -> null");
    const Model model = *import(experts_30b()).model;
    for (const std::int64_t tensor : {8, 16}) {
        Plan plan;
        plan.tensor_parallel = tensor;
        CHECK(check_tensor_rules(model, plan, [](Rule, bool holds) { return holds; }) == (tensor == 8));  // eight groups
    }
}
