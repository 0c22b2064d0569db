#include "search/ranking.h"

#include <algorithm>
#include <cmath>

#include "base/sorted.h"
#include "base/tie.h"

namespace fourfold {

namespace {

constexpr std::size_t kListed = 200;

// ---- as JSON: one list per column
void append(Json& columns, const Estimated& one) {
    const Plan& p = one.plan;
    columns["tensor_parallel"].push_back(p.tensor_parallel);
    columns["context_parallel"].push_back(p.context_parallel);
    columns["pipeline_parallel"].push_back(p.pipeline_parallel);
    columns["data_parallel"].push_back(p.data_parallel());
    columns["micro_batch"].push_back(p.micro_batch);
    columns["expert_parallel"].push_back(p.expert_parallel);
    columns["expert_tensor_parallel"].push_back(p.expert_tensor_parallel);
    columns["virtual_stages"].push_back(p.virtual_stages);
    columns["schedule"].push_back(kScheduleChoices[static_cast<std::size_t>(p.schedule)].id);
    columns["layout"].push_back(notation_of(p));
    columns["recompute"].push_back(kRecomputeChoices[static_cast<std::size_t>(p.recompute)].id);
    columns["recompute_modules"].push_back(set_text(p.recompute_modules, kModuleChoices));
    columns["recompute_layers"].push_back(p.recompute_layers);
    columns["zero"].push_back(kZeroChoices[static_cast<std::size_t>(p.zero)].id);
    columns["shard_replicas"].push_back(p.shard_replicas);
    columns["moments"].push_back(kMomentsChoices[static_cast<std::size_t>(p.moments)].id);
    columns["sequence_parallel"].push_back(p.sequence_parallel);
    columns["activation_offload"].push_back(p.activation_offload);
    columns["token_slices"].push_back(p.token_slices);
    columns["expert_overlap"].push_back(p.expert_overlap);
    columns["sync_each_micro_batch"].push_back(kHabitChoices[static_cast<std::size_t>(p.sync_each_micro_batch)].id);
    columns["total_bytes"].push_back(one.bytes);
    columns["whole_bytes"].push_back(one.verdict.whole_bytes);
    columns["share"].push_back(one.share);
    columns["class"].push_back(kFitIds[static_cast<std::size_t>(one.verdict.fit)]);
    columns["probability"].push_back(one.verdict.probability < 0 ? Json() : Json(one.verdict.probability));
    columns["step_seconds"].push_back(one.seconds);
    columns["tokens_per_s"].push_back(static_cast<double>(p.global_batch * p.sequence_length) / one.seconds);
}

// Rows that no other row beats in both time and memory, the fastest first.
Json front_of(const std::vector<Ranked>& plans) {
    const auto before = [&](std::size_t a, std::size_t b) {
        const Estimated &x = plans[a].estimate, &y = plans[b].estimate;
        return x.seconds != y.seconds ? x.seconds < y.seconds : x.verdict.whole_bytes < y.verdict.whole_bytes;
    };
    Json front = Json::array();
    double least = INFINITY;
    for (const std::size_t row : places_in_order(plans.size(), before))
        if (plans[row].estimate.verdict.whole_bytes < least) {
            least = plans[row].estimate.verdict.whole_bytes;
            front.push_back(row);
        }
    return front;
}

// Of the filters, those without which alone something would be ranked.
std::uint32_t excluding(const SearchSpace& space, const PlanFilter& filter) {
    std::uint32_t blamed = 0;
    for (std::uint32_t bit = 1; bit <= kMemoryFilter; bit <<= 1) {
        if ((filter.bits() & bit) == 0) continue;
        const auto plan = wanted_plan(space.plan, filter, bit);
        if (!plan) continue;
        const SearchSpace without{space.model, *plan, space.gpu, space.method, space.cluster, space.exploration};
        const Goal goal{.plans = 1, .most_bytes = bit == kMemoryFilter ? INFINITY : filter.most_bytes};
        if (!search(without, goal).plans.empty()) blamed |= bit;
    }
    return blamed;
}

void note_recompute(const SearchSpace& space, FilterChoices& choices) {
    const auto note = [&](Recompute one) { choices.note(FilterKey::recompute, static_cast<std::int64_t>(one)); };
    if ((space.plan.open & open_recompute) == 0) return note(space.plan.recompute);
    note(Recompute::none);
    if ((space.exploration.left_out & without_recompute) != 0) return;
    const bool in_parts = row_of(space.plan.framework).recomputes_parts;
    if (in_parts) note(Recompute::selective);
    if (may_recompute_operations(space.model, space.plan)) note(Recompute::operations);
    note(Recompute::full);
    if (in_parts) note(Recompute::block);
}

Json columns_of(const std::vector<Ranked>& plans) {
    Json columns = Json::object();
    for (const Ranked& one : plans) {
        append(columns, one.estimate);
        columns["tie"].push_back(one.tie);
    }
    return columns;
}

Json closest_row(const SearchSpace& space) {
    const auto least = leanest_plan(space);
    Json row;
    if (!least) return row;
    append(row, *least);
    for (auto& [key, column] : row.items()) column = Json(column[0]);
    return row;
}

}  // namespace

Json rejections(const std::array<std::int64_t, static_cast<std::size_t>(Rule::count)>& rejected) {
    using Rejected = std::pair<std::int64_t, std::string_view>;
    std::vector<Rejected> most_first;
    for (std::size_t i = 0; i < rejected.size(); ++i)
        if (rejected[i] > 0)
            insert_sorted(most_first, Rejected{rejected[i], text(static_cast<Rule>(i)).id}, [](const Rejected& a, const Rejected& b) {
                return a.first != b.first ? a.first > b.first : a.second < b.second;
            });
    Json list = Json::array();
    for (const auto& [count, rule] : most_first) list.push_back(Object().add("rule", rule).add("count", count));
    return list;
}

Json ranking_answer(const SearchSpace& space, const PlanFilter& filter) {
    FilterChoices choices;
    note_recompute(space, choices);
    const SearchCounts counts = count_candidates(space, candidates(space), &choices);
    const auto plan = wanted_plan(space.plan, filter);
    SearchResult found;
    std::int64_t legal = 0;  // of the plans that are wanted
    Json closest;
    if (plan) {
        const SearchSpace narrower{space.model, *plan, space.gpu, space.method, space.cluster, space.exploration};
        legal = filter.fields == 0 ? counts.legal : count_candidates(narrower, candidates(narrower)).legal;
        found = search(narrower, {.plans = kListed, .most_bytes = filter.most_bytes});
        if (found.plans.empty()) closest = closest_row(narrower);
    }
    const std::int64_t ranked = found.fit, does_not_fit = found.plans.empty() ? legal : found.does_not_fit;
    return Object()
        .add("ok", true)
        .add("gpus", space.plan.gpus)
        .add("candidates", counts.candidates)
        .add("legal", counts.legal)
        .add("filtered", counts.legal - legal)
        .add("ranked", ranked)
        .add("does_not_fit", does_not_fit)
        .add("slower", legal - ranked - does_not_fit)
        .add("looked_at", found.looked_at)
        .add("equally_good", found.equally_good)
        .add("tie_width", kTieWidth)
        .add("rejected", rejections(counts.rejected))
        .add("choices", choices.to_json())
        .add("excluding", found.plans.empty() ? filter_keys(excluding(space, filter)) : Json::array())
        .add("plans", columns_of(found.plans))
        .add("front", front_of(found.plans))
        .add("closest", std::move(closest));
}

}  // namespace fourfold
