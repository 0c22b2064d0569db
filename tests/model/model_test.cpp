// Reading config.json files of published models: structure, names, defaults, and the exact number of weights.
#include "model/model.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "model/model_import.h"
#include "random_cases.h"

using namespace fourfold;
using tests::brief;
using tests::Import;
using tests::import;
using tests::json;

namespace {

const char* const kLlama8B = R"({"architectures": ["LlamaForCausalLM"], "attention_bias": false, "hidden_size": 4096,
    "intermediate_size": 14336, "max_position_embeddings": 131072, "mlp_bias": false, "model_type": "llama",
    "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "rope_theta": 500000.0,
    "tie_word_embeddings": false, "torch_dtype": "bfloat16", "vocab_size": 128256})";

Json llama_without(const char* key) {
    Json config = json(kLlama8B);
    config.erase(key);
    return config;
}
Json llama_with(const char* key, Json value) {
    Json config = json(kLlama8B);
    config[key] = std::move(value);
    return config;
}

}  // namespace

TEST_CASE("Llama 3.1 8B, as its config.json says") {
    const Import i = import(kLlama8B);
    if (!i.model) return;
    const Model& m = *i.model;
    CHECK(m.type == "llama");
    CHECK(m.layers == 32);
    CHECK(m.hidden == 4096);
    CHECK(m.ffn == 14336);
    CHECK(m.heads == 32);
    CHECK(m.kv_heads == 8);
    CHECK(m.head_dim == 128);
    CHECK(m.vocabulary == 128256);
    CHECK(m.max_positions == 131072);
    CHECK(m.gated);
    CHECK_FALSE(m.tied);
    CHECK_FALSE((m.qkv_bias || m.attention_out_bias || m.mlp_bias || m.layer_norm || m.learned_positions || m.qk_norm));
    CHECK(m.norms_per_layer == 2);
    CHECK(m.label == "");
    CHECK(m.id.empty());
    CHECK(i.report.assumed.empty());
    CHECK(i.report.ignored == std::vector<std::string>{"architectures", "rope_theta", "torch_dtype"});
    CHECK(i.used("tie_word_embeddings"));
}

