// Reading short decimal numbers fast and exactly.
#pragma once
#include <cstdint>

namespace fourfold {

// Reads "12", "-4.75", "1.5e-3": up to 15 digits, times or over a power of ten that a double holds exactly, so that one correctly rounded
// operation gives the double nearest to the text (W. Clinger: How to Read Floating Point Numbers Accurately, PLDI 1990, section 4).
// Returns where the number ends; nullptr, and `value` untouched, for any other text: longer numbers, blanks, "inf", hexadecimal.
inline const char* read_decimal(const char* text, double& value) {
    constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    constexpr int kMostDigits = 15, kMostPower = 22;
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    const bool negative = *text == '-';
    const char* at = text + (negative ? 1 : 0);
    std::int64_t digits = 0;
    int count = 0, power = 0;
    for (; digit(*at) && count <= kMostDigits; ++at, ++count) digits = 10 * digits + (*at - '0');
    if (count == 0 || count > kMostDigits || *at == 'x' || *at == 'X') return nullptr;
    if (*at == '.' && digit(at[1]))
        for (++at; digit(*at) && count <= kMostDigits; ++at, ++count, --power) digits = 10 * digits + (*at - '0');
    if (count > kMostDigits || *at == '.') return nullptr;
    if (*at == 'e' || *at == 'E') {
        ++at;
        const bool down = *at == '-';
        if (down || *at == '+') ++at;
        int exponent = 0, places = 0;
        for (; digit(*at) && places < 3; ++at, ++places) exponent = 10 * exponent + (*at - '0');
        if (places == 0 || digit(*at)) return nullptr;
        power += down ? -exponent : exponent;
    }
    if (power < -kMostPower || power > kMostPower) return nullptr;
    const auto whole = static_cast<double>(digits);
    const double magnitude = power < 0 ? whole / kPowers[-power] : whole * kPowers[power];
    value = negative ? -magnitude : magnitude;
    return at;
}

}  // namespace fourfold
