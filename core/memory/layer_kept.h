// What a layer keeps for its backward pass, or would keep if it were not recomputed, item by item. For memory_detailed.cpp, which names the
// sources.
#pragma once
#include <algorithm>
#include <array>
#include <span>

#include "memory/memory.h"
#include "memory/operation_outputs.h"
#include "memory/single_operations.h"
#include "plan/adapters.h"

namespace fourfold {

template <class N>
class LayerKept : Symbols<N> {
 public:
    enum class Kept { every_layer, dense, experts };
    struct PerLayer {
        Item item;
        Kept kept;
        N bytes;
    };

    LayerKept(const Model& model, const Plan& plan, const Framework& framework, const Stage& stage)
        : Symbols<N>(model, plan, stage.longest_slice), fw_(framework), stage_(stage) {
        attention_kept();
        feed_forward_kept();
        if (plan.recompute == Recompute::operations) keep_outputs();
    }
    std::span<const PerLayer> items() const { return std::span(per_layer_).first(kept_count_); }
    // Of one layer, with experts or without.
    N bytes(bool expert) const {
        N sum = 0.0;
        bool empty = true;
        for (const PerLayer& one : items()) {
            if (!kept_by(one, expert)) continue;
            sum = empty ? one.bytes : sum + one.bytes;
            empty = false;
        }
        return sum;
    }
    // Of the layer whose backward pass runs: what was not kept but computed again.
    const N& again_attention() const { return again_attention_; }
    const N& again_feed_forward() const { return again_feed_forward_; }
    const N& again_operations() const { return again_operations_; }

    bool keeps_scores() const { return fw_.attention == AttentionKernel::unfused || fw_.attention == AttentionKernel::local; }
    N scores() const { return b() * a() / t() * squared(s()) / c(); }
    // Where heads are swapped, every GPU of a sequence needs one of its own (DeepSpeed-Ulysses, arXiv 2309.14509).
    N kept_kv_heads() const { return p_.swaps_heads() && value_of(k()) < value_of(c() * t()) ? c() * t() : k(); }
    // Bytes of a value that a matrix returns.
    double matrix_output() const { return frozen_in_32_bits(p_) ? 4 : 2; }
    double matrix_input() const { return fp8() && fw_.stores_fp8 ? 1 : matrix_output(); }  // of what reads it
    bool tiled() const { return p_.feed_forward_tiles > 1; }
    // In the backward pass of linear attention, beside what was kept: states at the start of every chunk and their gradients; queries,
    // keys, values as the chunks see them, and all gradients up to that of the first matrix' output.
    [[gnu::noinline]] N linear_backward() const {
        // of both gates, their products and the convolution; all is as wide
        if (m_.linear.is_convolution()) return 2 * tokens() / t() * (L::linear_in() + 3 * L::linear_values());
        const N heads = L::linear_heads(), key = L::linear_key_dim(), value = L::linear_value_dim();
        const double C = as_double(m_.linear.chunk);
        const N states = 2 * key * value / C;
        // in 32 bits states and their gradients, then both again in 16, and the products of each group's keys and queries; what is computed
        // again, and the gradients (mamba_ssm, ops/triton/ssd_combined.py)
        if (m_.linear.is_mamba())
            return 2 * tokens() / t() *
                   (heads * (3 * states + 2 * C / L::heads_of_group()) + 3 * L::linear_values() + 2 * L::linear_mixed() + L::linear_in());
        // the decay of each value in 32 bits, and four more for keys, three for values; gradients of queries, keys and decay in 32 bits, of
        // values twice, and of both products of a chunk (flash-linear-attention, ops/kda/chunk_bwd.py)
        if (m_.linear.is_kimi()) return 2 * tokens() / t() * heads * (states + 11 * key + 6 * value + 4 * C);
        return 2 * tokens() / t() * (heads * (states + 3 * key) + 6 * L::linear_values() + 2 * L::linear_mixed() + L::linear_in());
    }
    N tiles() const { return number("n_t", "feed_forward_tiles", "", as_double(p_.feed_forward_tiles)); }

