// Files that tell a launcher which rank runs where.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fourfold {

struct RankFile {
    const char* id;  // "slurm", "openmpi_rankfile", "hostfile", "torchrun"
    const char* name;
    std::string text;
    const char* how;  // one line
};

// `hosts` in the order of the positions, `ranks_per_host` ranks each (the last may hold fewer), `ranks` in all. Syntax:
//   Slurm: sbatch(1), srun(1), --distribution=arbitrary;  Open MPI: mpirun(1), "Rankfiles" and "--hostfile";  torchrun: docs.pytorch.org
std::vector<RankFile> rank_files(std::span<const std::string> hosts, std::int64_t ranks_per_host, std::int64_t ranks);

}  // namespace fourfold
