#include "pools/pools.h"

#include <algorithm>

#include "answer/parts.h"
#include "base/text.h"
#include "plan/rules.h"
#include "pools/mixed.h"

namespace fourfold {

namespace {

constexpr std::size_t kMostPools = 4;

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

// NCCL joins GPUs of NVIDIA, and RCCL those of AMD: no library in common use joins both.
bool is_amd(const Job& job) { return job.gpu->architecture == Architecture::cdna3 || job.gpu->architecture == Architecture::cdna4; }

// GPUs of one kind are one pool, wherever they are listed.
std::vector<Job> by_kind(std::vector<Job> jobs) {
    std::vector<Job> kinds;
    for (Job& job : jobs) {
        const auto same = [&](const Job& other) { return other.gpu->id == job.gpu->id && other.gpu->own == job.gpu->own; };
        const auto known = std::find_if(kinds.begin(), kinds.end(), same);
        if (known == kinds.end())
            kinds.push_back(std::move(job));
        else
            known->plan.gpus += job.plan.gpus;
    }
    return kinds;
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
        if (job && !jobs.empty() && is_amd(*job) != is_amd(jobs.front()))
            own.push_back({"gpu",
                           "contradictory",
                           job->gpu->label,
                           Text("problem.pools_makers").with("name", job->gpu->label).with("other", jobs.front().gpu->label),
                           {},
                           nullptr});
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

Json describe_share(const PoolShare& share, std::int64_t gpus, double step) {
    Json object = Object()
                      .add("pool", static_cast<std::int64_t>(share.pool))
                      .add("gpus", gpus)
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

Json describe_mixed(const char* kind, const Mixed& mixed, const std::vector<Job>& alone) {
    std::vector<const Job*> jobs;
    jobs.reserve(mixed.shares.size());
    Json shares = Json::array();
    for (const PoolShare& share : mixed.shares) {
        jobs.push_back(&alone[share.pool]);
        shares.push_back(describe_share(share, alone[share.pool].plan.gpus, mixed.seconds));
    }
    Json way = describe_way(kind, mixed.plan, mixed.seconds, jobs);
    way["shares"] = std::move(shares);
    return way;
}

Json describe_alone(std::size_t pool, const Estimated& best, const Job& job) {
    Json way = describe_way("alone", best.plan, best.seconds, {&job});
    const Plan& p = best.plan;
    PoolShare share{pool, p.data_parallel(), p.micro_batches(), 0, 0, {}, best};
    way["shares"] = Json::array({describe_share(share, p.gpus, best.seconds)});
    return way;
}

}  // namespace

Json pools_answer(const Json& request, Problems& problems) {
    if (!request.is_object()) {
        read_parsed_job(request, Request::pools, problems);
        return nullptr;
    }
    std::vector<Job> read = read_pools(request, problems);
    if (!problems.empty()) return nullptr;
    const Json job = to_json(read.front());
    const std::vector<Job> alone = by_kind(std::move(read));
    const Mixes best = find_mixes(alone);
    Json ways = Json::array();
    const auto add = [&](Json way) {  // the fastest first
        std::size_t at = 0;
        while (at < ways.size() && ways[at]["step_seconds"].get<double>() <= way["step_seconds"].get<double>()) ++at;
        ways.insert(ways.begin() + static_cast<std::ptrdiff_t>(at), std::move(way));
    };
    if (best.copies) add(describe_mixed("copies", *best.copies, alone));
    if (best.stages) add(describe_mixed("stages", *best.stages, alone));
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
        .add("job", job)
        .add("pools", std::move(listed))
        .add("ways", std::move(ways))
        .add("looked_at", best.looked_at);
}

}  // namespace fourfold
