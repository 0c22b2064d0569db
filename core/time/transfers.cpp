// Based on
//   roofline and wave quantisation of matrix multiplications on a grid of tiles (NVIDIA: Matrix Multiplication Background User's Guide)
//   the alpha-beta model of ring collectives (Thakur, Rabenseifner, Gropp 2005)
#include "time/transfers.h"

#include <algorithm>
#include <cmath>

namespace fourfold {

template <class N>
N Cost<N>::gemm(Pass pass, const Part& matrix, const N& rate, const N& M, const N& columns, const N& K, double output_bytes) const {
    using std::ceil, std::max;
    struct Tile {
        double m, n;
        bool small;
    };
    // The output tiles that cuBLAS chooses from for large matrices on these GPUs.
    constexpr Tile kTiles[] = {{256, 128, false}, {128, 256, false}, {128, 128, true}};
    struct Names {
        const char *seconds, *meaning, *waves, *waves_meaning;
    };
    constexpr Names kNames[] = {{"F", "forward_multiplication", "x", "forward_waves"},
                                {"I", "input_gradient", "y", "input_gradient_waves"},
                                {"W", "weight_gradient", "z", "weight_gradient_waves"}};
    const Names& names = kNames[static_cast<int>(pass)];
    const N S = of(&Machine::processors), w = of(is_grouped(matrix) ? &Timing::grouped_waves : &Timing::wave_mix);
    N work = 0.0;  // per step along K
    for (const Tile& tile : kTiles) {
        const N waves = named<N>({names.waves, names.waves_meaning, "", &matrix}, ceil(M / tile.m) * ceil(columns / tile.n) / S);
        const double flop = 2 * tile.m * tile.n;
        N size = w * waves + (1 - w) * ceil(waves);
        size = tile.small ? size * quantity<N>({"O_s", "small_tile_operations", "flop"}, flop) / of(&Timing::small_tile)
                          : size * quantity<N>({"O_t", "tile_operations", "flop"}, flop);
        if (value_of(work) == 0 || value_of(size) < value_of(work)) work = size;
    }
    const N compute = work * (K + of(&Timing::tile_fill)) * S / rate;
    const N traffic = (2 * (M * K + K * columns) + output_bytes * M * columns) / memory();
    return named<N>({names.seconds, names.meaning, "seconds", &matrix}, max(compute, traffic));
}

template <class N>
N Cost<N>::collective(const N& bytes, const N& members, double reach) const {
    using std::log2;
    if (value_of(members) <= 1) return 0.0;
    const N moved = bytes * (members - 1) / members;
    if (value_of(members) <= static_cast<double>(machine_.gpus_per_node))
        return of(&Timing::link_latency) + moved / link_rate(members, reach);
    return spanning(members) + slower(moved, moved / spanning_rate(), static_cast<double>(machine_.gpus_per_node));
}

template <class N>
N Cost<N>::strided_collective(const N& bytes, const N& members, const N& stride) const {
    const double node = static_cast<double>(machine_.gpus_per_node), all = value_of(members);
    if (all <= 1 || all * value_of(stride) <= node) return collective(bytes, members, all * value_of(stride));
    const double within = std::max(1.0, std::floor(node / value_of(stride)));
    const N groups = quantity<N>({"t_g", "column_groups_in_node", ""}, node / within);
    const N moved = bytes * (members - 1) / members;
    return spanning(members) + slower(moved, moved * groups / network_rate(), within);
}

// A ring over several nodes goes through GPUs of one, too: so many, each of which sends so many bytes.
template <class N>
N Cost<N>::slower(const N& moved, const N& between, double within) const {
    using std::max;
    return within > 1 ? max(between, moved / link_rate(N(within), static_cast<double>(machine_.gpus_per_node))) : between;
}

template <class N>
N Cost<N>::spanning(const N& members) const {
    using std::log2;
    N latency = network_latency() * log2(members);
    if (timing_.spanning_latency != 0) latency = latency + of(&Timing::spanning_latency) * (members / gpus_per_node() - 1);
    return slower_latency(latency);
}

#ifdef FOURFOLD_TRACED
template class Cost<Traced>;
#else
template class Cost<double>;
#endif

}  // namespace fourfold
