// Measured memory: which correction of the estimate it gives, and that the corrected estimate is one number everywhere.
#include <doctest/doctest.h>

#include "base/bytes.h"
#include "calibration/calibration.h"
#include "calibration/jobs.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {

Json estimate_of(const Json& set) {
    Json job = kJob;
    job.update(set);
    const Json answer = json(api::estimate(job.dump()));
    REQUIRE_MESSAGE(answer["ok"] == true, answer.dump());
    return answer;
}

// The first plans whose estimate leaves room for more.
Json plans_with_room(std::size_t count) {
    constexpr double kMost = 64 * kGibi;
    Json some = Json::array();
    for (const Json& plan : plans())
        if (some.size() < count && estimate_of(plan)["total_bytes"].get<double>() < kMost) some.push_back(plan);
    return some;
}

// These plans as they would be measured where a GPU holds so many times the estimate and so many GiB more.
Json memory_runs(std::size_t count, double factor, double extra_gib, const char* key = "allocated_bytes") {
    constexpr double kSlack = 1.05;  // of the estimate: reserved over allocated
    Json runs = Json::array();
    for (const Json& plan : plans_with_room(count)) {
        Json run = plan;
        const double allocated = factor * estimate_of(plan)["total_bytes"].get<double>() + extra_gib * kGibi;
        run[key] = std::string_view(key) == "reserved_bytes" ? kSlack * allocated : allocated;
        runs.push_back(run);
    }
    return runs;
}

double sum_of(const Json& answer) {
    double sum = 0;
    for (const Json& group : answer["groups"])
        for (const Json& item : group["items"]) sum += item["bytes"].get<double>();
    return sum;
}

}  // namespace

TEST_CASE("measured memory gives the factor or the constant that it was made with; less than three plans or noise give nothing") {
    const Json factor = calibrated(with_runs(memory_runs(6, 1.08, 0)));
    REQUIRE_MESSAGE(factor["ok"] == true, factor.dump());
    CHECK(factor["memory"]["kind"] == "factor");
    CHECK(factor["memory"]["runs"] == 6);
    CHECK(factor["set"] == json(R"({"memory_factor": 1.08, "memory_runs": 6})"));
    CHECK(factor["kind"] == "none");
    CHECK(factor["why"].empty());
    CHECK(factor["before"].is_null());
    CHECK(factor["rows"][0]["step_seconds"].is_null());
    CHECK(factor["rows"][0]["memory"]["ratio"].get<double>() == doctest::Approx(1.08));
    CHECK(factor["memory"]["after"]["mean_error"].get<double>() < 1e-3);
    const Json extra = calibrated(with_runs(memory_runs(6, 1, 3)));
    CHECK(extra["set"] == json(R"({"memory_extra": 3.0, "memory_runs": 6})"));
    CHECK(calibrated(with_runs(memory_runs(6, 1, -2)))["set"] == json(R"({"memory_extra": -2.0, "memory_runs": 6})"));
    const Json reserved = calibrated(with_runs(memory_runs(6, 1.08, 0, "reserved_bytes")));
    CHECK(reserved["set"] == factor["set"]);
    CHECK(reserved["rows"][0]["memory"]["reserved"] == true);
    for (const std::size_t few : {1, 2}) CHECK(calibrated(with_runs(memory_runs(few, 1.08, 0)))["set"].empty());
    const Json close = calibrated(with_runs(memory_runs(6, 1.005, 0)));
    CHECK(close["memory"]["kind"] == "none");
    CHECK(close["set"].empty());
    Json scattered = memory_runs(6, 1, 0);
    for (std::size_t i = 0; i < 6; ++i)
        scattered[i]["allocated_bytes"] = scattered[i]["allocated_bytes"].get<double>() * (i % 2 == 0 ? 0.9 : 1.1);
    CHECK(calibrated(with_runs(scattered))["memory"]["kind"] == "none");
}

