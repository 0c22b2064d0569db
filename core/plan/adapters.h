// LoRA: which matrices have an adapter, how many parameters the adapters of a layer have, and what is frozen beside them. Based on
//   E. Hu et al.: LoRA, arXiv 2106.09685 (2021), section 4.1: W x + B A x, with A of r x in and B of out x r
//   T. Dettmers et al.: QLoRA, arXiv 2305.14314 (2023), sections 2 and 3: 4 bits per value, a scale per 64 values, and their scales
//   Megatron-Bridge, peft/lora.py and peft/utils.py: one adapter for matrices that are one there (linear_qkv, linear_fc1) and one for all
//     experts of a GPU (share_expert_adapters); tensor parallelism shares out both matrices of an adapter
//   PEFT 0.18, tuners/lora/layer.py, Linear.forward: every adapter casts what it reads to its own type first, so that each keeps a copy
#pragma once
#include <bit>

#include "plan/framework.h"
#include "plan/symbols.h"

namespace fourfold {

// Bytes of a frozen value, by FrozenWeights: 4 bits with a scale of 8 bits per 64 values, whose own scale of 32 bits serves 256 of them;
// and 4 bits with a scale of 32 bits per 64 values. The matrices of layers alone: embedding, head and norms stay in 16 bits (transformers,
// quantization/bitsandbytes: lm_head is not converted).
inline constexpr double kFrozenBytes[] = {2, 1, 0.5 + 1.0 / 64 + 4.0 / (64 * 256), 0.5 + 4.0 / 64};
inline double frozen_bytes(const Plan& p) { return kFrozenBytes[static_cast<std::size_t>(p.frozen_weights)]; }
inline bool is_packed(const Plan& p) { return p.freezes() && p.frozen_weights != FrozenWeights::bf16; }

// bitsandbytes before 0.43.2 keeps what every matrix of 4 bits reads, though nothing needs it (CHANGELOG.md, 0.43.2;
// autograd/_functions.py, MatMul4Bit: ctx.tensors = (A, B), later (None, B)).
inline bool keeps_unpacked_inputs(const Plan& p) {
    return is_packed(p) && p.frozen_weights != FrozenWeights::fp8 && row_of(p.framework).keeps_unpacked_inputs;
}

// Whether a matrix's input is kept for a weight gradient: its own, or its adapter's. Where dropout stands before an adapter, that keeps a
// copy of its own (Adapters::dropped).
inline bool keeps_input(const Plan& p, std::uint32_t of) {
    return !p.freezes() || keeps_unpacked_inputs(p) || (!p.lora_dropout && (p.lora_targets & of) != 0);
}
// How many copies of one input are kept for some matrices that read it. Where each adapter casts what it reads, as many as are adapted.
[[gnu::noinline]] inline double kept_inputs(const Model& m, const Plan& p, std::uint32_t matrices) {
    if (!row_of(p.framework).adapters_cast) return keeps_input(p, matrices) ? 1 : 0;
    const std::uint32_t adapted = p.lora_targets & matrices & (m.gated ? lora_all : lora_all & ~std::uint32_t{lora_gate});
    if (p.lora_dropout || adapted == 0) return 0;
    return m.joined_qkv ? 1 : std::popcount(adapted);
}
inline constexpr std::uint32_t kLoraQkv = lora_query | lora_key | lora_value, kLoraIn = lora_gate | lora_up;

// (Its functions are not inline: there are many calls, and the module is downloaded.)
template <class N>
class Adapters : protected Symbols<N> {
 public:
    Adapters(const Model& model, const Plan& plan) : Symbols<N>(model, plan), joins_(row_of(plan.framework).joins_adapters) {}

    // Of some adapters: how many they are, and the sums of the widths that they read and write, before tensor parallelism; of what they
    // read, that which it splits: the input of matrices that add up over their rows.
    struct Widths {
        double count = 0;
        N in = 0.0, out = 0.0, split = 0.0;
        bool any() const { return count > 0; }
        [[gnu::noinline]] void add(const N& reads, const N& writes) {
            in = count > 0 ? in + reads : reads;
            out = count > 0 ? out + writes : writes;
            ++count;
        }
        [[gnu::noinline]] void add_split(const N& reads, const N& writes) {
            add(reads, writes);
            split = reads;
        }
    };
    // With linear attention, the average over all layers: there the adapters of queries and of the output stand at its two matrices.
    [[gnu::noinline]] Widths of_attention(bool expert) const {
        if (!L::has_mixer(expert)) return {};
        Widths all = of_full_attention();
        if (!L::has_linear() || !p_.freezes()) return all;
        Widths linear;
        if (has(lora_query)) linear.add(L::h(), L::linear_in());
        if (has(lora_output)) linear.add_split(L::linear_values(), L::h());
        const double part = fourfold::linear_part(m_);
        return {fourfold::full_part(m_) * all.count + part * linear.count, L::averaged(all.in, linear.in), L::averaged(all.out, linear.out),
                L::averaged(all.split, linear.split)};
    }
    [[gnu::noinline]] Widths of_full_attention() const {
        Widths all;
        if (!p_.freezes()) return all;
        const bool queries = has(lora_query), keys = has(lora_key), values = has(lora_value);
        if (L::latent())
            add_latent(all, queries, keys || values);
        else if (joins_ && (queries || keys || values))
            all.add(L::h(), L::qkv_heads() * L::d());
        else {
            if (queries) all.add(L::h(), (m_.attention_gate ? 2 : 1) * L::a() * L::d());
            if (keys) all.add(L::h(), L::k() * L::d());
            if (values) all.add(L::h(), L::k() * L::d());
        }
        if (has(lora_output)) all.add_split(L::a() * (L::latent() ? N(as_double(m_.latent.value_dim)) : L::d()), L::h());
        return all;
    }
    // Of a feed-forward part, or an expert, of that width.
    [[gnu::noinline]] Widths of_feed_forward(const N& width) const { return of_feed_forward(L::h(), width); }
    [[gnu::noinline]] Widths of_expert() const { return of_feed_forward(L::expert_h(), L::expert_ffn()); }
    [[gnu::noinline]] Widths of_feed_forward(const N& reads, const N& width) const {
        Widths all;
        if (!p_.freezes()) return all;
        const bool gate = m_.gated && has(lora_gate), up = has(lora_up);
        if (joins_ && (gate || up))
            all.add(reads, m_.gated ? 2 * width : width);
        else {
            if (gate) all.add(reads, width);
            if (up) all.add(reads, width);
        }
        if (has(lora_down)) all.add_split(width, reads);
        return all;
    }

