// A request's common part, read, checked and completed: which model, which card, which plan, by which method (core/contract/api.md,
// JobRequest).
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "job/config_format.h"
#include "memory/memory.h"
#include "model/hardware.h"
#include "model/model.h"
#include "plan/plan.h"
#include "search/filter.h"
#include "search/ranking.h"
#include "search/search.h"
#include "time/timed_plan.h"

namespace fourfold {

inline constexpr std::int64_t kVersion = 2;  // of requests and links
inline constexpr std::size_t kMaxRequestBytes = 1'000'000;

// How much is to be trained, at what price, with what power. kAutoNumber: what is usual (budget_of); 0 = not asked for.
struct Budget {
    double tokens = kAutoNumber, price_per_gpu_hour = kAutoNumber, watts_per_gpu = kAutoNumber;
    // The world's mean of 2024: IEA, Electricity 2025, https://www.iea.org/reports/electricity-2025/emissions
    double grams_co2_per_kwh = 445;
};
// What such a run takes at so many seconds a step, in whole steps; cost, energy and carbon are 0 where they were not asked for.
struct TrainingRun {
    double steps, days, gpu_hours, cost, energy_kwh, co2_kg;
};
inline constexpr double kSecondsPerDay = 86'400;
TrainingRun training_run(const Budget& budget, const Plan& plan, double step_seconds);
// The longest step, in seconds, with which such a run takes at most so many days; its batch and sequence are the plan's.
double longest_step(const Budget& budget, const Plan& plan, double days);

inline constexpr Reading kTrillions{.example = 15e12}, kDollars{.example = 2.5}, kWatts{.example = 700};

template <class AnyBudget, class Visitor>
void visit_fields(AnyBudget& b, Visitor&& v) requires std::is_same_v<std::remove_const_t<AnyBudget>, Budget> {
    v.number({"token_budget|tokens|tokens", &kTrillions}, b.tokens, {0, 1e16}, true);
    v.number({"price_per_gpu_hour|price|per_hour", &kDollars}, b.price_per_gpu_hour, {0, 1e4}, true);
    v.number({"watts_per_gpu|watts|watts", &kWatts}, b.watts_per_gpu, {0, 1e4}, true);
    v.number({"grid_co2_per_kwh|co2|grams_per_kwh"}, b.grams_co2_per_kwh, {0, 5e3});
}

// The plan of a request that says nothing about it: all that can be chosen is. Requests of version 1 left less open.
inline Plan open_plan(std::int64_t version = 2) {
    Plan plan;
    plan.expert_parallel = kAuto;
    if (version == 1) return plan;
    plan.virtual_stages = plan.expert_tensor_parallel = plan.recompute_layers = kAuto;
    plan.open = open_everything;
    return plan;
}

// With what is searched only where a request asks for it, too.
inline Plan whole_open_plan() {
    Plan plan = open_plan();
    plan.token_slices = kAuto;
    return plan;
}

struct Job {
    Model model;
    bool model_is_inline = false;  // a config object instead of an id
    GpuPointer gpu;
    const Cluster* cluster = nullptr;  // may be none
    Method method = Method::detailed;
    Plan plan = open_plan();       // may hold kAuto, except in gpus_per_node
    std::uint32_t asked_open = 0;  // plan.open as the request says it; with other models the search may choose more of it
    Budget budget;
    Exploration exploration;
    std::vector<std::int64_t> gpu_counts;  // search alone; empty otherwise
    std::int64_t stage = -1;               // estimate alone: the stage to show, -1 = the fullest
    bool explain = true;                   // estimate alone: with how its numbers come about
    PlanFilter filter;                     // rank alone
    ExportAsked exported;                  // export_plan alone
    double days = 0;                       // limits alone: the run should be done by then; 0 = not asked

    SearchSpace space() const { return {model, plan, *gpu, method, cluster, exploration}; }
    // A plan of this job with its times, as long as both live.
    template <class N = double>
    TimedPlan<N> timed(const Plan& p) const {
        return {model, *gpu, cluster, p};
    }
    // Between what times of its estimate such a plan's step is expected.
    Band band(const Plan& p) const;
};

// Training on 20 tokens a parameter spends a budget of arithmetic best (Hoffmann et al. 2022, https://arxiv.org/abs/2203.15556, table 3).
// Of adapters nobody has published such a number; chosen: as many for each parameter that learns, a few billion for those of a 70B.
inline constexpr double kTokensPerParameter = 20;
// Power of the whole site over that of its computers, in the mean of 2024 (Uptime Institute, Global Data Center Survey).
inline constexpr double kSiteOverComputers = 1.56;
// The job's budget without "auto": tokens by the model's parameters, price and power by the card; 0 where its profile says nothing.
Budget budget_of(const Job& job);

enum class Request { estimate, search, rank, versus, limits, calibrate, place, export_plan, phases, pools };

// Reads a job from a request (a text of at most kMaxRequestBytes). nullopt and problems when anything in it is wrong.
std::optional<Job> read_job(std::string_view text, Request kind, Problems& problems);
std::optional<Job> read_parsed_job(const Json& request, Request kind, Problems& problems);

// The plan of `job` as it was asked for, with what another object sets instead.
Plan read_changed_plan(FieldReader& reader, const Job& job, Problems& problems);
// The same with what a request's "other" sets: what is on "auto" is chosen anew. Problems are about "other.<field>".
std::optional<Plan> read_other(std::string_view text, const Job& job, Problems& problems);

// The job with every key written out.
Json to_json(const Job& job);

// Whether a method is for such models: the paper's is about dense ones with ordinary attention; of others its formula says too little.
bool counts(Method method, const Model& model);

// Keys of the fields that are left to the core.
std::vector<std::string> open_keys(const Plan& plan);

// Why a plan is not ready to be run: what is open, else the rules that it breaks. None: it is.
Problems incomplete(const Job& job);

// What the core chose for a job.
struct Resolved {
    std::vector<std::string> chosen;  // keys of the fields that were open
    std::int64_t equally_good = 1;  // plans that the estimate cannot tell apart from the one chosen, this one included; 0: it does not fit
};
// Chooses all that is open (search.h); nullopt and problems when the plan is or must be illegal.
std::optional<Resolved> resolve(Job& job, Problems& problems);

}  // namespace fourfold
