#include "answer/parts.h"

namespace fourfold {

Json describe_method(Method method) {
    const MethodText& m = text(method);
    return Object().add("id", m.id).add("source", Object().add("title", m.source.title).add("url", m.source.url)).add("limits", m.limits);
}

void add_brief(Json& object, const Estimated& e) {
    object["total_bytes"] = e.bytes;
    object["whole_bytes"] = e.verdict.whole_bytes;
    object["share"] = e.share;
    object["class"] = kFitIds[static_cast<std::size_t>(e.verdict.fit)];
    object["probability"] = e.verdict.probability < 0 ? Json() : Json(e.verdict.probability);
    object["step_seconds"] = e.seconds;
}

Json describe_whole_plan(const Plan& p) {
    Json all = Json::object(), plan = Object().add("data_parallel", p.data_parallel());
    visit_fields(p, FieldWriter(all));
    for (const std::string& key : open_keys(whole_open_plan())) plan[key] = std::move(all[key]);
    plan["sync_each_micro_batch"] = std::move(all["sync_each_micro_batch"]);
    return plan;
}

Json describe_run(const Job& job, const Plan& plan, double step_seconds, const Band& band) {
    const Budget budget = budget_of(job);
    if (budget.tokens <= 0) return nullptr;
    const TrainingRun run = training_run(budget, plan, step_seconds);
    const bool priced = budget.price_per_gpu_hour > 0, powered = budget.watts_per_gpu > 0;
    return Object()
        .add("tokens", budget.tokens)
        .add("steps", run.steps)
        .add("days", run.days)
        .add("low_days", run.days * band.low)
        .add("high_days", run.days * band.high)
        .add("gpu_hours", run.gpu_hours)
        .add("price_per_gpu_hour", priced ? Json(budget.price_per_gpu_hour) : Json())
        .add("cost", priced ? Json(run.cost) : Json())
        .add("watts_per_gpu", powered ? Json(budget.watts_per_gpu) : Json())
        .add("energy_kwh", powered ? Json(run.energy_kwh) : Json())
        .add("co2_kg", powered ? Json(run.co2_kg) : Json());
}

void add_formula(Json& item, const Traced& value, bool numbers, const Source& source, std::string_view place) {
    item["formula"] = value.symbols();
    item["numbers"] = value.numbers();
    item["latex"] = value.latex();
    item["latex_numbers"] = value.latex_numbers();
    item["where"] = value.where(numbers);
    item["source"] = Object().add("title", source.title).add("url", source.url).add("where", place);
}

void add_operations(Json& object, std::span<const Op> operations) {
    constexpr const char* kKinds[] = {"F", "B", "W"};  // by OpKind
    Json kinds = Json::array(), micro_batches = Json::array(), chunks = Json::array();
    for (const Op& op : operations) {
        kinds.push_back(kKinds[static_cast<std::size_t>(op.kind)]);
        micro_batches.push_back(op.micro_batch);
        chunks.push_back(op.chunk);
    }
    object["kind"] = std::move(kinds);
    object["micro_batch"] = std::move(micro_batches);
    object["chunk"] = std::move(chunks);
}

}  // namespace fourfold
