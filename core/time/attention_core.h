// The attention between the tokens of a layer, without its matrices. For layer_time.cpp. Based on
//   T. Dao: FlashAttention-2, arXiv 2307.08691: attention without its table of scores, and how its work is split
//   J. Shah et al.: FlashAttention-3, arXiv 2407.08608, figures 5 and 6: rates on H100 by the length of a sequence
//   S. Yang et al.: Gated Delta Networks, arXiv 2412.06464, section 3.3: the chunks of linear attention
//   NVIDIA: Matrix Multiplication Background User's Guide, requirements to use tensor cores: sizes that are multiples of 16 bytes
#pragma once
#include <algorithm>

#include "memory/single_operations.h"
#include "time/layer_time.h"
#include "time/time_symbols.h"

namespace fourfold {

template <class N>
class AttentionCore : TimeSymbols<N> {
 public:
    AttentionCore(const Model& model, const Plan& plan, const Framework& framework, const Machine& machine, const Timing& timing)
        : TimeSymbols<N>(model, plan, machine, timing), fw_(framework) {}

    void add_to(LayerTimeOf<N>& layer) const {
        const N heads = gpu_heads();
        const N head_width =
            L::latent() ? named<N>({"d_a", "average_head_width", "values"}, (nope() + rope() + value_width()) / 2) : L::d();
        const N s = L::s(), d = document(), queries = L::sliced(), b = L::b(), c = L::c();  // of a slice, the average
        if (fw_.attention == AttentionKernel::flash || fw_.attention == AttentionKernel::cudnn) {
            if (gives_mask(m_, p_)) return masked(layer, 4 * b * s * queries * heads * head_width / c);
            const N rate =
                started(narrowed(named<N>({"R_a", "attention_rate", "flop_per_s"}, on_.of(&Timing::attention) * on_.peak_16()), head_width),
                        (value_of(d) < value_of(queries) && !has_window(p_.sequence_length) ? d : queries) / c);
            const N flop = has_window(p_.document())
                               ? named<N>({"O", "masked_operations", "flop"}, 4 * b * queries * attended() * heads * head_width / c)
                               : named<N>({"O", "causal_operations", "flop"}, 2 * b * d * queries * heads * head_width / c);
            const N tail = named<N>({"j", "attention_tail", ""},
                                    longest_block() * on_.of(&Machine::processors) * on_.of(kAttentionBlock) / (b * heads * (queries / c)));
            layer.attention_forward = attention("A_f", "attention_forward", flop / rate * (1 + tail));
            layer.attention_backward = attention("A_b", "attention_backward",
                                                 on_.of(kAttentionBackward) * flop / (on_.of(&Timing::attention_backward) * rate) *
                                                     (1 + on_.of(kAttentionBackwardTail) * tail));
            if (p_.recomputes(core_attn)) layer.recomputed = cited(layer.attention_forward);
            return;
        }
        // every score is computed, whatever the mask hides
        N rate = on_.of(kBatchedRate) * on_.of(&Timing::gemm) * on_.peak_16();
        if (!heads_are_aligned()) rate = on_.of(&Timing::unaligned) * rate;
        rate = named<N>({"R_b", "batched_rate", "flop_per_s"}, rate);
        const N flop = named<N>({"O", "all_operations", "flop"}, 4 * b * s * s * heads * head_width);
        const N scores = named<N>({"s_a", "attention_scores", ""}, b * heads * s * s);
        const N memory = on_.stream();
        const std::size_t dropout = p_.attention_dropout ? 1 : 0;
        const bool single = row_of(p_.framework).single_operations;
        const Constant* const of_single = m_.attention_sinks ? kSinkScores : kSingleScores;
        const N bytes_forward = on_.of(single ? of_single[0] : kScoreForward[dropout]) * scores,
                bytes_backward = on_.of(single ? of_single[1] : kScoreBackward[dropout]) * scores;
        layer.attention_forward = attention("A_f", "attention_forward", flop / rate + bytes_forward / memory);
        layer.attention_backward = attention("A_b", "attention_backward", 2 * flop / rate + bytes_backward / memory);
        if (p_.recomputes(core_attn)) layer.recomputed = flop / rate / 2 + bytes_forward / memory;
    }
    // Of a chunk of C tokens and a head: products of keys with each other and with queries, of both with values, and with the state; of a
    // state space the products of a group's keys and queries, those with values, and of both with the state.
    // Kernels of different chunks run side by side, but for the one that hands the states over. What stands there becomes the average over
    // all layers, wherever those of either kind lie.
    [[gnu::noinline]] void average_with_linear(LayerTimeOf<N>& layer) const {
        if (p_.recomputes(core_attn)) layer.recomputed = L::full_part() * layer.recomputed;
        if (m_.linear.is_convolution()) {  // nothing between distant tokens: its work is with what stands beside matrices
            layer.attention_forward =
                named<N>({"T_f", "all_attention_forward", "seconds"}, L::full_part() * cited(layer.attention_forward));
            layer.attention_backward =
                named<N>({"T_b", "all_attention_backward", "seconds"}, L::full_part() * cited(layer.attention_backward));
            return;
        }
        const N k = L::linear_key_dim(), v = L::linear_value_dim(), C = L::linear_chunk();
        const bool mamba = m_.linear.is_mamba();
        const N head = mamba ? 2 * k * v + C * (v + k / L::heads_of_group()) : 3 * k * v + C * (3 * k + 2 * v);
        const N flop = named<N>({"O_l", "linear_operations", "flop"}, 2 * T::M_ * L::linear_heads() / t_ * head);
        const N one = named<N>({"A_0", "linear_side_by_side", "seconds"},
                               flop / (on_.of(m_.linear.is_kimi() ? kKimiRate : kLinearRate) * on_.of(&Machine::processors)));
        const N each =
            named<N>({"A_l", "linear_forward", "seconds"}, mamba ? one + states(L::linear_heads() * k * v / C) : handed_on(one, C));
        layer.attention_forward = named<N>({"T_f", "all_attention_forward", "seconds"}, L::averaged(cited(layer.attention_forward), each));
        layer.attention_backward = named<N>({"T_b", "all_attention_backward", "seconds"},
                                            L::averaged(cited(layer.attention_backward), on_.of(kLinearBackward) * each));
    }

