// JSON as text: what Json::dump writes, for every answer and for texts that are hard to quote.
#include "json_text.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "embedded_tests.h"
#include "random_cases.h"

using namespace fourfold;

namespace {

std::string dumped(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

TEST_CASE("json text: small values") {
    CHECK(json_text(nullptr) == "null");
    CHECK(json_text(true) == "true");
    CHECK(json_text(Json::array()) == "[]");
    CHECK(json_text(Json::object()) == "{}");
    CHECK(json_text(tests::json(R"({"b": [1, -2.5, "x"], "a": {"c": null}})")) == R"({"a":{"c":null},"b":[1,-2.5,"x"]})");
    CHECK(json_text(1.0) == "1.0");
    CHECK(json_text(std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615");
    CHECK(json_text(std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
    CHECK(json_text(std::nan("")) == "null");
    CHECK(json_text(INFINITY) == "null");
    CHECK(json_text(std::string("a\"\\\n\t\x01\x1f\x7f/") + "é·😀") == "\"a\\\"\\\\\\n\\t\\u0001\\u001f\x7f/é·😀\"");
}

TEST_CASE("json text: bytes that are no UTF-8 never reach an answer") {
    CHECK(json_text("a\xff"
                    "b") ==
          "\"a\xEF\xBF\xBD"
          "b\"");
    for (const char* wrong :
         {"\x80", "\xC0\xAF", "\xC3", "\xE0\x80\x80", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\xF4\x90\x80\x80", "\xE2\x82"})
        CHECK(Json::accept(json_text(wrong)));
    tests::Random random(5);
    for (int i = 0; i < 20'000; ++i) {
        std::string bytes;
        for (std::int64_t k = random.from(0, 8); k > 0; --k)
            bytes += static_cast<char>(random.coin() ? random.from(0x80, 0xFF) : random.from(0, 0x7F));
        const Json text(bytes);
        CHECK(Json::accept(json_text(text)));
        if (Json::accept("\"" + bytes + "\"")) CHECK(json_text(text) == dumped(text));
    }
}

TEST_CASE("json text: every golden and random numbers as Json::dump writes them") {
    for (const embedded::File& file : embedded::golden) {
        const Json golden = Json::parse(file.text, nullptr, false);
        CHECK(json_text(golden) == dumped(golden));
    }
    tests::Random random(6);
    for (int i = 0; i < 20'000; ++i) {
        const Json number(
            std::ldexp(static_cast<double>(random.from(-1'000'000'000, 1'000'000'000)), static_cast<int>(random.from(-900, 900))));
        CHECK(json_text(number) == dumped(number));
    }
}
