// Models so small that each number of their memory can be checked with a pencil; no two sizes are alike, so that a wrong one shows. What a
// GPU holds of them (t = 2 tensor-parallel GPUs):
//   h = 48, f = 80 (gated), a = 6 heads, k = 2 KV heads, d = 10, 6 layers, v = 250 words, padded to 256
//   s = 20 tokens, b = 3 sequences: N = 60 tokens of a micro-batch, N_s = 30 where sequence parallelism splits them
#pragma once
#include <doctest/doctest.h>

#include "base/bytes.h"
#include "memory/memory.h"
#include "model/catalog.h"
#include "near.h"
#include "plan/as_requested.h"
#include "plan/rules.h"
#include "plan/stage.h"

namespace fourfold::tests {

struct Case {
    Model model;
    Plan plan;
    std::string_view gpu = "h100-sxm-80gb";
    std::int32_t stage = 0;
    StageMemory<double> memory() const {
        REQUIRE(is_legal(model, plan));
        const Plan read = as_requested(plan);
        const Framework framework = framework_of(model, read, *catalog().gpu(gpu));
        return detailed<double>(model, read, framework, fullest_moment(model, read, framework, Stages(model, read), stage));
    }
    // Bytes of the item; -1 when it is not there.
    double operator()(Item item) const {
        const StageMemory<double> all = memory();
        for (std::size_t i = 0; i < all.items.size(); ++i)
            if (all.items.item(i) == item) return all.items.bytes(i);
        return -1;
    }
};

// 8 GPUs: 2 tensor parallel, 2 stages of 3 layers, 2 copies; 24 / (3 * 2) = 4 micro-batches. 1F1B: stage 0 keeps 2 of them, stage 1 one.
inline Case dense() {
    Case c;
    Model& m = c.model;
    m.layers = 6, m.hidden = 48, m.ffn = 80, m.heads = 6, m.kv_heads = 2, m.head_dim = 10, m.vocabulary = 250;
    Plan& p = c.plan;
    p.gpus = 8, p.gpus_per_node = 8, p.sequence_length = 20, p.global_batch = 24;
    p.tensor_parallel = 2, p.context_parallel = 1, p.pipeline_parallel = 2, p.micro_batch = 3;
    p.framework = FrameworkKind::megatron_2024, p.attention = Attention::cudnn;
    return c;
}
// The same with experts in every second layer: 4 experts of width 24, 2 per token, a shared one of width 16; experts over 2 GPUs.
inline Case experts() {
    Case c = dense();
    c.model.experts = {.count = 4, .per_token = 2, .ffn = 24, .shared_ffn = 16, .shared_gate = true, .router_bias = true};
    c.model.expert_layers = {0, 1, 0, 1, 0, 1};
    c.plan.expert_parallel = 2;
    return c;
}

// Parameters of a dense layer on a GPU: queries, keys, values h*(a+2k)*d/t = 48*(6+4)*10/2; projection a*d/t*h = 6*10/2*48; two norms 2*h;
// feed-forward three matrices h*f/t = 48*80/2.
inline constexpr double kQkv = 2'400, kProjection = 1'440, kNorms = 96, kMatrix = 1'920;
inline constexpr double kLayer = kQkv + kProjection + kNorms + 3 * kMatrix;  // 9,696
inline constexpr double kVocabulary = 6'144;                                 // 256 / 2 * 48
inline constexpr double kFirst = 3 * kLayer + kVocabulary;                   // 35,232: three layers and the embedding
inline constexpr double kLast = 3 * kLayer + kVocabulary + 48;               // 35,280: three layers, the final norm and the head

// The same of a layer, of the embedding or the head, and of the whole dense model, where nothing is split and both have weights of their
// own.
inline constexpr double kOfLayer = 48 * (6 + 4) * 10 + 60 * 48 + 96 + 3 * 48 * 80;  // 19,296
inline constexpr double kWords = 256 * 48;
inline constexpr double kParameters = 6 * kOfLayer + 2 * kWords + 48;

}  // namespace fourfold::tests
