#include "answer/alternatives.h"

#include <algorithm>

#include "answer/changes.h"
#include "answer/limits.h"
#include "answer/parts.h"
#include "plan/framework.h"
#include "plan/rules.h"

namespace fourfold {

namespace {

struct Degree {
    const char* field;
    std::int64_t Plan::*value;
    std::int64_t most;
    bool only_powers;
};

// The values worth showing around the one that stands, ascending.
std::vector<std::int64_t> values_around(const Job& shown, const Degree& degree) {
    constexpr std::ptrdiff_t kBefore = 2, kShown = 6;
    Plan trial = shown.plan;
    const std::int64_t current = shown.plan.*degree.value;
    std::vector<std::int64_t> values;
    for (std::int64_t v = 1; v <= std::max(degree.most, current); ++v) {
        const bool power_of_two = (v & (v - 1)) == 0;
        trial.*degree.value = v;
        if (v == current || (v <= degree.most && (power_of_two || (!degree.only_powers && is_legal(shown.model, trial)))))
            values.push_back(v);
    }
    const auto here = std::find(values.begin(), values.end(), current) - values.begin();
    const auto size = static_cast<std::ptrdiff_t>(values.size());
    const auto first = std::max<std::ptrdiff_t>(0, std::min(here - kBefore, size - kShown));
    return {values.begin() + first, values.begin() + std::min(first + kShown, size)};
}

// What a value of a degree would do.
Json describe_option(const Job& asked, const Job& shown, const Estimated& now, const Degree& degree, std::int64_t value) {
    Job trial = asked;
    trial.plan.*degree.value = value;
    const bool is_shown = value == shown.plan.*degree.value;
    const auto best = is_shown ? std::optional(Chosen{now, 1}) : choose(trial.space());
    Json option = Object().add("value", value).add("legal", best.has_value());
    if (best) {
        add_brief(option, best->estimate);
        option["change_bytes"] = best->estimate.verdict.whole_bytes - now.verdict.whole_bytes;
        option["problem"] = nullptr;
        return option;
    }
    Plan broken = shown.plan;
    broken.*degree.value = value;
    option["problem"] = is_legal(shown.model, broken) ? Json() : to_json(first_broken_rule(shown.model, broken));
    return option;
}

Json describe_neighbours(const Job& asked, const Job& shown, const Estimated& now) {
    const Plan& p = shown.plan;
    const MostTried most = most_tried(asked.space(), p);
    const Degree degrees[] = {
        {"tensor_parallel", &Plan::tensor_parallel, most.tensor, false},
        {"pipeline_parallel", &Plan::pipeline_parallel, most.pipeline, false},
        {"context_parallel", &Plan::context_parallel, most.context, true},
        {"micro_batch", &Plan::micro_batch, most.micro_batch, true},
    };
    Json fields = Json::array();
    for (const Degree& degree : degrees) {
        Json options = Json::array();
        for (const std::int64_t value : values_around(shown, degree)) options.push_back(describe_option(asked, shown, now, degree, value));
        fields.push_back(Object().add("field", degree.field).add("value", p.*degree.value).add("options", std::move(options)));
    }
    return fields;
}

// The plan that a change leads to, where the search chose another one than the one shown with that change; null otherwise.
Json describe_new_plan(const Change& change, const Plan& shown) {
    Plan kept = shown;
    Problems none;
    FieldReader reader(change.set, none);
    visit_fields(kept, reader);
    Json plan = describe_whole_plan(change.after.plan);
    return open_keys(kept).empty() && plan == describe_whole_plan(kept) ? Json() : plan;
}

Json describe_changes(const Job& asked, const Job& shown, const Estimated& now) {
    Json list = Json::array();
    for (Change& change : changes_that_save(asked.space(), shown.plan, now)) {
        Json plan = describe_new_plan(change, shown.plan);
        Json entry = Object()
                         .add("set", std::move(change.set))
                         .add("label", change.label)
                         .add("touches", change.touches)
                         .add("saved_bytes", change.saved_bytes)
                         .add("plan", std::move(plan));
        add_brief(entry, change.after);
        list.push_back(std::move(entry));
    }
    return list;
}

// The plan that the search would choose if nothing were set, where it is another one: null otherwise.
Json describe_auto_plan(const Job& asked, const Estimated& now) {
    Job open = asked;
    const std::vector<std::string> left = open_keys(asked.plan);
    Json set = Json::object();
    for (std::string& key : open_keys(open_plan()))
        if (std::find(left.begin(), left.end(), key) == left.end()) set[std::move(key)] = "auto";
    if (set.empty()) return nullptr;
    Problems none;
    FieldReader reader(set, none);
    visit_fields(open.plan, reader);
    const auto best = choose(open.space());
    if (!best) return nullptr;
    const Plan plan_there = with_habits(best->estimate.plan);
    Json there = Json::object(), here = Json::object();
    visit_fields(plan_there, FieldWriter(there));
    visit_fields(now.plan, FieldWriter(here));
    if (there == here) return nullptr;
    Json plan = Object().add("set", std::move(set));
    add_brief(plan, best->estimate);
    return plan;
}

}  // namespace

Json alternatives_answer(const Job& asked, const Job& shown) {
    const Estimated now = estimated(shown.space(), shown.plan);
    return Object()
        .add("ok", true)
        .add("job", to_json(shown))
        .add("changes", describe_changes(asked, shown, now))
        .add("knobs", describe_neighbours(asked, shown, now))
        .add("auto_plan", describe_auto_plan(asked, now));
}

}  // namespace fourfold