// Each count: the number of weights that the model's page on huggingface.co shows for its safetensors files, unless another source is
// named.
TEST_CASE("published models have exactly their published number of weights") {
    struct Row {
        const char* name;
        std::int64_t parameters;
        const char* config;
    };
    const Row rows[] = {
        {"meta-llama/Llama-3.1-8B", 8'030'261'248, kLlama8B},
        {"meta-llama/Llama-3.2-1B", 1'235'814'400,
         R"({"model_type": "llama", "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 32,
             "num_key_value_heads": 8, "head_dim": 64, "vocab_size": 128256, "tie_word_embeddings": true})"},
        {"mistralai/Mistral-7B-v0.1", 7'241'732'096,
         R"({"model_type": "mistral", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
             "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 32000, "tie_word_embeddings": false})"},
        {"Qwen/Qwen2.5-7B", 7'615'616'512,
         R"({"model_type": "qwen2", "hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28,
             "num_attention_heads": 28, "num_key_value_heads": 4, "vocab_size": 152064, "tie_word_embeddings": false})"},
        {"Qwen/Qwen2.5-0.5B", 494'032'768,
         R"({"model_type": "qwen2", "hidden_size": 896, "intermediate_size": 4864, "num_hidden_layers": 24,
             "num_attention_heads": 14, "num_key_value_heads": 2, "vocab_size": 151936, "tie_word_embeddings": true})"},
        {"Qwen/Qwen3-0.6B", 596'049'920,
         R"({"model_type": "qwen3", "hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 28,
             "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936, "attention_bias": false,
             "tie_word_embeddings": true})"},
        {"google/gemma-2b", 2'506'172'416,
         R"({"model_type": "gemma", "hidden_size": 2048, "intermediate_size": 16384, "num_hidden_layers": 18,
             "num_attention_heads": 8, "num_key_value_heads": 1, "head_dim": 256, "vocab_size": 256000})"},
        // also Gemma 2 report (arXiv 2408.00118), table 2: 2,024,517,888 beside the embedding of 256,000 x 2,304
        {"google/gemma-2-2b", 2'614'341'888,
         R"({"model_type": "gemma2", "hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 26,
             "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "vocab_size": 256000})"},
        {"openai-community/gpt2", 124'439'808,  // "124M" in the GPT-2 repository; the sum over its checkpoint's tensors
         R"({"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024, "n_ctx": 1024, "vocab_size": 50257})"},
        {"EleutherAI/pythia-6.9b", 6'857'302'016,  // github.com/EleutherAI/pythia, README, table of models, "Total Params"
         R"({"model_type": "gpt_neox", "hidden_size": 4096, "intermediate_size": 16384, "num_hidden_layers": 32,
             "num_attention_heads": 32, "vocab_size": 50432, "max_position_embeddings": 2048, "tie_word_embeddings": false})"},
        {"EleutherAI/pythia-1b", 1'011'781'632,  // the same table
         R"({"model_type": "gpt_neox", "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16,
             "num_attention_heads": 8, "vocab_size": 50304, "max_position_embeddings": 2048, "tie_word_embeddings": false})"},
        {"openai-community/gpt2-xl", 1'557'611'200,  // the sum over its checkpoint's tensors
         R"({"model_type": "gpt2", "n_embd": 1600, "n_head": 25, "n_layer": 48, "n_positions": 1024, "vocab_size": 50257})"},
        {"Qwen/Qwen1.5-MoE-A2.7B", 14'315'784'192,
         R"({"model_type": "qwen2_moe", "hidden_size": 2048, "intermediate_size": 5632, "num_hidden_layers": 24,
             "num_attention_heads": 16, "num_key_value_heads": 16, "num_experts": 60, "num_experts_per_tok": 4,
             "moe_intermediate_size": 1408, "shared_expert_intermediate_size": 5632, "decoder_sparse_step": 1,
             "vocab_size": 151936, "tie_word_embeddings": false})"},
        {"deepseek-ai/DeepSeek-V2", 235'741'434'880,
         R"({"model_type": "deepseek_v2", "hidden_size": 5120, "intermediate_size": 12288, "num_hidden_layers": 60,
             "num_attention_heads": 128, "num_key_value_heads": 128, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
             "qk_rope_head_dim": 64, "v_head_dim": 128, "n_routed_experts": 160, "n_shared_experts": 2, "num_experts_per_tok": 6,
             "moe_intermediate_size": 1536, "first_k_dense_replace": 1, "moe_layer_freq": 1, "vocab_size": 102400})"},
        // Not known by its type; the sum over its checkpoint's tensors without the scales of its FP8 blocks.
        {"moonshotai/Kimi-K2-Instruct", 1'026'408'232'448,
         R"({"model_type": "kimi_k2", "hidden_size": 7168, "intermediate_size": 18432, "num_hidden_layers": 61,
             "num_attention_heads": 64, "num_key_value_heads": 64, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
             "qk_rope_head_dim": 64, "v_head_dim": 128, "n_routed_experts": 384, "n_shared_experts": 1, "num_experts_per_tok": 8,
             "moe_intermediate_size": 2048, "first_k_dense_replace": 1, "vocab_size": 163840, "num_nextn_predict_layers": 0})"},
    };
    for (const Row& row : rows) {
        CAPTURE(std::string(row.name));
        const Import i = import(row.config);
        CHECK(brief(i.problems) == "");
        CHECK(i.parameters() == row.parameters);
    }
}

