#include "answer/compare.h"

#include <doctest/doctest.h>

#include <cmath>

#include "api.h"
#include "contract.h"

using namespace fourfold;

namespace {

Json versus(const Json& request) { return Json::parse(api::versus(request.dump()), nullptr, false); }

double sum(const Json& list, const char* key) {
    double total = 0;
    for (const Json& one : list) total += one[key].get<double>();
    return total;
}

}  // namespace

TEST_CASE("versus: the differences of the items add up to the difference of the whole") {
    const Json base = {{"model", "llama-3.1-70b"}, {"gpus", 64},       {"tensor_parallel", 4},
                       {"pipeline_parallel", 4},   {"micro_batch", 1}, {"context_parallel", 1}};
    for (const Json& other : {Json{{"tensor_parallel", 8}}, Json{{"pipeline_parallel", 8}, {"tensor_parallel", 2}},
                              Json{{"micro_batch", 2}}, Json{{"recompute", "full"}}, Json{{"virtual_stages", 5}}, Json{{"zero", "none"}}}) {
        Json request = base;
        request["other"] = other;
        const Json answer = versus(request);
        CHECK_MESSAGE(answer["ok"] == true, answer.dump());
        CHECK(tests::answer_defect(answer, "versus") == "");
        const double seconds = answer["seconds"], bytes = answer["bytes"];
        CHECK(seconds == answer["other"]["step_seconds"].get<double>() - answer["plan"]["step_seconds"].get<double>());
        CHECK(std::abs(sum(answer["time"], "seconds") - seconds) < 1e-9 * answer["plan"]["step_seconds"].get<double>());
        const auto more = [&](const char* key) { return answer["other"][key].get<double>() - answer["plan"][key].get<double>(); };
        CHECK(bytes == more("whole_bytes"));
        CHECK(std::abs(sum(answer["memory"], "bytes") - more("total_bytes")) < 1e-9 * answer["plan"]["total_bytes"].get<double>());
        double before = INFINITY;
        for (const Json& item : answer["time"]) {
            CHECK(std::abs(item["seconds"].get<double>()) <= before);
            before = std::abs(item["seconds"].get<double>());
        }
        Json alone = base;
        for (const auto& [key, value] : other.items()) alone[key] = value;
        CHECK(Json::parse(api::estimate(alone.dump()))["step_seconds"] == answer["other"]["step_seconds"]);
    }
}

TEST_CASE("versus: what \"other\" leaves open is chosen for it") {
    const Json answer =
        versus({{"model", "llama-3.1-8b"},
                {"gpus", 64},
                {"other", {{"tensor_parallel", 8}, {"pipeline_parallel", 2}, {"context_parallel", "auto"}, {"micro_batch", "auto"}}}});
    CHECK(answer["ok"] == true);
    CHECK(answer["other"]["job"]["tensor_parallel"] == 8);
    CHECK(answer["other"]["job"]["context_parallel"].is_number());
    CHECK(answer["outcome"] == "slower");
}

TEST_CASE("versus: a plan that breaks a rule, one that does not fit, the same one") {
    const Json broken = versus({{"gpus", 8}, {"other", {{"tensor_parallel", 3}}}});
    CHECK(broken["outcome"] == "breaks_rule");
    CHECK(broken["other"]["ok"] == false);
    CHECK(!broken["other"]["problems"].empty());
    const Json large = versus({{"model", "llama-3.1-70b"},
                               {"gpus", 64},
                               {"other", {{"tensor_parallel", 1}, {"pipeline_parallel", 1}, {"context_parallel", 1}, {"micro_batch", 1}}}});
    CHECK(large["outcome"] == "does_not_fit");
    const Json same = versus({{"gpus", 8}, {"other", Json::object()}});
    CHECK(same["outcome"] == "as_fast");
    CHECK(same["time"].empty());
    CHECK(same["memory"].empty());
}

TEST_CASE("versus: bad input names the field of the other plan") {
    CHECK(versus({{"other", 3}})["problems"][0]["field"] == "other");
    const Json two = versus({{"other", {{"tensor_parallel", 0}, {"colour", "red"}}}});
    CHECK(two["ok"] == false);
    CHECK(two["problems"].size() == 2);
    CHECK(two["problems"][0]["field"] == "other.tensor_parallel");
    CHECK(two["problems"][1]["field"] == "other.colour");
    CHECK(Json::parse(api::versus("nonsense"))["ok"] == false);
    for (const char* text : {"", "nonsense", "{}", "{\"other\": 3}", "{\"tensor_parallel\": 3}", "{\"gpus\": 0}"})
        CHECK(tests::answer_defect(api::versus(text), "versus") == "");
}
