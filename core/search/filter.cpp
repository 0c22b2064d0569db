#include "search/filter.h"

#include <algorithm>

#include "base/bytes.h"

namespace fourfold {

namespace {

struct FilterField {
    std::string_view key;  // as in the job
    std::int64_t (*value)(const Plan&);
    bool (*is_open)(const Plan&);
    void (*take)(Plan&, const Plan& like);
    const std::span<const Choice>* choices;  // of a choice; none for numbers and yes or no
    bool is_yes_or_no = false;
};
template <std::int64_t Plan::*number>
constexpr FilterField degree(std::string_view key) {
    return {key, [](const Plan& p) { return p.*number; }, [](const Plan& p) { return p.*number == kAuto; },
            [](Plan& p, const Plan& like) { p.*number = like.*number; }, nullptr};
}
template <auto field, std::uint32_t bit>
constexpr FilterField option(std::string_view key, const std::span<const Choice>* choices) {
    return {key,
            [](const Plan& p) { return static_cast<std::int64_t>(p.*field); },
            [](const Plan& p) { return (p.open & bit) != 0; },
            [](Plan& p, const Plan& like) {
                p.*field = like.*field;
                p.open &= ~bit;
            },
            choices,
            choices == nullptr};
}
const FilterField kFields[kFilterFields] = {
    degree<&Plan::tensor_parallel>("tensor_parallel"),
    degree<&Plan::pipeline_parallel>("pipeline_parallel"),
    degree<&Plan::context_parallel>("context_parallel"),
    degree<&Plan::micro_batch>("micro_batch"),
    degree<&Plan::expert_parallel>("expert_parallel"),
    degree<&Plan::expert_tensor_parallel>("expert_tensor_parallel"),
    degree<&Plan::virtual_stages>("virtual_stages"),
    option<&Plan::schedule, open_schedule>("schedule", &kScheduleChoices),
    option<&Plan::recompute, open_recompute>("recompute", &kRecomputeChoices),
    option<&Plan::zero, open_zero>("zero", &kZeroChoices),
    option<&Plan::sequence_parallel, open_sequence_parallel>("sequence_parallel", nullptr),
};
constexpr std::string_view kMemoryKey = "memory_at_most_gib";

}  // namespace

std::optional<Plan> wanted_plan(const Plan& plan, const PlanFilter& filter, std::uint32_t without) {
    Plan result = plan;
    for (std::size_t i = 0; i < kFilterFields; ++i) {
        if (((filter.fields & ~without) >> i & 1U) == 0) continue;
        if (kFields[i].is_open(plan))
            kFields[i].take(result, filter.like);
        else if (kFields[i].value(plan) != kFields[i].value(filter.like))
            return std::nullopt;
    }
    return result;
}

PlanFilter read_filter(const Json& only, Problems& problems) {
    PlanFilter filter;
    if (!only.is_object()) {
        problems.push_back({"only", "type", shown(only), "problem.no_only", {}, nullptr});
        return filter;
    }
    Problems own;
    Json fields = Json::object(), rest = Json::object();  // of the plan, and whatever else stands there
    for (const auto& [key, value] : only.items()) {
        const auto known =
            std::find_if(std::begin(kFields), std::end(kFields), [&key = key](const FilterField& field) { return field.key == key; });
        (known == std::end(kFields) ? rest : fields)[key] = value;
        if (known != std::end(kFields) && value != "auto") filter.fields |= 1U << (known - kFields);
    }
    FieldReader plan_reader(fields, own), reader(rest, own);
    visit_fields(filter.like, plan_reader);
    double gib = 0;
    reader.number({"memory_at_most_gib|-|gib"}, gib, {0.1, 1e6});
    if (gib > 0) filter.most_bytes = gib * kGibi;
    for (const FilterField& field : kFields) reader.any(field.key);  // to be suggested for a mistyped one
    reader.reject_unknown();
    for (Problem& problem : own) {
        problem.field = under("only", problem.field);
        problems.push_back(std::move(problem));
    }
    return filter;
}

Json filter_keys(std::uint32_t bits) {
    Json keys = Json::array();
    for (std::size_t i = 0; i < kFilterFields; ++i)
        if ((bits >> i & 1U) != 0) keys.push_back(kFields[i].key);
    if ((bits & kMemoryFilter) != 0) keys.push_back(kMemoryKey);
    return keys;
}

void FilterChoices::note(FilterKey field, std::int64_t value) {
    std::vector<std::int64_t>& values = values_[static_cast<std::size_t>(field)];
    const auto at = std::lower_bound(values.begin(), values.end(), value);
    if (at == values.end() || *at != value) values.insert(at, value);
}

Json FilterChoices::to_json() const {
    Json all = Json::object();
    for (std::size_t i = 0; i < kFilterFields; ++i) {
        const FilterField& field = kFields[i];
        Json& list = all[std::string(field.key)] = Json::array();
        for (const std::int64_t value : values_[i])
            list.push_back(field.choices != nullptr ? Json((*field.choices)[static_cast<std::size_t>(value)].id)
                           : field.is_yes_or_no     ? Json(value != 0)
                                                    : Json(value));
    }
    return all;
}

}  // namespace fourfold
