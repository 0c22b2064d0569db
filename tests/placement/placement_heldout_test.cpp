// How near a short search comes to the best known placement on cases that the annealer was not tuned on (it was on
// tests/measured/placement_cases.json): other sizes and other structures. tests/measured/placement_heldout.json lists them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "memory/measured_runs.h"
#include "placement/annealing.h"
#include "placement/model.h"
#include "support.h"

using namespace fourfold;

namespace {

struct Case {
    std::string name;
    PlacementShape shape;
    double default_seconds, best_known;
};

double between(Random& random, double low, double high) { return low + (high - low) * (random.below(1'000'001) / 1e6); }

// GB/s between units `a` and `b`, without noise. Units are in racks and islands by `place`, a random order of them.
double rate_of(const std::string& kind, std::uint32_t a, std::uint32_t b) {
    if (kind == "islands") return a / 8 == b / 8 ? 45 : 6;  // of 8; of 4 where there are 8 nodes
    if (kind == "racks") return a / 4 == b / 4 ? 50 : a / 16 == b / 16 ? 25 : 12;
    return 25;
}
double noise_of(const std::string& kind) { return kind == "noisy" ? 0.3 : kind == "asymmetric" ? 0.6 : 0.05; }

// Where each unit stands among racks and islands.
std::vector<std::uint32_t> order_of(std::uint32_t nodes, Random& random) {
    std::vector<std::uint32_t> place;
    for (std::uint32_t i = 0; i < nodes; ++i) place.push_back(i);
    for (std::uint32_t i = nodes - 1; i > 0; --i) std::swap(place[i], place[random.below(i + 1)]);
    return place;
}

Links links_of(const std::string& kind, std::uint32_t nodes, std::uint64_t seed) {
    Random random(seed);
    Links links;
    for (std::uint32_t i = 0; i < nodes; ++i) links.names.push_back("n" + std::to_string(i));
    const std::vector<std::uint32_t> place = order_of(nodes, random);
    links.byte_per_s.assign(std::size_t{nodes} * nodes, 0);
    const auto rate = [&](std::uint32_t a, std::uint32_t b) -> double& { return links.byte_per_s[std::size_t{a} * nodes + b]; };
    const double noise = noise_of(kind);
    const std::uint32_t shrink = kind == "islands" && nodes < 16 ? 2 : 1;
    for (std::uint32_t a = 0; a < nodes; ++a)
        for (std::uint32_t b = 0; b < a; ++b)
            for (const bool back : {false, true}) {
                const double here = 1e9 * rate_of(kind, shrink * place[a], shrink * place[b]) * between(random, 1 - noise, 1 + noise);
                rate(back ? b : a, back ? a : b) = back && kind != "asymmetric" ? rate(a, b) : here;
            }
    if (kind == "slow_links")  // one in twenty, at 10 to 40 %
        for (std::uint32_t i = 0; i < nodes * (nodes - 1) / 40; ++i) {
            const std::uint32_t a = random.below(nodes), b = (a + 1 + random.below(nodes - 1)) % nodes;
            rate(a, b) = rate(b, a) = rate(a, b) * between(random, 0.1, 0.4);
        }
    return links;
}

PlacementShape shape_of(const Json& row) {
    const Links links = links_of(row[0], row[1], row[2]);
    if (row[5].is_null()) {
        const double data = 13.6e9 / row[4].get<double>();  // gradients of a model, shared among the stages
        return pipette_shape({row[3], row[4], row[3], 1, 0.034e9, data, 0}, links);
    }
    Json request = row[5];
    request.update({{"context_parallel", 1}, {"micro_batch", 1}, {"cluster", "dgx-h100"}});
    Problems problems;
    auto job = read_job(request.dump(), Request::estimate, problems);
    CHECK_MESSAGE(resolve(*job, problems), tests::brief(problems));
    return step_time_shape(*job, job->plan, links, {});
}

std::vector<Case> cases() {
    std::vector<Case> list;
    for (const Json& row : tests::measured_table("placement_heldout")["rows"])
        list.push_back({row[0].get<std::string>() + " " + std::to_string(row[1].get<int>()) + (row[5].is_null() ? "" : " step time"),
                        shape_of(row), row[6], row[7]});
    return list;
}

// By how much each is above the best known after so many moves.
std::vector<double> ratios(std::int64_t moves, std::string& each) {
    std::vector<double> list;
    for (const Case& c : cases()) {
        const AnnealingResult found = anneal(c.shape, {.seed = 1, .moves = moves, .restarts = 4});
        CHECK_MESSAGE(found.default_seconds == doctest::Approx(c.default_seconds).epsilon(1e-9), c.name);
        list.push_back(found.seconds / c.best_known);
        each += "\n  " + c.name + ": " + std::to_string(list.back());
    }
    return list;
}
double geometric_mean(const std::vector<double>& list) {
    double logs = 0;
    for (const double x : list) logs += std::log(x);
    return std::exp(logs / static_cast<double>(list.size()));
}

}  // namespace

