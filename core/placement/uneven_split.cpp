#include "placement/uneven_split.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "plan/rules.h"
#include "time/step_time.h"

namespace fourfold {

namespace {

// Every split that Megatron-LM can be told, but those with ends more than twice as heavy as an even share.
std::vector<Plan> splits(const Model& model, const Plan& given) {
    std::vector<Plan> list;
    const std::int64_t stages = given.pipeline_parallel, V = given.virtual_stages, most = 2 * (model.layers / stages + V);
    const auto add = [&](std::int64_t first, std::int64_t last, bool embedding, bool loss) {
        Plan plan = given;
        plan.layout = nullptr, plan.split = Split::equal;
        plan.first_stage_layers = first, plan.last_stage_layers = last;
        plan.count_embedding_as_layer = embedding, plan.count_loss_as_layer = loss;
        if (is_legal(model, plan)) list.push_back(plan);
    };
    for (const bool embedding : {false, true})
        for (const bool loss : {false, true}) add(0, 0, embedding, loss);
    if (stages == 2) {
        for (std::int64_t first = V; first < model.layers; first += V) add(first, model.layers - first, false, false);
        return list;
    }
    for (std::int64_t each = V; each <= most; each += V) {
        const std::int64_t ends = model.layers - each * (stages - 2);
        for (std::int64_t first = V; first <= std::min(most, ends - V); first += V)
            if (ends - first <= most) add(first, ends - first, false, false);
    }
    return list;
}

// Stage by stage the slowest unit's speed.
std::vector<double> stage_speeds(const PlacementRequest& r, const Plan& plan, const Placement& at) {
    std::vector<double> speeds(static_cast<std::size_t>(plan.pipeline_parallel), 1);
    if (r.speeds.empty()) return speeds;
    std::fill(speeds.begin(), speeds.end(), INFINITY);
    const RankGrid grid = rank_grid(plan, r.links.gpus);
    for (std::int64_t k = 0; k < grid.positions(); ++k) {
        const std::int64_t first = k * grid.ranks_per_unit, last = std::min(first + grid.ranks_per_unit, grid.ranks) - 1;
        for (auto stage = first / grid.per_stage; stage <= last / grid.per_stage; ++stage) {
            double& speed = speeds[static_cast<std::size_t>(stage)];
            speed = std::min(speed, r.speeds[at[static_cast<std::size_t>(k)]]);
        }
    }
    return speeds;
}

// The placement with the slowest units at the first, or at the last positions; the others keep their order.
Placement slow_at(const PlacementRequest& r, std::size_t positions, const Placement& found, bool last) {
    Placement at;
    for (std::size_t k = 0; k < positions; ++k)
        insert_sorted(at, found[k],
                      [&](std::uint32_t a, std::uint32_t b) { return last ? r.speeds[a] > r.speeds[b] : r.speeds[a] < r.speeds[b]; });
    at.insert(at.end(), found.begin() + static_cast<std::ptrdiff_t>(positions), found.end());
    return at;
}

struct Trial {
    double score;
    Plan plan;
    std::size_t start;  // which placement
};

}  // namespace

std::optional<UnevenSplit> uneven_split(const PlacementRequest& r, const Plan& plan, const AnnealingResult& found,
                                        PlacementShape (*shape_of)(const PlacementRequest&, const Plan&)) {
    if (r.bare || r.objective == Objective::pipette || plan.pipeline_parallel < 2) return std::nullopt;
    const auto positions = static_cast<std::size_t>(rank_grid(plan, r.links.gpus).positions());
    std::vector<Placement> starts = {found.placement};
    if (!r.speeds.empty())
        for (const bool last : {false, true}) starts.push_back(slow_at(r, positions, found.placement, last));
    std::vector<std::vector<double>> speeds;
    speeds.reserve(starts.size());
    for (const Placement& start : starts) speeds.push_back(stage_speeds(r, plan, start));
    // ---- 1. the stages' work alone, of every split on every start
    const StageWork work(r.job, plan, r.links);
    const PipelineWeights weights = pipeline_weights(plan);
    const auto score = [&](const std::vector<double>& seconds, const std::vector<double>& speed) {
        double sum = 0, most = 0;
        for (std::size_t i = 0; i < seconds.size(); ++i) {
            sum += seconds[i] / speed[i];
            most = std::max(most, seconds[i] / speed[i]);
        }
        return weights.sum_work * sum + weights.most_work * most;
    };
    constexpr std::size_t kTrials = 4;
    std::vector<Trial> best;
    const double now = score(work.seconds(plan), speeds[0]);
    for (const Plan& split : splits(r.job.model, plan)) {
        const std::vector<double> seconds = work.seconds(split);
        for (std::size_t i = 0; i < starts.size(); ++i) {
            const Trial trial{score(seconds, speeds[i]), split, i};
            if (trial.score >= now * (1 - kWorthIt / 2) || (best.size() == kTrials && trial.score >= best.back().score)) continue;
            if (best.size() == kTrials) best.pop_back();
            insert_sorted(best, trial, [](const Trial& a, const Trial& b) { return a.score < b.score; });
        }
    }
    // ---- 2. the best of them with links and memory, and a short search
    std::optional<UnevenSplit> answer;
    for (const Trial& trial : best) {
        constexpr std::int64_t kMostMoves = 50'000;
        const PlacementShape shape = shape_of(r, trial.plan);
        AnnealingBudget budget = r.budget;
        budget.moves = std::min(budget.moves / 50, kMostMoves);
        budget.restarts = 1;
        budget.start = starts[trial.start];
        const AnnealingResult result = anneal(shape, budget);
        if (result.misfits > found.misfits || result.seconds >= (answer ? answer->seconds : found.seconds * (1 - kWorthIt))) continue;
        answer = UnevenSplit{trial.plan, result.seconds};
    }
    return answer;
}

Text text_of_split(const Model& model, const Plan& plan) {
    const auto ends = layers_per_chunk(model, plan);
    if (!ends) return {};
    const std::int64_t V = plan.virtual_stages, first = ends->first * V - (plan.count_embedding_as_layer ? 1 : 0),
                       last = ends->last * V - (plan.count_loss_as_layer ? 1 : 0), middle = ends->middle * V;
    if (plan.pipeline_parallel == 2) return Text("split.two_stages").with("first", first).with("last", last);
    return Text("split.uneven_ends").with("first", first).with("middle", middle).with("last", last);
}

}  // namespace fourfold
