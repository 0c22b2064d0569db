#include "search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "catalog.h"

namespace fourfold {

static double bytes_of(const SearchSpace& space, const Plan& plan, KnownMoments& moments) {
    return space.method == Method::fujii2024 ? fujii2024<double>(space.model, plan).total()
                                             : fullest_stage(space.model, plan, framework_of(plan, space.gpu), &moments).bytes;
}

// Expert parallel left open: the smallest power of two with which the plan fits, since every doubling makes tokens travel further; without
// any, the one that needs least.
static void choose_expert_parallel(const SearchSpace& space, Plan& plan, KnownMoments& moments) {
    Plan best = plan;
    double least = INFINITY;
    for (std::int64_t ranks = 1; ranks <= space.model.experts.count; ranks *= 2) {
        plan.expert_parallel = ranks;
        if (space.model.experts.count % ranks != 0 || plan.gpus % (ranks * plan.expert_tensor_parallel * plan.pipeline_parallel) != 0)
            break;
        const double bytes = bytes_of(space, plan, moments);
        if (bytes < least) least = bytes, best = plan;
        if (judge(space.method, plan, bytes, space.gpu.memory_bytes).fit == Fit::fits) break;
    }
    plan = best;
}

Scores Scorer::memory(Plan& plan) {
    if (space_.plan.expert_parallel == kAuto && space_.model.experts.count > 0) choose_expert_parallel(space_, plan, moments_);
    const double bytes = bytes_of(space_, plan, moments_);
    return {bytes, bytes / space_.gpu.memory_bytes, judge(space_.method, plan, bytes, space_.gpu.memory_bytes)};
}
Scores Scorer::score(Plan& plan) {
    Scores scores = memory(plan);
    scores.seconds = timer_.seconds(plan);
    return scores;
}

Estimated estimated(const SearchSpace& space, const Plan& plan) {
    Estimated result{plan};
    const Scores scores = Scorer(space, plan).score(result.plan);
    result.bytes = scores.bytes;
    result.share = scores.share;
    result.verdict = scores.verdict;
    result.seconds = scores.seconds;
    return result;
}

// ---- choosing
// Smaller is better.
static auto rank(const Plan& p, const Scores& s) {
    const bool fits = s.verdict.fit == Fit::fits;
    return std::make_tuple(!fits, fits ? s.seconds : s.bytes, p.model_parallel(), p.pipeline_parallel, p.context_parallel, -p.micro_batch);
}
using Rank = decltype(rank(std::declval<const Plan&>(), std::declval<const Scores&>()));

std::optional<Estimated> choose(const SearchSpace& space) {
    std::optional<Estimated> best;
    std::optional<Rank> best_rank;
    Scorer scorer(space, space.plan);
    const std::vector<std::int64_t> counts = {space.plan.gpus};
    for (const Breadth breadth : {Breadth::usual, Breadth::all}) {
        SearchCounts unused;
        for_each_legal(space, counts, candidates(space, space.plan.gpus, breadth), {}, unused, [&](const Plan& candidate, std::int64_t) {
            Plan plan = candidate;
            const Scores scores = scorer.score(plan);
            const Rank here = rank(plan, scores);
            if (best_rank && here >= *best_rank) return;
            best_rank = here;
            best = Estimated{plan, scores.bytes, scores.share, scores.verdict, scores.seconds};
        });
        if (best) break;
    }
    return best;
}

SearchOutcome search_all(const SearchSpace& space, const std::vector<std::int64_t>& gpu_counts) {
    SearchOutcome out;
    out.chosen.assign(gpu_counts.size(), -1);
    if (gpu_counts.empty()) return out;
    std::vector<std::optional<Rank>> best(gpu_counts.size());
    out.fastest.assign(gpu_counts.size(), -1);
    api::SearchColumns& c = out.columns;
    std::int32_t row = -1;
    const auto tokens = static_cast<double>(space.plan.global_batch * space.plan.sequence_length);  // per step
    std::array<std::int64_t, 4> degrees_before{};
    Scorer scorer(space, space.plan);
    const Candidates all = candidates(space, *std::max_element(gpu_counts.begin(), gpu_counts.end()), Breadth::usual);
    for_each_legal(space, gpu_counts, all, {}, out.counts, [&](const Plan& candidate, std::int64_t) {
        Plan plan = candidate;
        const Scores scores = scorer.score(plan);
        const Fit fit = scores.verdict.fit;
        ++out.counts.by_fit[static_cast<std::size_t>(fit)];
        const std::array<std::int64_t, 4> degrees = {plan.tensor_parallel, plan.context_parallel, plan.pipeline_parallel, plan.micro_batch};
        if (degrees != degrees_before) ++row;
        degrees_before = degrees;
        const auto which = static_cast<std::size_t>(std::find(gpu_counts.begin(), gpu_counts.end(), plan.gpus) - gpu_counts.begin());
        const Rank here = rank(plan, scores);
        if (!best[which] || here < *best[which]) {
            best[which] = here;
            out.chosen[which] = row;
        }
        std::int64_t& fastest = out.fastest[which];
        if (fit == Fit::fits && (fastest < 0 || scores.seconds < c.step_seconds[static_cast<std::size_t>(fastest)]))
            fastest = static_cast<std::int64_t>(c.row.size());
        c.row.push_back(row);
        c.gpus.push_back(static_cast<std::int32_t>(plan.gpus));
        c.tensor_parallel.push_back(static_cast<std::int32_t>(plan.tensor_parallel));
        c.context_parallel.push_back(static_cast<std::int32_t>(plan.context_parallel));
        c.pipeline_parallel.push_back(static_cast<std::int32_t>(plan.pipeline_parallel));
        c.micro_batch.push_back(static_cast<std::int32_t>(plan.micro_batch));
        c.data_parallel.push_back(static_cast<std::int32_t>(plan.data_parallel()));
        c.expert_parallel.push_back(static_cast<std::int32_t>(plan.expert_parallel));
        c.total_bytes.push_back(scores.bytes);
        c.share.push_back(scores.share);
        c.step_seconds.push_back(scores.seconds);
        c.tokens_per_s.push_back(tokens / scores.seconds);
        c.tokens_per_s_per_gpu.push_back(tokens / scores.seconds / static_cast<double>(plan.gpus));
        c.fit_class.push_back(static_cast<std::uint8_t>(fit));
    });
    return out;
}

double api::benchmark_estimates(std::int32_t count) {
    const Catalog& c = fourfold::catalog();
    if (c.models.empty()) return 0;
    Plan plan;
    double sum = 0;
    for (std::int32_t i = 0; i < count; ++i) {
        plan.tensor_parallel = std::int64_t{1} << (i & 3);
        plan.pipeline_parallel = std::int64_t{1} << ((i >> 2) & 3);
        plan.context_parallel = std::int64_t{1} << ((i >> 4) & 1);
        plan.micro_batch = std::int64_t{1} << ((i >> 5) & 1);
        plan.gpus = 4 * plan.model_parallel();
        const Model& model = c.models[static_cast<std::uint32_t>(i) % static_cast<std::uint32_t>(c.models.size())].model;
        sum += fujii2024<double>(model, plan).total();
    }
    return sum;
}

}  // namespace fourfold
