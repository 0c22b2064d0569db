// What a search varies, and the walk over it.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "memory.h"
#include "plan.h"

namespace fourfold {

// Fixed inputs of a search. Degrees of `plan` that are not kAuto are kept.
struct SearchSpace {
    const Model& model;
    const Plan& plan;
    const Gpu& gpu;
    Method method;
    const Cluster* cluster = nullptr;  // may be none
};

// What a search may vary beside TP, CP, PP and micro-batch. Each bit opens the fields of that name, whatever the plan says.
enum Dimension : std::uint32_t {
    vary_virtual_stages = 1,  // chunks per GPU of the interleaved schedule, 1 to 32
    vary_schedule = 2,        // zero-bubble schedules beside 1F1B; GPipe takes 1F1B's time and never less memory
    vary_recompute = 4,       // none, selective, block (of the fewest layers with which a plan fits), full
    vary_zero = 8,            // none and ZeRO-1; with PyTorch all four
    vary_sequence_parallel = 16,
    vary_expert_parallel = 32,  // every power of two
    vary_stage_layers = 64,     // besides, the embedding and the loss counted as a layer each, as Llama 3 405B's 126 layers over 16 stages
};
extern const std::span<const Choice> kDimensionChoices;

enum class Breadth { usual, all };

// One way to run a pipeline.
struct Shape {
    PipelineSchedule schedule;
    std::int64_t virtual_stages;
    bool count_embedding_as_layer, count_loss_as_layer;
    // Over one or two pieces, counting both ends as layers shares out the layers as not counting them does.
    bool repeats(const Plan& plan, std::int64_t pipeline) const {
        return count_loss_as_layer && !plan.count_loss_as_layer && pipeline * virtual_stages <= 2;
    }
};

// Usual: TP within a node, CP and micro-batch powers of two. All: whatever can divide what it must divide.
struct Candidates {
    std::vector<std::int64_t> tensor, context, pipeline, micro_batch, expert;
    std::vector<Shape> shapes;
    std::vector<Recompute> recompute;
    std::vector<Zero> zero;
    std::vector<bool> sequence_parallel;
};
Candidates candidates(const SearchSpace& space, std::int64_t most_gpus, Breadth breadth, std::uint32_t dimensions = 0);

struct SearchCounts {
    std::int64_t candidates = 0;
    std::array<std::int64_t, static_cast<std::size_t>(Rule::count)> rejected{};
    std::array<std::int64_t, 3> by_fit{};
    std::int64_t legal() const { return by_fit[0] + by_fit[1] + by_fit[2]; }
};

// A part of a space, so that several workers can share it: every `parts`-th split, from the `part`-th on. All parts together are the whole.
struct Share {
    std::int64_t part = 0, parts = 1;
};

// Visits every legal plan for every GPU count in plan order (sequence parallel, TP, EP, CP, PP, shape, micro-batch, GPU count, ZeRO,
// recompute), cheapest rejection first:
//   1. tensor rules, once per TP and EP   2. split rules, once per (CP, PP, shape, GPU count)   3. batch rules, per micro-batch
// `visit(plan, order)` is called for the legal ones; `order` grows in plan order and is the same whatever the share. Each rejected
// candidate is counted under the first rule it breaks. Expert parallel left open is 1 meanwhile.
template <class Visit>
void for_each_legal(const SearchSpace& space, const std::vector<std::int64_t>& gpu_counts, const Candidates& all, Share share,
                    SearchCounts& counts, Visit&& visit) {
    const auto size = [](const auto& list) { return static_cast<std::int64_t>(list.size()); };
    const std::int64_t per_plan = size(all.zero) * size(all.recompute), per_count = size(all.micro_batch) * per_plan;
    const std::int64_t per_split = size(gpu_counts) * per_count;
    const std::int64_t per_tensor = size(all.context) * size(all.pipeline) * size(all.shapes) * per_split;
    const auto rejecting = [&](std::int64_t weight) {
        return [&counts, weight](Rule rule, bool holds) {
            if (!holds) counts.rejected[static_cast<std::size_t>(rule)] += weight;
            return holds;
        };
    };
    Plan plan = space.plan;
    std::int64_t split = -1;  // splits before this one
    std::vector<std::int64_t> counts_that_divide;
    const auto visit_split = [&] {
        counts_that_divide.clear();
        for (const std::int64_t gpus : gpu_counts) {
            plan.gpus = gpus;
            if (check_split_rules(space.model, plan, rejecting(per_count))) counts_that_divide.push_back(gpus);
        }
        if (counts_that_divide.empty()) return;
        std::int64_t order = split * per_split;
        for (const std::int64_t micro_batch : all.micro_batch) {
            plan.micro_batch = micro_batch;
            for (const std::int64_t gpus : counts_that_divide) {
                plan.gpus = gpus;
                if (!check_batch_rules(space.model, plan, rejecting(per_plan))) continue;
                for (const Zero zero : all.zero)
                    for (const Recompute recompute : all.recompute) {
                        plan.zero = zero;
                        plan.recompute = recompute;
                        visit(static_cast<const Plan&>(plan), order++);
                    }
            }
        }
    };
    for (const bool sequence : all.sequence_parallel)
        for (const std::int64_t tensor : all.tensor)
            for (const std::int64_t expert : all.expert) {
                if (tensor == 1 && sequence != all.sequence_parallel.front()) continue;  // no effect without tensor parallelism
                plan.sequence_parallel = sequence;
                plan.tensor_parallel = tensor;
                plan.expert_parallel = expert;
                const std::int64_t block = share.part == 0 ? per_tensor : 0;  // rejected as a whole, by one of the parts
                if (!check_tensor_rules(space.model, plan, rejecting(block))) {
                    counts.candidates += block;
                    continue;
                }
                for (const std::int64_t context : all.context)
                    for (const std::int64_t pipeline : all.pipeline)
                        for (const Shape& shape : all.shapes) {
                            if (shape.repeats(space.plan, pipeline) || ++split % share.parts != share.part) continue;
                            counts.candidates += per_split;
                            plan.context_parallel = context;
                            plan.pipeline_parallel = pipeline;
                            plan.schedule = shape.schedule;
                            plan.virtual_stages = shape.virtual_stages;
                            plan.count_embedding_as_layer = shape.count_embedding_as_layer;
                            plan.count_loss_as_layer = shape.count_loss_as_layer;
                            visit_split();
                        }
            }
}

}  // namespace fourfold
