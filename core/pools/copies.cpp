#include <algorithm>

#include "plan/rules.h"
#include "pools/mixed.h"
#include "pools/split.h"
#include "time/data_traffic.h"

namespace fourfold {

namespace {

// The copies of one pool, and what a step of theirs takes.
class Copies final : public CopyCost {
 public:
    Copies(const Pool& pool, const Plan& shape)
        : CopyCost(pool.gpus / shape.model_parallel()),
          space_(pool.job.space()),
          shape_(beside_others(pool, shape)),
          timer_(space_.model, space_.gpu, space_.cluster, shape_) {}
    Plan plan(std::int64_t micro_batches) const {
        Plan plan = shape_;
        plan.global_batch = micro_batches * plan.micro_batch * plan.data_parallel();
        return plan;
    }
    bool allows(std::int64_t micro_batches) const { return is_legal(space_.model, plan(micro_batches)); }
    double seconds(std::int64_t micro_batches) override { return timer_.seconds(plan(micro_batches)); }
    Estimated estimate(std::int64_t micro_batches) const { return estimated(space_, plan(micro_batches)); }
    bool may_run(const Estimated& one) const { return fourfold::may_run(space_, one.verdict); }

 private:
    // Copies that add up gradients within a node are at most the pool's own: the others are elsewhere.
    static Plan beside_others(const Pool& pool, const Plan& shape) {
        Plan plan = in_nodes_of(pool, shape);
        plan.gpus_per_node = std::min(plan.gpus_per_node, pool.gpus / shape.pipeline_parallel);
        return plan;
    }
    const SearchSpace space_;
    const Plan shape_;
    StepTimer timer_;
};

// How many copies do the same in every micro-batch, out of `all`: a message in it waits for all of them.
std::int64_t in_step(const Plan& shape, std::int64_t all) {
    if (sends_every_micro_batch(shape)) return all;
    const std::int64_t experts = shape.expert_parallel * shape.expert_tensor_parallel;
    return std::max<std::int64_t>(1, experts / (shape.tensor_parallel * shape.context_parallel));
}

bool holds_whole_copies(const Pool& pool, const Plan& shape) {
    return pool.gpus % shape.model_parallel() == 0 &&
           pool.gpus / shape.pipeline_parallel % (shape.expert_parallel * shape.expert_tensor_parallel) == 0;
}

}  // namespace

std::optional<Mixed> as_copies(const Pools& pools, const Plan& shape, double most_seconds) {
    const std::int64_t batch = pools.front().job.plan.global_batch, micro_batches = batch / shape.micro_batch;
    if (batch % shape.micro_batch != 0) return std::nullopt;
    std::vector<Copies> copies;
    std::vector<CopyCost*> costs;
    std::int64_t all = 0;
    copies.reserve(pools.size());  // their addresses are kept below
    for (const Pool& pool : pools) {
        if (!holds_whole_copies(pool, shape)) return std::nullopt;
        Copies& one = copies.emplace_back(pool, shape);
        costs.push_back(&one);
        all += one.count;
    }
    const std::int64_t same = in_step(shape, all);
    if (all > micro_batches || micro_batches % same != 0) return std::nullopt;
    const std::vector<Dealt> dealt =
        same == all ? std::vector<Dealt>(pools.size(), Dealt{micro_batches / all, 0}) : deal_micro_batches(costs, micro_batches);
    Mixed mixed{shape, 0, {}};
    for (std::size_t i = 0; i < copies.size(); ++i) {
        if (!copies[i].allows(dealt[i].each) || !copies[i].allows(dealt[i].most())) return std::nullopt;
        mixed.seconds = std::max(mixed.seconds, copies[i].seconds(dealt[i].most()));
    }
    if (mixed.seconds >= most_seconds) return std::nullopt;
    for (std::size_t i = 0; i < copies.size(); ++i) {
        Estimated fullest = copies[i].estimate(dealt[i].most());
        if (!copies[i].may_run(fullest)) return std::nullopt;
        mixed.shares.push_back({i, copies[i].count, dealt[i].each, dealt[i].more, 0, {}, std::move(fullest)});
    }
    mixed.plan.global_batch = batch;
    return mixed;
}

}  // namespace fourfold
