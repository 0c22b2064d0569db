#include "plan/shares.h"

#include <algorithm>
#include <cmath>

#include "plan/framework.h"

namespace fourfold {

double optimizer_sharers(const Plan& p, std::int64_t ranks) {
    if (!p.shards_optimizer()) return 1;
    const std::int64_t holders = p.weight_copies() * (p.gpus / (ranks * p.pipeline_parallel));
    return std::max(1.0, std::floor(static_cast<double>(holders) / static_cast<double>(p.shard_replicas)));
}

double expert_sharers(const Model& m, const Plan& p) {
    const double sharers = optimizer_sharers(p, p.expert_tensor_parallel * p.expert_parallel);
    if (!row_of(p.framework).joins_experts || !fully_shards(p)) return sharers;
    const auto experts = static_cast<double>(m.experts.count);
    return experts / std::ceil(experts / sharers);
}

double expert_padding(const Model& m, const Plan& p) {
    if (m.experts.count == 0) return 1;
    return optimizer_sharers(p, p.expert_tensor_parallel * p.expert_parallel) / expert_sharers(m, p);
}

}  // namespace fourfold
