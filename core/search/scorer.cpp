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

std::optional<Estimated> Scorer::estimate_that_fits(const Plan& plan, double seconds) {
    const double limit = most_allocated(plan), allocated = bytes(plan, limit);
    if (allocated > limit) return std::nullopt;
    Estimated one = judged(plan, allocated, seconds);
    return one.verdict.whole_bytes <= most_bytes_ && may_run(space_, one.verdict) ? std::optional(std::move(one)) : std::nullopt;
}

// Of the optimizer alone on the host an answer warns; activations need not be there.
bool Scorer::host_holds(const Plan& plan) const {
    if (plan.activation_offload == 0 || plan.host_memory == 0) return true;
    const Stages stages(space_.model, plan);
    double most = 0;
    for (std::int32_t i = 0; i < plan.pipeline_parallel; i = stages.next_different(i)) {
        const Stage moment = fullest_on_host(space_.model, plan, framework(), stages, i);
        most = std::max(most, detailed<double>(space_.model, plan, framework(), moment).host_bytes);
    }
    return judge_host(most * gpus_of_node(plan), plan.host_memory * kGibi) != Fit::does_not_fit;
}

Estimated Scorer::judged(const Plan& plan, double allocated, double seconds) const {
    const double card = space_.gpu.memory_bytes;
    return {plan, allocated, allocated / card, judge(space_.method, plan, allocated, card), seconds};
}

// More bytes than these never pass the verdict; up to rounding, which the verdict settles.
double Scorer::most_allocated(const Plan& plan) const {
    constexpr double kRounding = 1e-9;
    if (space_.method == Method::fujii2024) return std::min(most_bytes_, kLineShare * space_.gpu.memory_bytes) * (1 + kRounding);
    return allocated_of_whole(plan, std::min(most_bytes_, most_whole_)) * (1 + kRounding);
}

}  // namespace fourfold
