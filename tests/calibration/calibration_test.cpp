// Calibration with measured steps: what is proposed, from how many runs, and whether it predicts runs that it did not see.
#include "calibration/calibration.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "api.h"
#include "calibration/jobs.h"
#include "contract.h"
#include "random_cases.h"

using namespace fourfold;
using namespace fourfold::tests;

TEST_CASE("a calibration in the plan: the factor is on every term, the constants count with \"own\" alone") {
    Json job = kJob;
    job.update(json(R"({"tensor_parallel": 2, "pipeline_parallel": 4, "micro_batch": 1})"));
    const double plain = estimated_seconds(job, Json::object());
    CHECK(estimated_seconds(job, json(R"({"time_factor": 1.25})")) == doctest::Approx(1.25 * plain).epsilon(1e-12));
    CHECK(estimated_seconds(job, json(R"({"site_fixed": 30, "site_stall": 0.5, "site_network": 0.01, "site_pipeline": 0.01})")) == plain);
    CHECK(estimated_seconds(job, json(R"({"site": "own"})")) == estimated_seconds(job, json(R"({"site": "quiet"})")));
    CHECK(estimated_seconds(job, json(R"({"site": "own", "site_fixed": 2.1})")) == doctest::Approx(plain + 2).epsilon(1e-2));

    job["time_factor"] = 1.25;
    const Json answer = json(api::estimate(job.dump()));
    double sum = 0;
    for (const Json& item : answer["time"]["items"]) {
        sum += item["seconds"].get<double>();
        CHECK(item["formula"].dump().find("{\"symbol\":\"k_y\"}") != std::string::npos);
    }
    CHECK(sum == doctest::Approx(answer["time"]["step_seconds"].get<double>()).epsilon(1e-12));
    CHECK(answer["time"]["basis"].dump().find("band.calibrated") != std::string::npos);
    bool said = false;
    for (const Json& note : answer["used"]) said = said || note.dump().find("used.calibration") != std::string::npos;
    CHECK(said);
    // the search ranks by the same times
    const api::SearchAnswer search = api::search(job.dump());
    const Json columns = {{"tp", search.columns.tensor_parallel}, {"seconds", search.columns.step_seconds}};
    bool found = false;
    for (const double seconds : search.columns.step_seconds)
        found = found || std::abs(seconds - answer["time"]["step_seconds"].get<double>()) < 1e-9;
    CHECK(found);
}

TEST_CASE("a calibration that makes a step shorter than its arithmetic is warned of") {
    Json job = kJob;
    job.update(json(R"({"tensor_parallel": 2, "pipeline_parallel": 1, "micro_batch": 1})"));
    CHECK(json(api::estimate(job.dump()))["warnings"].empty());
    job["time_factor"] = 0.9;
    CHECK(json(api::estimate(job.dump()))["warnings"].empty());
    job["time_factor"] = 0.2;
    const Json answer = json(api::estimate(job.dump()));
    CHECK(brief(answer["warnings"]) == "time_factor faster_than_peak 0.2 -> null");
    CHECK(answer["time"]["rates"][1]["mfu"].get<double>() > 1);
    CHECK(tests::answer_defect(answer.dump(), "estimate") == "");
}

TEST_CASE("no run, one run, two runs: nothing is rescaled, and why") {
    const Json runs = runs_on(Json::object(), first(plans(), 3), 1.3);
    const Json none = calibrated(kJob);
    CHECK(none["kind"] == "none");
    CHECK(none["rows"].empty());
    CHECK(none["text"]["header"] == "gpus,tp,pp,cp,mb,step_seconds");
    const Json one = calibrated(with_runs(first(runs, 1)));
    CHECK(one["kind"] == "none");
    CHECK(one["set"].empty());
    CHECK(one["why"] == json(R"([{"id": "calibration.one_run"}])"));
    CHECK(none["why"] == json(R"([{"id": "calibration.no_run"}])"));
    CHECK(one["rows"][0]["ratio"].get<double>() == doctest::Approx(1.3));
    CHECK(one["rows"][0]["after_ratio"] == one["rows"][0]["ratio"]);
    CHECK(calibrated(with_runs(first(runs, 2)))["why"] == json(R"([{"id": "calibration.two_plans"}])"));
    CHECK(calibrated(with_runs(first(runs, 3)))["set"] == json(R"({"time_factor": 1.3, "time_runs": 3})"));
    const Json far = calibrated(with_runs(runs_on(Json::object(), first(plans(), 3), 10)));
    CHECK(far["kind"] == "none");
    CHECK(said(far["why"][0]).starts_with("calibration.far_off {\"factor\":"));
    // the same plan thrice is one
    const Json same = calibrated(with_runs(Json::array({runs[0], runs[0], runs[0]})));
    CHECK(same["kind"] == "none");
    CHECK(same["why"] == json(R"([{"id": "calibration.one_plan", "args": {"runs": 3}}])"));
}

