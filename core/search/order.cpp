#include "search/order.h"

#include <algorithm>
#include <tuple>

#include "base/sorted.h"
#include "base/tie.h"

namespace fourfold {

namespace {

// Smaller is less exposed.
auto exposure(const Plan& p, double seconds) {
    const bool uneven = p.layout != nullptr || p.split != Split::equal || has_uneven_ends(p);
    return std::make_tuple(p.context_parallel, p.recompute, p.activation_offload, p.token_slices, p.model_parallel(), p.virtual_stages,
                           uneven, !p.sequence_parallel, p.moments, p.shard_replicas, p.zero, seconds);
}
auto fields(const Plan& p) {
    return std::make_tuple(p.tensor_parallel, p.pipeline_parallel, p.micro_batch, p.expert_parallel, p.expert_tensor_parallel, p.schedule,
                           p.recompute_layers, p.sequence_parallel, p.recompute_modules, p.expert_overlap);
}
std::span<const std::int32_t> layers(const Plan& p) {
    return p.layout ? std::span<const std::int32_t>(p.layout->before) : std::span<const std::int32_t>();
}
bool less(const Estimated& a, const Estimated& b) {
    const auto here = exposure(a.plan, a.seconds), there = exposure(b.plan, b.seconds);
    if (here != there) return here < there;
    const auto one = fields(a.plan), other = fields(b.plan);
    if (one != other) return one < other;
    const auto x = layers(a.plan), y = layers(b.plan);
    return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
}

}  // namespace

bool is_more_exposed(const Plan& plan, const Plan& than) { return exposure(than, 0) < exposure(plan, 0); }

std::vector<Ranked> in_order(std::vector<Estimated> plans) {
    plans = sorted(std::move(plans), [](const Estimated& a, const Estimated& b) { return a.seconds < b.seconds; });
    std::vector<Ranked> list;
    list.reserve(plans.size());
    std::int32_t tie = 0;
    for (std::size_t from = 0; from < plans.size(); ++tie) {
        std::size_t to = from;
        while (to < plans.size() && plans[to].seconds <= plans[from].seconds * (1 + kTieWidth)) ++to;
        const auto before = [&](std::size_t a, std::size_t b) { return less(plans[from + a], plans[from + b]); };
        for (const std::size_t i : places_in_order(to - from, before)) list.push_back({std::move(plans[from + i]), tie});
        from = to;
    }
    return list;
}

}  // namespace fourfold
