// How long a pipeline takes, asked at two doors: the terms of the step time, and the timeline that is drawn. Both tell the same.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "answer/timeline.h"
#include "api.h"
#include "base/numbers.h"
#include "model/catalog.h"
#include "random_cases.h"
#include "time/timed_plan.h"

using namespace fourfold;
using tests::Random;

namespace {

// Step time over timeline, of many plans.
struct Ratios {
    std::vector<double> all;
    void add(double ratio) { all.push_back(ratio), std::sort(all.begin(), all.end()); }
    double least() const { return all.front(); }
    double most() const { return all.back(); }
    double median() const { return all[all.size() / 2]; }
    // How many of all are farther apart than this.
    double beyond(double share) const {
        const auto far = [share](double ratio) { return std::abs(ratio - 1) > share; };
        return static_cast<double>(std::count_if(all.begin(), all.end(), far)) / static_cast<double>(all.size());
    }
};

// What the pipeline takes, of an answer's step: all but what comes once per step, and what no timeline draws.
double pipeline_seconds(const Json& answer) {
    const std::set<std::string> others = {"weight_traffic", "data_traffic", "optimizer", "host_optimizer", "stalls", "fixed"};
    double sum = 0;
    for (const Json& item : answer["time"]["items"])
        if (others.count(item["id"]) == 0) sum += item["seconds"].get<double>();
    return sum;
}

// The same of a plan, over its timeline's makespan.
double ratio_of(const Model& model, const Plan& p, const Cluster* cluster) {
    const TimedPlan<> timed(model, *catalog().gpu("h100-sxm-80gb"), cluster, p);
    const StepTime<double> step = timed.step();
    double together = 0;
    for (int i = 0; i < static_cast<int>(TimeItem::data_traffic); ++i)
        if (i != static_cast<int>(TimeItem::weight_traffic)) together += step.items[static_cast<std::size_t>(i)];
    const auto line = play_timeline(
        p.running_schedule(), narrow(p.pipeline_parallel), narrow(p.pieces_per_stage()), p.micro_batches() * p.token_slices,
        op_times(model, p, timed.machine, timed.timing, timed.layers, Stages(model, p)), p.group_of_micro_batches(), p.early_forwards());
    REQUIRE(line);
    return together / line->makespan;
}

std::string random_request(Random& random, const std::string& model) {
    const bool hopper = random.coin();
    Json job = {{"model", model}, {"gpu", hopper ? "h100-sxm-80gb" : "a100-sxm-80gb"}, {"cluster", hopper ? "dgx-h100" : "dgx-a100-80gb"}};
    job["gpus"] = random.one_of({64, 512}), job["global_batch"] = 512, job["sequence_length"] = 4096, job["micro_batch"] = 1;
    job["pipeline_parallel"] = random.one_of({2, 4, 8, 16}), job["tensor_parallel"] = random.one_of({1, 8});
    job["context_parallel"] = job["expert_parallel"] = 1, job["recompute"] = "none", job["zero"] = "optimizer";
    job["virtual_stages"] = 1, job["schedule"] = random.one_of({"1f1b", "gpipe", "zb-h1", "interleaved"});
    if (job["schedule"] == "interleaved") job["schedule"] = "1f1b", job["virtual_stages"] = random.one_of({2, 4});
    return job.dump();
}

}  // namespace

TEST_CASE("law: a job's step time tells the makespan of its timeline") {
    Random random(5);
    Ratios ratios;
    const Json models = tests::json(api::catalog(false))["models"];
    for (int i = 0; i < (tests::kSlowBuild ? 150 : 900); ++i) {
        const Json& model = models[static_cast<std::size_t>(random.from(0, static_cast<std::int64_t>(models.size()) - 1))];
        const std::string request = random_request(random, model["id"]);
        const Json step = tests::json(api::estimate(request));
        if (step["ok"] == false) continue;  // fewer layers than chunks, and the like
        const Json line = tests::json(api::timeline(request))["timeline"];
        if (line.is_object()) ratios.add(pipeline_seconds(step) / line["makespan_seconds"].get<double>());
    }
    MESSAGE(ratios.all.size() << " jobs, " << 100 * ratios.beyond(0.02) << " % farther apart than 2 %; " << ratios.least() << " to "
                              << ratios.most());
    CHECK(ratios.all.size() > (tests::kSlowBuild ? 100 : 600));
    CHECK(ratios.beyond(0.02) <= (tests::kSlowBuild ? 0.03 : 0.015));
    CHECK(ratios.beyond(0.05) == 0);
    CHECK(ratios.median() == doctest::Approx(1).epsilon(1e-3));
}

