// Placement on measured links: the cost against brute force and against the step time, the search against published cases, the answer.
#include "placement/model.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "api.h"
#include "contract.h"
#include "memory/measured_runs.h"
#include "model/catalog.h"
#include "placement/annealing.h"
#include "placement/cases.h"
#include "random_cases.h"
#include "search/brute_force.h"
#include "time/step_time.h"

using namespace fourfold;
using tests::json;
using tests::links_of;
using tests::published_cases;
using tests::PublishedCase;

namespace {

Links random_links(tests::Random& random, std::size_t n, bool symmetric = true) {
    Links links = links_of(n, 0);
    for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = 0; b < n; ++b)
            if (a != b)
                links.byte_per_s[a * n + b] = symmetric && b < a ? links.rate(b, a) : 1e9 * static_cast<double>(random.from(4, 40)) + 7;
    return links;
}

// The objective as the README of the cases writes it, in ms.
double pipette_ms(const PublishedCase& c, const Placement& at) {
    const auto s = [&](std::int64_t r, std::int64_t stage) { return at[static_cast<std::size_t>(r * c.numbers.stages + stage)]; };
    const auto L = [&](std::uint32_t a, std::uint32_t b) { return a == b ? 1 / c.numbers.inside_byte_per_s : 1 / c.links.rate(a, b); };
    double hops = 0, across = 0, inside = 0;
    for (std::int64_t r = 0; r < c.numbers.pipelines; ++r) {
        double sum = 0;
        for (std::int64_t stage = 0; stage + 1 < c.numbers.stages; ++stage)
            sum += 2 * c.numbers.hand_over_bytes * L(s(r, stage), s(r, stage + 1));
        hops = std::max(hops, sum);
        across = std::max(across, L(s(r, 0), s((r + 1) % c.numbers.pipelines, 0)));
        inside = std::max(inside, L(s(r, 0), s(r, 0)));
    }
    const auto ring = [](std::int64_t members) { return 2 * static_cast<double>(members - 1) / static_cast<double>(members); };
    return 1000 * (hops + c.numbers.data_bytes * (ring(c.numbers.inter_dp) * across + ring(c.numbers.inner_dp) * inside));
}

bool is_permutation_of_units(const Placement& at, std::size_t units) {
    return at.size() == units && std::set<std::uint32_t>(at.begin(), at.end()).size() == units &&
           *std::max_element(at.begin(), at.end()) < units;
}

Job job_of(const char* plan_keys) {
    Problems problems;
    auto job = read_job(plan_keys, Request::estimate, problems);
    CHECK_MESSAGE(problems.empty(), tests::brief(problems));
    CHECK(resolve(*job, problems));
    CHECK_MESSAGE(problems.empty(), tests::brief(problems));
    return *job;
}

constexpr const char* kPlans[] = {
    R"({"model": "llama-3.1-8b", "gpus": 64, "tensor_parallel": 2, "context_parallel": 1, "pipeline_parallel": 4, "micro_batch": 1})",
    R"({"model": "llama-3.1-8b", "gpus": 64, "tensor_parallel": 8, "context_parallel": 1, "pipeline_parallel": 2, "micro_batch": 1})",
    R"({"model": "llama-3.1-8b", "gpus": 64, "tensor_parallel": 1, "context_parallel": 1, "pipeline_parallel": 1, "micro_batch": 1})",
    R"({"model": "llama-3.1-8b", "gpus": 64, "tensor_parallel": 1, "context_parallel": 1, "pipeline_parallel": 8, "micro_batch": 1,
        "schedule": "zb-h1"})",
    R"({"model": "llama-3.1-8b", "gpus": 64, "framework": "pytorch", "tensor_parallel": 2, "context_parallel": 1, "pipeline_parallel": 4,
        "micro_batch": 1, "schedule": "gpipe"})",
    R"({"model": "llama-3.1-8b", "gpus": 64, "framework": "nanotron", "tensor_parallel": 2, "context_parallel": 1, "pipeline_parallel": 4,
        "micro_batch": 1, "schedule": "gpipe"})",
    R"({"model": "llama-3.1-8b", "gpus": 64, "tensor_parallel": 4, "context_parallel": 1, "pipeline_parallel": 4, "micro_batch": 1,
        "virtual_stages": 2})",
    R"({"model": "llama-3.1-8b", "gpus": 64, "tensor_parallel": 4, "context_parallel": 4, "pipeline_parallel": 2, "micro_batch": 1,
        "sequence_length": 32768})",
    R"({"model": "llama-3.1-70b", "gpus": 64, "tensor_parallel": 16, "context_parallel": 1, "pipeline_parallel": 2, "micro_batch": 1,
        "time_factor": 1.2, "cluster": "dgx-h100"})",
    R"({"model": "llama-3.1-8b", "gpus": 64, "framework": "pytorch", "zero": "weights", "tensor_parallel": 1, "context_parallel": 1,
        "pipeline_parallel": 1, "micro_batch": 1})",
    R"({"model": "llama-3.1-8b", "gpus": 64, "framework": "pytorch", "zero": "weights", "tensor_parallel": 1, "context_parallel": 1,
        "pipeline_parallel": 1, "micro_batch": 1, "shard_replicas": 8})",
    R"({"model": "llama-3.1-8b", "gpus": 64, "framework": "pytorch", "zero": "weights", "tensor_parallel": 2, "context_parallel": 1,
        "pipeline_parallel": 1, "micro_batch": 1, "shard_replicas": 2})",
};

