// The law of defaults: a request that says a field's default is answered as one that says nothing of it.
#include <doctest/doctest.h>

#include "api.h"
#include "contract.h"

using namespace fourfold;
using tests::json;

TEST_CASE("a default that is said is a default that is not: every field alone, and all of them" * doctest::test_suite("quality")) {
    const Json catalog = json(api::catalog());
    for (Json request : {Json{{"global_batch", 64}, {"method", "detailed"}},
                         Json{{"model", "mixtral-8x7b"}, {"gpus", 64}, {"global_batch", 64}, {"framework", "pytorch"}}}) {
        const std::string silent = api::estimate(request.dump());
        CHECK(tests::answer_defect(silent, "estimate") == "");
        CHECK(json(silent)["ok"] == true);
        Json all = request;
        for (const Json& field : catalog["fields"]) {
            const std::string key = field["key"];
            CAPTURE(key);
            if (request.contains(key)) continue;
            Json one = request;
            one[key] = all[key] = field["default"];
            CHECK(api::estimate(one.dump()) == silent);
        }
        CHECK(api::estimate(all.dump()) == silent);
        CHECK(api::search(all.dump()).summary == api::search(request.dump()).summary);
    }
}
