// A GPU by its numbers instead of one of the catalogue.
#include <doctest/doctest.h>

#include "api.h"
#include "contract.h"

using namespace fourfold;
using tests::answer_defect;
using tests::at;
using tests::brief;
using tests::json;

namespace {

constexpr const char* kLike = "h100-sxm-80gb";

Json own(Json numbers = Json::object()) {
    numbers["name"] = "Mine";
    return numbers;
}

Json estimate(const Json& request) {
    const std::string text = api::estimate(request.dump());
    CHECK(answer_defect(text, "estimate") == "");
    return json(text);
}
Json estimate(Json request, const Json& gpu) {
    request["gpu"] = gpu;
    return estimate(request);
}

// A plan with nothing left open: its memory and time follow from the card's numbers alone.
Json closed(const char* request) { return estimate(json(request))["job"]; }

Json door(const char* name, Json request, const Json& gpu) {
    request["gpu"] = gpu;
    const std::string function = name;
    if (function == "export_plan") request = json(api::estimate(request.dump()))["job"];  // which takes what is chosen alone
    const std::string text = request.dump();
    Json answer = json(function == "estimate"       ? api::estimate(text)
                       : function == "alternatives" ? api::alternatives(text)
                       : function == "timeline"     ? api::timeline(text)
                       : function == "export_plan"  ? api::export_plan(text)
                       : function == "limits"       ? api::limits(text)
                       : function == "search"       ? api::search(text).summary
                       : function == "rank"         ? api::rank(text)
                       : function == "versus"       ? api::versus(text)
                       : function == "calibrate"    ? api::calibrate(text)
                                                    : api::place(text, [](void*, const std::string&) { return true; }, nullptr, {}));
    CHECK(answer_defect(answer, function) == "");
    CHECK(at(answer, "ok") == true);
    // what names the card
    for (const char* key : {"job", "gpu", "assumed"}) answer.erase(key);
    if (const auto time = answer.find("time"); time != answer.end() && time->is_object()) time->erase("basis");
    return answer;
}

// The numbers of a card of the catalogue, as a request gives them.
Json numbers_of(const char* id) {
    const Json catalog = json(api::catalog());
    Json numbers = Json::object();
    for (const Json& gpu : catalog["gpus"])
        if (gpu["id"] == id)
            for (const Json& field : catalog["gpu_fields"])
                if (const std::string key = field["key"]; gpu.contains(key)) numbers[key] = gpu[key];
    return numbers;
}

}  // namespace

TEST_CASE("a card with the numbers of one of the catalogue answers as that one does, at every door" * doctest::test_suite("quality")) {
    struct Door {
        const char *name, *request;
    };
    constexpr Door kDoors[] = {
        {"estimate", R"({"gpus": 16, "model": "llama-3.1-70b", "precision": "fp8"})"},
        {"alternatives", R"({"gpus": 16})"},
        {"timeline", R"({"gpus": 16, "pipeline_parallel": 4})"},
        {"export_plan", R"({"gpus": 16})"},
        {"limits", R"({"gpus": 8, "days": 30})"},
        {"search", R"({"gpus": 8})"},
        {"rank", R"({"gpus": 8})"},
        {"versus", R"({"gpus": 8, "other": {"tensor_parallel": 8}})"},
        {"calibrate", R"({"gpus": 8, "runs": [{"step_seconds": 60, "tensor_parallel": 2, "pipeline_parallel": 1}]})"},
        {"place", R"({"gpus": 16, "moves": 1000, "links": {"nodes": ["a", "b"], "gbyte_per_s": [[0, 9], [9, 0]]}})"},
    };
    for (const auto& one : kDoors) {
        const char* const name = one.name;
        const char* const request = one.request;
        CAPTURE(name);
        const Json listed = door(name, json(request), kLike);
        CHECK(door(name, json(request), own()) == listed);
        CHECK(door(name, json(request), own(numbers_of(kLike))) == listed);
    }
    for (const char* id : {"a100-pcie-40gb", "gb200-186gb", "h20-sxm-96gb"}) {
        CAPTURE(id);
        const Json request = json(R"({"gpus": 144, "model": "llama-3.1-70b", "global_batch": 1152})");
        Json numbers = numbers_of(id);
        numbers["base"] = id;
        CHECK(door("estimate", request, own(numbers)) == door("estimate", request, id));
    }
}

TEST_CASE("the answer names the card, says what it takes from its base, and is read again") {
    const Json answer = estimate(Json::object(), own(json(R"({"memory_gib": 48, "fp8_dense_tflop_per_s": 0})")));
    CHECK(answer["gpu"] == json(R"({"id": "", "label": "Mine", "memory_gib": 48})"));
    CHECK(answer["job"]["gpu"]["base"] == kLike);
    CHECK(answer["job"]["gpu"]["memory_gib"] == 48);
    CHECK(answer["job"]["gpu"]["hbm_gbyte_per_s"] == "auto");
    CHECK(tests::said(answer["assumed"][2]["text"]) == R"(assumed.own_gpu {"base":"H100 SXM 80 GB","gpu":"Mine"})");
    CHECK(answer["time"]["basis"]["id"] == "band.own_gpu");
    CHECK(answer["time"]["basis"]["args"]["band"]["id"] == "band.hopper");
    CHECK(estimate(answer["job"])["whole_bytes"] == answer["whole_bytes"]);
    // runs of one's own were measured on it
    CHECK(estimate(json(R"({"time_factor": 1.1})"), own())["time"]["basis"]["id"] == "band.calibrated");
    CHECK(brief(estimate(json(R"({"precision": "fp8"})"), answer["job"]["gpu"])["problems"]) ==
          "precision precision_needs_card \"fp8\" -> \"bf16\"");
}

