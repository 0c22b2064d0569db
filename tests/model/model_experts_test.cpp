// Reading config.json files of models with experts or latent attention.
#include <doctest/doctest.h>

#include <string>
#include <tuple>

#include "model/model_import.h"
#include "random_cases.h"

using namespace fourfold;
using tests::brief;
using tests::import;
using tests::Import;
using tests::json;

namespace {

std::string sizes(const char* type, const std::string& more, const char* widths = R"("intermediate_size": 512)") {
    return std::string(R"({"model_type": ")") + type +
           R"(", "hidden_size": 256, "num_hidden_layers": 6, "num_attention_heads": 8, "vocab_size": 1000)" +
           (*widths != 0 ? std::string(", ") + widths : "") + (more.empty() ? "" : ", " + more) + "}";
}
Import import_sizes(const char* type, const std::string& more, const char* widths = R"("intermediate_size": 512)") {
    return import(json(sizes(type, more, widths)));
}
std::string pattern(const Import& i) {  // "D" and "E", a letter per layer
    std::string letters;
    if (i.model)
        for (const std::uint8_t one : i.model->expert_layers) letters += one != 0 ? 'E' : 'D';
    return letters;
}
auto key(const Experts& e) {
    return std::make_tuple(e.count, e.per_token, e.ffn, e.shared_ffn, e.shared_gate, e.router_bias, e.groups, e.groups_per_token);
}
auto key(const LatentAttention& l) { return std::make_tuple(l.q_rank, l.kv_rank, l.nope_dim, l.rope_dim, l.value_dim); }

}  // namespace

TEST_CASE("Mixtral: every layer has experts, as wide as intermediate_size says") {
    const Import i = import_sizes("mixtral", R"("num_local_experts": 4, "num_experts_per_tok": 1)");
    if (!i.model) return;
    CHECK(key(i.model->experts) == key(Experts{4, 1, 512, 0, false, false}));
    CHECK((pattern(i) == "EEEEEE" && i.model->ffn == 512 && i.model->latent.kv_rank == 0 && i.model->kv_heads == 8));
    const Import bare = import_sizes("mixtral", "");
    CHECK((bare.assumed("num_local_experts") == 8 && bare.assumed("num_experts_per_tok") == 2));
    CHECK(bare.assumed("moe_intermediate_size").is_null());  // it has no such key
}

TEST_CASE("Qwen MoE: class defaults, shared expert, biases, and which layers are dense") {
    const Import qwen3 = import_sizes("qwen3_moe", ""), qwen2 = import_sizes("qwen2_moe", "");
    if (!qwen3.model || !qwen2.model) return;
    CHECK(key(qwen3.model->experts) == key(Experts{128, 8, 768, 0, false, false}));
    CHECK(key(qwen2.model->experts) == key(Experts{60, 4, 1408, 5632, true, false}));
    CHECK((qwen3.model->qk_norm && !qwen3.model->qkv_bias && qwen3.model->kv_heads == 4 && qwen3.model->head_dim == 32));
    CHECK((!qwen2.model->qk_norm && qwen2.model->qkv_bias && !qwen2.model->attention_out_bias));
    for (const char* name : {"num_local_experts", "num_experts_per_tok", "moe_intermediate_size"}) CHECK(!qwen2.assumed(name).is_null());
    CHECK(qwen2.assumed("shared_expert_intermediate_size") == 5632);
    const Import no_bias = import_sizes("qwen2_moe", R"("qkv_bias": false, "shared_expert_intermediate_size": 0)");
    CHECK((no_bias.model && !no_bias.model->qkv_bias && no_bias.model->experts.shared_ffn == 0 && !no_bias.model->experts.shared_gate));

    CHECK(pattern(import_sizes("qwen3_moe", R"("decoder_sparse_step": 2)")) == "DEDEDE");
    CHECK(pattern(import_sizes("qwen3_moe", R"("decoder_sparse_step": 4)")) == "DDDEDD");
    CHECK(pattern(import_sizes("qwen3_moe", R"("mlp_only_layers": [0, 4, 4])")) == "DEEEDE");
    CHECK(pattern(import_sizes("qwen3_moe", R"("mlp_only_layers": null)")) == "EEEEEE");
    CHECK(pattern(import_sizes("qwen3_moe", R"("decoder_sparse_step": 3, "mlp_only_layers": [5])")) == "DDEDDD");
    // no layer left: a dense model, whatever else is said
    for (const char* none : {R"("decoder_sparse_step": 7)", R"("mlp_only_layers": [0,1,2,3,4,5])", R"("num_experts": 0)"}) {
        const Import dense = import_sizes("qwen3_moe", none);
        CHECK((dense.model && dense.model->experts.count == 0 && dense.model->expert_layers.empty()));
    }
    // intermediate_size belongs to the dense layers alone
    const Import all = import_sizes("qwen3_moe", R"("moe_intermediate_size": 64)", "");
    CHECK((all.model && all.model->ffn == 64 && all.model->experts.ffn == 64));
    CHECK(brief(import_sizes("qwen3_moe", R"("decoder_sparse_step": 2)", "").problems) == "intermediate_size missing null -> null");
}

