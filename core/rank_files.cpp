#include "rank_files.h"

#include <algorithm>

namespace fourfold {

std::vector<RankFile> rank_files(std::span<const std::string> hosts, std::int64_t ranks_per_host, std::int64_t ranks) {
    std::string slurm, rankfile, hostfile, torchrun;
    std::int64_t rank = 0;
    const std::string nodes = std::to_string(hosts.size()), per_node = std::to_string(ranks_per_host);
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        const std::int64_t here = std::min(ranks_per_host, ranks - rank);
        for (std::int64_t slot = 0; slot < here; ++slot, ++rank) {
            slurm.append(hosts[i]).append("\n");
            rankfile.append("rank ").append(std::to_string(rank)).append("=").append(hosts[i]);
            rankfile.append(" slot=").append(std::to_string(slot)).append("\n");
        }
        hostfile.append(hosts[i]).append(" slots=").append(std::to_string(here)).append("\n");
        torchrun.append(hosts[i]).append(" NODE_RANK=").append(std::to_string(i)).append(" MASTER_ADDR=").append(hosts[0]);
        torchrun.append(" NNODES=").append(nodes).append(" NPROC_PER_NODE=").append(per_node).append("\n");
    }
    return {
        {"slurm", "slurm-hosts.txt", std::move(slurm),
         "One host per task, in rank order: export SLURM_HOSTFILE=$PWD/slurm-hosts.txt, then srun --distribution=arbitrary in an "
         "allocation of "
         "these hosts."},
        {"openmpi_rankfile", "rankfile.txt", std::move(rankfile),
         "mpirun --rankfile rankfile.txt (Open MPI 5: --map-by rankfile:file=rankfile.txt); slot is the core that the rank is bound to."},
        {"hostfile", "hostfile.txt", std::move(hostfile),
         "mpirun --hostfile hostfile.txt --map-by slot: ranks fill the hosts from the top."},
        {"torchrun", "node-ranks.txt", std::move(torchrun),
         "On each host, with its line's values: torchrun --nnodes=$NNODES --nproc-per-node=$NPROC_PER_NODE --node-rank=$NODE_RANK "
         "--master-addr=$MASTER_ADDR."},
    };
}

}  // namespace fourfold
