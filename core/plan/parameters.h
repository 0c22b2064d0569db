// Parameters of one GPU: what a stage's layers, embedding and head weigh after tensor and expert parallelism. Megatron's layout.
#pragma once
#include <algorithm>
#include <array>
#include <initializer_list>

#include "plan/shares.h"
#include "plan/stage.h"
#include "plan/symbols.h"

namespace fourfold {

// The weight matrices by name; matrices of one name have one shape in all layers.
enum class Weight {
    query_down,
    query,
    kv_down,
    kv_up,
    qkv,
    projection,
    linear_in,
    linear_out,
    linear_gates,
    fc1,
    fc2,
    expert_fc1,
    expert_fc2,
    shared_fc1,
    shared_fc2,
    multi_token,
    count
};

template <class N>
class Parameters : protected Symbols<N> {
 public:
    Parameters(const Model& model, const Plan& plan, const Stage& stage) : Symbols<N>(model, plan), stage_(stage) { shapes_.fill(0.0); }

    // Parameters that all data-parallel GPUs hold alike: everything but the experts.
    N dense() {
        N all = layers(stage_.dense.held, stage_.experts.held);
        if (stage_.has_embedding) {
            all = all + vocabulary();
            if (m_.learned_positions) all = all + as_double(m_.max_positions) * h();
            if (m_.embedding_norm) all = all + norm_parameters() * h();
        }
        if (stage_.has_head) {
            all = all + norm_parameters() * h();
            if (separate_head()) all = all + vocabulary();
            const bool expert = this->multi_token_is_expert();
            for (int i = 0; i < m_.multi_token_layers; ++i) {
                all = all + layers(expert ? 0 : 1, expert ? 1 : 0) + weight(Weight::multi_token, 2 * squared(h()) / t()) +
                      3 * norm_parameters() * h();
                if (!stage_.has_embedding) all = all + vocabulary();  // it embeds too
            }
        }
        return all;
    }
    // Parameters of the experts of this GPU.
    double expert_layers() const {
        return stage_.experts.held + (stage_.has_head && this->multi_token_is_expert() ? m_.multi_token_layers : 0);
    }
    N routed() { return expert_layers() * expert_layer(); }
    N gathered_routed() { return expert_layers() * gathered_experts(); }  // by FSDP, all layers

    // Matrices with a row per word on this GPU: embedding, head, and the embedding once more for layers that predict further tokens.
    double vocabularies() const {
        const double head = separate_head() ? 1 : 0, again = stage_.has_embedding ? 0 : m_.multi_token_layers;
        return (stage_.has_embedding ? 1 : 0) + (stage_.has_head ? head + again : 0);
    }
    N vocabulary() const { return v() / t() * h(); }
    // A tied head is the embedding itself, unless it lies on another GPU.
    bool separate_head() const { return !m_.tied || !stage_.has_embedding; }

    // One layer as it is gathered by FSDP, experts and all: the largest kind in the stage.
    N largest_layer() {
        N with_experts = 0.0;
        if (expert_layers() > 0) with_experts = layers(0, 1) + gathered_experts();
        const N plain = stage_.dense.held > 0 ? layers(1, 0) : N(0.0);
        return value_of(with_experts) > value_of(plain) ? with_experts : plain;
    }

    // Of dense() and of routed(), what lies in matrices of layers: all but vocabularies, norms, biases and the router. After both alone.
    N matrices() const {
        const double further = stage_.has_head ? m_.multi_token_layers : 0, expert = this->multi_token_is_expert() ? further : 0;
        const double plain = stage_.dense.held + further - expert, routing = stage_.experts.held + expert;
        N attention = together({Weight::query_down, Weight::query, Weight::kv_down, Weight::kv_up, Weight::qkv, Weight::projection});
        if (L::has_linear()) attention = L::averaged(attention, together({Weight::linear_in, Weight::linear_out, Weight::linear_gates}));
        N all = (m_.one_part ? plain : plain + routing) * attention;
        if (plain > 0 && L::feeds_forward()) all = all + plain * L::in_some(together({Weight::fc1, Weight::fc2}));
        if (routing > 0 && m_.experts.shared_ffn > 0) all = all + routing * together({Weight::shared_fc1, Weight::shared_fc2});
        if (routing > 0 && m_.experts.latent > 0) all = all + routing * latent_matrices();
        return further > 0 ? all + further * together({Weight::multi_token}) : all;
    }
    N expert_matrices() const {
        return expert_layers() * as_double(m_.experts.count / p_.expert_parallel) * together({Weight::expert_fc1, Weight::expert_fc2});
    }

    // Elements of every distinct matrix of the layers counted so far.
    const std::array<N, static_cast<std::size_t>(Weight::count)>& shapes() const { return shapes_; }
    const N& largest_shape() const {
        return *std::max_element(shapes_.begin(), shapes_.end(),
                                 [](const N& one, const N& other) { return value_of(one) < value_of(other); });
    }
    // The largest that is one tensor: gate and up, which are as large as the matrix behind them, are two where `joined` is false.
    N largest_matrix(bool joined) const {
        N largest = 0.0;
        for (std::size_t i = 0; i < shapes_.size(); ++i) {
            const auto which = static_cast<Weight>(i);
            const bool first = which == Weight::fc1 || which == Weight::expert_fc1 || which == Weight::shared_fc1;
            if ((joined || !first) && value_of(shapes_[i]) > value_of(largest)) largest = shapes_[i];
        }
        return largest;
    }

 private:
    using L = Symbols<N>;
    using L::as_double, L::m_, L::p_;
    using L::h, L::f, L::a, L::k, L::d, L::t, L::v, L::e, L::fan, L::norm_parameters, L::experts, L::expert_ffn, L::shared_ffn;

