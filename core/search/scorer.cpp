#include "search/scorer.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "memory/host.h"

namespace fourfold {

Scorer::Scorer(const SearchSpace& space, const Plan& like, double most_bytes)
    : space_(space),
      most_bytes_(most_bytes),
      most_whole_(most_whole_share(row_of(space.plan.framework).residual, 1 - space.exploration.risk) * space.gpu.memory_bytes),
      timer_(space.model, space.gpu, space.cluster, like) {}

double Scorer::bytes(const Plan& plan, double most) {
    return space_.method == Method::fujii2024 ? fujii2024<double>(space_.model, plan).total()
                                              : fullest_stage(space_.model, plan, framework(), &moments_, most).bytes;
}

// More bytes than most_allocated() never pass the verdict; up to rounding, which the verdict settles.
static constexpr double kVerdictRounding = 1e-9;

double Scorer::bytes_that_fit(const Plan& plan) {
    const double limit = most_allocated(plan), allocated = bytes(plan, limit);
    return may_hold(plan, allocated, limit) ? allocated : INFINITY;
}

bool Scorer::may_hold(const Plan& plan, double bytes, double most) const {
    if (bytes <= most * (1 - 3 * kVerdictRounding)) return true;
    if (bytes > most) return false;
    const Verdict verdict = judge(space_.method, plan, bytes, space_.gpu.memory_bytes);
    return verdict.whole_bytes <= most_bytes_ && may_run(space_, verdict);
}

bool Scorer::host_holds(const Plan& plan) const {
    const bool offloads = plan.activation_offload != 0 || plan.optimizer_offload != 0 || plan.weights_offload;
    if (!offloads || plan.host_memory == 0 || space_.method == Method::fujii2024) return true;
    const Stages stages(space_.model, plan);
    double most = 0;
    for (std::int32_t i = 0; i < plan.pipeline_parallel; i = stages.next_different(i)) {
        const Stage moment = fullest_on_host(space_.model, plan, framework(), stages, i);
        most = std::max(most, detailed<double>(space_.model, plan, framework(), moment).host_bytes);
    }
    return judge_host(most * gpus_of_node(plan), plan.host_memory * kGibi) != Fit::does_not_fit;
}

Estimated Scorer::estimate(const Plan& plan, double allocated, double seconds) const {
    const double card = space_.gpu.memory_bytes;
    Verdict verdict = judge(space_.method, plan, allocated, card);
    if (!host_holds(plan)) verdict.fit = Fit::does_not_fit, verdict.probability = 0;
    return {plan, allocated, allocated / card, verdict, seconds};
}

double Scorer::most_allocated(const Plan& plan) const {
    if (space_.method == Method::fujii2024) return std::min(most_bytes_, kLineShare * space_.gpu.memory_bytes) * (1 + kVerdictRounding);
    return allocated_of_whole(plan, std::min(most_bytes_, most_whole_)) * (1 + kVerdictRounding);
}

}  // namespace fourfold
