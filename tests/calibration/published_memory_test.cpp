// Published memory: calibrate with some of a model's runs, predict the others. A correction must not make a family of them worse.
#ifdef FOURFOLD_EVIDENCE
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "calibration/calibration.h"
#include "evidence/memory_rows.h"
#include "random_cases.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {

struct MemoryErrors {
    double before = 0, after = 0;
    int runs = 0, draws = 0, corrected = 0;
};

void draw(std::vector<FitRow> rows, std::size_t count, Random& random, MemoryErrors& errors) {
    const auto last = static_cast<std::int64_t>(rows.size()) - 1;
    for (std::size_t i = 0; i < count; ++i)
        std::swap(rows[i], rows[static_cast<std::size_t>(random.from(static_cast<std::int64_t>(i), last))]);
    const std::vector<FitRow> drawn(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(count));
    const MemoryProposal proposal = propose_memory(drawn, count);
    ++errors.draws;
    errors.corrected += proposal.how.kind == MemoryCorrection::Kind::none ? 0 : 1;
    for (std::size_t i = count; i < rows.size(); ++i, ++errors.runs) {
        errors.before += std::abs(rows[i].measured / rows[i].estimated - 1);
        errors.after += std::abs(rows[i].measured / proposal.how.bytes(rows[i].estimated) - 1);
    }
}

// What is left of the errors when all rows are corrected by the middle of their ratios: no factor takes that away.
double scatter(const std::map<std::string, std::vector<FitRow>>& models) {
    double sum = 0, count = 0;
    for (const auto& [model, rows] : models) {
        std::vector<double> ratios;
        for (const FitRow& row : rows) ratios.push_back(row.measured / row.estimated);
        std::sort(ratios.begin(), ratios.end());
        for (const double ratio : ratios) sum += std::abs(ratio / ratios[ratios.size() / 2] - 1), ++count;
    }
    return sum / count;
}

}  // namespace

TEST_SUITE_BEGIN("quality");

TEST_CASE("published memory: what some runs teach never harms the others, and helps where a stack differs by a factor") {
    constexpr int kDraws = 20;
    constexpr std::size_t kFewestOthers = 3;
    std::vector<std::string> defects;
    std::vector<EvidenceSource> sources = read_evidence(FOURFOLD_EVIDENCE, defects);
    for (EvidenceSource& source : sources) std::erase_if(source.rows, [](const EvidenceRow& row) { return !is_memory_row(row); });
    std::map<std::string, std::map<std::string, std::vector<FitRow>>> families;
    for (const auto& [source, row, answer] : answer_all(sources, defects)) {
        const auto stage = row->row.value("stage", std::size_t{0});
        if (stage >= answer.peak_bytes.size()) continue;
        families[row->row.value("family", source->name)][row->row.value("model", "")].push_back(
            {answer.plan, row->row["peak_bytes"].get<double>(), answer.peak_bytes[stage]});
    }
    CHECK(families.size() >= 2);
    for (const double stack : {1.0, 1.06})  // as measured; and as by a stack that holds 6 % more
        for (const auto& [name, models] : families)
            for (const std::size_t count : {3, 5, 10}) {
                Random random(7);
                MemoryErrors errors;
                for (auto [model, rows] : models) {
                    for (FitRow& row : rows) row.measured *= stack;
                    for (int i = 0; rows.size() >= count + kFewestOthers && i < kDraws; ++i) draw(rows, count, random, errors);
                }
                if (errors.runs == 0) continue;
                const double before = errors.before / errors.runs, after = errors.after / errors.runs;
                MESSAGE(name << " times " << stack << ", " << count << " runs: " << 100 * before << " % before, " << 100 * after
                             << " % after, corrected " << errors.corrected << " times of " << errors.draws);
                CHECK(after <= before + 0.0005);
                if (stack > 1 && before > 0.05 && scatter(models) < 0.5 * before) CHECK(after <= 0.6 * before);
            }
}

TEST_SUITE_END();
#endif
