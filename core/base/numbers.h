// Small tools for numbers.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace fourfold {

inline double number(std::int64_t value) { return static_cast<double>(value); }

// Stages, chunks, micro-batches: nobody counts more of them than a million.
inline std::int32_t narrow(std::int64_t value) { return static_cast<std::int32_t>(std::min<std::int64_t>(value, 1'000'000)); }

// The nearest number of so many decimal digits, which prints as short as that.
double significant(double value, int digits);
std::string number_text(double value, int digits);

// 1 for none.
double median(std::vector<double> values);

}  // namespace fourfold