std::string bare_request(const PublishedCase& c, const char* more) {
    Json request = json(more);
    request["links"] = links_to_json(c.links);
    request["pipette"] = {{"pipelines", c.numbers.pipelines},
                          {"stages", c.numbers.stages},
                          {"inter_dp", c.numbers.inter_dp},
                          {"inner_dp", c.numbers.inner_dp},
                          {"pp_msg_gbyte", c.numbers.hand_over_bytes / 1e9},
                          {"dp_msg_gbyte", c.numbers.data_bytes / 1e9}};
    return request.dump();
}
Json place(const std::string& request) {
    const std::string text = api::place(request);
    CHECK(tests::answer_defect(text, "place") == "");
    return json(text);
}

}  // namespace

TEST_CASE("placement: Pipette's cost of the given order, and of any order, to the last digits") {
    tests::Random random(1);
    for (const PublishedCase& c : published_cases()) {
        const PlacementShape shape = pipette_shape(c.numbers, c.links);
        PlacementCost cost(shape);
        Placement at(shape.units);
        std::iota(at.begin(), at.end(), 0U);
        CHECK(1000 * cost.reset(at) == doctest::Approx(c.identity).epsilon(1e-12));
        for (int i = 0; i < 20; ++i) {
            std::swap(at[static_cast<std::size_t>(random.from(0, 15))], at[static_cast<std::size_t>(random.from(0, 15))]);
            CHECK(1000 * cost.reset(at) == doctest::Approx(pipette_ms(c, at)).epsilon(1e-12));
        }
    }
    PublishedCase inner = published_cases()[0];
    inner.numbers.inner_dp = 4;
    const PlacementShape shape = pipette_shape(inner.numbers, inner.links);
    Placement at(shape.units);
    std::iota(at.begin(), at.end(), 0U);
    CHECK(1000 * PlacementCost(shape).reset(at) == doctest::Approx(pipette_ms(inner, at)).epsilon(1e-12));
}

TEST_CASE("placement: near the best known on Pipette's cases, never above what its annealer reached in 30 s" *
          doctest::test_suite("quality")) {
    double logs = 0;
    const auto cases = published_cases();
    CHECK(cases.size() == 10);
    for (const PublishedCase& c : cases) {
        const PlacementShape shape = pipette_shape(c.numbers, c.links);
        const AnnealingResult found = anneal(shape, {.seed = 1, .moves = 4'000'000, .restarts = 4});
        CHECK(is_permutation_of_units(found.placement, shape.units));
        CHECK(1000 * found.seconds == doctest::Approx(pipette_ms(c, found.placement)).epsilon(1e-12));
        CHECK(1000 * found.seconds <= c.after_30s * (1 + 1e-9));
        logs += std::log(1000 * found.seconds / c.best);
    }
    CHECK(std::exp(logs / static_cast<double>(cases.size())) <= 1.01);
}

