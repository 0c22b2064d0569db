// The width of a tie (tie.h), from plans that were measured twice and from the order of plans that the model puts close together.
#include "base/tie.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "time/timed_runs.h"

using namespace fourfold;
using tests::Run;

namespace {

// Everything that a run of Hagemann's sweeps is described by; sequence parallelism has no effect without tensor parallelism, and so the
// sweep over it measured some plans twice. (Other tables repeat plans with other releases of a framework only: 3 to 6 % apart.)
std::string settings_of(const Run& run) {
    Plan plan = run.plan;
    if (plan.tensor_parallel == 1) plan.sequence_parallel = false;
    Json written = Json::object();
    visit_fields(plan, FieldWriter(written));
    return run.model.label + written.dump();
}

// How far two measurements of one plan lie apart.
std::vector<double> repeats() {
    std::map<std::string, double> first;
    std::vector<double> differences;
    for (const Run& run : tests::measured_runs()) {
        if (run.family != "hagemann" || !run.ran()) continue;
        const auto [known, is_new] = first.emplace(settings_of(run), run.step_time_s);
        if (!is_new) differences.push_back(std::abs(std::log(run.step_time_s / known->second)));
    }
    std::sort(differences.begin(), differences.end());
    return differences;
}

struct Order {
    int pairs = 0, right = 0;
    double share() const { return pairs == 0 ? 0 : static_cast<double>(right) / pairs; }
};
// Pairs of one job whose estimates lie from `low` to `high` apart.
Order order_of_pairs(double low, double high) {
    struct Times {
        double estimated, measured;
    };
    std::map<std::pair<std::string, std::int64_t>, std::vector<Times>> jobs;
    for (const Run& run : tests::measured_runs())
        if (run.ran() && run.step_time_s > 0 && layers_per_chunk(run.model, run.plan))
            jobs[{run.family, run.job}].push_back({std::log(tests::seconds_of(run)), std::log(run.step_time_s)});
    Order order;
    for (const auto& job : jobs)
        for (std::size_t i = 0; i < job.second.size(); ++i)
            for (std::size_t j = 0; j < i; ++j) {
                const double estimated = job.second[i].estimated - job.second[j].estimated;
                const double measured = job.second[i].measured - job.second[j].measured;
                if (std::abs(estimated) < low || std::abs(estimated) >= high) continue;
                ++order.pairs;
                order.right += estimated * measured > 0 ? 1 : 0;
            }
    return order;
}

}  // namespace

TEST_CASE("tie width: what plans measured twice say") {
    const std::vector<double> differences = repeats();
    REQUIRE(differences.size() == 6);  // 0.27, 0.34, 0.79, 0.84, 1.06, 1.14 %
    const double median = (differences[2] + differences[3]) / 2;
    CHECK(median == doctest::Approx(0.0081).epsilon(0.02));
    CHECK(differences.back() < kTieWidth);
    // normal noise: half of all differences are below 0.6745 of their standard deviation, four fifths below 1.2816:
    // 0.81 % / 0.6745 * 1.2816 = 1.54 %
    const double width = median / 0.6745 * 1.2816;
    MESSAGE("one difference in five is above " << 100 * width << " %");
    CHECK(std::abs(width - kTieWidth) <= 0.001);
}

TEST_CASE("tie width: closer than that the model's order is a coin, farther apart it is not") {
    const Order within = order_of_pairs(0, kTieWidth), next = order_of_pairs(kTieWidth, 2 * kTieWidth), beyond = order_of_pairs(0.03, 0.05);
    MESSAGE("ordered rightly: " << within.right << " of " << within.pairs << " pairs within the width, " << next.right << " of "
                                << next.pairs << " from there to twice of it, " << beyond.right << " of " << beyond.pairs
                                << " from 3 to 5 %");
    CHECK(within.pairs >= 100);
    CHECK(within.share() <= 0.58);  // a coin's share is 50 +- 4 % for so many
    CHECK(next.share() > within.share());
    CHECK(beyond.share() >= 0.7);
}
