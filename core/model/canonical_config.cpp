#include <algorithm>

#include "model/layer_kinds.h"
#include "model/model.h"
#include "model/model_families.h"

namespace fourfold {

// The keys about experts that the model's family would write.
static void write_experts(const Model& model, const ExpertFamily& family, Object& config) {
    const Experts& experts = model.experts;
    config.add(family.count_key, experts.count);
    if (experts.count == 0) {
        if (is_shared_alone(family)) config.add("shared_expert_intermediate_size", model.ffn);
        return;
    }
    config.add("num_experts_per_tok", experts.per_token);
    if (experts.groups > 0 || family.usual.groups > 0)
        config.add("n_group", std::max<std::int64_t>(experts.groups, 1))
            .add("topk_group", std::max<std::int64_t>(experts.groups_per_token, 1));
    if (experts.latent > 0) config.add("moe_latent_size", experts.latent);
    if (family.usual.ffn > 0 || experts.ffn != model.ffn) config.add("moe_intermediate_size", experts.ffn);
    if (family.usual.shared_count > 0 && experts.shared_ffn % experts.ffn == 0)
        config.add("n_shared_experts", experts.shared_ffn / experts.ffn);
    else if (family.usual.shared_ffn > 0 || experts.shared_ffn > 0)
        config.add("shared_expert_intermediate_size", experts.shared_ffn);
    Json dense = Json::array();
    for (std::size_t i = 0; i < model.expert_layers.size() && !model.one_part; ++i)
        if (!model.expert_layers.has_experts(static_cast<std::int64_t>(i))) dense.push_back(i);
    const bool leading = dense.empty() || dense.back() == dense.size() - 1;
    const bool has_key = family.latent || family.usual.leading_dense > 0;
    // every family reads the number, and a link holds no list
    if (has_key || (leading && !dense.empty())) config.add("first_k_dense_replace", leading ? static_cast<std::int64_t>(dense.size()) : 0);
    if (!leading) config.add("mlp_only_layers", std::move(dense));
}

Json canonical_config(const Model& model) {
    Object config;
    config.add("model_type", model.type)
        .add("hidden_size", model.hidden)
        .add("intermediate_size", model.ffn)
        .add("num_hidden_layers", model.layers)
        .add("num_attention_heads", model.heads)
        .add("num_key_value_heads", model.kv_heads)
        .add("vocab_size", model.vocabulary)
        .add("tie_word_embeddings", model.tied);
    if (model.max_positions > 0) config.add("max_position_embeddings", model.max_positions);
    const Family* family = family_of(model.type);
    const bool usual_bias = family != nullptr && family->out_and_mlp_bias;
    const bool no_out = family != nullptr && family->has(glm_keys);
    if (const bool bias = no_out ? model.qkv_bias : model.attention_out_bias; bias != (no_out ? family->qkv_bias : usual_bias))
        config.add("attention_bias", bias);
    if (model.mlp_bias != usual_bias) config.add("mlp_bias", model.mlp_bias);
    if (family != nullptr && model.norms_per_layer != family->norms_per_layer)
        config.add("norms_per_layer", std::int64_t{model.norms_per_layer});
    if (family != nullptr && model.attention_gate != family->has(output_gate)) config.add("attn_output_gate", model.attention_gate);
    for (const auto& [key, usual, value] : kOverrides)
        if (family != nullptr && model.*value != family->*usual) config.add(key, model.*value);
    if (family != nullptr && family->has(qkv_key) && !model.qkv_bias) config.add("qkv_bias", false);
    if (family != nullptr && family->experts != nullptr) write_experts(model, *family->experts, config);
    if (const LatentAttention& latent = model.latent; latent.kv_rank > 0)
        config.add("q_lora_rank", latent.q_rank > 0 ? Json(latent.q_rank) : Json())
            .add("kv_lora_rank", latent.kv_rank)
            .add("qk_nope_head_dim", latent.nope_dim)
            .add("qk_rope_head_dim", latent.rope_dim)
            .add("v_head_dim", latent.value_dim);
    else
        config.add("head_dim", model.head_dim);
    write_layer_kinds(model, family, config);
    if (model.multi_token_layers > 0) config.add("num_nextn_predict_layers", std::int64_t{model.multi_token_layers});
    if (!model.label.empty()) config.add("_name_or_path", model.label);
    return config;
}

}  // namespace fourfold
