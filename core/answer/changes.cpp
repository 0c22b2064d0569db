#include "answer/changes.h"

#include "job/job.h"
#include "plan/rules.h"

#include <algorithm>

namespace fourfold {

namespace {

constexpr std::string_view kSlowerCompute = "About a third more computing.", kSomeCompute = "A few percent more computing.",
                           kTraffic = "More traffic inside the group at every layer.";

constexpr double kNoTime = 0.001;  // of a step: less is no difference that the estimate could tell

class Proposals {
 public:
    Proposals(const SearchSpace& space, const Plan& shown, const Estimated& now) : space_(space), shown_(shown), now_(now) {}

    // `change` edits a copy of the plan as it was asked for.
    template <class Edit>
    void add(std::string label, std::string_view touches, Edit&& change) {
        Plan plan = space_.plan;
        change(plan);
        const auto chosen = choose({space_.model, plan, space_.gpu, space_.method, space_.cluster, space_.exploration});
        if (!chosen) return;
        const Estimated& after = chosen->estimate;
        const double saved = now_.bytes - after.bytes;
        if (saved < 0.01 * space_.gpu.memory_bytes) return;
        const double free = kNoTime * now_.seconds;
        insert_sorted(list, Change{difference(plan), std::move(label), touches, after, saved, after.seconds - now_.seconds},
                      [free](const Change& a, const Change& b) {
                          const bool a_free = a.lost_seconds <= free, b_free = b.lost_seconds <= free;
                          if (a_free != b_free) return a_free;
                          return a_free ? a.saved_bytes > b.saved_bytes : a.saved_bytes * b.lost_seconds > b.saved_bytes * a.lost_seconds;
                      });
    }
    // The next larger value of a degree that keeps every rule, up to four times the present one.
    void grow(std::int64_t Plan::*degree, std::string_view name, std::string_view touches) {
        Plan trial = shown_;
        const std::int64_t now = trial.*degree;
        for (std::int64_t value = now + 1; value <= 4 * now; ++value) {
            trial.*degree = value;
            if (!is_legal(space_.model, trial)) continue;
            return add(std::string(name) + " " + grouped(value), touches, [&](Plan& p) { p.*degree = value; });
        }
    }
    std::vector<Change> list;

