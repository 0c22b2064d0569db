// Based on
//   roofline and wave quantisation of matrix multiplications on a grid of tiles (NVIDIA: Matrix Multiplication Background User's Guide)
//   the alpha-beta model of ring collectives (Thakur, Rabenseifner, Gropp 2005)
// Constants: joint least-squares fit to published step times of Megatron-LM runs (tests/measured/runs.json: the runs beside arXiv
// 2411.06465 on ABCI's A100 and TSUBAME4's H100, NVIDIA dgxc-benchmarking, Korthikanti et al., vTrain), those marked "bench" from
// single-kernel benchmarks on A100. Which families were in the fit and which are predicted is told apart in tests/step_time_test.cpp.
#include "cost.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace fourfold {

Machine machine_of(const Gpu& gpu, const Cluster* cluster, const Plan& plan) {
    Machine m;
    m.architecture = gpu.architecture;
    const bool fp8 = plan.precision == Precision::fp8 || plan.precision == Precision::fp8_weights;
    m.peak = fp8 && gpu.fp8_flop_per_s > 0       ? gpu.fp8_flop_per_s
             : plan.precision == Precision::fp16 ? gpu.fp16_flop_per_s
                                                 : gpu.bf16_flop_per_s;
    m.peak_format = fp8 && gpu.fp8_flop_per_s > 0 ? "FP8" : plan.precision == Precision::fp16 ? "fp16" : "bf16";
    m.memory = gpu.hbm_byte_per_s;
    m.link = gpu.link_byte_per_s;
    m.host = gpu.pcie_byte_per_s > 0 ? gpu.pcie_byte_per_s : 32e9;  // PCIe Gen4 x16
    m.processors = static_cast<double>(gpu.streaming_multiprocessors);
    m.gpus_per_node = plan.gpus_per_node;
    m.has_switch = cluster == nullptr || cluster->has_switch;
    const double adapter = (gpu.architecture == Architecture::ampere ? 200e9 : 400e9) / 8;
    m.node = cluster == nullptr ? adapter * static_cast<double>(plan.gpus_per_node)
                                : cluster->nic_byte_per_s * static_cast<double>(cluster->nics_per_node);
    return m;
}

namespace {

constexpr Timing kAmpere = {
    .gemm = 0.827,
    .tile_fill = 138,
    .wave_mix = 0.36,    // bench
    .small_tile = 0.85,  // bench
    .attention = 0.635,
    .attention_backward = 0.82,  // bench
    .attention_tail = 1.67,      // bench
    .element_wise = 0.929,
    .cross_entropy = 46.5,
    .link = 0.95,
    .link_latency = 72e-6,
    .network = 0.7,
    .network_latency = 25e-6,
    .tensor_exposed = 0.615,
    .tensor_overlap_exposed = 0.289,
    .data_exposed = 0.202,
    .context_correction = 0.934,
    .context_exposed = 0.267,
    .context_exposed_network = 0.911,
    .ring_network = 0.306,
    .host_layer = 1.15e-3,
    .host_context = 0.207e-3,
    .fixed = 0.1,
    .straggler = 0.00103,
    .stall = 0.02e-3,
    .pipeline = 0.5,
    .accumulation = 2.38,
    .micro_batch = 2.89e-3,
};

Timing hopper() {
    Timing t = kAmpere;
    t.gemm = 0.737;
    t.attention = 0.368;
    t.link = 0.737;
    t.host_layer = 0.434e-3;
    return t;
}

// What differs from site to site, as fitted to its runs.
struct Site {
    std::string_view cluster;
    double network, fixed, stall, pipeline;
};
constexpr Site kSites[] = {
    {"abci-a", 1.0, 0.0706, 1.276e-3, 0.121},
    {"tsubame4", 0.628, 0.0782, 0.121e-3, 0.497},
    {"dgx-h100", 1.0, 0.175, 0.0125e-3, 0.265},
    {"dgx-a100-80gb", 0.628, 0.0622, 0.0388e-3, 0.780},  // Selene
};

}  // namespace

Timing timing_of(const Machine& machine, const Cluster* cluster, const Plan& plan, AttentionKernel attention) {
    const bool ampere = machine.architecture == Architecture::ampere;
    Timing t = ampere ? kAmpere : hopper();  // Blackwell: no runs yet, Hopper's shares of its own peaks
    if (!ampere && attention == AttentionKernel::cudnn) t.attention = 0.541;
    if (plan.site == SiteKind::shared) t.stall = 0.5e-3;
    if (plan.site == SiteKind::own)
        t.network = plan.site_network, t.fixed = plan.site_fixed, t.stall = plan.site_stall, t.pipeline = plan.site_pipeline;
    if (cluster != nullptr && plan.site == SiteKind::measured)
        for (const Site& site : kSites)
            if (site.cluster == cluster->id)
                t.network = site.network, t.fixed = site.fixed, t.stall = site.stall, t.pipeline = site.pipeline;
    return t;
}

double gemm_seconds(const Machine& machine, const Timing& t, double M, double N, double K, double output_bytes) {
    struct Tile {
        double m, n;
        bool small;
    };
    constexpr Tile kTiles[] = {{256, 128, false}, {128, 256, false}, {128, 128, true}};
    const double rate = t.gemm * machine.peak;
    double work = 0;
    for (const Tile& tile : kTiles) {
        const double waves = std::ceil(M / tile.m) * std::ceil(N / tile.n) / machine.processors;
        const double paid = t.wave_mix * waves + (1 - t.wave_mix) * std::ceil(waves);
        const double size = paid * tile.m * tile.n / (tile.small ? t.small_tile : 1);
        if (work == 0 || size < work) work = size;
    }
    const double compute = work * 2 * (K + t.tile_fill) * machine.processors / rate;
    const double traffic = (2 * (M * K + K * N) + output_bytes * M * N) / (0.85 * machine.memory);
    return std::max(compute, traffic);
}

double collective_seconds(const Machine& machine, const Timing& t, double bytes, double members) {
    if (members <= 1) return 0;
    const double moved = bytes * (members - 1) / members;
    return members <= static_cast<double>(machine.gpus_per_node)
               ? t.link_latency + moved / (t.link * machine.ring_link(members))
               : t.network_latency * std::log2(members) + moved / (t.network * machine.node);
}

}  // namespace fourfold
