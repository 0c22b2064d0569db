// The contract, from the outside: what good requests are answered with. Bad ones are in api_problems_test.cpp.
#include "api.h"

#include <doctest/doctest.h>

#include <set>

#include "base/formula_reader.h"
#include "contract.h"
#include "random_cases.h"

using namespace fourfold;
using tests::answer_defect;
using tests::at;
using tests::brief;
using tests::json;

namespace {

Json estimate(const Json& request) {
    const std::string text = api::estimate(request.dump());
    CHECK(answer_defect(text, "estimate") == "");
    return json(text);
}
Json estimate(const char* request) { return estimate(json(request)); }

// A request of a random legal plan for a random model, every key set.
Json random_request(tests::Random& random) {
    const Model model = tests::random_model(random);
    Json request = Json::object();
    const Plan plan = tests::random_legal_plan(random, model);
    visit_fields(plan, FieldWriter(request));
    request["model"] = canonical_config(model);
    request["gpu"] = random.one_of<const char*>({"a100-sxm-40gb", "h100-sxm-80gb", "h200-sxm-141gb"});
    if (request["gpu"] == "a100-sxm-40gb" && request["precision"].get<std::string>().starts_with("fp8")) request["precision"] = "bf16";
    return request;
}

}  // namespace

TEST_CASE("the catalogue has the documented shape, and its ids are those that requests take" * doctest::test_suite("quality")) {
    const Json catalog = json(api::catalog());
    CHECK(tests::answer_defect(catalog, "catalog") == "");
    Json figures = json(api::catalog(false)), rest = catalog;
    CHECK(tests::answer_defect(figures, "catalog") == "");
    for (const char* kind : {"gpus", "clusters", "models"})
        for (std::size_t i = 0; i < rest[kind].size(); ++i) {
            CHECK(!rest[kind][i]["sources"].empty());
            CHECK(figures[kind][i]["sources"].empty());
            rest[kind][i]["sources"] = Json::array();
        }
    CHECK(figures == rest);
    CHECK(catalog["version"] == 2);
    CHECK(catalog["rules"].size() == 21);
    for (const Json& gpu : catalog["gpus"]) {
        for (const char* key : {"memory_gib", "gpus_per_node", "bf16_dense_tflop_per_s"}) CHECK(at(gpu, key).is_number());
        CHECK(at(gpu, "label").is_string());
        CHECK(estimate(Json{{"gpu", gpu["id"]}})["gpu"]["memory_gib"] == gpu["memory_gib"]);
    }
    for (const Json& cluster : catalog["clusters"])
        CHECK(estimate(Json{{"cluster", cluster["id"]}, {"gpu", cluster["gpu"]}})["job"]["gpus_per_node"] == cluster["gpus_per_node"]);
    for (const Json& model : catalog["models"])
        CHECK(estimate(Json{{"model", model["id"]}, {"gpus", 128}})["model"]["parameters"] == model["parameters"]);
    for (const Json& method : catalog["methods"]) CHECK(estimate(Json{{"method", method["id"]}})["ok"] == true);
    for (const Json& field : catalog["fields"]) {
        CAPTURE(field["key"]);
        const bool integer = field["type"] == "integer", number = field["type"] == "number";
        const bool choices = field["type"] == "choice" || field["type"] == "set" || field["type"] == "text";
        CHECK((integer || number || choices || field["type"] == "boolean"));
        for (const char* key : {"min", "max"}) CHECK(field.contains(key) == (integer || number));
        CHECK(field.contains("choices") == choices);
        CHECK(estimate(Json{{field["key"].get<std::string>(), field["default"]}})["ok"] == true);
    }
}

TEST_CASE("an empty request is a full one") {
    const Json answer = estimate("{}");
    CHECK(answer["ok"] == true);
    CHECK(answer["job"]["model"] == "llama-3.1-8b");
    CHECK(answer["job"]["gpu"] == "h100-sxm-80gb");
    CHECK(answer["job"]["cluster"] == "");
    CHECK(answer["job"]["method"] == "detailed");
    CHECK(answer["auto"] == json(R"(["tensor_parallel", "context_parallel", "pipeline_parallel", "micro_batch", "virtual_stages",
                                     "expert_parallel", "expert_tensor_parallel", "recompute_layers", "schedule",
                                     "layout", "zero", "recompute", "moments", "sequence_parallel"])"));
    CHECK(answer["class"] == "fits");
    CHECK(answer["card_bytes"] == 80.0 * 1024 * 1024 * 1024);
    CHECK(answer["line_share"].get<double>() > 0.8);  // of the whole GPU; what is allocated stays below the paper's line here
    CHECK(answer["line_allocated_share"].get<double>() < answer["line_share"].get<double>());
    CHECK(answer["equally_good"]["count"].get<int>() >= 1);
}

