#include "base/decimal.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "doctest/doctest.h"
#include "random_cases.h"

using fourfold::read_decimal;

TEST_CASE("decimal numbers: the double that strtod gives, to the last bit, and the same end") {
    fourfold::tests::Random random(5);
    int read = 0;
    for (int i = 0; i < 200'000; ++i) {
        char text[64];
        const int digits = static_cast<int>(random.from(1, 17)), form = static_cast<int>(random.from(0, 2));
        const double number = (random.coin() ? -1 : 1) * std::exp(static_cast<double>(random.from(-60, 60))) *
                              (1 + 1e-9 * static_cast<double>(random.from(0, 999'999'999)));
        std::snprintf(text, sizeof text, form == 0 ? "%.*g,1" : form == 1 ? "%.*e]" : "%.*f}", form == 2 ? digits % 7 : digits, number);
        double ours = 0;
        char* end = nullptr;
        const double theirs = std::strtod(text, &end);
        const char* ours_end = read_decimal(text, ours);
        if (ours_end == nullptr) continue;
        ++read;
        CAPTURE(text);
        CHECK(ours == theirs);
        CHECK(std::signbit(ours) == std::signbit(theirs));
        CHECK(ours_end == end);
    }
    CHECK(read > 50'000);
}

TEST_CASE("decimal numbers: what is not short and plain is left to strtod") {
    double value = 7;
    for (const char* text : {"", "-", "+1", " 1", ".5", "1.", "1.e3", "1e", "1e+", "0x10", "inf", "nan", "1234567890123456",
                             "0.1234567890123456", "1e23", "1e-23", "1e1000"}) {
        CAPTURE(text);
        CHECK(read_decimal(text, value) == nullptr);
        CHECK(value == 7);
    }
    const char* text = "-0";
    CHECK(read_decimal(text, value) == text + std::strlen(text));
    CHECK((value == 0 && std::signbit(value)));
}
