// GPUs and clusters as their data sheets describe them, in SI units (the profiles in data/ carry their own units in their key names).
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/fields.h"

namespace fourfold {

enum class Architecture { ampere, hopper, blackwell };

struct Gpu {
    std::string id, label;
    Architecture architecture = Architecture::hopper;
    double memory_bytes = 0;     // nominal size ("80 GB") times 2^30
    double bf16_flop_per_s = 0;  // dense
    double fp16_flop_per_s = 0;  // dense
    double fp8_flop_per_s = 0;   // dense; 0 = the card has none
    double hbm_byte_per_s = 0;
    double pcie_byte_per_s = 0;  // to the host, one direction; 0 = not said
    double link_byte_per_s = 0;  // to the other GPUs of the node, one direction
    std::int64_t streaming_multiprocessors = 0;
    std::int64_t gpus_per_node = 8;  // usual number
    double board_watts = 0;          // the most that the card draws; 0 = not said
    double usd_per_hour = 0;         // a public list price, with its date in the profile; 0 = not known
    Json profile;                    // the file, for the page: every number with its source
};

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
    bool has_switch = true;     // any pair of GPUs of a node at full link speed; otherwise the links are split among the peers
    std::optional<Site> site;
    Json profile;
};

// Reads one profile file; problems name the key. Used by catalog.cpp for the files compiled in.
Gpu read_gpu(const Json& profile, Problems& problems);
Cluster read_cluster(const Json& profile, Problems& problems);

}  // namespace fourfold
