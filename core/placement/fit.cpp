#include "placement/fit.h"

#include <algorithm>

#include "memory/memory.h"
#include "memory/verdict.h"

namespace fourfold {

std::vector<double> position_bytes(const Job& job, const Plan& plan, bool units_are_gpus) {
    const Framework framework = framework_of(job.model, plan, *job.gpu);
    const Stages stages(job.model, plan);
    std::vector<double> of_stage;
    of_stage.reserve(static_cast<std::size_t>(plan.pipeline_parallel));
    for (std::int32_t stage = 0; stage < plan.pipeline_parallel; ++stage)
        of_stage.push_back(
            job.method == Method::fujii2024
                ? fujii2024<double>(job.model, plan).total()  // of the first stage, which the paper's method takes for all
                : detailed<double>(job.model, plan, framework, fullest_moment(job.model, plan, framework, stages, stage)).peak_bytes);
    const RankGrid grid = rank_grid(plan, units_are_gpus);
    std::vector<double> bytes;
    bytes.reserve(static_cast<std::size_t>(grid.positions()));
    for (std::int64_t k = 0; k < grid.positions(); ++k) {
        const std::int64_t rank = k * grid.ranks_per_unit, last = std::min(rank + grid.ranks_per_unit, grid.ranks) - 1;
        double most = 0;
        for (std::int64_t stage = rank / grid.per_stage; stage <= last / grid.per_stage; ++stage)
            most = std::max(most, of_stage[static_cast<std::size_t>(stage)]);
        bytes.push_back(most);
    }
    return bytes;
}

std::vector<std::uint8_t> misfits(const PlacementRequest& r, const Plan& plan) {
    std::vector<std::uint8_t> list;
    if (r.bare) return list;
    const std::vector<double> bytes = position_bytes(r.job, plan, r.links.gpus);
    const auto too_little = [&](double needed, double card) { return judge(r.job.method, plan, needed, card).fit == Fit::does_not_fit; };
    double before = 0;
    std::vector<std::uint8_t> row;
    bool any = false;
    for (std::size_t unit = 0; unit < r.links.size(); ++unit) {
        const double given = r.memory_bytes.empty() ? 0 : r.memory_bytes[unit], card = given > 0 ? given : r.job.gpu->memory_bytes;
        if (card != before) {  // most units are like the one before
            row.clear();
            for (const double needed : bytes) row.push_back(too_little(needed, card) ? 1 : 0);
            before = card;
        }
        any = any || std::find(row.begin(), row.end(), 1) != row.end();
        list.insert(list.end(), row.begin(), row.end());
    }
    if (!any) list.clear();
    return list;
}

}  // namespace fourfold
