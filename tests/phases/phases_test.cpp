#include "phases/failures.h"

#include <doctest/doctest.h>

#include <cmath>

#include "api.h"
#include "contract.h"

using namespace fourfold;
using tests::json;

namespace {

Json phased(const Json& request) {
    const std::string text = request.dump();
    const Json answer = json(api::phases(text));
    CHECK(tests::answer_defect(answer, "phases") == "");
    if (answer["ok"] == true) CHECK(tests::request_defect(request, "phases") == "");
    return answer;
}
Json job_8b() { return {{"model", "llama-3.1-8b"}, {"gpus", 64}, {"global_batch", 512}, {"price_per_gpu_hour", 2.5}}; }
double number(const Json& value) { return value.get<double>(); }

// Daly's complete model: what failures that come at any moment alike make of an hour's work, on average.
double exact_share(double write, double interval, double restart, double between) {
    return interval / (between * std::exp(restart / between) * std::expm1((interval + write) / between));
}

}  // namespace

TEST_CASE("phases: what a failure and a change take, by hand") {
    // 10^9 parameters of 14 bytes at 1 GB/s: 14 s to write; 8 GPUs of 4,000 hours each: a failure every 500 hours
    const Trained trained{1e9, 8, 8};
    Troubles troubles{.storage_gbyte_per_s = 1, .restart_seconds = 100, .failure_hours_per_gpu = 4'000, .checkpoint_seconds = 1'000};
    CHECK(change_seconds(trained, troubles).value() == doctest::Approx(128));
    UsefulShare useful = useful_share(trained, troubles);
    CHECK(useful.write_seconds == doctest::Approx(14));
    CHECK(useful.failure_seconds == doctest::Approx(1.8e6));
    // 1 + 14/1000 + (500 + 14 + 100)/1.8e6
    CHECK(useful.share.value() == doctest::Approx(1 / (1.014 + 614 / 1.8e6)).epsilon(1e-12));
    troubles.checkpoint_seconds = kAutoNumber;
    useful = useful_share(trained, troubles);
    // sqrt(2*14*1.8e6) = 7099.3; 14/3.6e6 = 3.889e-6, its root 1.972e-3; 7099.3*(1 + 6.573e-4 + 4.3e-7) - 14
    CHECK(useful.checkpoint_seconds == doctest::Approx(7'089.96).epsilon(1e-5));
    // Nothing said of the storage: 8 · 2 TB/s / 16,384 = 0.9765625 GB/s, and 14 GB take 14.336 s
    troubles.storage_gbyte_per_s = kAutoNumber;
    CHECK(useful_share(trained, troubles).write_seconds == doctest::Approx(14.336));
    troubles.failure_hours_per_gpu = 0;
    CHECK(useful_share(trained, troubles).share.value() == 1);
    // writing takes longer than work between failures lasts
    troubles = {.storage_gbyte_per_s = 0.001, .failure_hours_per_gpu = 8};
    useful = useful_share(trained, troubles);
    CHECK(useful.checkpoint_seconds == useful.failure_seconds);
}

TEST_CASE("phases: the interval chosen loses least, and the share is Daly's to the first order") {
    for (const double rate : {1.0, 20.0, 400.0}) {
        for (const double gpus : {64.0, 1'024.0, 16'384.0}) {
            const Trained trained{7e10, gpus, 8};
            Troubles troubles{.storage_gbyte_per_s = rate, .restart_seconds = 300};
            const UsefulShare best = useful_share(trained, troubles);
            const double write = best.write_seconds, between = best.failure_seconds;
            if (write > between / 50) continue;  // the first order is for failures that are rare
            const double exact = exact_share(write, best.checkpoint_seconds, 300 + write, between);
            CHECK(best.share.value() == doctest::Approx(exact).epsilon(0.02));
            for (const double factor : {0.7, 0.95, 1.05, 1.4}) {
                CHECK(exact_share(write, factor * best.checkpoint_seconds, 300 + write, between) < exact);
                troubles.checkpoint_seconds = factor * best.checkpoint_seconds;
                CHECK(useful_share(trained, troubles).share.value() < best.share.value() * 1.001);
            }
        }
    }
}

// The Llama 3 Herd of Models (https://arxiv.org/abs/2407.21783): section 3.3.4 "higher than 90% effective training time", with 419
// interruptions in 54 days of 16,384 GPUs; section 3.3.1: storage of 2 TB/s. BLOOM's whole checkpoint had 2.3 TiB, as its authors count:
// https://bigscience.notion.site/BigScience-176B-Model-ad073ca07cdf479398d5f95d88e218c4
TEST_CASE("phases: published runs") {
    const UsefulShare llama = useful_share({405.9e9, 16'384, 8}, {});
    CHECK(llama.failure_seconds / kSecondsPerHour == doctest::Approx(54.0 * 24 / 419));
    CHECK(llama.share.value() > 0.90);
    CHECK(llama.share.value() < 0.97);
    const double bloom = useful_share({176.247e9, 384, 8}, {.storage_gbyte_per_s = 1}).write_seconds * 1e9;
    CHECK(bloom / std::pow(2, 40) == doctest::Approx(2.3).epsilon(0.03));
}

TEST_CASE("phases: one phase without failures is the estimate") {
    Json job = job_8b();
    const Json estimate = json(api::estimate(job.dump()));
    job["phases"] = Json::array({Json::object()});
    job["failure_hours_per_gpu"] = 0;
    const Json answer = phased(job);
    CHECK(answer["phases"][0]["run"] == estimate["time"]["run"]);
    for (const char* key : {"total_bytes", "whole_bytes", "share", "class", "probability", "step_seconds"})
        CHECK(answer["phases"][0][key] == estimate[key]);
    const Json& total = answer["total"];
    for (const char* key : {"days", "gpu_hours", "cost", "energy_kwh", "co2_kg"})
        CHECK(number(total[key]) == doctest::Approx(number(estimate["time"]["run"][key])).epsilon(1e-12));
    CHECK(total["days"] == total["computing_days"]);
    CHECK(total["failure_days"] == 0);
    CHECK(total["change_days"] == 0);
    CHECK(answer["changes"].empty());
    CHECK(answer["kept"]["more_days"] == 0);
}

TEST_CASE("phases: two halves are the whole and a change") {
    Json one = job_8b(), two = job_8b();
    const double tokens = 1'000 * 512 * 8'192.0;
    one["phases"] = json(R"([{}])");
    two["phases"] = json(R"([{}, {}])");
    one["phases"][0]["tokens"] = tokens;
    for (Json& phase : two["phases"]) phase["tokens"] = tokens / 2;
    const Json whole = phased(one), halves = phased(two);
    CHECK(number(halves["total"]["computing_days"]) == doctest::Approx(number(whole["total"]["computing_days"])).epsilon(1e-12));
    const double change = number(halves["changes"][0]["seconds"]);
    // 8,030,261,248 parameters of 14 bytes at 64 · 2 TB/s / 16,384, twice; and 600 s
    CHECK(change == doctest::Approx(2 * 8'030'261'248.0 * 14 / (64 * 2e12 / 16'384) + 600));
    CHECK(number(halves["total"]["days"]) - number(whole["total"]["days"]) == doctest::Approx(change / 86'400));
    CHECK(number(halves["total"]["change_days"]) == doctest::Approx(change / 86'400));
}

TEST_CASE("phases: tokens of a step, the sums, and degrees that stay") {
    Json request = job_8b();
    request["phases"] = json(R"([{"tokens": 1e12, "tokens_per_step": 4194304},
                                 {"tokens": 5e10, "sequence_length": 131072, "tokens_per_step": 4194304, "gpus": 128}])");
    const Json free = phased(request);
    REQUIRE(free["ok"] == true);
    CHECK(free["phases"][0]["global_batch"] == 512);
    CHECK(free["phases"][1]["global_batch"] == 32);
    Json alone = job_8b();
    alone.update({{"sequence_length", 131'072}, {"global_batch", 32}, {"gpus", 128}, {"token_budget", 5e10}});
    CHECK(json(api::estimate(alone.dump()))["time"]["run"] == free["phases"][1]["run"]);
    double days = number(free["total"]["change_days"]), hours = days * 24 * 128;
    for (const Json& phase : free["phases"]) {
        CHECK(number(phase["days"]) == doctest::Approx(number(phase["run"]["days"]) / number(phase["useful"]["share"])));
        days += number(phase["days"]);
        hours += number(phase["days"]) * 24 * number(phase["gpus"]);
    }
    CHECK(number(free["total"]["days"]) == doctest::Approx(days));
    CHECK(number(free["total"]["gpu_hours"]) == doctest::Approx(hours));
    CHECK(number(free["total"]["cost"]) == doctest::Approx(2.5 * hours));
    const std::size_t fullest = free["phases"][1]["whole_bytes"] > free["phases"][0]["whole_bytes"] ? 1 : 0;
    CHECK(free["fullest"] == fullest);
    REQUIRE(free["kept"].is_object());
    request["keep_degrees"] = true;
    const Json kept = phased(request);
    CHECK(kept["keeps_degrees"] == true);
    for (const Json& phase : kept["phases"])
        for (const char* key : {"tensor_parallel", "pipeline_parallel"}) CHECK(phase["plan"][key] == free["kept"][key]);
    CHECK(number(kept["total"]["days"]) - number(free["total"]["days"]) ==
          doctest::Approx(number(free["kept"]["more_days"])).epsilon(1e-9));
}

TEST_CASE("phases: every mistake at once, each named") {
    const Json answer = phased(json(R"({"gpus": 0, "phases": [{"tokens": 0, "colour": "red"}, 3,
        {"tokens_per_step": 4000, "global_batch": 2}, {"sequence_length": "long"}], "storage_gbyte_per_s": 0, "keep_degrees": "yes"})"));
    CHECK(tests::brief(answer["problems"]) ==
          "gpus range 0 -> 1\nstorage_gbyte_per_s range 0 -> 0.001\nkeep_degrees type \"yes\" -> null\nphases[0].tokens range 0 -> 1.0\n"
          "phases[0].colour unknown \"red\" -> null\nphases[1] type 3 -> null\nphases[2].tokens_per_step contradictory 4000.0 -> null\n"
          "phases[3].sequence_length type \"long\" -> null");
    CHECK(tests::brief(phased(json(R"({"phases": []})"))["problems"]) == "phases type null -> null");
    CHECK(tests::brief(phased(json(R"({"token_budget": 0, "phases": [{}]})"))["problems"]) == "phases[0].tokens missing null -> null");
    CHECK(tests::brief(phased(json(R"({"gpus": 8, "phases": [{}, {"gpus": 8, "tensor_parallel": 3}]})"))["problems"]) ==
          "phases[1].tensor_parallel heads_divide 3 -> 4\nphases[1].tensor_parallel kv_heads_divide 3 -> 4\n"
          "phases[1].tensor_parallel ffn_divides 3 -> 4\nphases[1].gpus gpus_divide 8 -> 6");
    const Json typed = phased(json(R"({"phases": [{"tokens": 1e12, "tokens_per_step": "many"}]})"))["problems"];
    CHECK(tests::brief(typed) == "phases[0].tokens_per_step type \"many\" -> null");
    CHECK(typed[0]["suggestion"] == json(R"({"id": "suggestion.such_as", "args": {"example": 8388608.0}})"));
    CHECK(phased("nonsense")["ok"] == false);
}