static void check_stages(const Json& answer) {
    const double total = answer["total_bytes"];
    const Json& stages = answer["stages"];
    const bool paper = answer["job"]["method"] == "fujii2024";
    CHECK(stages.size() == (paper ? 1U : answer["job"]["pipeline_parallel"].get<std::size_t>()));
    double most = 0, layers = 0;
    for (const Json& stage : stages) {
        double sum = 0;
        for (const Json& bytes : stage["groups"]) sum += bytes.get<double>();
        CHECK(tests::nearly(sum, stage["bytes"]));
        most = std::max(most, stage["bytes"].get<double>());
        layers += stage["layers"].get<double>();
    }
    CHECK(most == total);
    const double copies = answer["job"]["schedule"] == "dualpipe" ? 2 : 1;
    if (!paper) CHECK(layers == copies * answer["model"]["config"]["num_hidden_layers"].get<double>());
    CHECK(stages[answer["worst_stage"].get<std::size_t>()]["bytes"] == total);
    CHECK(answer["worst_why"].is_null() == (stages.size() == 1));
    double outside = 0;
    for (const Json& item : answer["outside"]) outside += item["bytes"].get<double>();
    CHECK(tests::nearly(total + outside, answer["whole_bytes"]));
    CHECK(answer["reserved_bytes"] >= answer["total_bytes"]);
    CHECK(answer["whole_bytes"] >= answer["reserved_bytes"]);
    if (answer["curve"].is_null()) return;
    double peak = 0;
    for (const Json& bytes : answer["curve"]["bytes"]) peak = std::max(peak, bytes.get<double>());
    // interleaved, a later moment may hold as many pieces but others of them (the first carries a dropout mask): within a percent
    CHECK(peak <= total * (answer["job"]["virtual_stages"] == 1 ? 1 + 1e-12 : 1.01));
    if (answer["job"]["schedule"] == "1f1b" || answer["job"]["schedule"] == "gpipe")
        CHECK(peak >= answer["stages"][answer["stage"].get<std::size_t>()]["bytes"].get<double>() * 0.97);
}

static void check_time(const Json& answer) {
    const Json& time = answer["time"];
    const double seconds = time["step_seconds"];
    double sum = 0, shares = 0;
    for (const Json& item : time["items"]) {
        sum += item["seconds"].get<double>();
        shares += item["share"].get<double>();
        CHECK(tests::formula_defect(item["seconds"], item["formula"], item["numbers"], item["where"]) == "");
    }
    CHECK(sum == doctest::Approx(seconds).epsilon(1e-9));
    CHECK(shares == doctest::Approx(1).epsilon(1e-9));
    CHECK(answer["step_seconds"] == time["step_seconds"]);
    CHECK(time["low_seconds"] <= time["step_seconds"]);
    CHECK(time["high_seconds"] >= time["step_seconds"]);
    CHECK(tests::nearly(time["tokens_per_s"].get<double>() * seconds, time["tokens_per_step"]));
    REQUIRE(time["rates"].size() == 2);
    const Json &full = time["rates"][0], &causal = time["rates"][1];
    CHECK(full["id"] == "full");
    CHECK(causal["id"] == "causal");
    for (const Json& rate : time["rates"])
        CHECK(tests::nearly(rate["mfu"].get<double>() * time["peak_tflop_per_s"].get<double>(), rate["tflop_per_s_per_gpu"]));
    CHECK(causal["mfu"].get<double>() > 0);
    CHECK(causal["mfu"].get<double>() < 1);  // no more than the peak of what a causal mask leaves
    CHECK(full["mfu"] > causal["mfu"]);      // counted over the whole square of attention, of which half is computed
    CHECK(full["mfu"].get<double>() < 2 * causal["mfu"].get<double>());
}