    N layers(double dense_layers, double expert_layers) {
        const N norms = m_.norms_per_layer * norm_parameters() * h();
        const double mixers = m_.one_part ? dense_layers : dense_layers + expert_layers;
        N all = mixers * ((L::has_linear() ? L::averaged(attention(), linear_attention()) : attention()) + norms);
        if (m_.one_part && expert_layers > 0) all = mixers > 0 ? all + expert_layers * norms : expert_layers * norms;
        if (dense_layers > 0 && L::feeds_forward()) all = all + dense_layers * L::in_some(feed_forward(Weight::fc1, h(), f(), t()));
        if (expert_layers > 0) {
            N beside = h() * experts();  // router
            if (m_.experts.router_bias) beside = beside + experts();
            if (m_.experts.latent > 0) beside = beside + latent_matrices();
            if (m_.experts.shared_ffn > 0) {
                beside = beside + feed_forward(Weight::shared_fc1, h(), shared_ffn(), t());
                if (m_.experts.shared_gate) beside = beside + h();
            }
            all = all + expert_layers * beside;
        }
        return all;
    }
    // To what experts read and back, both on every GPU (Megatron-LM, core/transformer/moe/moe_layer.py: parallel_mode "duplicated").
    [[gnu::noinline]] N latent_matrices() const { return 2 * h() * L::expert_h(); }
    N gathered_experts() {
        const double padding = expert_padding(m_, p_);
        return padding == 1 ? expert_layer() : this->number("i_x", "expert_padding", "", padding) * expert_layer();
    }
    N expert_layer() {
        return as_double(m_.experts.count / p_.expert_parallel) * feed_forward(Weight::expert_fc1, L::expert_h(), expert_ffn(), e());
    }
    N attention() { return L::latent() ? latent_attention() : plain_attention(); }
    N plain_attention() {
        const N columns = L::qkv_heads() * d() / t();
        N all = weight(Weight::qkv, h() * columns) + weight(Weight::projection, a() * d() / t() * h());
        if (m_.qkv_bias) all = all + columns;
        if (m_.attention_out_bias) all = all + h();
        if (m_.qk_norm_whole)
            all = all + norm_parameters() * (a() + k()) * d() / t();
        else if (m_.qk_norm)
            all = all + 2 * norm_parameters() * d();
        if (m_.attention_sinks) all = all + a() / t();
        return all;
    }
    // The decay of each head has a factor and a bias (Megatron-LM, core/ssm/gated_delta_net.py). A state space's numbers and norm are split
    // like its heads (mamba_mixer.py); of Kimi's first matrix the few columns of its gates' insides lie on every GPU (kda.py): not counted.
    [[gnu::noinline]] N linear_attention() {
        const LinearAttention& l = m_.linear;
        const N heads = L::linear_heads(), taps = L::number("k_l", "linear_taps", "tokens", as_double(l.taps)),
                width = L::linear_value_dim();
        N all = weight(Weight::linear_in, h() * L::linear_in() / t()) + weight(Weight::linear_out, L::linear_values() / t() * h());
        if (l.is_convolution()) return all + taps * L::linear_mixed() / t();
        if (l.is_mamba()) {
            const N own = (l.bias ? taps + 1 : taps) * L::linear_mixed() + 3 * heads;
            return all + (l.norm ? own + L::linear_values() : own) / t();
        }
        if (!l.is_kimi()) return all + (taps * L::linear_mixed() + 2 * heads) / t() + width;
        all = all + weight(Weight::linear_gates, width * heads * (L::linear_key_dim() + width) / t());
        return all + (taps * L::linear_mixed() + heads * (1 + L::linear_key_dim())) / t() + width;
    }
    N latent_attention() {
        const LatentAttention& l = m_.latent;
        const double qk = as_double(l.nope_dim + l.rope_dim);
        const N q = l.q_rank > 0 ? weight(Weight::query_down, h() * as_double(l.q_rank)) +
                                       weight(Weight::query, as_double(l.q_rank) * a() * qk / t())
                                 : weight(Weight::query, h() * a() * qk / t());
        const N kv = weight(Weight::kv_down, h() * as_double(l.kv_rank + l.rope_dim)) +
                     weight(Weight::kv_up, as_double(l.kv_rank) * a() * as_double(l.nope_dim + l.value_dim) / t());
        N all = q + kv + weight(Weight::projection, a() * as_double(l.value_dim) * h() / t());
        if (m_.qkv_bias) all = all + as_double(l.q_rank + l.kv_rank + l.rope_dim);
        if (m_.attention_out_bias) all = all + h();
        if (m_.qk_norm) all = all + norm_parameters() * as_double(l.q_rank + l.kv_rank);
        return all;
    }
    N feed_forward(Weight first, const N& reads, const N& width, const N& ranks) {
        const auto second = static_cast<Weight>(static_cast<int>(first) + 1);
        N all = weight(first, reads * width * fan() / ranks) + weight(second, width / ranks * reads);
        if (m_.mlp_bias) all = all + width * fan() / ranks + reads;
        return all;
    }
    N together(std::initializer_list<Weight> which) const {
        N all = 0.0;
        for (const Weight one : which) {
            const N& size = shapes_[static_cast<std::size_t>(one)];
            if (value_of(size) > 0) all = value_of(all) > 0 ? all + size : size;
        }
        return all;
    }
    // Notes a matrix's size under its name: the layers' matrices share them.
    N weight(Weight which, const N& size) {
        shapes_[static_cast<std::size_t>(which)] = size;
        return size;
    }

    const Stage& stage_;
    std::array<N, static_cast<std::size_t>(Weight::count)> shapes_;
};

}  // namespace fourfold
