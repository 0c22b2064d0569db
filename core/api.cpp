#include "api.h"

#include <algorithm>
#include <bit>

#include "answer/alternatives.h"
#include "answer/compare.h"
#include "answer/heat_map.h"
#include "answer/limits.h"
#include "answer/parts.h"
#include "answer/report.h"
#include "answer/timeline.h"
#include "calibration/calibration.h"
#include "formats/find_models.h"
#include "formats/formats.h"
#include "formats/import_plan.h"
#include "formats/printed/answer.h"
#include "job/job.h"
#include "links/read.h"
#include "model/catalog.h"
#include "phases/phases.h"
#include "placement/placement.h"
#include "plan/framework.h"
#include "plan/rules.h"
#include "pools/pools.h"
#include "search/ranking.h"

namespace fourfold::api {

constexpr std::size_t kMaxConfigBytes = 1'000'000;

// Every answer says which contract it keeps (core/contract).
static std::string dump(Json answer) {
    answer["version"] = kVersion;
    return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
}

static std::string failure(const Problems& problems) { return dump(Object().add("ok", false).add("problems", to_json(problems))); }
static std::string failure(const Problems& problems, Json job) {
    return dump(Object().add("ok", false).add("problems", to_json(problems)).add("job", std::move(job)));
}

// Where nothing of the request is a job.
static std::string answered(std::string_view request, std::size_t most_bytes, Json (*answer)(const Json&, Problems&)) {
    Problems problems;
    const auto object = parse(request, most_bytes, problems);
    Json whole = object ? answer(*object, problems) : Json();
    return problems.empty() ? dump(std::move(whole)) : failure(problems);
}

// ---- catalog
// With which frameworks the search never tries ZeRO-2 and 3, left out or not, and which alone has what may be let in
// (search/candidates.cpp).
static void tell_untried(Json& fields) {
    Json fsdp, copies;
    for (Json& field : fields)
        for (std::size_t i = 0; field["key"] == "framework" && i < kFrameworkKinds; ++i) {
            if (kFrameworkRows[i].shard_copies == Proposed::always) copies = kFrameworkRows[i].id;
            if (kFrameworkRows[i].has_megatron_fsdp)
                fsdp = kFrameworkRows[i].id;
            else if (kFrameworkRows[i].deepest_zero == Zero::optimizer)
                field["choices"][i]["untried"] = "sharding";
        }
    for (Json& field : fields)
        if (field["key"] == "leave_out") {
            Json& choices = field["choices"];
            choices[std::countr_zero(std::uint32_t{without_megatron_fsdp})]["framework"] = fsdp;
            choices[std::countr_zero(std::uint32_t{without_shard_copies})]["framework"] = copies;
        }
}
std::string catalog(bool sources) {
    const Catalog& c = fourfold::catalog();
    Json gpus = Json::array(), clusters = Json::array(), models = Json::array(), rules = Json::array();
    for (const Gpu& gpu : c.gpus) {
        gpus.push_back(gpu.profile);
        gpus.back()["network_gbyte_per_s"] = usual_adapter(gpu.architecture) / 1e9;
    }
    for (const Cluster& cluster : c.clusters) clusters.push_back(cluster.profile);
    for (const CatalogModel& m : c.models)
        models.push_back(Object()
                             .add("id", m.model.id)
                             .add("label", m.model.label)
                             .add("repository", m.repository)
                             .add("parameters", parameter_count(m.model))
                             .add("max_position_embeddings", m.model.max_positions));
    for (Json* profiles : {&gpus, &clusters, &models})
        for (Json& profile : *profiles) profile["sources"] = Json::array();
    if (sources) add_sources(gpus, clusters, models);
    for (int i = 0; i < static_cast<int>(Rule::count); ++i) {
        const RuleText& rule = text(static_cast<Rule>(i));
        rules.push_back(Object().add("id", rule.id));
    }
    FieldDescriber describe;
    const Plan defaults = open_plan();
    visit_fields(defaults, describe);
    const Budget budget;
    visit_fields(budget, describe);
    const Exploration exploration;
    visit_fields(exploration, describe);
    FieldDescriber describe_gpu;
    const OwnNumbers own_numbers;
    visit_fields(own_numbers, describe_gpu);
    Json before = Json::object();  // what a field meant in version 1 when it was absent
    const Plan old_defaults = open_plan(1);
    visit_fields(old_defaults, FieldWriter(before));
    for (Json& field : describe.fields)
        if (const auto old = before.find(field["key"].get_ref<const std::string&>()); old != before.end() && *old != field["default"])
            field["default_1"] = *old;
    tell_untried(describe.fields);
    return dump(Object()
                    .add("gpus", std::move(gpus))
                    .add("clusters", std::move(clusters))
                    .add("models", std::move(models))
                    .add("methods", Json::array({describe_method(Method::detailed), describe_method(Method::fujii2024)}))
                    .add("fields", std::move(describe.fields))
                    .add("gpu_fields", std::move(describe_gpu.fields))
                    .add("config_formats", describe_config_formats())
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

// ---- alternatives
std::string alternatives(std::string_view request) {
    Problems problems;
    const auto asked = read_job(request, Request::estimate, problems);
    if (!asked) return failure(problems, nullptr);
    Job shown = *asked;
    if (!resolve(shown, problems)) return failure(problems, fourfold::to_json(shown));
    return dump(alternatives_answer(*asked, shown));
}

// ---- timeline
std::string timeline(std::string_view request) {
    Problems problems;
    auto job = read_job(request, Request::estimate, problems);
    if (!job) return failure(problems, nullptr);
    if (!resolve(*job, problems)) return failure(problems, fourfold::to_json(*job));
    return dump(timeline_answer(*job));
}

// ---- export_plan
std::string export_plan(std::string_view request) {
    Problems problems;
    const auto job = read_job(request, Request::export_plan, problems);
    if (!job) return failure(problems, nullptr);
    problems = incomplete(*job);
    if (problems.empty()) problems = export_problems(*job);
    return problems.empty() ? dump(export_answer(*job)) : failure(problems, fourfold::to_json(*job));
}

// ---- import_plan
std::string import_plan(std::string_view request) { return answered(request, kMaxRequestBytes, import_answer); }

// ---- find_models
std::string find_models(std::string_view request) { return answered(request, kMaxRequestBytes, found_models); }

// ---- read_run
std::string read_run(std::string_view request) { return answered(request, kMaxPrintedBytes, printed_answer); }

// ---- limits
std::string limits(std::string_view request) {
    Problems problems;
    const auto job = read_job(request, Request::limits, problems);
    return job ? dump(limits_answer(*job)) : failure(problems);
}

// ---- phases
std::string phases(std::string_view request) { return answered(request, kMaxRequestBytes, phases_answer); }

// ---- pools
std::string pools(std::string_view request) { return answered(request, kMaxRequestBytes, pools_answer); }

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
    Json answer = read_links_answer(request, problems);
    return problems.empty() ? dump(std::move(answer)) : failure(problems);
}

// ---- place
std::string place(std::string_view request, bool (*go_on)(void*, const std::string&), void* context, LinkColumns links) {
    Problems problems;
    auto object = parse(request, kMaxPlaceBytes, problems);
    auto answer = object ? placement_answer(std::move(*object), std::move(links), go_on, context, problems) : std::nullopt;
    return answer ? dump(std::move(*answer)) : failure(problems);
}

// ---- search
SearchAnswer search(std::string_view request) {
    Problems problems;
    auto job = read_job(request, Request::search, problems);
    if (!job) return {failure(problems), {}};
    HeatMap map = heat_map(*job);
    return {dump(std::move(map.summary)), std::move(map.columns)};
}

std::string rank(std::string_view request) {
    Problems problems;
    const auto job = read_job(request, Request::rank, problems);
    return job ? dump(ranking_answer(job->space(), job->filter)) : failure(problems);
}

std::string versus(std::string_view request) {
    Problems problems;
    auto job = read_job(request, Request::versus, problems);
    if (!job) return failure(problems);
    const Job asked = *job;
    if (!resolve(*job, problems)) return failure(problems, fourfold::to_json(*job));
    const auto other = read_other(request, asked, problems);
    return other ? dump(versus_answer(*job, *other)) : failure(problems);
}

double benchmark_estimates(std::int32_t count) {
    const Catalog& c = fourfold::catalog();
    if (c.models.empty()) return 0;
    Plan plan;
    double sum = 0;
    for (std::int32_t i = 0; i < count; ++i) {
        plan.tensor_parallel = std::int64_t{1} << (i & 3);
        plan.pipeline_parallel = std::int64_t{1} << ((i >> 2) & 3);
        plan.context_parallel = std::int64_t{1} << ((i >> 4) & 1);
        plan.micro_batch = std::int64_t{1} << ((i >> 5) & 1);
        plan.gpus = 4 * plan.model_parallel();
        const Model& model = c.models[static_cast<std::uint32_t>(i) % static_cast<std::uint32_t>(c.models.size())].model;
        sum += fujii2024<double>(model, plan).total();
    }
    return sum;
}

}  // namespace fourfold::api