TEST_CASE("placement: on links of one rate it is the step time, and nothing is gained") {
    for (const char* text : kPlans) {
        const Job job = job_of(text);
        for (const double rate : {20e9, 200e9}) {
            TimedPlan<> timed = job.timed(job.plan);
            timed.timing.network = timed.timing.pipeline = timed.timing.ring_network = 1;
            timed.machine.node = rate;
            timed.time_layers();
            const double wanted = timed.step().seconds;
            const PlacementShape shape = step_time_shape(job, job.plan, links_of(8, rate), {});
            const AnnealingResult found = anneal(shape, {.seed = 3, .moves = 2'000, .restarts = 1});
            CHECK_MESSAGE(found.default_seconds == doctest::Approx(wanted).epsilon(1e-9), text);
            CHECK(found.seconds == doctest::Approx(wanted).epsilon(1e-9));
            // units that say they are as fast as the profile change nothing
            const PlacementShape same = step_time_shape(job, job.plan, links_of(8, rate), UnitSpeeds(8, 1.0));
            CHECK_MESSAGE(anneal(same, {.seed = 3, .moves = 10, .restarts = 1}).default_seconds == doctest::Approx(wanted).epsilon(1e-9),
                          text);
        }
    }
    // at the profile's own rate, where the site's shares are 1, it is the very step time that the page shows
    const Json job = json(R"({"model": "llama-3.1-8b", "gpus": 64, "tensor_parallel": 2, "context_parallel": 1, "pipeline_parallel": 4,
                              "micro_batch": 1, "site": "own", "site_network": 1, "site_pipeline": 1, "cluster": "dgx-h100"})");
    Json request = job;
    request["links"] = links_to_json(links_of(8, 400e9));
    request["moves"] = 1000;
    const Json answer = place(request.dump());
    const double shown = json(api::estimate(job.dump()))["time"]["step_seconds"];
    CHECK(answer["default_seconds"].get<double>() == doctest::Approx(shown).epsilon(1e-9));
    CHECK(answer["nothing_to_gain"] == true);
    CHECK(answer["gain_share"].get<double>() <= 1e-9);
    CHECK(tests::said(answer["finding"]) == R"(finding.links_alike {"units":"nodes"})");
}

TEST_CASE("placement: a move's update is what everything evaluated anew gives, and undo is exact") {
    tests::Random random(5);
    for (const char* text : kPlans) {
        const Job job = job_of(text);
        const Links links = random_links(random, 10, false);
        const UnitSpeeds speeds = random.coin() ? UnitSpeeds{} : UnitSpeeds{1, 0.8, 1, 1, 0.9, 1, 1, 1.1, 1, 1};
        const PlacementShape shape = step_time_shape(job, job.plan, links, speeds);
        PlacementCost cost(shape), fresh(shape);
        Placement at(shape.units);
        std::iota(at.begin(), at.end(), 0U);
        double now = cost.reset(at);
        for (int i = 0; i < 300; ++i) {
            const auto a = static_cast<std::uint32_t>(random.from(0, shape.positions - 1)),
                       b = static_cast<std::uint32_t>(random.from(0, 9));
            if (a == b) continue;
            std::swap(at[a], at[b]);
            const std::uint32_t changed[] = {a, b};
            const double then = cost.update(at, std::span(changed, b < shape.positions ? 2 : 1));
            CHECK(then == fresh.reset(at));
            if (random.coin()) {
                now = then;
                continue;
            }
            cost.undo();
            std::swap(at[a], at[b]);
            CHECK(cost.seconds() == now);
        }
    }
}

TEST_CASE("placement: as good as every order tried, for up to eight units and both objectives") {
    tests::Random random(11);
    for (const bool symmetric : {true, false}) {
        for (const auto& [pipelines, stages] : {std::pair{2, 3}, {3, 2}, {1, 6}, {2, 2}}) {
            const PipetteNumbers numbers{pipelines, stages, pipelines, 1, 0.03e9, 1.7e9, 0};
            const PlacementShape shape = pipette_shape(numbers, random_links(random, 7, symmetric));  // one spare or more
            CHECK(anneal(shape, {.seed = 1, .moves = 50'000, .restarts = 1}).seconds ==
                  doctest::Approx(tests::best_of_all(shape)).epsilon(1e-12));
        }
        for (const char* text : {kPlans[0], kPlans[1], kPlans[5]}) {
            const Job job = job_of(text);
            const PlacementShape shape = step_time_shape(job, job.plan, random_links(random, 8, symmetric), {});
            CHECK(anneal(shape, {.seed = 1, .moves = 50'000, .restarts = 1}).seconds ==
                  doctest::Approx(tests::best_of_all(shape)).epsilon(1e-12));
        }
    }
}

TEST_CASE("placement: two fast islands have the slow link where the least traffic is") {
    // four nodes, two stages of two: copies talk much, stages little; islands {0, 2} and {1, 3}
    Links links = links_of(4, 2e9);
    for (const auto& [a, b] : {std::pair{0, 2}, {1, 3}}) links.byte_per_s[a * 4 + b] = links.byte_per_s[b * 4 + a] = 100e9;
    const Job job = job_of(
        R"({"model": "llama-3.1-8b", "gpus": 32, "tensor_parallel": 8, "context_parallel": 1, "pipeline_parallel": 2, "micro_batch": 1,
            "global_batch": 16})");
    const PlacementShape shape = step_time_shape(job, job.plan, links, {});
    const AnnealingResult found = anneal(shape, {.seed = 1, .moves = 10'000, .restarts = 1});
    CHECK(found.seconds == doctest::Approx(tests::best_of_all(shape)).epsilon(1e-12));
    CHECK(found.seconds < 0.9 * found.default_seconds);
    CHECK((found.placement[0] ^ found.placement[1]) == 2);  // the two copies of a stage are on one island
    CHECK((found.placement[2] ^ found.placement[3]) == 2);
}

TEST_CASE("placement: never worse than given, a permutation, the same for the same seed, stopped when asked to") {
    tests::Random random(21);
    for (int i = 0; i < 30; ++i) {
        const PipetteNumbers numbers{random.from(1, 6), random.from(1, 6), random.from(1, 8), 1, 0.03e9, 1.7e9, 0};
        const auto positions = static_cast<std::size_t>(numbers.pipelines * numbers.stages);
        const PlacementShape shape =
            pipette_shape(numbers, random_links(random, positions + 1 + static_cast<std::size_t>(random.from(0, 3)), random.coin()));
        const std::int64_t moves = random.from(1, 20'000), restarts = random.from(1, 3);
        const AnnealingBudget budget{.seed = static_cast<std::uint64_t>(i), .moves = moves, .restarts = restarts};
        const AnnealingResult a = anneal(shape, budget), b = anneal(shape, budget);
        CHECK(a.placement == b.placement);
        CHECK(a.seconds == b.seconds);
        CHECK(a.seconds <= a.default_seconds);
        CHECK(is_permutation_of_units(a.placement, shape.units));
        CHECK(a.curve.size() <= 201);
        for (std::size_t k = 1; k < a.curve.size(); ++k)
            CHECK((a.curve[k].second <= a.curve[k - 1].second && a.curve[k].first > a.curve[k - 1].first));
        PlacementCost cost(shape);
        CHECK(cost.reset(a.placement) == doctest::Approx(a.seconds).epsilon(1e-12));
    }
    int asked = 0;
    const GoOn twice{[](void* count, std::int64_t, double) { return ++*static_cast<int*>(count) < 2; }, &asked};
    const AnnealingResult stopped =
        anneal(pipette_shape({2, 4, 2, 1, 1e8, 1e9, 0}, random_links(random, 8)), {.seed = 1, .moves = 1'000'000, .restarts = 1}, twice);
    CHECK(asked == 2);
    CHECK(stopped.stopped);
    CHECK(stopped.moves == 2 * 16'384);
}

TEST_CASE("placement: a slow node goes where it slows least, a spare takes its place") {
    const Job job = job_of(kPlans[0]);
    const double even = anneal(step_time_shape(job, job.plan, links_of(9, 50e9), {}), {.seed = 1, .moves = 1000, .restarts = 1}).seconds;
    UnitSpeeds speeds(9, 1.0);
    speeds[3] = 0.5;
    const AnnealingResult found =
        anneal(step_time_shape(job, job.plan, links_of(9, 50e9), speeds), {.seed = 1, .moves = 20'000, .restarts = 1});
    CHECK(found.default_seconds > 1.5 * even);
    CHECK(found.seconds == doctest::Approx(even).epsilon(1e-9));
    CHECK(found.placement[8] == 3);
}

TEST_CASE("place of the API: bare, with a job, between GPUs, of several plans") {
    const PublishedCase c = published_cases()[0];
    const Json bare = place(bare_request(c, R"({"moves": 200000})"));
    CHECK(1000 * bare["default_seconds"].get<double>() == doctest::Approx(c.identity).epsilon(1e-5));  // links_to_json keeps 6 digits
    CHECK(bare["gain_share"].get<double>() > 0.7);
    CHECK(bare["low_gain_share"] <= bare["gain_share"]);
    CHECK(bare["high_gain_share"] >= bare["gain_share"]);
    CHECK(bare["positions"][9]["stages"] == json("[1, 1]"));
    CHECK(bare["files"].size() == 4);

    tests::Random random(4);
    Json request = json(kPlans[0]);
    request["links"] = links_to_json(random_links(random, 9));
    request["moves"] = 20'000;
    request["units"] = json(R"([{"name": "n8", "memory_gib": 16}])");
    const Json answer = place(request.dump());
    CHECK(answer["best_seconds"] <= answer["default_seconds"]);
    CHECK(answer["spare"].size() == 1);
    CHECK(answer["critical"]["best"]["pipeline"]["links"].size() == 3);
    CHECK(answer["positions"][2]["stages"] == json("[1, 1]"));
    CHECK(answer["positions"][1]["data_ranks"] == json("[4, 7]"));

    request["candidates"] = json(R"([{"pipeline_parallel": 2}, {"pipeline_parallel": 4}, {"pipeline_parallel": 1}])");
    const Json ranked = place(request.dump());
    CHECK(ranked["ranked"].size() == 3);
    CHECK(ranked["ranked"][0]["best_seconds"] <= ranked["ranked"][1]["best_seconds"]);

    Json between = json(kPlans[0]);
    between["gpus"] = 16;
    between["links"] = links_to_json(random_links(random, 16));
    between["links"]["gpus"] = between["links"]["nodes"];
    between["links"].erase("nodes");
    between["moves"] = 20'000;
    const Json gpus = place(between.dump());
    CHECK(gpus["units"] == "gpus");
    CHECK(gpus["placement"].size() == 16);
    CHECK(gpus["files"].empty());
    CHECK(gpus["best_seconds"] < gpus["default_seconds"]);
}

TEST_CASE("place of the API: what is wrong is named, all at once") {
    const PublishedCase c = published_cases()[0];
    const auto problems = [](const std::string& request) { return tests::brief(place(request)["problems"]); };
    CHECK(problems("{}") == "links missing null -> null");
    CHECK(problems(bare_request(c, R"({"moves": -1, "objective": "speed"})")).find("moves range -1") != std::string::npos);
    CHECK(problems(bare_request(c, R"({"moves": -1, "objective": "speed"})")).find("objective range \"speed\"") != std::string::npos);
    CHECK(problems(bare_request(c, R"({"objective": "step_time"})")).find("objective range") == 0);
    CHECK(problems(bare_request(c, R"({"seed": -1, "restarts": "x", "unheard": 1})")).find("unheard unknown") != std::string::npos);
    PublishedCase more = c;
    more.numbers.stages = 9;
    CHECK(problems(bare_request(more, "{}")) == "pipette range 18 -> null");
    Json request = json(kPlans[0]);
    request["links"] = links_to_json(links_of(7, 1e9));
    CHECK(problems(request.dump()) == "gpus range 8 -> null");
    request["units"] = json(R"([{"name": "elsewhere"}, {"name": "n1", "speed": 0}, 3])");
    CHECK(problems(request.dump()).find("units[0].name range") == 0);
    request.erase("units");
    request["links"] = links_to_json(links_of(8, 1e9));
    request["candidates"] = json(R"([{"tensor_parallel": 3}, 1])");
    CHECK(problems(request.dump()).find("candidates[0].") == 0);
    request["links"]["gbyte_per_s"][2][1] = -1;
    CHECK_FALSE(problems(request.dump()).empty());
}
