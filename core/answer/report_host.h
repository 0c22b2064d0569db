// What an estimate says of the host: what it holds of an offloaded optimizer, and whether that fits.
#pragma once
#include "job/job.h"
#include "memory/memory.h"

namespace fourfold {

// Null where nothing is offloaded. `most_bytes`: of one GPU, on the stage that offloads most.
Json describe_host(const Job& job, const StageMemory<double>& memory, double most_bytes);

void warn_of_host_memory(const Job& job, double most_bytes, Problems& warnings);

}  // namespace fourfold
