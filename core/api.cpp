#include "api.h"

#include <algorithm>

#include "catalog.h"
#include "job.h"

namespace fourfold::api {

constexpr std::size_t kMaxConfigBytes = 1'000'000;

static std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

static std::string failure(const Problems& problems) { return dump(Object().add("ok", false).add("problems", to_json(problems))); }
static std::string failure(const Problems& problems, Json job) {
    return dump(Object().add("ok", false).add("problems", to_json(problems)).add("job", std::move(job)));
}

// ---- catalog
static Json describe_method(Method method) {
    const MethodText& m = text(method);
    return Object()
        .add("id", m.id)
        .add("label", m.label)
        .add("summary", m.summary)
        .add("source", Object().add("title", m.source.title).add("url", m.source.url))
        .add("limits", m.limits);
}

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
    const Plan defaults;
    visit_fields(defaults, describe);
    return dump(Object()
                    .add("version", kVersion)
                    .add("gpus", std::move(gpus))
                    .add("clusters", std::move(clusters))
                    .add("models", std::move(models))
                    .add("methods", Json::array({describe_method(Method::fujii2024)}))
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
static Json describe_item(const Item item, const Traced& bytes, double card_bytes, const Source& source) {
    const ItemText& t = text(item);
    return Object()
        .add("id", t.id)
        .add("label", t.label)
        .add("summary", t.summary)
        .add("bytes", bytes.value())
        .add("share", bytes.value() / card_bytes)
        .add("formula", bytes.symbols())
        .add("numbers", bytes.numbers())
        .add("latex", bytes.latex())
        .add("latex_numbers", bytes.latex_numbers())
        .add("where", bytes.where())
        .add("source", Object().add("title", source.title).add("url", source.url).add("where", t.source_place));
}

static Json describe_groups(const Items<Traced>& items, double card_bytes, const Source& source) {
    Json groups = Json::array();
    for (int g = 0; g < static_cast<int>(Group::count); ++g) {
        const GroupText& t = text(static_cast<Group>(g));
        Json members = Json::array();
        double bytes = 0;
        for (std::size_t i = 0; i < items.size(); ++i) {
            if (text(items.item(i)).group != static_cast<Group>(g)) continue;
            bytes += items.bytes(i).value();
            members.push_back(describe_item(items.item(i), items.bytes(i), card_bytes, source));
        }
        if (members.empty()) continue;
        groups.push_back(Object()
                             .add("id", t.id)
                             .add("label", t.label)
                             .add("summary", t.summary)
                             .add("bytes", bytes)
                             .add("share", bytes / card_bytes)
                             .add("items", members));
    }
    return groups;
}

static Json note(const char* id, std::string_view text) { return Object().add("id", id).add("text", text); }

static Json used(const Job& job) {
    const Plan& p = job.plan;
    Json list = Json::array();
    list.push_back(note("attention", "Attention: " + std::string(kAttentionChoices[static_cast<std::size_t>(p.attention)].label) + "."));
    list.push_back(note("optimizer", p.distributed_optimizer
                                         ? "Adam, its state shared out among the data-parallel GPUs (distributed optimizer, ZeRO-1)."
                                         : "Adam, its whole state on every GPU."));
    list.push_back(
        note("gradients", p.gradients_in_fp32 ? "Gradients added up in fp32 (4 bytes)." : "Gradients kept in 16 bits (2 bytes)."));
    if (p.virtual_stages > 1)
        list.push_back(note("schedule", "Interleaved schedule with " + grouped(p.virtual_stages) + " chunks per GPU."));
    else if (p.pipeline_parallel > 1)
        list.push_back(note("schedule", "1F1B schedule: each stage alternates one forward and one backward pass."));
    return list;
}

static Json assumed(const Job& job) {
    const Plan& p = job.plan;
    Json list = Json::array();
    const auto add = [&](const char* id, std::string_view text, const char* field) {
        list.push_back(Object().add("id", id).add("text", text).add("field", field));
    };
    add("precision", "Weights and activations in bf16 (2 bytes).", "");
    add("card", "The card's size is its nominal one in units of 2³⁰ bytes, as the paper counts it; a little less is free in practice.", "");
    if (p.tensor_parallel > 1)
        add("sequence_parallel", "Sequence parallelism is on: everything that tensor parallelism leaves whole is split too.",
            "tensor_parallel");
    const std::int64_t padded = padded_vocabulary(job.model, p.tensor_parallel);
    if (padded != job.model.vocabulary)
        add("vocabulary",
            "The vocabulary is padded from " + grouped(job.model.vocabulary) + " to " + grouped(padded) +
                " (a multiple of 128 × TP), as Megatron does.",
            "tensor_parallel");
    add("recompute", "No full recomputation of activations.", "");
    return list;
}

static Json not_counted(const Job& job) {
    Json list = Json::array();
    if (job.plan.pipeline_parallel > 1)
        list.push_back(note("last_stage", "The last pipeline stage: its logits and loss can make it, not the first stage, the fullest."));
    list.push_back(
        note("outside", "CUDA context, NCCL buffers, library workspaces, fragmentation: the room between the 80 % line and the card."));
    const Model& m = job.model;
    if (m.qkv_bias || m.attention_out_bias || m.mlp_bias)
        list.push_back(note("biases", "The model's biases (well below 0.1 % of its weights)."));
    if (m.learned_positions) list.push_back(note("positions", "The model's learned positions."));
    if (m.qk_norm || m.norms_per_layer != 2 || m.layer_norm)
        list.push_back(note("norms", "Norms beyond the two RMSNorms per layer of the Llama structure that the formulas describe."));
    return list;
}

static Json brief(const Estimated& e) {
    return Object().add("total_bytes", e.bytes).add("share", e.share).add("class", kFitIds[static_cast<std::size_t>(classify(e.share))]);
}

// What each neighbour of each degree would do, with everything else as it is.
static Json knob(const Job& job, double total, const char* field, std::int64_t Plan::*degree, std::int64_t most, bool only_powers) {
    constexpr std::ptrdiff_t kBefore = 2, kShown = 6;
    Plan trial = job.plan;
    const std::int64_t current = job.plan.*degree;
    std::vector<std::int64_t> values;
    for (std::int64_t v = 1; v <= std::max(most, current); ++v) {
        const bool power_of_two = (v & (v - 1)) == 0;
        trial.*degree = v;
        if (v == current || (v <= most && (power_of_two || (!only_powers && is_legal(job.model, trial))))) values.push_back(v);
    }
    const auto here = std::find(values.begin(), values.end(), current) - values.begin();
    const auto size = static_cast<std::ptrdiff_t>(values.size());
    const auto first = std::max<std::ptrdiff_t>(0, std::min(here - kBefore, size - kShown));
    Json options = Json::array();
    for (std::ptrdiff_t i = first; i < std::min(first + kShown, size); ++i) {
        trial.*degree = values[static_cast<std::size_t>(i)];
        Json option = Object().add("value", trial.*degree).add("legal", is_legal(job.model, trial));
        if (option["legal"] == true) {
            const double bytes = estimate_bytes(job.method, job.model, trial);
            option.update(brief({trial, bytes, bytes / job.gpu->memory_bytes}));
            option["change_bytes"] = bytes - total;
            option["problem"] = nullptr;
        } else
            option["problem"] = to_json(first_broken_rule(job.model, trial));
        options.push_back(std::move(option));
    }
    return Object().add("field", field).add("value", job.plan.*degree).add("options", std::move(options));
}

static Json knobs(const Job& job, double total) {
    const Plan& p = job.plan;
    return Json::array({
        knob(job, total, "tensor_parallel", &Plan::tensor_parallel, std::min(p.gpus, p.gpus_per_node), false),
        knob(job, total, "pipeline_parallel", &Plan::pipeline_parallel, std::min(p.gpus, job.model.layers), false),
        knob(job, total, "context_parallel", &Plan::context_parallel, std::min<std::int64_t>(p.gpus, 4'096), true),
        knob(job, total, "micro_batch", &Plan::micro_batch, std::min<std::int64_t>(p.global_batch, 65'536), true),
    });
}

// The plan that "auto" would choose with no degree set; null when it is the one shown.
static Json auto_plan(const Job& job) {
    Plan open = job.plan;
    open.tensor_parallel = open.context_parallel = open.pipeline_parallel = open.micro_batch = kAuto;
    const auto best = choose({job.model, open, job.gpu->memory_bytes, job.method});
    if (!best) return nullptr;
    const Plan &b = best->plan, &p = job.plan;
    if (b.tensor_parallel == p.tensor_parallel && b.context_parallel == p.context_parallel && b.pipeline_parallel == p.pipeline_parallel &&
        b.micro_batch == p.micro_batch)
        return nullptr;
    Json plan = Object()
                    .add("tensor_parallel", b.tensor_parallel)
                    .add("context_parallel", b.context_parallel)
                    .add("pipeline_parallel", b.pipeline_parallel)
                    .add("micro_batch", b.micro_batch);
    plan.update(brief(*best));
    return plan;
}

std::string estimate(std::string_view request) {
    Problems problems;
    auto job = read_job(request, Request::estimate, problems);
    if (!job) return failure(problems, nullptr);
    const auto chosen = resolve(*job, problems);
    if (!chosen) return failure(problems, fourfold::to_json(*job));

    const double card = job->gpu->memory_bytes;
    const Items<Traced> items = fujii2024<Traced>(job->model, job->plan);
    const double total = items.total();
    Json answer =
        Object()
            .add("ok", true)
            .add("job", fourfold::to_json(*job))
            .add("auto", *chosen)
            .add("model", Object()
                              .add("label", job->model.label)
                              .add("parameters", parameter_count(job->model))
                              .add("config", canonical_config(job->model)))
            .add("gpu", Object().add("id", job->gpu->id).add("label", job->gpu->label).add("memory_gib", job->gpu->profile["memory_gib"]))
            .add("method", describe_method(job->method))
            .add("data_parallel", job->plan.data_parallel())
            .add("micro_batches", job->plan.micro_batches())
            .add("padded_vocabulary", padded_vocabulary(job->model, job->plan.tensor_parallel));
    answer.update(brief({job->plan, total, total / card}));
    answer["card_bytes"] = card;
    answer["line_share"] = kLineShare;
    answer["groups"] = describe_groups(items, card, text(job->method).source);
    answer["used"] = used(*job);
    answer["assumed"] = assumed(*job);
    answer["not_counted"] = not_counted(*job);
    answer["warnings"] = fourfold::to_json(warnings(job->model, job->plan));
    answer["knobs"] = knobs(*job, total);
    answer["auto_plan"] = auto_plan(*job);
    return dump(answer);
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
                     .add("auto", std::move(chosen))),
            std::move(outcome.columns)};
}

}  // namespace fourfold::api
