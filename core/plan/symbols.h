// The symbols in which the formulas of memory and time are written, each with its meaning, unit and value in one plan. Derive from it and
// name the symbols used (using Symbols<N>::h), so that a formula reads as on paper.
//   s sequence   b micro-batch   h hidden   f feed-forward width   a, k heads, KV heads   d head width   v padded vocabulary
//   l tokens of a slice of the sequence, where it is cut; then N = l*b/c
//   in a grid of tensor parallelism h is the part of the hidden values that a GPU has: every formula is linear in them
//   t, c, D, p tensor, context, data, pipeline parallel   N = s*b/c tokens of a rank   Ns = N/t of them in the sequence-parallel regions
//   e tensor parallel of experts   E experts   q experts per token   T token copies that reach a rank's experts
#pragma once
#include "base/formula.h"
#include "model/model.h"
#include "plan/plan.h"

namespace fourfold {

template <class N>
class Symbols {
 public:
    // `slice` > 0: tokens of the slice that counts, where sequences are cut into slices; otherwise their average.
    Symbols(const Model& model, const Plan& plan, double slice = 0)
        : m_(model),
          p_(plan),
          hidden_meaning_(plan.tensor_columns > 1 ? "hidden_part" : "hidden_size"),
          hidden_(as_double(model.hidden) / as_double(plan.tensor_columns)),
          ffn_(as_double(model.ffn)),
          heads_(as_double(model.heads)),
          // Megatron copies KV heads where there are fewer than tensor ranks
          kv_heads_(as_double(std::max(model.kv_heads, std::min(plan.tensor_parallel, model.heads)))),
          head_dim_(as_double(model.head_dim)),
          tensor_(as_double(plan.tensor_parallel)),
          vocabulary_(as_double(padded_vocabulary(model, plan.tensor_parallel))),
          tokens_(named<N>({"N", "gpu_tokens", "tokens"}, (plan.token_slices > 1 ? sliced(slice) : s()) * b() / c())),
          split_tokens_(sequence_parallel() ? named<N>({"N_s", "split_tokens", "tokens"}, tokens_ / t()) : tokens_) {}

 protected:
    static N number(const char* letter, const char* meaning, const char* unit, double value) {
        return quantity<N>({letter, meaning, unit}, value);
    }
    static double as_double(std::int64_t value) { return static_cast<double>(value); }

