// placed() of several plans at once: each is placed as it would be alone, and the fastest that fits is the answer.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "api.h"
#include "contract.h"
#include "placement/model.h"
#include "random_cases.h"
#include "search/brute_force.h"

using namespace fourfold;
using tests::json;

namespace {

Json random_links(tests::Random& random, int nodes) {
    Json names = Json::array(), rows = Json::array();
    for (int i = 0; i < nodes; ++i) {
        names.push_back("n" + std::to_string(i));
        Json row = Json::array();
        for (int j = 0; j < nodes; ++j) row.push_back(i == j ? 0 : random.from(4, 40));
        rows.push_back(row);
    }
    return {{"nodes", names}, {"gbyte_per_s", rows}};
}

// Plans of 8 GPUs a node that fit, for whatever number of nodes.
const std::vector<Json> kEightsPlans = {
    {{"tensor_parallel", 2}, {"pipeline_parallel", 2}}, {{"tensor_parallel", 4}, {"pipeline_parallel", 2}, {"micro_batch", 2}},
    {{"tensor_parallel", 1}, {"pipeline_parallel", 4}}, {{"tensor_parallel", 2}, {"pipeline_parallel", 4}, {"virtual_stages", 2}},
    {{"tensor_parallel", 8}, {"pipeline_parallel", 1}},
};
// Fast, for it hands nothing over and recomputes nothing, and far too large.
const Json kTooLarge = {{"tensor_parallel", 1}, {"pipeline_parallel", 1}, {"micro_batch", 5}, {"zero", "none"}};

Json request(tests::Random& random, int nodes) {
    return {{"version", 1},           {"model", "llama-3.1-8b"}, {"gpus", 8 * nodes},
            {"global_batch", 480},    {"tensor_parallel", 2},    {"context_parallel", 1},
            {"pipeline_parallel", 1}, {"micro_batch", 1},        {"links", random_links(random, nodes)}};
}

Json placed(const Json& request) {
    const std::string text = api::place(request.dump());
    CHECK(tests::answer_defect(text, "place") == "");
    return json(text);
}
double number(const Json& value) { return value.get<double>(); }

const Json& ranked_of(const Json& answer, std::size_t candidate) {
    static const Json none = {{"best_seconds", -1.0}, {"default_seconds", -1.0}, {"fits", false}};
    for (const Json& one : answer["ranked"])
        if (one["index"] == candidate) return one;
    return none;
}

// What is not searched: every order of the nodes.
double best_of_all(const Json& request, const Json& plan) {
    Json single = request;
    single.update(plan);
    Problems problems;
    const auto links = links_from_json(single["links"], "links", problems);
    single.erase("links");
    auto job = read_job(single.dump(), Request::estimate, problems);
    CHECK(resolve(*job, problems));
    CHECK_MESSAGE(problems.empty(), tests::brief(problems));
    return tests::best_of_all(step_time_shape(*job, job->plan, *links, {}));
}

}  // namespace

TEST_CASE("place of several plans: each is placed as with its share of the moves alone, and the fastest is the answer") {
    tests::Random random(31);
    for (const int nodes : {4, 5, 8}) {
        Json joint = request(random, nodes);
        joint["candidates"] = nodes == 5 ? Json({kEightsPlans[0], kEightsPlans[4]}) : Json(kEightsPlans);
        const auto count = static_cast<std::int64_t>(joint["candidates"].size());
        joint["moves"] = 8'000 * count + 3;
        const Json answer = placed(joint);
        REQUIRE(answer["ranked"].size() == joint["candidates"].size());
        double fastest = INFINITY;
        for (std::size_t i = 0; i < joint["candidates"].size(); ++i) {
            Json alone = joint;
            alone.erase("candidates");
            alone.update(joint["candidates"][i]);
            alone["moves"] = 8'000;
            const Json one = placed(alone);
            CHECK(one["best_seconds"] == ranked_of(answer, i)["best_seconds"]);
            CHECK(one["default_seconds"] == ranked_of(answer, i)["default_seconds"]);
            CHECK(one["best_seconds"] <= one["default_seconds"]);
            CHECK(ranked_of(answer, i)["fits"] == true);
            if (number(one["best_seconds"]) >= fastest) continue;
            fastest = number(one["best_seconds"]);
            CHECK((answer["best_seconds"] < fastest || answer["placement"] == one["placement"]));
        }
        CHECK(answer["best_seconds"] == fastest);
        CHECK(answer["ranked"][0]["best_seconds"] == fastest);
        const Json& first = joint["candidates"][answer["ranked"][0]["index"].get<std::size_t>()];
        for (const auto& [key, value] : first.items()) CHECK(answer["job"][key] == value);
        CHECK(std::is_sorted(answer["ranked"].begin(), answer["ranked"].end(),
                             [](const Json& a, const Json& b) { return a["best_seconds"] < b["best_seconds"]; }));
    }
}

