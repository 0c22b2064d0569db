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

TEST_CASE("auto takes the smallest split within the line, then the largest micro-batch: Llama 3.1 8B on H100 SXM 80 GB") {
    struct Row {
        std::int64_t gpus, t, c, p, b;
    };
    for (const Row& row : {Row{8, 2, 1, 1, 1}, Row{4, 4, 1, 1, 2}, Row{64, 2, 1, 1, 1}}) {
        const Setting s = setting("llama-3.1-8b", "h100-sxm-80gb", row.gpus);
        const auto best = choose(s.space());
        CHECK(best.has_value());
        if (!best) continue;
        CHECK(best->plan.tensor_parallel == row.t);
        CHECK(best->plan.context_parallel == row.c);
        CHECK(best->plan.pipeline_parallel == row.p);
        CHECK(best->plan.micro_batch == row.b);
        CHECK(best->share <= kLineShare);
    }
}

TEST_CASE("auto: no other legal plan within the line has a smaller split, nor the same split with a larger micro-batch") {
    for (const char* model : {"llama-3.2-1b", "llama-3.1-70b", "mistral-7b"}) {
        const Setting s = setting(model, "h100-sxm-80gb", 64);
        const auto best = choose(s.space());
        CHECK(best.has_value());
        if (!best) continue;
        brute_force(s, {64}, [&](const Plan& plan) {
            if (!is_legal(s.model, plan) || fujii2024<double>(s.model, plan).total() > kLineShare * s.gpu.memory_bytes) return;
            CHECK(plan.model_parallel() >= best->plan.model_parallel());
            if (plan.tensor_parallel == best->plan.tensor_parallel && plan.context_parallel == best->plan.context_parallel &&
                plan.pipeline_parallel == best->plan.pipeline_parallel)
                CHECK(plan.micro_batch <= best->plan.micro_batch);
        });
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