TEST_CASE("three to nine plans: the median factor, whatever one of them says") {
    Json runs = runs_on(Json::object(), first(plans(), 7), 1.2);
    CHECK(calibrated(with_runs(runs))["set"] == json(R"({"time_factor": 1.2, "time_runs": 7})"));
    runs[3]["step_seconds"] = runs[3]["step_seconds"].get<double>() * 3;
    const Json answer = calibrated(with_runs(runs));
    CHECK(answer["kind"] == "factor");
    CHECK(answer["set"] == json(R"({"time_factor": 1.2, "time_runs": 7})"));
    for (std::size_t i = 0; i < 7; ++i) CHECK(answer["rows"][i]["outlier"] == (i == 3));
    CHECK(answer["after"]["mean_error"].get<double>() < answer["before"]["mean_error"].get<double>());
    // a job that is calibrated already gets the same answer, and a way back
    Json again = with_runs(runs);
    again.update(json(R"({"time_factor": 2, "site": "own", "site_fixed": 5})"));
    const Json second = calibrated(again);
    CHECK(second["rows"] == answer["rows"]);
    CHECK(second["set"] == json(R"({"time_factor": 1.2, "time_runs": 7, "site": "measured"})"));
    CHECK(second["remove"]["site"] == "measured");
    CHECK(second["remove"]["time_factor"] == 1.0);
    CHECK(answer["remove"].empty());
}

TEST_CASE("the order of runs does not matter; twice the time is twice the factor") {
    tests::Random random(5);
    Json runs = runs_on(kSiteOfTheirs, plans());
    for (const std::size_t count : {5, 14}) {
        Json some = first(runs, count);
        const Json answer = calibrated(with_runs(some));
        for (int i = 0; i < 3; ++i) {
            for (std::size_t k = count - 1; k > 0; --k)
                std::swap(some[k], some[static_cast<std::size_t>(random.from(0, static_cast<std::int64_t>(k)))]);
            const Json other = calibrated(with_runs(some));
            CHECK(other["set"] == answer["set"]);
            CHECK(other["why"] == answer["why"]);
        }
    }
    const Json once = runs_on(Json::object(), first(plans(), 5), 1.3), twice = runs_on(Json::object(), first(plans(), 5), 2.6);
    const double factor = calibrated(with_runs(once))["set"]["time_factor"], doubled = calibrated(with_runs(twice))["set"]["time_factor"];
    CHECK(doubled == doctest::Approx(2 * factor).epsilon(1e-3));  // both are rounded to four digits
}

TEST_CASE("a site is found again from its runs, well enough to predict others") {
    const Json answer = calibrated(with_runs(first(runs_on(kSiteOfTheirs, plans()), 12)));
    MESSAGE(answer["why"].dump() << " " << answer["set"].dump());
    REQUIRE(answer["kind"] == "site");
    CHECK(answer["after"]["mean_error"].get<double>() < 0.01);
    CHECK(answer["before"]["mean_error"].get<double>() > 0.05);
    Json others = json(R"([{"gpus": 512, "tensor_parallel": 2, "pipeline_parallel": 4, "micro_batch": 1},
        {"gpus": 128, "tensor_parallel": 1, "pipeline_parallel": 1, "micro_batch": 1},
        {"gpus": 32, "tensor_parallel": 4, "pipeline_parallel": 8, "micro_batch": 2}])");
    for (const Json& plan : others) {
        Json theirs = kSiteOfTheirs, ours = answer["set"];
        theirs.update(plan);
        ours.update(plan);
        const double ratio = estimated_seconds(kJob, theirs) / estimated_seconds(kJob, ours);
        CAPTURE(plan.dump());
        CHECK(std::abs(ratio - 1) < 0.04);
    }
    // what the rows show is what the job will say once the proposal is applied
    for (const Json& row : answer["rows"]) {
        Json set = answer["set"];
        for (const char* key : {"gpus", "tensor_parallel", "pipeline_parallel", "micro_batch"}) set[key] = row["plan"][key];
        CHECK(estimated_seconds(kJob, set) == doctest::Approx(row["after_seconds"].get<double>()).epsilon(1e-12));
    }
}

