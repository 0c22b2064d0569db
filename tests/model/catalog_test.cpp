// The profiles compiled in: complete, sourced, consistent and plausible.
#include "model/catalog.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "api.h"
#include "base/embedded.h"
#include "support.h"

using namespace fourfold;
using tests::at;

namespace {

template <class Files>
std::vector<std::string> stems(const Files& files) {
    std::vector<std::string> names;
    for (const embedded::File& file : files) names.emplace_back(file.name);
    std::sort(names.begin(), names.end());
    return names;
}

template <class List, class IdOf>
std::vector<std::string> sorted_ids(const List& list, IdOf id_of) {
    std::vector<std::string> ids;
    for (const auto& entry : list) ids.push_back(id_of(entry));
    std::sort(ids.begin(), ids.end());
    return ids;
}

struct Profile {
    std::string name;
    Json json;
};
std::vector<Profile> all_profiles() {
    std::vector<Profile> profiles;
    for (const auto& files : {embedded::gpus, embedded::clusters, embedded::models, embedded::named_models})
        for (const embedded::File& file : files) profiles.push_back({std::string(file.name), tests::json(file.text)});
    for (const std::string_view sources :
         {embedded::gpus_sources, embedded::clusters_sources, embedded::models_sources, embedded::models_known}) {
        const Json all = tests::json(sources);
        for (Profile& profile : profiles)
            if (all.contains(profile.name)) profile.json.update(all[profile.name]);
    }
    const Json catalog = tests::json(api::catalog());
    for (const Json& model : catalog["models"])  // which says the title and the address of a repository
        for (Profile& profile : profiles)
            if (profile.name == model["id"]) profile.json["sources"] = model["sources"];
    return profiles;
}

bool is_between(double value, double low, double high) { return value >= low && value <= high; }

}  // namespace

TEST_CASE("every profile reads") {
    CHECK(tests::brief(catalog().problems) == "");
    CHECK(catalog().gpus.size() == embedded::gpus.size());
    CHECK(catalog().clusters.size() == embedded::clusters.size());
    CHECK(catalog().models.size() == embedded::models.size());
    CHECK(tests::brief(named_models().problems) == "");
    CHECK(named_models().list.size() == embedded::named_models.size());
}

TEST_CASE("every id is the name of its file, and unique") {
    const Catalog& c = catalog();
    CHECK(sorted_ids(c.gpus, [](const Gpu& g) { return g.id; }) == stems(embedded::gpus));
    CHECK(sorted_ids(c.clusters, [](const Cluster& g) { return g.id; }) == stems(embedded::clusters));
    CHECK(sorted_ids(c.models, [](const CatalogModel& m) { return m.model.id; }) == stems(embedded::models));
    for (const Profile& profile : all_profiles()) {
        CAPTURE(profile.name);
        CHECK(at(profile.json, "id") == profile.name);
        CHECK((at(profile.json, "label").is_string() && at(profile.json, "label") != ""));
    }
    std::set<std::string> labels;
    for (const Gpu& gpu : c.gpus) labels.insert(gpu.label);
    for (const Cluster& cluster : c.clusters) labels.insert(cluster.label);
    for (const CatalogModel& model : c.models) labels.insert(model.model.label);
    CHECK(labels.size() == c.gpus.size() + c.clusters.size() + c.models.size());
}

TEST_CASE("every number of every profile names its source; sources have a title and an https address") {
    for (const Profile& profile : all_profiles()) {
        CAPTURE(profile.name);
        std::set<std::string> covered;
        CHECK(at(profile.json, "sources").is_array());
        CHECK(!at(profile.json, "sources").empty());
        for (const Json& source : at(profile.json, "sources")) {
            CHECK((at(source, "title").is_string() && at(source, "title").get<std::string>().size() > 5));
            CHECK((at(source, "url").is_string() && at(source, "url").get<std::string>().starts_with("https://")));
            CHECK(!at(source, "fields").empty());
            for (const Json& field : at(source, "fields")) {
                covered.insert(field.get<std::string>());
                CHECK(profile.json.contains(field.get<std::string>()));
            }
            for (const auto& [key, value] : source.items()) CHECK((key == "title" || key == "url" || key == "fields" || key == "note"));
        }
        for (auto entry = profile.json.begin(); entry != profile.json.end(); ++entry) {
            CAPTURE(entry.key());
            if (entry->is_number() || entry->is_object()) CHECK(covered.count(entry.key()) == 1);
        }
    }
}

