#include "plan/rules.h"

#include <array>

namespace fourfold {

bool has_grid(const Model& m, const Plan& p) {
    return m.experts.count == 0 && m.latent.kv_rank == 0 && m.multi_token_layers == 0 && !p.freezes() && p.optimizer != Optimizer::muon &&
           m.hidden % p.tensor_columns == 0;
}
bool swaps_heads(const Model& m, const Plan& p) {
    const std::int64_t c = p.context_parallel, k = std::max<std::int64_t>(1, m.kv_heads / p.tensor_parallel);
    return m.heads % (p.tensor_parallel * c) == 0 && (k % c == 0 || c % k == 0);
}

// Where a stage has several chunks, or there is one stage alone, and neither a layer nor its experts are computed again as a whole:
// Megatron-Core, model_parallel_config.py and transformer_config.py, checks of overlap_moe_expert_parallel_comm.
static bool has_room_for_exchange(const Plan& p) {
    return (p.pipeline_parallel == 1 || row_of(p.running_schedule()).turns) && p.recompute != Recompute::full &&
           p.recompute != Recompute::block && !p.recomputes(moe);
}
bool may_overlap_experts(const Model& m, const Plan& p) {
    return m.experts.count > 0 && p.expert_parallel > 1 && row_of(p.framework).overlaps_experts && !row_of(p.schedule).overlaps &&
           has_room_for_exchange(p);
}
bool may_recompute_layers(const Model& m, const Plan& p) {
    return !p.hides_exchange() || !row_of(p.framework).overlaps_experts || m.experts.count == 0;
}
bool overlap_applies(const Model& m, const Plan& p) { return may_recompute_layers(m, p) || has_room_for_exchange(p); }

static constexpr std::array<RuleText, static_cast<std::size_t>(Rule::count)> kRules = {{
    {"heads_divide", "tensor_parallel"},
    {"kv_heads_divide", "tensor_parallel"},
    {"ffn_divides", "tensor_parallel"},
    {"experts_divide", "expert_parallel"},
    {"gpus_divide", "gpus"},
    {"expert_gpus_divide", "expert_parallel"},
    {"layers_divide", "pipeline_parallel"},
    {"sequence_divides", "context_parallel"},
    {"heads_swap", "context_parallel"},
    {"context_needs_flash", "attention"},
    {"interleaving_needs_stages", "virtual_stages"},
    {"schedule_has_chunks", "virtual_stages"},
    {"schedule_needs_stages", "pipeline_parallel"},
    {"replicas_divide", "shard_replicas"},
    {"grid_applies", "tensor_columns"},
    {"batch_divides", "micro_batch"},
    {"interleaving_needs_batches", "virtual_stages"},
    {"schedule_needs_batches", "global_batch"},
    {"slices_apply", "token_slices"},
    {"overlap_applies", "expert_overlap"},
    {"operations_apply", "recompute"},
}};

const RuleText& text(Rule rule) { return kRules[static_cast<std::size_t>(rule)]; }

bool is_legal(const Model& model, const Plan& plan) {
    return check_rules(model, plan, [](Rule, bool holds) { return holds; });
}

static bool holds(Rule wanted, const Model& model, const Plan& plan) {
    bool result = true;
    check_rules(model, plan, [&](Rule rule, bool ok) {
        if (rule == wanted) result = ok;
        return true;
    });
    return result;
}

static Text schedule_name(const Plan& p) { return {"choice.schedule", row_of(p.schedule).id}; }

// Of the layers that cannot be shared out, by what was asked for.
static Text explain_layers(const Model& m, const Plan& p) {
    Text said;
    const bool first = p.first_stage_layers > 0, last = p.last_stage_layers > 0;
    if (p.layout)
        said = Text("problem.layers_divide.layout").with("given", p.layout->chunks());
    else if (p.split != Split::equal && !has_uneven_ends(p))
        said = "problem.layers_divide.front";
    else if (p.count_embedding_as_layer || p.count_loss_as_layer)
        said = first || last ? "problem.layers_divide.counted_and_ends" : "problem.layers_divide.counted";
    else if (first || last)
        said = first && last ? "problem.layers_divide.ends" : first ? "problem.layers_divide.first" : "problem.layers_divide.last";
    else
        said = "problem.layers_divide";
    if (first) said.with("first", p.first_stage_layers);
    if (last) said.with("last", p.last_stage_layers);
    return said.with("layers", m.layers).with("stages", p.pipeline_parallel).with("chunks", p.virtual_stages).with("all", p.chunks());
}

// Of the rules about tensors, experts and how the GPUs are shared out; nothing of the others.
static Text explain_split(Rule rule, const Model& m, const Plan& p) {
    const std::int64_t t = p.tensor_parallel, c = p.context_parallel, stages = p.pipeline_parallel;
    switch (rule) {
        case Rule::heads_divide:
            if (m.heads % t == 0 && m.linear.is_mamba())
                return Text("problem.heads_divide.groups").with("groups", m.linear.key_heads).with("tensor", t);
            return Text("problem.heads_divide").with("heads", m.heads % t == 0 ? m.linear.key_heads : m.heads).with("tensor", t);
        case Rule::kv_heads_divide:
            return Text("problem.kv_heads_divide").with("heads", m.kv_heads).with("tensor", t);
        case Rule::ffn_divides:
            return Text("problem.ffn_divides").with("width", m.ffn % t != 0 ? m.ffn : m.experts.shared_ffn).with("tensor", t);
        case Rule::experts_divide:
            if (m.experts.count == 0) return "problem.experts_divide.none";
            return Text("problem.experts_divide")
                .with("experts", m.experts.count)
                .with("width", m.experts.ffn)
                .with("expert", p.expert_parallel)
                .with("expert_tensor", p.expert_tensor_parallel);
        case Rule::expert_gpus_divide:
            return Text("problem.expert_gpus_divide")
                .with("gpus", p.gpus)
                .with("expert", p.expert_parallel)
                .with("expert_tensor", p.expert_tensor_parallel)
                .with("stages", stages);
        case Rule::gpus_divide:
            return Text("problem.gpus_divide")
                .with("gpus", p.gpus)
                .with("tensor", p.tensor_grid())
                .with("context", c)
                .with("stages", stages)
                .with("each", p.model_parallel());
        case Rule::sequence_divides:
            return Text(c == 1 ? "problem.sequence_divides" : "problem.sequence_divides.context")
                .with("tokens", p.sequence_length)
                .with("context", c)
                .with("tensor", t);
        case Rule::heads_swap:
            return Text("problem.heads_swap").with("heads", m.heads).with("context", c).with("tensor", t);
        case Rule::context_needs_flash:
            return Text("problem.context_needs_flash").with("context", c);
        case Rule::grid_applies:
            return Text(m.hidden % p.tensor_columns != 0 ? "problem.grid_applies.width"
                        : p.freezes()                    ? "problem.grid_applies.lora"
                        : p.optimizer == Optimizer::muon ? "problem.grid_applies.muon"
                                                         : "problem.grid_applies.model")
                .with("columns", p.tensor_columns)
                .with("hidden", m.hidden);
        case Rule::replicas_divide:
            return Text("problem.replicas_divide")
                .with("gpus", p.gpus / std::max<std::int64_t>(p.tensor_grid() * stages, 1))
                .with("copies", p.shard_replicas);
        default:
            return {};
    }
}

static Text explain_slices(const Plan& p) {
    const Text said("problem.slices_apply", p.pipeline_parallel == 1                             ? "stages"
                                            : p.context_parallel > 1                             ? "context"
                                            : p.virtual_stages > 1 || !row_of(p.schedule).slices ? "schedule"
                                            : p.attention == Attention::plain                    ? "attention"
                                            : p.activation_offload > 0                           ? "offload"
                                                                                                 : "tokens");
    return Text(said).with("slices", p.token_slices).with("tokens", p.sequence_length).with("least", kShortestSlice);
}

// Of the rules about the pipeline and the batch; nothing of the others.
static Text explain_pipeline(Rule rule, const Model& m, const Plan& p) {
    const ScheduleRow& row = row_of(p.schedule);
    const std::int64_t stages = p.pipeline_parallel, at_once = p.micro_batch * std::max<std::int64_t>(p.data_parallel(), 1);
    switch (rule) {
        case Rule::layers_divide:
            return explain_layers(m, p);
        case Rule::slices_apply:
            return explain_slices(p);
        case Rule::overlap_applies: {
            const bool again = p.recompute == Recompute::full || p.recompute == Recompute::block || p.recomputes(moe);
            return Text("problem.overlap_applies", again ? "recompute" : "chunks").with("stages", stages);
        }
        case Rule::operations_apply:
            return Text("problem.operations_apply", !row_of(p.framework).recomputes_operations ? "framework"
                                                    : p.freezes()                              ? "lora"
                                                    : p.tensor_columns > 1                     ? "columns"
                                                    : m.one_part                               ? "one_part"
                                                                                               : "tiles")
                .with("framework", Text("choice.framework", row_of(p.framework).id));
        case Rule::interleaving_needs_stages:
            return Text("problem.interleaving_needs_stages").with("chunks", p.virtual_stages);
        case Rule::schedule_has_chunks:
            return Text(row.chunks == 1 ? "problem.schedule_has_chunks.one" : "problem.schedule_has_chunks")
                .with("schedule", schedule_name(p))
                .with("chunks", row.chunks);
        case Rule::schedule_needs_stages:
            return Text("problem.schedule_needs_stages").with("schedule", schedule_name(p));
        case Rule::batch_divides:
            return Text("problem.batch_divides")
                .with("sequences", p.global_batch)
                .with("copies", p.data_parallel())
                .with("micro_batch", p.micro_batch)
                .with("multiple", at_once);
        case Rule::interleaving_needs_batches:
            if (!row_of(p.framework).any_group) return Text("problem.interleaving_needs_batches").with("stages", stages);
            return Text("problem.interleaving_needs_batches.groups")
                .with("group", p.group_of_micro_batches())
                .with("micro_batches", p.micro_batches())
                .with("stages", stages);
        case Rule::schedule_needs_batches:
            return Text(row.batches_by > 1 ? "problem.schedule_needs_batches.even" : "problem.schedule_needs_batches")
                .with("schedule", schedule_name(p))
                .with("each", row.fewest_each)
                .with("stages", stages);
        default:
            return {};
    }
}

// Finds the whole number of a field among the plan's fields, and its range.
struct FieldFinder {
    std::string_view key;
    std::int64_t* value = nullptr;
    Range range{};
    template <class... Any>
    void integer(const Field& field, std::int64_t& found, Range allowed, Any&&...) {
        if (field.key == key) value = &found, range = allowed;
    }
    template <class... Any>
    void number(const Field&, double&, Bounds, Any&&...) {}
    template <class... Any>
    void boolean(const Field&, Any&&...) {}
    template <class... Any>
    void choice(const Field&, Any&&...) {}
    template <class... Any>
    void set(const Field&, Any&&...) {}
    template <class... Any>
    void notation(const Field&, Any&&...) {}
};

// Values of a field that can work are multiples of this.
static std::int64_t grid(const Plan& plan, std::string_view field) {
    if (field == "gpus") return plan.model_parallel();
    if (field == "global_batch") return plan.micro_batch * std::max<std::int64_t>(plan.data_parallel(), 1);
    return 1;
}

// The value of `field` nearest to the given one with which every rule holds, else with which `rule` holds and, where one does, the GPUs
// divide, else null.
static Json nearest_value(Rule rule, std::string_view field, const Model& model, const Plan& plan) {
    Plan trial = plan;
    if (rule == Rule::experts_divide && model.experts.count == 0) return 1;
    if (rule == Rule::overlap_applies) return false;
    if (rule == Rule::operations_apply) return "full";
    FieldFinder number{field};
    visit_fields(trial, number);
    if (number.value == nullptr) return nullptr;
    const std::int64_t given = *number.value, step = grid(plan, field);
    const std::int64_t start = field == "micro_batch" ? std::min(given, plan.global_batch) : given;  // none above the batch divides it
    const std::int64_t below = start / step * step;
    std::int64_t keeps_rule = 0;
    int kept = 0;
    const auto works = [&](std::int64_t candidate) {
        if (candidate < 1 || candidate > number.range.max || candidate == given) return false;
        *number.value = candidate;
        if (is_legal(model, trial)) return true;
        const int keeps = kept < 2 && holds(rule, model, trial) ? 1 + holds(Rule::gpus_divide, model, trial) : 0;
        if (keeps > kept) kept = keeps, keeps_rule = candidate;
        return false;
    };
    constexpr std::int64_t kSteps = 4'096;  // the whole range of every degree
    for (std::int64_t i = 0; i < kSteps; ++i) {
        const std::int64_t low = below - i * step, high = below + (i + 1) * step;
        const bool low_works = works(low), high_works = works(high);
        if (low_works && (!high_works || given - low <= high - given)) return low;
        if (high_works) return high;
    }
    return keeps_rule == 0 ? Json() : Json(keeps_rule);
}

static Json value_of_field(std::string_view field, const Plan& plan) {
    Json all = Json::object();
    visit_fields(plan, FieldWriter(all));
    return all[std::string(field)];
}

static Problem problem(Rule rule, const Model& model, const Plan& plan, std::string_view field, Json nearest) {
    const bool needs_flash = rule == Rule::context_needs_flash;
    Text message = explain_split(rule, model, plan);
    if (message.empty()) message = explain_pipeline(rule, model, plan);
    return {std::string(field),
            std::string(text(rule).id),
            value_of_field(field, plan),
            std::move(message),
            needs_flash ? Text("suggestion.flash_or_no_context") : Text(),
            needs_flash ? Json("flash") : std::move(nearest)};
}

Problems broken_rules(const Model& model, const Plan& plan) {
    Problems problems;
    check_rules(model, plan, [&](Rule rule, bool ok) {
        if (ok) return true;
        std::string_view field = text(rule).field;
        const bool one_expert_rank =
            plan.expert_parallel == 1 || (model.experts.count > 0 && model.experts.count % plan.expert_parallel == 0);
        if (rule == Rule::experts_divide && one_expert_rank) field = "expert_tensor_parallel";
        if (rule == Rule::sequence_divides && plan.context_parallel == 1) field = "tensor_parallel";
        Json nearest = nearest_value(rule, field, model, plan);
        // a batch that no micro-batch divides needs another batch
        if (rule == Rule::batch_divides && nearest.is_null()) {
            field = "global_batch";
            nearest = nearest_value(rule, field, model, plan);
        }
        problems.push_back(problem(rule, model, plan, field, std::move(nearest)));
        return true;
    });
    return problems;
}

Problem first_broken_rule(const Model& model, const Plan& plan) {
    Problem first;
    check_rules(model, plan, [&](Rule rule, bool ok) {
        if (!ok) first = problem(rule, model, plan, text(rule).field, nullptr);
        return ok;
    });
    return first;
}

Problems warnings(const Model& model, const Plan& plan) {
    Problems list;
    const auto warn = [&](const char* field, const char* id, std::int64_t value, Text message, Text suggestion = {}) {
        list.push_back({field, id, value, std::move(message), std::move(suggestion), nullptr});
    };
    if (plan.tensor_grid() > plan.gpus_per_node)
        warn("tensor_parallel", "tensor_parallel_across_nodes", plan.tensor_grid(),
             Text("warning.tensor_parallel_across_nodes").with("tensor", plan.tensor_grid()).with("node", plan.gpus_per_node),
             "suggestion.pipeline_across_nodes");
    if (model.max_positions > 0 && plan.document() > model.max_positions)
        warn("sequence_length", "sequence_beyond_model", plan.sequence_length,
             Text("warning.sequence_beyond_model").with("tokens", model.max_positions));
    if (plan.gpus > plan.gpus_per_node && plan.gpus % plan.gpus_per_node != 0)
        warn("gpus", "partly_used_node", plan.gpus,
             Text("warning.partly_used_node").with("gpus", plan.gpus).with("node", plan.gpus_per_node));
    if (plan.pipeline_parallel > 1 && plan.shards_gradients())
        warn("zero", "sharding_with_pipeline", plan.pipeline_parallel, "warning.sharding_with_pipeline", "suggestion.zero_1_with_pipeline");
    if (plan.zero == Zero::none && plan.optimizer_offload > 0)
        warn("optimizer_offload", "offload_of_whole_optimizer", 0, "warning.offload_of_whole_optimizer");
    if (plan.micro_batches() * plan.token_slices < plan.pipeline_parallel)
        warn("global_batch", "idle_stages", plan.global_batch,
             Text("warning.idle_stages").with("micro_batches", plan.micro_batches()).with("stages", plan.pipeline_parallel),
             "suggestion.fewer_stages");
    return list;
}

}  // namespace fourfold
