// Based on the configuration classes of Hugging Face transformers (models/*/configuration_*.py): class defaults.
#include "model/model_families.h"

#include <algorithm>
#include <iterator>

namespace fourfold {

static constexpr ExpertFamily kMixtral{"num_local_experts", {8, 2, 0, 0, 0, 0}, false, false, false};
static constexpr ExpertFamily kQwen2{"num_experts", {60, 4, 1408, 5632, 0, 0}, true, false, false};
static constexpr ExpertFamily kQwen3{"num_experts", {128, 8, 768, 0, 0, 0}, false, false, false};
static constexpr ExpertFamily kDeepSeekV2{"n_routed_experts", {64, 0, 1407, 0, 2, 0}, false, false, true};
static constexpr ExpertFamily kDeepSeekV3{"n_routed_experts", {256, 8, 2048, 0, 1, 3}, false, true, true};

static constexpr WindowDefaults kMistralWindow{4096, 0, false}, kGemma2Window{4096, 2, false}, kGemma3Window{4096, 6, false},
    kQwenWindow{4096, 0, true};

static constexpr Family kFamilies[] = {
    // type        gated  tied   kv d    qkv    o+mlp  LayerNorm pos qk   norms  experts window
    {"llama", true, false, 0, 0, false, false, false, false, false, 2, nullptr},
    {"mistral", true, false, 8, 0, false, false, false, false, false, 2, nullptr, &kMistralWindow},
    {"qwen2", true, false, 0, 0, true, false, false, false, false, 2, nullptr, &kQwenWindow},
    {"qwen3", true, false, 0, 128, false, false, false, false, true, 2, nullptr, &kQwenWindow},
    {"gemma", true, true, 0, 256, false, false, false, false, false, 2, nullptr},
    {"gemma2", true, true, 0, 256, false, false, false, false, false, 4, nullptr, &kGemma2Window},
    {"gemma3_text", true, true, 0, 256, false, false, false, false, true, 4, nullptr, &kGemma3Window},
    {"gpt2", false, true, 0, 0, true, true, true, true, false, 2, nullptr},
    {"gpt_neox", false, false, 0, 0, true, true, true, false, false, 2, nullptr},
    {"mixtral", true, false, 8, 0, false, false, false, false, false, 2, &kMixtral},
    {"qwen2_moe", true, false, 16, 0, true, false, false, false, false, 2, &kQwen2, &kQwenWindow},
    {"qwen3_moe", true, false, 4, 0, false, false, false, false, true, 2, &kQwen3, &kQwenWindow},
    {"deepseek_v2", true, false, 0, 0, false, false, false, false, true, 2, &kDeepSeekV2},
    {"deepseek_v3", true, false, 0, 0, false, false, false, false, true, 2, &kDeepSeekV3},
};

// Structures that the formulas do not cover: better no answer than a wrong one.
static constexpr Unsupported kUnsupported[] = {
    {"moe_num_experts", "places its experts by rules of its own"},
    {"num_moe_experts", "places its experts by rules of its own"},
    {"moe_layer_frequency", "places its experts by rules of its own"},
    {"interleave_moe_layer_step", "places its experts by rules of its own"},
    {"intermediate_size_mlp", "has dense and expert layers with keys of their own"},
    {"ffn_config", "describes its feed-forward part in a nested object"},
    {"mamba_d_state", "has state-space layers"},
    {"ssm_state_size", "has state-space layers"},
    {"state_size", "has state-space layers"},
    {"hybrid_override_pattern", "has state-space layers"},
    {"linear_num_key_heads", "has linear-attention layers"},
    {"linear_attn_config", "has linear-attention layers"},
    {"attn_type_list", "mixes kinds of attention"},
    {"conv_L_cache", "has convolution layers"},
    {"is_encoder_decoder", "has an encoder beside the decoder"},
};
// Attention to a selection of tokens that no formula here describes.
static constexpr Unsupported kCountedAsFull[] = {
    {"index_topk", "an indexer chooses the tokens to attend to (sparse attention); short sequences are trained with all of them"},
    {"attention_types", "its local layers attend to a window"},
    {"blocksparse_block_size", "some layers attend to blocks of the tokens"},
    {"sparse_config", "its layers attend to blocks of the tokens"},
};
// In a family without them.
static constexpr Unsupported kExperts[] = {
    {"num_local_experts", "uses a mixture of experts, unlike its model_type"},
    {"num_experts", "uses a mixture of experts, unlike its model_type"},
    {"n_routed_experts", "uses a mixture of experts, unlike its model_type"},
};
static constexpr Unsupported kLatent{"kv_lora_rank", "uses multi-head latent attention, unlike its model_type"};

static bool is_set(const Json& config, std::string_view key) {
    const auto value = config.find(std::string(key));
    return value != config.end() && !value->is_null() && *value != Json(false) && *value != Json(0) && *value != Json(1);
}

const Family* family_of(std::string_view type) {
    const auto found = std::find_if(std::begin(kFamilies), std::end(kFamilies), [&](const Family& family) { return family.type == type; });
    return found == std::end(kFamilies) ? nullptr : &*found;
}

std::vector<Unsupported> counted_as_full(const Json& config) {
    std::vector<Unsupported> found;
    std::copy_if(std::begin(kCountedAsFull), std::end(kCountedAsFull), std::back_inserter(found),
                 [&](const Unsupported& one) { return is_set(config, one.key); });
    return found;
}

Recognised recognise(const std::string& type, const Json& config) {
    if (const Family* family = family_of(type)) return {family, true, ""};
    // The activation tells two matrices from three: gated feed-forward parts use SiLU nearly everywhere, plain ones GELU or ReLU.
    const auto activation = config.find(config.contains("hidden_act") ? "hidden_act" : "activation_function");
    const std::string name = activation != config.end() && activation->is_string() ? std::string(*activation) : "";
    const bool plain = !type.starts_with("gemma") && (name.find("gelu") != std::string::npos || name.find("relu") != std::string::npos);
    const bool latent = is_set(config, kLatent.key);
    const bool experts =
        std::any_of(std::begin(kExperts), std::end(kExperts), [&](const Unsupported& one) { return is_set(config, one.key); });
    const std::string why =
        (type.empty() ? "no model_type is given" : shown(Json(type)).dump() + " is not known here") + "; read as a model built like ";
    if (plain) return {family_of("gpt_neox"), false, why + "GPT-NeoX, because of its activation " + shown(Json(name)).dump()};
    if (latent) return {family_of("deepseek_v3"), false, why + "DeepSeek-V3, because of its kv_lora_rank"};
    if (experts) return {family_of("mixtral"), false, why + "Mixtral, by its numbers"};
    return {family_of("llama"), false, why + "Llama, by its numbers"};
}

std::vector<Unsupported> unsupported(const Family& family, const Json& config) {
    std::vector<Unsupported> found;
    const auto look = [&](const Unsupported& one) {
        if (is_set(config, one.key)) found.push_back(one);
    };
    if (family.experts == nullptr) std::for_each(std::begin(kExperts), std::end(kExperts), look);
    if (!family.latent()) look(kLatent);
    std::for_each(std::begin(kUnsupported), std::end(kUnsupported), look);
    return found;
}

}  // namespace fourfold