 private:
    Json difference(const Plan& plan) const {
        Json before = Json::object(), after = Json::object(), changed = Json::object();
        visit_fields(space_.plan, FieldWriter(before));
        visit_fields(plan, FieldWriter(after));
        for (auto entry = after.begin(); entry != after.end(); ++entry)
            if (before[entry.key()] != entry.value()) changed[entry.key()] = entry.value();
        return changed;
    }
    const SearchSpace& space_;
    const Plan& shown_;
    const Estimated& now_;
};

// A field that may be open is set.
Plan& close(Plan& plan, Open bit) {
    plan.open &= ~bit;
    return plan;
}

void propose_degrees(Proposals& propose, const Plan& plan) {
    propose.grow(&Plan::tensor_parallel, "Tensor parallel", kTraffic);
    propose.grow(&Plan::pipeline_parallel, "Pipeline parallel", "More stages wait at the ends of a step.");
    propose.grow(&Plan::context_parallel, "Context parallel", kTraffic);
    propose.grow(&Plan::expert_parallel, "Expert parallel", "Tokens travel further to their experts.");
    for (std::int64_t smaller = plan.micro_batch - 1; smaller >= 1; --smaller) {
        if (plan.micro_batch % smaller != 0) continue;
        propose.add("Micro-batch " + grouped(smaller), "Smaller pieces of work keep a GPU less busy.",
                    [&](Plan& p) { p.micro_batch = smaller; });
        break;
    }
    propose.add("Use " + grouped(2 * plan.gpus) + " GPUs", "Twice as many to pay for; at best twice as fast.",
                [](Plan& p) { p.gpus *= 2; });
    if (plan.virtual_stages > 1)
        propose.add("No interleaving", "More waiting at the ends of a step.", [](Plan& p) { p.virtual_stages = 1; });
    if (plan.schedule != ScheduleKind::one_f_one_b)
        propose.add("1F1B schedule", "", [](Plan& p) { close(p, open_schedule).schedule = ScheduleKind::one_f_one_b; });
}

void propose_recomputation(Proposals& propose, const Model& model, const Plan& plan) {
    if (plan.recompute == Recompute::none) {
        propose.add("Recompute attention only", kSomeCompute, [](Plan& p) { close(p, open_recompute).recompute = Recompute::selective; });
        propose.add("Recompute half of the layers", "About a sixth more computing.", [&](Plan& p) {
            close(p, open_recompute).recompute = Recompute::block;
            p.recompute_layers = std::max<std::int64_t>(1, model.layers / plan.chunks() / 2);
        });
    }
    if (plan.recompute != Recompute::full)
        propose.add("Recompute every layer", kSlowerCompute, [](Plan& p) {
            close(p, open_recompute).recompute = Recompute::full;
            p.recompute_layers = 1;
        });
}

void propose_states(Proposals& propose, const Plan& plan) {
    const auto zero = [&](Zero stage, const char* label, std::string_view touches) {
        if (plan.zero < stage) propose.add(label, touches, [&](Plan& p) { close(p, open_zero).zero = stage; });
    };
    zero(Zero::optimizer, "Share out the optimizer's state (ZeRO-1)", "Weights are gathered once per step.");
    if (plan.framework == FrameworkKind::pytorch) {
        zero(Zero::gradients, "Share out gradients too (ZeRO-2)", "Gradients travel once per micro-batch.");
        zero(Zero::weights, "Share out weights too (FSDP)", "Weights are gathered in every forward and backward pass.");
    }
    if (plan.shard_replicas > 1)
        propose.add("One copy of the shards", "Traffic between all data-parallel GPUs.", [](Plan& p) { p.shard_replicas = 1; });
    if (plan.gradients_in_fp32)
        propose.add("Gradients in 16 bits", "Sums of gradients lose digits.", [](Plan& p) { p.gradients_in_fp32 = false; });
    if (plan.moments == Moments::fp32)
        propose.add("Adam's averages in 16 bits", "Needs a precision-aware optimizer.",
                    [](Plan& p) { close(p, open_moments).moments = Moments::bits16; });
    if (plan.optimizer_offload < 1)
        propose.add("Optimizer in host memory", "Gradients and weights cross PCIe every step.", [](Plan& p) { p.optimizer_offload = 1; });
}

void propose_kernels(Proposals& propose, const Plan& plan) {
    if (plan.attention == Attention::plain) propose.add("Flash attention", "", [](Plan& p) { p.attention = Attention::flash; });
    if (plan.loss != Loss::te_fused)
        propose.add("Fused loss (Transformer Engine)", "Needs a recent Transformer Engine.", [](Plan& p) { p.loss = Loss::te_fused; });
    if (!plan.sequence_parallel)
        propose.add("Sequence parallelism", "", [](Plan& p) { close(p, open_sequence_parallel).sequence_parallel = true; });
    if (!plan.fused_norms) propose.add("Fused norms", "", [](Plan& p) { p.fused_norms = true; });
}

// All that the reader has set of the split, left to the search.
void propose_search(Proposals& propose, const Plan& asked) {
    const Plan open = open_plan();
    Plan trial = asked;
    for (std::int64_t Plan::*degree : {&Plan::tensor_parallel, &Plan::context_parallel, &Plan::pipeline_parallel, &Plan::micro_batch,
                                       &Plan::virtual_stages, &Plan::expert_parallel, &Plan::expert_tensor_parallel})
        trial.*degree = open.*degree;
    trial.open |= open_schedule | open_layout;
    propose.add("Let the search choose the split", "All that you set of it changes.", [&](Plan& p) { p = trial; });
}

}  // namespace

std::vector<Change> changes_that_save(const SearchSpace& space, const Plan& shown, const Estimated& now) {
    Proposals propose(space, shown, now);
    propose_search(propose, space.plan);
    propose_degrees(propose, shown);
    propose_recomputation(propose, space.model, shown);
    propose_states(propose, shown);
    propose_kernels(propose, shown);
    return std::move(propose.list);
}

}  // namespace fourfold
