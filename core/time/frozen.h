// What adapters beside frozen matrices take (LoRA, arXiv 2106.09685), and what it takes to unpack those that are stored in few bits (QLoRA,
// arXiv 2305.14314). For layer_time.cpp. A frozen matrix has no weight gradient: two multiplications of three are left.
#pragma once
#include "plan/adapters.h"
#include "time/time_symbols.h"

namespace fourfold {

// The multiplications of all adapters of a layer, or of its experts, are counted together: their inner width is the rank, so that mostly
// the memory sets their pace. Bytes moved per value of what they read and write: forward, x is read, B A x written, and added to W x; the
// backward pass reads both gradients twice, reads x again, writes its gradient, and adds that up. (counted)
inline constexpr Constant kAdapterForward[] = {{{"i_lf", "adapter_in_forward", "bytes"}, 2}, {{"i_of", "adapter_out_forward", "bytes"}, 8}};
inline constexpr Constant kAdapterBackward[] = {{{"i_lb", "adapter_in_backward", "bytes"}, 10},
                                                {{"i_ob", "adapter_out_backward", "bytes"}, 4}};
// Of PEFT's: x is cast to 32 bits and back to 16, and so is its gradient; B A x is scaled by itself. 14 and 12, 22 and 8 bytes by count;
// these are measured (H200, PEFT 0.21, tests/evidence/made/operations.py).
inline constexpr Constant kCastAdapterForward[] = {{{"i_lf", "adapter_in_forward", "bytes"}, 20},
                                                   {{"i_of", "adapter_out_forward", "bytes"}, 14}};
inline constexpr Constant kCastAdapterBackward[] = {{{"i_lb", "adapter_in_backward", "bytes"}, 29},
                                                    {{"i_ob", "adapter_out_backward", "bytes"}, 8}};

template <class N>
class FrozenCost : TimeSymbols<N> {
 public:
    FrozenCost(const Model& model, const Plan& plan, const Machine& machine, const Timing& timing)
        : TimeSymbols<N>(model, plan, machine, timing), adapters_(model, plan) {}

    struct Passes {
        N forward = 0.0, backward = 0.0;  // seconds
        N parameters = 0.0;
    };
    // Of a layer's adapters but those of routed experts.
    [[gnu::noinline]] Passes of_layer(bool expert) const {
        Passes all;
        add(all, adapters_.of_attention(expert), T::M_, T::t_, 1);
        if (!expert)
            add(all, adapters_.of_dense_part(), T::M_, T::t_, 1);
        else if (m_.experts.shared_ffn > 0)
            add(all, adapters_.of_feed_forward(L::shared_ffn()), T::M_, T::t_, 1);
        return all;
    }
    // Of the adapters of all experts of a GPU, which `copies` of tokens reach.
    Passes of_experts(const N& copies) const {
        Passes all;
        add(all, adapters_.of_expert(), copies, L::e(), adapters_.adapted_experts());
        return all;
    }
    double adapters_of_layer(bool expert) const {
        return adapters_.of_attention(expert).count + (expert ? 0 : adapters_.of_dense_part().count);
    }
    // Seconds to unpack so many values to 16 bits.
    [[gnu::noinline]] N unpacking(const N& values) const {
        return (L::number("i_q", "frozen_bytes", "bytes", frozen_bytes(p_)) + kWeightBytes) * values / T::on_.memory();
    }

    // Of a frozen matrix there is no gradient, and it may have to be unpacked first.
    [[gnu::noinline]] Passes of_matrix(const Part& matrix, const N& rate, const N& tokens, const N& columns, const N& rows) const {
        Passes both{T::on_.cast(T::on_.gemm(Pass::forward, matrix, rate, tokens, columns, rows), tokens, rows, true),
                    T::on_.cast(T::on_.gemm(Pass::input, matrix, rate, tokens, rows, columns), tokens, columns, true), N(0.0)};
        if (!is_packed(p_)) return both;
        const N unpacks = unpacking(columns * rows);
        both.forward = both.forward + unpacks, both.backward = both.backward + unpacks;
        return both;
    }
    // Of a layer's frozen parameters.
    [[gnu::noinline]] N bytes_of(const N& frozen, const Part* kind) const {
        if (value_of(frozen) == 0) return 0.0;
        return named<N>({"W_f", "layer_frozen_bytes", "bytes", kind}, L::number("i_q", "frozen_bytes", "bytes", frozen_bytes(p_)) * frozen);
    }

 private:
    using T = TimeSymbols<N>;
    using L = Symbols<N>;
    using L::m_, L::p_;

    static void plus(N& sum, const N& term) { sum = value_of(sum) != 0 ? sum + term : term; }
    [[gnu::noinline]] void add(Passes& all, const typename Adapters<N>::Widths& widths, const N& tokens, const N& ranks,
                               double times) const {
        using std::max;
        if (!widths.any()) return;
        const N each = adapters_.parameters(widths, ranks);
        const bool casts = row_of(p_.framework).adapters_cast;
        const auto pass = [&](const Constant(&bytes)[2], double products) {
            N moved = tokens * (T::on_.of(bytes[0]) * widths.in + T::on_.of(bytes[1]) * widths.out);
            if (casts) moved = moved * T::on_.computed(kAdaptersCompute);
            return max(products * tokens * each / T::on_.rate_16(), moved / ranks / T::on_.memory());
        };
        plus(all.forward, pass(casts ? kCastAdapterForward : kAdapterForward, 2));
        plus(all.backward, pass(casts ? kCastAdapterBackward : kAdapterBackward, 4));
        plus(all.parameters, times == 1 ? each : times * each);
    }

    const Adapters<N> adapters_;
};

}  // namespace fourfold
