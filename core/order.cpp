#include "order.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "tie.h"

namespace fourfold {

double network_bytes(const Model& m, const Plan& p) {
    if (p.gpus <= p.gpus_per_node) return 0;
    const auto number = [](std::int64_t value) { return static_cast<double>(value); };
    const double t = number(p.tensor_parallel), c = number(p.context_parallel), stages = number(p.pipeline_parallel);
    const double node = number(p.gpus_per_node), h = number(m.hidden), micro_batches = number(p.micro_batches());
    const double tokens = number(p.micro_batch * p.sequence_length) / c;  // of a micro-batch, on a GPU's context rank
    const double layers = number(m.layers) / stages * micro_batches;      // that the stage works through
    double bytes = 0;
    if (t > node) bytes += layers * 8 * 2 * tokens * h;
    if (c > 1 && t * c > node) bytes += layers * 3 * (c - 1) * 4 * tokens * std::max(1.0, number(m.kv_heads) / t) * number(m.head_dim);
    if (stages > 1) bytes += micro_batches * number(p.virtual_stages) * 2 * 2 * tokens * h / t;
    const double copies = number(p.data_parallel()) * c;
    if (copies > 1 && copies * t > node) bytes += number(parameter_count(m)) / (t * stages) * ((p.gradients_in_fp32 ? 4 : 2) + 2);
    const double members = number(p.expert_parallel * p.expert_tensor_parallel);
    if (members > node) bytes += layers * 4 * 2 * tokens / t * number(m.experts.per_token * p.expert_tensor_parallel) * h;
    return bytes;
}

namespace {

// Smaller is less exposed.
auto exposure(const Model& model, const Estimated& e) {
    const Plan& p = e.plan;
    const double bytes = network_bytes(model, p);
    const bool uneven = p.layout != nullptr || p.split != Split::equal || has_uneven_ends(p);
    return std::make_tuple(p.context_parallel, p.recompute, bytes > 0 ? std::ilogb(bytes) : -1, p.model_parallel(), p.pipeline_parallel,
                           p.virtual_stages, uneven, !p.sequence_parallel, p.moments, p.zero, e.seconds);
}
auto fields(const Plan& p) {
    return std::make_tuple(p.tensor_parallel, p.pipeline_parallel, p.micro_batch, p.expert_parallel, p.expert_tensor_parallel, p.schedule,
                           p.recompute_layers, p.sequence_parallel,
                           p.layout ? std::span<const std::int32_t>(p.layout->before) : std::span<const std::int32_t>());
}
bool less(const Model& model, const Estimated& a, const Estimated& b) {
    const auto here = exposure(model, a), there = exposure(model, b);
    if (here != there) return here < there;
    const auto one = fields(a.plan), other = fields(b.plan);
    const auto head = [](const auto& f) {
        return std::tie(std::get<0>(f), std::get<1>(f), std::get<2>(f), std::get<3>(f), std::get<4>(f), std::get<5>(f), std::get<6>(f),
                        std::get<7>(f));
    };
    if (head(one) != head(other)) return head(one) < head(other);
    const auto x = std::get<8>(one), y = std::get<8>(other);
    return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
}

}  // namespace

std::vector<Ranked> in_order(const Model& model, std::vector<Estimated> plans) {
    std::sort(plans.begin(), plans.end(), [](const Estimated& a, const Estimated& b) { return a.seconds < b.seconds; });
    std::vector<Ranked> list;
    list.reserve(plans.size());
    std::int32_t tie = 0;
    for (std::size_t from = 0; from < plans.size(); ++tie) {
        std::size_t to = from;
        while (to < plans.size() && plans[to].seconds <= plans[from].seconds * (1 + kTieWidth)) ++to;
        const auto begin = plans.begin() + static_cast<std::ptrdiff_t>(from), end = plans.begin() + static_cast<std::ptrdiff_t>(to);
        std::sort(begin, end, [&model](const Estimated& a, const Estimated& b) { return less(model, a, b); });
        for (auto one = begin; one != end; ++one) list.push_back({std::move(*one), tie});
        from = to;
    }
    return list;
}

}  // namespace fourfold