TEST_CASE("constants on which no run depends keep their value, and are named") {
    Json runs = Json::array();
    Json in_a_node = kJob;
    in_a_node["gpus"] = 8;
    for (const int tp : {1, 2, 4, 8})
        for (const int mb : {1, 2, 4}) {
            Json set = {{"tensor_parallel", tp}, {"pipeline_parallel", 1}, {"micro_batch", mb}}, site = set;
            site.update(json(R"({"site": "own", "site_fixed": 6, "site_stall": 0.001})"));
            set["step_seconds"] = estimated_seconds(in_a_node, site);
            runs.push_back(set);
        }
    in_a_node["runs"] = runs;
    const Json answer = calibrated(in_a_node);
    CHECK(answer["kind"] == "site");
    CHECK(answer["not_identifiable"] == json(R"(["site_network", "site_pipeline"])"));
    CHECK(answer["set"]["site_network"] == 0.7);
    CHECK(answer["set"]["site_pipeline"] == 0.5);
    CHECK(said(answer["why"][2]) ==
          R"(calibration.not_identifiable {"constants":[{"id":"field.site_network"},{"id":"field.site_pipeline"}]})");
}

// ---- what a reader may write
TEST_CASE("runs as a text: commas, tabs, semicolons, spaces; short names; decimal commas") {
    const auto seconds = [](const char* text) {
        Json request = kJob;
        request["runs_text"] = text;
        const Json answer = calibrated(request);
        if (answer["ok"] != true) return brief(answer["problems"]);
        std::string all;
        for (const Json& row : answer["rows"])
            all += said(row["name"]) + " " + row["plan"]["tensor_parallel"].dump() + " " + row["step_seconds"].dump() + "; ";
        return all;
    };
    CHECK(seconds("tp,pp,mb,step_seconds\n2,1,1,12.5\n4,1,1,13") == R"(row.line {"number":2} 2 12.5; row.line {"number":3} 4 13.0; )");
    CHECK(seconds("TP\tPP\tMB\tstep seconds\r\n# ours\r\n\r\n2\t1\t1\t12,5\r\n") == R"(row.line {"number":4} 2 12.5; )");
    CHECK(seconds("tp;pp;mb;step_seconds\n2;1;1;12,5") == R"(row.line {"number":2} 2 12.5; )");
    CHECK(seconds("  tp  pp  mb   step_seconds \n  2  1  1  12,5  ") == R"(row.line {"number":2} 2 12.5; )");
    CHECK(seconds("tp pp mb step_seconds allocated_gib\n2 1 1 12.5 s 50 GiB\n4 1 1 13000 ms 50\n4 1 1 0,2 min 40960 MiB") ==
          R"(row.line {"number":2} 2 12.5; row.line {"number":3} 4 13.0; row.line {"number":4} 4 12.0; )");
    CHECK(seconds("tp step_seconds pp mb\n2 12.5 1 1 s") == "runs[0] type null -> null");
    CHECK(seconds("\xEF\xBB\xBF\"tensor_parallel\",pipeline_parallel,micro_batch,step_seconds\n\"2\",1,1,12.5") ==
          R"(row.line {"number":2} 2 12.5; )");
    CHECK(seconds("") == "");
    CHECK(seconds("tp,pp,mb,step_seconds\n") == "");
    CHECK(seconds("tp,pp,mb\n1,1,1") == "runs_text missing null -> null");
    CHECK(seconds("64,2,1,1,1,12.5") == "runs_text missing null -> null");
    CHECK(seconds("tp,tensor_parallel,step_seconds\n").find("runs_text unknown \"tensor_parallel\"") == 0);
    CHECK(seconds("tp,pp,mb,step_seconds\n2,1,1") == "runs[0] type null -> null");
    CHECK(seconds("tp,pp,mb,step_seconds\n2,1,1,\n3,1,1,9") ==
          "runs[0].step_seconds missing null -> null\nruns[1].tensor_parallel heads_divide 3 -> 4\n"
          "runs[1].tensor_parallel kv_heads_divide 3 -> 4\nruns[1].tensor_parallel ffn_divides 3 -> 4\n"
          "runs[1].gpus gpus_divide 64 -> 63\nruns[1].tensor_parallel sequence_divides 3 -> 4");
    CHECK(seconds("tp;pp;mb;step_seconds\n2;1;1;1,024") == "runs[0].step_seconds type \"1,024\" -> null");
}

