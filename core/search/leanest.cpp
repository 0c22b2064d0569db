// Plans that are asked for without their time: the one that needs least memory, and whether any is legal.
#include "search/groups.h"
#include "search/savings.h"
#include "search/scorer.h"
#include "search/search.h"

namespace fourfold {

namespace {

// Legal plans without a time: every TP, CP, PP and expert parallelism with its smallest micro-batch, every schedule with its fewest chunks.
class Smallest {
 public:
    explicit Smallest(const SearchSpace& space)
        : space_(space), all_(candidates(space)), base_(closed(space.plan)), scorer_(space, base_) {}
    // Calls `visit(plan, scorer)` until it returns false.
    template <class Visit>
    void visit(Visit&& visit) {
        for (GroupOfPlans& group : groups_of_plans(space_, all_, base_, true))
            for (const ExpertWay& experts : expert_ways(all_, space_.model, group.plan)) {
                group.plan.expert_parallel = experts.expert, group.plan.expert_tensor_parallel = experts.expert_tensor;
                for (const std::int64_t p : group.pipelines) {
                    group.plan.pipeline_parallel = p;
                    if (keeps_expert_rules(space_.model, group.plan) && !visit_pipeline(group.plan, visit)) return;
                }
            }
    }

 private:
    template <class Visit>
    bool visit_pipeline(Plan& plan, Visit&& visit) {
        const PipelineForm* before = nullptr;
        for (const PipelineForm& form : all_.forms) {
            if (before != nullptr && before->schedule == form.schedule && before->split == form.split) continue;  // fewer chunks did
            set_form(plan, form);
            if (!is_legal_pipeline(space_.model, plan) || !lay_out(space_.model, plan, form, scorer_.layers(plan))) continue;
            before = &form;
            if (all_.any_sharing(space_.model, plan, [&] { return !visit(plan, scorer_); })) return false;
        }
        plan.layout = base_.layout;
        return true;
    }
    const SearchSpace& space_;
    const Candidates all_;
    const Plan base_;
    Scorer scorer_;
};

}  // namespace

std::optional<Estimated> leanest_plan(const SearchSpace& space) {
    std::optional<Estimated> least;
    Smallest(space).visit([&](Plan plan, Scorer& scorer) {
        const auto consider = [&] {
            const double bytes = scorer.bytes(plan);
            if (!least || bytes < least->bytes) least = scorer.estimate(plan, 0);
        };
        if (may_narrow(space)) plan.moments = Moments::bits16;
        if (may_recompute(space)) plan.recompute = Recompute::full;
        if (may_swap(space) && may_swap(plan)) plan.activation_offload = 1;
        if (may_sync_to_fit(plan) && adds_up_whole_gradients(plan)) plan.sync_each_micro_batch = Habit::on;
        if (overlap_applies(space.model, plan))
            consider();
        else  // beneath traffic that is set to be hidden, parts of layers alone are computed again
            for (const std::uint32_t modules : sets_of_modules(space)) {
                plan.recompute = Recompute::selective, plan.recompute_modules = modules;
                if (!overlap_applies(space.model, plan)) plan.recompute = Recompute::none;
                consider();
            }
        return true;
    });
    if (least) least->seconds = estimated(space, least->plan).seconds;
    return least;
}

bool has_legal_plan(const SearchSpace& space) {
    bool any = false;
    Smallest(space).visit([&](const Plan&, Scorer&) { return !(any = true); });
    return any;
}

}  // namespace fourfold