TEST_CASE("place of several plans: with moves enough each costs what the best of all orders costs, in whatever order they come") {
    tests::Random random(32);
    const Json joint = request(random, 4), wider = request(random, 6);
    for (const Json& one : {joint, wider}) {
        Json plans = one["gpus"] == 32 ? Json(kEightsPlans) : Json({kEightsPlans[0], kEightsPlans[1], kEightsPlans[4]});
        Json asked = one;
        for (int turn = 0; turn < 3; ++turn) {
            asked["candidates"] = plans;
            asked["moves"] = 20'000 * static_cast<std::int64_t>(plans.size());
            asked["restarts"] = 1;
            const Json answer = placed(asked);
            double least = INFINITY;
            for (std::size_t i = 0; i < plans.size(); ++i) {
                const double best = best_of_all(one, plans[i]);
                least = std::min(least, best);
                CHECK(number(ranked_of(answer, i)["best_seconds"]) == doctest::Approx(best).epsilon(1e-12));
            }
            CHECK(number(answer["best_seconds"]) == doctest::Approx(least).epsilon(1e-12));
            std::rotate(plans.begin(), plans.begin() + 1, plans.end());
        }
    }
}

TEST_CASE("place of several plans: one that does not fit is the answer only when none does") {
    tests::Random random(33);
    Json joint = request(random, 4);
    joint["moves"] = 6'000;
    for (const Json& plans :
         {Json({kTooLarge, kEightsPlans[0]}), Json({kEightsPlans[0], kTooLarge}), Json({kTooLarge, kEightsPlans[4], kEightsPlans[0]})}) {
        joint["candidates"] = plans;
        const Json answer = placed(joint);
        CHECK(answer["ranked"][0]["fits"] == false);  // the list says what would be fastest
        CHECK(answer["ranked"][0]["best_seconds"] < answer["best_seconds"]);
        CHECK(answer["job"]["zero"] == "optimizer");
        CHECK(answer["warnings"].empty());
    }
    Json slower = kTooLarge;
    slower["micro_batch"] = 3;
    for (const Json& plans : {Json({kTooLarge, slower}), Json({slower, kTooLarge})}) {
        joint["candidates"] = plans;
        const Json answer = placed(joint);
        CHECK(answer["best_seconds"] == answer["ranked"][0]["best_seconds"]);
        REQUIRE(answer["warnings"].size() == 1);  // none of the four units helps by staying out
        CHECK(tests::said(answer["warnings"][0]["message"]) == "problem.no_unit_large_enough");
    }
}

TEST_CASE("place of several plans: what is wrong with one is named with its number, all at once") {
    tests::Random random(34);
    Json joint = request(random, 4);
    const auto problems = [&](const Json& plans) {
        joint["candidates"] = plans;
        return tests::brief(placed(joint)["problems"]);
    };
    const auto has = [](const std::string& lines, const char* start) {
        return ("\n" + lines).find(std::string("\n") + start) != std::string::npos;
    };
    const std::string all =
        problems({kEightsPlans[0], {{"tensor_parallel", 3}}, {{"heads", 2}}, {{"pipeline_parallel", "x"}}, 5, {{"micro_batch", 7}}});
    for (const char* line :
         {"candidates[1].tensor_parallel heads_divide 3 -> ", "candidates[2].heads unknown 2 -> ",
          "candidates[3].pipeline_parallel type \"x\" -> ", "candidates[4] type 5 -> ", "candidates[5].micro_batch batch_divides 7 -> "})
        CHECK_MESSAGE(has(all, line), all);
    CHECK_FALSE(has(all, "candidates[0]"));
    CHECK(problems(Json::array({Json{{"gpus", 40}}})) == "candidates[0].gpus range 5 -> null");
    CHECK(problems(Json::array()) == "candidates type null -> null");
    CHECK(problems(nullptr) == "candidates type null -> null");
    CHECK(problems(Json(std::vector<Json>(21, kEightsPlans[0]))) == "candidates type null -> null");

    joint.erase("candidates");
    joint["start"] = {0, 1, 2, 3};
    CHECK(problems({kEightsPlans[0], kEightsPlans[1]}) == "start range null -> null");
    const Json bare = {
        {"links", joint["links"]},
        {"pipette", json(R"({"pipelines": 2, "stages": 2, "inter_dp": 2, "inner_dp": 1, "pp_msg_gbyte": 1, "dp_msg_gbyte": 1})")},
        {"candidates", Json::array({kEightsPlans[0]})},
        {"units", json(R"([{"name": "n0", "speed": 0.5}])")}};
    CHECK(tests::brief(placed(bare)["problems"]) == "candidates range null -> null\nunits range null -> null");
}
