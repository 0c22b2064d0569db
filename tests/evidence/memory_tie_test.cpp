// The width within which two plans need as much memory (tie.h), from the order of measured plans that the estimate puts close together.
#include <doctest/doctest.h>

#include <cmath>
#include <tuple>

#include "base/tie.h"
#include "evidence/memory_rows.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {

struct Bytes {
    double estimated, measured;  // logarithms
};

// By source, job and model: the runs of one differ in the plan alone.
std::map<std::tuple<std::string, std::int64_t, std::string>, std::vector<Bytes>> measured_plans() {
    std::vector<std::string> defects;
    std::vector<EvidenceSource> sources = read_evidence(FOURFOLD_EVIDENCE, defects);
    for (EvidenceSource& source : sources) std::erase_if(source.rows, [](const EvidenceRow& row) { return !is_memory_row(row); });
    std::map<std::tuple<std::string, std::int64_t, std::string>, std::vector<Bytes>> jobs;
    for (const auto& [source, row, answer] : answer_all(sources, defects)) {
        const double estimated = answer.peak_bytes.at(row->row.value("stage", std::size_t{0})), measured = row->row["peak_bytes"];
        jobs[{source->name, row->job, answer.model}].push_back({std::log(estimated), std::log(measured)});
    }
    CHECK(defects.empty());
    return jobs;
}

struct Order {
    int pairs = 0, right = 0;
    double share() const { return pairs == 0 ? 0 : static_cast<double>(right) / pairs; }
};
// Pairs of one job whose estimates differ, by `low` to `high`.
Order order_of_pairs(double low, double high) {
    static const auto jobs = measured_plans();
    Order order;
    for (const auto& [job, plans] : jobs)
        for (std::size_t i = 0; i < plans.size(); ++i)
            for (std::size_t j = 0; j < i; ++j) {
                const double estimated = plans[i].estimated - plans[j].estimated, measured = plans[i].measured - plans[j].measured;
                if (estimated == 0 || std::abs(estimated) < low || std::abs(estimated) >= high) continue;
                ++order.pairs;
                order.right += estimated * measured > 0 ? 1 : 0;
            }
    return order;
}

}  // namespace

TEST_CASE("tie width of memory: closer than that the order is a coin, farther apart it is not" * doctest::test_suite("quality")) {
    const Order within = order_of_pairs(0, kMemoryTieWidth), next = order_of_pairs(kMemoryTieWidth, 0.01),
                beyond = order_of_pairs(0.01, 0.05);
    MESSAGE("ordered rightly: " << within.right << " of " << within.pairs << " pairs within the width, " << next.right << " of "
                                << next.pairs << " from there to 1 %, " << beyond.right << " of " << beyond.pairs << " from 1 to 5 %");
    CHECK(within.pairs >= 100);
    CHECK(within.share() <= 0.58);  // as for times (time/tie_width_test.cpp)
    CHECK(next.share() > 0.8);
    CHECK(beyond.share() > 0.98);
}
