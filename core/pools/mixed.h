// Two ways to train on pools of unlike GPUs. Both follow from the estimates of one kind of GPU: no published run covers them (derived).
//   X. Jia et al.: Whale, ATC'22, arXiv 2011.09208: faster copies of the model take more of the batch
//   Z. Um et al.: Metis, ATC'24: faster GPUs hold more layers of a pipeline
// Every term of the network is that of the slowest pool's.
#pragma once
#include <algorithm>
#include <optional>
#include <vector>

#include "job/job.h"

namespace fourfold {

// GPUs of one kind. The job's plan has the GPUs of all pools, and its card the network that all pools share.
struct Pool {
    Job job;
    std::int64_t gpus = 0;  // of this kind
};
using Pools = std::vector<Pool>;

// A plan of all GPUs as a pool runs it. GPUs of two pools are never in one node, so a node holds at most the pool.
inline Plan in_nodes_of(const Pool& pool, const Plan& shape) {
    Plan plan = shape;
    plan.gpus_per_node = std::min(pool.job.plan.gpus_per_node, pool.gpus);
    return plan;
}

// What a pool does in a step.
struct PoolShare {
    std::size_t pool = 0;            // which of the pools that were asked about
    std::int64_t copies = 0;         // of the model
    std::int64_t micro_batches = 0;  // of each copy
    std::int64_t more = 0;           // copies that do one more
    std::int64_t first_stage = 0;
    std::vector<std::int64_t> layers;  // of its stages, where it holds some of a pipeline's
    Estimated fullest;                 // of its GPUs; the time is the pool's own
};
struct Mixed {
    Plan plan;  // with the GPUs of all pools
    double seconds = 0;
    std::vector<PoolShare> shares;
};

// Each pool holds whole copies of the model; every copy does as many micro-batches as keeps the slowest copy least slow. Copies that talk
// to each other in every micro-batch do as many: all of them with FSDP, those of one group of experts with EP. nullopt: not so, not in
// fewer than `most_seconds` a step, or not in memory. `shape`: a plan of all GPUs, whatever its batch.
std::optional<Mixed> as_copies(const Pools& pools, const Plan& shape, double most_seconds);

// Each pool holds stages of every pipeline, one after the other in this order; their layers are split by speed and memory. `shape` is a
// plan of all GPUs with stages in one direction and one chunk each.
std::optional<Mixed> as_stages(const Pools& pools, const std::vector<std::size_t>& order, const Plan& shape, double most_seconds);

// The fastest of each way. Pools that would only slow it down do nothing.
struct Mixes {
    std::optional<Mixed> copies, stages;
    std::int64_t looked_at = 0;  // plans
};
// Of jobs that differ in the card and the number of GPUs alone.
Mixes find_mixes(const std::vector<Job>& alone);

}  // namespace fourfold
