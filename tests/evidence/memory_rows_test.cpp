// The detailed estimate, asked through api::estimate, against allocated bytes that others measured. Families of rows apart; nothing is
// fitted to single rows.
#include <doctest/doctest.h>

#include "evidence/memory_rows.h"

using namespace fourfold::tests;

TEST_CASE("memory of a request, against what Megatron-LM's tests and SimuMax measured" * doctest::test_suite("quality")) {
    struct Expected {
        const char* family;
        int rows;
        double mean, large, most, between;  // relative errors at most: mean of the peak, the same of large models, its worst, between steps
    };
    std::vector<std::string> defects;
    std::vector<EvidenceSource> sources = read_evidence(FOURFOLD_EVIDENCE, defects);
    for (EvidenceSource& source : sources) std::erase_if(source.rows, [](const EvidenceRow& row) { return !is_memory_row(row); });
    const auto families = memory_residuals(answer_all(sources, defects));
    MESSAGE("by family:\n" << memory_table(families));
    for (const std::string& defect : defects) FAIL_CHECK(defect);
    for (const Expected& e :
         {Expected{"megatron-ci-dense", 233, 0.0055, 0.0045, 0.065, 0.008}, Expected{"megatron-ci-experts", 77, 0.018, 0.04, 0.075, 0.009},
          Expected{"simumax-memory", 15, 0.003, 0.003, 0.01, 0}}) {
        CAPTURE(e.family);
        const auto found = families.find(e.family);
        if (found == families.end()) {
            FAIL_CHECK("no such rows");
            continue;
        }
        const MemoryResiduals& f = found->second;
        CHECK(f.peak.rows == e.rows);
        CHECK(f.peak.mean() <= e.mean);
        CHECK(f.peak_large.mean() <= e.large);
        CHECK(f.peak.most <= e.most);
        CHECK(f.between.mean() <= e.between);
    }
}
