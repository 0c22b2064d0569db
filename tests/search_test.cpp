#include "search.h"

#include <doctest/doctest.h>

#include "catalog.h"

using namespace fourfold;

namespace {

struct Setting {
    Model model;
    Plan plan;
    Gpu gpu;
    SearchSpace space() const { return {model, plan, gpu, Method::fujii2024}; }
};

Setting setting(const char* model_id, const char* gpu_id, std::int64_t gpus) {
    const CatalogModel* model = catalog().model(model_id);
    const Gpu* gpu = catalog().gpu(gpu_id);
    CHECK((model != nullptr && gpu != nullptr));
    Setting s;
    if (model != nullptr) s.model = model->model;
    if (gpu != nullptr) s.gpu = *gpu;
    s.plan.gpus = gpus;
    s.plan.gpus_per_node = gpu == nullptr ? 8 : gpu->gpus_per_node;
    return s;
}

// Every combination tried one by one, with the same candidates; slow and obvious.
template <class Visit>
void brute_force(const Setting& s, const std::vector<std::int64_t>& gpu_counts, Visit&& visit) {
    const std::int64_t most = gpu_counts.back();
    for (std::int64_t t = 1; t <= std::min(s.plan.gpus_per_node, most); ++t)
        for (std::int64_t c = 1; c <= most; c *= 2)
            for (std::int64_t p = 1; p <= std::min(s.model.layers, most); ++p)
                for (std::int64_t b = 1; b <= s.plan.global_batch; b *= 2)
                    for (const std::int64_t gpus : gpu_counts) {
                        Plan plan = s.plan;
                        plan.tensor_parallel = t;
                        plan.context_parallel = c;
                        plan.pipeline_parallel = p;
                        plan.micro_batch = b;
                        plan.gpus = gpus;
                        visit(plan);
                    }
}

}  // namespace

TEST_CASE("the search finds exactly the plans that trying everything finds, in the documented order") {
    const Setting s = setting("qwen2.5-7b", "a100-sxm-80gb", 28);  // 28 layers, 28 heads, 4 KV heads: little divides
    const std::vector<std::int64_t> gpu_counts = {7, 14, 28, 56};
    std::vector<Plan> legal;
    std::int64_t candidates = 0;
    brute_force(s, gpu_counts, [&](const Plan& plan) {
        ++candidates;
        if (is_legal(s.model, plan)) legal.push_back(plan);
    });
    const SearchOutcome found = search_all(s.space(), gpu_counts);
    CHECK(found.counts.candidates == candidates);
    CHECK(found.counts.legal() == legal.size());
    std::int64_t rejected = 0;
    for (const std::int64_t n : found.counts.rejected) rejected += n;
    CHECK(rejected + found.counts.legal() == candidates);
    CHECK(found.columns.row.size() == legal.size());
    for (std::size_t i = 0; i < std::min(legal.size(), found.columns.row.size()); ++i) {
        CHECK(found.columns.tensor_parallel[i] == legal[i].tensor_parallel);
        CHECK(found.columns.context_parallel[i] == legal[i].context_parallel);
        CHECK(found.columns.pipeline_parallel[i] == legal[i].pipeline_parallel);
        CHECK(found.columns.micro_batch[i] == legal[i].micro_batch);
        CHECK(found.columns.gpus[i] == legal[i].gpus);
        CHECK(found.columns.data_parallel[i] == legal[i].data_parallel());
        CHECK(found.columns.total_bytes[i] == fujii2024<double>(s.model, legal[i]).total());
        CHECK(found.columns.fit_class[i] == static_cast<std::uint8_t>((found.columns.share[i] <= kLineShare ? Fit::fits
                                                                       : found.columns.share[i] <= 1        ? Fit::at_risk
                                                                                                            : Fit::does_not_fit)));
    }
}

TEST_CASE("auto takes the fastest plan within the line, and of equally fast ones the smallest split") {
    for (const char* model : {"llama-3.2-1b", "llama-3.1-8b", "llama-3.1-70b", "mistral-7b"}) {
        const Setting s = setting(model, "h100-sxm-80gb", 64);
        const auto best = choose(s.space());
        CHECK(best.has_value());
        if (!best) continue;
        CHECK(best->share <= kLineShare);
        StepTimer timer(s.model, s.gpu, nullptr, s.plan);
        CHECK(best->seconds == timer.seconds(best->plan));
        brute_force(s, {64}, [&](const Plan& plan) {
            if (!is_legal(s.model, plan) || fujii2024<double>(s.model, plan).total() > kLineShare * s.gpu.memory_bytes) return;
            const double seconds = timer.seconds(plan);
            CHECK(seconds >= best->seconds);
            if (seconds == best->seconds) CHECK(plan.model_parallel() >= best->plan.model_parallel());
        });
    }
}

