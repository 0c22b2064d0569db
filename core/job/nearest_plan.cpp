#include "job/nearest_plan.h"

#include <algorithm>
#include <cstdlib>

namespace fourfold {

Json nearest_with_plan(const Job& job, std::int64_t Plan::*field, std::int64_t furthest) {
    Job trial = job;
    const std::int64_t given = trial.plan.*field;
    for (std::int64_t distance = 1; distance <= furthest; ++distance) {
        for (const std::int64_t value : {given - distance, given + distance}) {
            trial.plan.*field = value;
            if (value >= 1 && value <= kMaxGpus && trial.plan.gpus % value == 0 && has_legal_plan(trial.space())) return value;
        }
    }
    return nullptr;
}

Json nearest_batch(const Job& job) {
    Job trial = job;
    const std::int64_t given = job.plan.global_batch;
    std::vector<std::int64_t> batches;
    for (std::int64_t copies = 1; copies <= job.plan.gpus; ++copies) {
        if (job.plan.gpus % copies != 0) continue;
        const std::int64_t below = given / copies * copies;
        for (const std::int64_t batch : {below, below + copies})
            if (batch > 0 && batch <= kMostBatch) batches.push_back(batch);
    }
    std::sort(batches.begin(), batches.end(), [given](std::int64_t a, std::int64_t b) {
        const std::int64_t far_a = std::abs(a - given), far_b = std::abs(b - given);
        return far_a != far_b ? far_a < far_b : a < b;
    });
    batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
    for (const std::int64_t batch : batches) {
        trial.plan.global_batch = batch;
        if (has_legal_plan(trial.space())) return batch;
    }
    return nullptr;
}

}  // namespace fourfold
