// Jobs of all kinds for laws of the search.
#pragma once
#include "job/job.h"
#include "model/catalog.h"
#include "random_cases.h"
#include "search/search.h"

namespace fourfold::tests {

// A job of any kind, small enough to look at everything.
struct AnyJob {
    Model model;
    Gpu gpu;
    Plan plan;
    Exploration exploration;
    Method method = Method::detailed;
    SearchSpace space() const { return {model, plan, gpu, method, nullptr, exploration}; }
};

inline Model any_model(Random& random) {
    Model model = random.from(0, 3) == 0
                      ? catalog().model(random.one_of<const char*>({"llama-3.2-1b", "tinyllama-1.1b", "llama-3.1-8b"}))->model
                      : random_model(random);
    model.layers = random.from(1, 20);
    model.expert_layers = {};
    if (random.from(0, 2) == 0) {
        model.experts.count = random.one_of<std::int64_t>({2, 4, 6});
        model.experts.per_token = 2;
        model.experts.ffn = 256 * random.from(1, 16);
        model.expert_layers = random_experts(random, model.layers, model.layers - 1);
        model.multi_token_layers = random.coin() ? 1 : 0;
    }
    return model;
}

inline AnyJob any_job(Random& random) {
    AnyJob job{any_model(random), *catalog().gpu(random.one_of<const char*>({"h100-sxm-80gb", "a100-sxm-40gb"})), open_plan(), {}};
    Plan& p = job.plan;
    p.gpus = random.one_of<std::int64_t>({1, 2, 3, 4, 6, 8, 12, 16, 24});
    p.gpus_per_node = random.one_of<std::int64_t>({2, 4, 8});
    p.sequence_length = 512 * random.from(1, 24);
    p.global_batch = random.one_of<std::int64_t>({4, 6, 8, 12, 24, 30, 32});
    p.framework =
        random.one_of({FrameworkKind::megatron_2025, FrameworkKind::megatron_2025, FrameworkKind::megatron_2024, FrameworkKind::pytorch});
    job.gpu.memory_bytes = 1024.0 * 1024 * 1024 * random.one_of<double>({2, 4, 8, 16, 24, 40, 80});
    job.exploration.left_out = random.coin() ? Exploration{}.left_out : static_cast<std::uint32_t>(random.from(0, 511));
    job.exploration.risk = random.one_of<double>({0.02, 0.05, 0.3});
    if (random.from(0, 7) == 0) job.method = Method::fujii2024;
    if (random.from(0, 3) == 0) p.tensor_parallel = random.one_of<std::int64_t>({1, 2, 4});
    if (random.from(0, 5) == 0) p.pipeline_parallel = random.one_of<std::int64_t>({1, 2, 3});
    if (random.from(0, 5) == 0) p.virtual_stages = random.one_of<std::int64_t>({1, 2});
    if (random.from(0, 3) == 0) p.schedule = static_cast<ScheduleKind>(random.from(0, kChosenSchedules - 1)), p.open &= ~open_schedule;
    if (random.from(0, 5) == 0)
        p.recompute = random.one_of({Recompute::full, Recompute::block, Recompute::selective}), p.open &= ~open_recompute;
    if (random.from(0, 3) == 0) {
        p.recompute_modules = random.one_of<std::uint32_t>({core_attn, layernorm | mlp, moe_act}), p.open &= ~open_recompute_modules;
    }
    if (job.model.experts.count > 0 && random.from(0, 2) == 0) p.expert_overlap = random.from(0, 1) == 0, p.open &= ~open_expert_overlap;
    if (random.from(0, 5) == 0) p.split = random.one_of({Split::equal, Split::front, Split::weights}), p.open &= ~open_layout;
    if (random.from(0, 7) == 0) p.attention = Attention::plain;
    if (random.from(0, 4) == 0) {
        p.trained = TrainedPart::lora, p.lora_rank = random.one_of<std::int64_t>({1, 16, 256});
        p.lora_targets = random.one_of<std::uint32_t>({lora_all, lora_query, lora_down | lora_value});
        p.frozen_weights = random.one_of({FrozenWeights::bf16, FrozenWeights::nf4}), p.lora_dropout = random.from(0, 1) == 0;
    }
    if (random.from(0, 4) == 0) p.optimizer = random.one_of({Optimizer::muon, Optimizer::sgd, Optimizer::adam_8bit});
    if (p.global_batch % 3 == 0) p.token_slices = kAuto;
    if (p.sequence_length % 3 == 0) p.document_length = p.sequence_length / 8;
    p.tensor_columns = p.global_batch % 8 == 0 && p.gpus % 4 == 0 ? 2 : 1;
    if (!has_grid(job.model, p)) p.tensor_columns = 1;
    return job;
}

}  // namespace fourfold::tests
