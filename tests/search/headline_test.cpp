// What the headline says is what the ranking says first: every model on every GPU of the catalogue. One job in three is asked here
// (7,400), all of them by `fourfold_tests -tc="*every job*" --no-skip` (4 minutes).
#include <doctest/doctest.h>

#include "api.h"
#include "contract.h"
#include "job/job.h"
#include "model/catalog.h"
#include "search/search.h"

using namespace fourfold;

namespace {

constexpr std::int64_t kCounts[] = {1, 2, 4, 8, 16, 32, 48, 64, 72, 128, 256, 448, 486, 512, 1'024, 2'048, 4'096, 8'192, 16'384};
constexpr int kSome = tests::kSlowBuild ? 423 : 3;  // of these jobs, one in so many is asked

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
    const auto headline = choose(job->space());
    CHECK((headline && headline->fits()) == !ranking.plans.empty());
    if (!headline || ranking.plans.empty()) return false;
    const Estimated& first = ranking.plans.front().estimate;
    CHECK_MESSAGE(written(headline->estimate.plan) == written(first.plan), model.id << " " << gpu.id << " " << gpus);
    CHECK(headline->estimate.seconds == first.seconds);
    CHECK(headline->equally_good == ranking.equally_good);
    CHECK(headline->estimate.verdict.fit == Fit::fits);
    return true;
}

// One job in `every`, of the models at `first`, `first` + `step`, ...
void check_headlines(int every, std::size_t first, std::size_t step) {
    int jobs = 0, fitting = 0;
    const auto& models = catalog().models;
    for (std::size_t i = first; i < models.size(); i += step)
        for (const Gpu& gpu : catalog().gpus)
            for (const std::int64_t gpus : kCounts)
                if (++jobs % every == 0 && check_headline(models[i].model, gpu, gpus)) ++fitting;
    CHECK(fitting > jobs / every / 3);
}

}  // namespace

// In two halves, which run side by side.
TEST_CASE("one question, one answer: the headline is the first of the ranking, for every other model") { check_headlines(kSome, 0, 2); }
TEST_CASE("one question, one answer: the headline is the first of the ranking, for the models between") { check_headlines(kSome, 1, 2); }
TEST_CASE("one question, one answer: the headline is the first of the ranking, every job" * doctest::skip()) { check_headlines(1, 0, 1); }
