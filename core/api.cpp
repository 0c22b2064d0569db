#include "api.h"

#include <algorithm>

#include "catalog.h"
#include "job.h"
#include "json_text.h"
#include "report.h"

namespace fourfold::api {

constexpr std::size_t kMaxConfigBytes = 1'000'000;

static std::string failure(const Problems& problems) { return json_text(Object().add("ok", false).add("problems", to_json(problems))); }
static std::string failure(const Problems& problems, Json job) {
    return json_text(Object().add("ok", false).add("problems", to_json(problems)).add("job", std::move(job)));
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
    return json_text(Object()
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
    return json_text(Object()
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

    return json_text(estimate_answer(*job, *chosen));
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
    Json ranking = Json::array();
    for (std::size_t i = 0; i < job->gpu_counts.size(); ++i)
        ranking.push_back(
            Object().add("gpus", job->gpu_counts[i]).add("fastest", Json(outcome.fastest[i])).add("front", Json(outcome.front[i])));
    for (std::size_t i = 0; i < job->gpu_counts.size(); ++i)
        if (outcome.chosen[i] >= 0) chosen.push_back(Object().add("gpus", job->gpu_counts[i]).add("row", outcome.chosen[i]));
    const auto& by_fit = outcome.counts.by_fit;
    return {json_text(Object()
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
                     .add("ranking", std::move(ranking))),
            std::move(outcome.columns)};
}

}  // namespace fourfold::api
