// Based on
//   S. Yim et al.: Pipette, DATE 2024, arXiv 2405.18093
#include "placement/placement.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "placement/fit.h"
#include "placement/rank_files.h"
#include "placement/request.h"
#include "placement/uneven_split.h"

namespace fourfold {

namespace {

constexpr double kGiga = 1e9;

struct Found {
    PlacementShape shape;
    AnnealingResult result;
    Plan plan;
    bool fits() const { return result.misfits == 0; }
};

PlacementShape shape_of(const PlacementRequest& r, const Plan& plan) {
    if (r.bare) return pipette_shape(*r.bare, r.links);
    PlacementShape shape =
        r.objective == Objective::pipette ? pipette_shape(r.job, plan, r.links) : step_time_shape(r.job, plan, r.links, r.speeds);
    shape.misfit = misfits(r, plan);
    return shape;
}

double seconds_at(const PlacementShape& shape, const Placement& placement) {
    PlacementCost cost(shape);
    cost.reset(placement);
    return cost.seconds();
}

// The caller's question, with a text; moves of the candidates before this one count too.
struct Asked {
    GoOnText go_on;
    void* context;
    std::int64_t moves_before, index;
    double default_seconds;
    std::size_t positions;
    Json placement;  // a new best since the last question
};
void improved(void* context, const Placement& best) {
    Asked& asked = *static_cast<Asked*>(context);
    asked.placement = Json::array();
    for (std::size_t k = 0; k < asked.positions; ++k) asked.placement.push_back(best[k]);
}
bool ask(void* context, std::int64_t moves, double best_seconds) {
    Asked& asked = *static_cast<Asked*>(context);
    const Json progress = Object()
                              .add("moves", asked.moves_before + moves)
                              .add("best_seconds", best_seconds)
                              .add("default_seconds", asked.default_seconds)
                              .add("index", asked.index)
                              .add("placement", std::exchange(asked.placement, nullptr));
    return asked.go_on(asked.context, progress.dump());
}

Found search(const PlacementRequest& r, const Plan& plan, const AnnealingBudget& budget, std::int64_t moves_before, std::int64_t index,
             GoOnText go_on, void* context) {
    Found found;
    found.plan = plan;
    found.shape = shape_of(r, plan);
    Placement given;
    for (std::uint32_t i = 0; i < found.shape.units; ++i) given.push_back(i);
    Asked asked{go_on, context, moves_before, index, seconds_at(found.shape, given), found.shape.positions, nullptr};
    found.result = anneal(found.shape, budget, go_on == nullptr ? GoOn{} : GoOn{&ask, &asked, &improved});
    return found;
}

// ---- the band
double gain(const PlacementShape& shape, const Placement& given, const Placement& best) {
    const double before = seconds_at(shape, given), after = seconds_at(shape, best);
    return before > 0 ? 1 - after / before : 0;
}

struct GainBand {
    double low, high;
};
// Transfers between stages and data traffic, each scaled by the root of the ratio between the highest and the lowest share of the network's
// rate that was fitted to the runs of a cluster (transfers.cpp, kSites): 0.780 / 0.121 and 1 / 0.628. Four clusters: a spread, not a tested
// interval.
constexpr double kSpreadOfTransfers = 2.54, kSpreadOfData = 1.26;
GainBand gain_band(PlacementShape& shape, const Placement& given, const Placement& best) {
    const PlacementShape& s = shape;
    const double sum = s.sum_hops, most = s.most_hops;
    const std::vector<std::vector<DataLeg>> data = s.data;
    GainBand band{1, -1};
    for (const double transfers : {1 / kSpreadOfTransfers, 1.0, kSpreadOfTransfers})
        for (const double traffic : {1 / kSpreadOfData, 1.0, kSpreadOfData}) {
            shape.sum_hops = sum * transfers, shape.most_hops = most * transfers;
            for (std::size_t stage = 0; stage < data.size(); ++stage)
                for (std::size_t i = 0; i < data[stage].size(); ++i) {
                    const DataLeg& from = data[stage][i];
                    DataLeg& to = shape.data[stage][i];
                    to.fixed = from.fixed * traffic;
                    for (std::size_t k = 0; k < to.flows.size(); ++k)
                        to.flows[k] = {from.flows[k].inside * traffic, from.flows[k].across * traffic};
                }
            const double share = gain(shape, given, best);
            band.low = std::min(band.low, share), band.high = std::max(band.high, share);
        }
    shape.sum_hops = sum, shape.most_hops = most, shape.data = data;
    return band;
}

// ---- words
// Of units that have too little memory where they stand: fewer in the best order than in the measurement's.
Text finding_of_memory(const PlacementRequest& r, const AnnealingResult& result, double share) {
    constexpr double kAsLong = 0.0005;  // less is shown as 0.0 %
    const char* id = std::abs(share) < kAsLong ? "finding.memory_as_long" : share > 0 ? "finding.memory_faster" : "finding.memory_slower";
    Text text(id);
    text.with("units", kind_of_units(r)).with("before", result.default_misfits).with("after", result.misfits);
    return std::abs(share) < kAsLong ? text : text.with("share", std::abs(share));
}

Text finding(const PlacementRequest& r, const Found& found, double share) {
    constexpr double kRounding = 1e-9;
    double least = 0, most = 0;
    for (const double x : found.shape.link)
        if (x > 0) least = least == 0 ? x : std::min(least, x), most = std::max(most, x);
    const AnnealingResult& result = found.result;
    if (result.misfits < result.default_misfits) return finding_of_memory(r, result, share);
    if (share <= kRounding && most <= least * (1 + kRounding)) return Text("finding.links_alike").with("units", kind_of_units(r));
    if (share <= kRounding) return "finding.no_better_order";
    if (share < kWorthIt) return Text("finding.not_worth_it").with("share", share);
    return Text("finding.better_order").with("units", kind_of_units(r)).with("share", share);
}

// ---- what sets the pace
Json describe_link(const PlacementShape& shape, const Placement& at, std::uint32_t from, std::uint32_t to, std::int64_t stage) {
    const double x = shape.link[at[from] * shape.units + at[to]];
    return Object()
        .add("from", std::int64_t{at[from]})
        .add("to", std::int64_t{at[to]})
        .add("positions", Json::array({from, to}))
        .add("stage", stage)
        .add("gbyte_per_s", 1 / x / kGiga);
}

Json binds(const PlacementShape& shape, const Placement& at) {
    PlacementCost cost(shape);
    cost.reset(at);
    const auto slowest = [](const std::vector<double>& values) {
        return static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin());
    };
    Json pipeline, ring;
    if (shape.stages > 1 && cost.pipelines() > 0) {
        const std::size_t r = slowest(cost.pipeline_values());
        Json links = Json::array();
        for (std::uint32_t stage = 0; stage + 1 < shape.stages; ++stage) {
            const std::uint32_t from = shape.pipelines[r * shape.stages + stage], to = shape.pipelines[r * shape.stages + stage + 1];
            if (from != to) links.push_back(describe_link(shape, at, from, to, stage));
        }
        pipeline = Object()
                       .add("pipeline", static_cast<std::int64_t>(r))
                       .add("seconds", cost.pipeline_values()[r] * shape.times)
                       .add("links", std::move(links));
    }
    if (cost.rings() > 0) {
        const std::size_t i = slowest(cost.ring_values());
        const PlacementRing& one = shape.rings[i];
        std::size_t from = 0;
        const auto x = [&](std::size_t k) {
            return shape.link[at[one.positions[k]] * shape.units + at[one.positions[(k + 1) % one.positions.size()]]];
        };
        for (std::size_t k = 1; k < one.positions.size(); ++k)
            if (x(k) > x(from)) from = k;
        ring = Object()
                   .add("stage", std::int64_t{one.stage})
                   .add("seconds", cost.ring_values()[i] * shape.times)
                   .add("link", describe_link(shape, at, one.positions[from], one.positions[(from + 1) % one.positions.size()], one.stage));
    }
    return Object().add("pipeline", std::move(pipeline)).add("ring", std::move(ring));
}

// ---- positions and files
Json describe_positions(const PlacementRequest& r, const Found& found) {
    Json list = Json::array();
    const RankGrid grid = r.bare ? RankGrid{} : rank_grid(found.plan, r.links.gpus);
    const std::int64_t inner = found.plan.tensor_grid() * found.plan.context_parallel;
    for (std::int64_t k = 0; k < std::int64_t{found.shape.positions}; ++k) {
        std::int64_t stages[2], data[2];
        if (r.bare) {
            stages[0] = stages[1] = k % r.bare->stages;
            data[0] = data[1] = k / r.bare->stages;
        } else {
            const std::int64_t first = k * grid.ranks_per_unit, last = std::min(first + grid.ranks_per_unit, grid.ranks) - 1;
            stages[0] = first / grid.per_stage, stages[1] = last / grid.per_stage;
            data[0] = first % grid.per_stage / inner, data[1] = last % grid.per_stage / inner;
            if (stages[0] != stages[1]) data[0] = 0, data[1] = found.plan.data_parallel() - 1;
        }
        const std::uint32_t unit = found.result.placement[static_cast<std::size_t>(k)];
        list.push_back(Object()
                           .add("position", k)
                           .add("unit", std::int64_t{unit})
                           .add("name", r.links.names[unit])
                           .add("stages", Json::array({stages[0], stages[1]}))
                           .add("data_ranks", Json::array({data[0], data[1]})));
    }
    return list;
}

Json describe_files(const PlacementRequest& r, const Found& found) {
    Json files = Json::array();
    if (r.links.gpus) return files;  // launchers order hosts; a GPU's place in its host is set by CUDA_VISIBLE_DEVICES
    std::vector<std::string> hosts;
    for (std::uint32_t k = 0; k < found.shape.positions; ++k) hosts.push_back(r.links.names[found.result.placement[k]]);
    const std::int64_t per_host = r.bare ? r.job.plan.gpus_per_node : found.plan.gpus_per_node;
    const std::int64_t ranks = r.bare ? per_host * static_cast<std::int64_t>(hosts.size()) : found.plan.gpus;
    for (RankFile& file : rank_files(hosts, per_host, ranks))
        files.push_back(Object().add("id", file.id).add("name", file.name).add("text", file.text).add("how", file.how));
    return files;
}

// Whether some part of the plan fits no unit at all: then none need be left out.
bool is_too_large(const PlacementShape& shape) {
    for (std::uint32_t k = 0; k < shape.positions; ++k) {
        bool any = shape.misfit.empty();
        for (std::size_t i = k; i < shape.misfit.size(); i += shape.positions) any = any || shape.misfit[i] == 0;
        if (!any) return true;
    }
    return false;
}

Json describe_warnings(const PlacementRequest& r, const Found& found) {
    Problems warnings;
    std::uint32_t odd = kMostUnits;  // the first placed unit that no file can name
    for (std::uint32_t k = 0; !r.links.gpus && k < found.shape.positions; ++k)
        if (const std::uint32_t unit = found.result.placement[k]; !is_host_name(r.links.names[unit])) odd = std::min(odd, unit);
    if (odd < kMostUnits)
        warnings.push_back({"links.nodes[" + std::to_string(odd) + "]", "range", shown(Json(r.links.names[odd])),
                            Text("problem.no_host_name").with("name", shown(Json(r.links.names[odd]))), "suggestion.host_names", nullptr});
    if (!r.bare && is_too_large(found.shape))
        warnings.push_back({"units", "does_not_fit", nullptr, "problem.no_unit_large_enough", "suggestion.plan_of_less_memory", nullptr});
    else if (!r.bare)
        for (std::uint32_t k = 0; !found.fits() && k < found.shape.positions; ++k) {
            const std::uint32_t unit = found.result.placement[k];
            if (found.shape.misfit[unit * found.shape.positions + k] == 0) continue;
            warnings.push_back({"units", "does_not_fit", r.links.names[unit],
                                Text("problem.unit_too_small").with("unit", shown(Json(r.links.names[unit]))), "suggestion.leave_unit_out",
                                nullptr});
            if (warnings.size() == FirstProblems::kMost) break;
        }
    return to_json(warnings);
}

Json describe_split(const PlacementRequest& r, const Found& found) {
    const auto split = uneven_split(r, found.plan, found.result, shape_of);
    if (!split) return nullptr;
    const Plan& p = split->plan;
    return Object()
        .add("set", Object()
                        .add("layout", "equal")
                        .add("first_stage_layers", p.first_stage_layers)
                        .add("last_stage_layers", p.last_stage_layers)
                        .add("count_embedding_as_layer", p.count_embedding_as_layer)
                        .add("count_loss_as_layer", p.count_loss_as_layer))
        .add("label", text_of_split(r.job.model, p))
        .add("seconds", split->seconds);
}

// ---- every candidate
struct Placed {
    Found best;
    Json ranked = Json::array();  // the candidates, the fastest first; empty where the request has none
    std::int64_t moves = 0;
};

// Each candidate with its share of the moves.
Placed place_candidates(const PlacementRequest& r, GoOnText go_on, void* context) {
    Placed placed;
    const auto plans = r.candidates.empty() ? std::vector<Plan>{r.job.plan} : r.candidates;
    std::vector<std::tuple<double, std::size_t, double, bool>> order;
    AnnealingBudget budget = r.budget;
    if (budget.moves > 0) budget.moves = std::max<std::int64_t>(1, budget.moves / static_cast<std::int64_t>(plans.size()));
    for (std::size_t i = 0; i < plans.size(); ++i) {
        Found one = search(r, plans[i], budget, placed.moves, static_cast<std::int64_t>(i), go_on, context);
        placed.moves += one.result.moves;
        const bool stopped = one.result.stopped;
        insert_sorted(order, std::tuple(one.result.seconds, i, one.result.default_seconds, one.fits()),
                      [](const auto& a, const auto& b) { return std::get<0>(a) < std::get<0>(b); });
        const bool better = one.fits() != placed.best.fits() ? one.fits() : one.result.seconds < placed.best.result.seconds;
        if (i == 0 || better) placed.best = std::move(one);
        if (stopped) break;
    }
    if (r.candidates.empty()) return placed;
    for (const auto& [seconds, index, before, fits_all] : order)
        placed.ranked.push_back(Object()
                                    .add("index", static_cast<std::int64_t>(index))
                                    .add("default_seconds", before)
                                    .add("best_seconds", seconds)
                                    .add("fits", fits_all));
    return placed;
}

}  // namespace