TEST_CASE("half the memory is filled twice as far, and half the rate computes twice as long") {
    const Json job = closed(R"({"gpus": 8})");
    const Json whole = estimate(job), half = estimate(job, own(json(R"({"memory_gib": 40})")));
    CHECK(whole["card_bytes"] == 80.0 * 1024 * 1024 * 1024);
    CHECK(half["card_bytes"] == 40.0 * 1024 * 1024 * 1024);
    CHECK(half["total_bytes"] == whole["total_bytes"]);
    CHECK(half["share"] == 2 * whole["share"].get<double>());
    CHECK(half["time"]["step_seconds"] == whole["time"]["step_seconds"]);
    // multiplications that wait for nothing else: 989.4 TFLOP/s and half of it, with a memory that keeps up
    const auto multiplying = [&](double rate) {
        const Json numbers = {{"bf16_dense_tflop_per_s", rate}, {"hbm_gbyte_per_s", 1e6}};
        const Json answer = estimate(job, own(numbers));  // lives as long as the loop
        for (const Json& item : answer["time"]["items"])
            if (item["id"] == "multiplications") return item["seconds"].get<double>();
        return 0.0;
    };
    CHECK(multiplying(494.7) == doctest::Approx(2 * multiplying(989.4)).epsilon(1e-6));
    // and the price and the power of the card are those of its run
    const Json run = estimate(job, own(json(R"({"usd_per_gpu_hour": 1.5, "board_watts": 500})")))["time"]["run"];
    CHECK(run["cost"] == run["gpu_hours"].get<double>() * 1.5);
    CHECK(run["watts_per_gpu"] == 500 * 1.56);
}

TEST_CASE("its links between nodes count before a cluster's, and a cluster is one of its base") {
    const Json job = closed(R"({"gpus": 64, "cluster": "dgx-h100", "pipeline_parallel": 8})");
    const auto seconds = [&](Json numbers) { return estimate(job, own(std::move(numbers)))["time"]["step_seconds"].get<double>(); };
    CHECK(seconds(Json::object()) == estimate(job)["time"]["step_seconds"]);
    CHECK(seconds(Json{{"network_gbyte_per_s", 50}}) == seconds(Json::object()));  // DGX H100: 400 Gbit/s for each GPU
    CHECK(seconds(Json{{"network_gbyte_per_s", 5}}) > seconds(Json::object()));
    const Json refused = estimate(json(R"({"cluster": "dgx-h100"})"), own(json(R"({"base": "a100-sxm-80gb"})")));
    CHECK(brief(refused["problems"]) == "cluster cluster_has_other_gpu \"dgx-h100\" -> \"\"");
}

TEST_CASE("law: more memory never turns what fits into what does not" * doctest::test_suite("quality")) {
    constexpr const char* kOrder[] = {"does_not_fit", "at_risk", "fits"};
    const auto rank = [&](const Json& fit) { return std::find(std::begin(kOrder), std::end(kOrder), fit) - std::begin(kOrder); };
    for (const char* request : {R"({"gpus": 8})", R"({"gpus": 16, "model": "llama-3.1-70b"})", R"({"gpus": 64, "model": "qwen3-30b-a3b"})",
                                R"({"gpus": 2, "method": "fujii2024", "tensor_parallel": 2})"}) {
        CAPTURE(request);
        std::ptrdiff_t before = 0;
        for (double gibibytes = 8; gibibytes <= 512; gibibytes *= 1.5) {
            CAPTURE(gibibytes);
            const auto now = rank(estimate(json(request), own(Json{{"memory_gib", gibibytes}}))["class"]);
            CHECK(now >= before);
            before = now;
        }
        CHECK(before == 2);
    }
}

TEST_CASE("law: no rate of the card, made faster, makes a step slower" * doctest::test_suite("quality")) {
    const Json usual = numbers_of(kLike);
    for (const char* request :
         {R"({"gpus": 32, "global_batch": 128, "pipeline_parallel": 2, "tensor_parallel": 2})",
          R"({"gpus": 64, "model": "mixtral-8x7b", "expert_parallel": 8, "global_batch": 256, "precision": "fp8"})",
          R"({"gpus": 32, "model": "llama-3.1-70b", "zero": "weights", "framework": "pytorch", "optimizer_offload": 1})",
          R"({"gpus": 32, "context_parallel": 4, "sequence_length": 32768, "global_batch": 64})"}) {
        CAPTURE(request);
        const Json job = closed(request);
        for (const char* key : {"bf16_dense_tflop_per_s", "fp8_dense_tflop_per_s", "hbm_gbyte_per_s", "link_gbyte_per_s",
                                "network_gbyte_per_s", "pcie_gbyte_per_s"}) {
            CAPTURE(key);
            double before = 1e300;
            for (double times = 0.25; times <= 8; times *= 2) {
                const double now = estimate(job, own(Json{{key, times * usual[key].get<double>()}}))["time"]["step_seconds"];
                CHECK(now <= before);
                before = now;
            }
        }
    }
}