TEST_CASE("a header of very many columns is answered briefly: one problem each, the first 20, and how many there are") {
    const auto answer_to = [](const char* cell, int count) {
        Json request = kJob;
        std::string text;
        for (int i = 0; i < count; ++i) text += std::string(cell) + ",";
        request["runs_text"] = text + "step_seconds\n1";
        return calibrated(request);
    };
    for (const auto& [cell, count, wrong] : {std::tuple("tp", 2'000, 1'999), std::tuple("nonsense", 100'000, 100'000)}) {
        const Json answer = answer_to(cell, count);
        REQUIRE(answer["problems"].size() == 21);
        CHECK(answer["problems"][20]["field"] == "runs_text");
        CHECK(answer["problems"][20]["value"] == wrong);
        CHECK(answer.dump().size() < 10'000);
    }
}

TEST_CASE("of hundreds of wrong runs the first 20 problems are told, and how many there are") {
    Json runs = Json::array();
    for (int i = 0; i < 300; ++i) runs.push_back({{"tensor_parallel", 3}, {"step_seconds", 0}});
    const Json problems = calibrated(with_runs(runs))["problems"];
    REQUIRE(problems.size() == 21);
    CHECK(problems[0]["field"] == "runs[0].step_seconds");
    CHECK(brief(Json::array({problems[20]})) == "runs range 300 -> null");
}

TEST_CASE("the line for the plan above is in the reader's columns") {
    Json request = kJob;
    request.update(
        json(R"({"tensor_parallel": 2, "pipeline_parallel": 4, "micro_batch": 1, "runs_text": "mb\ttp\tseq\tstep_seconds\tgpus"})"));
    CHECK(calibrated(request)["text"]["line"] == "1\t2\t8192\t\t64");
    request["runs_text"] = "mb,nonsense";
    CHECK(calibrated(request)["ok"] == false);
    CHECK(at(calibrated(request), "text")["header"] == "mb,nonsense");
    request.erase("runs_text");
    CHECK(calibrated(request)["text"]["line"] == "64,2,4,1,1,");
}

TEST_CASE("rows that are wrong, absurd or contradictory: all are named, nothing is applied") {
    const Json good = runs_on(Json::object(), first(plans(), 3));
    const auto problems = [&](const char* row) {
        Json runs = good;
        runs.push_back(json(row));
        const Json answer = calibrated(with_runs(runs));
        CHECK(answer["ok"] == false);
        CHECK(!answer.contains("set"));
        return answer["ok"] == true ? "" : brief(answer["problems"]) + " | " + said(answer["problems"][0]["message"]["args"]["message"]);
    };
    const std::string plan = R"("tensor_parallel": 2, "pipeline_parallel": 1, "micro_batch": 1, )";
    const auto with = [&](const char* rest) { return problems(("{" + plan + rest + "}").c_str()); };
    CHECK(with(R"("step_seconds": -1)") ==
          R"(runs[3].step_seconds range -1 -> null | problem.run.too_small {"key":"step_seconds","value":-1})");
    CHECK(with(R"("step_seconds": 0)").find("runs[3].step_seconds range 0") == 0);
    CHECK(with(R"("step_seconds": "12 s")").find("runs[3].step_seconds type \"12 s\" -> null | problem.run.no_number ") == 0);
    CHECK(with(R"("gpus": 8)").find("runs[3].step_seconds missing") == 0);
    CHECK(with(R"("step_seconds": 0.5)").find("problem.run.faster_than_peak") != std::string::npos);
    CHECK(with(R"("step_seconds": 12300)").find("problem.run.far_off") != std::string::npos);
    CHECK(with(R"("step_seconds": 12, "time_factor": 2)").find("runs[3].time_factor unsupported") == 0);
    CHECK(with(R"("step_seconds": 12, "gpu": "h100")").find("runs[3].gpu unknown") == 0);
    CHECK(problems("7").find("runs[3] type 7") == 0);
    Json again = good;
    again.push_back(good[1]);
    CHECK(calibrated(with_runs(again))["usable"] == 4);
    again[3]["step_seconds"] = 1.25 * good[1]["step_seconds"].get<double>();
    const Json answer = calibrated(with_runs(again));
    CHECK(brief(answer["problems"]).find("runs[3].step_seconds contradictory") == 0);
    const Json contradiction = answer["problems"][0]["message"];
    CHECK(contradiction["id"] == "problem.run.contradictory");
    CHECK(said(contradiction["args"]["run"]) == R"(row.run {"number":4})");
    CHECK(said(contradiction["args"]["other"]) == R"(row.run {"number":2})");

    Json many = Json::array();
    for (int i = 0; i < 501; ++i) many.push_back(good[0]);
    CHECK(brief(calibrated(with_runs(many))["problems"]) == "runs too_large null -> null");
    CHECK(brief(calibrated(with_runs(7))["problems"]) == "runs type 7 -> null");
}

TEST_CASE("a run that by its memory cannot fit is used, with a warning") {
    Json job = json(R"({"model": "llama-3.1-70b", "gpus": 8, "tensor_parallel": 8, "pipeline_parallel": 1, "context_parallel": 1})");
    job["runs"] = json(R"([{"micro_batch": 1, "step_seconds": 2000}])");
    const Json answer = calibrated(job);
    CHECK(answer["usable"] == 1);
    CHECK(brief(answer["warnings"]) == "runs[0] does_not_fit null -> null");
}

TEST_CASE("nonsense is answered, finitely") {
    tests::Random random(77);
    const Json pieces = json(R"([null, true, -1, 0, 1, 2, 3, 8, 64, 1e300, 1e-300, 12.5, "auto", "", "x", [], {}, "2", 9007199254740993])");
    const auto piece = [&] { return pieces[static_cast<std::size_t>(random.from(0, static_cast<std::int64_t>(pieces.size()) - 1))]; };
    const char* keys[] = {
        "step_seconds", "tensor_parallel", "pipeline_parallel", "context_parallel", "micro_batch",    "gpus",          "site",
        "oops",         "sequence_length", "global_batch",      "schedule",         "virtual_stages", "gpus_per_node", "expert_parallel",
        "mfu",          "tflops_per_gpu",  "tokens_per_second", "allocated_gib",    "reserved_mib",   "data_parallel", "flop_convention"};
    for (int i = 0; i < 300; ++i) {
        Json runs = Json::array();
        for (std::int64_t n = random.from(0, 6); n > 0; --n) {
            Json run = json(R"({"tensor_parallel": 2, "pipeline_parallel": 1, "micro_batch": 1, "step_seconds": 9})");
            for (std::int64_t k = random.from(0, 3); k > 0; --k) run[keys[random.from(0, 20)]] = piece();
            runs.push_back(random.from(0, 9) == 0 ? piece() : run);
        }
        calibrated(with_runs(runs));
    }
    const char letters[] = "tp,pp;mb%full\t step_seconds\n12.5,#\"\r-e8 gpus\xC3\x28";
    for (int i = 0; i < 300; ++i) {
        std::string text = random.coin() ? "tp,pp,mb,step_seconds\n" : random.coin() ? "TP;DP;MBS;MFU (%);convention;peak memory\n" : "";
        for (std::int64_t n = random.from(0, 60); n > 0; --n) text += letters[random.from(0, sizeof letters - 2)];
        Json request = kJob;
        request["runs_text"] = text;
        const std::string answer = api::calibrate(request.dump(-1, ' ', false, Json::error_handler_t::replace));
        CHECK(tests::answer_defect(answer, "calibrate") == "");
    }
}