// Apart where
//   interleaving            a stage before the last one works longest: what the pipeline fills and drains beneath its work is counted
//   1F1B                    stages far from alike, of few micro-batches
//   slices                  they do not work equally long
//   zero bubble             sends arrive while a stage works on weights
TEST_CASE("law: of any model and plan the step time tells the makespan of the timeline") {
    struct Limits {
        double least, most, beyond;  // beyond 2 %, a share of the plans
    };
    const std::map<std::string, Limits> limits = {
        {"1f1b", {1 - 1e-9, 1.1, 0.005}},       {"interleaved", {1 - 1e-9, 1.01, 0}}, {"gpipe", {1 - 1e-9, 1 + 1e-9, 0}},
        {"zb-h1", {0.98, 1.08, 0.04}},          {"zb-v", {0.97, 1.02, 0.01}},         {"dualpipe", {1 - 1e-9, 1 + 1e-9, 0}},
        {"dualpipev", {1 - 1e-9, 1 + 1e-9, 0}}, {"1f1b, slices", {0.89, 1.03, 0.1}},  {"gpipe, slices", {1 - 1e-9, 1.06, 0.25}}};
    std::map<std::string, Ratios> kinds;
    Random random(7);
    for (int i = 0; i < 3'000; ++i) {
        const Model model = tests::random_model(random);
        Plan p = tests::random_legal_plan(random, model);
        p.overlap_pipeline = random.coin();
        const Cluster* const cluster = random.coin() ? catalog().cluster("dgx-h100") : nullptr;
        if (p.pipeline_parallel == 1) continue;
        kinds[std::string(row_of(p.schedule_kind()).id) + (p.token_slices > 1 ? ", slices" : "")].add(ratio_of(model, p, cluster));
    }
    for (const auto& [name, limit] : limits) {
        CAPTURE(name);
        REQUIRE(kinds.count(name) == 1);
        const Ratios& kind = kinds[name];
        MESSAGE(name << ": " << kind.all.size() << " plans, step over timeline " << kind.least() << " to " << kind.most() << ", median "
                     << kind.median() << ", " << kind.beyond(0.02) << " beyond 2 %");
        CHECK(kind.least() >= limit.least);
        CHECK(kind.most() <= limit.most);
        CHECK(kind.beyond(0.02) <= limit.beyond);
        CHECK(kind.median() == doctest::Approx(1).epsilon(name.find("slices") == std::string::npos ? 2e-3 : 1e-2));
    }
    CHECK(kinds.size() == limits.size());
}

// Passes of 1 and 2 s, sends of 1/4 s: a stage between the ends sends twice for every micro-batch, an end once, and waits for the others.
TEST_CASE("by hand: a pipeline of alike stages takes two sends for every further micro-batch, and two for every border") {
    for (const std::int32_t p : {3, 4, 7})
        for (const std::int32_t m : {1, 2, 5, 8, 20}) {
            const auto n = static_cast<std::size_t>(p);
            OpTimes times{std::vector<double>(n, 1), std::vector<double>(n, 2), std::vector<double>(n, 0), 0.25, {}, {}};
            times.sending = times.at_ends = times.transfer;
            const auto played = play(make_schedule(ScheduleKind::one_f_one_b, p, 1, m), times);
            REQUIRE(played);
            CHECK(played->makespan == 3 * (m + p - 1) + 0.25 * 2 * (m - 1 + p - 1));
        }
}

// Stages of 4, 2 and 2 s, half of each forward, the first of which sets the pace. Of six further micro-batches each stage works on one and
// the first on three more: 8 + 8 + 3 * 4, where 8 + 6 * 4 would count what the others fill and drain beneath its work. Two further ones
// wait for the last stage, or for the backward passes of the first: 8 + 2 * 2.
TEST_CASE("by hand: 1F1B fills and drains beneath the work of a slow first stage") {
    const OpTimes times{{2, 1, 1}, {2, 1, 1}, {0, 0, 0}, 0, {}, {}};
    LayerTimes layers;
    layers.dense.forward = layers.dense.backward = 1;
    Model model = catalog().model("llama-3.1-8b")->model;
    model.layers = 4;
    Plan p;
    p.gpus = p.pipeline_parallel = 3, p.first_stage_layers = 2;
    p.tensor_parallel = p.context_parallel = p.micro_batch = 1;
    for (const auto& [m, seconds] : {std::pair(7, 28.0), std::pair(3, 12.0), std::pair(1, 8.0)}) {
        p.global_batch = m;
        const Machine machine = machine_of(*catalog().gpu("h100-sxm-80gb"), nullptr, p);
        const Pace pace = pace_of(model, p, machine, Timing{}, layers, Stages(model, p), false);
        CHECK(pace.sum + pace.further == seconds);
        CHECK(play(make_schedule(ScheduleKind::one_f_one_b, 3, 1, m), times)->makespan == seconds);
    }
}

// Stages that take 4 and 5 s: 4 + 5 + 2 * 5. With 3 s of the first one's 5 in the forward pass: 3 + 1 + 2 * 3 and 2 + 3 + 2 * 3, two more.
TEST_CASE("by hand: all forwards first, the longest of each way count") {
    Plan p;
    OpTimes times{{2, 2}, {2, 3}, {0, 0}, 0, {}, {}};
    const auto played = play(make_schedule(ScheduleKind::gpipe, 2, 1, 3), times);
    REQUIRE(played);
    CHECK(played->makespan == 19);
    times.forward = {3, 1};
    CHECK(play(make_schedule(ScheduleKind::gpipe, 2, 1, 3), times)->makespan == 21);
}