TEST_CASE("DeepSeek: latent attention, leading dense layers, shared experts, further tokens") {
    const Import v3 = import_sizes("deepseek_v3", R"("num_nextn_predict_layers": 1, "head_dim": 64)");
    if (!v3.model) return;
    CHECK(key(v3.model->experts) == key(Experts{256, 8, 2048, 2048, false, true, 8, 4}));
    CHECK(key(v3.model->latent) == key(LatentAttention{1536, 512, 128, 64, 128}));
    CHECK((v3.model->head_dim == 192 && v3.model->kv_heads == 8 && v3.model->qk_norm && v3.model->multi_token_layers == 1));
    CHECK(v3.ignored("head_dim"));  // transformers writes the rotary part there
    CHECK(pattern(v3) == "DDDEEE");
    CHECK((v3.assumed("first_k_dense_replace") == 3 && v3.assumed("q_lora_rank") == 1536 && v3.assumed("n_shared_experts") == 1));
    const Import without = import_sizes("deepseek_v3", "");
    CHECK(without.parameters() == v3.parameters());  // as published: without the layer that predicts a second token

    const Import v2 = import_sizes("deepseek_v2", R"("num_experts_per_tok": 6, "q_lora_rank": null, "n_shared_experts": null)");
    CHECK((v2.model && v2.model->latent.q_rank == 0 && v2.model->experts.shared_ffn == 0 && pattern(v2) == "EEEEEE"));
    CHECK(v2.assumed("q_lora_rank").is_null());
    CHECK(brief(import_sizes("deepseek_v2", "").problems) == "num_experts_per_tok missing null -> null");
    const Import every_other = import_sizes("deepseek_v2", R"("num_experts_per_tok": 6, "first_k_dense_replace": 1, "moe_layer_freq": 2)");
    CHECK(pattern(every_other) == "DDEDED");
    const Import dense = import_sizes("deepseek_v3", R"("n_routed_experts": null, "num_hidden_layers": 2)");
    CHECK((dense.model && dense.model->experts.count == 0 && dense.model->latent.kv_rank == 512));
    // with its bias, at the projections down to the latents and out of attention
    const Import biased = import_sizes("deepseek_v3", R"("attention_bias": true)");
    CHECK(biased.parameters() - without.parameters() == 6 * (1536 + 512 + 64 + 256));
}

TEST_CASE("unknown types with experts or latents are read by their numbers, without anybody's class defaults") {
    const Import other = import_sizes("flex_olmo", R"("num_experts": 16, "num_experts_per_tok": 4)");
    CHECK((other.model && key(other.model->experts) == key(Experts{16, 4, 512, 0, false, false}) && other.model->type == "mixtral"));
    CHECK((other.assumed("model_type") == "mixtral" && other.model && other.model->kv_heads == 8));
    CHECK(brief(import_sizes("flex_olmo", R"("num_experts": 16)").problems) == "num_experts_per_tok missing null -> null");
    const Import gpt_oss =
        import_sizes("granitemoe", R"("num_local_experts": 32, "experts_per_token": 4, "head_dim": 64, "attention_bias": true)");
    CHECK((gpt_oss.model && gpt_oss.model->experts.per_token == 4 && gpt_oss.model->qkv_bias));
    const Import glm = import_sizes("bailing_moe", R"("n_routed_experts": 16, "n_shared_experts": 2, "num_experts_per_tok": 4,
        "moe_intermediate_size": 96, "first_k_dense_replace": 1, "num_nextn_predict_layers": 1)");
    CHECK((glm.model && key(glm.model->experts) == key(Experts{16, 4, 96, 192, false, false}) && pattern(glm) == "DEEEEE"));
    CHECK(import_sizes("minicpm3", R"("kv_lora_rank": 64, "qk_nope_head_dim": 32, "qk_rope_head_dim": 16, "v_head_dim": 32)")
              .assumed("model_type") == "deepseek_v3");
    CHECK(brief(import_sizes("minicpm3", R"("kv_lora_rank": 64)").problems) ==
          "qk_nope_head_dim missing null -> null\n"
          "qk_rope_head_dim missing null -> null\n"
          "v_head_dim missing null -> null");
}

