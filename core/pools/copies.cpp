#include <algorithm>
#include <cmath>
#include <numeric>

#include "plan/rules.h"
#include "pools/mixed.h"

namespace fourfold {

namespace {

// The copies of one pool, and what a step of theirs takes.
class Copies {
 public:
    Copies(const Pool& pool, const Plan& shape)
        : count(pool.gpus / shape.model_parallel()),
          space_(pool.job.space()),
          shape_(in_nodes_of(pool, shape)),
          timer_(space_.model, space_.gpu, space_.cluster, shape_) {}
    Plan plan(std::int64_t micro_batches) const {
        Plan plan = shape_;
        plan.global_batch = micro_batches * plan.micro_batch * plan.data_parallel();
        return plan;
    }
    bool allows(std::int64_t micro_batches) const { return is_legal(space_.model, plan(micro_batches)); }
    double seconds(std::int64_t micro_batches) { return timer_.seconds(plan(micro_batches)); }
    double step() { return seconds(most()); }
    std::int64_t most() const { return each + (more > 0 ? 1 : 0); }
    Estimated estimate() { return estimated(space_, plan(most())); }
    bool may_run(const Estimated& one) const { return fourfold::may_run(space_, one.verdict); }

    const std::int64_t count;
    std::int64_t each = 1, more = 0;  // micro-batches of each, and in how many one more

 private:
    const SearchSpace space_;
    const Plan shape_;
    StepTimer timer_;
};

// The next micro-batch goes to the pool that would then be done first. As a step takes longer with every micro-batch, no other way of
// sharing them out has a faster slowest copy.
void share_out(std::vector<Copies>& pools, std::int64_t left) {
    while (left > 0) {
        Copies* first = nullptr;
        double least = INFINITY;
        for (Copies& one : pools)
            if (const double then = one.seconds(one.each + 1); then < least) least = then, first = &one;
        if (first == nullptr) return;
        const std::int64_t now = std::min(left, first->count - first->more);
        first->more += now;
        left -= now;
        if (first->more == first->count) ++first->each, first->more = 0;
    }
}

// Near the end of sharing out: every copy has what it does within the same time, and one less.
void begin(std::vector<Copies>& pools, std::int64_t micro_batches) {
    double sum = static_cast<double>(micro_batches), rate = 0;
    std::vector<double> fixed, each;
    const std::int64_t all =
        std::accumulate(pools.begin(), pools.end(), std::int64_t{0}, [](auto n, const Copies& p) { return n + p.count; });
    const std::int64_t average = std::max<std::int64_t>(1, micro_batches / all);
    for (Copies& one : pools) {
        const double here = one.seconds(average), more = one.seconds(average + 1) - here;
        each.push_back(more);
        fixed.push_back(here - more * static_cast<double>(average));
        sum += static_cast<double>(one.count) * fixed.back() / more;
        rate += static_cast<double>(one.count) / more;
    }
    const double together = sum / rate;
    for (std::size_t i = 0; i < pools.size(); ++i)
        pools[i].each = std::max<std::int64_t>(1, static_cast<std::int64_t>((together - fixed[i]) / each[i]) - 1);
}

}  // namespace

std::optional<Mixed> as_copies(const Pools& pools, const Plan& shape, double most_seconds) {
    const std::int64_t batch = pools.front().job.plan.global_batch;
    if (batch % shape.micro_batch != 0) return std::nullopt;
    std::vector<Copies> copies;
    std::int64_t all = 0;
    for (const Pool& pool : pools) {
        if (pool.gpus % shape.model_parallel() != 0) return std::nullopt;
        copies.emplace_back(pool, shape);
        all += copies.back().count;
    }
    const std::int64_t micro_batches = batch / shape.micro_batch;
    if (all > micro_batches) return std::nullopt;
    begin(copies, micro_batches);
    const auto begun = [&] {
        std::int64_t sum = 0;
        for (const Copies& one : copies) sum += one.count * one.each;
        return sum;
    };
    if (begun() > micro_batches)
        for (Copies& one : copies) one.each = 1;
    share_out(copies, micro_batches - begun());
    Mixed mixed{shape, 0, {}};
    for (Copies& one : copies) {
        if (!one.allows(one.each) || !one.allows(one.most())) return std::nullopt;
        mixed.seconds = std::max(mixed.seconds, one.step());
    }
    if (mixed.seconds >= most_seconds) return std::nullopt;
    for (std::size_t i = 0; i < copies.size(); ++i) {
        Estimated fullest = copies[i].estimate();
        if (!copies[i].may_run(fullest)) return std::nullopt;
        mixed.shares.push_back({i, copies[i].count, copies[i].each, copies[i].more, 0, {}, std::move(fullest)});
    }
    mixed.plan.global_batch = batch;
    return mixed;
}

}  // namespace fourfold
