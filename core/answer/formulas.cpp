#include "answer/formulas.h"

#include <string_view>

#include "answer/parts.h"
#include "answer/report_host.h"
#include "memory/memory.h"
#include "time/step_time.h"

namespace fourfold {

namespace {

// ---- memory
void add_to(Json& listed, const Items<Traced>& items, Method method) {
    const bool papers_own = method == Method::fujii2024;
    for (Json& entry : listed)
        for (std::size_t i = 0; i < items.size(); ++i) {
            const ItemText& t = text(items.item(i));
            if (entry["id"] != t.id) continue;
            const std::string_view place = !papers_own ? t.place : t.group == Group::activations ? "activations" : "model_states";
            add_formula(entry, items.bytes(i), true, source(papers_own ? Paper::fujii : t.paper), place);
        }
}

void add_to_memory(Json& answer, const Job& job) {
    const Plan& p = job.plan;
    const bool papers_own = job.method == Method::fujii2024;
    const Framework framework = framework_of(job.model, p, *job.gpu);
    const Stages stages(job.model, p);
    const auto shown = answer["stage"].get<std::int32_t>();
    const auto memory_of = [&](const Stage& moment) { return detailed<Traced>(job.model, p, framework, moment); };
    const Items<Traced> items =
        papers_own ? fujii2024<Traced>(job.model, p) : memory_of(fullest_moment(job.model, p, framework, stages, shown)).items;
    for (Json& group : answer["groups"]) add_to(group["items"], items, job.method);
    if (papers_own) return;
    add_to(answer["outside"], outside<Traced>(p, answer["total_bytes"].get<double>()), job.method);
    if (answer["host"].is_null()) return;
    add_formula(answer["host"], memory_of(most_offloaded(job, framework, stages)).host_bytes, true, source(Paper::zero_offload),
                "states_on_host");
}

// ---- time
// Schedules that split the backward pass have papers of their own, and so have drives.
const Source& source_of(const Plan& p, TimeItem item) {
    if (item == TimeItem::context_traffic && p.swaps_heads()) return source(Paper::ulysses);
    if (item == TimeItem::tensor_traffic && p.tensor_columns > 1) return source(Paper::axonn);
    if (item == TimeItem::host_optimizer && p.optimizer_offload_target == OffloadTarget::nvme) return source(Paper::mlp_offload);
    const ScheduleRow& schedule = row_of(p.schedule_kind());
    if (item == TimeItem::bubble && p.token_slices > 1) return source(Paper::terapipe);
    if (item != TimeItem::bubble || !schedule.splits_backward) return source(text(item).paper);
    return source(schedule.overlaps ? Paper::dualpipe : Paper::zero_bubble);
}

std::string_view place_of(const Plan& p, TimeItem item) {
    if (item == TimeItem::bubble && p.token_slices > 1) return "token_slices";
    if (item == TimeItem::context_traffic && p.swaps_heads()) return "3";
    if (item == TimeItem::tensor_traffic && p.tensor_columns > 1) return "";
    return text(item).place;
}

void add_to_time(Json& items, const Job& job) {
    const StepTime<Traced> step = job.timed<Traced>(job.plan).step();
    for (Json& entry : items)
        for (std::size_t i = 0; i < step.items.size(); ++i) {
            const auto item = static_cast<TimeItem>(i);
            if (entry["id"] == text(item).id) add_formula(entry, step.items[i], false, source_of(job.plan, item), place_of(job.plan, item));
        }
}

}  // namespace

[[gnu::noinline]] void add_formulas(Json& answer, const Job& job) {
    add_to_memory(answer, job);
    add_to_time(answer["time"]["items"], job);
}

}  // namespace fourfold