// `value` to so many significant digits, as a page prints it.
static std::int64_t rounded(std::int64_t value, std::int64_t digits) {
    std::int64_t unit = 1;
    for (std::int64_t left = value; left >= static_cast<std::int64_t>(std::pow(10, digits)); left /= 10) unit *= 10;
    return (value + unit / 2) / unit * unit;
}

TEST_CASE("every model has exactly its published number of weights, as far as it was printed, from keys that are all understood") {
    for (const Profile& profile : all_profiles()) {
        if (!profile.json.contains("config")) continue;
        CAPTURE(profile.name);
        const CatalogModel* m = catalog().model(profile.name);
        for (const CatalogModel& one : named_models().list)
            if (one.model.id == profile.name) m = &one;
        REQUIRE(m != nullptr);
        const std::int64_t exactly = 18;
        const auto digits = profile.json.value("published_digits", exactly);
        CHECK(rounded(parameter_count(m->model), digits) == at(profile.json, "published_parameters"));
        CHECK(m->model.max_positions > 0);
        Problems problems;
        ImportReport report;
        CHECK(read_model(at(profile.json, "config"), "", problems, report).has_value());
        CHECK(report.assumed.empty());
    }
}

TEST_CASE("what was printed in round numbers, counted by hand from the sizes of every matrix, bias, norm and sink") {
    struct Row {
        const char* id;
        std::int64_t weights;
    };
    const Row rows[] = {
        {"gemma-2-9b", 9'241'705'984},      {"gemma-2-27b", 27'227'128'320},       {"gemma-3-12b", 11'766'034'176},
        {"gemma-3-27b", 27'009'346'304},    {"phi-3-medium", 13'960'238'080},      {"phi-4", 14'659'507'200},
        {"llama-4-scout", 107'769'861'120}, {"llama-4-maverick", 400'711'848'960}, {"gpt-oss-20b", 20'914'757'184},
        {"gpt-oss-120b", 116'829'156'672},  {"glm-4.5", 352'797'829'024},          {"olmo-2-7b", 7'298'617'344},
        {"olmo-2-13b", 13'716'198'400},     {"olmo-2-32b", 32'234'279'936},        {"smollm3-3b", 3'075'098'624},
        {"falcon-7b", 6'921'720'704},       {"falcon-40b", 41'303'293'952},        {"falcon-180b", 178'557'088'768},
        {"gpt-3-175b", 174'604'259'328},    {"nemotron-4-340b", 341'029'195'776},  {"kimi-k2", 1'026'408'232'448},
        {"deepseek-v2", 235'741'434'880},
    };
    for (const Row& row : rows) {
        CAPTURE(row.id);
        const CatalogModel* model = catalog().model(row.id);
        REQUIRE(model != nullptr);
        CHECK(parameter_count(model->model) == row.weights);
    }
}

TEST_CASE("clusters are made of GPUs that are here") {
    for (const Cluster& cluster : catalog().clusters) {
        CAPTURE(cluster.id);
        CHECK(catalog().gpu(cluster.gpu) != nullptr);
        CHECK(is_between(static_cast<double>(cluster.gpus_per_node), 1, 72));  // a rack that is one NVLink domain
        CHECK(is_between(static_cast<double>(cluster.nics_per_node), 1, 72));
        CHECK(is_between(cluster.nic_byte_per_s, 1e9, 1e12));
        const Json topology = at(cluster.profile, "topology");
        CHECK((topology == "switch" || topology == "mesh"));
        CHECK((cluster.topology == Topology::one_switch) == (topology == "switch"));
    }
}

TEST_CASE("what must be there: GPUs") {
    struct Row {
        const char* id;
        double gib;
        std::int64_t per_node;
    };
    for (const Row& row :
         {Row{"a100-sxm-40gb", 40, 8},     Row{"a100-sxm-80gb", 80, 8},   Row{"a100-pcie-40gb", 40, 8}, Row{"a100-pcie-80gb", 80, 8},
          Row{"h100-sxm-80gb", 80, 8},     Row{"h100-sxm-94gb", 94, 4},   Row{"h100-pcie-80gb", 80, 8}, Row{"h100-nvl-94gb", 94, 8},
          Row{"h200-sxm-141gb", 141, 8},   Row{"b200-sxm-180gb", 180, 8}, Row{"gb200-186gb", 186, 72},  Row{"h800-sxm-80gb", 80, 8},
          Row{"h20-sxm-96gb", 96, 8},      Row{"mi300x-192gb", 192, 8},   Row{"mi325x-256gb", 256, 8},  Row{"mi355x-288gb", 288, 8},
          Row{"gh200-96gb", 96, 4},        Row{"b300-sxm-268gb", 268, 8}, Row{"gb300-278gb", 278, 72},  Row{"l40s-48gb", 45, 8},
          Row{"rtx-6000-ada-48gb", 48, 8}, Row{"rtx-4090-24gb", 24, 8},   Row{"rtx-5090-32gb", 32, 8},  Row{"a800-sxm-80gb", 80, 8}}) {
        CAPTURE(std::string(row.id));
        const Gpu* gpu = catalog().gpu(row.id);
        CHECK(gpu != nullptr);
        if (gpu == nullptr) continue;
        CHECK(gpu->memory_bytes == row.gib * 1024 * 1024 * 1024);
        CHECK(gpu->gpus_per_node == row.per_node);
    }
}

TEST_CASE("what must be there: clusters and models") {
    struct Row {
        const char* id;
        const char* gpu;
        std::int64_t per_node;
    };
    for (const Row& row :
         {Row{"dgx-a100-40gb", "a100-sxm-40gb", 8}, Row{"dgx-a100-80gb", "a100-sxm-80gb", 8}, Row{"dgx-h100", "h100-sxm-80gb", 8},
          Row{"abci-a", "a100-sxm-40gb", 8}, Row{"tsubame4", "h100-sxm-94gb", 4}, Row{"dgx-b200", "b200-sxm-180gb", 8},
          Row{"gb200-nvl72", "gb200-186gb", 72}, Row{"deepseek-h800", "h800-sxm-80gb", 8}, Row{"ant-h20", "h20-sxm-96gb", 8}}) {
        CAPTURE(std::string(row.id));
        const Cluster* cluster = catalog().cluster(row.id);
        CHECK(cluster != nullptr);
        if (cluster == nullptr) continue;
        CHECK(cluster->gpu == row.gpu);
        CHECK(cluster->gpus_per_node == row.per_node);
    }
    for (const char* id :
         {"llama-2-7b",   "llama-2-13b",   "llama-2-70b",     "llama-3.1-8b", "llama-3.1-70b", "llama-3.1-405b",   "llama-3.2-1b",
          "llama-3.2-3b", "mistral-7b",    "qwen2.5-7b",      "qwen2.5-32b",  "qwen2.5-72b",   "tinyllama-1.1b",   "qwen3-8b",
          "qwen3-32b",    "qwen3-30b-a3b", "qwen3-235b-a22b", "mixtral-8x7b", "mixtral-8x22b", "deepseek-v2-lite", "deepseek-v3"}) {
        CAPTURE(std::string(id));
        CHECK(catalog().model(id) != nullptr);
    }
    CHECK(catalog().gpu("") == nullptr);
    CHECK(catalog().cluster("dgx") == nullptr);
    CHECK(catalog().model("LLAMA-3.1-8B") == nullptr);
}

TEST_CASE("numbers come out in SI units: DGX H100") {
    const Gpu* gpu = catalog().gpu("h100-sxm-80gb");
    const Cluster* cluster = catalog().cluster("dgx-h100");
    if (gpu == nullptr || cluster == nullptr) return;
    CHECK(gpu->bf16_flop_per_s == 989.4e12);
    CHECK(gpu->hbm_byte_per_s == 3350e9);
    CHECK(gpu->link_byte_per_s == 450e9);
    CHECK(cluster->nics_per_node == 8);
    CHECK(cluster->nic_byte_per_s == 50e9);  // 400 Gbit/s
}

TEST_CASE("H800 and H20: what sets them apart from H100") {
    const Gpu &h100 = *catalog().gpu("h100-sxm-80gb"), &h800 = *catalog().gpu("h800-sxm-80gb"), &h20 = *catalog().gpu("h20-sxm-96gb");
    CHECK((h800.architecture == Architecture::hopper && h20.architecture == Architecture::hopper));  // and so the shares fitted to H100
    CHECK(h800.bf16_flop_per_s == h100.bf16_flop_per_s);
    CHECK(h800.link_byte_per_s == 200e9);  // 400 GB/s both ways together
    CHECK(h20.link_byte_per_s == 450e9);
    CHECK(h20.bf16_flop_per_s == 148e12);
    CHECK(h20.fp8_flop_per_s == 296e12);
    CHECK(catalog().cluster("deepseek-h800")->nic_byte_per_s == 50e9);
}

TEST_CASE("A800: A100 with two thirds of its links") {
    const Gpu &a100 = *catalog().gpu("a100-sxm-80gb"), &a800 = *catalog().gpu("a800-sxm-80gb");
    CHECK(a800.architecture == Architecture::ampere);  // and so the shares fitted to A100
    CHECK(a800.bf16_flop_per_s == a100.bf16_flop_per_s);
    CHECK(a800.hbm_byte_per_s == a100.hbm_byte_per_s);
    CHECK(a800.streaming_multiprocessors == a100.streaming_multiprocessors);
    CHECK(a800.link_byte_per_s == a100.link_byte_per_s * 2 / 3);
}

TEST_CASE("MI300X: a mesh, in which two cards share one of seven links; no run supports its times") {
    const auto seconds = [](int tensor, double* high = nullptr) {
        const Json answer = tests::json(api::estimate(Json{
            {"model", "llama-3.1-8b"},
            {"gpu", "mi300x-192gb"},
            {"gpus", 8},
            {"global_batch", 64},
            {"tensor_parallel", tensor},
            {"pipeline_parallel", 1},
            {"context_parallel", 1},
            {"micro_batch", 1}}.dump()));
        double traffic = 0;
        for (const Json& item : answer["time"]["items"])
            if (item["id"] == "tensor_traffic") traffic = item["seconds"].get<double>();
        if (high != nullptr) *high = answer["time"]["high_seconds"].get<double>() / answer["time"]["step_seconds"].get<double>();
        CHECK(answer["time"]["basis"]["id"] == "band.no_run");
        return traffic;
    };
    double high = 0;
    CHECK(seconds(2, &high) / 16 > 2 * seconds(8) / 64);  // a micro-batch; on a switch it is less: half of each tensor moves, not 7 of 8
    CHECK(high > 1.4);
}

// Bounds that only a slip of units or of sparsity would cross.
TEST_CASE("GPUs are plausible") {
    for (const Gpu& gpu : catalog().gpus) {
        CAPTURE(gpu.id);
        CHECK(is_between(gpu.bf16_flop_per_s, 1e13, 1e16));
        CHECK(gpu.fp16_flop_per_s == gpu.bf16_flop_per_s);
        if (gpu.fp8_flop_per_s > 0) CHECK(is_between(gpu.fp8_flop_per_s / gpu.bf16_flop_per_s, 1.9, 2.1));
        CHECK(is_between(gpu.hbm_byte_per_s, 8e11, 1e13));
        CHECK(is_between(gpu.link_byte_per_s, 1e10, 1e12));
        CHECK(gpu.link_byte_per_s < gpu.hbm_byte_per_s);
        CHECK(is_between(static_cast<double>(gpu.streaming_multiprocessors), 50, 310));
        CHECK(is_between(gpu.memory_bytes, 16e9, 1e12));
        CHECK((gpu.fp8_flop_per_s > 0) == (at(gpu.profile, "architecture") != "ampere"));
        // printed with what error correction keeps, where it keeps a sixteenth
        const auto printed = [&](double gib) { return gpu.label.find(std::to_string(static_cast<int>(gib)) + " GB") != std::string::npos; };
        const double gib = gpu.memory_bytes / (1024.0 * 1024 * 1024);
        CHECK((printed(gib) || printed(gib * 16 / 15)));
    }
}

TEST_CASE("lists come in the order people look for them") {
    const Catalog& c = catalog();
    for (std::size_t i = 1; i < c.gpus.size(); ++i) CHECK(c.gpus[i - 1].bf16_flop_per_s <= c.gpus[i].bf16_flop_per_s);
    for (std::size_t i = 1; i < c.clusters.size(); ++i) CHECK(c.clusters[i - 1].label < c.clusters[i].label);
    std::vector<std::string> families;  // each family in one piece, smaller models first
    for (std::size_t i = 0; i < c.models.size(); ++i) {
        const std::string& label = c.models[i].model.label;
        const std::string family = label.substr(0, label.rfind(' '));
        if (families.empty() || families.back() != family)
            families.push_back(family);
        else
            CHECK(parameter_count(c.models[i - 1].model) < parameter_count(c.models[i].model));
    }
    CHECK(std::set<std::string>(families.begin(), families.end()).size() == families.size());
}