TEST_CASE("a token budget gives days, GPU-hours, cost and energy") {
    const Json answer = estimate(R"({"token_budget": 1e12, "price_per_gpu_hour": 2.5, "watts_per_gpu": 1000})");
    const Json& run = answer["time"]["run"];
    const double steps = std::ceil(1e12 / (1024.0 * 8192)), hours = steps * answer["step_seconds"].get<double>() / 3600 * 8;
    CHECK(run["steps"] == steps);
    CHECK(tests::nearly(run["gpu_hours"], hours));
    CHECK(tests::nearly(run["days"], hours / 8 / 24));
    CHECK(tests::nearly(run["cost"], hours * 2.5));
    CHECK(tests::nearly(run["energy_kwh"], hours));
    CHECK(tests::nearly(run["co2_kg"], hours * 0.445));  // 1 kW
    CHECK(estimate(R"({"token_budget": 0})")["time"]["run"].is_null());
    CHECK(estimate(R"({"token_budget": 1e12, "price_per_gpu_hour": 0})")["time"]["run"]["cost"].is_null());
    CHECK(estimate(R"({"token_budget": 1e12, "watts_per_gpu": 0})")["time"]["run"]["co2_kg"].is_null());
}

TEST_CASE("who gives no budget is told the usual one: 20 tokens a parameter, the card's list price, its power times 1.56") {
    const Json run = estimate(R"({"model": "llama-3.1-8b", "gpu": "h100-sxm-80gb"})")["time"]["run"];
    CHECK(run["tokens"] == 20 * 8030261248.0);
    CHECK(run["price_per_gpu_hour"] == 3.99);
    CHECK(tests::nearly(run["watts_per_gpu"], 1092));  // 700 * 1.56
    CHECK(tests::nearly(run["cost"], run["gpu_hours"].get<double>() * 3.99));
    CHECK(estimate(R"({"token_budget": "auto", "price_per_gpu_hour": "auto"})")["time"]["run"] == estimate("{}")["time"]["run"]);
    // Of adapters, 20 for each parameter that learns: rank 16 beside all matrices of 32 layers, joined as Megatron-Bridge joins them
    const double adapters = 32 * 16.0 * ((4096 + 6144) + (4096 + 4096) + (4096 + 2 * 14336) + (14336 + 4096));
    CHECK(estimate(R"({"model": "llama-3.1-8b", "trained": "lora"})")["time"]["run"]["tokens"] == 20 * adapters);
    // A card whose price nobody has printed
    CHECK(estimate(R"({"gpu": "h20-sxm-96gb"})")["time"]["run"]["cost"].is_null());
}

TEST_CASE("every answer adds up: items to groups, groups to the total, shares to the card, formulas to their bytes" *
          doctest::test_suite("quality")) {
    tests::Random random(6);
    for (int i = 0; i < 100; ++i) {
        const Json request = random_request(random), answer = estimate(request);
        CAPTURE(request);
        CHECK(answer["ok"] == true);
        if (answer["ok"] == false) continue;
        const double card = answer["card_bytes"];
        double total = 0;
        std::set<std::string> ids;
        for (const Json& group : answer["groups"]) {
            double bytes = 0;
            for (const Json& item : group["items"]) {
                bytes += item["bytes"].get<double>();
                CHECK(item["share"] == item["bytes"].get<double>() / card);
                CHECK(ids.insert(item["id"].get<std::string>()).second);
                CHECK(tests::formula_defect(item["bytes"], item["formula"], item["numbers"], item["where"]) == "");
                for (const char* power : {"e+", "e-"}) CHECK(item["latex_numbers"].get<std::string>().find(power) == std::string::npos);
            }
            CHECK(tests::nearly(bytes, group["bytes"]));
            CHECK(group["share"] == group["bytes"].get<double>() / card);
            total += bytes;
        }
        CHECK(tests::nearly(total, answer["total_bytes"]));
        CHECK(answer["share"] == answer["total_bytes"].get<double>() / card);
        const double share = answer["share"];
        const bool paper = answer["job"]["method"] == "fujii2024";
        const double p = paper ? (share <= 0.8 ? 1.0 : share <= 1 ? 0.5 : 0.0) : answer["probability"].get<double>();
        CHECK(answer["class"] == (p >= 0.95 ? "fits" : p > 0.02 ? "at_risk" : "does_not_fit"));
        CHECK(answer["probability"].is_null() == paper);
        // The line of the bar is the one that decides, for the whole GPU as for what is allocated.
        const double whole = answer["whole_bytes"].get<double>() / card, line = answer["line_share"];
        if (std::abs(whole - line) > 1e-9) CHECK((answer["class"] == "fits") == (whole <= line));
        if (std::abs(whole - line) > 1e-9) CHECK((share <= answer["line_allocated_share"].get<double>()) == (whole <= line));
        check_stages(answer);
        check_time(answer);
        CHECK(answer["auto"].empty());
        for (const auto& [key, value] : request.items()) CHECK(at(answer["job"], key) == value);
        const std::int64_t copies = answer["data_parallel"], per_step = answer["micro_batches"];
        const Json& job = answer["job"];
        CHECK(copies * job["tensor_parallel"].get<std::int64_t>() * job["tensor_columns"].get<std::int64_t>() *
                  job["context_parallel"].get<std::int64_t>() * job["pipeline_parallel"].get<std::int64_t>() ==
              job["gpus"]);
        CHECK(copies * per_step * job["micro_batch"].get<std::int64_t>() == job["global_batch"]);
    }
}

