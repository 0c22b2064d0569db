// What the optimizer's update of a step takes. For step_time.cpp. Based on
//   K. Jordan et al.: Muon (2024), https://kellerjordan.github.io/posts/muon, and J. Liu et al., arXiv 2502.16982, section 2: five steps of
//     a Newton-Schulz iteration for every matrix of a layer, X <- a X + (b A + c A A) X with A = X X'
#pragma once
#include <algorithm>

#include "memory/memory.h"
#include "time/constants.h"
#include "time/time_symbols.h"

namespace fourfold {

// Bytes moved per parameter that is updated: the gradient is read twice (once for its norm), the master weight (or else the weight) and the
// averages are read and written, the weight in 16 bits is written. (counted)
inline double update_bytes(const Plan& p) {
    if (p.optimizer == Optimizer::adam && keeps_master(p)) return kUpdate.value;  // with averages of 32 bits, whatever their format
    const double averages = p.optimizer == Optimizer::adam || p.optimizer == Optimizer::adam_8bit ? 2 : 1;
    const double gradient = keeps_master(p) || p.gradients_in_fp32 ? 4 : kWeightBytes;
    return 2 * gradient + (keeps_master(p) ? 2 * 4 : kWeightBytes) + 2 * averages * average_bytes(p) + kWeightBytes;
}

// FLOP of Muon's iterations for the matrices of a layer with m rows, and n >= m columns: 2 m m n, 2 m m m and 2 m m n each.
inline double muon_flop(const Model& model, bool expert) {
    constexpr double kSteps = 5;
    const auto matrix = [](double rows, double columns) {
        const double m = std::min(rows, columns), n = std::max(rows, columns);
        return kSteps * (4 * m * m * n + 2 * m * m * m);
    };
    const auto of = [](std::int64_t value) { return static_cast<double>(value); };
    const double h = of(model.hidden), a = of(model.heads);
    const LatentAttention& l = model.latent;
    double flop = 0;
    if (l.kv_rank > 0) {
        const double qk = a * of(l.nope_dim + l.rope_dim), q_rank = of(l.q_rank);
        flop = (q_rank > 0 ? matrix(h, q_rank) + matrix(q_rank, qk) : matrix(h, qk)) + matrix(h, of(l.kv_rank + l.rope_dim)) +
               matrix(of(l.kv_rank), a * of(l.nope_dim + l.value_dim)) + matrix(a * of(l.value_dim), h);
    } else
        flop = 2 * matrix(h, a * of(model.head_dim)) + 2 * matrix(h, of(model.kv_heads * model.head_dim));
    if (const double part = linear_part(model); part > 0) {
        const LinearAttention& linear = model.linear;
        double own = matrix(h, of(linear.in())) + matrix(of(linear.values()), h);
        if (linear.is_kimi()) own += matrix(of(linear.value_dim), of(linear.keys())) + matrix(of(linear.value_dim), of(linear.values()));
        flop = full_part(model) * flop + part * own;
    }
    const double matrices = model.gated ? 3 : 2;
    if (!expert) return flop + (model.one_part ? feed_forward_part(model) : 1) * matrices * matrix(h, of(model.ffn));
    if (model.one_part) flop = 0;
    const Experts& e = model.experts;
    if (e.latent > 0) flop += 2 * matrix(h, of(e.latent));
    return flop + matrices * of(e.count) * matrix(of(model.expert_hidden()), of(e.ffn)) +
           (e.shared_ffn > 0 ? matrices * matrix(h, of(e.shared_ffn)) : 0);
}

template <class N>
class Update : TimeSymbols<N> {
 public:
    Update(const Model& model, const Plan& plan, const Machine& machine, const Timing& timing, const Stage& stage)
        : TimeSymbols<N>(model, plan, machine, timing), stage_(stage) {}

    // Of so many parameters on a GPU, which updates so many, and shares the states of those that are no experts' with so many.
    N seconds(const N& parameters, const N& mine, const N& ranks) const {
        N moved = L::number(kUpdate.symbol.letter, kUpdate.symbol.meaning, kUpdate.symbol.unit, update_bytes(p_)) * mine;
        if (p_.optimizer_offload > 0) moved = moved * (1 - L::number("o", "optimizer_on_host", "", p_.optimizer_offload));
        N update = (moved + on_.of(kClearing) * parameters) / on_.stream();
        if (row_of(p_.framework).single_operations)
            update = update * on_.computed(p_.moments == Moments::fp32 ? kUpdateComputes : kUpdateComputesIn16Bits);
        return p_.optimizer == Optimizer::muon && !p_.freezes() ? update + muon(ranks) : update;
    }

 private:
    using T = TimeSymbols<N>;
    using L = Symbols<N>;
    using L::m_, L::p_;
    using T::on_, T::t_;

    // Muon's iterations, each matrix on one of the GPUs that share the optimizer. (Assumed: evenly, and their traffic is not counted.)
    [[gnu::noinline]] N muon(const N& ranks) const {
        const double held =
            stage_.dense.held * muon_flop(m_, false) + (stage_.experts.held > 0 ? stage_.experts.held * muon_flop(m_, true) : 0);
        const N flop = L::number("O_u", "muon_operations", "flop", held);
        return flop / t_ / (p_.shards_optimizer() ? ranks : N(1.0)) / on_.rate_16();
    }

    const Stage& stage_;
};

}  // namespace fourfold