TEST_CASE("the fastest entry of every GPU count fits, and none that fits is faster") {
    const Setting s = setting("llama-3.1-70b", "h100-sxm-80gb", 64);
    const std::vector<std::int64_t> counts = {4, 32, 64, 128};
    const SearchOutcome found = search_all(s.space(), counts);
    const auto& c = found.columns;
    CHECK(found.fastest[0] == -1);
    for (std::size_t which = 1; which < counts.size(); ++which) {
        const auto first = static_cast<std::size_t>(found.fastest[which]);
        CHECK(found.fastest[which] >= 0);
        CHECK(c.gpus[first] == counts[which]);
        CHECK(c.row[first] == found.chosen[which]);
        for (std::size_t i = 0; i < c.row.size(); ++i) {
            CHECK(c.tokens_per_s[i] == 1024.0 * 8192 / c.step_seconds[i]);
            CHECK(c.tokens_per_s_per_gpu[i] == c.tokens_per_s[i] / c.gpus[i]);
            if (c.gpus[i] == counts[which] && c.fit_class[i] == 0) CHECK(c.step_seconds[i] >= c.step_seconds[first]);
        }
    }
}

TEST_CASE("auto keeps what is set, and takes the lowest estimate when nothing stays within the line") {
    Setting s = setting("llama-3.1-8b", "h100-sxm-80gb", 16);
    s.plan.pipeline_parallel = 4;
    auto best = choose(s.space());
    CHECK((best && best->plan.pipeline_parallel == 4));

    s = setting("llama-3.1-405b", "a100-sxm-40gb", 8);
    best = choose(s.space());
    CHECK(best.has_value());
    if (!best) return;
    CHECK(best->share > 1);
    brute_force(s, {8}, [&](const Plan& plan) {
        if (is_legal(s.model, plan)) CHECK(fujii2024<double>(s.model, plan).total() >= best->bytes);
    });
}

TEST_CASE("a search without any legal plan says so") {
    Setting s = setting("llama-3.1-8b", "h100-sxm-80gb", 7);
    CHECK_FALSE(choose(s.space()).has_value());
    const SearchOutcome found = search_all(s.space(), {7});
    CHECK(found.columns.row.empty());
    CHECK(found.chosen == std::vector<std::int64_t>{-1});
}

TEST_CASE("auto tries every divisor when no usual split is legal") {
    Setting s = setting("llama-3.1-8b", "h100-sxm-80gb", 3);
    s.plan.sequence_length = 6'144;  // 1,024 sequences cannot be shared among 3, but each sequence can
    const auto best = choose(s.space());
    CHECK((best && best->plan.context_parallel == 3));
}

TEST_CASE("expert parallel left open is the smallest power of two with which a plan fits") {
    Setting s = setting("mixtral-8x7b", "h100-sxm-80gb", 64);
    s.plan.expert_parallel = kAuto;
    const SearchSpace open{s.model, s.plan, s.gpu, Method::detailed};
    const SearchOutcome found = search_all(open, {64});
    const auto& c = found.columns;
    std::int64_t chosen_above_one = 0;
    for (std::size_t i = 0; i < c.row.size(); i += 7) {
        Plan plan = s.plan;
        plan.tensor_parallel = c.tensor_parallel[i];
        plan.context_parallel = c.context_parallel[i];
        plan.pipeline_parallel = c.pipeline_parallel[i];
        plan.micro_batch = c.micro_batch[i];
        plan.expert_parallel = c.expert_parallel[i];
        CHECK(is_legal(s.model, plan));
        const SearchSpace fixed{s.model, plan, s.gpu, Method::detailed};
        CHECK(estimated(fixed, plan).bytes == c.total_bytes[i]);
        if (plan.expert_parallel == 1) continue;
        ++chosen_above_one;
        plan.expert_parallel /= 2;
        CHECK(estimated(fixed, plan).verdict.fit != Fit::fits);
    }
    CHECK(chosen_above_one > 5);
    const auto best = choose(open);
    CHECK((best && is_legal(s.model, best->plan)));
}