TEST_CASE("what a model_type implies without a key") {
    const auto small = [](const char* type) {
        return import(json(R"({"hidden_size": 1024, "num_hidden_layers": 2, "num_attention_heads": 16, "intermediate_size": 4096,
                               "vocab_size": 1000, "max_position_embeddings": 512})")
                          .patch(Json::array({{{"op", "add"}, {"path", "/model_type"}, {"value", type}}})));
    };
    const Import llama = small("llama"), mistral = small("mistral"), qwen2 = small("qwen2"), qwen3 = small("qwen3"), gemma = small("gemma"),
                 gemma2 = small("gemma2"), gemma3 = small("gemma3_text"), gpt2 = small("gpt2"), neox = small("gpt_neox");
    for (const Import* i : {&llama, &mistral, &qwen2, &qwen3, &gemma, &gemma2, &gemma3, &gpt2, &neox})
        if (!i->model) return;
    CHECK(llama.model->kv_heads == 16);
    CHECK(llama.assumed("num_key_value_heads") == 16);
    CHECK(llama.assumed("tie_word_embeddings") == false);  // absent is not "true"
    CHECK_FALSE(llama.model->tied);
    CHECK(mistral.model->kv_heads == 8);
    CHECK(mistral.assumed("num_key_value_heads") == 8);
    CHECK((qwen2.model->qkv_bias && !qwen2.model->attention_out_bias && !qwen2.model->mlp_bias));
    CHECK((qwen3.model->qk_norm && qwen3.model->head_dim == 128));
    CHECK((gemma.model->tied && gemma.model->head_dim == 256 && gemma.model->norms_per_layer == 2));
    CHECK(gemma2.model->norms_per_layer == 4);
    CHECK((gemma3.model->norms_per_layer == 4 && gemma3.model->qk_norm));
    CHECK((gpt2.model->tied && gpt2.model->learned_positions && gpt2.model->layer_norm && !gpt2.model->gated && gpt2.model->mlp_bias));
    CHECK((!neox.model->tied && !neox.model->learned_positions && neox.model->layer_norm && !neox.model->gated && neox.model->qkv_bias));
}

TEST_CASE("null means the class default, as transformers writes it") {
    const Import i = import(llama_with("head_dim", nullptr));
    CHECK((i.model && i.model->head_dim == 128));
    const Import gqa = import(llama_with("num_key_value_heads", nullptr));
    CHECK((gqa.model && gqa.model->kv_heads == 32));
    CHECK(gqa.assumed("num_key_value_heads") == 32);
    const Import gpt2 = import(R"({"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024, "n_inner": null,
                                   "vocab_size": 50257})");
    CHECK((gpt2.model && gpt2.model->ffn == 3072));
    CHECK(brief(import(llama_with("hidden_size", nullptr)).problems) == "hidden_size missing null -> null");
    CHECK(import(llama_with("tie_word_embeddings", nullptr)).assumed("tie_word_embeddings") == false);
    CHECK(import(llama_with("model_type", nullptr)).assumed("model_type") == "llama");
}

TEST_CASE("every alias of a key is read, the usual name first") {
    const Import i = import(R"({"model_type": "gpt2", "n_embd": 64, "n_head": 4, "n_layer": 3, "n_positions": 128, "n_inner": 200,
                                "vocab_size": 100})");
    if (!i.model) return;
    CHECK((i.model->hidden == 64 && i.model->heads == 4 && i.model->layers == 3 && i.model->max_positions == 128 && i.model->ffn == 200));
    const Import other = import(R"({"d_model": 64, "num_attention_heads": 4, "num_layers": 3, "ffn_hidden_size": 200, "vocab_size": 100})");
    CHECK((other.model && other.model->hidden == 64 && other.model->layers == 3 && other.model->ffn == 200));
    const Import both = import(llama_with("n_layer", 99));
    CHECK((both.model && both.model->layers == 32));
    CHECK(both.ignored("n_layer"));
}

