#include "time/machine.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/bytes.h"

namespace fourfold {

namespace {

// What stands in a node where the request names no cluster, byte/s in one direction: the adapter that DGX A100 and DGX H100 have for each
// GPU, and PCIe Gen4 x16 to a host of which the GPU's profile says nothing.
constexpr double kAmpereAdapter = 200e9 / 8, kNewerAdapter = 400e9 / 8, kPcie = 32e9;

struct MachineSymbol {
    double Machine::*number;
    Symbol symbol;
};
constexpr MachineSymbol kMachineSymbols[] = {
    {&Machine::peak, {"R", "peak", "flop_per_s"}},
    {&Machine::peak_16, {"R_16", "peak_16", "flop_per_s"}},
    {&Machine::memory, {"H_0", "memory_bandwidth", "bytes_per_s"}},
    {&Machine::link, {"L", "node_link", "bytes_per_s"}},
    {&Machine::node, {"X", "node_network", "bytes_per_s"}},
    {&Machine::host, {"H_c", "host_bandwidth", "bytes_per_s"}},
    {&Machine::nvme, {"H_v", "nvme_bandwidth", "bytes_per_s"}},
    {&Machine::measured_link, {"B_l", "measured_link", "bytes_per_s"}},
    {&Machine::measured_node, {"B_n", "measured_network", "bytes_per_s"}},
    {&Machine::measured_latency, {"l_m", "measured_latency", "seconds"}},
    {&Machine::processors, {"S", "multiprocessors", ""}},
};

}  // namespace

double usual_adapter(Architecture architecture) { return architecture == Architecture::ampere ? kAmpereAdapter : kNewerAdapter; }

Machine machine_of(const Gpu& gpu, const Cluster* cluster, const Plan& plan) {
    Machine m;
    m.architecture = gpu.architecture;
    const bool fp8 = is_fp8(plan.precision);
    m.multiplies_in_8_bits = fp8 && gpu.fp8_flop_per_s > 0;
    m.peak_16 = plan.precision == Precision::fp16 ? gpu.fp16_flop_per_s : gpu.bf16_flop_per_s;
    m.peak = m.multiplies_in_8_bits ? gpu.fp8_flop_per_s : m.peak_16;
    m.peak_format = m.multiplies_in_8_bits ? "FP8" : plan.precision == Precision::fp16 ? "fp16" : "bf16";
    m.memory = gpu.hbm_byte_per_s;
    m.link = gpu.link_byte_per_s;
    m.host = gpu.c2c_byte_per_s > 0 ? gpu.c2c_byte_per_s : gpu.pcie_byte_per_s > 0 ? gpu.pcie_byte_per_s : kPcie;
    m.beside_grace = gpu.c2c_byte_per_s > 0;
    m.nvme = plan.nvme_rate * kGbyte;
    m.processors = static_cast<double>(gpu.streaming_multiprocessors);
    m.gpus_per_node = plan.gpus_per_node;
    m.topology = gpu.topology != Topology::one_switch || cluster == nullptr ? gpu.topology : cluster->topology;
    m.mesh_gpus = gpu.topology == Topology::mesh ? std::max(gpu.gpus_per_node, plan.gpus_per_node) : plan.gpus_per_node;
    const double gpus = static_cast<double>(plan.gpus_per_node), usual = usual_adapter(gpu.architecture);
    // A card's own PCIe may not fill an adapter.
    const double most = gpu.pcie_byte_per_s > 0 ? gpu.pcie_byte_per_s : INFINITY;
    const bool is_said = gpu.network_byte_per_s > 0, is_usual = cluster == nullptr || is_said;
    const double nics = is_usual ? gpus : static_cast<double>(cluster->nics_per_node);
    m.node = is_said ? gpu.network_byte_per_s * gpus : std::min((is_usual ? usual : cluster->nic_byte_per_s) * nics, most * gpus);
    m.over_pcie = gpu.over_pcie;
    m.measured_link = plan.measured_intra * kGbyte;
    m.measured_node = plan.measured_inter * kGbyte;
    m.measured_latency = plan.measured_latency;
    return m;
}

const Symbol& symbol_of(double Machine::*number) {
    return std::find_if(std::begin(kMachineSymbols), std::end(kMachineSymbols), [&](const auto& row) { return row.number == number; })
        ->symbol;
}

}  // namespace fourfold