    N h() const { return number("h", hidden_meaning_, "values_per_token", hidden_); }
    N f() const { return number("f", "feed_forward_width", "values_per_token", ffn_); }
    N a() const { return number("a", "attention_heads", "", heads_); }
    N k() const { return number("k", "kv_heads_held", "", kv_heads_); }
    N d() const { return number("d", "head_width", "values", head_dim_); }
    N t() const { return number("t", "tensor_parallel", "gpus", tensor_); }
    N columns() const { return number("t_y", "tensor_columns", "gpus", as_double(p_.tensor_columns)); }
    N c() const { return number("c", "context_parallel", "gpus", as_double(p_.context_parallel)); }
    N b() const { return number("b", "micro_batch", "sequences", as_double(p_.micro_batch)); }
    N s() const { return number("s", "sequence_length", "tokens", as_double(p_.sequence_length)); }
    N slices() const { return number("n_s", "token_slices", "", as_double(p_.token_slices)); }
    // Tokens of a sequence that pass at once.
    [[gnu::noinline]] N sliced(double longest = 0) const {
        if (p_.token_slices == 1) return s();
        if (longest > 0) return number("l_1", "longest_slice", "tokens", longest);
        return named<N>({"l", "average_slice", "tokens"}, s() / slices());
    }
    // Of a token, what later slices need: its keys and values.
    [[gnu::noinline]] N slice_values() const {
        if (!latent()) return 2 * k() * d() / t();
        const LatentAttention& l = m_.latent;
        return a() * number("d_s", "head_width_kept", "values", as_double(l.nope_dim + l.rope_dim + l.value_dim)) / t();
    }
    N v() const { return number("v", "padded_vocabulary", "words", vocabulary_); }
    const N& tokens() const { return tokens_; }
    bool sequence_parallel() const { return splits_sequence(p_); }
    const N& split_tokens() const { return split_tokens_; }
    N fan() const { return number("g", "input_matrices", "", m_.gated ? 2 : 1); }
    N norm_parameters() const { return number("n", "norm_parameters", "", m_.layer_norm ? 2 : 1); }
    N e() const { return number("e", "expert_tensor_parallel", "gpus", as_double(p_.expert_tensor_parallel)); }
    N experts() const { return number("E", "experts", "", as_double(m_.experts.count)); }
    N expert_ffn() const { return number("f_e", "expert_width", "values_per_token", as_double(m_.experts.ffn)); }
    // What an expert reads of a token, and returns.
    [[gnu::noinline]] N expert_h() const {
        return m_.experts.latent > 0 ? number("h_e", "expert_hidden", "values_per_token", as_double(m_.experts.latent)) : h();
    }
    N shared_ffn() const { return number("f_s", "shared_expert_width", "values_per_token", as_double(m_.experts.shared_ffn)); }
    N routed_tokens() const {
        const N visits = number("q", "experts_per_token", "", as_double(m_.experts.per_token));
        const bool whole = p_.tensor_parallel > 1 && !sequence_parallel();
        N even = whole ? tokens() * visits : split_tokens() * visits * e();
        if (p_.expert_imbalance != 1) even = even * number("w", "expert_imbalance", "", p_.expert_imbalance);
        return named<N>({"T", "routed_tokens", "tokens"}, even);
    }
    // Queries, with their gate where they have one, keys and values come from matrices of so many heads.
    N qkv_heads() const { return m_.attention_gate ? 2 * a() + 2 * k() : a() + 2 * k(); }
    // Linear attention: the part of the layers that have it, wherever they lie, and the values of a token that its matrices, its
    // convolution and its heads read or write.
    bool has_linear() const { return m_.linear.any(); }
    N linear_part() const { return number("y_l", "linear_part", "", fourfold::linear_part(m_)); }
    N linear_in() const { return number("w_l", "linear_in", "values_per_token", as_double(m_.linear.in())); }
    N linear_mixed() const { return number("m_l", "linear_mixed", "values_per_token", as_double(m_.linear.mixed())); }
    N linear_values() const { return number("v_l", "linear_values", "values_per_token", as_double(m_.linear.values())); }
    N linear_heads() const { return number("a_l", "linear_heads", "", as_double(m_.linear.value_heads)); }
    N linear_key_dim() const { return number("d_k", "linear_key_width", "values", as_double(m_.linear.key_dim)); }
    N linear_value_dim() const { return number("d_v", "linear_value_width", "values", as_double(m_.linear.value_dim)); }
    N linear_chunk() const { return number("C_t", "chunk_of_tokens", "tokens", as_double(m_.linear.chunk)); }
    N heads_of_group() const { return number("n_g", "heads_of_group", "", as_double(m_.linear.value_heads / m_.linear.key_heads)); }
    // What all of its matrices write but the last, and what that reads.
    [[gnu::noinline]] N linear_passed() const {
        const N both = linear_in() + linear_values();
        return m_.linear.is_kimi() ? both + linear_heads() * (linear_key_dim() + linear_value_dim()) : both;
    }
    [[gnu::noinline]] N full_part() const {
        return m_.one_part || m_.linear.beside ? number("y_a", "attention_part", "", fourfold::full_part(m_)) : 1 - linear_part();
    }
    // Of all kinds of layers, the average.
    [[gnu::noinline]] N averaged(const N& full, const N& linear) const { return full_part() * full + linear_part() * linear; }
    // Whether a layer with experts has a mixer, too; whether one without them has a feed-forward part; and what that comes to where some
    // have (Model::one_part).
    bool has_mixer(bool expert) const { return !expert || !m_.one_part; }
    bool feeds_forward() const { return m_.dense_layers() > 0 || !m_.one_part; }
    [[gnu::noinline]] N in_some(const N& feed_forward) const { return m_.one_part ? feed_forward_part() * feed_forward : feed_forward; }
    N feed_forward_part() const { return number("y_f", "feed_forward_part", "", fourfold::feed_forward_part(m_)); }
    bool latent() const { return m_.latent.kv_rank > 0; }
    bool multi_token_is_expert() const { return !m_.expert_layers.empty() && m_.expert_layers.back() != 0; }

    const Model& m_;
    const Plan& p_;

 private:
    // Worked out once: a search asks for them a hundred times per plan.
    const char* const hidden_meaning_;
    const double hidden_, ffn_, heads_, kv_heads_, head_dim_, tensor_, vocabulary_;
    const N tokens_, split_tokens_;
};

}  // namespace fourfold
