#include "formats/write/writing.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "calibration/calibration.h"
#include "formats/keys.h"
#include "plan/framework.h"

namespace fourfold {

// Fields that no run has: they are of this estimate alone.
static bool is_estimates_own(std::string_view field) {
    return field == "site" || field.starts_with("measured_") ||
           std::find(std::begin(kCalibrationKeys), std::end(kCalibrationKeys), field) != std::end(kCalibrationKeys);
}

Writing::Writing(const Job& from) : job(from), plan(from.plan), model(from.model) {
    visit_fields(plan, FieldWriter(fields_));
    const Plan usual;
    visit_fields(usual, FieldWriter(usual_));
}

void Writing::leave_out(Text text) { left_out.push_back(std::move(text)); }
void Writing::leave_out(const char* id) { left_out.emplace_back(id); }

const Json& Writing::value_of(std::string_view field) const { return *fields_.find(std::string(field)); }
bool Writing::changes(std::string_view field) const { return value_of(field) != usual_[std::string(field)]; }
void Writing::leave_changed(std::string_view field) {
    if (changes(field)) leave_field(field);
}

void Writing::leave_field(std::string_view field) {
    const Json& value = value_of(field);
    Text said("export.left_out");
    said.with("field", Text("field", field));
    const auto* id = value.get_ptr<const Json::string_t*>();
    if (const auto* on = value.get_ptr<const Json::boolean_t*>())
        said.with("value", Text("export", *on ? "on" : "off"));
    else if (id == nullptr)
        said = Text("export.left_out.number").with("field", Text("field", field)).with("value", value);
    else if (field == "recompute_modules" || field == "lora_targets" || (field == "layout" && plan.layout))
        said.with("value", *id);  // a list, or a notation
    else
        said.with("value", Text(joined({"choice.", field}), *id));
    left_out.push_back(std::move(said));
}

Nodes nodes_of(const Plan& plan) {
    if (plan.gpus <= plan.gpus_per_node) return {1, plan.gpus};
    if (plan.gpus % plan.gpus_per_node != 0) return {0, 0};
    return {plan.gpus / plan.gpus_per_node, plan.gpus_per_node};
}

bool optimizer_must_share(const Plan& plan) {
    return plan.moments != Moments::fp32 || plan.optimizer_offload > 0 || plan.precision == Precision::fp8_weights;
}
bool has_copies(const Model& model, const Plan& p) {
    return p.data_parallel() * p.context_parallel > 1 ||
           (model.experts.count > 0 && p.gpus > p.expert_parallel * p.expert_tensor_parallel * p.pipeline_parallel);
}
bool experts_split_sequences(const Model& model, const Plan& plan) { return model.experts.count > 0 && plan.tensor_parallel > 1; }

bool replicas_divide(const Job& job) {
    const Plan& p = job.plan;
    return job.model.experts.count == 0 ||
           p.gpus / (p.expert_parallel * p.expert_tensor_parallel * p.pipeline_parallel) % p.shard_replicas == 0;
}
bool groups_experts(const Job& job) { return job.model.experts.count > 0 && framework_of(job.model, job.plan, *job.gpu).grouped_gemm; }
std::uint32_t known_modules(const Job& job) {
    const std::uint32_t acts = groups_experts(job) ? 0U : moe_act, projections = job.model.latent.kv_rank > 0 ? 0U : mla_up_proj;
    return job.plan.recompute_modules & ~(acts | projections);
}

bool drops_modules(const Job& job) {
    return job.model.experts.count > 0 && (job.plan.recompute_modules & ~known_modules(job) & moe_act) != 0;
}
bool recomputes_unscaled(const Job& job) {
    return job.plan.recompute == Recompute::selective && (known_modules(job) & (layernorm | moe_act)) != 0;
}

void leave_kv_heads(Writing& to) {
    if (to.plan.tensor_parallel <= to.model.kv_heads) return;
    to.leave_out(Text("export.left_out.kv_heads").with("tensor", to.plan.tensor_parallel).with("heads", to.model.kv_heads));
}

Job in_megatrons_order(const Job& asked) {
    Job job = asked;
    Plan& p = job.plan;
    const ScheduleKind order = row_of(kUsualSchedule).with_chunks.value_or(kUsualSchedule);
    if (p.virtual_stages == 1 || row_of(order).takes(p.pipeline_parallel, p.micro_batches(), p.group_of_micro_batches())) return job;
    p.virtual_stages = 1;
    if (std::exchange(p.layout, nullptr)) p.split = Split::weights;
    return job;
}
void leave_chunks(Writing& to, const Job& asked) {
    if (to.plan.virtual_stages == asked.plan.virtual_stages) return;
    Writing all(asked);
    all.leave_field("virtual_stages");
    if (asked.plan.layout) all.leave_field("layout");
    for (Text& text : all.left_out) to.leave_out(std::move(text));
}

void Variables::set(std::string_view name, std::string_view value) { script_.text += joined({name, "=", value, "\n"}); }
void Variables::ask(std::string_view name) {
    script_.yours.emplace_back(name);
    set(name, joined({"${", name, ":?}"}));
}
void Variables::number(std::string_view name, std::int64_t value) {
    if (value > 0)
        set(name, std::to_string(value));
    else
        ask(name);
}

void Settings::put(std::string_view key, Json value) { list.emplace_back(key, std::move(value)); }

void leave_changed(Settings& to, std::string_view field) { to.leave_changed(field); }
void leave_always(Settings& to, std::string_view field) { to.leave_field(field); }

static void leave_kernels(Settings& to, std::string_view field) {
    if (to.plan.attention != Attention::automatic) to.leave_field(field);
}
static void leave_loss(Settings& to, std::string_view field) {
    if (to.plan.loss != Loss::automatic) to.leave_field(field);
}
static void leave_adapters(Settings& to, std::string_view) {
    if (to.plan.freezes()) to.leave_out("export.left_out.adapters");
}
// Where there is one stage, it holds all layers.
static void leave_split(Settings& to, std::string_view field) {
    if (to.plan.chunks() > 1) to.leave_changed(field);
}
static void leave_group(Settings& to, std::string_view field) {
    if (to.plan.virtual_stages > 1 && to.plan.group_of_micro_batches() != to.plan.pipeline_parallel) to.leave_field(field);
}
static void leave_modules(Settings& to, std::string_view field) {
    if (to.plan.recompute == Recompute::selective) to.leave_changed(field);
}
static void leave_units(Settings& to, std::string_view field) {
    if (to.plan.recompute == Recompute::full || to.plan.recompute == Recompute::block) to.leave_changed(field);
}
// Experts alone have them.
static void leave_expert_field(Settings& to, std::string_view field) {
    if (to.model.experts.count > 0) to.leave_changed(field);
}
static void leave_context_field(Settings& to, std::string_view field) {
    if (to.plan.context_parallel > 1) to.leave_changed(field);
}
static void leave_pipeline_field(Settings& to, std::string_view field) {
    if (to.plan.pipeline_parallel > 1) to.leave_changed(field);
}
// No program but Megatron Core has a switch: each does as it does.
static void leave_sends(Settings& to, std::string_view field) {
    Plan usual = to.plan;
    usual.open |= open_pipeline_overlap;
    usual.framework = to.framework.value_or(usual.framework);
    if (usual.overlaps_sends() != to.plan.overlaps_sends()) to.leave_field(field);
}

static constexpr SettingRow kCommon[] = {
    {"virtual_stage_group", leave_group},
    {"layout", leave_split},
    {"first_stage_layers", leave_split},
    {"last_stage_layers", leave_split},
    {"count_embedding_as_layer", leave_split},
    {"count_loss_as_layer", leave_split},
    {"schedule", leave_pipeline_field},
    {"context_parallel_kind", leave_context_field},
    {"overlap_pipeline", leave_sends},
    {"expert_parallel", leave_expert_field},
    {"expert_tensor_parallel", leave_expert_field},
    {"grouped_gemm", leave_expert_field},
    {"recompute_modules", leave_modules},
    {"recompute_layers", leave_units},
    {"attention", leave_kernels},
    {"loss", leave_loss},
    {"trained", leave_adapters},
};
const std::span<const SettingRow> kCommonRows = kCommon;

void write_rows(Settings& to, std::span<const SettingRow> rows) {
    for (const SettingRow& row : rows)
        if (row.write != nullptr) row.write(to, row.field);
    const auto in = [](std::span<const SettingRow> list, std::string_view field) {
        return std::find_if(list.begin(), list.end(), [&](const SettingRow& row) { return row.field == field; });
    };
    Json fields = Json::object();
    visit_fields(to.plan, FieldWriter(fields));
    for (const auto& [field, value] : fields.items()) {
        if (in(rows, field) != rows.end() || is_estimates_own(field)) continue;
        if (const auto row = in(kCommonRows, field); row != kCommonRows.end())
            row->write(to, row->field);
        else
            to.leave_changed(field);
    }
}

Export made_of(Settings& to, std::string text) {
    Export made;
    made.text = std::move(text);
    made.left_out = std::move(to.left_out);
    made.framework = to.framework;
    made.settings = std::move(to.list);
    return made;
}

const char* key_of(std::span<const KeyRow> rows, std::string_view field) {
    return std::find_if(rows.begin(), rows.end(), [&](const KeyRow& row) { return row.field == field; })->key;
}

LayoutPointer listed_layout(const Model& model, const Plan& p) {
    if (p.chunks() == 1) return nullptr;
    if (p.layout || p.split == Split::equal) return p.layout;
    Layout layout = p.split == Split::front ? front_layout(model, p.chunks()) : weights_layout(model, p.chunks());
    for (std::size_t i = 1; i < layout.chunks(); ++i)
        if (layout.at(i) != layout.at(0)) return std::make_shared<const Layout>(std::move(layout));
    return nullptr;
}

void leave_framework(Settings& to, FrameworkKind own) {
    to.framework = own;
    leave_kv_heads(to);
    if (to.plan.framework != own) to.leave_field("framework");
}
void leave_model(Settings& to) {
    to.leave_out(Text("export.left_out.model").with("model", to.model.label.empty() ? to.model.type : to.model.label));
}

}  // namespace fourfold
