// Which correction is proposed, and what is said where none helps.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "calibration/calibration.h"
#include "calibration/jobs.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {

// The job's runs, each times one of these.
Json times(std::initializer_list<double> factors) {
    Json runs = runs_on(Json::object(), first(plans(), factors.size()));
    std::size_t i = 0;
    for (const double factor : factors) {
        runs[i]["step_seconds"] = factor * runs[i]["step_seconds"].get<double>();
        ++i;
    }
    return runs;
}

}  // namespace

TEST_CASE("runs as estimated: nothing is proposed, and the words say how good the estimate is") {
    for (const auto& runs : {times({1.02, 0.99, 1.03}), times({1.01, 1.04, 1.02, 1.03, 1.03}), times({0.96, 1.05, 1.08})}) {
        const Json answer = calibrated(with_runs(runs));
        CHECK(answer["kind"] == "none");
        CHECK(answer["set"].empty());
        CHECK(answer["why"][0]["id"] == "calibration.differs");
        CHECK(answer["why"][1]["id"] == "calibration.nothing_better");
        CHECK(answer["why"].size() == 2);
        CHECK(answer["before"] == answer["after"]);
    }
}

TEST_CASE("runs that scatter: nothing is corrected, and the band is widened until it holds them") {
    const Json runs = times({1.5, 0.7, 1.4, 0.75, 1.0});
    const Json answer = calibrated(with_runs(runs));
    CHECK(answer["kind"] == "none");
    REQUIRE(answer["why"].size() == 3);
    CHECK(answer["why"][2]["id"] == "calibration.scatter");
    CHECK(answer["why"][2]["args"]["outside"] == 4);
    CHECK(answer["set"].size() == 2);
    const double spread = answer["set"]["time_spread"];
    CHECK(spread > 1);
    Json job = kJob;
    job.update(plans()[0]);
    const Json usual = json(api::estimate(job.dump()))["time"];
    job.update(answer["set"]);
    const Json whole = json(api::estimate(job.dump())), wide = whole["time"];
    CHECK(wide["step_seconds"] == usual["step_seconds"]);
    for (const char* end : {"low_seconds", "high_seconds"}) {
        const double far = std::log(usual[end].get<double>() / usual["step_seconds"].get<double>());
        CHECK(std::log(wide[end].get<double>() / usual["step_seconds"].get<double>()) == doctest::Approx(spread * far));
    }
    CHECK(wide["low_seconds"].get<double>() <= 0.7 * usual["step_seconds"].get<double>());
    CHECK(wide["high_seconds"].get<double>() >= 1.5 * usual["step_seconds"].get<double>());
    CHECK(wide["basis"]["id"] == "band.widened");
    CHECK(whole["used"].dump().find("used.calibration.spread") != std::string::npos);
    // who calibrates again gets the same answer, and a way back
    Json again = with_runs(runs);
    again.update(answer["set"]);
    const Json second = calibrated(again);
    CHECK(second["rows"] == answer["rows"]);
    CHECK(second["remove"]["time_spread"] == 1.0);
}

TEST_CASE("runs that one constant explains: that one, as it is written in the job") {
    const Json network = calibrated(with_runs(runs_on(json(R"({"site": "own", "site_network": 0.12})"), plans())));
    CHECK(network["kind"] != "none");
    CHECK(network["after"]["mean_error"].get<double>() < 0.02);

    Json small = kJob;
    small["model"] = "llama-3.2-1b", small["gpus"] = 8, small["sequence_length"] = 2048;
    Json runs = Json::array();
    for (const int mb : {1, 2, 4, 8}) {
        Json plan = {{"tensor_parallel", 2}, {"pipeline_parallel", 1}, {"micro_batch", mb}}, theirs = plan;
        theirs["time_host"] = 4;
        plan["step_seconds"] = estimated_seconds(small, theirs);
        runs.push_back(plan);
    }
    small["runs"] = runs;
    const Json answer = calibrated(small);
    MESSAGE(answer["why"].dump() << " " << answer["set"].dump());
    CHECK(answer["kind"] == "constant");
    CHECK(answer["set"]["time_host"].get<double>() == doctest::Approx(4).epsilon(0.1));
    CHECK(answer["why"][0]["args"]["constant"]["id"] == "field.time_host");
    CHECK(answer["after"]["mean_error"].get<double>() < 0.02);
}

TEST_CASE("one layout on several numbers of GPUs counts once for the noise") {
    const auto error = [&](double factor) {
        Json list = Json::array();
        for (const int gpus : {32, 64, 128, 256})
            list.push_back({{"gpus", gpus}, {"tensor_parallel", 2}, {"pipeline_parallel", 1}, {"micro_batch", 1}});
        return calibrated(with_runs(runs_on(Json::object(), list, factor)))["kind"];
    };
    CHECK(error(1.06) == "none");
    CHECK(error(1.2) != "none");
}
