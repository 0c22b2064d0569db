// What the head holds while it works: logits, and what the loss makes of them. For memory_detailed.cpp. Based on
//   P. Hsu et al.: Liger Kernel, arXiv 2410.10989: in tiles of v/h-th parts of the tokens there are as many logits at a time as values of
//     hidden states
//   PyTorch, torch.autocast: copies of weights in 16 bits are kept until the forward pass is over
#pragma once
#include "memory/single_operations.h"

namespace fourfold {

template <class N>
class HeadMoment : Symbols<N> {
 public:
    HeadMoment(const Model& model, const Plan& plan, const Framework& framework, const Stage& stage)
        : Symbols<N>(model, plan, stage.longest_slice), fw_(framework), stage_(stage) {}

    // `further_layer`: what a layer keeps that predicts a further token; `forward_casts`: as in StageMemory; `gathered`: what FSDP gathered
    // last, in the forward pass.
    [[gnu::noinline]] N bytes(const N& further_layer, const N& forward_casts, const N& gathered) const {
        const auto [worst, kept] = loss_bytes(m_, p_, fw_.loss);
        const double extra = m_.multi_token_layers;
        const N logits = fw_.loss == LossKernel::gathered ? tokens() * v()
                         : fw_.loss == LossKernel::tiled  ? tokens() * h() / t()
                                                          : tokens() * v() / t();
        const bool single = row_of(p_.framework).single_operations && fw_.plain_norms;
        const N norm = single ? SingleOperations<N>(m_, p_, stage_).last_norm() : 4 * split_tokens() * h();
        N loss = norm + (worst + extra * kept) * logits;
        N backward = norm + (2 + extra * kept) * logits + 2 * tokens() * h();
        if (!fw_.gradient_fusion && !p_.freezes()) backward = backward + 2 * v() / t() * h();
        if (casts_weights(p_) && p_.recompute == Recompute::full) loss = larger(loss, norm + kCastLogits * logits + forward_casts);
        if (frozen_in_32_bits(p_)) loss = loss + 2 * v() / t() * h();  // a frozen head's copy in 16 bits, for both passes
        if (fully_shards(p_)) loss = larger(loss, norm + kCastLogits * logits + gathered);
        N head = value_of(loss) >= value_of(backward) ? loss : backward;
        if (extra > 0) head = head + extra * (12 * split_tokens() * h() + further_layer);
        if (fw_.deferred_embedding_gradient) head = head + 2 * (2 * logits + 2 * tokens() * h());
        return head;
    }

 private:
    using L = Symbols<N>;
    using L::m_, L::p_, L::tokens, L::split_tokens, L::h, L::t, L::v;
    static N larger(const N& a, const N& b) { return value_of(b) > value_of(a) ? b : a; }
    static constexpr double kCastLogits = 2 + 4 + 4;  // in 16 bits, in 32, and their log-softmax

    const Framework& fw_;
    const Stage& stage_;
};

}  // namespace fourfold
