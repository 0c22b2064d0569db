// Rows that say how many bytes one GPU held, beside what the core answers for that stage: megatron-ci.jsonl, simumax-memory.jsonl. Such a
// row has "peak_bytes" (the most that was allocated), often "static_bytes" (between two steps), the "stage" measured, a "family" of rows to
// be judged together, and "large" where the weights on the GPU are more than 1 GiB.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "evidence/table.h"

namespace fourfold::tests {

// Relative errors of some rows.
struct Residuals {
    int rows = 0;
    double sum = 0, signed_sum = 0, most = 0;
    std::string worst;  // whose error is `most`

    void add(double estimated, double measured, const std::string& id);
    double mean() const { return rows == 0 ? 0 : sum / rows; }
    double bias() const { return rows == 0 ? 0 : signed_sum / rows; }  // > 0: too much is estimated
};
// Of one family of rows.
struct MemoryResiduals {
    Residuals peak, peak_small, peak_large, between;  // at the peak: of all models, and of each size; between two steps
};

bool is_memory_row(const EvidenceRow& row);

// By family.
std::map<std::string, MemoryResiduals> memory_residuals(const std::vector<AnsweredRow>& rows);

// A line each: rows, mean, most, bias, and which row is the worst.
std::string memory_table(const std::map<std::string, MemoryResiduals>& families);

}  // namespace fourfold::tests
