// A job to calibrate, its plans, and what they would measure.
#pragma once
#include <doctest/doctest.h>

#include <string>

#include "api.h"
#include "contract.h"

namespace fourfold::tests {

inline Json calibrated(const Json& request) {
    const std::string text = api::calibrate(request.dump());
    CHECK_MESSAGE(answer_defect(text, "calibrate") == "", text.substr(0, 500));
    return json(text);
}

inline double estimated_seconds(Json job, const Json& set) {
    job.erase("runs");
    for (const auto& [key, value] : set.items()) job[key] = value;
    const Json answer = json(api::estimate(job.dump()));
    REQUIRE_MESSAGE(answer["ok"] == true, answer.dump());
    return answer["time"]["step_seconds"].get<double>();
}

inline const Json kJob =
    json(R"({"version": 1, "model": "llama-3.1-8b", "gpu": "h100-sxm-80gb", "gpus": 64, "global_batch": 512, "context_parallel": 1})");

// Plans of that job which differ in everything that a site's constants touch.
inline Json plans() {
    Json list = Json::array();
    const auto add = [&](int gpus, int tp, int pp, int mb) {
        list.push_back(Json{{"gpus", gpus}, {"tensor_parallel", tp}, {"pipeline_parallel", pp}, {"micro_batch", mb}});
    };
    add(64, 1, 8, 1), add(64, 2, 4, 1), add(64, 2, 2, 2), add(64, 4, 1, 1), add(64, 8, 1, 4), add(64, 1, 4, 2);
    add(128, 1, 4, 1), add(128, 4, 2, 1), add(128, 2, 1, 1), add(256, 1, 1, 1), add(256, 4, 4, 1), add(32, 1, 2, 1);
    add(16, 2, 1, 2), add(16, 1, 16, 1);
    return list;
}

// The job's runs as they would be measured on such a site, times `factor`.
inline Json runs_on(const Json& site, const Json& plans, double factor = 1) {
    Json runs = Json::array();
    for (const Json& plan : plans) {
        Json set = site;
        set.update(plan);
        Json run = plan;
        run["step_seconds"] = factor * estimated_seconds(kJob, set);
        runs.push_back(run);
    }
    return runs;
}

inline Json with_runs(Json runs) {
    Json request = kJob;
    request["runs"] = std::move(runs);
    return request;
}

inline Json first(const Json& list, std::size_t count) {
    Json some = Json::array();
    for (std::size_t i = 0; i < count; ++i) some.push_back(list[i]);
    return some;
}

inline const Json kSiteOfTheirs =
    json(R"({"site": "own", "site_network": 0.35, "site_pipeline": 0.15, "site_fixed": 0.9, "site_stall": 0.0006})");

}  // namespace fourfold::tests
