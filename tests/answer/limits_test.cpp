// The reverse questions against brute force, the laws that they keep, and limits() from the outside.
#include "answer/limits.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <span>

#include "answer/report.h"
#include "api.h"
#include "contract.h"
#include "model/catalog.h"

using namespace fourfold;
using tests::answer_defect;
using tests::brief;
using tests::json;

namespace {

Job job_of(const std::string& request) {
    Problems problems;
    auto job = read_job(request, Request::limits, problems);
    CHECK_MESSAGE(job.has_value(), brief(problems));
    return job ? *job : Job{};
}
bool fits(const std::optional<Estimated>& e) { return e && e->verdict.fit == Fit::fits; }
std::optional<Estimated> at(const Job& job, std::int64_t Plan::*field, std::int64_t value) {
    Job changed = job;
    changed.plan.*field = value;
    auto chosen = choose(changed.space());
    return chosen ? std::optional(std::move(chosen->estimate)) : std::nullopt;
}
double days_of(const Job& job, const Estimated& e) { return training_run(job.budget, e.plan, e.seconds).days; }
double upper_days(const Job& job, const Estimated& e) { return days_of(job, e) * job.band(e.plan).high; }
std::int64_t gpus(const std::optional<Estimated>& e) { return e ? e->plan.gpus : INT64_MAX; }

// Jobs small enough for brute force, and of every kind: dense and with experts, both methods, odd batches, degrees kept, nothing that fits.
constexpr const char* kSmallJobs[] = {
    R"({"token_budget": 1e11, "days": 30})",
    R"({"model": "llama-2-13b", "gpu": "a100-sxm-40gb", "global_batch": 96, "token_budget": 1e11, "days": 20})",
    R"({"model": "llama-3.1-70b", "gpus": 60, "global_batch": 120, "token_budget": 2e10, "days": 3})",
    R"({"model": "mixtral-8x7b", "global_batch": 64, "token_budget": 1e10, "days": 2})",
    R"({"model": "qwen2.5-7b", "method": "fujii2024", "gpus": 28, "global_batch": 56, "token_budget": 1e11, "days": 15})",
    R"({"model": "llama-3.1-8b", "tensor_parallel": 4, "micro_batch": 2, "gpus": 20, "global_batch": 80, "token_budget": 1e11, "days": 10})",
    R"({"model": "llama-3.1-8b", "zero": "none", "gradients_in_fp32": false, "moments": "8-bit", "optimizer_offload": 0.5, "token_budget": 1e11, "days": 30})",
    R"({"model": "deepseek-v2-lite", "precision": "fp8", "token_budget": 1e11, "days": 5})",
    R"({"model": "llama-3.2-1b", "gpus_per_node": 1, "global_batch": 6, "sequence_length": 2048, "token_budget": 1e9, "days": 1})",
    R"({"model": "llama-3.1-8b", "first_stage_layers": 6, "last_stage_layers": 5, "gpus": 5, "global_batch": 8, "sequence_length": 2048})",
    R"({"model": "llama-3.1-8b", "count_embedding_as_layer": true, "gpus": 33, "global_batch": 12, "token_budget": 1e10, "days": 3})",
    R"({"model": "llama-3.1-405b", "tensor_parallel": 1, "pipeline_parallel": 1, "context_parallel": 1, "global_batch": 8})",
};

std::span<const char* const> small_jobs() { return std::span(kSmallJobs).first(tests::kSlowBuild ? 3 : std::size(kSmallJobs)); }

}  // namespace

TEST_CASE("numbers of GPUs: one by one, whole nodes, steps of a 32nd; and the job's own") {
    Plan plan;
    plan.gpus_per_node = 6;
    plan.gpus = 67;
    std::vector<std::int64_t> counts = gpu_counts_to_try(plan);
    CHECK(std::vector<std::int64_t>(counts.begin() + 60, counts.begin() + 68) == std::vector<std::int64_t>{61, 62, 63, 66, 67, 72, 78, 84});
    CHECK(std::binary_search(counts.begin(), counts.end(), 6 * 64));
    CHECK(std::binary_search(counts.begin(), counts.end(), 6 * 66));
    CHECK_FALSE(std::binary_search(counts.begin(), counts.end(), 6 * 67));
    for (const std::int64_t node : {1, 4, 8, 72, 256}) {
        plan.gpus_per_node = node;
        plan.gpus = 1'048'576;
        counts = gpu_counts_to_try(plan);
        CHECK(std::is_sorted(counts.begin(), counts.end()));
        CHECK(std::adjacent_find(counts.begin(), counts.end()) == counts.end());
        CHECK(counts.front() == 1);
        CHECK(counts.back() == 1'048'576);
        CHECK(counts.size() < 600);
    }
}

