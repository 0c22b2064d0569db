// What the formulas of time share: the symbols of model and plan, and the costs of single operations on a machine.
#pragma once
#include <algorithm>

#include "plan/stage.h"
#include "plan/symbols.h"
#include "time/transfers.h"

namespace fourfold {

// Of layers with experts, where they differ from dense ones.
inline constexpr Part kExpertLayer{"e", "expert_layer"};

template <class N>
class TimeSymbols : protected Symbols<N> {
 protected:
    using L = Symbols<N>;
    TimeSymbols(const Model& model, const Plan& plan, const Machine& machine, const Timing& timing)
        : Symbols<N>(model, plan), hw_(machine), on_(machine, timing) {}

    static N seconds(const char* letter, const char* meaning, const N& value) { return named<N>({letter, meaning, "seconds"}, value); }
    // Rows or columns of a weight matrix on one GPU.
    static N width(const Part& matrix, const N& value) { return named<N>({"C", "gpu_width", "values", &matrix}, value); }
    // With "block" only some of a stage's layers are computed again: the part of them, over all.
    static N part_recomputed(const LayerCount& c, const Part* kind) {
        return quantity<N>({"k_r", "recomputed_part", "", kind}, c.recomputed / std::max(1.0, c.held));
    }
    // To gather or scatter, in the tensor-parallel group, what flows between layers.
    N tensor_collective() const { return seconds("Z_1", "tensor_collective", on_.collective(2 * M_ * h_, t_)); }
    // What sequence parallelism gathers is cast before, each token on one GPU, and transposed behind.
    N cast_before(const Part& matrix, const N& tokens) const {
        return L::sequence_parallel() && !is_grouped(matrix) ? (tokens + tokens / t_) / 2 : tokens;
    }
    // GPUs that work on the same tokens.
    [[gnu::noinline]] N grid() const { return this->p_.tensor_columns > 1 ? t_ * L::columns() : t_; }
    // To add up parts of so many bytes along the second axis of a grid.
    [[gnu::noinline]] N column_all_reduce(const N& bytes) const { return 2 * on_.strided_collective(bytes, L::columns(), t_); }
    // Along the second axis of a grid: outputs of the first matrices in the forward pass; in the backward pass gradients of what the second
    // matrices read. Norms need sums over the whole hidden state, of 4 bytes a token: of squares, and with LayerNorm of the values, too.
    [[gnu::noinline]] N along_columns(const char* letter, const char* meaning, const N& first, const N& second) const {
        const N each = 2 * M_ / t_;
        return seconds(letter, meaning,
                       column_all_reduce(each * first) + column_all_reduce(each * second) +
                           L::as_double(this->m_.norms_per_layer) * column_all_reduce((this->m_.layer_norm ? 8 : 4) * M_));
    }
    // Bytes per element of a weight's gradient, which is added to what is there: read and written.
    double added_gradient_bytes() const { return 2 * gradient_bytes(this->p_); }

    // Latent attention's heads.
    N nope() const { return L::number("d_n", "head_width_nope", "values", L::as_double(this->m_.latent.nope_dim)); }
    N rope() const { return L::number("d_r", "head_width_rope", "values", L::as_double(this->m_.latent.rope_dim)); }
    N value_width() const { return L::number("d_v", "head_width_values", "values", L::as_double(this->m_.latent.value_dim)); }

    const Machine& hw_;
    const Cost<N> on_;
    const N h_ = L::h(), t_ = L::t(), M_ = L::tokens();
};

}  // namespace fourfold
