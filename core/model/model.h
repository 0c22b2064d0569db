// The transformer to be trained, as far as memory and time depend on it, read from a Hugging Face config.json.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "model/expert_layers.h"

namespace fourfold {

// Mixture of experts: count = 0 means that every layer is dense.
struct Experts {
    std::int64_t count = 0;
    std::int64_t per_token = 0;   // experts that each token visits (top-k)
    std::int64_t ffn = 0;         // width of one expert
    std::int64_t shared_ffn = 0;  // total width of the shared experts, 0 = none
    bool shared_gate = false;
    bool router_bias = false;  // one value per expert that evens out their load (DeepSeek-V3)
    // A token's experts lie in at most `groups_per_token` of so many equal groups of neighbours (DeepSeek-V3, arXiv 2412.19437, section
    // 2.1.2); 0 = anywhere.
    std::int64_t groups = 0, groups_per_token = 0;
    // Two more matrices lead from the hidden values of a token to so many, which its experts read, and from those that they write back;
    // 0 = they read the hidden values themselves. (Nemotron 3 Super; Megatron-LM, core/transformer/moe/moe_layer.py)
    std::int64_t latent = 0;
};

// Multi-head latent attention (DeepSeek): kv_rank = 0 means ordinary attention.
struct LatentAttention {
    std::int64_t q_rank = 0;  // 0 = queries are projected directly
    std::int64_t kv_rank = 0;
    std::int64_t nope_dim = 0;   // values per head without position
    std::int64_t rope_dim = 0;   // values per head with rotary position
    std::int64_t value_dim = 0;  // values per head of V
};

// Attention to a part of the earlier tokens: tokens = 0 means that every layer attends to all of them.
struct AttentionWindow {
    std::int64_t tokens = 0;           // a token attends to so many, itself among them
    bool chunks = false;               // to those of its own chunk of so many tokens alone; otherwise to the latest so many
    std::vector<std::uint8_t> layers;  // per layer, 1 = with the window; empty = none
};

// What such a layer has in the place of attention to all earlier tokens. Each keeps a state of one size instead of their keys and values:
//   delta  a gated delta rule (S. Yang et al., arXiv 2412.06464; Qwen3-Next, Qwen3.5)
//   mamba  a state space (Mamba-2: T. Dao, A. Gu, arXiv 2405.21060; Bamba, Granite 4.0 H): its B are keys, its C queries, its x values, its
//          groups heads of keys, its d_state their width (transformers, models/bamba/modular_bamba.py, BambaMixer)
//   kimi   a delta rule with a decay for each value of a key, whose gates come from two matrices of a low rank, the width of a head (Kimi
//          Linear, arXiv 2510.26692; flash-linear-attention, fla/layers/kda.py)
//   convolution  no state: a convolution over a few tokens between two gates (LFM2; transformers, models/lfm2/modular_lfm2.py,
//          Lfm2ShortConv); its first matrix writes both gates and what the convolution reads, which are all as wide as the values
enum class Mixer : std::uint8_t { delta, mamba, kimi, convolution };
// Layers with one of these, which are all called linear attention here: value_heads = 0 means that there are none.
struct LinearAttention {
    std::int64_t key_heads = 0;        // of queries, and of keys
    std::int64_t value_heads = 0;      // of values and output; a multiple of key_heads
    std::int64_t key_dim = 0;          // values per head of Q and K
    std::int64_t value_dim = 0;        // values per head of V
    std::int64_t taps = 0;             // tokens that its convolution reads, the token itself among them
    std::vector<std::uint8_t> layers;  // per layer, 1 = linear; with one part in each, the place of its letter in kLetters
    std::int64_t count = 0;            // of them
    Mixer kind = Mixer::delta;
    bool bias = false;        // of the convolution
    bool norm = true;         // of a state space: its output goes through a norm
    bool beside = false;      // such a layer has attention, too, side by side (Falcon-H1, arXiv 2507.22448)
    std::int32_t chunk = 64;  // tokens that its kernels work on at once (flash-linear-attention, ops/gated_delta_rule/chunk.py)