// Takes formulas and sources off; counts them.
static int without_formulas(Json& json) {
    int count = 0;
    if (json.is_object() && json.contains("latex")) {
        for (const char* key : {"formula", "numbers", "latex", "latex_numbers", "where", "source"}) json.erase(key);
        ++count;
    }
    if (json.is_structured())
        for (Json& one : json) count += without_formulas(one);
    return count;
}

TEST_CASE("without explanations an answer has the same figures, and nothing else is missing") {
    for (const char* job :
         {R"("model": "llama-3.1-70b", "gpus": 64)", R"("model": "deepseek-v3", "gpus": 2048, "stage": 3)",
          R"("model": "llama-3.1-8b", "method": "fujii2024")", R"("model": "llama-3.1-8b", "time_factor": 1.5)",
          R"("model": "llama-3.1-8b", "optimizer_offload": 0.5)", R"("model": "llama-3.1-8b", "activation_offload": 1)"}) {
        CAPTURE(std::string(job));
        Json whole = json(api::estimate("{" + std::string(job) + "}"));
        const Json figures = json(api::estimate(R"({"explain": false, )" + std::string(job) + "}"));
        CHECK(answer_defect(figures, "estimate") == "");
        CHECK(without_formulas(whole) > 10);
        for (const char* key : {"curve", "comparison", "used", "assumed", "not_counted"}) CHECK(whole.erase(key) == 1);
        CHECK(figures == whole);
    }
}

TEST_CASE("the job in an answer, asked again, gives the same answer" * doctest::test_suite("quality")) {
    tests::Random random(7);
    for (int i = 0; i < 60; ++i) {
        Json request = random_request(random);
        for (const char* key : {"tensor_parallel", "context_parallel", "pipeline_parallel", "micro_batch", "gpus_per_node"})
            if (random.coin()) request[key] = "auto";
        Json first = estimate(request);
        CAPTURE(request);
        if (at(first, "ok") != true) continue;
        Json second = estimate(first["job"]);
        for (const char* key : {"auto", "equally_good"}) first.erase(key), second.erase(key);
        CHECK(first == second);
    }
}

TEST_CASE("the same request has the same answer, to the byte" * doctest::test_suite("quality")) {
    for (const char* request : {"{}", R"({"gpus": 7})", R"({"model": "llama-3.1-70b", "gpus": 64})", "x"}) {
        CHECK(api::estimate(request) == api::estimate(request));
        CHECK(api::search(request).summary == api::search(request).summary);
    }
    CHECK(api::catalog() == api::catalog());
}

TEST_CASE("auto keeps what is set and says what it chose") {
    const Json some = estimate(R"({"version": 1, "gpus": 32, "pipeline_parallel": 4, "micro_batch": 2})");
    CHECK(some["auto"] == json(R"(["tensor_parallel", "context_parallel", "expert_parallel"])"));
    CHECK(some["job"]["pipeline_parallel"] == 4);
    CHECK(some["job"]["micro_batch"] == 2);
    const Json odd = estimate(R"({"gpus": 24, "sequence_length": 6144, "global_batch": 24, "context_parallel": 3})");  // no power of two
    CHECK(at(odd["job"], "context_parallel") == 3);
    const Json mesh = estimate(R"({"gpu": "h100-sxm-94gb", "gpus": 16})");
    CHECK(mesh["job"]["gpus_per_node"] == 4);
    CHECK(mesh["job"]["tensor_parallel"].get<int>() <= 4);
    const Json set = estimate(R"({"gpu": "h100-sxm-94gb", "cluster": "tsubame4", "gpus_per_node": 2, "gpus": 16})");
    CHECK(set["job"]["gpus_per_node"] == 2);
}

TEST_CASE("a plan too large for any split still gets the smallest estimate, and says that it does not fit") {
    const Json answer = estimate(R"({"model": "llama-3.1-405b", "gpus": 8})");
    CHECK(answer["ok"] == true);
    CHECK(answer["class"] == "does_not_fit");
    CHECK(answer["equally_good"]["count"] == 0);
}

