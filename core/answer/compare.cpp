#include "answer/compare.h"

#include <cmath>

#include "answer/parts.h"
#include "time/step_time.h"

namespace fourfold {

namespace {

constexpr auto kTimes = static_cast<std::size_t>(TimeItem::count);

struct Parts {
    std::array<double, kGroups> memory{};  // bytes of the fullest stage
    std::array<double, kTimes> time{};     // seconds of a step
};

Parts parts_of(const Job& job, const Plan& plan) {
    Parts parts;
    const TimedPlan<> timed = job.timed(plan);
    Items<double> items;
    if (job.method == Method::fujii2024) {
        items = fujii2024<double>(job.model, plan);
    } else {
        const Stages stages(job.model, plan);
        const std::int32_t fullest = fullest_stage(job.model, plan, timed.framework).stage;
        items = detailed<double>(job.model, plan, timed.framework, fullest_moment(job.model, plan, timed.framework, stages, fullest)).items;
    }
    for (std::size_t i = 0; i < items.size(); ++i) parts.memory[static_cast<std::size_t>(text(items.item(i)).group)] += items.bytes(i);
    parts.time = timed.step().items;
    return parts;
}

Json describe(const Job& job, const Estimated& e) {
    Json fields = Json::object();
    visit_fields(e.plan, FieldWriter(fields));
    Json side = Object()
                    .add("ok", true)
                    .add("job", std::move(fields))
                    .add("data_parallel", e.plan.data_parallel())
                    .add("card_bytes", job.gpu->memory_bytes);
    add_brief(side, e);
    return side;
}

// Differences, largest first; what is equal is left out.
template <std::size_t n, class Describe>
Json differences(const std::array<double, n>& here, const std::array<double, n>& there, const char* unit, Describe&& describe_one) {
    using Difference = std::pair<double, std::size_t>;
    std::vector<Difference> sorted;
    for (std::size_t i = 0; i < n; ++i)
        if (there[i] != here[i])
            insert_sorted(sorted, Difference{there[i] - here[i], i},
                          [](const Difference& a, const Difference& b) { return std::abs(a.first) > std::abs(b.first); });
    Json list = Json::array();
    for (const Difference& one : sorted) {
        Json entry = describe_one(one.second);
        entry[unit] = one.first;
        list.push_back(std::move(entry));
    }
    return list;
}

}  // namespace

Json versus_answer(const Job& job, const Plan& other) {
    const Estimated here = estimated(job.space(), job.plan);
    Json answer = Object().add("ok", true).add("plan", describe(job, here));
    Job second = job;
    second.plan = other;
    Problems problems;
    if (!resolve(second, problems)) {
        answer["other"] = Object().add("ok", false).add("problems", to_json(problems));
        answer["outcome"] = "breaks_rule";
        return answer;
    }
    const Estimated there = estimated(second.space(), second.plan);
    const Parts a = parts_of(job, here.plan), b = parts_of(second, there.plan);
    const double seconds = there.seconds - here.seconds;
    answer["other"] = describe(second, there);
    answer["outcome"] = there.verdict.fit != Fit::fits && here.verdict.fit == Fit::fits ? "does_not_fit"
                        : seconds > 0                                                   ? "slower"
                        : seconds < 0                                                   ? "faster"
                                                                                        : "as_fast";
    answer["seconds"] = seconds;
    answer["seconds_share"] = seconds / here.seconds;
    answer["bytes"] = there.verdict.whole_bytes - here.verdict.whole_bytes;
    answer["time"] = differences(a.time, b.time, "seconds", [](std::size_t i) -> Json {
        const TimeText& t = text(static_cast<TimeItem>(i));
        return Object().add("id", t.id).add("kind", t.kind);
    });
    answer["memory"] = differences(a.memory, b.memory, "bytes", [](std::size_t i) -> Json {
        const GroupText& t = text(static_cast<Group>(i));
        return Object().add("id", t.id);
    });
    return answer;
}

}  // namespace fourfold
