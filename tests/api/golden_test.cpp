// The same requests and responses are read here (natively and as wasm), by node with the shipped module, and in the browser.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "api.h"
#include "embedded_tests.h"
#include "golden/answer.h"

using namespace fourfold;

namespace {

// Texts and structure exactly, numbers to 1e-12 relative: libms differ in the last bits of exp, pow, log2.
void compare(const Json& got, const Json& wanted, const std::string& path) {
    if (got.is_number() && wanted.is_number()) {
        const double a = got, b = wanted;
        CHECK_MESSAGE(std::abs(a - b) <= 1e-12 * std::max(std::abs(a), std::abs(b)), path, ": ", a, " instead of ", b);
    } else if (got.is_object() && wanted.is_object()) {
        for (auto member = wanted.begin(); member != wanted.end(); ++member) {
            CHECK_MESSAGE(got.contains(member.key()), path, " lacks ", member.key());
            if (got.contains(member.key())) compare(got[member.key()], member.value(), path + "." + member.key());
        }
        CHECK_MESSAGE(got.size() == wanted.size(), path, " has other keys");
    } else if (got.is_array() && wanted.is_array()) {
        CHECK_MESSAGE(got.size() == wanted.size(), path, " has another length");
        for (std::size_t i = 0; i < std::min(got.size(), wanted.size()); ++i) compare(got[i], wanted[i], path + "." + std::to_string(i));
    } else {
        CHECK_MESSAGE(got == wanted, path, ": ", got.dump(), " instead of ", wanted.dump());
    }
}

}  // namespace

TEST_CASE("golden responses") {
    CHECK(embedded::golden.size() >= 10);
    for (const embedded::File& file : embedded::golden) {
        const Json golden = Json::parse(file.text, nullptr, false);
        CHECK_MESSAGE(golden.is_object(), std::string(file.name), " is not JSON");
        if (golden.is_object())
            compare(golden_answer(golden), Json{{"response", golden["response"]}, {"columns", golden.value("columns", Json())}},
                    std::string(file.name));
    }
}