TEST_CASE("a multimodal file's text model is read, and its paths say so") {
    for (const char* nest : {"text_config", "llm_config", "language_config"}) {
        CAPTURE(std::string(nest));
        Json config = json(R"({"architectures": ["SomethingForConditionalGeneration"], "vision_config": {"hidden_size": 1}})");
        config[nest] = json(kLlama8B);
        const Import i = import(config);
        CHECK(i.parameters() == 8'030'261'248);
        CHECK(!i.ignored("vision_config"));  // it counts, though not here
        CHECK(std::any_of(i.report.assumed.begin(), i.report.assumed.end(), [](const auto& one) { return one.key == "vision_config"; }));
        config[nest].erase("hidden_size");
        CHECK(brief(import(config).problems) == std::string(nest) + ".hidden_size missing null -> null");
    }
}

TEST_CASE("an unknown model_type is read as Llama, and says so") {
    const Import i = import(llama_with("model_type", "some_new_thing"));
    CHECK(i.parameters() == 8'030'261'248);
    CHECK(i.assumed("model_type") == "llama");
    CHECK((i.model && i.model->type == "llama"));
    CHECK(import(llama_without("model_type")).assumed("model_type") == "llama");
}

TEST_CASE("an unknown model_type with a plain activation has two feed-forward matrices, like GPT-NeoX") {
    const Import phi = import(R"({"model_type": "phi-msft", "hidden_act": "gelu_new", "hidden_size": 2560, "intermediate_size": 10240,
        "num_hidden_layers": 32, "num_attention_heads": 32, "vocab_size": 51200})");
    CHECK(phi.assumed("model_type") == "gpt_neox");
    CHECK((phi.model && !phi.model->gated));
    // microsoft/phi-2 has 2,779,683,840 weights; one norm per layer and one bias less keep this from being exact
    CHECK(static_cast<double>(phi.parameters()) == doctest::Approx(2779683840.0).epsilon(1e-3));
}

TEST_CASE("rarer types: Qwen's first, one key and value head, xIELU; and a model of state spaces") {
    // The published counts of Qwen-7B and Apertus-8B; GPTBigCode ties its embeddings, which no key of it says.
    CHECK(tests::import(R"({"model_type": "qwen", "hidden_size": 4096, "intermediate_size": 22016, "num_attention_heads": 32,
        "num_hidden_layers": 32, "vocab_size": 151936, "kv_channels": 128, "no_bias": true, "tie_word_embeddings": false})")
                  .parameters() /
              1'000'000 ==
          7'720);
    CHECK(tests::import(R"({"model_type": "apertus", "hidden_size": 4096, "intermediate_size": 21504, "num_attention_heads": 32,
        "num_key_value_heads": 8, "num_hidden_layers": 32, "vocab_size": 131072, "hidden_act": "xielu", "tie_word_embeddings": false})")
                  .parameters() /
              10'000'000 ==
          805);
    const auto one = tests::import(R"({"model_type": "gpt_bigcode", "n_embd": 6144, "n_head": 48, "n_layer": 40, "n_inner": 24576,
        "n_positions": 8192, "vocab_size": 49152, "multi_query": true, "activation_function": "gelu_pytorch_tanh"})");
    CHECK(one.model->kv_heads == 1);
    CHECK(one.used("multi_query"));
    CHECK(tests::import(R"({"model_type": "jamba", "hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32,
        "num_hidden_layers": 32, "num_experts": 16, "num_experts_per_tok": 2, "attn_layer_period": 8, "vocab_size": 65536})")
              .problems.size() == 1);
}

TEST_CASE("attention_bias overrides what a family usually has, and survives the round trip") {
    const Import neox = import(R"({"model_type": "gpt_neox", "attention_bias": false, "hidden_size": 512, "intermediate_size": 2048,
        "num_hidden_layers": 6, "num_attention_heads": 8, "vocab_size": 50304})");
    CHECK((neox.model && !neox.model->qkv_bias && !neox.model->attention_out_bias && neox.model->mlp_bias));
    if (neox.model) CHECK(import(canonical_config(*neox.model)).parameters() == neox.parameters());
}

