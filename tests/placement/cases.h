// Cases with a best known placement: those that the search was tuned on (tests/measured/placement_cases.json) and those that it was not
// (placement_heldout.json).
#pragma once
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "memory/measured_runs.h"
#include "placement/annealing.h"
#include "placement/model.h"
#include "support.h"

namespace fourfold::tests {

// ---- published with Pipette
inline Links links_of(std::size_t n, double byte_per_s) {
    Links links;
    for (std::size_t i = 0; i < n; ++i) links.names.push_back("n" + std::to_string(i));
    links.byte_per_s.assign(n * n, byte_per_s);
    for (std::size_t i = 0; i < n; ++i) links.byte_per_s[i * n + i] = 0;
    return links;
}

struct PublishedCase {
    PipetteNumbers numbers;
    Links links;
    double identity, after_1s, after_30s, best;  // ms
};
inline std::vector<PublishedCase> published_cases() {
    const Json& table = measured_table("placement_cases");
    std::vector<PublishedCase> cases;
    for (const Json& row : table["rows"]) {
        PublishedCase one{{row[1], row[2], row[3], row[4], row[5].get<double>() * 1e9, row[6].get<double>() * 1e9, 200e9},
                          {},
                          row[7],
                          row[8],
                          row[9],
                          row[10]};
        const Json& rows = table["matrices"][row[0].get<std::string>()];
        const std::size_t n = rows.size() + 1;
        one.links = links_of(n, 0);
        for (std::size_t a = 1; a < n; ++a)
            for (std::size_t b = 0; b < a; ++b)
                one.links.byte_per_s[a * n + b] = one.links.byte_per_s[b * n + a] = rows[a - 1][b].get<double>() * 1e9;
        cases.push_back(std::move(one));
    }
    return cases;
}

// ---- held out
struct HeldOutCase {
    std::string name;
    PlacementShape shape;
    double default_seconds, best_known;
};

inline double between(Random& random, double low, double high) { return low + (high - low) * (random.below(1'000'001) / 1e6); }

// GB/s between units `a` and `b`, without noise. Units are in racks and islands by `place`, a random order of them.
inline double rate_of(const std::string& kind, std::uint32_t a, std::uint32_t b) {
    if (kind == "islands") return a / 8 == b / 8 ? 45 : 6;  // of 8; of 4 where there are 8 nodes
    if (kind == "racks") return a / 4 == b / 4 ? 50 : a / 16 == b / 16 ? 25 : 12;
    return 25;
}
inline double noise_of(const std::string& kind) { return kind == "noisy" ? 0.3 : kind == "asymmetric" ? 0.6 : 0.05; }

// Where each unit stands among racks and islands.
inline std::vector<std::uint32_t> order_of(std::uint32_t nodes, Random& random) {
    std::vector<std::uint32_t> place;
    for (std::uint32_t i = 0; i < nodes; ++i) place.push_back(i);
    for (std::uint32_t i = nodes - 1; i > 0; --i) std::swap(place[i], place[random.below(i + 1)]);
    return place;
}

inline Links links_of(const std::string& kind, std::uint32_t nodes, std::uint64_t seed) {
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

inline PlacementShape shape_of(const Json& row) {
    const Links links = links_of(row[0], row[1], row[2]);
    if (row[5].is_null()) {
        const double data = 13.6e9 / row[4].get<double>();  // gradients of a model, shared among the stages
        return pipette_shape({row[3], row[4], row[3], 1, 0.034e9, data, 0}, links);
    }
    Json request = row[5];
    request.update({{"context_parallel", 1}, {"micro_batch", 1}, {"cluster", "dgx-h100"}, {"overlap_pipeline", false}});
    Problems problems;
    auto job = read_job(request.dump(), Request::estimate, problems);
    CHECK_MESSAGE(resolve(*job, problems), brief(problems));
    return step_time_shape(*job, job->plan, links, {});
}

inline std::vector<HeldOutCase> held_out_cases() {
    std::vector<HeldOutCase> list;
    for (const Json& row : measured_table("placement_heldout")["rows"])
        list.push_back({row[0].get<std::string>() + " " + std::to_string(row[1].get<int>()) + (row[5].is_null() ? "" : " step time"),
                        shape_of(row), row[6], row[7]});
    return list;
}

inline double geometric_mean(const std::vector<double>& list) {
    double logs = 0;
    for (const double x : list) logs += std::log(x);
    return std::exp(logs / static_cast<double>(list.size()));
}

}  // namespace fourfold::tests
