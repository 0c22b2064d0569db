// What of an offloaded optimizer a node's own memory holds, or its drives, and whether the node has room for it.
//   J. Ren et al.: ZeRO-Offload, arXiv 2101.06840: states and gradients in host memory;  S. Rajbhandari et al.: ZeRO-Infinity, arXiv
//   2104.07857: on drives, group by group
#pragma once
#include <algorithm>
#include <optional>

#include "memory/verdict.h"

namespace fourfold {

// Parameters that pass through host memory at once on their way from and to the drives: sub_group_size of DeepSpeed, its default. (recalled
// from its documentation)
inline constexpr Constant kOffloadGroup{{"g_o", "offload_group", ""}, 1e9};

// Bytes of a weight that the host updated and the GPU gets back: in 32 bits where the GPU keeps it in these (hybrid_optimizer.py).
inline double returned_bytes(const Plan& p) { return p.master_on_host() ? 2 : 4; }

template <class N>
struct HostBytes {
    N memory = 0.0, drives = 0.0;  // for one GPU
};

// Of a GPU that updates so many parameters outside of its own memory, with states of so many bytes each; the gradient has 32 bits.
template <class N>
HostBytes<N> host_bytes(const Plan& plan, const N& offloaded, double states) {
    using std::min;
    const double each = states + 4;
    if (plan.optimizer_offload_target == OffloadTarget::host) return {each * offloaded, 0.0};
    return {each * min(offloaded, quantity<N>(kOffloadGroup)), each * offloaded};
}

// GPUs that share a node's memory.
inline double gpus_of_node(const Plan& plan) { return static_cast<double>(std::min(plan.gpus, plan.gpus_per_node)); }

// How many times as much as the states a host held in published runs: 163 GB where they are 6.7e9 * 16 bytes = 107 GB (DeepSpeed, sample
// log of Deep Optimizer States), 102 GiB a GPU where they are 30.5e9 / 8 * 16 bytes = 57 GiB (THUDM/slime issue 1851): 1.5 and 1.8.
inline constexpr double kMostHostBytes = 1.8;

// nullopt where it is not said what the node has.
inline std::optional<Fit> judge_host(double need_bytes, double node_bytes) {
    if (node_bytes <= 0) return std::nullopt;
    if (need_bytes > node_bytes) return Fit::does_not_fit;
    return kMostHostBytes * need_bytes > node_bytes ? Fit::at_risk : Fit::fits;
}

}  // namespace fourfold