static Json alternatives(const Json& request) {
    const std::string text = api::alternatives(request.dump());
    CHECK(tests::answer_defect(text, "alternatives") == "");
    return json(text);
}

TEST_CASE("alternatives: each says what the estimate says once it is set, with what is open searched again" *
          doctest::test_suite("quality")) {
    tests::Random random(8);
    int legal = 0, changed = 0;
    for (int i = 0; i < 20; ++i) {
        Json request = i == 0 ? json("{}") : random_request(random);
        if (i % 2 == 1)
            for (const char* key : {"tensor_parallel", "pipeline_parallel", "recompute", "layout", "virtual_stages"}) request[key] = "auto";
        const Json shown = estimate(request);
        if (shown["ok"] == false) continue;
        const Json answer = alternatives(request);
        CAPTURE(request);
        CHECK(answer["job"] == shown["job"]);
        CHECK(answer["knobs"].size() == 4);
        for (const Json& knob : answer["knobs"]) {
            const std::string field = knob["field"];
            CHECK(knob["value"] == shown["job"][field]);
            std::int64_t previous = 0;
            int here = 0;
            for (const Json& option : knob["options"]) {
                CHECK(option["value"].get<std::int64_t>() > previous);
                previous = option["value"];
                here += option["value"] == knob["value"] ? 1 : 0;
                Json other = request;
                other[field] = option["value"];
                const Json there = estimate(other);
                CHECK(there["ok"] == option["legal"]);
                legal += option["legal"] == true;
                if (option["legal"] == true && option["value"] != knob["value"])
                    for (const char* key : {"total_bytes", "share", "class", "step_seconds"}) CHECK(at(option, key) == there[key]);
                if (option["legal"] == true)
                    CHECK(at(option, "change_bytes") == at(option, "whole_bytes").get<double>() - shown["whole_bytes"].get<double>());
                else
                    CHECK(!option.contains("total_bytes"));
            }
            CHECK(here == 1);
        }
        for (const Json& change : answer["changes"]) {
            Json after = request;
            after.update(change["set"]);
            CHECK(change["saved_bytes"] > 0);
            CHECK(tests::nearly(change["whole_bytes"].get<double>() + change["saved_bytes"].get<double>(), shown["whole_bytes"]));
            CHECK(estimate(after)["total_bytes"] == change["total_bytes"]);
            ++changed;
        }
    }
    CHECK(legal > 60);
    CHECK(changed > 20);
}

TEST_CASE("auto_plan: what letting go of all that is set leads to" * doctest::test_suite("quality")) {
    tests::Random random(9);
    int other = 0;
    for (int i = 0; i < 30; ++i) {
        const Json request = random_request(random), shown = estimate(request);
        if (shown["ok"] == false) continue;
        const Json plan = alternatives(request)["auto_plan"];
        CAPTURE(request);
        if (plan.is_null()) continue;
        Json open = request;
        open.update(plan["set"]);
        const Json chosen = estimate(open);
        for (const char* key : {"total_bytes", "share", "class", "step_seconds"}) CHECK(plan[key] == chosen[key]);
        CHECK(alternatives(open)["auto_plan"].is_null());
        ++other;
    }
    CHECK(other > 10);
    CHECK(alternatives(json("{}"))["auto_plan"].is_null());
}

TEST_CASE("an imported config is a model that a job takes, and that imports as itself") {
    const char* const gpt2 = R"({"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024, "vocab_size": 50257,
                                 "_name_or_path": "openai-community/gpt2", "resid_pdrop": 0.1})";
    const std::string text = api::import_config(gpt2);
    CHECK(answer_defect(text, "import_config") == "");
    const Json imported = json(text);
    CHECK(imported["parameters"] == 124'439'808);
    CHECK(imported["label"] == "gpt2");
    CHECK(imported["ignored"] == json(R"(["resid_pdrop"])"));
    const Json answer = estimate(Json{{"model", imported["model"]}, {"sequence_length", 1024}});
    CHECK(answer["model"]["parameters"] == 124'439'808);
    CHECK(answer["model"]["label"] == "gpt2");
    CHECK(answer["job"]["model"] == imported["model"]);
    const Json again = json(api::import_config(imported["model"].dump()));
    CHECK(again["model"] == imported["model"]);
    CHECK(again["ignored"].empty());
    CHECK(again["assumed"].empty());
}
