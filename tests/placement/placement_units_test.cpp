// Nodes that differ in speed or memory: where they go, whether the plan fits there, and which split of the layers would suit them.
#include <doctest/doctest.h>

#include <string>

#include "api.h"
#include "base/fields.h"
#include "support.h"

using namespace fourfold;

namespace {

// `nodes` nodes of 8 GPUs on links that are all alike; one stage per node.
Json request(int nodes, const char* job) {
    Json rows = Json::array(), names = Json::array();
    for (int i = 0; i < nodes; ++i) {
        names.push_back("n" + std::to_string(i));
        Json row = Json::array();
        for (int j = 0; j < nodes; ++j) row.push_back(i == j ? 0 : 50);
        rows.push_back(row);
    }
    Json all = Json::parse(job, nullptr, false);
    all["links"] = {{"nodes", names}, {"gbyte_per_s", rows}};
    all["moves"] = 20'000;
    return all;
}
constexpr const char* kFourStages = R"({"model": "llama-3.1-8b", "gpus": 32, "sequence_length": 8192, "global_batch": 64,
    "tensor_parallel": 8, "pipeline_parallel": 4, "context_parallel": 1, "micro_batch": 1})";

Json place(const Json& request) {
    Json answer = Json::parse(api::place(request.dump()), nullptr, false);
    CAPTURE(answer.dump());
    REQUIRE(answer["ok"] == true);
    return answer;
}

// The same request with what was suggested.
Json followed(Json request, const Json& answer) {
    request.update(answer["suggestion"]["set"]);
    return place(request);
}

std::int64_t stage_of(const Json& answer, int unit) {
    for (const Json& position : answer["positions"])
        if (position["unit"] == unit) return position["stages"][0].get<std::int64_t>();
    return -1;
}

}  // namespace

TEST_CASE("uneven split: a slow node gets fewer layers, at an end of the pipeline, and the step takes what was promised") {
    for (const double speed : {0.5, 0.7}) {
        Json job = request(4, kFourStages);
        job["units"] = {{{"name", "n2"}, {"speed", speed}}};
        const Json even = place(job);
        REQUIRE(even["suggestion"].is_object());
        const Json& suggestion = even["suggestion"];
        const Json uneven = followed(job, even);
        CHECK(suggestion["seconds"].get<double>() < even["best_seconds"].get<double>() * 0.99);
        CHECK(uneven["best_seconds"].get<double>() <= suggestion["seconds"].get<double>() * (1 + 1e-9));
        // three fast nodes and one of this speed do at most the work of 3 + speed nodes; an even split that of 4 * speed
        CHECK(suggestion["seconds"].get<double>() > even["best_seconds"].get<double>() * 4 * speed / (3 + speed));
        const std::int64_t stage = stage_of(uneven, 2);
        CHECK((stage == 0 || stage == 3));
        const std::int64_t layers = suggestion["set"][stage == 0 ? "first_stage_layers" : "last_stage_layers"];
        CHECK(layers < 8);
        CHECK(layers > 0);
        CHECK(suggestion["label"]["id"] == "split.uneven_ends");
        CHECK((uneven["suggestion"].is_null() ||
               uneven["suggestion"]["seconds"].get<double>() > 0.95 * uneven["best_seconds"].get<double>()));
    }
}

TEST_CASE("uneven split: two stages, and interleaved ones, share out whole layers and chunks") {
    for (const char* more : {R"({"pipeline_parallel": 2, "gpus": 16})", R"({"virtual_stages": 4})"}) {
        Json job = request(4, kFourStages);
        job.update(Json::parse(more, nullptr, false));
        job["units"] = {{{"name", "n0"}, {"speed", 0.5}}, {{"name", "n1"}, {"speed", 0.5}}, {{"name", "n2"}, {"speed", 0.5}}};
        const Json answer = place(job);
        if (answer["suggestion"].is_null()) continue;
        const Json after = followed(job, answer);
        CHECK(after["best_seconds"].get<double>() <= answer["suggestion"]["seconds"].get<double>() * (1 + 1e-9));
    }
}

TEST_CASE("uneven split: nothing is suggested where there is one stage, or only Pipette's cost counts") {
    Json one = request(2, kFourStages);
    one["pipeline_parallel"] = 1, one["gpus"] = 16;
    one["units"] = {{{"name", "n1"}, {"speed", 0.5}}};
    CHECK(place(one)["suggestion"].is_null());
    Json pipette = request(4, kFourStages);
    pipette["objective"] = "pipette";
    CHECK(place(pipette)["suggestion"].is_null());
}

TEST_CASE("memory: a node with less goes to a stage that needs less, or stays out") {
    // The first stage holds the embedding and keeps four micro-batches: 9.2 GiB, the third 6.0. Beside them: slack, buffers, CUDA itself.
    Json job = request(4, kFourStages);
    job["units"] = {{{"name", "n0"}, {"memory_gib", 10}}};
    const Json answer = place(job);
    CHECK(answer["warnings"].empty());
    CHECK(stage_of(answer, 0) > 0);
    CHECK(answer["nothing_to_gain"] == false);
    CHECK(answer["finding"]["id"].get<std::string>().find("finding.memory_") == 0);
    CHECK(answer["finding"]["args"]["before"] == 1);
    CHECK(answer["finding"]["args"]["after"] == 0);

    job["units"] = {{{"name", "n0"}, {"memory_gib", 4}}};
    const Json never = place(job);
    REQUIRE(never["warnings"].size() == 1);
    CHECK(never["warnings"][0]["value"] == "n0");
    CHECK(tests::said(never["warnings"][0]["message"]) == R"(problem.unit_too_small {"unit":"n0"})");

    for (const int node : {1, 2, 3}) job["units"].push_back({{"name", "n" + std::to_string(node)}, {"memory_gib", 4}});
    const Json nowhere = place(job);  // to leave one out does not help
    REQUIRE(nowhere["warnings"].size() == 1);
    CHECK(tests::said(nowhere["warnings"][0]["message"]) == "problem.no_unit_large_enough");
    job["units"] = {{{"name", "n0"}, {"memory_gib", 4}}};

    Json spare = request(5, kFourStages);
    spare["units"] = job["units"];
    const Json out = place(spare);
    CHECK(out["warnings"].empty());
    CHECK(out["spare"] == Json::array({0}));
}