 private:
    using L = Symbols<N>;
    using L::as_double, L::m_, L::p_, L::number, L::tokens, L::split_tokens, L::routed_tokens, L::latent;
    using L::h, L::f, L::a, L::k, L::d, L::t, L::c, L::b, L::s, L::e, L::fan, L::norm_parameters, L::experts, L::expert_ffn, L::shared_ffn;
    static constexpr double kRouterBytes = 14;  // per token and expert
    // Per attention score: of a fused softmax and of single operations; and what dropout adds to each.
    static constexpr double kScoreBytes = 2, kScoreDropoutBytes = 3, kScoreCopiesBytes = 6, kScoreCopiesDropoutBytes = 1;

    bool is_dense() const { return m_.experts.count == 0; }
    bool fp8() const { return is_fp8(p_.precision); }
    bool kept_by(const PerLayer& one, bool expert) const { return one.kept == Kept::every_layer || (one.kept == Kept::experts) == expert; }
    // What a module keeps; where it is recomputed, that exists for one layer alone, in the backward pass.
    void keep(Item item, Kept kept, const N& bytes, bool recomputed = false) {
        if (!recomputed) {
            per_layer_[kept_count_++] = {item, kept, bytes};
            return;
        }
        if (kept != Kept::every_layer && (kept == Kept::experts) != stage_.last_is_expert) return;
        // a moment at which no such layer is alive (all wait for their weight gradients) has no backward pass that would need it
        if ((stage_.last_is_expert ? stage_.experts.alive : stage_.dense.alive) < 1) return;
        N& again = item >= Item::qkv_activations && item <= Item::attention_scores ? again_attention_ : again_feed_forward_;
        again = value_of(again) > 0 ? again + bytes : bytes;
    }

    // What operations return stays, in place of what they read. In the backward pass all of a layer is there once more.
    [[gnu::noinline]] void keep_outputs() {
        const bool last = stage_.last_is_expert, is_alive = (last ? stage_.experts.alive : stage_.dense.alive) >= 1;
        const N whole = bytes(last);
        kept_count_ = 0;
        const OperationOutputs<N> dense(m_, p_, stage_, false), mixture(m_, p_, stage_, true);
        keep(Item::checkpoints, Kept::every_layer, dense.layer_input());
        keep(Item::matrix_outputs, Kept::dense, dense.matrices());
        if (!is_dense()) keep(Item::matrix_outputs, Kept::experts, mixture.matrices());
        if (value_of(dense.exchanges()) > 0) keep(Item::exchange_outputs, Kept::dense, dense.exchanges());
        if (!is_dense() && value_of(mixture.exchanges()) > 0) keep(Item::exchange_outputs, Kept::experts, mixture.exchanges());
        if (!keeps_scores()) {  // attention in PyTorch's single operations is none that stays
            keep(Item::attention_output, Kept::every_layer, dense.attention_output());
            keep(Item::log_sum_exp, Kept::every_layer, dense.log_sum_exp());
        }
        if (!is_alive) return;
        const N kept = named<N>({"A_k", "outputs_kept", "bytes"}, bytes(last)), all = named<N>({"A_w", "whole_layer", "bytes"}, whole);
        const N behind = (last ? mixture : dense).behind_the_last();
        again_operations_ = value_of(behind) > 0 ? all - kept + behind : all - kept;
    }

