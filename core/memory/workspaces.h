// What the libraries that multiply matrices keep for themselves. For memory_detailed.cpp; established on measured runs as said there.
#pragma once
#include "base/bytes.h"
#include "base/formula.h"
#include "memory/memory.h"

namespace fourfold {

// Bytes of a workspace of cuBLAS, large or not (framework.h), and how many there are of it and of Transformer Engine's; grouped
// multiplications add some of the latter.
inline constexpr double kLargeCublasWorkspace = 32 * kMebi, kCublasWorkspace = 8.125 * kMebi;
inline constexpr double kCublasWorkspaces = 2, kEngineWorkspaces = 1, kGroupedGemmWorkspaces = 4;

// Megatron-Core's router multiplies by Transformer Engine wherever that is installed (moe_utils.py, RouterGatingLinearFunction).
inline double engine_workspaces(const Model& m, const Framework& fw) {
    const bool has_experts = m.experts.count > 0, grouped = has_experts && fw.grouped_gemm && fw.engine_groups;
    const bool any = fw.transformer_engine || grouped || (has_experts && fw.engine_routes);
    return (any ? kEngineWorkspaces : 0) + (grouped ? kGroupedGemmWorkspaces : 0);
}
template <class N>
N library_workspaces(const Model& m, const Framework& fw) {
    const double engines = engine_workspaces(m, fw);
    const N blas = quantity<N>({"u", "cublas_workspace", "bytes"}, fw.large_workspaces ? kLargeCublasWorkspace : kCublasWorkspace);
    const N workspaces = kCublasWorkspaces * blas;
    return engines > 0 ? engines * quantity<N>({"y", "engine_workspace", "bytes"}, fw.engine_workspace) + workspaces : workspaces;
}

}  // namespace fourfold
