#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "plan/rules.h"
#include "pools/mixed.h"

namespace fourfold {

namespace {

constexpr std::size_t kShapes = 100;  // of the fastest plans on each kind of GPU, were there no other: their shapes are tried on all kinds

// The pools as parts of one machine: the network of the slowest, and the GPUs of all in the plan.
Pools together(const std::vector<Job>& alone) {
    double adapter = INFINITY;
    std::int64_t gpus = 0;
    for (const Job& job : alone) {
        const double own = job.gpu->network_byte_per_s;
        adapter = std::min(adapter, own > 0 ? own : usual_adapter(job.gpu->architecture));
        gpus += job.plan.gpus;
    }
    Pools pools;
    pools.reserve(alone.size());
    for (const Job& job : alone) {
        Gpu card = *job.gpu;
        card.network_byte_per_s = adapter;
        pools.push_back({job, job.plan.gpus});
        pools.back().job.gpu = std::make_shared<const Gpu>(std::move(card));
        pools.back().job.plan.gpus = gpus;
    }
    return pools;
}

// One batch that all numbers of copies divide may stand for the real one: the copies share the real one out unevenly.
std::vector<Plan> shapes_of(const Pools& pools, bool any_batch) {
    std::vector<Plan> shapes;
    for (const Pool& pool : pools) {
        Job job = pool.job;
        const std::int64_t gpus = job.plan.gpus;
        if (any_batch) job.plan.global_batch = (job.plan.global_batch + gpus - 1) / gpus * gpus;
        for (Ranked& one : search(job.space(), {.plans = kShapes}).plans) shapes.push_back(std::move(one.estimate.plan));
    }
    return shapes;
}

// Every shape once.
class Shapes {
 public:
    void add(const Plan& plan) {
        Json fields = Json::object();
        visit_fields(plan, FieldWriter(fields));
        std::string text = fields.dump();
        if (std::find(known_.begin(), known_.end(), text) != known_.end()) return;
        known_.push_back(std::move(text));
        plans_.push_back(plan);
    }
    const std::vector<Plan>& plans() const { return plans_; }

 private:
    std::vector<std::string> known_;
    std::vector<Plan> plans_;
};

void try_copies(const Pools& pools, Mixes& best) {
    Shapes shapes;
    for (const bool any_batch : {false, true})
        for (Plan& shape : shapes_of(pools, any_batch)) {
            shape.global_batch = pools.front().job.plan.global_batch;
            shapes.add(shape);
        }
    for (const Plan& shape : shapes.plans()) {
        ++best.looked_at;
        if (auto one = as_copies(pools, shape, best.copies ? best.copies->seconds : INFINITY)) best.copies = std::move(one);
    }
}

// A chunk on each stage, one micro-batch after the other: what the closed form of a pipeline is for.
bool has_simple_stages(const Plan& plan) {
    return (plan.virtual_stages == 1 || plan.virtual_stages == kAuto) && plan.token_slices <= 1 && plan.weight_copies() == 1 &&
           !row_of(plan.schedule).splits_backward && plan.layout == nullptr && !has_uneven_ends(plan);
}
void try_stages(const Pools& pools, Mixes& best) {
    const Plan& asked = pools.front().job.plan;
    if (!has_simple_stages(asked)) return;
    std::int64_t common = 0;
    for (const Pool& pool : pools) common = std::gcd(common, pool.gpus);
    const std::int64_t least = asked.gpus / common;  // stages where the GPUs of one are a common divisor of the pools
    Shapes shapes;
    for (Plan& shape : shapes_of(pools, true)) {
        shape.global_batch = asked.global_batch;
        shape.virtual_stages = shape.token_slices = 1;
        shape.virtual_stage_group = kAuto;
        shape.schedule = (asked.open & open_schedule) != 0 ? kUsualSchedule : asked.schedule;
        shape.split = Split::equal, shape.layout = nullptr;
        for (std::int64_t stages = least; stages <= pools.front().job.model.layers; stages += least) {
            if (asked.pipeline_parallel != kAuto && asked.pipeline_parallel != stages) continue;
            shape.pipeline_parallel = stages;
            if (asked.gpus % shape.model_parallel() == 0 && shape.micro_batches() > 0) shapes.add(shape);
        }
    }
    std::vector<std::size_t> order(pools.size());
    for (const Plan& shape : shapes.plans()) {
        std::iota(order.begin(), order.end(), std::size_t{0});
        do {
            ++best.looked_at;
            if (auto one = as_stages(pools, order, shape, best.stages ? best.stages->seconds : INFINITY)) best.stages = std::move(one);
        } while (std::next_permutation(order.begin(), order.end()));
    }
}

}  // namespace

Mixes find_mixes(const std::vector<Job>& alone) {
    Mixes best;
    const std::size_t all = (std::size_t{1} << alone.size()) - 1;
    for (std::size_t some = all; some > 0; --some) {  // all of them first
        std::vector<Job> jobs;
        std::vector<std::size_t> which;
        for (std::size_t i = 0; i < alone.size(); ++i)
            if ((some >> i & 1U) != 0) jobs.push_back(alone[i]), which.push_back(i);
        if (jobs.size() < 2) continue;
        const Pools pools = together(jobs);
        Mixes found;
        try_copies(pools, found);
        try_stages(pools, found);
        best.looked_at += found.looked_at;
        for (const auto way : {&Mixes::copies, &Mixes::stages}) {
            if (!(found.*way) || (best.*way && (best.*way)->seconds <= (found.*way)->seconds)) continue;
            best.*way = std::move(found.*way);
            for (PoolShare& share : (best.*way)->shares) share.pool = which[share.pool];
        }
    }
    return best;
}

}  // namespace fourfold