 private:
    using T = TimeSymbols<N>;
    using L = Symbols<N>;
    using L::as_double, L::m_, L::p_, L::number;
    using T::on_, T::t_, T::nope, T::rope, T::value_width;

    // A part of the time hands a state from chunk to chunk, one after another.
    N handed_on(const N& one, const N& chunk) const {
        using std::max;
        const N scan = on_.of(kLinearScan);
        return (1 - scan) * one + max(scan * one, L::s() / (L::c() * chunk) * on_.of(kLinearStep));
    }
    // Of a state space a kernel writes the state of each chunk, one adds up earlier ones, and one reads the sum.
    N states(const N& each_token) const { return on_.of(kChunkStateBytes) * T::M_ * each_token / (t_ * on_.memory()); }
    // PyTorch takes another kernel where it is given a mask, which computes every score.
    [[gnu::noinline]] void masked(LayerTimeOf<N>& layer, const N& operations) const {
        const N rate = named<N>({"R_a", "attention_rate", "flop_per_s"}, on_.of(kMaskedRate) * on_.peak_16());
        const N flop = named<N>({"O", "all_operations", "flop"}, operations);
        layer.attention_forward = attention("A_f", "attention_forward", flop / rate);
        layer.attention_backward =
            attention("A_b", "attention_backward", on_.of(kAttentionBackward) * flop / (on_.of(kMaskedBackward) * rate));
        if (p_.recomputes(core_attn)) layer.recomputed = cited(layer.attention_forward);
    }
    N gpu_heads() const {
        const N share = L::a() / t_;
        return named<N>({"a_t", "gpu_heads", ""}, value_of(share) >= 1 ? share : N(1.0));
    }
    // Tensor cores want rows that start at multiples of 16 bytes.
    bool heads_are_aligned() const {
        constexpr std::int64_t kValues = 8;
        const LatentAttention& l = m_.latent;
        return L::latent() ? (l.nope_dim + l.rope_dim) % kValues == 0 && l.value_dim % kValues == 0 : m_.head_dim % kValues == 0;
    }
    // Of what attention stays inside. Blocks of documents are as many and as much shorter: the longest one's part of all is the same. A
    // ring cuts each document into as many parts (Megatron-Core, packed sequences: two chunks of every one for a GPU), so that work shrinks
    // alike on all GPUs.
    N document() const {
        const std::int64_t tokens = p_.document();
        return tokens < p_.sequence_length ? number("s_d", "document_length", "tokens", as_double(tokens)) : L::s();
    }
    // Short sequences do not reach a kernel's rate: a causal mask's blocks on the diagonal are computed whole, and every block starts and
    // ends. The form is that of published rates by length (constants.cpp); which of both takes how much is not told. With a
    // window the rate is that of the whole sequence, in documents too: their ends, which cut windows short, are taken to cost nothing.
    [[gnu::noinline]] N started(const N& rate, const N& tokens) const {
        const N start = on_.of(&Timing::attention_start);
        return value_of(start) == 0 ? rate : named<N>({"R_s", "attention_rate_started", "flop_per_s"}, rate / (1 + start / tokens));
    }
    // The exponential of a score and the bookkeeping around it take as long whatever the width of a head, the multiplications do not. The
    // rate of a kernel is that of heads 128 wide.
    [[gnu::noinline]] N narrowed(const N& rate, const N& head_width) const {
        const N narrow = on_.of(&Timing::attention_narrow);
        if (value_of(narrow) == 0 || value_of(head_width) >= kUsualWidth) return rate;
        return named<N>({"R_d", "attention_rate_narrow", "flop_per_s"}, rate * (1 + narrow / kUsualWidth) / (1 + narrow / head_width));
    }
    // Of a whole sequence's blocks the longest takes twice their average; of n slices (1 + 1/n) times. (derived from a causal mask)
    [[gnu::noinline]] N longest_block() const {
        const N whole = on_.of(&Timing::attention_tail);
        return p_.token_slices > 1 ? whole * (1 + 1 / L::slices()) / 2 : whole;
    }
    bool has_window(std::int64_t tokens) const { return windowed_share(m_) > 0 && m_.window.tokens < tokens; }
    // Tokens that a query is multiplied with, the average over the sequence and over all layers, wherever the layers with a window lie. A
    // causal mask leaves half of a square, a window all of it but for the first tokens. Kernels work on blocks of queries, whose windows
    // together reach as many tokens further (assumed from the blocks' size: no published run tells it).
    N attended() const {
        using std::min;
        const N s = document(),
                w = number("s_w", m_.window.chunks ? "chunk_tokens" : "window_tokens", "tokens", as_double(m_.window.tokens));
        const N within = m_.window.chunks ? w / 2 : min(s / 2, w - w * w / (2 * s) + on_.of(kAttentionBlock));
        const double share = windowed_share(m_);
        const N part = number("y_w", "windowed_part", "", share);
        return named<N>({"s_m", "attended_tokens", "tokens"}, share == 1 ? within : (1 - part) * (s / 2) + part * within);
    }
    // The same in layers of both kinds, and so in one letter.
    static N attention(const char* letter, const char* meaning, const N& value) { return named<N>({letter, meaning, "seconds"}, value); }

    static constexpr double kUsualWidth = 128;
    const Framework& fw_;
};

}  // namespace fourfold