    bool any() const { return value_heads > 0; }
    bool is_mamba() const { return kind == Mixer::mamba; }
    bool is_kimi() const { return kind == Mixer::kimi; }
    bool is_convolution() const { return kind == Mixer::convolution; }
    std::int64_t keys() const { return key_heads * key_dim; }
    std::int64_t values() const { return value_heads * value_dim; }
    std::int64_t in() const;     // what its first matrix writes
    std::int64_t mixed() const;  // what its convolution reads
    std::int64_t gates() const;  // weights of its gates' second matrices
};

struct Model {
    std::string id;     // "" for a config that a user brought
    std::string label;  // as people call it; "" where nobody gave it a name
    std::string type;   // Hugging Face model_type, "llama"
    std::int64_t layers = 0;
    std::int64_t hidden = 0;         // h, values per token between layers
    std::int64_t ffn = 0;            // f, width of the (dense) feed-forward part
    std::int64_t heads = 0;          // a, query heads
    std::int64_t kv_heads = 0;       // k, key/value heads (grouped-query attention)
    std::int64_t head_dim = 0;       // d, values per head of Q and K
    std::int64_t vocabulary = 0;     // as in the config, not padded
    std::int64_t max_positions = 0;  // longest sequence the model was made for; 0 = not said
    bool gated = true;               // gated feed-forward (SwiGLU): three matrices instead of two
    bool gelu_gate = false;          // the gate is GELU (GeGLU); no number depends on it
    bool limited_gate = false;       // values are limited to a range before the gate (gpt-oss: swiglu_limit)
    bool tied = false;               // input embedding and output head share their weights
    bool qkv_bias = false;
    bool attention_out_bias = false;
    bool mlp_bias = false;
    bool layer_norm = false;         // LayerNorm has scale and bias, RMSNorm a scale only
    bool learned_positions = false;  // max_positions more rows of h
    bool qk_norm = false;            // a norm of d values on queries and on keys; with latent attention, on the latents
    bool qk_norm_whole = false;      // it reads all heads at once: a*d and k*d values (OLMo 2)
    bool attention_sinks = false;    // a learned logit per head beside the scores (gpt-oss)
    bool attention_gate = false;     // the output is multiplied with a gate, which the matrix of the queries writes too
    bool plain_attention = false;    // transformers computes the scores in steps, whatever PyTorch could do
    bool embedding_norm = false;     // a norm behind the embedding (BLOOM)
    // As transformers computes it; other frameworks differ (memory/single_operations.h).
    bool joined_qkv = false;        // queries, keys and values come from one matrix
    bool gelu_steps = false;        // GELU in single steps
    bool capped_logits = false;     // by a hyperbolic tangent
    bool relu = false;              // the activation function of a feed-forward part without a gate
    bool norms_in_32_bits = false;  // multiply by their scale before they go back to 16
    bool parallel_norms = false;    // both norms of a layer read the same
    int norms_per_layer = 2;        // 1: attention and feed-forward part read one and the same (Falcon)
    Experts experts;
    ExpertLayers expert_layers;  // those with experts in the place of the dense feed-forward part
    LatentAttention latent;
    AttentionWindow window;
    LinearAttention linear;
    int multi_token_layers = 0;  // extra layers that predict further tokens (MTP)
    bool one_part = false;  // each layer is attention, a state space or a feed-forward part (Nemotron-H, arXiv 2504.03624, section 2.1)
    std::int64_t feed_forward_layers = 0;  // of these, those that are a dense feed-forward part

    // Layers that formulas give one size, the average over their kinds: all; of those with one part, all but experts.
    std::int64_t plain_layers() const { return one_part ? layers - expert_layers.count() : layers; }
    std::int64_t expert_hidden() const { return experts.latent > 0 ? experts.latent : hidden; }  // values that an expert reads
    std::int64_t dense_layers() const { return one_part ? feed_forward_layers : layers - expert_layers.count(); }
};

// Attention, a state space, a dense feed-forward part, experts: what a letter says of a layer.
constexpr std::string_view kLetters = "*M-E";
void set_parts(Model& model, std::string_view letters);
std::string parts_of(const Model& model);

// The part of the layers whose attention has the window.
double windowed_share(const Model& model);
// Of the plain layers the part with linear attention, those that are a feed-forward part alone, and those with attention.
inline double linear_part(const Model& model) {
    return model.linear.any() ? static_cast<double>(model.linear.count) / static_cast<double>(model.plain_layers()) : 0;
}
inline double feed_forward_part(const Model& model) {
    return static_cast<double>(model.feed_forward_layers) / static_cast<double>(model.plain_layers());
}
inline double full_part(const Model& model) { return model.linear.beside ? 1 : 1 - linear_part(model) - feed_forward_part(model); }
// The n of "one layer in n has full attention, the last of each n"; 0: the layers follow no such rule.
std::int64_t full_attention_every(const LinearAttention& linear);

// What an import says about every key of the config.
struct ImportReport {
    std::vector<std::string> used;
    std::vector<std::string> ignored;
    struct Assumed {
        std::string key;
        Json value;
        Text why;
    };
    std::vector<Assumed> assumed;
};

// Reads an (already parsed) config. Every missing, mistyped, contradictory or unsupported key adds a problem whose field starts with
// `prefix` ("model." inside a job, "" for a pasted file); nullopt if any.
std::optional<Model> read_model(const Json& config, std::string_view prefix, Problems& problems, ImportReport& report);

// The Hugging Face keys that determine `model`, each with its resolved value; read_model(canonical_config(m)) gives m again.
Json canonical_config(const Model& model);

// Exact number of weights as published: without vocabulary padding, and without the layers that predict further tokens, which published
// totals leave out (DeepSeek-V3: 671B, while its files also hold 14B of those).
std::int64_t parameter_count(const Model& model);
// Those that a token meets: without the experts that it is not sent to.
std::int64_t active_parameters(const Model& model);

}  // namespace fourfold
