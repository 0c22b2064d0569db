#include "candidates.h"

#include <algorithm>

namespace fourfold {

static constexpr Choice kDimensions[] = {
    {"virtual_stages", "Chunks per GPU", "How many pieces of the pipeline each GPU holds (interleaved schedule)."},
    {"schedule", "Zero-bubble schedules", "ZB-H1 and ZB-V beside 1F1B. They need a framework that has them."},
    {"recompute", "Recomputation", "None, attention alone, as few layers as needed, or every layer."},
    {"zero", "ZeRO", "Whether optimizer state is shared out; with PyTorch gradients and weights too."},
    {"sequence_parallel", "Sequence parallel", "With it and without."},
    {"expert_parallel", "Expert parallel", "Every power of two, instead of the smallest that fits."},
    {"stage_layers", "Layers per stage",
     "Also with the embedding and the loss counted as one layer each: 126 layers then fill 128 places."},
};
const std::span<const Choice> kDimensionChoices = kDimensions;

template <class Keep>
static std::vector<std::int64_t> values(std::int64_t set, std::int64_t most, Keep&& keep) {
    if (set != kAuto) return {set};
    std::vector<std::int64_t> list;
    for (std::int64_t v = 1; v <= most; ++v)
        if (keep(v)) list.push_back(v);
    return list;
}

static std::vector<Shape> shapes(const SearchSpace& space, std::uint32_t dimensions) {
    constexpr std::int64_t kMostChunks = 32;
    const Plan& p = space.plan;
    std::vector<Shape> list;
    const auto add = [&](PipelineSchedule schedule, std::int64_t chunks) {
        list.push_back({schedule, chunks, p.count_embedding_as_layer, p.count_loss_as_layer});
    };
    if ((dimensions & vary_virtual_stages) != 0)
        for (std::int64_t v = 1; v <= std::min(kMostChunks, space.model.layers); ++v) add(PipelineSchedule::one_f_one_b, v);
    else if ((dimensions & vary_schedule) != 0 && p.schedule != PipelineSchedule::one_f_one_b)
        add(PipelineSchedule::one_f_one_b, 1);
    else
        add(p.schedule, p.virtual_stages);
    if ((dimensions & vary_schedule) != 0) {
        add(PipelineSchedule::zero_bubble_h1, 1);
        add(PipelineSchedule::zero_bubble_v, 2);
    }
    // given layers of the end stages leave nothing to vary
    if ((dimensions & vary_stage_layers) == 0 || p.first_stage_layers > 0 || p.last_stage_layers > 0) return list;
    for (Shape& shape : list) shape.count_embedding_as_layer = shape.count_loss_as_layer = false;
    const std::size_t plain = list.size();
    for (std::size_t i = 0; i < plain; ++i) list.push_back({list[i].schedule, list[i].virtual_stages, true, true});
    return list;
}

Candidates candidates(const SearchSpace& space, std::int64_t most_gpus, Breadth breadth, std::uint32_t dimensions) {
    const Plan& p = space.plan;
    const bool usual = breadth == Breadth::usual;
    const auto every = [](std::int64_t) { return true; };
    const auto power_of_two = [](std::int64_t v) { return (v & (v - 1)) == 0; };
    const auto power_of_two_or = [&](std::int64_t whole) {
        return [usual, whole, power_of_two](std::int64_t v) { return usual ? power_of_two(v) : whole % v == 0; };
    };
    Candidates all;
    all.tensor = values(p.tensor_parallel, std::min<std::int64_t>(usual ? p.gpus_per_node : 1'024, most_gpus), every);
    all.context = values(p.context_parallel, std::min<std::int64_t>(most_gpus, 4'096), power_of_two_or(most_gpus));
    all.pipeline = values(p.pipeline_parallel, std::min(space.model.layers, most_gpus), every);
    all.micro_batch = values(p.micro_batch, std::min<std::int64_t>(p.global_batch, 65'536), power_of_two_or(p.global_batch));
    const bool experts = (dimensions & vary_expert_parallel) != 0 && space.model.experts.count > 0;
    all.expert = experts                      ? values(kAuto, std::min(space.model.experts.count, most_gpus), power_of_two)
                 : p.expert_parallel == kAuto ? std::vector<std::int64_t>{1}  // chosen plan by plan, when each is estimated
                                              : std::vector<std::int64_t>{p.expert_parallel};
    all.shapes = shapes(space, dimensions);
    all.recompute = {p.recompute};
    if ((dimensions & vary_recompute) != 0) all.recompute = {Recompute::none, Recompute::selective, Recompute::block, Recompute::full};
    all.zero = {p.zero};
    if ((dimensions & vary_zero) != 0) {
        all.zero = {Zero::none, Zero::optimizer};
        if (p.framework == FrameworkKind::pytorch) all.zero = {Zero::none, Zero::optimizer, Zero::gradients, Zero::weights};
    }
    all.sequence_parallel = {p.sequence_parallel};
    if ((dimensions & vary_sequence_parallel) != 0) all.sequence_parallel = {true, false};
    return all;
}

}  // namespace fourfold