std::optional<Json> placement_answer(Json request, api::LinkColumns columns, GoOnText go_on, void* context, Problems& problems) {
    const auto read = read_placement(request, std::move(columns), problems);
    request = nullptr;
    if (!read) return std::nullopt;
    const PlacementRequest& r = *read;
    Placed placed = place_candidates(r, go_on, context);
    Found& found = placed.best;
    const AnnealingResult& best = found.result;
    Placement given;
    for (std::uint32_t i = 0; i < found.shape.units; ++i) given.push_back(i);
    const double share = best.default_seconds > 0 ? 1 - best.seconds / best.default_seconds : 0;
    const GainBand band = gain_band(found.shape, given, best.placement);
    Json curve = Json::array(), placement = Json::array(), spare = Json::array();
    for (const auto& [after, seconds] : best.curve) curve.push_back(Json::array({after, seconds}));
    for (std::uint32_t k = 0; k < found.shape.units; ++k) (k < found.shape.positions ? placement : spare).push_back(best.placement[k]);
    Job job = r.job;
    job.plan = found.plan;
    return Object()
        .add("ok", true)
        .add("job", r.bare ? Json() : to_json(job))
        .add("objective", Object().add("id", kObjectiveChoices[static_cast<std::size_t>(r.objective)].id))
        .add("units", kind_of_units(r))
        .add("default_seconds", best.default_seconds)
        .add("best_seconds", best.seconds)
        .add("gain_share", share)
        .add("low_gain_share", band.low)
        .add("high_gain_share", band.high)
        .add("basis", Text("basis.placement").with("transfers", kSpreadOfTransfers).with("data", kSpreadOfData))
        .add("nothing_to_gain", share < kWorthIt && best.misfits == best.default_misfits)
        .add("finding", finding(r, found, share))
        .add("placement", std::move(placement))
        .add("spare", std::move(spare))
        .add("positions", describe_positions(r, found))
        .add("moves", placed.moves)
        .add("moves_accepted", best.accepted)
        .add("restarts", best.restarts)
        .add("stopped", best.stopped)
        .add("curve", std::move(curve))
        .add("critical", Object().add("default", binds(found.shape, given)).add("best", binds(found.shape, best.placement)))
        .add("files", describe_files(r, found))
        .add("warnings", describe_warnings(r, found))
        .add("suggestion", describe_split(r, found))
        .add("ranked", std::move(placed.ranked));
}

}  // namespace fourfold
