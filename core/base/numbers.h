// Small tools for numbers.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace fourfold {

inline double number(std::int64_t value) { return static_cast<double>(value); }

// The nearest number of so many decimal digits, which prints as short as that.
double significant(double value, int digits);
std::string number_text(double value, int digits);

// 1 for none.
double median(std::vector<double> values);

}  // namespace fourfold
