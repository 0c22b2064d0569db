// Files that tell a launcher which rank runs where.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/words.h"

namespace fourfold {

struct RankFile {
    const char* id;  // "slurm", "openmpi_rankfile", "hostfile", "torchrun"
    const char* name;
    std::string text;
    Text how;  // to use it, in one line
};

// `hosts` in the order of the positions, `ranks_per_host` ranks each (the last may hold fewer), `ranks` in all. Syntax:
//   Slurm: srun(1), --distribution=arbitrary;  Open MPI: mpirun(1), "Rankfiles" and "--hostfile";  torchrun: docs.pytorch.org
// tests/placement/rank_files_test.cpp says with which versions these files were run.
// None at all when one of the hosts is no host name: no such file can quote a blank, a line break or a comment.
std::vector<RankFile> rank_files(std::span<const std::string> hosts, std::int64_t ranks_per_host, std::int64_t ranks);

// Letters, digits, "-", "." and "_": what all of these launchers read as one host. Open MPI 4.1 takes "node a" for "node".
bool is_host_name(std::string_view name);

}  // namespace fourfold
