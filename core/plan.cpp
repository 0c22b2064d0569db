#include "plan.h"

#include <algorithm>
#include <array>

namespace fourfold {

static constexpr std::array<RuleText, static_cast<std::size_t>(Rule::count)> kRules = {{
    {"heads_divide", "do not divide the attention heads", "tensor_parallel"},
    {"kv_heads_divide", "do not divide the KV heads", "tensor_parallel"},
    {"ffn_divides", "do not divide the feed-forward width", "tensor_parallel"},
    {"gpus_divide", "do not divide the GPUs", "gpus"},
    {"layers_divide", "do not divide the layers", "pipeline_parallel"},
    {"sequence_divides", "do not divide the sequence", "context_parallel"},
    {"context_needs_flash", "split the sequence without flash attention", "attention"},
    {"interleaving_needs_stages", "interleave a pipeline of one stage", "virtual_stages"},
    {"batch_divides", "do not divide the batch", "micro_batch"},
    {"interleaving_needs_batches", "interleave with an uneven number of micro-batches", "virtual_stages"},
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

static std::string explain(Rule rule, const Model& m, const Plan& p) {
    const std::string tp = grouped(p.tensor_parallel), cp = grouped(p.context_parallel), pp = grouped(p.pipeline_parallel);
    switch (rule) {
        case Rule::heads_divide:
            return "The " + grouped(m.heads) + " attention heads cannot be shared evenly among " + tp + " tensor-parallel GPUs.";
        case Rule::kv_heads_divide:
            return "The " + grouped(m.kv_heads) + " KV heads and " + tp +
                   " tensor-parallel GPUs do not fit: one number must be a multiple of the other.";
        case Rule::ffn_divides:
            return "The feed-forward width " + grouped(m.ffn) + " cannot be split evenly over " + tp + " tensor-parallel GPUs.";
        case Rule::gpus_divide:
            return grouped(p.gpus) + " GPUs cannot be divided by TP × CP × PP = " + tp + " × " + cp + " × " + pp + " = " +
                   grouped(p.model_parallel()) + ": every copy of the model takes that many.";
        case Rule::layers_divide:
            return "The " + grouped(m.layers) + " layers cannot be split evenly over " + pp + " pipeline stages" +
                   (p.virtual_stages == 1 ? "." : " with " + grouped(p.virtual_stages) + " chunks each.");
        case Rule::sequence_divides:
            return "Sequences of " + grouped(p.sequence_length) + " tokens cannot be cut evenly for context parallel " + cp +
                   " and tensor parallel " + tp +
                   (p.context_parallel == 1 ? "." : ": the length must be a multiple of 2 × " + cp + " and of " + cp + " × " + tp + ".");
        case Rule::context_needs_flash:
            return "Context parallel " + cp + " needs flash attention: plain attention cannot be split along the sequence.";
        case Rule::interleaving_needs_stages:
            return grouped(p.virtual_stages) + " chunks per GPU need at least two pipeline stages.";
        case Rule::batch_divides:
            return "A batch of " + grouped(p.global_batch) + " sequences cannot be shared evenly among " + grouped(p.data_parallel()) +
                   " copies of the model in micro-batches of " + grouped(p.micro_batch) + ": it must be a multiple of " +
                   grouped(p.micro_batch * std::max<std::int64_t>(p.data_parallel(), 1)) + ".";
        case Rule::interleaving_needs_batches:
            return "The interleaved schedule needs the micro-batches per step to be a multiple of the " + pp + " pipeline stages.";
        case Rule::count:
            break;
    }
    return {};
}

// Where to look for a value that works: the member that a field name stands for, and the grid on which such values lie.
struct Grid {
    std::int64_t* value;
    std::int64_t step;
    std::int64_t max;
};
static Grid grid(Plan& plan, std::string_view field) {
    if (field == "tensor_parallel") return {&plan.tensor_parallel, 1, 1'024};
    if (field == "context_parallel") return {&plan.context_parallel, 1, 4'096};
    if (field == "pipeline_parallel") return {&plan.pipeline_parallel, 1, 2'000};
    if (field == "micro_batch") return {&plan.micro_batch, 1, 65'536};
    if (field == "virtual_stages") return {&plan.virtual_stages, 1, 128};
    if (field == "gpus") return {&plan.gpus, plan.model_parallel(), 1'048'576};
    if (field == "global_batch")
        return {&plan.global_batch, plan.micro_batch * std::max<std::int64_t>(plan.data_parallel(), 1), 16'777'216};
    return {nullptr, 1, 0};
}

// The value of `field` nearest to the given one with which every rule holds, else with which `rule` holds, else null.
static Json nearest_value(Rule rule, std::string_view field, const Model& model, const Plan& plan) {
    Plan trial = plan;
    const auto [value, step, max] = grid(trial, field);
    if (value == nullptr) return nullptr;
    const std::int64_t given = *value;
    const std::int64_t start = field == "micro_batch" ? std::min(given, plan.global_batch) : given;  // none above the batch divides it
    const std::int64_t below = start / step * step;
    std::int64_t keeps_rule = 0;
    const auto works = [&, value = value, max = max](std::int64_t candidate) {
        if (candidate < 1 || candidate > max || candidate == given) return false;
        *value = candidate;
        if (is_legal(model, trial)) return true;
        if (keeps_rule == 0 && holds(rule, model, trial)) keeps_rule = candidate;
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
    std::string suggestion;
    if (rule == Rule::context_needs_flash) {
        nearest = "flash";
        suggestion = "Choose flash attention, or context parallel 1.";
    }
    return {std::string(field),         std::string(text(rule).id), value_of_field(field, plan),
            explain(rule, model, plan), std::move(suggestion),      std::move(nearest)};
}

Problems broken_rules(const Model& model, const Plan& plan) {
    Problems problems;
    check_rules(model, plan, [&](Rule rule, bool ok) {
        if (ok) return true;
        std::string_view field = text(rule).field;
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
    const auto warn = [&](const char* field, const char* id, std::int64_t value, std::string message, std::string suggestion) {
        list.push_back({field, id, value, std::move(message), std::move(suggestion), nullptr});
    };
    if (plan.tensor_parallel > plan.gpus_per_node)
        warn("tensor_parallel", "tensor_parallel_across_nodes", plan.tensor_parallel,
             "Tensor parallel " + grouped(plan.tensor_parallel) + " reaches beyond one node of " + grouped(plan.gpus_per_node) +
                 " GPUs: it fits or not just the same, but the links between nodes make it slow.",
             "Prefer pipeline parallel across nodes.");
    if (model.max_positions > 0 && plan.sequence_length > model.max_positions)
        warn("sequence_length", "sequence_beyond_model", plan.sequence_length,
             "The model was made for sequences of up to " + grouped(model.max_positions) + " tokens.", "");
    if (plan.gpus > plan.gpus_per_node && plan.gpus % plan.gpus_per_node != 0)
        warn("gpus", "partly_used_node", plan.gpus,
             grouped(plan.gpus) + " GPUs do not fill nodes of " + grouped(plan.gpus_per_node) + "; one node is used in part.", "");
    if (plan.micro_batches() < plan.pipeline_parallel)
        warn("global_batch", "idle_stages", plan.global_batch,
             "Only " + grouped(plan.micro_batches()) + " micro-batches per step for " + grouped(plan.pipeline_parallel) +
                 " pipeline stages: most stages wait most of the time.",
             "Use fewer stages or a larger batch.");
    return list;
}

}  // namespace fourfold