TEST_CASE("time and memory of the same runs are two corrections; what a job has of either is left alone or replaced") {
    Json runs = memory_runs(6, 1.08, 0);
    const Json times = runs_on(Json::object(), plans_with_room(6), 1.3);
    for (std::size_t i = 0; i < 6; ++i) runs[i]["step_seconds"] = times[i]["step_seconds"];
    const Json answer = calibrated(with_runs(runs));
    CHECK(answer["set"] == json(R"({"time_factor": 1.3, "time_runs": 6, "memory_factor": 1.08, "memory_runs": 6})"));
    Json again = with_runs(runs);
    again.update(json(R"({"memory_extra": 5, "memory_runs": 3, "time_runs": 4})"));
    const Json second = calibrated(again);
    CHECK(second["rows"] == answer["rows"]);  // estimates are without any calibration
    CHECK(second["set"]["memory_extra"] == 0.0);
    CHECK(second["remove"]["memory_extra"] == 0.0);
    CHECK(second["remove"]["time_runs"] == 0);
    CHECK(brief(calibrated(with_runs(json(R"([{"memory_factor": 2, "step_seconds": 9}])")))["problems"])
              .find("runs[0].memory_factor unsupported") == 0);
}

TEST_CASE("the corrected estimate is one number: total, items, stages, reserved, whole, and what the search compares") {
    for (const char* method : {"detailed", "fujii2024"})
        for (const char* set : {R"({"memory_factor": 1.2})", R"({"memory_extra": 4})", R"({"memory_extra": -1.5})",
                                R"({"memory_factor": 0.9, "memory_extra": 2})"}) {
            Json plan = json(R"({"tensor_parallel": 2, "pipeline_parallel": 2, "micro_batch": 1})");
            plan["method"] = method;
            const double before = estimate_of(plan)["total_bytes"];
            plan.update(json(set));
            const Json answer = estimate_of(plan);
            CAPTURE(answer["job"].dump());
            const double expected =
                answer["job"]["memory_factor"].get<double>() * before + answer["job"]["memory_extra"].get<double>() * kGibi;
            const double total = answer["total_bytes"];
            CHECK(total == doctest::Approx(expected).epsilon(1e-12));
            CHECK(sum_of(answer) == doctest::Approx(total).epsilon(1e-12));
            CHECK(answer["share"].get<double>() == doctest::Approx(total / answer["card_bytes"].get<double>()).epsilon(1e-12));
            CHECK(answer["stages"][answer["worst_stage"].get<std::size_t>()]["bytes"] == answer["total_bytes"]);
            if (!answer["curve"].is_null()) {
                double most = 0;
                for (const Json& bytes : answer["curve"]["bytes"]) most = std::max(most, bytes.get<double>());
                CHECK(most == doctest::Approx(total).epsilon(0.01));
            }
            Json rank = kJob;
            rank.update(plan);
            const Json ranked = json(api::rank(rank.dump()));
            CHECK(ranked["plans"]["total_bytes"][0] == answer["total_bytes"]);
        }
    // a verdict changes with it
    const Json plan = json(R"({"tensor_parallel": 2, "pipeline_parallel": 1, "micro_batch": 1})");
    Json more = plan;
    more["memory_factor"] = 2;
    CHECK(estimate_of(plan)["class"] == "fits");
    CHECK(estimate_of(more)["class"] == "does_not_fit");
}

TEST_CASE("how many runs a calibration rests on is carried, and changes no number") {
    const Json plan = json(R"({"tensor_parallel": 2, "pipeline_parallel": 1, "micro_batch": 1, "time_factor": 1.1, "memory_factor": 1.1})");
    Json counted = plan;
    counted.update(json(R"({"time_runs": 5, "memory_runs": 4})"));
    Json without = estimate_of(plan), with = estimate_of(counted);
    CHECK(with["used"].dump().find(R"({"args":{"runs":5},"id":"used.calibration.runs"})") != std::string::npos);
    CHECK(with["used"].dump().find(R"({"args":{"runs":4},"id":"used.calibration.memory_runs"})") != std::string::npos);
    for (Json* one : {&without, &with}) one->erase("used"), one->erase("job");
    CHECK(without == with);
}

TEST_CASE("measured memory that cannot be is named") {
    const auto problems = [](const char* measured) {
        return brief(calibrated(with_runs(
            json("[{\"tensor_parallel\": 2, \"pipeline_parallel\": 1, \"micro_batch\": 1, " + std::string(measured) + "}]")))["problems"]);
    };
    CHECK(problems(R"("allocated_gib": 81)").find("runs[0].allocated_gib range") == 0);
    CHECK(problems(R"("reserved_mib": 90000)").find("runs[0].reserved_mib range") == 0);
    CHECK(problems(R"("allocated_gib": 0.5)").find("runs[0].allocated_gib range") == 0);
}
