// What a model_type of Hugging Face transformers says without a key: structure, and the defaults of its configuration class.
#pragma once
#include <string>
#include <string_view>

#include "model/model.h"

namespace fourfold {

// 0 = no default: such a key must be there where it is needed, or stands for "none".
struct ExpertDefaults {
    std::int16_t count, per_token;
    std::int16_t ffn;                       // 0 = intermediate_size
    std::int16_t shared_ffn, shared_count;  // width of all shared experts, or how many of them as wide as the others
    std::int16_t leading_dense;             // first_k_dense_replace
    std::int16_t groups = 0, groups_per_token = 0;
};
struct ExpertFamily {
    const char* count_key;  // of the names for the number of experts, its own
    ExpertDefaults usual;
    bool shared_gate, router_bias;
    bool latent;  // multi-head latent attention
};
// Where there are no experts, the shared one is the feed-forward part (transformers, models/granitemoehybrid/modular_granitemoehybrid.py).
inline bool is_shared_alone(const ExpertFamily& family) { return family.usual.shared_ffn > 0 && !family.shared_gate; }

// Sliding-window attention: the defaults of the configuration class.
struct WindowDefaults {
    std::int16_t tokens;
    std::int16_t full_every;  // every so many layers one attends to all tokens; 0 = none does
    bool needs_flag;          // only with use_sliding_window, and only in layers from max_window_layers on
};

// What one family alone has.
enum Trait : std::uint32_t {
    whole_qk_norm = 1,  // the norms of queries and keys read all heads at once
    attention_sinks = 2,
    embedding_norm = 4,
    glm_keys = 8,       // attention_bias is of queries, keys and values alone
    falcon_keys = 16,   // keys of its own for heads, norms and biases
    gelu_gate = 32,     // the feed-forward part's gate is GELU, not SiLU
    limited_gate = 64,  // what the gate reads and what it multiplies are limited to a range first
    joined_qkv = 128,   // queries, keys and values come from one matrix
    gelu_steps = 256,   // GELU by its approximation, step by step (transformers: gelu_new)
    capped_logits = 512,
    relu = 1024,
    norms_in_32_bits = 2048,   // transformers: Gemma's and OLMo 2's multiply by the scale in 32 bits
    parallel_norms = 4096,     // unless use_parallel_residual says otherwise
    plain_attention = 8192,    // transformers has no other attention for it
    linear_attention = 16384,  // some layers have linear attention
    output_gate = 32768,       // a gate behind (full) attention
    own_norms = 65536,         // use_qk_norm says something else: of latents, or of norms without weights
    no_kv_key = 131072,        // no key for the heads of keys and values; others leave it out only by default
    qkv_key = 262144,          // qkv_bias says whether queries, keys and values have biases
    llama4_keys = 524288,
    state_space = 1048576,      // some layers have a state space, by the keys of Bamba
    delta_attention = 2097152,  // some have Kimi's delta attention
    single_parts = 4194304,     // a layer is a mixer or a feed-forward part (Model::one_part)
    side_by_side = 8388608,     // attention and a state space stand in one layer (LinearAttention::beside)
    convolution = 16777216      // some layers have a convolution over a few tokens
};

struct Family {
    std::string_view type;
    bool gated;
    bool tied_by_default;             // class default of tie_word_embeddings
    std::int16_t kv_heads_default;    // 0 = as many as query heads
    std::int16_t head_dim_default;    // 0 = hidden size / heads
    bool qkv_bias, out_and_mlp_bias;  // biases where no key says otherwise
    bool layer_norm, learned_positions, qk_norm;
    std::int8_t norms_per_layer;
    const ExpertFamily* experts;                             // nullptr = every layer is dense
    const WindowDefaults* window = nullptr;                  // nullptr = none without a key
    std::uint32_t traits = 0;                                // bits of Trait
    std::int32_t heads_default = 0, vocabulary_default = 0;  // 0 = a config says them

    bool has(std::uint32_t some) const { return (traits & some) != 0; }  // of these one
    bool latent() const { return experts != nullptr && experts->latent; }
};

// Class defaults of DeepSeek-V2 and V3.
constexpr LatentAttention kLatentDefaults{1536, 512, 128, 64, 128};

// The family of that name, or nullptr.
const Family* family_of(std::string_view type);

// The family to read a config by; for an unknown type the one that its keys resemble most.
struct Recognised {
    const Family* family;
    bool known;  // otherwise no class default counts
    Text why;    // for an unknown type
};
Recognised recognise(const std::string& type, const Json& config);

// What stands in a config that the formulas do not cover: a key, and what it says of the model; empty = nothing.
struct Unsupported {
    std::string_view key, what;  // "what" ends the id of a problem
};
std::vector<Unsupported> unsupported(const Family& family, const Json& config);

// The keys of attention to a selection of tokens, which is counted as attention to all of them.
std::vector<std::string_view> counted_as_full(const Json& config);

// What a family says without a key, and the key that says otherwise. Hugging Face has the third one alone.
struct Override {
    const char* key;
    bool Family::*usual;
    bool Model::*value;
};
inline constexpr Override kOverrides[] = {{"gated_mlp", &Family::gated, &Model::gated},
                                          {"layer_norm", &Family::layer_norm, &Model::layer_norm},
                                          {"qk_layernorm", &Family::qk_norm, &Model::qk_norm},
                                          {"learned_positions", &Family::learned_positions, &Model::learned_positions}};

}  // namespace fourfold
