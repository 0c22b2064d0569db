// What stays of a layer that is computed again operation by operation (plan/kept_outputs.h). For layer_kept.h. Based also on
//   PyTorch, torch/utils/checkpoint.py, create_selective_checkpoint_contexts: what is kept waits until its operation would run again
//   torchtitan, models/llama3/infra/parallelize.py: columns of q, k, v, w1 and w3 are split over a tensor-parallel group, of wo and w2
//   rows:
//     on every GPU these two return a part of the sum for all tokens, which reduce_scatter adds up and splits along the sequence
#pragma once
#include "memory/memory.h"
#include "plan/kept_outputs.h"
#include "plan/symbols.h"

namespace fourfold {

template <class N>
class OperationOutputs : Symbols<N> {
 public:
    OperationOutputs(const Model& model, const Plan& plan, const Stage& stage, bool expert)
        : Symbols<N>(model, plan, stage.longest_slice), expert_(expert), kept_(model, expert) {}

    N layer_input() const { return 2 * split_tokens() * h(); }
    // Of every second matrix, in 16 bits.
    N matrices() const {
        N split = 0.0, whole = 0.0;  // values of a token: over the tensor-parallel group, and on each GPU of it
        const LatentAttention& l = m_.latent;
        const auto keep = [&](LayerMatrix matrix, N& sum, const N& values) {
            if (kept_.has(matrix)) add(sum, values);
        };
        keep(LayerMatrix::query_down, whole, N(as_double(l.q_rank)));
        keep(LayerMatrix::query, split, a() * (this->latent() ? N(as_double(l.nope_dim + l.rope_dim)) : d()));
        keep(LayerMatrix::kv_down, whole, N(as_double(l.kv_rank + l.rope_dim)));
        keep(LayerMatrix::kv_up, split, a() * as_double(l.nope_dim + l.value_dim));
        keep(LayerMatrix::key, split, k() * d());
        keep(LayerMatrix::value, split, k() * d());
        keep(LayerMatrix::output, whole, h());
        for (const LayerMatrix first : {LayerMatrix::gate, LayerMatrix::up}) keep(first, split, expert_ ? L::shared_ffn() : L::f());
        keep(LayerMatrix::down, whole, h());
        if (value_of(whole) == 0) return 2 * tokens() * split / t();
        return 2 * tokens() * (value_of(split) > 0 ? whole + split / t() : whole);
    }
    // Of the two reduce_scatter of a layer, and of the two all_to_all of its experts; 0: there are none.
    N exchanges() const {
        N bytes = 0.0;
        if (L::sequence_parallel()) add(bytes, 4 * split_tokens() * h());
        if (expert_ && p_.expert_parallel > 1) add(bytes, 4 * L::routed_tokens() * L::expert_h());
        return bytes;
    }
    N attention_output() const { return 2 * tokens() * a() * (this->latent() ? N(as_double(m_.latent.value_dim)) : d()) / t(); }
    N log_sum_exp() const { return 4 * tokens() * a() / t(); }
    // Among them, what a layer returns: nothing in it reads that, so it stays beside all that is computed again.
    N behind_the_last() const {
        N bytes = 0.0;
        if (kept_.has(LayerMatrix::down)) add(bytes, 2 * tokens() * h());
        if (L::sequence_parallel()) add(bytes, 2 * split_tokens() * h());
        return bytes;
    }

 private:
    using L = Symbols<N>;
    using L::as_double, L::m_, L::p_, L::tokens, L::split_tokens;
    using L::h, L::a, L::k, L::d, L::t;

    const bool expert_;
    const KeptOutputs kept_;
};

}  // namespace fourfold