    SingleOperations<N> single() const { return {m_, p_, stage_}; }
    // Single operations keep copies, and what each matrix reads.
    [[gnu::noinline]] void single_norms() {
        const N statistics = 4 * m_.norms_per_layer * norm_parameters() * split_tokens();
        keep(Item::norm_copies, Kept::every_layer, single().norm_copies() + statistics, p_.recomputes(layernorm));
        if (p_.freezes()) return;
        const N outputs = single().norm_outputs();
        norm_outputs(outputs, outputs);
    }
    void norms_kept() {
        const auto add = [&](Item item, const N& bytes, bool recomputed = false) { keep(item, Kept::every_layer, bytes, recomputed); };
        if (p_.freezes()) adapter_inputs();
        if (row_.single_operations && fw_.plain_norms) return single_norms();
        // each of the two norms keeps what it reads and what it writes; further norms behind the blocks only what they read
        const double value = fp8() ? 1 : 2;
        const N outputs = value * std::min(m_.norms_per_layer, 2) * split_tokens() * h();
        const N statistics = 4 * m_.norms_per_layer * norm_parameters() * split_tokens();
        if (p_.freezes() && fw_.plain_norms)  // one by one, and frozen, they keep their input in fp32 alone
            add(Item::norm_copies, 4 * m_.norms_per_layer * split_tokens() * h() + statistics, p_.recomputes(layernorm));
        else
            add(Item::norm_activations, (4 + 2 * (m_.norms_per_layer - 2)) * split_tokens() * h() + statistics);
        if (p_.freezes()) return;
        if (fw_.gathered_inputs && L::sequence_parallel())  // but tokens leave for their experts from where they are
            norm_outputs(value * 2 * tokens() * h(), value * (tokens() + split_tokens()) * h());
        else
            norm_outputs(outputs, outputs);
        // one by one, the operations keep the input in fp32 and the normalised value before it is scaled
        if (fw_.plain_norms) add(Item::norm_copies, 6 * m_.norms_per_layer * split_tokens() * h(), p_.recomputes(layernorm));
    }
    Kept mixers_kept() const { return m_.one_part ? Kept::dense : Kept::every_layer; }
    // Of attention, which some layers may have; the average over them.
    [[gnu::noinline]] void keep_attention(Item item, const N& bytes, bool recomputed) {
        keep(item, mixers_kept(), L::has_linear() ? L::full_part() * bytes : bytes, recomputed);
    }
    void attention_kept() {
        const auto add = [&](Item item, const N& bytes, bool recomputed = false) { keep_attention(item, bytes, recomputed); };
        const LatentAttention& l = m_.latent;
        norms_kept();
        if (L::has_linear()) keep(Item::linear_activations, mixers_kept(), L::linear_part() * linear_kept());
        N out_width = d();
        if (latent()) {
            out_width = N(as_double(l.value_dim));
            const double copies = m_.qk_norm ? 2 : 1;
            add(Item::latent_activations, 2 * split_tokens() * (copies * as_double(l.q_rank + l.kv_rank) + as_double(l.rope_dim)));
            add(Item::qkv_activations,
                2 * tokens() * a() * (2 * as_double(l.nope_dim + l.rope_dim) + as_double(l.nope_dim + l.value_dim)) / t(),
                p_.recomputes(mla_up_proj));
        } else {
            add(Item::qkv_activations, 2 * tokens() * kept_heads() * d() / t());
            if (m_.qk_norm && row_.single_operations)
                add(Item::qk_norm_activations, single().query_and_key_norms());
            else if (m_.qk_norm)
                add(Item::qk_norm_activations,
                    2 * tokens() * (a() + 2 * number("k_m", "kv_heads", "", as_double(m_.kv_heads))) * d() / t() +
                        8 * norm_parameters() * tokens() * a() / t());
        }
        const N output = 2 * tokens() * a() * out_width / t();
        // the gate and its product with the output; of single operations also the sigmoid
        if (m_.attention_gate) add(Item::attention_gate, (row_.single_operations ? 3 : 2) * output);
        // the projection keeps an fp8 copy of its own, or shares one of 12 bits; where it is frozen, attention's backward pass alone reads
        // it
        const bool projects = keeps_input(p_, lora_output);
        if (projects || !keeps_scores()) add(Item::attention_output, !fp8() || !projects ? output : (fw_.stores_fp8 ? 0.75 : 1.5) * output);
        const double copies = (p_.context_parallel > 1 ? 1 : 0) + (copies_output(projects) ? 1 : 0);
        if (copies > 0) add(Item::attention_output_copy, copies * output, p_.recomputes(core_attn));
        if (keeps_scores()) {
            const bool in_copies = row_.single_operations || (fw_.attention == AttentionKernel::local && !fw_.softmax_fusion);
            const double kept = in_copies && !m_.attention_sinks ? kScoreCopiesBytes : kScoreBytes;  // gpt-oss asks softmax for 16 bits
            const double dropped = in_copies ? kScoreCopiesDropoutBytes : kScoreDropoutBytes;
            add(Item::attention_scores, (kept + (p_.attention_dropout ? dropped : 0)) * scores(), p_.recomputes(core_attn));
        } else
            add(Item::log_sum_exp, 4 * tokens() * a() / t(), p_.recomputes(core_attn));
        if (p_.hidden_dropout) keep(Item::dropout_masks, Kept::every_layer, (m_.one_part ? 1 : 2) * split_tokens() * h());
    }
    // What the convolution reads; queries and keys, repeated for the heads of the values; values, their gate, the output before and behind
    // its norm; for each token and head of the values the inverse that couples it with its chunk, and its gates. Megatron keeps queries
    // and keys before they are repeated, too, and the norm's output before the gate.
    [[gnu::noinline]] N linear_kept() const {
        if (m_.linear.is_mamba() || m_.linear.is_convolution()) return state_space_kept();
        constexpr double kGates = 7;  // values of 16 bits: the decay in 32 bits before and behind its sum, softplus' input, beta
        const N mixed = row_.single_operations ? L::linear_mixed() : 2 * L::linear_mixed();
        const N key = L::linear_key_dim();
        const double C = as_double(m_.linear.chunk);
        if (!m_.linear.is_kimi())
            return 2 * tokens() / t() * (mixed + 4 * L::linear_values() + L::linear_heads() * (2 * key + (C + kGates)));
        // the raw decay, both products of a chunk, lengths of queries and keys in 32 bits, beta; the insides of both gates (flash-linear-
        // attention, ops/kda/chunk.py, layers/kda.py)
        constexpr double kLengths = 6;
        return 2 * tokens() / t() * (mixed + 4 * L::linear_values() + L::linear_heads() * (3 * key + (2 * C + kLengths))) +
               4 * tokens() * L::linear_value_dim();
    }
    // What the first matrix writes, and what the scan does: the convolution and all states are computed again, in transformers the norm,
    // too. (mamba_ssm, ops/triton/ssd_combined.py, MambaSplitConv1dScanCombinedFn; transformers hands it norm and last matrix,
    // modeling_bamba.py; Megatron-LM has both behind it, core/ssm/mamba_mixer.py: the norm keeps what it reads, the last matrix, too)
    // Of a convolution, what the first matrix writes, what it reads and writes itself, and the product that the last matrix reads.
    [[gnu::noinline]] N state_space_kept() const {
        return 2 * tokens() / t() * (L::linear_in() + (row_.single_operations && m_.linear.is_mamba() ? 1 : 3) * L::linear_values());
    }