TEST_CASE("numbers of GPUs: parts of a rack, of which fewer may do than whole ones") {
    Plan plan;
    plan.gpus_per_node = 72;
    const std::vector<std::int64_t> counts = gpu_counts_to_try(plan);
    for (const std::int64_t gpus : {64, 72, 108, 136, 144, 216, 288, 360}) CHECK(std::binary_search(counts.begin(), counts.end(), gpus));
    for (const std::int64_t gpus : {65, 110, 292}) CHECK_FALSE(std::binary_search(counts.begin(), counts.end(), gpus));
    const FewestGpus found = fewest_gpus(job_of(R"({"model": "deepseek-v3", "gpu": "gb200-186gb", "gpus": 72, "sequence_length": 4096})"));
    CHECK(gpus(found.fits) < 144);
}

TEST_CASE("the largest batch: shared out by another plan than smaller ones") {
    const Job job = job_of(R"({"model": "llama-3.1-8b", "gpu": "a100-sxm-40gb", "gpus": 4, "framework": "transformers", "zero": "weights",
                               "sequence_length": 4096, "global_batch": 64})");
    const auto found = largest_batch(job.space());
    REQUIRE(found);
    CHECK(found->limited_by == LimitedBy::memory);
    CHECK(fits(at(job, &Plan::global_batch, found->value)));
    for (std::int64_t more = 1; more <= 4; ++more) CHECK_FALSE(fits(at(job, &Plan::global_batch, found->value + more)));
    const Json said = limits_answer(job);
    CHECK(said["largest_batch"]["notes"][0]["id"] == "largest.batch.gradients");
}

TEST_CASE("the largest model: the paper's method is asked of those that it counts") {
    const Json answer = limits_answer(job_of(R"({"method": "fujii2024"})"));
    for (const Json& one : answer["models"]) CHECK(catalog().model(one["id"].get<std::string>())->model.experts.count == 0);
}

