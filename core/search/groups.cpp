#include "search/groups.h"

#include <algorithm>

#include "search/balance.h"

namespace fourfold {

namespace {

struct Holds {
    bool operator()(Rule, bool holds) const { return holds; }
};

// A larger micro-batch may need less: one that is alone in its step has no whole gradients to add up.
bool may_shrink(const Plan& p) {
    return p.adds_up() && p.pipeline_parallel == 1 && !habit_of(p, &Plan::sync_each_micro_batch, &Framework::sync_each_micro_batch);
}

// Of one TP, CP, sequence parallelism and number of slices.
void add_groups(const SearchSpace& space, const Candidates& all, Plan plan, bool smallest, std::vector<GroupOfPlans>& groups) {
    std::vector<std::int64_t> pipelines;
    for (const std::int64_t p : all.pipeline) {
        plan.pipeline_parallel = p;
        if (check_split_rules(space.model, plan, Holds())) pipelines.push_back(p);
    }
    for (const std::int64_t b : all.micro_batch) {
        if (pipelines.empty()) break;
        plan.micro_batch = b;
        GroupOfPlans group{plan, {}, 0};
        for (const std::int64_t p : pipelines) {
            group.plan.pipeline_parallel = p;
            if (check_batch_rules(space.model, group.plan, Holds())) group.pipelines.push_back(p);
        }
        if (group.pipelines.empty()) continue;
        if (smallest)
            std::erase_if(pipelines, [&](std::int64_t p) {
                group.plan.pipeline_parallel = p;
                return std::find(group.pipelines.begin(), group.pipelines.end(), p) != group.pipelines.end() && !may_shrink(group.plan);
            });
        groups.push_back(std::move(group));
    }
}

}  // namespace

Plan closed(const Plan& given) {
    Plan plan = given;
    close_options(plan);
    for (std::int64_t Plan::*degree : {&Plan::tensor_parallel, &Plan::context_parallel, &Plan::pipeline_parallel, &Plan::micro_batch,
                                       &Plan::expert_parallel, &Plan::token_slices})
        if (plan.*degree == kAuto) plan.*degree = 1;
    return plan;
}

static void add_groups_of_slices(const SearchSpace& space, const Candidates& all, Plan plan, bool smallest,
                                 std::vector<GroupOfPlans>& groups) {
    for (const std::int64_t t : all.tensor) {
        plan.tensor_parallel = t;
        if (!check_tensor_rules(space.model, plan, Holds())) continue;
        const std::size_t sequences = t == 1 ? 1 : all.sequence_parallel.size();
        for (const std::int64_t c : all.context)
            for (std::size_t i = 0; i < sequences; ++i) {
                plan.context_parallel = c;
                plan.sequence_parallel = all.sequence_parallel[i] != 0;
                add_groups(space, all, plan, smallest, groups);
            }
    }
}
std::vector<GroupOfPlans> groups_of_plans(const SearchSpace& space, const Candidates& all, const Plan& base, bool smallest) {
    std::vector<GroupOfPlans> groups;
    Plan plan = base;
    for (const std::int64_t slices : all.slices) {
        plan.token_slices = slices;
        add_groups_of_slices(space, all, plan, smallest, groups);
    }
    return groups;
}

std::vector<ExpertWay> expert_ways(const Candidates& all, const Model& model, const Plan& plan) {
    std::vector<ExpertWay> ways;
    for (const std::int64_t e : all.expert)
        for (const std::int64_t et : expert_tensor_values(all, model, plan.tensor_parallel))
            if (plan.gpus % (e * et) == 0 || model.experts.count == 0) ways.push_back({e, et});
    return ways;
}
bool keeps_expert_rules(const Model& model, const Plan& plan) { return check_expert_rules(model, plan, Holds()); }

bool keeps_form_rules(const Model& model, Plan plan) {
    plan.token_slices = 1, plan.expert_overlap = false, plan.recompute = Recompute::none;
    return check_pipeline_rules(model, plan, Holds());
}
bool is_legal_pipeline(const Model& model, const Plan& plan) {
    return check_pipeline_rules(model, plan, Holds()) && check_schedule_rules(model, plan, Holds());
}

bool lay_out(const Model& model, Plan& plan, const PipelineForm& form, const LayerTimes& times) {
    if (form.split == LayerSplit::front) return model.layers % plan.chunks() != 0;
    if (form.split != LayerSplit::balanced) return true;
    plan.layout = balanced_layout(model, plan, times);
    plan.split = Split::equal;
    return plan.layout != nullptr;
}

}  // namespace fourfold
