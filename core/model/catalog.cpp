#include "model/catalog.h"

#include <algorithm>
#include <tuple>

#include "base/embedded.h"

namespace fourfold {

// Calls `use(json)` for each file; problems are filed under the file's name.
template <class Use>
static void for_each_profile(std::span<const embedded::File> files, Problems& all, Use&& use) {
    constexpr std::size_t kMaxBytes = 100'000;
    for (const embedded::File& file : files) {
        Problems problems;
        if (const auto profile = parse(file.text, kMaxBytes, problems)) use(*profile, problems);
        for (Problem& problem : problems) {
            problem.field = std::string(file.name) + ": " + problem.field;
            all.push_back(std::move(problem));
        }
    }
}

// Cards by speed, then memory; clusters by name; models by family, then size.
static bool is_before(const Gpu& a, const Gpu& b) {
    return std::tie(a.bf16_flop_per_s, a.memory_bytes, a.id) < std::tie(b.bf16_flop_per_s, b.memory_bytes, b.id);
}
static bool is_before(const Cluster& a, const Cluster& b) { return a.label < b.label; }
static bool is_before(const CatalogModel& a, const CatalogModel& b) {
    const auto family = [](const CatalogModel& m) { return std::string_view(m.model.label).substr(0, m.model.label.rfind(' ')); };
    const int order = family(a).compare(family(b));
    return order != 0 ? order < 0 : parameter_count(a.model) < parameter_count(b.model);
}

static CatalogModels read_models(std::span<const embedded::File> files) {
    CatalogModels m;
    for_each_profile(files, m.problems, [&](const Json& profile, Problems& problems) {
        const auto config = profile.find("config");
        if (config == profile.end() || !profile.contains("id") || !profile.contains("label") || !profile.contains("repository")) {
            problems.push_back({"", "missing", nullptr, "problem.profile.model", {}, nullptr});
            return;
        }
        ImportReport report;
        if (auto model = read_model(*config, "config.", problems, report)) {
            model->id = profile["id"];
            model->label = profile["label"];
            insert_sorted(m.list, CatalogModel{std::move(*model), profile["repository"]},
                          [](const CatalogModel& a, const CatalogModel& b) { return is_before(a, b); });
        }
    });
    return m;
}

const CatalogModels& catalog_models() {
    static const CatalogModels built = read_models(embedded::models);
    return built;
}

const CatalogModels& named_models() {
    static const CatalogModels built = read_models(embedded::named_models);
    return built;
}

static Catalog build() {
    Catalog c;
    for_each_profile(embedded::gpus, c.problems, [&](const Json& profile, Problems& problems) {
        Gpu gpu = read_gpu(profile, problems);
        if (problems.empty()) insert_sorted(c.gpus, std::move(gpu), [](const Gpu& a, const Gpu& b) { return is_before(a, b); });
    });
    for_each_profile(embedded::clusters, c.problems, [&](const Json& profile, Problems& problems) {
        Cluster cluster = read_cluster(profile, problems);
        if (problems.empty())
            insert_sorted(c.clusters, std::move(cluster), [](const Cluster& a, const Cluster& b) { return is_before(a, b); });
    });
    c.models = catalog_models().list;
    c.problems.insert(c.problems.end(), catalog_models().problems.begin(), catalog_models().problems.end());
    return c;
}

const Catalog& catalog() {
    static const Catalog built = build();
    return built;
}

static void add_sources(Json& profiles, std::string_view text) {
    Json all = Json::parse(text, nullptr, false);
    for (Json& profile : profiles) {
        profile["sources"] = std::move(all[profile["id"].get_ref<const std::string&>()]["sources"]);
        for (Json& source : profile["sources"]) {
            if (source.contains("url")) continue;  // else the model's repository (embed.cmake)
            const std::string& repository = profile["repository"].get_ref<const std::string&>();
            source["title"] = repository + all[""]["title"].get_ref<const std::string&>();
            source["url"] = "https://huggingface.co/" + repository;
        }
    }
}

[[gnu::noinline]] void add_sources(Json& gpus, Json& clusters, Json& models) {
    add_sources(gpus, embedded::gpus_sources);
    add_sources(clusters, embedded::clusters_sources);
    add_sources(models, embedded::models_sources);
}

static Json build_names() {
    Json names = Json::object();
    const auto take = [&](const std::string& id, const Json& profile) {
        if (const auto own = profile.find("names"); own != profile.end()) names[id] = *own;
    };
    const Json known = Json::parse(embedded::models_known, nullptr, false);
    for (auto model = known.begin(); model != known.end(); ++model) take(model.key(), *model);
    for (const embedded::File& file : embedded::named_models) take(std::string(file.name), Json::parse(file.text, nullptr, false));
    return names;
}

const Json& other_names() {
    static const Json built = build_names();
    return built;
}

template <class List, class Id>
static auto find(const List& list, Id id_of, std::string_view id) -> const typename List::value_type* {
    const auto found = std::find_if(list.begin(), list.end(), [&](const auto& entry) { return id_of(entry) == id; });
    return found == list.end() ? nullptr : &*found;
}

const Gpu* Catalog::gpu(std::string_view id) const {
    return find(
        gpus, [](const Gpu& g) -> const std::string& { return g.id; }, id);
}
const Cluster* Catalog::cluster(std::string_view id) const {
    return find(
        clusters, [](const Cluster& c) -> const std::string& { return c.id; }, id);
}
const CatalogModel* Catalog::model(std::string_view id) const {
    return find(
        models, [](const CatalogModel& m) -> const std::string& { return m.model.id; }, id);
}

}  // namespace fourfold
