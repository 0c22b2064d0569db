#include "job/job.h"

#include <algorithm>
#include <cmath>

#include "base/bytes.h"
#include "job/nearest_plan.h"
#include "job/which.h"
#include "plan/adapters.h"
#include "plan/framework.h"
#include "plan/rules.h"

namespace fourfold {

constexpr std::size_t kMaxGpuCounts = 16;

static double steps_of(const Budget& budget, const Plan& plan) {
    return std::ceil(budget.tokens / static_cast<double>(plan.global_batch * plan.sequence_length));
}

double longest_step(const Budget& budget, const Plan& plan, double days) { return days * kSecondsPerDay / steps_of(budget, plan); }

TrainingRun training_run(const Budget& budget, const Plan& plan, double step_seconds) {
    const double steps = steps_of(budget, plan);
    const double days = steps * step_seconds / kSecondsPerDay, gpu_hours = days * 24 * static_cast<double>(plan.gpus);
    const double energy_kwh = gpu_hours * budget.watts_per_gpu / 1'000;
    return {steps, days, gpu_hours, gpu_hours * budget.price_per_gpu_hour, energy_kwh, energy_kwh * budget.grams_co2_per_kwh / 1'000};
}

Band Job::band(const Plan& p) const {
    const auto host_share = [&] {
        const StepTime<double> step = timed<double>(p).step();
        const auto of = [&](TimeItem item) { return step.items[static_cast<std::size_t>(item)]; };
        return (of(TimeItem::host_optimizer) + of(TimeItem::activation_offload)) / step.seconds;
    };
    return band_of(model, p, machine_of(*gpu, cluster, p), p.optimizer_offload > 0 || p.moves_in_passes() ? host_share() : 0);
}

Budget budget_of(const Job& job) {
    Budget budget = job.budget;
    if (budget.tokens == kAutoNumber) {
        const bool adapters = job.plan.freezes();
        budget.tokens =
            kTokensPerParameter * (adapters ? adapter_count(job.model, job.plan) : static_cast<double>(parameter_count(job.model)));
    }
    if (budget.price_per_gpu_hour == kAutoNumber) budget.price_per_gpu_hour = job.gpu->usd_per_hour;
    if (budget.watts_per_gpu == kAutoNumber) budget.watts_per_gpu = job.gpu->board_watts * kSiteOverComputers;
    return budget;
}

static std::int64_t read_version(FieldReader& reader, Problems& problems) {
    const Json* given = reader.any("version");
    if (given == nullptr) return kVersion;
    const auto version = read_integer(*given, "version", Text("field", "version"), {1, 1'000'000'000}, problems);
    if (version && *version > kVersion)
        problems.push_back({"version", "version", *version,
                            Text("problem.newer_version").with("version", *version).with("newest", kVersion), "suggestion.reload",
                            kVersion});
    return version.value_or(kVersion);
}

static void read_gpu_counts(FieldReader& reader, Job& job, Problems& problems) {
    const Json* given = reader.any("gpu_counts");
    if (given == nullptr) return;
    if (!given->is_array() || given->empty() || given->size() > kMaxGpuCounts) {
        problems.push_back({"gpu_counts", "type", nullptr, Text("problem.no_gpu_counts").with("most", kMaxGpuCounts), {}, nullptr});
        return;
    }
    for (std::size_t i = 0; i < given->size(); ++i) {
        const auto count =
            read_integer((*given)[i], "gpu_counts[" + std::to_string(i) + "]", Text("field", "gpu_count"), {1, kMaxGpus}, problems);
        if (count && std::find(job.gpu_counts.begin(), job.gpu_counts.end(), *count) == job.gpu_counts.end())
            insert_sorted(job.gpu_counts, *count, [](std::int64_t a, std::int64_t b) { return a < b; });
    }
}

// Whether there is such a stage is known when "auto" is resolved.
static void read_stage(FieldReader& reader, Job& job, Problems& problems) {
    const Json* given = reader.any("stage");
    if (given == nullptr || *given == "auto") return;
    if (const auto stage = read_integer(*given, "stage", Text("field", "stage"), {0, 1'999}, problems)) job.stage = *stage;
}

// Frameworks refuse fp8 where the card has none (Transformer Engine: compute capability 8.9 or higher), and the plan's rules do not see the
// card.
static void check_precision(const Plan& plan, const Gpu& gpu, Problems& problems) {
    if ((plan.precision != Precision::fp8 && plan.precision != Precision::fp8_weights) || gpu.fp8_flop_per_s > 0) return;
    problems.push_back({"precision", "precision_needs_card", kPrecisionChoices[static_cast<std::size_t>(plan.precision)].id,
                        Text("problem.gpu_without_fp8").with("gpu", gpu.label), "suggestion.bf16_or_other_gpu", "bf16"});
}

// Tools print GB/s and Gbit/s: no collective is three times as fast as its links, but a number in the other unit is eight times as large.
static void check_measured_rates(const Plan& plan, const Gpu& gpu, const Cluster* cluster, Problems& problems) {
    constexpr double kMost = 3, kBits = 8;
    const Machine machine = machine_of(gpu, cluster, plan);
    const auto check = [&](const char* field, double measured, double nominal) {
        if (measured * kGbyte <= kMost * nominal) return;
        const Text message =
            Text("problem.measured_rate").with("measured", measured * kGbyte).with("profile", nominal).with("times", kMost);
        const double bytes = measured / kBits;
        const bool bits = bytes * kGbyte <= kMost * nominal;
        problems.push_back({field, "measured_rate", measured, message,
                            bits ? Text("suggestion.measured_bits").with("rate", bytes * kGbyte) : Text("suggestion.measured_again"),
                            bits ? Json(bytes) : Json()});
    };
    check("measured_intra_gb_s", plan.measured_intra, machine.link);
    check("measured_inter_gb_s", plan.measured_inter, machine.node);
}

// What a request of this kind says besides the job.
static void read_question(FieldReader& reader, Request kind, Job& job, Problems& problems) {
    switch (kind) {
        case Request::estimate:
            read_stage(reader, job, problems);
            reader.boolean({"explain|-"}, job.explain);
            break;
        case Request::search:
            read_gpu_counts(reader, job, problems);
            break;
        case Request::rank:
            if (const Json* only = reader.any("only")) job.filter = read_filter(*only, problems);
            break;
        case Request::limits:
            reader.number({"days|-|days"}, job.days, {0, 36'500});
            break;
        case Request::export_plan:
            job.exported = read_export(reader, problems);
            break;
        case Request::versus:
            reader.any("other");  // read_other
            break;
        case Request::phases:  // phases.h reads them
            for (const char* key :
                 {"phases", "storage_gbyte_per_s", "restart_seconds", "failure_hours_per_gpu", "checkpoint_seconds", "keep_degrees"})
                reader.any(key);
            break;
        case Request::pools:  // pools.h reads them
            reader.any("more_pools");
            break;
        case Request::calibrate:  // calibration.h reads them
            reader.any("runs");
            reader.any("runs_text");
            reader.any("flop_convention");
            break;
        case Request::place:  // placement_request.h reads them
            for (const char* key : {"links", "objective", "seed", "moves", "restarts", "pipette", "units", "candidates", "start"})
                reader.any(key);
            break;
    }
}

std::optional<Job> read_job(std::string_view text, Request kind, Problems& problems) {
    const auto request = parse(text, kMaxRequestBytes, problems);
    if (!request) return std::nullopt;
    return read_parsed_job(*request, kind, problems);
}

std::optional<Job> read_parsed_job(const Json& request, Request kind, Problems& problems) {
    const std::size_t problems_before = problems.size();
    if (!request.is_object()) {
        problems.push_back({"", "type", shown(request), "problem.no_request", {}, nullptr});
        return std::nullopt;
    }
    Job job;
    FieldReader reader(request, problems);
    job.plan = open_plan(read_version(reader, problems));
    read_which(reader, job, problems);
    visit_fields(job.plan, reader);
    visit_fields(job.budget, reader);
    visit_fields(job.exploration, reader);
    if ((job.exploration.left_out & without_activation_offload) != 0) job.plan.open &= ~open_activation_offload;  // then it is 0
    if (job.gpu != nullptr) check_precision(job.plan, *job.gpu, problems);
    read_question(reader, kind, job, problems);
    reader.reject_unknown();
    if (problems.size() != problems_before) return std::nullopt;
    if (job.plan.layout)
        if (auto problem = layout_problem(*job.plan.layout, job.model)) problems.push_back(std::move(*problem));
    if (problems.size() != problems_before) return std::nullopt;
    if (job.plan.gpus_per_node == kAuto)
        job.plan.gpus_per_node = job.cluster != nullptr ? job.cluster->gpus_per_node : job.gpu->gpus_per_node;
    check_measured_rates(job.plan, *job.gpu, job.cluster, problems);
    if (problems.size() != problems_before) return std::nullopt;
    job.asked_open = job.plan.open;
    job.plan.open &= ~without_choice(job.space());
    if (kind == Request::export_plan) job.plan = with_habits(std::move(job.plan));
    return job;
}

Plan read_changed_plan(FieldReader& reader, const Job& job, Problems& problems) {
    Plan plan = job.plan;
    visit_fields(plan, reader);
    check_precision(plan, *job.gpu, problems);
    if (plan.gpus_per_node == kAuto) plan.gpus_per_node = job.plan.gpus_per_node;
    check_measured_rates(plan, *job.gpu, job.cluster, problems);
    return plan;
}

std::optional<Plan> read_other(std::string_view text, const Job& job, Problems& problems) {
    const auto request = parse(text, kMaxRequestBytes, problems);
    const Json none = Json::object();
    const Json& other = request && request->contains("other") ? (*request)["other"] : none;
    if (!other.is_object()) {
        problems.push_back({"other", "type", shown(other), "problem.no_other", {}, nullptr});
        return std::nullopt;
    }
    Problems own;
    FieldReader reader(other, own);
    Plan plan = read_changed_plan(reader, job, own);
    reader.reject_unknown();
    for (Problem& problem : own) {
        problem.field = under("other", problem.field);
        problems.push_back(std::move(problem));
    }
    if (!own.empty()) return std::nullopt;
    return plan;
}

Json to_json(const Job& job) {
    Json object = Object()
                      .add("version", kVersion)
                      .add("model", job.model_is_inline ? canonical_config(job.model) : Json(job.model.id))
                      .add("gpu", job.gpu->own.is_null() ? Json(job.gpu->id) : job.gpu->own)
                      .add("cluster", job.cluster == nullptr ? "" : job.cluster->id)
                      .add("method", text(job.method).id);
    visit_fields(job.plan, FieldWriter(object));
    visit_fields(job.budget, FieldWriter(object));
    visit_fields(job.exploration, FieldWriter(object));
    return object;
}

// ---- what is open
namespace {

struct OpenDegree {
    const char* key;
    std::int64_t Plan::*value;
};
constexpr OpenDegree kDegrees[] = {{"tensor_parallel", &Plan::tensor_parallel},
                                   {"context_parallel", &Plan::context_parallel},
                                   {"pipeline_parallel", &Plan::pipeline_parallel},
                                   {"micro_batch", &Plan::micro_batch},
                                   {"virtual_stages", &Plan::virtual_stages},
                                   {"expert_parallel", &Plan::expert_parallel},
                                   {"expert_tensor_parallel", &Plan::expert_tensor_parallel},
                                   {"recompute_layers", &Plan::recompute_layers},
                                   {"token_slices", &Plan::token_slices}};
constexpr std::size_t kModelDegrees = 3;  // the first of kDegrees: over how many GPUs a copy of the model is split
struct OpenField {
    const char* key;
    std::uint32_t bit;
};
constexpr OpenField kFields[] = {{"schedule", open_schedule},
                                 {"layout", open_layout},
                                 {"zero", open_zero},
                                 {"recompute", open_recompute},
                                 {"recompute_modules", open_recompute_modules},
                                 {"moments", open_moments},
                                 {"sequence_parallel", open_sequence_parallel},
                                 {"activation_offload", open_activation_offload},
                                 {"expert_overlap", open_expert_overlap},
                                 {"shard_replicas", open_shard_replicas}};

}  // namespace

std::vector<std::string> open_keys(const Plan& plan) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : kDegrees)
        if (plan.*value == kAuto) keys.emplace_back(key);
    for (const auto& [key, bit] : kFields)
        if ((plan.open & bit) != 0) keys.emplace_back(key);
    return keys;
}

Problems incomplete(const Job& job) {
    Problems problems;
    for (const std::string& key : open_keys(job.plan))
        problems.push_back(
            {key, "open", "auto", Text("problem.export_open").with("field", Text("field", key)), "suggestion.export_estimate", nullptr});
    return problems.empty() ? broken_rules(job.model, job.plan) : problems;
}

namespace {

// What is open set to what asks for least: if no plan is legal, this one breaks a rule too.
Plan least_plan(const Plan& given) {
    Plan least = given;
    for (const auto& [key, value] : kDegrees)
        if (least.*value == kAuto) least.*value = 1;
    close_options(least);
    if ((given.open & open_layout) != 0 && !has_uneven_ends(least)) least.split = Split::front;
    if ((given.open & open_sequence_parallel) != 0) least.sequence_parallel = false;
    return least;
}

// Whatever the degrees: when no split of these GPUs is legal, that is the first thing to say, with the nearest GPU count that has one.
std::optional<Problem> no_split(const Job& job) {
    constexpr std::int64_t kFurthest = 64;
    Job trial = job;
    trial.plan.layout = nullptr;
    for (const auto& [key, degree] : kDegrees) trial.plan.*degree = kAuto;
    trial.plan.open = open_everything;
    if (has_legal_plan(trial.space())) return std::nullopt;
    return Problem{"gpus",
                   "no_split",
                   job.plan.gpus,
                   Text("problem.no_split").with("sequences", job.plan.global_batch).with("gpus", job.plan.gpus),
                   "suggestion.other_gpus_or_batch",
                   nearest_with_plan(trial, &Plan::gpus, kFurthest)};
}

// Where no number of GPUs nearby does it, the nearest batch of which some number of copies takes equal parts.
void offer_batch(const Job& job, Problems& problems) {
    Json nearest = nearest_batch(job);
    if (nearest.is_null()) return;
    const Text said = Text("problem.no_split.batch").with("sequences", nearest);
    problems.push_back({"global_batch", "no_split", job.plan.global_batch, said, {}, std::move(nearest)});
}

// Where layers that are shared out otherwise make a split legal.
void offer_layout(const Job& job, Problems& problems) {
    Job trial = job;
    if (row_of(trial.plan.framework).any_layout || (trial.plan.open & open_layout) == 0 || has_uneven_ends(trial.plan)) return;
    trial.plan.open &= ~open_layout;
    trial.plan.split = Split::weights;
    if (has_legal_plan(trial.space()))
        problems.push_back({"layout", "no_split", "auto", Text("problem.no_split.layers").with("layers", job.model.layers), {}, "weights"});
}

// Where the degrees that were set do not divide the GPUs, and nothing else is wrong: beside another number of GPUs, another value of a
// degree.
void offer_degrees(const Job& job, Problems& problems) {
    if (problems.size() != 1 || problems.front().rule != text(Rule::gpus_divide).id) return;
    for (const auto& [key, degree] : std::span(kDegrees).first(kModelDegrees)) {
        const std::int64_t given = job.plan.*degree;
        if (given == kAuto) continue;
        const Text said =
            Text("problem.gpus_divide.degree").with("gpus", job.plan.gpus).with("field", Text("field", key)).with("value", given);
        Json nearest = nearest_with_plan(job, degree, given);
        if (!nearest.is_null()) problems.push_back({key, problems.front().rule, given, said, {}, std::move(nearest)});
    }
}

// Where each plan breaks a rule, but not all the same one: the one that most of them break.
Problem most_broken(const Job& job) {
    const SearchSpace space = job.space();
    const SearchCounts counts = count_candidates(space, candidates(space));
    const auto most = std::max_element(counts.rejected.begin(), counts.rejected.end());
    const RuleText& rule = text(static_cast<Rule>(most - counts.rejected.begin()));
    return {std::string(rule.field),
            std::string(rule.id),
            nullptr,
            Text("problem.every_plan_breaks_a_rule").with("plans", counts.candidates).with("rule", Text("rule", rule.id)),
            "suggestion.set_fewer_fields",
            nullptr};
}

}  // namespace

std::optional<Resolved> resolve(Job& job, Problems& problems) {
    const std::vector<std::string> open = open_keys(job.plan);
    constexpr std::size_t kSplitDegrees = 4;  // the first of kDegrees
    const auto open_degrees = static_cast<std::size_t>(
        std::count_if(kDegrees, kDegrees + kSplitDegrees, [&](const auto& d) { return job.plan.*d.value == kAuto; }));
    if (auto chosen = choose(job.space(), false)) {
        job.plan = with_habits(std::move(chosen->estimate.plan));
        return Resolved{open, chosen->equally_good};
    }
    if (auto problem = no_split(job)) {
        problems.push_back(std::move(*problem));
        if (problems.back().nearest.is_null() && open_degrees == kSplitDegrees) offer_batch(job, problems);
        offer_layout(job, problems);
    }
    // without another number of GPUs that works, the rules say what else stands in the way
    if (problems.empty() || problems.back().nearest.is_null() || open_degrees < kSplitDegrees)
        for (Problem& problem : broken_rules(job.model, least_plan(job.plan))) problems.push_back(std::move(problem));
    offer_degrees(job, problems);
    if (problems.empty()) problems.push_back(most_broken(job));
    return std::nullopt;
}

}  // namespace fourfold
