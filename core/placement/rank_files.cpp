#include "placement/rank_files.h"

#include <algorithm>

namespace fourfold {

bool is_host_name(std::string_view name) {
    const auto plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
    };
    return !name.empty() && name.front() != '-' && std::all_of(name.begin(), name.end(), plain);
}

std::vector<RankFile> rank_files(std::span<const std::string> hosts, std::int64_t ranks_per_host, std::int64_t ranks) {
    if (!std::all_of(hosts.begin(), hosts.end(), [](const std::string& host) { return is_host_name(host); })) return {};
    std::string slurm, rankfile, hostfile, torchrun;
    std::int64_t rank = 0;
    const std::string nodes = std::to_string(hosts.size());
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        const std::int64_t here = std::min(ranks_per_host, ranks - rank);
        for (std::int64_t slot = 0; slot < here; ++slot, ++rank) {
            slurm.append(hosts[i]).append("\n");
            rankfile.append("rank ").append(std::to_string(rank)).append("=").append(hosts[i]);
            rankfile.append(" slot=").append(std::to_string(slot)).append("\n");
        }
        hostfile.append(hosts[i]).append(" slots=").append(std::to_string(here)).append("\n");
        torchrun.append(hosts[i]).append(" NODE_RANK=").append(std::to_string(i)).append(" MASTER_ADDR=").append(hosts[0]);
        torchrun.append(" NNODES=").append(nodes).append(" NPROC_PER_NODE=").append(std::to_string(here)).append("\n");
    }
    return {{"slurm", "slurm-hosts.txt", std::move(slurm), Text("launcher.slurm").with("ranks", std::to_string(rank))},
            {"openmpi_rankfile", "rankfile.txt", std::move(rankfile), "launcher.openmpi_rankfile"},
            {"hostfile", "hostfile.txt", std::move(hostfile), "launcher.hostfile"},
            {"torchrun", "node-ranks.txt", std::move(torchrun), "launcher.torchrun"}};
}

}  // namespace fourfold