    // A second time: an adapter's own, or in another order.
    bool copies_output(bool projects) const {
        if (p_.freezes() && row_.adapters_cast) return (p_.lora_targets & lora_output) != 0;
        if (row_.single_operations) return single().copies_output();
        return fw_.attention == AttentionKernel::flash && p_.micro_batch > 1 && projects && !keeps_unpacked_inputs(p_);
    }

    // LitGPT (model.py) rotates and repeats into new tensors; values that are not repeated keep the whole joint output alive.
    N kept_heads() const {
        if (row_.single_operations) return single().heads(keeps_scores());
        if (!row_.copies_heads) return a() + 2 * kept_kv_heads();
        return (m_.kv_heads == m_.heads ? 5 : 3) * a();
    }
    // Of both norms together; layers of the two kinds may keep, and recompute, different ones.
    void norm_outputs(const N& of_dense, const N& of_experts) {
        const int dense = norms_recomputed(m_, p_, fw_, false), with_experts = norms_recomputed(m_, p_, fw_, true);
        const auto add = [&](Kept kept, const N& both, int again) {
            if (again < 2) keep(Item::norm_outputs, kept, again == 0 ? both : both / 2);
            if (again > 0) keep(Item::norm_outputs, kept, again == 2 ? both : both / 2, true);
        };
        if (dense == with_experts && (is_dense() || value_of(of_dense) == value_of(of_experts)))
            return add(Kept::every_layer, of_dense, dense);
        add(Kept::dense, of_dense, dense);
        add(Kept::experts, of_experts, with_experts);
    }

