// What the headline says is what the ranking says first: every model on every GPU of the catalogue, on one in seven of the numbers of GPUs;
// FOURFOLD_EVERY_JOB=1 asks with all of them. In two halves, which run side by side.
#include <doctest/doctest.h>

#include "api.h"
#include "contract.h"
#include "job/job.h"
#include "model/catalog.h"
#include "search/search.h"

using namespace fourfold;

namespace {

constexpr std::int64_t kCounts[] = {1, 2, 4, 8, 16, 32, 48, 64, 72, 128, 256, 448, 486, 512, 1'024, 2'048, 4'096, 8'192, 16'384};
// Of these jobs, one in so many is asked: no divisor of 19, so that every card and every model meets all numbers of GPUs in turn.
int one_in() { return tests::kSlowBuild ? 423 : tests::every_job() ? 1 : 7; }

std::optional<Job> read(const Json& request) {
    Problems problems;
    auto job = read_parsed_job(request, Request::estimate, problems);
    CHECK_MESSAGE(job.has_value(), tests::brief(problems));
    return job;
}
Json written(const Plan& plan) {
    Json json = Json::object();
    visit_fields(plan, FieldWriter(json));
    return json;
}

// Whether a plan fits.
bool check_headline(const Model& model, const Gpu& gpu, std::int64_t gpus) {
    const auto job = read({{"model", model.id},
                           {"gpu", gpu.id},
                           {"gpus", gpus},
                           {"global_batch", std::max<std::int64_t>(1'024, gpus / 2)},
                           {"sequence_length", std::min<std::int64_t>(8'192, model.max_positions > 0 ? model.max_positions : 8'192)}});
    if (!job) return false;
    const SearchResult ranking = search(job->space(), {.plans = 200});
    const auto headline = choose(job->space(), false);
    CHECK((headline && headline->fits()) == !ranking.plans.empty());
    if (!headline || ranking.plans.empty()) return false;
    const Estimated& first = ranking.plans.front().estimate;
    CHECK_MESSAGE(written(headline->estimate.plan) == written(first.plan), model.id << " " << gpu.id << " " << gpus);
    CHECK(headline->estimate.seconds == first.seconds);
    CHECK(headline->equally_good == ranking.equally_good);
    CHECK(headline->estimate.verdict.fit == Fit::fits);
    return true;
}

void check_half(std::size_t half) {
    const int every = one_in();
    int jobs = 0, fitting = 0;
    const auto& models = catalog().models;
    for (std::size_t i = half; i < models.size(); i += 2)
        for (const Gpu& gpu : catalog().gpus)
            for (const std::int64_t gpus : kCounts)
                if (++jobs % every == 0 && check_headline(models[i].model, gpu, gpus)) ++fitting;
    CHECK((tests::kSlowBuild || fitting > 3'000 / every));
}

}  // namespace

TEST_CASE("one question, one answer: the headline is the first of the ranking, for every other model") { check_half(0); }
TEST_CASE("one question, one answer: the headline is the first of the ranking, for the models between") { check_half(1); }
