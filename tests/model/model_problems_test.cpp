// Configs that cannot be read: everything that is wrong comes back at once, under its own key.
#include <doctest/doctest.h>

#include "model/model.h"
#include "model/model_import.h"
#include "support.h"

using namespace fourfold;
using tests::import;
using tests::Import;
using tests::json;

namespace {

Problems problems_of(const Json& config, std::string_view prefix = "") {
    Problems problems;
    ImportReport report;
    const bool read = read_model(config, prefix, problems, report).has_value();
    CHECK(read == problems.empty());
    for (const Problem& p : problems) CHECK_FALSE(p.message.empty());
    return problems;
}
std::string brief_of(const Json& config, std::string_view prefix = "") { return tests::brief(problems_of(config, prefix)); }

Json llama() {
    return json(R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
                    "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 131072,
                    "tie_word_embeddings": false, "attention_bias": false, "mlp_bias": false})");
}
std::string with(const char* key, const char* value) {
    Json config = llama();
    config[key] = json(value);
    return brief_of(config);
}

}  // namespace

TEST_CASE("what is not a model's config says so, under the field it came in") {
    for (const char* text : {"[]", "[1, 2]", "\"meta-llama/Llama-3.1-8B\"", "5", "null", "true", "{}", R"({"foo": 1})",
                             R"({"text_config": {}})", R"({"text_config": 5})", R"([{"model_type": "llama"}])"}) {
        CAPTURE(std::string(text));
        const Problems problems = problems_of(json(text));
        CHECK(problems.size() == 1);
        if (problems.size() != 1) continue;
        CHECK(problems[0].field.empty());
        CHECK(problems[0].rule == "type");
        CHECK(!problems[0].suggestion.empty());
        const Problems in_a_job = problems_of(json(text), "model.");
        if (!in_a_job.empty()) CHECK(in_a_job[0].field == "model");
    }
}

TEST_CASE("missing keys are all reported, by their usual name") {
    CHECK(brief_of(json(R"({"model_type": "llama"})")) ==
          "num_hidden_layers missing null -> null\n"
          "hidden_size missing null -> null\n"
          "num_attention_heads missing null -> null\n"
          "vocab_size missing null -> null\n"
          "intermediate_size missing null -> null");
    CHECK(brief_of(json(R"({"vocab_size": 5})"), "model.") ==
          "model.num_hidden_layers missing null -> null\n"
          "model.hidden_size missing null -> null\n"
          "model.num_attention_heads missing null -> null\n"
          "model.intermediate_size missing null -> null");
    CHECK(brief_of(json(R"({"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12, "vocab_size": 50257})")) ==
          "n_positions missing null -> null");
}

