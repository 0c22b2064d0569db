#include "base/numbers.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "base/words.h"

namespace fourfold {

double significant(double value, int digits) {
    constexpr double kMostPower = 1e18;  // below 10^22, so that every power of ten here is exact
    if (!(value > 0) || !std::isfinite(value)) return value;
    double least = 1, most = 10, up = 1, down = 1;
    for (int i = 1; i < digits; ++i) least *= 10, most *= 10;
    while (value * up / down < least && up < kMostPower) up *= 10;
    while (value * up / down >= most && down < kMostPower) down *= 10;
    return std::round(value * up / down) * down / up;  // powers of ten are exact: the quotient is the number as it would be written
}

std::string number_text(double value, int digits) {
    std::string text = Json(significant(value, digits)).dump();
    if (text.ends_with(".0")) text.resize(text.size() - 2);
    return text;
}

double median(std::vector<double> values) {
    if (values.empty()) return 1;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return values.size() % 2 == 1 ? *middle : (*std::max_element(values.begin(), middle) + *middle) / 2;
}

}  // namespace fourfold
