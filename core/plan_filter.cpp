#include "plan_filter.h"

#include <algorithm>

namespace fourfold {

const FilterField kFilterFieldList[kFilterFields] = {
    {"tensor_parallel", [](const Plan& p) { return p.tensor_parallel; }, nullptr, nullptr},
    {"pipeline_parallel", [](const Plan& p) { return p.pipeline_parallel; }, nullptr, nullptr},
    {"context_parallel", [](const Plan& p) { return p.context_parallel; }, nullptr, nullptr},
    {"micro_batch", [](const Plan& p) { return p.micro_batch; }, nullptr, nullptr},
    {"expert_parallel", [](const Plan& p) { return p.expert_parallel; }, nullptr, nullptr},
    {"virtual_stages", [](const Plan& p) { return p.virtual_stages; }, nullptr, nullptr},
    {"schedule", [](const Plan& p) { return static_cast<std::int64_t>(p.schedule); }, &kScheduleChoices, nullptr},
    {"recompute", [](const Plan& p) { return static_cast<std::int64_t>(p.recompute); }, &kRecomputeChoices, nullptr},
    {"zero", [](const Plan& p) { return static_cast<std::int64_t>(p.zero); }, &kZeroChoices, nullptr},
    {"sequence_parallel", [](const Plan& p) { return std::int64_t{p.sequence_parallel}; }, nullptr,
     [](const Plan& p) { return p.tensor_parallel > 1; }},
    {"count_loss_as_layer", [](const Plan& p) { return std::int64_t{p.count_loss_as_layer}; }, nullptr, [](const Plan&) { return true; }},
};

static constexpr std::string_view kMemoryKey = "memory_at_most_gib";

static bool has_effect(const FilterField& field, const Plan& plan) { return field.plays_a_part == nullptr || field.plays_a_part(plan); }

std::uint32_t PlanFilter::against(const Plan& plan) const {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; fields >> i != 0; ++i) {
        const FilterField& field = kFilterFieldList[i];
        if ((fields >> i & 1U) != 0 && has_effect(field, plan) && field.value(plan) != field.value(like)) bits |= 1U << i;
    }
    return bits;
}

PlanFilter read_filter(const Json& only, Problems& problems) {
    PlanFilter filter;
    if (!only.is_object()) {
        problems.push_back({"only", "type", shown(only), "\"only\" must be an object with the values wanted.", "", nullptr});
        return filter;
    }
    constexpr double kGibi = 1024.0 * 1024.0 * 1024.0;
    Problems own;
    Json fields = Json::object(), rest = Json::object();  // of the plan, and whatever else stands there
    for (const auto& [key, value] : only.items()) {
        const auto known = std::find_if(std::begin(kFilterFieldList), std::end(kFilterFieldList),
                                        [&key = key](const FilterField& field) { return field.key == key; });
        (known == std::end(kFilterFieldList) ? rest : fields)[key] = value;
        if (known != std::end(kFilterFieldList) && value != "auto") filter.fields |= 1U << (known - kFilterFieldList);
    }
    FieldReader plan_reader(fields, own), reader(rest, own);
    visit_fields(filter.like, plan_reader);
    double gib = 0;
    reader.number({kMemoryKey, "", "The memory", "", "GiB"}, gib, {0.1, 1e6});
    if (gib > 0) filter.most_bytes = gib * kGibi;
    for (const FilterField& field : kFilterFieldList) reader.any(field.key);  // to be suggested for a mistyped one
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
        if ((bits >> i & 1U) != 0) keys.push_back(kFilterFieldList[i].key);
    if ((bits & kMemoryFilter) != 0) keys.push_back(kMemoryKey);
    return keys;
}

void FilterChoices::note(const Plan& plan) {
    for (std::size_t i = 0; i < kFilterFields; ++i) {
        const FilterField& field = kFilterFieldList[i];
        const std::int64_t value = field.value(plan);
        if (value + 1 == last_[i] || !has_effect(field, plan)) continue;  // most often the one before had it too
        last_[i] = value + 1;
        std::vector<std::int64_t>& values = values_[i];
        const auto at = std::lower_bound(values.begin(), values.end(), value);
        if (at == values.end() || *at != value) values.insert(at, value);
    }
}

Json FilterChoices::to_json() const {
    Json all = Json::object();
    for (std::size_t i = 0; i < kFilterFields; ++i) {
        const FilterField& field = kFilterFieldList[i];
        Json& list = all[std::string(field.key)] = Json::array();
        for (const std::int64_t value : values_[i])
            list.push_back(field.choices != nullptr        ? Json((*field.choices)[static_cast<std::size_t>(value)].id)
                           : field.plays_a_part != nullptr ? Json(value != 0)
                                                           : Json(value));
    }
    return all;
}

}  // namespace fourfold
