// Based on
//   roofline and wave quantisation of matrix multiplications on a grid of tiles (NVIDIA: Matrix Multiplication Background User's Guide)
//   the alpha-beta model of ring collectives (Thakur, Rabenseifner, Gropp 2005)
// Constants: joint least-squares fit to published step times of Megatron-LM runs (tests/measured/runs.json: the runs beside arXiv
// 2411.06465 on ABCI's A100 and TSUBAME4's H100, NVIDIA dgxc-benchmarking, Korthikanti et al., vTrain), those marked "bench" from
// single-kernel benchmarks on A100. Which families were in the fit and which are predicted is told apart in tests/time/step_time_test.cpp.
// The ring's constants (context_correction, ring_link) are fitted to the 63 of these runs with context parallelism: one share of the link
// for A100 and H100 alike. A ring's steps are sends between two GPUs and do not have the latency of a collective, which absorbs its
// members' skew; nor do the runs show a cost of what attention hides, or of launching more kernels.
#include "time/transfers.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace fourfold {

#ifndef FOURFOLD_TRACED
Machine machine_of(const Gpu& gpu, const Cluster* cluster, const Plan& plan) {
    Machine m;
    m.architecture = gpu.architecture;
    const bool fp8 = plan.precision == Precision::fp8 || plan.precision == Precision::fp8_weights;
    m.multiplies_in_8_bits = fp8 && gpu.fp8_flop_per_s > 0;
    m.peak_16 = plan.precision == Precision::fp16 ? gpu.fp16_flop_per_s : gpu.bf16_flop_per_s;
    m.peak = m.multiplies_in_8_bits ? gpu.fp8_flop_per_s : m.peak_16;
    m.peak_format = m.multiplies_in_8_bits ? "FP8" : plan.precision == Precision::fp16 ? "fp16" : "bf16";
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
    .context_correction = 1.77,
    .ring_link = 0.368,
    .ring_latency = 10e-6,  // assumed: from 3 to 20 us the runs fit alike
    .ring_network = 0.306,
    .ring_network_exposed = 0.911,
    .host_layer = 1.15e-3,
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
// The two shares that Megatron-LM's runs on a node of eight B200 tell apart (SimuMax, release v1.2, 16 runs of Llama 3 70B with 12 layers,
// 4,096 to 131,072 tokens); all else is Hopper's. Fitted to the runs with TP >= 4 alone, those with TP 1 and 2 come out within 5 %.
Timing blackwell() {
    Timing t = hopper();
    t.gemm = 0.493;
    t.attention = 0.473;
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
    Timing t = machine.architecture == Architecture::ampere   ? kAmpere
               : machine.architecture == Architecture::hopper ? hopper()
                                                              : blackwell();
    if (machine.architecture == Architecture::hopper && attention == AttentionKernel::cudnn) t.attention = 0.541;
    if (plan.site == SiteKind::shared) t.stall = 0.5e-3;
    if (plan.site == SiteKind::own)
        t.network = plan.site_network, t.fixed = plan.site_fixed, t.stall = plan.site_stall, t.pipeline = plan.site_pipeline;
    if (cluster != nullptr && plan.site == SiteKind::measured)
        for (const Site& site : kSites)
            if (site.cluster == cluster->id)
                t.network = site.network, t.fixed = site.fixed, t.stall = site.stall, t.pipeline = site.pipeline;
    return t;
}

// ---- letters
namespace {
struct MachineLetter {
    double Machine::*number;
    Symbol symbol;
};
struct TimingLetter {
    double Timing::*constant;
    Symbol symbol;
};
}  // namespace

static constexpr MachineLetter kMachineLetters[] = {
    {&Machine::peak, {"R", "peak", "flop_per_s"}},
    {&Machine::peak_16, {"R_16", "peak_16", "flop_per_s"}},
    {&Machine::memory, {"H_0", "memory_bandwidth", "bytes_per_s"}},
    {&Machine::link, {"L", "node_link", "bytes_per_s"}},
    {&Machine::node, {"X", "node_network", "bytes_per_s"}},
    {&Machine::host, {"H_c", "host_bandwidth", "bytes_per_s"}},
    {&Machine::processors, {"S", "multiprocessors", ""}},
};
static constexpr TimingLetter kTimingLetters[] = {
    {&Timing::gemm, {"e_g", "gemm_share", ""}},
    {&Timing::tile_fill, {"k_0", "tile_fill", ""}},
    {&Timing::wave_mix, {"w_0", "wave_mix", ""}},
    {&Timing::small_tile, {"e_t", "small_tile_share", ""}},
    {&Timing::attention, {"e_a", "attention_share", ""}},
    {&Timing::attention_backward, {"e_b", "attention_backward_share", ""}},
    {&Timing::attention_tail, {"j_a", "attention_longest_block", ""}},
    {&Timing::element_wise, {"e_w", "element_factor", ""}},
    {&Timing::cross_entropy, {"j_l", "loss_bytes", "bytes"}},
    {&Timing::link, {"e_l", "link_share", ""}},
    {&Timing::link_latency, {"l_l", "link_latency", "seconds"}},
    {&Timing::network, {"e_n", "network_share", ""}},
    {&Timing::network_latency, {"l_n", "network_latency", "seconds"}},
    {&Timing::tensor_exposed, {"u_t", "tensor_exposed", ""}},
    {&Timing::tensor_overlap_exposed, {"u_o", "tensor_overlap_exposed", ""}},
    {&Timing::data_exposed, {"u_d", "data_exposed", ""}},
    {&Timing::context_correction, {"j_c", "rescaling_factor", ""}},
    {&Timing::ring_link, {"e_c", "ring_link_share", ""}},
    {&Timing::ring_latency, {"l_r", "ring_latency", "seconds"}},
    {&Timing::ring_network, {"e_r", "ring_network_share", ""}},
    {&Timing::ring_network_exposed, {"u_x", "ring_exposed", ""}},
    {&Timing::host_layer, {"c_l", "host_layer", "seconds"}},
    {&Timing::fixed, {"f_0", "fixed_seconds", "seconds"}},
    {&Timing::straggler, {"u_s", "straggler", ""}},
    {&Timing::stall, {"j_s", "stall_seconds", "seconds"}},
    {&Timing::pipeline, {"e_p", "send_network_share", ""}},
    {&Timing::accumulation, {"j_g", "accumulation_bytes", "bytes"}},
    {&Timing::micro_batch, {"c_m", "host_micro_batch", "seconds"}},
};
static_assert(sizeof kMachineLetters / sizeof(MachineLetter) == 7);
static_assert(sizeof kTimingLetters / sizeof(TimingLetter) == sizeof(Timing) / sizeof(double));

const Symbol& letter_of(double Machine::*number) {
    return std::find_if(std::begin(kMachineLetters), std::end(kMachineLetters), [&](const auto& row) { return row.number == number; })
        ->symbol;
}
const Symbol& letter_of(double Timing::*constant) {
    return std::find_if(std::begin(kTimingLetters), std::end(kTimingLetters), [&](const auto& row) { return row.constant == constant; })
        ->symbol;
}
#endif

// ---- operations
template <class N>
N Cost<N>::gemm(Pass pass, const Part& matrix, const N& rate, const N& M, const N& columns, const N& K, double output_bytes) const {
    using std::ceil, std::max;
    struct Tile {
        double m, n;
        bool small;
    };
    constexpr Tile kTiles[] = {{256, 128, false}, {128, 256, false}, {128, 128, true}};
    struct Letters {
        const char *seconds, *meaning, *waves, *waves_meaning;
    };
    constexpr Letters kLetters[] = {{"F", "forward_multiplication", "x", "forward_waves"},
                                    {"I", "input_gradient", "y", "input_gradient_waves"},
                                    {"W", "weight_gradient", "z", "weight_gradient_waves"}};
    const Letters& letters = kLetters[static_cast<int>(pass)];
    const N S = of(&Machine::processors), w = of(&Timing::wave_mix);
    N work = 0.0;  // per step along K
    for (const Tile& tile : kTiles) {
        const N waves = named<N>({letters.waves, letters.waves_meaning, "", &matrix}, ceil(M / tile.m) * ceil(columns / tile.n) / S);
        const double flop = 2 * tile.m * tile.n;
        N size = w * waves + (1 - w) * ceil(waves);
        size = tile.small ? size * quantity<N>({"O_s", "small_tile_operations", "flop"}, flop) / of(&Timing::small_tile)
                          : size * quantity<N>({"O_t", "tile_operations", "flop"}, flop);
        if (value_of(work) == 0 || value_of(size) < value_of(work)) work = size;
    }
    const N compute = work * (K + of(&Timing::tile_fill)) * S / rate;
    const N traffic = (2 * (M * K + K * columns) + output_bytes * M * columns) / memory();
    return named<N>({letters.seconds, letters.meaning, "seconds", &matrix}, max(compute, traffic));
}

template <class N>
N Cost<N>::collective(const N& bytes, const N& members) const {
    using std::log2;
    if (value_of(members) <= 1) return 0.0;
    const N moved = bytes * (members - 1) / members;
    return value_of(members) <= static_cast<double>(machine_.gpus_per_node)
               ? of(&Timing::link_latency) + moved / (of(&Timing::link) * ring_link(members))
               : of(&Timing::network_latency) * log2(members) + moved / (of(&Timing::network) * of(&Machine::node));
}

#ifdef FOURFOLD_TRACED
template class Cost<Traced>;
#else
template class Cost<double>;
#endif

}  // namespace fourfold