// Ten minutes: prints the last two columns of placement_heldout.json.
TEST_CASE("placement: best known of the held-out cases" * doctest::skip()) {
    for (const Case& c : cases()) {
        double best = INFINITY, first = 0;
        for (std::uint64_t seed = 1; seed <= 10; ++seed) {
            const std::int64_t moves = c.shape.units <= 24 ? 10'000'000 : 50'000'000;
            const AnnealingResult found = anneal(c.shape, {.seed = 1000 + seed, .moves = moves, .restarts = 1});
            best = std::min(best, found.seconds), first = found.default_seconds;
        }
        MESSAGE(c.name, ", ", Json(first).dump(), ", ", Json(best).dump());
    }
}

// place()'s usual budget: half a second a case, a second in the module.
TEST_CASE("placement: the usual moves on the held-out cases" * doctest::skip()) {
    std::string each;
    const std::vector<double> found = ratios(6'000'000, each);
    MESSAGE("geometric mean ", geometric_mean(found), each);
}

// Half of the usual budget, so that the module's test takes some seconds. The first 12 rows showed a weakness of an earlier search, which
// began in the order given (1.066: on 64 nodes in racks it ended at twice the best known), and so led to Annealer::chain(); the rows with
// seeds from 201 on were made after it.
TEST_CASE("placement: three million moves against the best known of cases that the search was not tuned on" *
          doctest::test_suite("quality")) {
    std::string each;
    const std::vector<double> found = ratios(3'000'000, each);
    CHECK(found.size() == 22);
    MESSAGE("geometric mean ", geometric_mean(found), each);
    const std::vector<double> before(found.begin(), found.begin() + 12), after(found.begin() + 12, found.end());
    CHECK(geometric_mean(before) <= 1.01);
    CHECK(geometric_mean(after) <= 1.01);
    CHECK(*std::max_element(found.begin(), found.end()) <= 1.03);
    CHECK(*std::min_element(found.begin(), found.end()) >= 1 - 1e-9);
}

// Whole islands of fast links, as racks and pods are, and as many stages: the step time of the nodes sorted by island, known by how the
// case was made, against what the search finds.
TEST_CASE("placement: the search does no worse than nodes sorted by island") {
    for (const auto& [kind, nodes, stages] :
         {std::tuple{"islands", 32U, 4}, {"islands", 32U, 8}, {"islands", 64U, 8}, {"racks", 64U, 4}, {"racks", 128U, 8}}) {
        constexpr std::uint64_t seed = 1;
        const PlacementShape shape = shape_of(Json::array({kind,
                                                           nodes,
                                                           seed,
                                                           0,
                                                           0,
                                                           {{"model", "llama-3.1-70b"},
                                                            {"gpus", 8 * nodes},
                                                            {"tensor_parallel", 8},
                                                            {"pipeline_parallel", stages},
                                                            {"global_batch", 1024}},
                                                           0,
                                                           0}));
        Random random(seed);
        std::vector<std::uint32_t> place = order_of(nodes, random);
        Placement sorted(nodes);
        for (std::uint32_t i = 0; i < nodes; ++i) sorted[place[i]] = i;
        PlacementCost cost(shape);
        const double by_island = cost.reset(sorted), found = anneal(shape, {.seed = 1, .moves = 500'000, .restarts = 4}).seconds;
        MESSAGE(std::string(kind), " ", nodes, ", ", stages, " stages: sorted ", by_island, " s, found ", found, " s, ", found / by_island);
        CHECK(found <= by_island);
    }
}
