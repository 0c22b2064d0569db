// GPUs and clusters as their data sheets describe them, in SI units (the profiles in data/ carry their own units in their key names).
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include "base/fields.h"

namespace fourfold {

enum class Architecture { ampere, hopper, blackwell, blackwell_ultra, cdna3, cdna4, ada };

// How the GPUs of a node are joined. In the order of the names in profiles: "switch", "mesh", "bridge".
enum class Topology : std::uint8_t {
    one_switch,  // any pair at the link's full speed; or all over PCIe
    mesh,        // the link is split among the peers
    bridges      // each joins two neighbours at the link's speed; what more GPUs send goes over PCIe
};

struct Gpu {
    std::string id, label;  // id "": a card of the request's own
    std::string base;       // id of the card in the catalogue whose numbers and measured shares hold; of those cards their own
    Architecture architecture = Architecture::hopper;
    double memory_bytes = 0;     // nominal size ("80 GB") times 2^30
    double bf16_flop_per_s = 0;  // dense
    double fp16_flop_per_s = 0;  // dense
    double fp8_flop_per_s = 0;   // dense; 0 = the card has none
    double hbm_byte_per_s = 0;
    double pcie_byte_per_s = 0;  // to the host, one direction; 0 = not said
    double c2c_byte_per_s = 0;   // to the host on the same board (NVLink-C2C), one direction; 0 = none: then over PCIe
    double link_byte_per_s = 0;  // to the other GPUs of the node, one direction
    bool over_pcie = false;      // that link is PCIe itself
    Topology topology = Topology::one_switch;
    double network_byte_per_s = 0;  // to the other nodes, one direction, whatever the cluster; 0 = as the cluster, or what is usual
    std::int64_t streaming_multiprocessors = 0;
    std::int64_t gpus_per_node = 8;  // usual number
    double board_watts = 0;          // the most that the card draws; 0 = not said
    double usd_per_hour = 0;         // a public list price, with its date in the profile; 0 = not known
    Json profile;                    // the file, for the page: every number with its source
    Json own;                        // of a card of the request's own: what the request says of it, every key written out; null otherwise
};
// Of the catalogue, which outlives every request, or of a request and then shared by all that is made of it.
using GpuPointer = std::shared_ptr<const Gpu>;
inline GpuPointer of_catalog(const Gpu& gpu) { return {GpuPointer(), &gpu}; }

// What a request says of a card of its own, in the units of the profiles; where it says nothing ("auto"), the base's number holds.
struct OwnNumbers {
    double memory = kAutoNumber, bf16 = kAutoNumber, fp8 = kAutoNumber, hbm = kAutoNumber, link = kAutoNumber, network = kAutoNumber,
           pcie = kAutoNumber, watts = kAutoNumber, price = kAutoNumber;
    std::int64_t processors = kAuto;
};
// Such as H100's.
struct OwnExamples {
    static constexpr Reading memory{.example = 80}, bf16{.example = 989.4}, fp8{.example = 1978.9}, hbm{.example = 3350},
        link{.example = 450}, network{.example = 50}, pcie{.example = 64}, watts{.example = 700}, price{.example = 2.5};
};
template <class AnyNumbers, class Visitor>
void visit_fields(AnyNumbers& n, Visitor&& v) requires std::is_same_v<std::remove_const_t<AnyNumbers>, OwnNumbers> {
    v.number({"memory_gib|gpu.mem|gib", &OwnExamples::memory}, n.memory, {1, 1e4}, true);
    v.number({"bf16_dense_tflop_per_s|gpu.bf16|tflop_per_s", &OwnExamples::bf16}, n.bf16, {0.1, 1e6}, true);  // fp16 is as fast
    v.number({"fp8_dense_tflop_per_s|gpu.fp8|tflop_per_s", &OwnExamples::fp8}, n.fp8, {0, 1e6}, true);        // 0 = the card has none
    v.number({"hbm_gbyte_per_s|gpu.hbm|gbyte_per_s", &OwnExamples::hbm}, n.hbm, {1, 1e6}, true);
    v.number({"link_gbyte_per_s|gpu.link|gbyte_per_s", &OwnExamples::link}, n.link, {0.1, 1e5}, true);
    v.number({"network_gbyte_per_s|gpu.net|gbyte_per_s", &OwnExamples::network}, n.network, {0.01, 1e5}, true);
    v.number({"pcie_gbyte_per_s|gpu.pcie|gbyte_per_s", &OwnExamples::pcie}, n.pcie, {0.1, 1e5}, true);
    v.integer({"streaming_multiprocessors|gpu.sm"}, n.processors, {1, 10'000}, true);
    v.number({"board_watts|gpu.watts|watts", &OwnExamples::watts}, n.watts, {0, 1e4}, true);
    v.number({"usd_per_gpu_hour|gpu.price|per_hour", &OwnExamples::price}, n.price, {0, 1e4}, true);
}
// The base with another name and these numbers.
Gpu own_gpu(const Gpu& base, std::string_view name, const OwnNumbers& numbers);

// What the time model takes from measured runs on a cluster (time/constants.h), where there are any.
struct Site {
    double network_share = 0;  // of the network's rate, in collectives
    double send_share = 0;     // of the network's rate, in sends between stages
    double fixed_s = 0;        // per step
    double stall_s = 0;        // per micro-batch and group of GPUs
};

struct Cluster {
    std::string id, label, gpu;
    std::int64_t gpus_per_node = 8;
    std::int64_t nics_per_node = 0;
    double nic_byte_per_s = 0;  // each, one direction
    Topology topology = Topology::one_switch;
    std::optional<Site> site;
    Json profile;
};

// Reads one profile file; problems name the key. Used by catalog.cpp for the files compiled in.
Gpu read_gpu(const Json& profile, Problems& problems);
Cluster read_cluster(const Json& profile, Problems& problems);

}  // namespace fourfold
