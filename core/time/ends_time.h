// Seconds of the model's two ends: the embedding, and the head with logits, loss and further predicted tokens. For layer_time.cpp.
#pragma once
#include "plan/framework.h"
#include "time/layer_time.h"
#include "time/time_symbols.h"

namespace fourfold {

template <class N>
class EndsCost : TimeSymbols<N> {
 public:
    EndsCost(const Model& model, const Plan& plan, const Framework& framework, const Machine& machine, const Timing& timing)
        : TimeSymbols<N>(model, plan, machine, timing), fw_(framework) {}

    // The layers' times are there already: a layer that predicts a further token is built like the last of them.
    void add_to(LayerTimesOf<N>& all) const {
        const N v = named<N>({"v_t", "gpu_vocabulary", "words"}, L::v() / t_);
        N head = matrix(kLogits, on_.rate_16(), v, h_) + loss(M_ * v) / on_.memory();
        N embedding = on_.of(kEmbeddingValue) * M_ * h_ / (on_.of(kLookUpBandwidth) * on_.of(&Machine::memory));
        if (p_.tensor_parallel > 1) {
            const N one = this->tensor_collective();
            head = head + 3 * one;
            embedding = 2 * one + embedding;
        }
        if (p_.tensor_columns > 1) head = head + T::seconds("Y_v", "column_traffic_logits", this->column_all_reduce(2 * M_ * L::v() / t_));
        if (!p_.freezes()) {  // gradients of both
            head = head + on_.of(&Timing::accumulation) * v * h_ / on_.memory();
            embedding = embedding + on_.of(kEmbeddingWeight) * v * h_ / on_.memory();
        }
        all.head = T::seconds("M_h", "head_seconds", head);
        all.embedding = T::seconds("M_e", "embedding_seconds", embedding);
        if (m_.multi_token_layers > 0) further_tokens(all);
    }

 private:
    using T = TimeSymbols<N>;
    using L = Symbols<N>;
    using L::as_double, L::m_, L::p_, L::number;
    using T::on_, T::h_, T::t_, T::M_;
    static constexpr Part kLogits{"v", "logits"}, kJoin{"j", "multi_token_join"};

    // A matrix of columns x rows: forward, gradient of the input, gradient of the weights.
    N matrix(const Part& which, const N& rate, const N& columns, const N& rows) const {
        const N both = on_.gemm(Pass::forward, which, rate, M_, columns, rows) + on_.gemm(Pass::input, which, rate, M_, rows, columns);
        return p_.freezes() ? both : both + on_.gemm(Pass::weight, which, rate, rows, columns, M_, T::added_gradient_bytes());
    }
    // Bytes that the loss moves.
    N loss(N logits) const {
        if (fw_.loss == LossKernel::gathered) logits = logits * t_;  // every GPU works through the whole vocabulary
        const bool fused = fw_.loss == LossKernel::native_fused || fw_.loss == LossKernel::te_fused || fw_.loss == LossKernel::tiled;
        if (fused) logits = logits * on_.of(kFusedLoss);
        if (row_of(p_.framework).single_operations && !fused) logits = logits * on_.computed(kLossComputes);
        return logits * on_.of(&Timing::cross_entropy);
    }

    // A layer that predicts a further token lies beside the head: it embeds, joins two inputs, is built like the last layer, and has logits
    // and a loss of its own. (Its share of the optimizer's and the gradients' traffic is left out.)
    void further_tokens(LayerTimesOf<N>& all) const {
        const bool expert = L::multi_token_is_expert();
        const LayerTimeOf<N>& layer = expert ? all.expert : all.dense;
        const N columns = T::width(kJoin, h_ / t_), rows = 2 * h_;
        const N of_layer = cited(expert ? all.parameters_expert : all.parameters_dense);
        const N parameters = p_.freezes() ? of_layer : of_layer + columns * rows;
        const N each = all.embedding + matrix(kJoin, on_.rate(), columns, rows) + cited(layer.forward) + cited(layer.backward) + all.head +
                       on_.of(&Timing::accumulation) * parameters / on_.memory();
        const N times = number("n_m", "multi_token_layers", "", as_double(m_.multi_token_layers));
        all.head = T::seconds("M_m", "head_and_further_seconds", all.head + times * T::seconds("M_f", "further_token_seconds", each));
    }

    const Framework& fw_;
};

}  // namespace fourfold
