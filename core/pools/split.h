// How work is split among unlike workers: the arithmetic alone, of seconds that somebody else knows.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fourfold {

// A stage of a pipeline: n layers take fixed + n·each seconds a micro-batch, and it can hold so many.
struct StageCost {
    std::size_t kind = 0;  // of GPU: stages of one kind take as long for a layer
    double fixed = 0, each = 0;
    std::int64_t most = 0;  // layers
    double seconds(std::int64_t layers) const { return fixed + each * static_cast<double>(layers); }
};
// The layers of each stage, one at least, for which  sum_work · (sum of the stages) + most_work · (the slowest stage)  is least: what a
// pipeline takes (PipelineWeights). Empty: the stages cannot hold so many.
std::vector<std::int64_t> split_layers(const std::vector<StageCost>& stages, std::int64_t layers, double sum_work, double most_work);

// Copies of the model on one kind of GPU.
class CopyCost {
 public:
    explicit CopyCost(std::int64_t copies) : count(copies) {}
    virtual ~CopyCost() = default;
    virtual double seconds(std::int64_t micro_batches) = 0;  // that a step of so many takes each of them; more take longer
    const std::int64_t count;
};
struct Dealt {
    std::int64_t each = 1, more = 0;  // micro-batches of every copy, and how many copies do one more
    std::int64_t most() const { return each + (more > 0 ? 1 : 0); }
};
// So many micro-batches, one a copy at least, dealt out so that the slowest copy is done as early as can be.
std::vector<Dealt> deal_micro_batches(const std::vector<CopyCost*>& kinds, std::int64_t micro_batches);

}  // namespace fourfold
