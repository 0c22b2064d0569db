// Rows that say how long a sequence fitted: "longest_sequence", in tokens, beside the answer to the reverse question (answer/limits.h) with
// everything else as the row has it.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "evidence/table.h"

namespace fourfold::tests {

// Of a family: estimated over published, less 1.
struct LongestErrors {
    int rows = 0;
    double within = 0;  // part of the rows that lie within kAskedOfLongest
    double mean = 0, bias = 0, most = 0;
    std::string worst;
};
inline constexpr double kAskedOfLongest = 0.15;

struct LongestRow {
    const AnsweredRow* row;
    double published, estimated;  // 0: none fits
};
std::vector<LongestRow> longest_rows(const std::vector<AnsweredRow>& rows);
std::map<std::string, LongestErrors> longest_errors(const std::vector<LongestRow>& rows);

}  // namespace fourfold::tests