TEST_CASE("fewest GPUs: with every smaller number no plan fits, or none is done in time" * doctest::test_suite("quality")) {
    for (const char* request : small_jobs()) {
        CAPTURE(std::string(request));
        const Job job = job_of(request);
        const FewestGpus found = fewest_gpus(job);
        std::optional<Estimated> first, in_time, safe;
        for (const std::int64_t count : gpu_counts_to_try(job.plan)) {
            if (count > 1'024) break;
            const auto best = at(job, &Plan::gpus, count);
            if (!fits(best)) continue;
            if (!first) first = best;
            if (job.days > 0 && !in_time && days_of(job, *best) <= job.days) in_time = best;
            if (job.days > 0 && !safe && upper_days(job, *best) <= job.days) safe = best;
        }
        CHECK(gpus(found.fits) == gpus(first));
        CHECK(gpus(found.in_time) == gpus(in_time));
        CHECK(gpus(found.safe) == gpus(safe));
        if (!found.fits) continue;
        CHECK(is_legal(job.model, found.fits->plan));
        CHECK(found.fits->bytes == first->bytes);
        CHECK(found.fits->seconds == first->seconds);
    }
}

TEST_CASE("the lower bounds are bounds: no plan that fits is below them" * doctest::test_suite("quality")) {
    for (const char* request : small_jobs()) {
        CAPTURE(std::string(request));
        Job job = job_of(request);
        for (std::size_t i = 0; i < catalog().models.size(); ++i) {
            job.model = catalog().models[i].model;
            job.budget.tokens = 1e12;
            for (const std::int64_t count : {1, 2, 4, 8, 16, 24, 48, 96, 192, 960}) {
                const auto best = at(job, &Plan::gpus, count);
                if (!fits(best)) continue;
                CHECK(least_gpus_to_fit(job) <= count);
                job.days = days_of(job, *best);
                CHECK(least_gpus_in_time(job) <= count);
                CHECK(least_gpus_in_time(job) > 0);
            }
        }
    }
}

TEST_CASE("the lower bound of memory is one with every optimizer of every framework") {
    for (const char* framework : {"megatron-2025", "megatron-deepspeed", "pytorch", "nanotron", "litgpt", "transformers"})
        for (const char* optimizer : {"adam", "adam_8bit", "muon", "sgd"})
            for (const char* master : {"auto", "off"}) {
                Json request = {{"model", "llama-3.1-8b"},  {"gpu", "h100-sxm-80gb"}, {"framework", framework},  {"optimizer", optimizer},
                                {"master_weights", master}, {"global_batch", 48},     {"sequence_length", 1'024}};
                CAPTURE(request.dump());
                const Job job = job_of(request.dump());
                std::int64_t least = 1;
                while (least < 8 && !fits(at(job, &Plan::gpus, least))) ++least;
                CHECK(least_gpus_to_fit(job) <= static_cast<double>(least));
                CHECK(gpus(fewest_gpus(job).fits) == least);
            }
}

TEST_CASE("the largest sequence fits, and the next longer one does not; where one border alone exists it is that one") {
    for (const char* request : small_jobs()) {
        CAPTURE(std::string(request));
        const Job job = job_of(request);
        const auto found = largest_sequence(job.space());
        if (!found) {
            for (std::int64_t tokens = 64; tokens < 1'024; tokens += 64) CHECK_FALSE(fits(at(job, &Plan::sequence_length, tokens)));
            continue;
        }
        CHECK((found->step == 1'024 || found->value < 1'024));
        CHECK(fits(at(job, &Plan::sequence_length, found->value)));
        const auto next = at(job, &Plan::sequence_length, found->value + found->step);
        CHECK_FALSE(fits(next));
        CHECK(found->limited_by == (next ? LimitedBy::memory : LimitedBy::rules));
        CHECK(found->at.plan.sequence_length == found->value);
    }
    const Job job =
        job_of(R"({"version": 1, "model": "llama-2-13b", "gpu": "a100-sxm-40gb", "global_batch": 8, "gpus": 16, "context_parallel": 1})");
    std::int64_t longest = 0;
    for (std::int64_t tokens = 1'024; tokens <= 65'536; tokens += 1'024)
        if (fits(at(job, &Plan::sequence_length, tokens))) longest = tokens;
    CHECK(longest > 0);
    CHECK(largest_sequence(job.space())->value == longest);
}

TEST_CASE("the largest sequence keeps to what degrees that are set can split, and may reach the end of the field") {
    const auto split = largest_sequence(job_of(R"({"gpus": 48, "context_parallel": 3, "global_batch": 48})").space());
    CHECK((split && split->step == 3'072));
    const auto ends =
        largest_sequence(job_of(R"({"gpus": 32768, "global_batch": 1, "model": "llama-3.2-1b", "recompute": "full"})").space());
    CHECK((ends && ends->value == 16'777'216));
    CHECK((ends && ends->limited_by == LimitedBy::range));
}

TEST_CASE("the largest micro-batch: no larger divisor of the batch fits") {
    for (const char* request : small_jobs()) {
        CAPTURE(std::string(request));
        const Job job = job_of(request);
        const auto found = largest_micro_batch(job.space());
        std::int64_t most = 0;
        bool larger_is_legal = false;
        for (std::int64_t b = 1; b <= job.plan.global_batch; ++b) {
            const auto best = at(job, &Plan::micro_batch, b);
            if (best) CHECK(job.plan.global_batch % b == 0);
            if (fits(best)) most = b, larger_is_legal = false;
            larger_is_legal = larger_is_legal || (best && !fits(best));
        }
        CHECK((found ? found->value : 0) == most);
        if (found) CHECK(found->limited_by == (larger_is_legal ? LimitedBy::memory : LimitedBy::rules));
    }
    const auto ends = largest_micro_batch(
        job_of(R"({"model": "tinyllama-1.1b", "gpu": "b200-sxm-180gb", "sequence_length": 1, "global_batch": 131072, "gpus": 2})").space());
    CHECK((ends && ends->value == 65'536));
    CHECK((ends && ends->limited_by == LimitedBy::range));
}

TEST_CASE("the largest batch: 1F1B has no bound but the field's, GPipe keeps every micro-batch") {
    const auto steady = largest_batch(job_of(R"({"gpus": 64})").space());
    CHECK((steady && steady->value == 16'777'216));
    CHECK((steady && steady->limited_by == LimitedBy::range));
    const Job job = job_of(R"({"gpus": 64, "model": "llama-3.1-70b", "schedule": "gpipe", "pipeline_parallel": 4, "global_batch": 16})");
    const auto found = largest_batch(job.space());
    CHECK((found && found->limited_by == LimitedBy::memory));
    if (!found) return;
    CHECK(found->value < 1'024);
    CHECK(fits(at(job, &Plan::global_batch, found->value)));
    CHECK_FALSE(fits(at(job, &Plan::global_batch, found->value + found->step)));
    const Job huge = job_of(R"({"gpus": 64, "model": "llama-3.1-70b", "schedule": "gpipe", "pipeline_parallel": 4, "global_batch": 4096})");
    CHECK_FALSE(best_plan(huge.space()).has_value());
    CHECK(largest_batch(huge.space())->value == found->value);  // found from above too
    CHECK_FALSE(largest_batch(job_of(R"({"gpus": 1, "model": "llama-3.1-70b"})").space()));
}

TEST_CASE("a larger card never needs more GPUs; more days and fewer tokens never do; and never a smaller sequence or micro-batch" *
          doctest::test_suite("quality")) {
    constexpr const char* kJobs[] = {kSmallJobs[0], kSmallJobs[1], kSmallJobs[2], kSmallJobs[4], kSmallJobs[5]};
    for (const char* request : kJobs) {
        CAPTURE(std::string(request));
        Job job = job_of(request);
        std::int64_t previous = INT64_MAX, longest = 0, largest = 0;
        Gpu card = *job.gpu;
        job.gpu = of_catalog(card);
        for (const double gibibytes : {24, 40, 64, 80, 141, 192}) {
            card.memory_bytes = gibibytes * 1024 * 1024 * 1024;
            const std::int64_t now = gpus(fewest_gpus(job).fits);
            CHECK(now <= previous);
            previous = now;
            const auto micro_batch = largest_micro_batch(job.space());
            CHECK((micro_batch ? micro_batch->value : 0) >= largest);
            if (micro_batch) largest = micro_batch->value;
            const auto sequence = largest_sequence(job.space());
            CHECK((sequence ? sequence->value : 0) >= longest);
            if (sequence) longest = sequence->value;
        }
        std::int64_t before = INT64_MAX, safe_before = INT64_MAX;
        for (const double days : {0.01, 1.0, 10.0, 11.0, 40.0, 365.0, 36'500.0}) {
            job.days = days;
            const FewestGpus found = fewest_gpus(job);
            CHECK(gpus(found.in_time) <= before);
            CHECK(gpus(found.safe) <= safe_before);
            CHECK(gpus(found.safe) >= gpus(found.in_time));
            CHECK(gpus(found.in_time) >= gpus(found.fits));
            before = gpus(found.in_time), safe_before = gpus(found.safe);
            Job less = job;
            less.budget.tokens /= 10;
            CHECK(gpus(fewest_gpus(less).in_time) <= before);
        }
    }
}

// ---- from the outside
namespace {

Json limits(const std::string& request) {
    const std::string answer = api::limits(request);
    CAPTURE(request);
    CHECK(answer_defect(answer, "limits") == "");
    return json(answer);
}

// estimate() of the same job with the answer's values set says what the answer says.
void agrees(const Json& answer, const Json& changes, const Json& found) {
    Json job = answer["job"];
    job.update(changes);
    for (const auto& [key, value] : found["plan"].items())
        if (key != "data_parallel") job[key] = value;
    const Json estimate = json(api::estimate(job.dump()));
    CHECK_MESSAGE(estimate["ok"] == true, estimate.dump().substr(0, 400));
    if (estimate["ok"] != true) return;
    CHECK(estimate["total_bytes"] == found["total_bytes"]);
    CHECK(estimate["class"] == found["class"]);
    CHECK(estimate["step_seconds"] == found["step_seconds"]);
    CHECK(estimate["data_parallel"] == found["plan"]["data_parallel"]);
    if (!found.contains("days")) return;
    for (const char* key : {"days", "low_days", "high_days", "gpu_hours", "cost"}) CHECK(estimate["time"]["run"][key] == found[key]);
}

}  // namespace

TEST_CASE("limits: every answer is a plan of which estimate() says the same" * doctest::test_suite("quality")) {
    for (const char* request : small_jobs()) {
        CAPTURE(std::string(request));
        const Json answer = limits(request);
        CHECK(answer["ok"] == true);
        if (!answer["fewest_gpus"].is_null()) agrees(answer, {{"gpus", answer["fewest_gpus"]["gpus"]}}, answer["fewest_gpus"]);
        if (!answer["fewest_in_time"].is_null()) agrees(answer, {{"gpus", answer["fewest_in_time"]["gpus"]}}, answer["fewest_in_time"]);
        for (const auto& [which, field] : {std::pair("largest_micro_batch", "micro_batch"), std::pair("largest_batch", "global_batch"),
                                           std::pair("largest_sequence", "sequence_length")})
            if (!answer[which].is_null()) {
                CHECK(answer[which]["class"] == "fits");
                CHECK(!answer[which]["notes"].empty());
                agrees(answer, {{field, answer[which]["value"]}}, answer[which]);
            }
        const Method method = job_of(request).method;
        const auto& models = catalog().models;
        const auto asked = std::count_if(models.begin(), models.end(), [&](const CatalogModel& m) { return counts(method, m.model); });
        CHECK(answer["models"].size() == static_cast<std::size_t>(asked));
        double before = INFINITY;
        for (const Json& model : answer["models"]) {
            CHECK(model["parameters"] <= before);
            before = model["parameters"];
            CHECK(model["fits"] == (model.value("class", "") == "fits"));
            CHECK(model["plan"].is_null() == !model.contains("total_bytes"));
            if (!model["plan"].is_null()) agrees(answer, {{"model", model["id"]}}, model);
        }
    }
}

TEST_CASE("limits: a model of the list is answered as if it were asked for, with all that the search may choose for it") {
    Json request = json(R"({"model": "llama-3.1-8b", "gpu": "h100-sxm-80gb", "gpus": 8, "sequence_length": 8192, "global_batch": 64})");
    const Json answer = limits(request.dump());
    for (const char* id : {"gpt-oss-20b", "deepseek-v2-lite", "llama-3.1-8b"}) {
        request["model"] = id;
        const Json alone = json(api::estimate(request.dump()));
        for (const Json& model : answer["models"])
            if (model["id"] == id) CHECK_MESSAGE(model["step_seconds"] == alone["time"]["step_seconds"], id);
    }
}

TEST_CASE("limits: the days are asked for, and need a token budget") {
    CHECK(limits("{}")["fewest_in_time"].is_null());
    CHECK(limits(R"({"days": 30, "token_budget": 0})")["fewest_in_time"].is_null());
    CHECK(!limits(R"({"days": 30})")["fewest_in_time"].is_null());  // 20 tokens a parameter
    CHECK(limits(R"({"token_budget": 1e12})")["fewest_in_time"].is_null());
    CHECK(limits(R"({"token_budget": 1e12, "days": 0})")["fewest_in_time"].is_null());
    const Json answer = limits(R"({"token_budget": 1e12, "days": 30, "price_per_gpu_hour": 2})");
    CHECK(answer["days"] == 30);
    CHECK(answer["fewest_in_time"]["days"] <= 30);
    CHECK(answer["fewest_in_time"]["safe_gpus"] >= answer["fewest_in_time"]["gpus"]);
    CHECK(answer["fewest_in_time"]["cost"].get<double>() == doctest::Approx(2 * answer["fewest_in_time"]["gpu_hours"].get<double>()));
    CHECK(limits(R"({"token_budget": 1e16, "days": 1e-9})")["fewest_in_time"].is_null());
    CHECK(limits(R"({"token_budget": 1e16, "days": 1e-320})")["fewest_in_time"].is_null());
}

TEST_CASE("limits: what is kept is said") {
    const auto notes = [](const char* request) {
        std::string lines;
        const Json answer = limits(request);
        for (const Json& note : answer["searched"]["notes"]) lines += tests::said(note) + "\n";
        return lines;
    };
    const std::string nodes = R"(searched.nodes {"below":64,"most":131072,"node":8,"one_by_one":512,"steps":32})"
                              "\n"
                              R"(searched.batch {"batch":1024})"
                              "\n";
    CHECK(notes("{}") == nodes);
    CHECK(notes(R"({"gpus_per_node": 1})").starts_with(R"(searched.gpus {"most":131072,"one_by_one":64,"steps":32})"));
    CHECK(notes(R"({"tensor_parallel": 4, "micro_batch": 2})") ==
          nodes +
              R"(searched.kept {"kept":[{"args":{"value":4},"id":"kept.tensor_parallel"},{"args":{"value":2},"id":"kept.micro_batch"}]})"
              "\n");
}

TEST_CASE("limits: what stands against the next larger one is said") {
    const auto notes = [](const Json& found) {
        std::string lines;
        for (const Json& note : found["notes"]) lines += (lines.empty() ? "" : ", ") + tests::said(note);
        return lines;
    };
    const Json small = limits(R"({"gpus": 64, "model": "llama-3.1-70b", "schedule": "gpipe", "pipeline_parallel": 4, "global_batch": 16})");
    CHECK(notes(small["largest_batch"]) == "largest.batch.memory");
    const Json steady = limits(R"({"gpus": 8, "model": "llama-2-7b", "global_batch": 1024})");
    CHECK(notes(steady["largest_batch"]) == R"(largest.batch.range {"most":16777216})");
    CHECK(notes(steady["largest_sequence"]) ==
          R"(largest.sequence.steps {"batch":1024,"step":1024}, largest.sequence.beyond_model {"positions":4096})");
    const Json uneven = limits(R"({"gpus": 64, "global_batch": 64, "sequence_length": 128, "pipeline_parallel": 1, "tensor_parallel": 1,
                                   "context_parallel": 1, "recompute": "full"})");
    CHECK(notes(uneven["largest_micro_batch"]) == R"(largest.micro_batch.rules {"batch":64,"gpus":64})");
}

TEST_CASE("limits: mistakes are problems") {
    const auto problems = [](const char* request) {
        const Json answer = limits(request);
        CHECK(answer["ok"] == false);
        return brief(answer["problems"]);
    };
    CHECK(problems(R"({"days": -1})").find("days range -1") == 0);
    CHECK(problems(R"({"days": 1e99})").find("days range 1e+99") == 0);
    CHECK(problems(R"({"days": 36501})").find("days range 36501") == 0);
    CHECK(problems(R"({"days": "NaN"})").find("days type \"NaN\"") == 0);
    CHECK(problems(R"({"days": null})").find("days type") == 0);
    CHECK(problems(R"({"deadline": 30})").find("deadline unknown") == 0);
    CHECK(problems(R"({"stage": 1})").find("stage unknown") == 0);
    CHECK(problems(R"({"days": 1e999})").find("(all) range") == 0);
    CHECK(problems("").find("(all) syntax") == 0);
    CHECK(problems("[]").find("(all) type") == 0);
    CHECK(brief(json(api::estimate(R"({"days": 30})"))["problems"]).find("days unknown") == 0);
}

TEST_CASE("limits: absurd jobs end soon, and the job's own plan need not be legal") {
    // In processor time, as so many default estimates of the same build: whatever the machine and its load.
    const auto processor_time = [](auto&& work) {
        const std::clock_t start = std::clock();
        work();
        return static_cast<double>(std::clock() - start);
    };
    constexpr int kEstimates = 20, kMost = 10'000;
    const double one = processor_time([] {
                           for (int i = 0; i < kEstimates; ++i) api::estimate("{}");
                       }) /
                       kEstimates;
    const char* const requests[] = {
        R"({"model": "llama-3.1-405b", "gpus": 1, "global_batch": 1, "token_budget": 1e12, "days": 30})",
        R"({"model": "llama-3.1-405b", "gpus": 1048576, "global_batch": 1, "sequence_length": 16777216, "token_budget": 1e16, "days": 30})",
        R"({"gpus": 7, "tensor_parallel": 3, "pipeline_parallel": 5})",
        R"({"gpus": 13, "virtual_stages": 128, "expert_parallel": 4096})",
        R"({"gpus": 1, "gpus_per_node": 256, "tensor_parallel": 1024, "context_parallel": 4096, "pipeline_parallel": 2000})",
        R"({"model": "llama-3.1-405b", "gpus": 16128, "global_batch": 2016, "schedule": "zb-h1", "token_budget": 15.6e12, "days": 54})",
        R"({"gpus": 1048576, "global_batch": 16777216, "sequence_length": 16777216, "token_budget": 1e16, "days": 36500})"};
    // the last two look at most plans, which takes minutes in a slow build
    for (const char* request : std::span(requests).first(std::size(requests) - (tests::kSlowBuild ? 2 : 0))) {
        CAPTURE(std::string(request));
        CHECK(processor_time([&] { CHECK(limits(request)["ok"] == true); }) < kMost * one);
    }
    const Json impossible = limits(R"({"gpus": 7, "tensor_parallel": 3, "pipeline_parallel": 5})");
    CHECK(impossible["fewest_gpus"].is_null());
    CHECK(impossible["largest_sequence"].is_null());
}