TEST_CASE("every number of the wrong kind is refused under its key") {
    struct Row {
        const char* key;
        std::int64_t max;
    };
    for (const Row& row : {Row{"hidden_size", 262'144}, Row{"num_hidden_layers", 2'000}, Row{"num_attention_heads", 1'024},
                           Row{"num_key_value_heads", 1'024}, Row{"vocab_size", 16'777'216}, Row{"intermediate_size", 2'097'152},
                           Row{"max_position_embeddings", 1'000'000'000}}) {
        CAPTURE(std::string(row.key));
        const std::string key = row.key, max = std::to_string(row.max);
        for (const char* low : {"0", "-1", "0.5", "-1e+300"}) CHECK(with(row.key, low) == key + " range " + low + " -> 1");
        for (const char* high : {"1e+300", "4294967296", "9007199254740993"})
            CHECK(with(row.key, high) == key + " range " + high + " -> " + max);
        CHECK(with(row.key, "2.5") == key + " range 2.5 -> 3");
        for (const char* kind : {"\"4096\"", "\"NaN\"", "true"}) CHECK(with(row.key, kind) == key + " type " + kind + " -> null");
        for (const char* kind : {"[4096]", "{\"a\": 1}"}) CHECK(with(row.key, kind) == key + " type null -> null");
    }
    CHECK(with("head_dim", "0") == "head_dim range 0 -> 1");
    CHECK(with("head_dim", "\"128\"") == "head_dim type \"128\" -> null");
    for (const char* key : {"tie_word_embeddings", "attention_bias", "mlp_bias"})
        for (const char* kind : {"0", "\"false\"", "[]"}) {
            const std::string value = kind[0] == '[' ? "null" : kind;
            CHECK(with(key, kind) == std::string(key) + " type " + value + " -> null");
        }
    CHECK(with("model_type", "5") == "model_type type 5 -> null");
    CHECK(with("_name_or_path", "[]") == "_name_or_path type null -> null");
}

TEST_CASE("an alias is blamed by the name that was given") {
    Json config = llama();
    config.erase("num_hidden_layers");
    config["n_layer"] = -3;
    CHECK(brief_of(config) == "n_layer range -3 -> 1");
}

TEST_CASE("all problems of a config come back at once") {
    Json config = llama();
    config["hidden_size"] = "4096";
    config["num_hidden_layers"] = 0;
    config["tie_word_embeddings"] = 1;
    config["num_experts"] = 64;
    config.erase("vocab_size");
    CHECK(brief_of(config) ==
          "num_experts unsupported 64 -> null\n"
          "num_hidden_layers range 0 -> 1\n"
          "hidden_size type \"4096\" -> null\n"
          "vocab_size missing null -> null\n"
          "tie_word_embeddings type 1 -> null");
}

// Experts and latent attention in a family that has none are a contradiction.
TEST_CASE("structures that the formulas do not cover are refused, not guessed") {
    CHECK(with("num_local_experts", "8") == "num_local_experts unsupported 8 -> null");
    CHECK(with("num_experts", "128") == "num_experts unsupported 128 -> null");
    CHECK(with("n_routed_experts", "256") == "n_routed_experts unsupported 256 -> null");
    CHECK(with("kv_lora_rank", "512") == "kv_lora_rank unsupported 512 -> null");
    for (const char* key :
         {"state_size", "mamba_d_state", "moe_num_experts", "intermediate_size_mlp", "linear_num_key_heads", "conv_L_cache"})
        CHECK(with(key, "16") == std::string(key) + " unsupported 16 -> null");
    CHECK(with("ffn_config", R"({"ffn_hidden_size": 1})") == "ffn_config unsupported null -> null");
    CHECK(with("is_encoder_decoder", "true") == "is_encoder_decoder unsupported true -> null");
    for (const char* unset : {"null", "0", "1", "false"}) {
        CHECK(with("num_local_experts", unset) == "");
        CHECK(with("kv_lora_rank", unset) == "");
    }
    CHECK(with("is_encoder_decoder", "false") == "");
}

TEST_CASE("an encoder is none of the models that are counted: its type says it, or its class") {
    for (const char* type : {"\"bert\"", "\"xlm-roberta\"", "\"deberta-v2\"", "\"t5\"", "\"mamba2\""})
        CHECK(with("model_type", type) == "model_type unsupported " + std::string(type) + " -> null");
    Json config = llama();
    config.erase("model_type");
    config["architectures"] = {"BertForMaskedLM"};
    CHECK(brief_of(config) == "architectures unsupported null -> null");
    config["architectures"] = {"LlamaForCausalLM"};
    CHECK(brief_of(config) == "");
}

// transformers, models/recurrent_gemma, rwkv, xlstm; flash-linear-attention, fla/models; google/recurrentgemma-2b and
// NX-AI/xLSTM-7b, config.json
TEST_CASE("types with other layers than attention are refused by their name, and nothing else is asked of them") {
    const auto refused = [](const char* config) {
        const Problems problems = problems_of(json(config));
        REQUIRE(problems.size() == 1);
        const Json one = to_json(problems[0]);
        return problems[0].field + " " + one["message"]["id"].get<std::string>() + " " +
               one["message"]["args"]["value"].get<std::string>() + " " + one["suggestion"]["id"].get<std::string>();
    };
    const auto words = [](const std::string& type) {
        return "model_type problem.unsupported.other_layers " + type + " suggestion.covered_model";
    };
    CHECK(refused(R"({"_block_types": ["recurrent", "recurrent", "attention"], "model_type": "recurrent_gemma", "hidden_size": 2560,
                      "intermediate_size": 15360, "num_attention_heads": 10, "num_hidden_layers": 26, "num_key_value_heads": 1,
                      "vocab_size": 256000})") == words("recurrent_gemma"));
    CHECK(refused(R"({"model_type": "xlstm", "embedding_dim": 4096, "num_blocks": 32, "num_heads": 8, "vocab_size": 50304})") ==
          words("xlstm"));
    CHECK(refused(R"({"model_type": "rwkv6qwen2", "max_position_embeddings": 8192})") == words("rwkv6qwen2"));
    for (const char* type :
         {"retnet", "rwkv", "rwkv7", "mamba", "falcon_mamba", "hgrn2", "gla", "gated_deltanet", "delta_net", "linear_attn"})
        CHECK(refused(("{\"hidden_size\": 2048, \"model_type\": \"" + std::string(type) + "\"}").c_str()) == words(type));
    Json config = llama();
    config.erase("model_type");
    config["architectures"] = {"xLSTMForCausalLM"};
    CHECK(brief_of(config) == "architectures unsupported null -> null");
    for (const char* type : {"\"aquila\"", "\"glm\"", "\"internlm\"", "\"klue\""})  // unknown, with Llama's keys: marked, not refused
        CHECK(with("model_type", type) == "");
}

// bigcode/starcoder and bigcode/gpt_bigcode-santacoder, config.json; their parameters: 15.5 and 1.1 billion
TEST_CASE("gpt_bigcode: one head of keys and values, learned positions, a tied embedding") {
    const Import star = import(R"({"activation_function": "gelu", "architectures": ["GPTBigCodeForCausalLM"], "model_type": "gpt_bigcode",
                                   "multi_query": true, "n_embd": 6144, "n_head": 48, "n_inner": 24576, "n_layer": 40, "n_positions": 8192,
                                   "vocab_size": 49152})");
    REQUIRE(star.model.has_value());
    CHECK(star.parameters() == 15'517'456'384);
    CHECK(star.model->kv_heads == 1);
    CHECK(star.model->tied);
    CHECK(star.model->learned_positions);
    CHECK(star.assumed("model_type").is_null());
    const Import small = import(R"({"model_type": "gpt_bigcode", "n_embd": 2048, "n_head": 16, "n_inner": 8192, "n_layer": 24,
                                    "n_positions": 2048, "vocab_size": 49280})");
    CHECK(small.parameters() == 1'124'886'528);
    CHECK(import(R"({"model_type": "gpt_bigcode", "multi_query": false, "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024,
                     "vocab_size": 50257})")
              .parameters() == 124'439'808);  // GPT-2 of 124M
}

TEST_CASE("contradictions name the key that does not fit") {
    CHECK(with("num_key_value_heads", "5") == "num_key_value_heads range 5 -> 4");
    CHECK(with("num_key_value_heads", "7") == "num_key_value_heads range 7 -> 8");
    CHECK(with("num_key_value_heads", "64") == "num_key_value_heads range 64 -> 32");
    CHECK(with("num_attention_heads", "24") == "num_attention_heads range 24 -> null");  // 4096 / 24 is no whole number
    Json config = llama();
    config["num_attention_heads"] = 24;
    config["head_dim"] = nullptr;  // the same as absent
    CHECK(brief_of(config) == "num_attention_heads range 24 -> null");
    config["head_dim"] = 128;
    CHECK(brief_of(config) == "");
    config["head_dim"] = 170;  // 4096 / 24 rounded down, but said on purpose
    CHECK(brief_of(config) == "");
    CHECK(brief_of(
              json(R"({"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 16, "intermediate_size": 8, "vocab_size": 8})")) ==
          "num_attention_heads range 16 -> null");
}

namespace {

std::string with_experts(const char* type, const std::string& more) {
    Json config = llama();
    config["model_type"] = type;
    if (std::string_view(type) == "deepseek_v2") config["num_experts_per_tok"] = 6;
    config.update(json("{" + more + "}"));
    return brief_of(config);
}

}  // namespace

TEST_CASE("experts that contradict themselves or the layers") {
    CHECK(with_experts("mixtral", R"("num_experts_per_tok": 9)") == "num_experts_per_tok range 9 -> 8");
    CHECK(with_experts("mixtral", R"("num_local_experts": 2, "experts_per_token": 3)") == "experts_per_token range 3 -> 2");
    CHECK(with_experts("mixtral", R"("num_local_experts": -1)") == "num_local_experts range -1 -> 0");
    CHECK(with_experts("mixtral", R"("num_local_experts": 65537)") == "num_local_experts range 65537 -> 65536");
    CHECK(with_experts("mixtral", R"("num_local_experts": "8", "num_experts_per_tok": 0)") ==
          "num_local_experts type \"8\" -> null\n"
          "num_experts_per_tok range 0 -> 1");
    CHECK(with_experts("qwen3_moe", R"("num_experts": 8.5, "moe_intermediate_size": 0)") ==
          "num_experts range 8.5 -> 9\n"
          "moe_intermediate_size range 0 -> 1");
    CHECK(with_experts("qwen3_moe", R"("mlp_only_layers": [0, 32])") == "mlp_only_layers[1] range 32 -> 31");
    CHECK(with_experts("qwen3_moe", R"("mlp_only_layers": [-1, 99, "x"])") == "mlp_only_layers[0] range -1 -> 0");
    CHECK(with_experts("qwen3_moe", R"("mlp_only_layers": 3)") == "mlp_only_layers type 3 -> null");
    CHECK(with_experts("qwen3_moe", R"("decoder_sparse_step": 0)") == "decoder_sparse_step range 0 -> 1");
    CHECK(with_experts("qwen2_moe", R"("shared_expert_intermediate_size": -5)") == "shared_expert_intermediate_size range -5 -> 0");
    CHECK(with_experts("deepseek_v2", R"("n_shared_experts": 2000, "moe_intermediate_size": 2000)") ==
          "n_shared_experts range 2000 -> 1048");
    CHECK(with_experts("deepseek_v3", R"("first_k_dense_replace": 33)") == "first_k_dense_replace range 33 -> 32");
    CHECK(with_experts("deepseek_v3", R"("moe_layer_freq": [0, 1])") == "moe_layer_freq type null -> null");
    CHECK(with_experts("deepseek_v3", R"("num_nextn_predict_layers": 65)") == "num_nextn_predict_layers range 65 -> 64");
    CHECK(with_experts("mixtral", R"("intermediate_size": null)") == "intermediate_size missing null -> null");
    CHECK(with_experts("mixtral", R"("kv_lora_rank": 512)") == "kv_lora_rank unsupported 512 -> null");
}

TEST_CASE("latent attention of absurd sizes") {
    CHECK(with_experts("deepseek_v3", R"("q_lora_rank": 0)") == "q_lora_rank range 0 -> 1");
    CHECK(with_experts("deepseek_v3", R"("kv_lora_rank": 0, "qk_nope_head_dim": 0, "qk_rope_head_dim": -1, "v_head_dim": 9999)") ==
          "kv_lora_rank range 0 -> 1\n"
          "qk_nope_head_dim range 0 -> 1\n"
          "qk_rope_head_dim range -1 -> 1\n"
          "v_head_dim range 9999 -> 1024");
    // heads need not divide the hidden size here
    CHECK(with_experts("deepseek_v3", R"("num_attention_heads": 24, "num_key_value_heads": 24)") == "");
}

TEST_CASE("the largest model that is read has a number of weights that a double holds exactly") {
    Json config = json(R"({"hidden_size": 262144, "num_hidden_layers": 2000, "num_attention_heads": 1024, "num_key_value_heads": 1024,
        "intermediate_size": 2097152, "vocab_size": 16777216, "max_position_embeddings": 1000000000, "num_experts_per_tok": 1,
        "kv_lora_rank": 65536, "q_lora_rank": 65536, "qk_nope_head_dim": 1024, "qk_rope_head_dim": 1024, "v_head_dim": 1024,
        "n_routed_experts": 65536, "moe_intermediate_size": 2097152, "n_shared_experts": 1, "model_type": "deepseek_v3"})");
    CHECK(brief_of(config) == "n_routed_experts range 65536 -> null");
    config["moe_intermediate_size"] = 1024;
    CHECK(brief_of(config) == "n_routed_experts range 65536 -> 1398");
    config["n_routed_experts"] = 1398;
    config["n_shared_experts"] = 2048;
    Problems problems;
    ImportReport report;
    const auto model = read_model(config, "", problems, report);
    CHECK(tests::brief(problems) == "");
    if (model) CHECK(parameter_count(*model) <= (std::int64_t{1} << 53));
}

TEST_CASE("a hostile config is answered shortly") {
    Json config = llama();
    config["model_type"] = std::string(100'000, 'x');
    Problems problems;
    ImportReport report;
    CHECK(read_model(config, "", problems, report).has_value());
    for (const auto& assumed : report.assumed) CHECK(tests::said(assumed.why).size() < 1'000);
    config = llama();
    for (int i = 0; i < 5'000; ++i) config["key-" + std::to_string(i)] = i;
    report = {};
    CHECK(read_model(config, "", problems, report).has_value());
    CHECK(report.ignored.size() == 200);
    Json outer = Json::object();
    for (int i = 0; i < 5'000; ++i) outer["key-" + std::to_string(i)] = i;
    outer["text_config"] = llama();
    report = {};
    CHECK(read_model(outer, "", problems, report).has_value());
    CHECK(report.ignored.size() == 200);
}
