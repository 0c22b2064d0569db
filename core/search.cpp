#include "search.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "catalog.h"

namespace fourfold {

static double bytes_of(const SearchSpace& space, const Plan& plan) {
    return space.method == Method::fujii2024 ? fujii2024<double>(space.model, plan).total()
                                             : fullest_stage(space.model, plan, framework_of(plan, space.gpu)).bytes;
}

// Expert parallel left open: the smallest power of two with which the plan fits, since every doubling makes tokens travel further; without
// any, the one that needs least.
static void choose_expert_parallel(const SearchSpace& space, Plan& plan) {
    Plan best = plan;
    double least = INFINITY;
    for (std::int64_t ranks = 1; ranks <= space.model.experts.count; ranks *= 2) {
        plan.expert_parallel = ranks;
        if (space.model.experts.count % ranks != 0 || plan.gpus % (ranks * plan.expert_tensor_parallel * plan.pipeline_parallel) != 0)
            break;
        const double bytes = bytes_of(space, plan);
        if (bytes < least) least = bytes, best = plan;
        if (judge(space.method, plan, bytes, space.gpu.memory_bytes).fit == Fit::fits) break;
    }
    plan = best;
}

static Estimated estimated(const SearchSpace& space, const Plan& given, StepTimer& timer) {
    Plan plan = given;
    if (space.plan.expert_parallel == kAuto && space.model.experts.count > 0) choose_expert_parallel(space, plan);
    const double bytes = bytes_of(space, plan);
    return {plan, bytes, bytes / space.gpu.memory_bytes, judge(space.method, plan, bytes, space.gpu.memory_bytes), timer.seconds(plan)};
}
Estimated estimated(const SearchSpace& space, const Plan& plan) {
    StepTimer timer(space.model, space.gpu, space.cluster);
    return estimated(space, plan, timer);
}

// ---- candidates
enum class Breadth { usual, all };

// Usual: TP within a node, CP and micro-batch powers of two. All: whatever can divide what it must divide.
struct Candidates {
    std::vector<std::int64_t> tensor, context, pipeline, micro_batch;
};

template <class Keep>
static std::vector<std::int64_t> candidates(std::int64_t set, std::int64_t most, Keep&& keep) {
    if (set != kAuto) return {set};
    std::vector<std::int64_t> values;
    for (std::int64_t v = 1; v <= most; ++v)
        if (keep(v)) values.push_back(v);
    return values;
}

static Candidates candidates(const SearchSpace& space, std::int64_t most_gpus, Breadth breadth) {
    const Plan& p = space.plan;
    const bool usual = breadth == Breadth::usual;
    const auto every = [](std::int64_t) { return true; };
    const auto power_of_two_or = [usual](std::int64_t whole) {
        return [usual, whole](std::int64_t v) { return usual ? (v & (v - 1)) == 0 : whole % v == 0; };
    };
    return {candidates(p.tensor_parallel, std::min<std::int64_t>(usual ? p.gpus_per_node : 1'024, most_gpus), every),
            candidates(p.context_parallel, std::min<std::int64_t>(most_gpus, 4'096), power_of_two_or(most_gpus)),
            candidates(p.pipeline_parallel, std::min(space.model.layers, most_gpus), every),
            candidates(p.micro_batch, std::min<std::int64_t>(p.global_batch, 65'536), power_of_two_or(p.global_batch))};
}

// Visits every legal plan for every GPU count, in the order of api.h, cheapest rejection first:
//   1. tensor rules, once per TP   2. split rules, once per (TP, CP, PP, GPU count)   3. batch rules, per micro-batch
// `visit(plan)` is called for the legal ones; each rejected candidate is counted under the first rule it breaks.
template <class Visit>
static void for_each_legal(const SearchSpace& space, const std::vector<std::int64_t>& gpu_counts, Breadth breadth, SearchCounts& counts,
                           Visit&& visit) {
    if (gpu_counts.empty()) return;
    const Candidates all = candidates(space, *std::max_element(gpu_counts.begin(), gpu_counts.end()), breadth);
    const auto size = [](const auto& list) { return static_cast<std::int64_t>(list.size()); };
    const std::int64_t per_split = size(all.micro_batch);
    const std::int64_t per_tensor = size(all.context) * size(all.pipeline) * size(gpu_counts) * per_split;
    counts.candidates += size(all.tensor) * per_tensor;
    const auto rejecting = [&](std::int64_t weight) {
        return [&counts, weight](Rule rule, bool holds) {
            if (!holds) counts.rejected[static_cast<std::size_t>(rule)] += weight;
            return holds;
        };
    };
    Plan plan = space.plan;
    if (plan.expert_parallel == kAuto) plan.expert_parallel = 1;  // chosen plan by plan, when each is estimated
    std::vector<std::int64_t> counts_that_divide;
    for (const std::int64_t tensor : all.tensor) {
        plan.tensor_parallel = tensor;
        if (!check_tensor_rules(space.model, plan, rejecting(per_tensor))) continue;
        for (const std::int64_t context : all.context) {
            plan.context_parallel = context;
            for (const std::int64_t pipeline : all.pipeline) {
                plan.pipeline_parallel = pipeline;
                counts_that_divide.clear();
                for (const std::int64_t gpus : gpu_counts) {
                    plan.gpus = gpus;
                    if (check_split_rules(space.model, plan, rejecting(per_split))) counts_that_divide.push_back(gpus);
                }
                if (counts_that_divide.empty()) continue;
                for (const std::int64_t micro_batch : all.micro_batch) {
                    plan.micro_batch = micro_batch;
                    for (const std::int64_t gpus : counts_that_divide) {
                        plan.gpus = gpus;
                        if (check_batch_rules(space.model, plan, rejecting(1))) visit(plan);
                    }
                }
            }
        }
    }
}

// ---- choosing
// Smaller is better.
static auto rank(const Estimated& e) {
    const Plan& p = e.plan;
    const bool fits = e.verdict.fit == Fit::fits;
    return std::make_tuple(!fits, fits ? e.seconds : e.bytes, p.model_parallel(), p.pipeline_parallel, p.context_parallel, -p.micro_batch);
}

std::optional<Estimated> choose(const SearchSpace& space) {
    std::optional<Estimated> best;
    StepTimer timer(space.model, space.gpu, space.cluster);
    for (const Breadth breadth : {Breadth::usual, Breadth::all}) {
        SearchCounts counts;
        for_each_legal(space, {space.plan.gpus}, breadth, counts, [&](const Plan& plan) {
            const Estimated candidate = estimated(space, plan, timer);
            if (!best || rank(candidate) < rank(*best)) best = candidate;
        });
        if (best) break;
    }
    return best;
}

// Sorting is by time, then by plan order (the order of the columns), so that the same plans come out the same everywhere.
static void rank_by_time(const std::vector<std::int64_t>& gpu_counts, SearchOutcome& out) {
    const api::SearchColumns& c = out.columns;
    out.fastest.resize(gpu_counts.size());
    out.front.resize(gpu_counts.size());
    std::vector<std::vector<std::int32_t>> by_count(gpu_counts.size());
    for (std::size_t i = 0; i < c.row.size(); ++i) {
        const auto which = static_cast<std::size_t>(std::find(gpu_counts.begin(), gpu_counts.end(), c.gpus[i]) - gpu_counts.begin());
        by_count[which].push_back(static_cast<std::int32_t>(i));
    }
    const auto at = [](const auto& column, std::int32_t i) { return column[static_cast<std::size_t>(i)]; };
    for (std::size_t which = 0; which < by_count.size(); ++which) {
        std::vector<std::int32_t>& entries = by_count[which];
        const auto faster = [&](std::int32_t a, std::int32_t b) {
            return at(c.step_seconds, a) != at(c.step_seconds, b) ? at(c.step_seconds, a) < at(c.step_seconds, b) : a < b;
        };
        std::make_heap(entries.begin(), entries.end(), faster);
        std::sort_heap(entries.begin(), entries.end(), faster);
        double least = INFINITY;
        for (const std::int32_t i : entries) {
            if (at(c.fit_class, i) != 0) continue;
            if (out.fastest[which].size() < kRanked) out.fastest[which].push_back(i);
            if (at(c.total_bytes, i) >= least) continue;
            least = at(c.total_bytes, i);
            out.front[which].push_back(i);
        }
    }
}

SearchOutcome search_all(const SearchSpace& space, const std::vector<std::int64_t>& gpu_counts) {
    SearchOutcome out;
    out.chosen.assign(gpu_counts.size(), -1);
    std::vector<std::optional<Estimated>> best(gpu_counts.size());
    api::SearchColumns& c = out.columns;
    std::int32_t row = -1;
    Plan previous{};
    StepTimer timer(space.model, space.gpu, space.cluster);
    for_each_legal(space, gpu_counts, Breadth::usual, out.counts, [&](const Plan& plan) {
        const Estimated candidate = estimated(space, plan, timer);
        const Fit fit = candidate.verdict.fit;
        ++out.counts.by_fit[static_cast<std::size_t>(fit)];
        const auto degrees = [](const Plan& p) {
            return std::tie(p.tensor_parallel, p.context_parallel, p.pipeline_parallel, p.micro_batch);
        };
        if (row < 0 || degrees(plan) != degrees(previous)) ++row;
        previous = plan;
        const auto which = static_cast<std::size_t>(std::find(gpu_counts.begin(), gpu_counts.end(), plan.gpus) - gpu_counts.begin());
        if (!best[which] || rank(candidate) < rank(*best[which])) {
            best[which] = candidate;
            out.chosen[which] = row;
        }
        c.row.push_back(row);
        c.gpus.push_back(static_cast<std::int32_t>(plan.gpus));
        c.tensor_parallel.push_back(static_cast<std::int32_t>(plan.tensor_parallel));
        c.context_parallel.push_back(static_cast<std::int32_t>(plan.context_parallel));
        c.pipeline_parallel.push_back(static_cast<std::int32_t>(plan.pipeline_parallel));
        c.micro_batch.push_back(static_cast<std::int32_t>(plan.micro_batch));
        c.data_parallel.push_back(static_cast<std::int32_t>(plan.data_parallel()));
        c.expert_parallel.push_back(static_cast<std::int32_t>(candidate.plan.expert_parallel));
        c.total_bytes.push_back(candidate.bytes);
        c.share.push_back(candidate.share);
        c.step_seconds.push_back(candidate.seconds);
        c.fit_class.push_back(static_cast<std::uint8_t>(fit));
    });
    rank_by_time(gpu_counts, out);
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
