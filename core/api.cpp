#include "api.h"

#include <algorithm>

#include "calibration.h"
#include "catalog.h"
#include "job.h"
#include "job_limits.h"
#include "links_read.h"
#include "placement.h"
#include "report.h"
#include "timeline.h"
#include "versus.h"

namespace fourfold::api {

constexpr std::size_t kMaxConfigBytes = 1'000'000;

static std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

static std::string failure(const Problems& problems) { return dump(Object().add("ok", false).add("problems", to_json(problems))); }
static std::string failure(const Problems& problems, Json job) {
    return dump(Object().add("ok", false).add("problems", to_json(problems)).add("job", std::move(job)));
}

// ---- catalog
std::string catalog() {
    const Catalog& c = fourfold::catalog();
    Json gpus = Json::array(), clusters = Json::array(), models = Json::array(), rules = Json::array();
    for (const Gpu& gpu : c.gpus) gpus.push_back(gpu.profile);
    for (const Cluster& cluster : c.clusters) clusters.push_back(cluster.profile);
    for (const CatalogModel& m : c.models)
        models.push_back(Object()
                             .add("id", m.model.id)
                             .add("label", m.model.label)
                             .add("parameters", parameter_count(m.model))
                             .add("max_position_embeddings", m.model.max_positions)
                             .add("sources", m.profile["sources"]));
    for (int i = 0; i < static_cast<int>(Rule::count); ++i) {
        const RuleText& rule = text(static_cast<Rule>(i));
        rules.push_back(Object().add("id", rule.id).add("label", rule.label));
    }
    FieldDescriber describe;
    const Plan defaults = open_plan();
    visit_fields(defaults, describe);
    const Budget budget;
    visit_fields(budget, describe);
    const Exploration exploration;
    visit_fields(exploration, describe);
    return dump(Object()
                    .add("version", kVersion)
                    .add("gpus", std::move(gpus))
                    .add("clusters", std::move(clusters))
                    .add("models", std::move(models))
                    .add("methods", Json::array({describe_method(Method::detailed), describe_method(Method::fujii2024)}))
                    .add("fields", std::move(describe.fields))
                    .add("rules", std::move(rules)));
}

// ---- import_config
std::string import_config(std::string_view text) {
    Problems problems;
    ImportReport report;
    const auto config = parse(text, kMaxConfigBytes, problems);
    const auto model = config ? read_model(*config, "", problems, report) : std::nullopt;
    if (!model) return failure(problems);
    Json assumed = Json::array();
    for (const ImportReport::Assumed& a : report.assumed)
        assumed.push_back(Object().add("key", a.key).add("value", a.value).add("why", a.why));
    return dump(Object()
                    .add("ok", true)
                    .add("model", canonical_config(*model))
                    .add("label", model->label)
                    .add("parameters", parameter_count(*model))
                    .add("used", report.used)
                    .add("ignored", report.ignored)
                    .add("assumed", std::move(assumed)));
}

// ---- estimate
std::string estimate(std::string_view request) {
    Problems problems;
    auto job = read_job(request, Request::estimate, problems);
    if (!job) return failure(problems, nullptr);
    const auto chosen = resolve(*job, problems);
    if (!chosen) return failure(problems, fourfold::to_json(*job));

    return dump(estimate_answer(*job, *chosen));
}

// ---- timeline
std::string timeline(std::string_view request) {
    Problems problems;
    auto job = read_job(request, Request::estimate, problems);
    if (!job) return failure(problems, nullptr);
    if (!resolve(*job, problems)) return failure(problems, fourfold::to_json(*job));
    return dump(timeline_answer(*job));
}

// ---- limits
std::string limits(std::string_view request) {
    Problems problems;
    const auto job = read_job(request, Request::limits, problems);
    return job ? dump(limits_answer(*job)) : failure(problems);
}

// ---- calibrate
std::string calibrate(std::string_view request) {
    Problems problems;
    const auto object = parse(request, kMaxRequestBytes, problems);
    const auto job = object ? read_parsed_job(*object, Request::calibrate, problems) : std::nullopt;
    return job ? dump(calibration_answer(*object, *job, problems)) : failure(problems);
}

// ---- read_links
std::string read_links(std::string_view request) {
    Problems problems;
    const Json answer = read_links_answer(request, problems);
    return problems.empty() ? dump(answer) : failure(problems);
}

// ---- place
std::string place(std::string_view request, bool (*go_on)(void*, const std::string&), void* context, LinkColumns links) {
    Problems problems;
    auto object = parse(request, kMaxPlaceBytes, problems);
    const auto answer = object ? placement_answer(std::move(*object), std::move(links), go_on, context, problems) : std::nullopt;
    return answer ? dump(*answer) : failure(problems);
}

// ---- search
SearchAnswer search(std::string_view request) {
    Problems problems;
    const auto job = read_job(request, Request::search, problems);
    if (!job) return {failure(problems), {}};
    SearchOutcome outcome = search_all(job->space(), job->gpu_counts);

    Json rejected = Json::array(), chosen = Json::array();
    using Broken = std::pair<std::int64_t, Rule>;
    std::vector<Broken> broken;
    for (std::size_t i = 0; i < outcome.counts.rejected.size(); ++i)
        if (outcome.counts.rejected[i] > 0)
            insert_sorted(broken, Broken{outcome.counts.rejected[i], static_cast<Rule>(i)},
                          [](const Broken& a, const Broken& b) { return a.first > b.first; });
    for (const auto& [count, rule] : broken) rejected.push_back(Object().add("rule", text(rule).id).add("count", count));
    Json sizes = Json::array();
    double base = 0;  // tokens per second and GPU
    for (std::size_t i = 0; i < job->gpu_counts.size(); ++i) {
        Json size = Object().add("gpus", job->gpu_counts[i]).add("entry", nullptr).add("efficiency", nullptr).add("run", nullptr);
        if (const std::int64_t entry = outcome.fastest[i]; entry >= 0) {
            const auto at = static_cast<std::size_t>(entry);
            const double speed = outcome.columns.tokens_per_s_per_gpu[at];
            if (base == 0) base = speed;
            Plan plan = job->plan;
            plan.gpus = job->gpu_counts[i];
            size["entry"] = entry;
            size["efficiency"] = speed / base;
            size["run"] = describe_run(*job, plan, outcome.columns.step_seconds[at], {1, 1, ""});
        }
        sizes.push_back(std::move(size));
    }
    for (std::size_t i = 0; i < job->gpu_counts.size(); ++i)
        if (outcome.chosen[i] >= 0) chosen.push_back(Object().add("gpus", job->gpu_counts[i]).add("row", outcome.chosen[i]));
    const auto& by_fit = outcome.counts.by_fit;
    return {dump(Object()
                     .add("ok", true)
                     .add("job", fourfold::to_json(*job))
                     .add("gpu_counts", job->gpu_counts)
                     .add("card_bytes", job->gpu->memory_bytes)
                     .add("line_share", kLineShare)
                     .add("candidates", outcome.counts.candidates)
                     .add("legal", outcome.counts.legal())
                     .add("fits", by_fit[0])
                     .add("at_risk", by_fit[1])
                     .add("does_not_fit", by_fit[2])
                     .add("rejected", std::move(rejected))
                     .add("auto", std::move(chosen))
                     .add("sizes", std::move(sizes))),
            std::move(outcome.columns)};
}

// ---- ranking
std::string rank(std::string_view request) {
    Problems problems;
    const auto job = read_job(request, Request::rank, problems);
    if (!job) return failure(problems);
    Json answer = rank_part(job->space(), job->exploration, job->filter, job->share);
    answer["ok"] = true;
    return dump(answer);
}

std::string merge_rankings(std::string_view text) {
    constexpr std::size_t kMaxBytes = 16'000'000;
    Problems problems;
    const auto parts = parse(text, kMaxBytes, problems);
    auto whole = parts ? merge_parts(*parts, problems) : std::nullopt;
    if (!whole) return failure(problems);
    (*whole)["ok"] = true;
    return dump(*whole);
}

std::string versus(std::string_view request) {
    Problems problems;
    auto job = read_job(request, Request::versus, problems);
    if (!job) return failure(problems);
    if (!resolve(*job, problems)) return failure(problems, fourfold::to_json(*job));
    const auto other = read_other(request, *job, problems);
    return other ? dump(versus_answer(*job, *other)) : failure(problems);
}

}  // namespace fourfold::api
