// The rates that a plan runs at, from the profiles of GPU and cluster.
#pragma once
#include <cstdint>

#include "base/formula.h"
#include "model/hardware.h"
#include "plan/plan.h"

namespace fourfold {

struct Machine {
    Architecture architecture = Architecture::hopper;
    double peak = 0;     // FLOP/s of a GPU in the plan's precision, dense
    double peak_16 = 0;  // the same in 16 bits, in which fp8 leaves attention and logits
    double memory = 0;   // byte/s of HBM, from the data sheet
    double link = 0;     // byte/s of a GPU to the others of its node, one direction
    double node = 0;     // byte/s of a node to the network, one direction, all adapters
    double host = 0;     // byte/s between a GPU and its host, one direction
    double nvme = 0;     // byte/s of a node's drives, reading and writing
    // What the reader measured: byte/s that collectives reach inside a node and between nodes, seconds of latency; 0: nothing
    double measured_link = 0, measured_node = 0, measured_latency = 0;
    double processors = 0;  // streaming multiprocessors
    std::int64_t gpus_per_node = 8;
    Topology topology = Topology::one_switch;
    bool over_pcie = false;            // `link` is PCIe, over which goes what leaves the node, too
    std::int64_t mesh_gpus = 8;        // that the links of one GPU of a mesh join
    bool beside_grace = false;         // the host's CPU is NVIDIA's Grace, to which alone NVLink-C2C goes
    const char* peak_format = "bf16";  // of which number format `peak` is
    bool multiplies_in_8_bits = false;
};

// What goes between nodes where neither the cluster nor the card says it: byte/s of one GPU's adapter, one direction.
double usual_adapter(Architecture architecture);

// `cluster` may be null: then one network adapter of 400 Gbit/s (Hopper and newer) or 200 Gbit/s (Ampere) per GPU and a switch in the node.
Machine machine_of(const Gpu& gpu, const Cluster* cluster, const Plan& plan);

// The symbol of each of these numbers.
const Symbol& symbol_of(double Machine::*number);

}  // namespace fourfold
