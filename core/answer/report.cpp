#include "answer/report.h"

#include <algorithm>
#include <cmath>

#include "answer/formulas.h"
#include "answer/notes.h"
#include "answer/parts.h"
#include "answer/report_host.h"
#include "answer/report_time.h"
#include "base/tie.h"
#include "memory/curve.h"
#include "plan/rules.h"

namespace fourfold {

namespace {

constexpr double kNoDifference = 0.002;  // of the whole: chosen, less is not worth a row

using GroupBytes = std::array<double, kGroups>;

GroupBytes group_bytes(const Items<double>& items) {
    GroupBytes sums{};
    for (std::size_t i = 0; i < items.size(); ++i) sums[static_cast<std::size_t>(text(items.item(i)).group)] += items.bytes(i);
    return sums;
}

// ---- items
Json describe_item(Item item, double bytes, double card_bytes) {
    return Object().add("id", text(item).id).add("bytes", bytes).add("share", bytes / card_bytes);
}

Json describe_groups(const Items<double>& items, double card_bytes) {
    Json groups = Json::array();
    const GroupBytes sums = group_bytes(items);
    for (std::size_t g = 0; g < kGroups; ++g) {
        const GroupText& t = text(static_cast<Group>(g));
        Json members = Json::array();
        for (std::size_t i = 0; i < items.size(); ++i)
            if (text(items.item(i)).group == static_cast<Group>(g))
                members.push_back(describe_item(items.item(i), items.bytes(i), card_bytes));
        if (members.empty()) continue;
        groups.push_back(
            Object().add("id", t.id).add("bytes", sums[g]).add("share", sums[g] / card_bytes).add("items", std::move(members)));
    }
    return groups;
}

// ---- stages
struct StageView {
    Stage stage;
    GroupBytes groups{};
    double bytes = 0, static_bytes = 0;
};

std::vector<StageView> views_of(const Job& job) {
    const Plan& p = job.plan;
    std::vector<StageView> views;
    if (job.method == Method::fujii2024) {
        const Items<double> items = fujii2024<double>(job.model, p);
        StageView first;
        first.stage.has_embedding = true;
        first.stage.has_head = p.pipeline_parallel == 1;
        first.stage.dense.held = static_cast<double>(job.model.layers) / static_cast<double>(p.pipeline_parallel);
        first.stage.dense.alive = first.stage.dense.held * static_cast<double>(std::min(p.pipeline_parallel, p.micro_batches()));
        first.groups = group_bytes(items);
        first.bytes = items.total();
        first.static_bytes = first.groups[0] + first.groups[1] + first.groups[2];
        views.push_back(first);
        return views;
    }
    const Framework framework = framework_of(job.model, p, *job.gpu);
    const Stages stages(job.model, p);
    for (std::int32_t i = 0; i < p.pipeline_parallel; ++i) {
        StageView view;
        view.stage = fullest_moment(job.model, p, framework, stages, i);
        const StageMemory<double> memory = detailed<double>(job.model, p, framework, view.stage);
        view.groups = group_bytes(memory.items);
        view.bytes = memory.peak_bytes;
        view.static_bytes = memory.static_bytes;
        views.push_back(view);
    }
    return views;
}

// Micro-batches alive, in whole stages: activations of half a stage's layers count as half.
double in_flight(const Stage& stage) {
    const double kept = stage.layers() - stage.dense.recomputed - stage.experts.recomputed;
    if (kept > 0) return (stage.dense.alive + stage.experts.alive) / kept;
    const double units = stage.unit > 0 ? std::ceil(stage.layers() / stage.unit) : 1;
    return stage.checkpoints / units;
}

Json describe_stage(const StageView& view, double card_bytes) {
    Json groups = Json::object();
    for (std::size_t g = 0; g < kGroups; ++g)
        if (view.groups[g] > 0) groups[std::string(text(static_cast<Group>(g)).id)] = view.groups[g];
    return Object()
        .add("layers", view.stage.layers())
        .add("embedding", view.stage.has_embedding)
        .add("head", view.stage.has_head)
        .add("in_flight", in_flight(view.stage))
        .add("bytes", view.bytes)
        .add("share", view.bytes / card_bytes)
        .add("static_bytes", view.static_bytes)
        .add("groups", std::move(groups));
}

// The group in which the fullest stage exceeds the average of the others most says why it is the fullest.
Text why_worst(const std::vector<StageView>& views, std::size_t worst) {
    if (views.size() < 2) return {};
    std::size_t most = 0;
    double excess = -1;
    for (std::size_t g = 0; g < kGroups; ++g) {
        double others = 0;
        for (std::size_t i = 0; i < views.size(); ++i) others += i == worst ? 0 : views[i].groups[g];
        const double here = views[worst].groups[g] - others / static_cast<double>(views.size() - 1);
        if (here > excess) excess = here, most = g;
    }
    const Stage& stage = views[worst].stage;
    const char* const id = static_cast<Group>(most) == Group::activations                     ? "fullest.activations"
                           : static_cast<Group>(most) == Group::temporaries && stage.has_head ? "fullest.loss"
                           : stage.has_embedding && stage.has_head                            ? "fullest.both_ends"
                           : stage.has_embedding                                              ? "fullest.embedding"
                           : stage.has_head                                                   ? "fullest.head"
                                                                                              : "fullest.layers";
    return Text(id).with("stage", worst + 1);
}

Json describe_curve(const Job& job, std::int32_t stage) {
    if (job.method == Method::fujii2024) return nullptr;
    const auto curve = memory_curve(job.model, job.plan, framework_of(job.model, job.plan, *job.gpu), stage);
    if (!curve) return nullptr;
    Json entry = Object()
                     .add("micro_batches", curve->micro_batches)
                     .add("cut", curve->micro_batches < job.plan.micro_batches() * job.plan.token_slices)
                     .add("start", curve->start)
                     .add("end", curve->end)
                     .add("bytes", curve->bytes)
                     .add("after", curve->after);
    add_operations(entry, curve->ops);
    return entry;
}

// ---- the other method
Json compare(const Job& job, const GroupBytes& here) {
    Job other = job;
    other.method = job.method == Method::detailed ? Method::fujii2024 : Method::detailed;
    const Estimated estimate = estimated(other.space(), other.plan);
    const std::vector<StageView> views = views_of(other);
    const auto fullest =
        std::max_element(views.begin(), views.end(), [](const StageView& a, const StageView& b) { return a.bytes < b.bytes; });
    Json rows = Json::array();
    for (std::size_t g = 0; g < kGroups; ++g) {
        if (std::abs(here[g] - fullest->groups[g]) < kNoDifference * estimate.bytes) continue;
        const GroupText& t = text(static_cast<Group>(g));
        rows.push_back(Object().add("id", t.id).add("bytes", here[g]).add("other_bytes", fullest->groups[g]));
    }
    Json result = Object().add("method", text(other.method).id).add("rows", std::move(rows));
    add_brief(result, estimate);
    return result;
}

// What shows the memory in other ways. The module has this in its second file (wasm/split.mjs): a function of its own.
[[gnu::noinline]] void add_views(Json& answer, const Job& job, std::int32_t shown, const GroupBytes& fullest) {
    answer["curve"] = describe_curve(job, shown);
    answer["comparison"] = compare(job, fullest);
}

// How the numbers come about: in the second file, too.
[[gnu::noinline]] void explain(Json& answer, const Job& job) {
    answer["used"] = used_notes(job);
    answer["assumed"] = assumed_notes(job);
    answer["not_counted"] = not_counted_notes(job);
    add_formulas(answer, job);
}

// Bytes of one GPU in host memory, on the stage that offloads most.
double add_memory(Json& answer, const Job& job) {
    const Plan& p = job.plan;
    const double card = job.gpu->memory_bytes;
    const bool papers_own = job.method == Method::fujii2024;
    const std::vector<StageView> views = views_of(job);
    const auto fullest =
        std::max_element(views.begin(), views.end(), [](const StageView& a, const StageView& b) { return a.bytes < b.bytes; });
    const auto worst = static_cast<std::size_t>(fullest - views.begin());
    const std::size_t shown =
        job.stage >= 0 && static_cast<std::size_t>(job.stage) < views.size() ? static_cast<std::size_t>(job.stage) : worst;
    StageMemory<double> memory;
    if (papers_own)
        memory.items = fujii2024<double>(job.model, p);
    else
        memory = detailed<double>(job.model, p, framework_of(job.model, p, *job.gpu), views[shown].stage);

    const double total = fullest->bytes;
    const Estimated estimate = estimated(job.space(), p);
    add_brief(answer, estimate);
    const Items<double> beside = papers_own ? Items<double>() : outside<double>(p, total);
    Json beside_items = Json::array(), stages = Json::array();
    for (std::size_t i = 0; i < beside.size(); ++i) beside_items.push_back(describe_item(beside.item(i), beside.bytes(i), card));
    for (const StageView& view : views) stages.push_back(describe_stage(view, card));
    answer["reserved_bytes"] = beside.size() == 0 ? total : total + beside.bytes(0);
    answer["card_bytes"] = card;
    const double line = line_share(job.method, p);
    answer["line_share"] = line;
    answer["line_allocated_share"] = papers_own ? line : allocated_of_whole(p, line * card) / card;
    const Explanation why = explain(job.method, p, estimate.verdict);
    answer["verdict"] = why.verdict.json();
    answer["verdict_basis"] = why.basis.json();
    answer["outside"] = std::move(beside_items);
    answer["stage"] = shown;
    answer["worst_stage"] = worst;
    answer["worst_why"] = why_worst(views, worst).json();
    answer["groups"] = describe_groups(memory.items, card);
    answer["stages"] = std::move(stages);
    if (!papers_own && (p.activation_offload > 0 || p.optimizer_offload > 0 || p.weights_offload)) {
        const Framework framework = framework_of(job.model, p, *job.gpu);
        memory = detailed<double>(job.model, p, framework, most_offloaded(job, framework, Stages(job.model, p)));
    }
    answer["host"] = describe_host(job, memory);
    if (job.explain) add_views(answer, job, static_cast<std::int32_t>(shown), fullest->groups);
    return memory.host_bytes;
}

}  // namespace

// A rack whose trays NVLink joins, where a launcher's number of GPUs to a tray stands for a node. What is nearest fills domains evenly.
static void warn_of_trays(const Job& job, Problems& list) {
    constexpr std::int64_t kMostInTray = 8;
    const Plan& p = job.plan;
    const std::int64_t domain = job.gpu->gpus_per_node;
    if (domain <= kMostInTray || p.gpus_per_node > kMostInTray || p.gpus <= p.gpus_per_node) return;
    std::int64_t even = std::min(domain, p.gpus);
    while (p.gpus % even != 0) --even;
    if (even <= p.gpus_per_node) even = domain;
    list.push_back({"gpus_per_node",
                    "nvlink_domain",
                    p.gpus_per_node,
                    Text("warning.nvlink_domain").with("domain", domain).with("node", p.gpus_per_node),
                    {},
                    even});
}

Json estimate_answer(const Job& job, const Resolved& resolved) {
    const Plan& p = job.plan;
    Json answer =
        Object()
            .add("ok", true)
            .add("job", to_json(job))
            .add("auto", resolved.chosen)
            .add("equally_good", Object().add("count", resolved.equally_good).add("width", kTieWidth).add("memory_width", kMemoryTieWidth))
            .add("model", Object()
                              .add("label", job.model.label)
                              .add("parameters", parameter_count(job.model))
                              .add("config", canonical_config(job.model)))
            .add("gpu", Object().add("id", job.gpu->id).add("label", job.gpu->label).add("memory_gib", job.gpu->profile["memory_gib"]))
            .add("data_parallel", p.data_parallel())
            .add("micro_batches", p.micro_batches())
            .add("padded_vocabulary", padded_vocabulary(job.model, p.tensor_parallel));
    const double host = add_memory(answer, job);
    answer["time"] = describe_time(job);
    if (job.explain) explain(answer, job);
    Problems list = warnings(job.model, p);
    warn_of_trays(job, list);
    warn_of_host_memory(job, host, list);
    warn_of_impossible_time(job, answer["time"]["step_seconds"].get<double>(), list);
    answer["warnings"] = to_json(list);
    return answer;
}

}  // namespace fourfold
