#include "job/which.h"

#include <algorithm>

#include "base/text.h"
#include "model/catalog.h"

namespace fourfold {

static Named name_of(const CatalogModel& m) { return {m.model.id, joined({m.model.label, " ", m.repository})}; }
static Named name_of(const Gpu& gpu) { return {gpu.id, gpu.label}; }
static Named name_of(const Cluster& cluster) { return {cluster.id, cluster.label}; }
static Named name_of(Method method) { return {text(method).id, ""}; }

static Problem not_in_list(std::string_view key, std::string_view id, std::span<const Named> names) {
    Json candidates = meant(id, names);
    const Json nearest = candidates.is_null() ? Json() : candidates.front();
    const auto* only = candidates.size() == 1 ? nearest.get_ptr<const Json::string_t*>() : nullptr;
    if (only != nullptr) candidates = nullptr;
    const Text suggestion = only != nullptr        ? did_you_mean(*only)
                            : candidates.is_null() ? Text("suggestion.from_the_list")
                                                   : Text("suggestion.one_of");
    const Text message =
        Text(candidates.is_null() ? "problem.not_in_list" : "problem.several_in_list").with("list", key).with("name", shown(Json(id)));
    return {std::string(key), "range", shown(Json(id)), message, suggestion, nearest, std::move(candidates)};
}

// The entry of `list` whose id was given at `key`, or `otherwise` when the key is absent; an unknown id is a problem that names those that
// may have been meant.
template <class List>
static auto pick(FieldReader& reader, std::string_view key, std::string_view otherwise, const List& list, Problems& problems) ->
    typename List::const_pointer {
    const Json* present = reader.any(key);
    const std::string* given = reader.text(key);
    if (present != nullptr && given == nullptr) return nullptr;  // not a text: reported
    const std::string_view id = given == nullptr ? otherwise : *given;
    std::vector<Named> names;
    for (const auto& entry : list) {
        names.push_back(name_of(entry));
        if (names.back().id == id) return &entry;
    }
    problems.push_back(not_in_list(key, id, names));
    return nullptr;
}

constexpr std::string_view kUsualGpu = "h100-sxm-80gb";

// Shown in one line, wherever the id of a card stands.
static bool is_name(std::string_view name) {
    constexpr std::ptrdiff_t kMost = 60;
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
    const auto starts_character = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
    return name.find_first_not_of(' ') != std::string_view::npos && std::none_of(name.begin(), name.end(), is_control) &&
           std::count_if(name.begin(), name.end(), starts_character) <= kMost;
}

// A card of the request's own: its numbers over those of a card of the catalogue.
static GpuPointer read_own_gpu(const Json& given, Problems& problems) {
    Problems own;
    FieldReader reader(given, own);
    const Gpu* base = pick(reader, "base", kUsualGpu, catalog().gpus, own);
    const Json* name_given = reader.any("name");
    const auto* name = name_given == nullptr ? nullptr : name_given->get_ptr<const Json::string_t*>();
    if (name == nullptr || !is_name(*name))
        own.push_back({"name",
                       name_given == nullptr ? "missing"
                       : name == nullptr     ? "type"
                                             : "range",
                       name_given == nullptr ? Json() : shown(*name_given),
                       "problem.gpu_name",
                       {},
                       nullptr});
    OwnNumbers numbers;
    visit_fields(numbers, reader);
    reader.reject_unknown();
    for (Problem& problem : own) {
        problem.field = under("gpu", problem.field);
        problems.push_back(std::move(problem));
    }
    if (!own.empty()) return nullptr;
    return std::make_shared<const Gpu>(own_gpu(*base, *name, numbers));
}

static void read_which_gpu(FieldReader& reader, Job& job, Problems& problems) {
    const Json* given = reader.any("gpu");
    if (given != nullptr && given->is_object()) {
        job.gpu = read_own_gpu(*given, problems);
        return;
    }
    if (given != nullptr && !given->is_string()) {
        problems.push_back({"gpu", "type", shown(*given), "problem.no_gpu", {}, nullptr});
        return;
    }
    if (const Gpu* known = pick(reader, "gpu", kUsualGpu, catalog().gpus, problems)) job.gpu = of_catalog(*known);
}

static void read_which_model(FieldReader& reader, Job& job, Problems& problems) {
    const Json* given = reader.any("model");
    if (given != nullptr && given->is_object()) {
        ImportReport report;
        job.model_is_inline = true;
        if (auto model = read_model(*given, "model.", problems, report)) job.model = std::move(*model);
        return;
    }
    if (given != nullptr && !given->is_string()) {
        problems.push_back({"model", "type", shown(*given), "problem.no_model", {}, nullptr});
        return;
    }
    const CatalogModel* known = pick(reader, "model", "llama-3.1-8b", catalog().models, problems);
    if (known != nullptr) job.model = known->model;
}

// After the GPU.
static void read_cluster(FieldReader& reader, Job& job, Problems& problems) {
    const Json* given = reader.any("cluster");
    if (given == nullptr || *given == "") return;
    job.cluster = pick(reader, "cluster", "", catalog().clusters, problems);
    if (job.cluster == nullptr || job.gpu == nullptr || job.cluster->gpu == job.gpu->base) return;
    const Text message = Text("problem.cluster_has_other_gpu").with("cluster", job.cluster->label).with("gpu", job.gpu->label);
    problems.push_back({"cluster", "cluster_has_other_gpu", job.cluster->id, message, "suggestion.gpu_of_cluster", ""});
}

bool counts(Method method, const Model& model) {
    return method == Method::detailed || (model.experts.count == 0 && model.latent.kv_rank == 0 && !model.linear.any());
}

static void check_method(const Job& job, Problems& problems) {
    if (!counts(job.method, job.model))
        problems.push_back({"method", "method_of_dense_models", text(job.method).id, "problem.method_of_dense_models",
                            "suggestion.method_detailed", text(Method::detailed).id});
}

void read_which(FieldReader& reader, Job& job, Problems& problems) {
    read_which_model(reader, job, problems);
    read_which_gpu(reader, job, problems);
    read_cluster(reader, job, problems);
    constexpr Method kMethodList[] = {Method::detailed, Method::fujii2024};
    if (const Method* method = pick(reader, "method", text(job.method).id, std::span(kMethodList), problems)) job.method = *method;
    check_method(job, problems);
}

}  // namespace fourfold
