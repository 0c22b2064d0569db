// The arguments of a model: Megatron-LM d98e8a64dd, megatron/training/arguments.py.
#include <algorithm>

#include "base/text.h"
#include "formats/megatron/arguments.h"

namespace fourfold {

using To = MegatronArguments;
using Name = std::string_view;  // of the row's field

static void write_attention(To& to, Name) {
    const Model& m = to.model;
    to.number("--num-attention-heads", m.heads);
    if (const LatentAttention& latent = m.latent; latent.kv_rank > 0) {
        to.flag("--multi-latent-attention");
        if (!to.knows("--multi-latent-attention")) return;
        to.number("--q-lora-rank", latent.q_rank, 0);
        to.number("--kv-lora-rank", latent.kv_rank);
        to.number("--qk-head-dim", latent.nope_dim);
        to.number("--qk-pos-emb-head-dim", latent.rope_dim);
        to.number("--v-head-dim", latent.value_dim);
        to.flag("--no-rope-fusion");  // refused up to 0.12 (transformer_config.py), then an experiment (fused_mla_yarn_rope_apply.py)
        return;
    }
    if (m.kv_heads != m.heads) {  // the number alone has no effect
        to.flag("--group-query-attention");
        to.number("--num-query-groups", m.kv_heads);
    }
    if (m.head_dim * m.heads != m.hidden) to.number("--kv-channels", m.head_dim);
}

// The linear layers have biases all or none, queries, keys and values may have them alone. A model with experts has them since 0.15, where
// no expert is split (transformer_config.py).
static void write_biases(To& to, Name) {
    const Model& m = to.model;
    const bool has = m.mlp_bias || m.attention_out_bias;
    const bool can = m.experts.count == 0 || (to.is_from(15) && to.plan.expert_tensor_parallel == 1);
    if (has && !can) to.leave_out("export.left_out.biases");
    if (!has || !can) {
        to.flag("--disable-bias-linear");
        to.when(m.qkv_bias, "--add-qkv-bias");
    } else if (!m.mlp_bias || !m.attention_out_bias || !m.qkv_bias) {
        to.leave_out("export.left_out.biases");
    }
}

// "([0]*3+[1]*58)": 1 for a layer of experts, or with linear attention, in Python.
static std::string layer_list(const std::vector<std::uint8_t>& layers) {
    std::string text;
    for (std::size_t i = 0; i < layers.size();) {
        std::size_t end = i;
        while (end < layers.size() && layers[end] == layers[i]) ++end;
        text += joined({text.empty() ? "" : "+", layers[i] != 0 ? "[1]*" : "[0]*", std::to_string(end - i)});
        i = end;
    }
    return joined({"'(", text, ")'"});
}

static void write_experts(To& to, Name) {
    const Experts& e = to.model.experts;
    const auto& layers = to.model.expert_layers;
    if (e.count == 0) return;
    to.number("--num-experts", e.count);
    to.number("--moe-router-topk", e.per_token);
    to.when(e.per_token == 1, "--moe-router-pre-softmax");  // of one expert alone a softmax is always 1: transformer_config.py refuses it
    to.number("--moe-router-num-groups", e.groups, 0);
    if (to.knows("--moe-router-num-groups")) to.number("--moe-router-group-topk", e.groups_per_token, 0);
    to.number("--moe-ffn-hidden-size", e.ffn);
    to.number("--moe-shared-expert-intermediate-size", e.shared_ffn, 0);
    to.number("--moe-latent-size", e.latent, 0);
    if (layers.are_mixed() && !to.model.one_part) to.flag("--moe-layer-freq", layer_list({layers.begin(), layers.end()}));
    to.when(e.shared_gate, "--moe-shared-expert-gate");
    if (!e.router_bias) return;
    if (to.knows("--moe-router-enable-expert-bias")) to.flag("--moe-router-score-function", "sigmoid");  // arguments.py asks for it
    to.flag("--moe-router-enable-expert-bias");
}

static void write_linear(To& to, Name) {
    const LinearAttention& linear = to.model.linear;
    to.when(to.model.attention_gate, "--attention-output-gate");
    if (!linear.any()) return;
    if (to.model.one_part && linear.is_mamba()) {  // its letters are Megatron-LM's
        to.flag("--is-hybrid-model");
        if (!to.knows("--is-hybrid-model")) return;
        to.flag("--hybrid-override-pattern", joined({"'", parts_of(to.model), "'"}));
        to.flag("--spec", "megatron.core.models.mamba.mamba_layer_specs mamba_stack_spec");
        to.number("--mamba-state-dim", linear.key_dim);
        to.number("--mamba-head-dim", linear.value_dim);
        to.number("--mamba-num-groups", linear.key_heads);
        to.number("--mamba-num-heads", linear.value_heads, 2 * to.model.hidden / linear.value_dim);
        return;
    }
    if (linear.kind != Mixer::delta) return to.leave_out("export.left_out.mixers");
    to.flag("--experimental-attention-variant", "gated_delta_net");
    if (!to.knows("--experimental-attention-variant")) return;
    if (const std::int64_t every = full_attention_every(linear); every > 0)
        to.number("--linear-attention-freq", every);
    else
        to.flag("--linear-attention-freq", layer_list(linear.layers));
    to.number("--linear-num-key-heads", linear.key_heads);
    to.number("--linear-num-value-heads", linear.value_heads);
    to.number("--linear-key-head-dim", linear.key_dim);
    to.number("--linear-value-head-dim", linear.value_dim);
    to.number("--linear-conv-kernel-dim", linear.taps);
}

// Where nothing is said, positions are learned. It has none that weigh the distance of tokens, as BLOOM does.
static void write_positions(To& to, Name) {
    const Model& m = to.model;
    if (m.type == "bloom" || m.one_part) return to.flag("--position-embedding-type", "none");
    if (!m.learned_positions) to.flag("--position-embedding-type", "rope");
}

// Its window has the tokens before one; every so many layers, or those with 0 in a list, attend to all.
static void write_window(To& to) {
    const AttentionWindow& window = to.model.window;
    if (window.tokens == 0) return;
    if (window.chunks || to.model.linear.any()) return to.leave_out(Text("export.left_out.window").with("tokens", window.tokens));
    to.flag("--window-size", joined({std::to_string(window.tokens - 1), ",0"}));
    const auto full = std::find(window.layers.begin(), window.layers.end(), 0);
    if (!to.knows("--window-size") || full == window.layers.end()) return;
    const std::int64_t every = full - window.layers.begin() + 1;
    bool regular = every > 1;
    for (std::size_t i = 0; i < window.layers.size(); ++i)
        regular = regular && (window.layers[i] != 0) == ((static_cast<std::int64_t>(i) + 1) % every != 0);
    to.flag("--window-attn-skip-freq", regular ? std::to_string(every) : layer_list(window.layers));
}

// What a model may have besides.
static void write_others(To& to, Name) {
    const Model& m = to.model;
    to.leave_out("export.left_out.config_flags");
    if (m.qk_norm_whole) to.leave_out("export.left_out.qk_norm_whole");
    if (m.attention_sinks) to.flag("--softmax-type", "learnable");
    if (m.embedding_norm) to.leave_out("export.left_out.embedding_norm");
    if (m.norms_per_layer != 2 && !m.one_part) to.leave_out(Text("export.left_out.norms").with("norms", m.norms_per_layer));
    write_window(to);
}

static constexpr MegatronRow kModelRows[] = {
    {"layers", [](To& to, Name) { to.number("--num-layers", to.model.layers); }},
    {"hidden", [](To& to, Name) { to.number("--hidden-size", to.model.hidden); }},
    {"ffn", [](To& to, Name) { to.number("--ffn-hidden-size", to.model.ffn); }},
    {"heads", write_attention},
    {"vocabulary", [](To& to, Name) { to.number("--vocab-size", to.model.vocabulary); }},
    {"max_positions",
     [](To& to, Name) { to.number("--max-position-embeddings", std::max(to.model.max_positions, to.plan.sequence_length)); }},
    {"learned_positions", write_positions},
    {"tied", [](To& to, Name) { to.when(!to.model.tied, "--untie-embeddings-and-output-weights"); }},
    {"gated",
     [](To& to, Name) {
         to.when(to.model.gated && !to.model.gelu_gate, "--swiglu");
         to.when(!to.model.gated && to.model.type.starts_with("nemotron"), "--squared-relu");  // its config.json: "relu2"
         if (to.model.gelu_gate) to.leave_out("export.left_out.gelu_gate");
     }},
    {"layer_norm",
     [](To& to, Name) {
         if (!to.model.layer_norm) to.flag("--normalization", "RMSNorm");
     }},
    {"bias", write_biases},
    {"qk_norm", [](To& to, Name) { to.when(to.model.qk_norm && !to.model.qk_norm_whole, "--qk-layernorm"); }},
    {"experts", write_experts},
    {"linear", write_linear},
    {"multi_token_layers", [](To& to, Name) { to.number("--mtp-num-layers", to.model.multi_token_layers, 0); }},
    {"others", write_others},
};

const std::span<const MegatronRow> kMegatronModelRows = kModelRows;

}  // namespace fourfold
