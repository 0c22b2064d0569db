#include "pools/pools.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "answer/parts.h"
#include "base/text.h"
#include "plan/rules.h"
#include "pools/mixed.h"

namespace fourfold {

namespace {

constexpr std::size_t kMostPools = 4;
constexpr std::size_t kShapes = 100;  // of the fastest plans on each kind of GPU, were there no other: their shapes are tried on all kinds

// ---- the request
// The job on the GPUs that `more` names.
std::optional<Job> read_pool(const Json& request, const Json& more, Problems& problems) {
    if (!more.is_object() || more.size() != 2 || !more.contains("gpu") || !more.contains("gpus")) {
        problems.push_back({"", "type", shown(more), "problem.no_pool", {}, nullptr});
        return std::nullopt;
    }
    Json one = request;
    one.erase("more_pools");
    for (const char* key : {"gpu", "gpus"}) one[key] = more[key];
    return read_parsed_job(one, Request::estimate, problems);
}

std::vector<Job> read_pools(const Json& request, Problems& problems) {
    std::vector<Job> jobs;
    if (auto first = read_parsed_job(request, Request::pools, problems)) {
        if (first->cluster != nullptr)
            problems.push_back({"cluster", "contradictory", first->cluster->id, "problem.pools_cluster", "suggestion.leave_out", ""});
        jobs.push_back(std::move(*first));
    }
    const auto given = request.find("more_pools");
    if (given == request.end() || !given->is_array() || given->empty() || given->size() >= kMostPools) {
        problems.push_back({"more_pools",
                            given == request.end() ? "missing" : "type",
                            nullptr,
                            Text("problem.no_pools").with("most", kMostPools - 1),
                            {},
                            nullptr});
        return jobs;
    }
    const bool read = !jobs.empty();
    for (std::size_t i = 0; i < given->size(); ++i) {
        Problems own;
        auto job = read_pool(request, (*given)[i], own);
        if (job) jobs.push_back(std::move(*job));
        for (Problem& problem : own) {
            const bool of_pool = problem.field.empty() || problem.field.starts_with("gpu");
            if (!read && !of_pool) continue;  // the job's own mistakes are told once
            problem.field = under(indexed("more_pools", i), problem.field);
            problems.push_back(std::move(problem));
        }
    }
    return jobs;
}

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
    for (const Job& job : alone) {
        Gpu card = *job.gpu;
        card.network_byte_per_s = adapter;
        pools.push_back({job, job.plan.gpus});
        pools.back().job.gpu = std::make_shared<const Gpu>(std::move(card));
        pools.back().job.plan.gpus = gpus;
    }
    return pools;
}

// ---- the search
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

struct Best {
    std::optional<Mixed> copies, stages;
    std::int64_t looked_at = 0;
};

void try_copies(const Pools& pools, Best& best) {
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
    return (plan.virtual_stages == 1 || plan.virtual_stages == kAuto) && plan.token_slices == 1 && plan.weight_copies() == 1 &&
           !row_of(plan.schedule).splits_backward && plan.layout == nullptr && !has_uneven_ends(plan);
}
void try_stages(const Pools& pools, Best& best) {
    const Plan& asked = pools.front().job.plan;
    if (!has_simple_stages(asked)) return;
    std::int64_t common = 0;
    for (const Pool& pool : pools) common = std::gcd(common, pool.gpus);
    const std::int64_t least = asked.gpus / common;  // stages where the GPUs of one are a common divisor of the pools
    Shapes shapes;
    for (Plan& shape : shapes_of(pools, true)) {
        shape.global_batch = asked.global_batch;
        shape.virtual_stages = 1;
        shape.virtual_stage_group = kAuto;
        shape.schedule = (asked.open & open_schedule) != 0 ? kUsualSchedule : asked.schedule;
        shape.split = Split::equal, shape.layout = nullptr;
        for (std::int64_t stages = least; stages <= pools.front().job.model.layers; stages += least) {
            if (asked.pipeline_parallel != kAuto && asked.pipeline_parallel != stages) continue;
            shape.pipeline_parallel = stages;
            if (asked.gpus % shape.model_parallel() == 0) shapes.add(shape);
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

// ---- the answer
// Hours of all GPUs of these jobs at their prices; null where one is not known.
Json cost_of(const std::vector<const Job*>& jobs, double days) {
    double sum = 0;
    for (const Job* job : jobs) {
        const double price = budget_of(*job).price_per_gpu_hour;
        if (price <= 0) return nullptr;
        sum += days * 24 * static_cast<double>(job->plan.gpus) * price;
    }
    return sum;
}

Json describe_way(const char* kind, const Plan& plan, double seconds, const std::vector<const Job*>& jobs) {
    const Budget budget = budget_of(*jobs.front());
    const double tokens = static_cast<double>(plan.global_batch * plan.sequence_length);
    const bool asked = budget.tokens > 0;
    const double days = asked ? training_run(budget, plan, seconds).days : 0;
    return Object()
        .add("way", kind)
        .add("step_seconds", seconds)
        .add("tokens_per_s", tokens / seconds)
        .add("plan", describe_whole_plan(plan))
        .add("days", asked ? Json(days) : Json())
        .add("cost", asked ? cost_of(jobs, days) : Json());
}

Json describe_share(const PoolShare& share, const Pool& pool, double step) {
    Json object = Object()
                      .add("pool", static_cast<std::int64_t>(share.pool))
                      .add("gpus", pool.gpus)
                      .add("copies", share.copies)
                      .add("micro_batches", share.micro_batches)
                      .add("copies_with_one_more", share.more)
                      .add("first_stage", share.first_stage)
                      .add("layers", share.layers);
    Json brief = Json::object();
    add_brief(brief, share.fullest);
    for (const char* key : {"total_bytes", "whole_bytes", "share", "class", "probability"}) object[key] = brief[key];
    object["busy_seconds"] = std::min(step, share.fullest.seconds);
    return object;
}

Json describe_mixed(const char* kind, const Mixed& mixed, const Pools& pools, const std::vector<Job>& alone) {
    std::vector<const Job*> jobs;
    for (const Job& job : alone) jobs.push_back(&job);
    Json way = describe_way(kind, mixed.plan, mixed.seconds, jobs);
    Json shares = Json::array();
    for (const PoolShare& share : mixed.shares) shares.push_back(describe_share(share, pools[share.pool], mixed.seconds));
    way["shares"] = std::move(shares);
    return way;
}

Json describe_alone(std::size_t pool, const Estimated& best, const Job& job) {
    Json way = describe_way("alone", best.plan, best.seconds, {&job});
    const Plan& p = best.plan;
    PoolShare share{pool, p.data_parallel(), p.micro_batches(), 0, 0, {}, best};
    way["shares"] = Json::array({describe_share(share, {job, p.gpus}, best.seconds)});
    return way;
}

}  // namespace

Json pools_answer(const Json& request, Problems& problems) {
    if (!request.is_object()) {
        read_parsed_job(request, Request::pools, problems);
        return nullptr;
    }
    const std::vector<Job> alone = read_pools(request, problems);
    if (!problems.empty()) return nullptr;
    const Pools pools = together(alone);
    Best best;
    try_copies(pools, best);
    try_stages(pools, best);
    Json ways = Json::array();
    const auto add = [&](Json way) {  // the fastest first
        std::size_t at = 0;
        while (at < ways.size() && ways[at]["step_seconds"].get<double>() <= way["step_seconds"].get<double>()) ++at;
        ways.insert(ways.begin() + static_cast<std::ptrdiff_t>(at), std::move(way));
    };
    if (best.copies) add(describe_mixed("copies", *best.copies, pools, alone));
    if (best.stages) add(describe_mixed("stages", *best.stages, pools, alone));
    for (std::size_t i = 0; i < alone.size(); ++i)
        if (const auto one = best_plan(alone[i].space())) add(describe_alone(i, one->estimate, alone[i]));
    Json listed = Json::array();
    for (std::size_t i = 0; i < alone.size(); ++i)
        listed.push_back(Object()
                             .add("gpu", alone[i].gpu->id)
                             .add("label", alone[i].gpu->label)
                             .add("gpus", alone[i].plan.gpus)
                             .add("card_bytes", alone[i].gpu->memory_bytes));
    return Object()
        .add("ok", true)
        .add("job", to_json(alone.front()))
        .add("pools", std::move(listed))
        .add("ways", std::move(ways))
        .add("looked_at", best.looked_at);
}

}  // namespace fourfold