    // What the activation function reads, and what the second matrix reads unless it is computed again or frozen. A gate that is not fused
    // with its product keeps both factors. PyTorch's ReLU keeps what it writes.
    N gated_product(const N& width) const {
        if (row_.single_operations && m_.relu) return 2 * tokens() * width / t();
        N read = matrix_input() * tokens() * width * fan() / t();
        if (m_.gated && !fw_.activation_fusion) read = read + matrix_output() * tokens() * width / t();
        if (row_.single_operations && m_.gelu_steps) read = read + single().gelu_steps(width);
        return (fp8() && fw_.stores_fp8) || !keeps_input(p_, lora_down) ? read : read + (fp8() ? 1 : 2) * tokens() * width / t();
    }
    // What adapters read, and keep for their own weight gradients: their norm's output, gathered where the sequence is split (Megatron-
    // Bridge, peft/utils.py: sequence_parallel_input_regather is off), once for all that read it.
    [[gnu::noinline]] void adapter_inputs() {
        const auto keep_inputs = [&](Kept kept, bool feeds_forward) {
            const double some = m_.one_part && kept == Kept::dense ? feed_forward_part(m_) : 1, mixers = m_.one_part ? 1 - some : 1;
            const double inputs = mixers * kept_inputs(m_, p_, kLoraQkv) + (feeds_forward ? some * kept_inputs(m_, p_, kLoraIn) : 0);
            if (inputs > 0) keep(Item::adapter_inputs, kept, (fp8() ? 1 : 2) * inputs * tokens() * h());
        };
        keep_inputs(Kept::dense, true);
        if (!is_dense()) keep_inputs(Kept::experts, m_.experts.shared_ffn > 0);
    }
    [[gnu::noinline]] void adapters_kept() {
        const Adapters<N> adapters(m_, p_);
        const auto attention = [&](bool expert) { return adapters.kept(adapters.of_attention(expert), tokens(), t()); };
        const auto beside = [&](const N& width, const N& of, const N& ranks) {
            return adapters.kept(adapters.of_feed_forward(width), of, ranks);
        };
        const auto keep_some = [&](Kept kept, const N& bytes) {
            if (value_of(bytes) > 0) keep(Item::adapter_activations, kept, bytes);
        };
        keep_some(Kept::dense, adapters.sum(attention(false), adapters.kept(adapters.of_dense_part(), tokens(), t())));
        if (is_dense()) return;
        const N routed = adapters.sum(attention(true), adapters.kept(adapters.of_expert(), routed_tokens(), e()));
        keep_some(Kept::experts, m_.experts.shared_ffn > 0 ? adapters.sum(routed, beside(shared_ffn(), tokens(), t())) : routed);
    }
    // And what the matrix behind them reads.
    [[gnu::noinline]] N with_latent(const N& kept) const { return p_.freezes() ? kept : kept + 2 * split_tokens() * L::expert_h(); }
    void feed_forward_kept() {
        if (p_.freezes()) adapters_kept();
        const double product = fp8() ? 1 : 2;            // bytes of what the second matrix reads
        const N gated = L::in_some(gated_product(f()));  // of tiles, each is computed again by itself (Bekman et al., arXiv 2506.13996)
        if (L::feeds_forward())
            keep(Item::feed_forward_activations, Kept::dense, tiled() ? gated / tiles() : gated, tiled() || p_.recomputes(mlp));
        if (m_.experts.count == 0) return;
        const auto add = [&](Item item, const N& bytes, bool again) { keep(item, Kept::experts, bytes, again || p_.recomputes(moe)); };
        const N T = routed_tokens();
        add(Item::router_activations, kRouterBytes * split_tokens() * experts(), false);
        N per_copy = matrix_input() * expert_ffn() * fan() / e();
        if (keeps_input(p_, kLoraIn))
            per_copy = (fp8() ? 1 : 2) * L::expert_h() + per_copy;  // Transformer Engine's GroupedLinear keeps it in fp8
        per_copy = per_copy + 4;
        if (row_.joins_experts)
            per_copy = per_copy + matrix_output() * L::expert_h();  // what experts return, for the gradient of the router's weights
        if (!(m_.gated && fw_.activation_fusion))
            per_copy = per_copy + matrix_output() * expert_ffn() / e();  // the product before the router's weight
        add(Item::expert_activations, m_.experts.latent > 0 ? with_latent(T * per_copy) : T * per_copy, false);
        if (keeps_input(p_, lora_down)) add(Item::expert_products, product * T * expert_ffn() / e(), p_.recomputes(moe_act));
        if (m_.limited_gate) {  // in single operations the sigmoid's output, too
            const N values = row_.joins_experts ? fan() + 1 : fan();
            add(Item::limited_activations, 2 * T * expert_ffn() * values / e(), p_.recomputes(moe_act));
        }
        if (m_.experts.shared_ffn > 0) add(Item::shared_expert_activations, gated_product(shared_ffn()), p_.recomputes(shared_experts));
    }

    const Framework& fw_;
    const Stage& stage_;
    const FrameworkRow& row_ = row_of(p_.framework);
    std::array<PerLayer, static_cast<std::size_t>(Item::count)> per_layer_;  // no allocation per plan
    std::size_t kept_count_ = 0;
    N again_attention_ = 0.0, again_feed_forward_ = 0.0, again_operations_ = 0.0;
};

}  // namespace fourfold