    // Of a layer without experts; where each has one part, the average.
    [[gnu::noinline]] Widths of_dense_part() const {
        if (!L::feeds_forward()) return {};
        const Widths all = of_feed_forward(L::f());
        return {(m_.one_part ? fourfold::feed_forward_part(m_) : 1) * all.count, L::in_some(all.in), L::in_some(all.out),
                L::in_some(all.split)};
    }

    N rank() const { return L::number("r_l", "lora_rank", "", as_double(p_.lora_rank)); }
    // Parameters on a GPU: r (in + out) each, shared out among so many.
    [[gnu::noinline]] N parameters(const Widths& all, const N& ranks) const {
        return all.any() ? rank() * (all.in + all.out) / ranks : N(0.0);
    }
    [[gnu::noinline]] N dense_layer() const { return sum(parameters(of_attention(false), L::t()), parameters(of_dense_part(), L::t())); }
    [[gnu::noinline]] N beside_experts() const {  // of a layer with experts
        const N attention = parameters(of_attention(true), L::t());
        return m_.experts.shared_ffn > 0 ? sum(attention, parameters(of_feed_forward(L::shared_ffn()), L::t())) : attention;
    }
    double adapted_experts() const { return joins_ ? 1 : as_double(m_.experts.count / p_.expert_parallel); }
    [[gnu::noinline]] N experts_of_layer() const { return adapted_experts() * parameters(of_expert(), L::e()); }

    // Bytes that adapters keep of `tokens`: the r values between their two matrices; with dropout also what is left of their input,
    // gathered where the sequence is split (Megatron-Bridge, peft/utils.py: dropout stands behind the gathering), and which values were
    // left out.
    [[gnu::noinline]] N kept(const Widths& all, const N& tokens, const N& ranks) const {
        constexpr double kMiddle = 2, kDropped = 3;  // bytes of a value
        if (!all.any()) return 0.0;
        const N middle = kMiddle * all.count * tokens * rank();
        if (!p_.lora_dropout) return middle;
        return middle + kDropped * tokens * (value_of(ranks) == 1 ? all.in : all.in - all.split + all.split / ranks);
    }
    [[gnu::noinline]] static N sum(const N& a, const N& b) { return value_of(a) == 0 ? b : value_of(b) == 0 ? a : a + b; }

 private:
    using L = Symbols<N>;
    using L::as_double, L::m_, L::p_;

    bool has(LoraTarget target) const { return (p_.lora_targets & target) != 0; }
    [[gnu::noinline]] void add_latent(Widths& all, bool queries, bool keys) const {
        const LatentAttention& l = m_.latent;
        const N q_rank = as_double(l.q_rank), kv_rank = as_double(l.kv_rank);
        if (queries && l.q_rank > 0) all.add(L::h(), q_rank);
        if (queries) all.add(l.q_rank > 0 ? q_rank : L::h(), L::a() * as_double(l.nope_dim + l.rope_dim));
        if (keys) all.add(L::h(), kv_rank + as_double(l.rope_dim));
        if (keys) all.add(kv_rank, L::a() * as_double(l.nope_dim + l.value_dim));
    }

    const bool joins_;
};

// Parameters of all adapters of a model, as a plan places them; what is written to a checkpoint.
inline double adapter_count(const Model& model, Plan plan) {
    plan.tensor_parallel = plan.expert_tensor_parallel = plan.expert_parallel = 1;
    const Adapters<double> adapters(model, plan);
    const auto experts = static_cast<double>(model.expert_layers.count());
    const double dense = static_cast<double>(model.layers) - experts;
    return dense * adapters.dense_layer() + (experts > 0 ? experts * (adapters.beside_experts() + adapters.experts_of_layer()) : 0);
}

}  // namespace fourfold