TEST_CASE("the canonical config of a model with experts is that model, over random ones of every family") {
    tests::Random random(5);
    std::int64_t read = 0;
    for (int n = 0; n < 4'000; ++n) {
        Json config =
            json(sizes(random.one_of<const char*>({"mixtral", "qwen2_moe", "qwen3_moe", "deepseek_v2", "deepseek_v3", "new", "new"}), ""));
        const auto maybe = [&](const char* name, Json value) {
            if (random.coin()) config[name] = random.from(0, 9) == 0 ? Json() : std::move(value);
        };
        config["num_experts_per_tok"] = random.from(1, 8);
        maybe(random.one_of<const char*>({"num_local_experts", "num_experts", "n_routed_experts"}), random.from(0, 64));
        maybe("moe_intermediate_size", random.from(1, 4'096));
        maybe(random.one_of<const char*>({"shared_expert_intermediate_size", "shared_intermediate_size"}), random.from(0, 4'096));
        maybe("n_shared_experts", random.from(0, 4));
        maybe("first_k_dense_replace", random.from(0, 6));
        maybe("moe_layer_freq", random.from(1, 3));
        maybe("decoder_sparse_step", random.from(1, 3));
        maybe("mlp_only_layers", Json::array({random.from(0, 5), random.from(0, 5)}));
        if (config["model_type"] != "mixtral" && !std::string(config["model_type"]).starts_with("qwen")) {
            if (config["model_type"] != "new" || random.coin())
                for (const char* name : {"kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"})
                    config[name] = random.from(2, 512);
            maybe("q_lora_rank", random.from(1, 1'536));
        }
        maybe("num_nextn_predict_layers", random.from(0, 2));
        maybe("num_key_value_heads", random.one_of<int>({1, 2, 4, 8}));
        for (const char* name :
             {"attention_bias", "mlp_bias", "qkv_bias", "tie_word_embeddings", "gated_mlp", "layer_norm", "qk_layernorm"})
            maybe(name, random.coin());
        CAPTURE(config);
        const Import first = import(config);
        if (!first.model) continue;  // more experts per token than experts
        ++read;
        const Model& model = *first.model;
        const Json canonical = canonical_config(model);
        CAPTURE(canonical);
        const Import again = import(canonical);
        CHECK(brief(again.problems) == "");
        if (!again.model) continue;
        CHECK(canonical_config(*again.model) == canonical);
        CHECK(again.report.assumed.empty());
        CHECK(again.report.ignored.empty());
        CHECK(again.parameters() == first.parameters());
        CHECK(key(again.model->experts) == key(model.experts));
        CHECK(key(again.model->latent) == key(model.latent));
        CHECK(again.model->expert_layers == model.expert_layers);
        CHECK((again.model->type == model.type && again.model->ffn == model.ffn && again.model->head_dim == model.head_dim));
        CHECK((again.model->kv_heads == model.kv_heads && again.model->multi_token_layers == model.multi_token_layers));
        CHECK((again.model->qkv_bias == model.qkv_bias && again.model->attention_out_bias == model.attention_out_bias));
        CHECK((again.model->mlp_bias == model.mlp_bias && again.model->tied == model.tied && again.model->qk_norm == model.qk_norm));
        CHECK((again.model->gated == model.gated && again.model->layer_norm == model.layer_norm));
    }
    CHECK(read > 2'000);
}
