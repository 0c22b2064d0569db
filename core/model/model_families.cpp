// Based on the configuration classes of Hugging Face transformers (models/*/configuration_*.py): class defaults.
#include "model/model_families.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "model/config_reader.h"

namespace fourfold {

static constexpr ExpertFamily kMixtral{"num_local_experts", {8, 2, 0, 0, 0, 0}, false, false, false};
static constexpr ExpertFamily kQwen2{"num_experts", {60, 4, 1408, 5632, 0, 0}, true, false, false};
static constexpr ExpertFamily kQwen3{"num_experts", {128, 8, 768, 0, 0, 0}, false, false, false};
static constexpr ExpertFamily kOlmoe{"num_experts", {64, 8, 0, 0, 0, 0}, false, false, false};
static constexpr ExpertFamily kDeepSeekV2{"n_routed_experts", {64, 0, 1407, 0, 2, 0}, false, false, true};
static constexpr ExpertFamily kDeepSeekV3{"n_routed_experts", {256, 8, 2048, 0, 1, 3, 8, 4}, false, true, true};

static constexpr ExpertFamily kGlm{"n_routed_experts", {128, 8, 1408, 0, 1, 1}, false, true, false};
static constexpr ExpertFamily kGptOss{"num_local_experts", {128, 4, 0, 0, 0, 0}, false, true, false};
static constexpr ExpertFamily kQwen3Next{"num_experts", {512, 10, 512, 512, 0, 0}, true, false, false};
static constexpr ExpertFamily kQwen35{"num_experts", {256, 8, 512, 512, 0, 0}, true, false, false};
static constexpr ExpertFamily kLlama4{"num_local_experts", {16, 1, 0, 0, 1, 0}, false, false, false};
static constexpr ExpertFamily kMiniMax{"num_local_experts", {256, 8, 0, 0, 0, 0}, false, true, false};
static constexpr ExpertFamily kErnie{"num_experts", {64, 6, 1536, 0, 2, 1}, false, true, false};
static constexpr ExpertFamily kTrinity{"num_experts", {64, 6, 1408, 0, 2, 1}, false, true, false};

static constexpr ExpertFamily kGraniteHybrid{"num_local_experts", {8, 2, 0, 1024, 0, 0}, false, false, false};
static constexpr ExpertFamily kNemotronH{"n_routed_experts", {8, 2, 7688, 0, 1, 0}, false, true, false};
static constexpr ExpertFamily kLfm2{"num_experts", {32, 4, 1792, 0, 0, 2}, false, false, false};
static constexpr ExpertFamily kKimiLinear{"num_experts", {0, 0, 0, 0, 0, 0}, false, true, true};

static constexpr WindowDefaults kMistralWindow{4096, 0, false}, kGemma2Window{4096, 2, false}, kGemma3Window{4096, 6, false},
    kQwenWindow{4096, 0, true}, kGptOssWindow{128, 2, false}, kLlama4Window{8192, 4, false}, kGivenWindow{0, 0, false},
    kFourthFull{4096, 4, false}, kTrinityWindow{1024, 4, false};

static constexpr Family kFamilies[] = {
    // type        gated  tied   kv d    qkv    o+mlp  LayerNorm pos qk   norms  experts window
    {"llama", true, false, 0, 0, false, false, false, false, false, 2, nullptr},
    {"mistral", true, false, 8, 0, false, false, false, false, false, 2, nullptr, &kMistralWindow},
    {"qwen2", true, false, 0, 0, true, false, false, false, false, 2, nullptr, &kQwenWindow},
    {"qwen3", true, false, 0, 128, false, false, false, false, true, 2, nullptr, &kQwenWindow},
    {"gemma", true, true, 0, 256, false, false, false, false, false, 2, nullptr, nullptr, gelu_gate | norms_in_32_bits},
    {"gemma2", true, true, 4, 256, false, false, false, false, false, 4, nullptr, &kGemma2Window,
     gelu_gate | capped_logits | norms_in_32_bits},
    {"gemma3_text", true, true, 4, 256, false, false, false, false, true, 4, nullptr, &kGemma3Window, gelu_gate | norms_in_32_bits, 8,
     262'208},
    {"gpt2", false, true, 0, 0, true, true, true, true, false, 2, nullptr, nullptr, joined_qkv | gelu_steps | no_kv_key},
    {"gpt_bigcode", false, true, 1, 0, true, true, true, true, false, 2, nullptr, nullptr, joined_qkv},
    {"gpt_neox", false, false, 0, 0, true, true, true, false, false, 2, nullptr, nullptr, joined_qkv | parallel_norms | no_kv_key},
    {"gpt_neo", false, true, 0, 0, true, true, true, true, false, 2, nullptr, nullptr, gelu_steps | plain_attention | no_kv_key},
    {"opt", false, true, 0, 0, true, true, true, true, false, 2, nullptr, nullptr, relu | no_kv_key},
    {"phi", false, false, 0, 0, true, true, true, false, false, 1, nullptr, nullptr, gelu_steps},
    {"starcoder2", false, true, 2, 0, true, true, true, false, false, 2, nullptr, &kMistralWindow},
    {"mixtral", true, false, 8, 0, false, false, false, false, false, 2, &kMixtral},
    {"qwen2_moe", true, false, 16, 0, true, false, false, false, false, 2, &kQwen2, &kQwenWindow, qkv_key},
    {"olmoe", true, false, 0, 0, false, false, false, false, true, 2, &kOlmoe, nullptr, whole_qk_norm},
    {"qwen3_moe", true, false, 4, 0, false, false, false, false, true, 2, &kQwen3, &kQwenWindow},
    {"deepseek_v2", true, false, 0, 0, false, false, false, false, true, 2, &kDeepSeekV2, nullptr, own_norms},
    {"deepseek_v3", true, false, 0, 0, false, false, false, false, true, 2, &kDeepSeekV3, nullptr, own_norms},
    {"kimi_k2", true, false, 0, 0, false, false, false, false, true, 2, &kDeepSeekV3, nullptr, own_norms},
    {"phi3", true, false, 0, 0, false, false, false, false, false, 2, nullptr, &kGivenWindow, joined_qkv},
    {"smollm3", true, true, 4, 0, false, false, false, false, false, 2, nullptr},
    {"nemotron", false, false, 0, 0, false, false, true, false, false, 2, nullptr},
    {"olmo2", true, false, 0, 0, false, false, false, false, true, 2, nullptr, nullptr, whole_qk_norm | norms_in_32_bits},
    {"bloom", false, true, 0, 0, true, true, true, false, false, 2, nullptr, nullptr,
     embedding_norm | joined_qkv | plain_attention | no_kv_key},
    {"falcon", false, true, 0, 0, false, false, true, false, false, 1, nullptr, nullptr, falcon_keys | joined_qkv},
    {"gpt_oss", true, false, 8, 64, true, true, false, false, false, 2, &kGptOss, &kGptOssWindow,
     attention_sinks | limited_gate | plain_attention},
    {"glm4_moe", true, false, 8, 0, false, false, false, false, false, 2, &kGlm, nullptr, glm_keys},
    {"qwen3_next", true, false, 2, 256, false, false, false, false, true, 2, &kQwen3Next, nullptr,
     linear_attention | output_gate | norms_in_32_bits},
    {"qwen3_5_text", true, false, 4, 256, false, false, false, false, true, 2, nullptr, nullptr,
     linear_attention | output_gate | norms_in_32_bits},
    {"qwen3_5_moe_text", true, false, 2, 256, false, false, false, false, true, 2, &kQwen35, nullptr,
     linear_attention | output_gate | norms_in_32_bits},
    {"llama4_text", true, false, 8, 128, false, false, false, false, false, 2, &kLlama4, &kLlama4Window, own_norms | llama4_keys},
    // Cohere: one norm for both parts (a LayerNorm without a bias: its weights are those of the other kind); 2 without norms of queries
    {"cohere", true, true, 0, 0, false, false, false, false, false, 1, nullptr, nullptr, whole_qk_norm},
    {"cohere2", true, true, 0, 0, false, false, false, false, false, 1, nullptr, &kFourthFull},
    {"ernie4_5", true, true, 2, 128, false, false, false, false, false, 2, nullptr},
    {"ernie4_5_moe", true, true, 4, 0, false, false, false, false, false, 2, &kErnie},
    {"minimax_m2", true, false, 8, 128, false, false, false, false, true, 2, &kMiniMax, nullptr, whole_qk_norm},
    {"apertus", false, false, 0, 0, false, false, false, false, true, 2, nullptr},
    {"glm4", true, false, 2, 128, true, false, false, false, false, 4, nullptr, nullptr, glm_keys},
    {"exaone4", true, false, 0, 0, false, false, false, false, true, 2, nullptr, &kFourthFull},
    {"olmo3", true, false, 0, 0, false, false, false, false, true, 2, nullptr, &kFourthFull, whole_qk_norm | norms_in_32_bits},
    {"granitemoehybrid", true, false, 0, 0, false, false, false, false, false, 2, &kGraniteHybrid, nullptr, state_space},
    {"bamba", true, false, 8, 0, false, false, false, false, false, 2, nullptr, nullptr, state_space},
    {"kimi_linear", true, false, 0, 0, false, false, false, false, true, 2, &kKimiLinear, nullptr, own_norms | delta_attention},
    {"nemotron_h", false, false, 8, 128, false, false, false, false, false, 1, &kNemotronH, nullptr, state_space | single_parts},
    {"olmo_hybrid", true, false, 0, 0, false, false, false, false, true, 2, nullptr, nullptr,
     linear_attention | whole_qk_norm | norms_in_32_bits},
    {"falcon_h1", true, false, 8, 0, false, false, false, false, false, 2, nullptr, nullptr, state_space | side_by_side},
    {"lfm2", true, true, 8, 0, false, false, false, false, true, 2, nullptr, nullptr, convolution},
    {"lfm2_moe", true, true, 8, 0, false, false, false, false, true, 2, &kLfm2, nullptr, convolution},
    {"afmoe", true, false, 0, 128, false, false, false, false, true, 4, &kTrinity, &kTrinityWindow, output_gate},
};

// Structures that the formulas do not cover: better no answer than a wrong one.
static constexpr Unsupported kUnsupported[] = {
    {"interleave_moe_layer_step", "own_expert_rules"},  // Llama 4 alone means these two as they are read here
    {"intermediate_size_mlp", "own_expert_keys"},
    {"moe_num_experts", "own_expert_rules"},
    {"num_moe_experts", "own_expert_rules"},
    {"moe_layer_frequency", "own_expert_rules"},
    {"zero_expert_num", "own_expert_rules"},  // LongCat-Flash
    {"ffn_config", "nested_feed_forward"},
    {"moe", "nested_feed_forward"},            // Mistral's own params.json
    {"block_configs", "nested_feed_forward"},  // Llama-Nemotron: widths of their own per layer
    {"state_size", "state_space"},
    {"mamba_proj_bias", "state_space"},
    {"hc_count", "other_parts"},                     // Qwen3.8-Flash-Next: several streams between layers,
    {"ngram_size", "other_parts"},                   // embeddings of several tokens at once
    {"hidden_size_per_layer_input", "other_parts"},  // Gemma 3n, Gemma 4 E2B and E4B: an embedding for each layer
    {"attn_type_list", "mixed_attention"},
    {"global_head_dim", "mixed_attention"},       // Gemma 4
    {"compress_ratios", "mixed_attention"},       // DeepSeek-V4
    {"hybrid_layer_pattern", "mixed_attention"},  // MiMo-V2
    {"is_encoder_decoder", "encoder"},
};
static constexpr std::ptrdiff_t kOfLlama4 = 2;
// Attention to a selection of tokens that no formula here describes.
static constexpr std::string_view kCountedAsFull[] = {"index_topk",    "attention_types",         "blocksparse_block_size",
                                                      "sparse_config", "sparse_attention_config", "cross_attention_layers"};
// In a family without them.
static constexpr Unsupported kExpertKeys[] = {
    {"num_local_experts", "experts_unlike_type"}, {"num_experts", "experts_unlike_type"},  {"n_routed_experts", "experts_unlike_type"},
    {"moe_latent_size", "other_parts"},           {"moe_num_experts", "own_expert_rules"},  // which stands above, too
};
static constexpr Unsupported kLatent{"kv_lora_rank", "latent_unlike_type"};

static constexpr std::string_view kLinear = "linear_num_key_heads";
static constexpr std::pair<Trait, Unsupported> kMixerKeys[] = {{linear_attention, {kLinear, "linear_attention"}},
                                                               {state_space, {"mamba_d_state", "state_space"}},
                                                               {state_space, {"ssm_state_size", "state_space"}},
                                                               {delta_attention, {"linear_attn_config", "linear_attention"}},
                                                               {convolution, {"conv_L_cache", "convolution"}}};

static bool is_set(const Json& config, std::string_view key) {
    const auto value = config.find(std::string(key));
    if (value == config.end() || value->is_null()) return false;
    if (value->is_boolean()) return value->get<bool>();
    return !value->is_number() || (*value != Json(0) && *value != Json(1));
}

// What some files say of nothing special: MiniMax-M2 that each layer's attention is full; ERNIE 4.5 its experts, in all layers from
// moe_layer_start_index on.
static bool is_harmless(const Json& config, std::string_view key) {
    const auto says = [&](const char* name, const char* what) {
        const auto list = config.find(name);
        return list == config.end() || list->dump().find(what) != std::string::npos;
    };
    const auto number = [&](const char* name) {
        const auto value = config.find(name);
        return value != config.end() && value->is_number_integer() ? value->get<std::int64_t>() : -1;
    };
    if (key == "attn_type_list") return !says("attn_type_list", "0");
    if (key != "moe_num_experts" || number("moe_num_experts") < 0 || number("moe_k") <= 0) return false;  // a list: those for pictures, too
    const std::int64_t last = number("moe_layer_end_index");
    return last < 0 || last + 1 == number("num_hidden_layers");
}

const Family* family_of(std::string_view type) {
    const auto found = std::find_if(std::begin(kFamilies), std::end(kFamilies), [&](const Family& family) { return family.type == type; });
    return found == std::end(kFamilies) ? nullptr : &*found;
}

std::vector<std::string_view> counted_as_full(const Json& config) {
    std::vector<std::string_view> found;
    std::copy_if(std::begin(kCountedAsFull), std::end(kCountedAsFull), std::back_inserter(found),
                 [&](std::string_view key) { return is_set(config, key); });
    return found;
}

// Not what its type says: OPT of 350 million, whose embedding is narrower than its layers; DeepSeek-V2 without latent attention
// (DeepSeek-OCR).
static bool is_other(const std::string& type, const Json& config) {
    if (type != "opt") return config.value("use_mla", Json()) == false;
    const auto width = config.find("word_embed_proj_dim"), hidden = config.find("hidden_size");
    return width != config.end() && hidden != config.end() && *width != *hidden;
}

// Types with the layers of another one. (What stands between the marks comes with the second file of the module: wasm/split.mjs.)
static const char kSame[] =
    "(second:,seed_oss=qwen2,granite=llama,ministral3=llama,exaone=llama,internlm3=llama,granitemoe=mixtral,deepseek=mixtral,"
    "deepseek_v2=mixtral,glm4v_text=glm4,glm4v_moe_text=glm4_moe,glm_moe_dsa=deepseek_v3,deepseek_v32=deepseek_v3,"
    "glm4_moe_lite=deepseek_v3,:second)";

// Of such a type. The text part of a model that also sees has them: "qwen2_5_vl_text", "qwen3_vl_moe_text".
static const Family* family_of_like(std::string type) {
    const std::string_view same = kSame;
    if (const std::size_t at = same.find(',' + type + '='); at != std::string_view::npos) {
        const std::size_t from = at + type.size() + 2;
        return family_of(same.substr(from, same.find(',', from) - from));
    }
    for (const char* sees : {"_vl", "_omni"}) {
        const std::size_t at = type.find(sees);
        if (at == std::string::npos) continue;
        type.erase(at, std::string_view(sees).size());
        break;
    }
    for (const char* part : {"_text", "_5"})
        if (const std::size_t at = type.find(part); at != std::string::npos) type.erase(at, std::string_view(part).size());
    return family_of(type);
}

static Recognised recognise_by_numbers(const std::string& type, const Json& config) {
    if (const Family* family = family_of_like(type)) return {family, true, {}};
    // The activation tells two matrices from three: gated feed-forward parts use SiLU nearly everywhere, plain ones GELU or ReLU.
    const char* activation_key = config.contains("hidden_act") ? "hidden_act" : "activation_function";
    const auto activation = config.find(activation_key);
    const std::string name = activation != config.end() && activation->is_string() ? std::string(*activation) : "";
    const auto is = [&](const char* part) { return name.find(part) != std::string::npos; };
    const bool plain = !type.starts_with("gemma") && (is("gelu") || is("relu") || is("xielu"));
    const bool latent = is_set(config, kLatent.key);
    const bool experts =
        std::any_of(std::begin(kExpertKeys), std::end(kExpertKeys), [&](const Unsupported& one) { return is_set(config, one.key); });
    // Read by that family; `key`: what told it, "" where it was the numbers alone.
    const auto like = [&](const char* other, std::string_view key) {
        Text why(key.empty() ? (type.empty() ? "import.no_type" : "import.unknown_type")
                             : (type.empty() ? "import.no_type.by_key" : "import.unknown_type.by_key"));
        if (!type.empty()) why.with("type", shown(Json(type)));
        if (!key.empty()) why.with("key", key);
        return Recognised{family_of(other), false, why.with("like", other)};
    };
    if (is_set(config, kLinear)) return like(experts ? "qwen3_5_moe_text" : "qwen3_5_text", kLinear);
    if (plain) return like("gpt_neox", activation_key);
    if (latent) return like("deepseek_v3", kLatent.key);
    return like(experts ? "mixtral" : "llama", "");
}

Recognised recognise(const std::string& type, const Json& config) {
    const Family* family = family_of(type);
    const bool other = (type == "opt" || type == "deepseek_v2") && apart(is_other)(type, config);
    return family != nullptr && !other ? Recognised{family, true, {}} : apart(recognise_by_numbers)(type, config);
}

// Parts of the model_type of those that have an encoder alone (what has one beside a decoder says is_encoder_decoder), and of those with
// recurrent layers, state spaces or linear attention (transformers, models/*/configuration_*.py; flash-linear-attention, fla/models),
// without "-" and "_". A short one is the whole type. One text, which comes with the second file of the module.
static constexpr std::string_view kNotCounted =
    "(second:,mamba,jamba,rwkv,retnet,xlstm,recurrentgemma,griffin,hgrn,deltanet,linearattn,gla,kda,"
    "bert,electra,mpnet,esm,xlm,xlnet,longformer,bigbird,roformer,layoutlm,t5,wav2vec2,hubert,clip,siglip,:second)";
static constexpr std::size_t kFirstEncoder = kNotCounted.find("bert");

// Where the type stands among them; npos: nowhere.
static std::size_t place_among(const std::string& type) {
    for (std::size_t at = kNotCounted.find(',') + 1, end; (end = kNotCounted.find(',', at)) != std::string_view::npos; at = end + 1) {
        const std::string_view part = kNotCounted.substr(at, end - at);
        if (part == type || (part.size() > 3 && type.find(part) != std::string::npos)) return at;
    }
    return std::string::npos;
}

// Of such a model the key that says so, "" where there is none. Where no type is given, the class says it.
static Unsupported what_it_is(const Json& config) {
    const auto type = config.find("model_type"), classes = config.find("architectures");
    std::string name = type != config.end() && type->is_string() ? type->get<std::string>() : "";
    const bool typed = !name.empty();
    if (!typed && classes != config.end() && classes->is_array() && !classes->empty() && (*classes)[0].is_string()) {
        name = (*classes)[0].get<std::string>();  // "BertForMaskedLM"
        for (const char* end : {"For", "Model", "LMHead"}) name = name.substr(0, name.find(end));
    }
    std::erase_if(name, [](char c) { return c == '-' || c == '_'; });
    const std::size_t place = place_among(lower_case(name));
    if (place == std::string::npos) return {"", ""};
    return {typed ? "model_type" : "architectures", typed && place < kFirstEncoder ? "other_layers" : "no_decoder"};
}

std::vector<Unsupported> unsupported(const Family& family, const Json& config) {
    std::vector<Unsupported> found;
    const auto look = [&](const Unsupported& one) {
        if (is_set(config, one.key) && !apart(is_harmless)(config, one.key)) found.push_back(one);
    };
    if (const auto type = config.find("model_type"); type == config.end() || *type != Json(family.type))  // a known type is none of those
        if (const Unsupported whole = apart(what_it_is)(config); !whole.key.empty()) found.push_back(whole);
    if (family.experts == nullptr) std::for_each(std::begin(kExpertKeys), std::end(kExpertKeys) - 1, look);
    if (!family.latent()) look(kLatent);
    for (const auto& [trait, one] : kMixerKeys)
        if (!family.has(trait)) look(one);
    std::for_each(std::begin(kUnsupported) + (family.has(llama4_keys) ? kOfLlama4 : 0), std::end(kUnsupported), look);
    return found;
}

}  // namespace fourfold