TEST_CASE("keys override a family's feed-forward part, norms and positions, and survive the round trip") {
    const std::string keys = R"("hidden_size": 512, "intermediate_size": 2048, "num_hidden_layers": 6, "num_attention_heads": 8,
        "vocab_size": 50304, "max_position_embeddings": 1024, "gated_mlp": false, "layer_norm": true, "qk_layernorm": true,
        "learned_positions": true)";
    for (const char* type :
         {R"("llama")", R"("mixtral", "num_key_value_heads": 8)", R"("deepseek_v3", "qk_layernorm": false, "num_key_value_heads": 8)"}) {
        const Import other = import(json("{" + keys + ", \"model_type\": " + type + "}"));
        CAPTURE(type);
        CHECK(brief(other.problems) == "");
        if (!other.model) continue;
        const Model& m = *other.model;
        CHECK((!m.gated && m.layer_norm && m.learned_positions && m.qk_norm == (m.type != "deepseek_v3")));
        const Json config = canonical_config(m);
        CHECK((config["gated_mlp"] == false && config["layer_norm"] == true && config["learned_positions"] == true));
        CHECK((config["qk_layernorm"] == (m.type != "deepseek_v3")));
        const Import again = import(config);
        CHECK(again.parameters() == other.parameters());
        CHECK((again.model && canonical_config(*again.model) == config));
    }
    // a plain family with a gate needs the width, and says nothing about what is as usual
    const Import gated = import(json("{" + keys + R"(, "model_type": "gpt2", "gated_mlp": true, "n_inner": 1024, "qk_layernorm": false})"));
    CHECK((gated.model && gated.model->gated && !gated.model->qk_norm));
    if (gated.model) CHECK((canonical_config(*gated.model)["gated_mlp"] == true && !canonical_config(*gated.model).contains("layer_norm")));
    // Llama 3.1 8B: a gate less is h*f in each of 32 layers; LayerNorm has 2*32+1 biases of h, and on queries and keys 2*2*d a layer
    const std::int64_t usual = import(kLlama8B).parameters();
    CHECK(usual - import(llama_with("gated_mlp", false)).parameters() == 32LL * 4096 * 14336);
    CHECK(import(llama_with("layer_norm", true)).parameters() - usual == 65LL * 4096);
    Json both = llama_with("layer_norm", true);
    both["qk_layernorm"] = true;
    CHECK(import(both).parameters() - usual == 65LL * 4096 + 32LL * 2 * 2 * 128);
    CHECK(brief(import(llama_with("gated_mlp", "no")).problems) == "gated_mlp type \"no\" -> null");
}

TEST_CASE("the label is the last part of _name_or_path") {
    const auto label = [](const std::string& name) {
        const Import i = import(llama_with("_name_or_path", name));
        return i.model ? i.model->label : "";
    };
    CHECK(label("meta-llama/Llama-3.1-8B") == "Llama-3.1-8B");
    CHECK(label("local") == "local");
    CHECK(label("/models/mine/") == "");
    CHECK(label("") == "");
    CHECK(label(std::string(200, 'x')) == "");
}

TEST_CASE("the canonical config of a model is that model, over random models of every family") {
    tests::Random random(3);
    for (int n = 0; n < 2'000; ++n) {
        const Model model = tests::random_model(random);
        const Json config = canonical_config(model);
        CAPTURE(config);
        const Import again = import(config);
        CHECK(brief(again.problems) == "");
        if (!again.model) continue;
        CHECK(canonical_config(*again.model) == config);
        CHECK(again.parameters() == parameter_count(model));
        CHECK(again.model->label == model.label);
        CHECK((again.model->type == model.type && again.model->tied == model.tied && again.model->head_dim == model.head_dim));
        CHECK(again.report.ignored.empty());
    }
}

TEST_CASE("a head too wide to be written back is not read") {
    const auto config = [](int hidden) {
        return json(R"({"num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8, "vocab_size": 8})")
            .patch(Json::array({{{"op", "add"}, {"path", "/hidden_size"}, {"value", hidden}}}));
    };
    CHECK(brief(import(config(1025)).problems) == "num_attention_heads range 1 -> null");
    const Import widest = import(config(1024));
    if (widest.model) CHECK(brief(import(canonical_config(*widest.model)).problems) == "");
}
