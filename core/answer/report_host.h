// What an estimate says of the host: what it holds of an offloaded optimizer, and whether that fits.
#pragma once
#include "job/job.h"
#include "memory/memory.h"

namespace fourfold {

// The stage that offloads most, when it does.
Stage most_offloaded(const Job& job, const Framework& framework, const Stages& stages);

// Of that stage; null where nothing is offloaded.
Json describe_host(const Job& job, const StageMemory<double>& memory);

void warn_of_host_memory(const Job& job, double most_bytes, Problems& warnings);

}  // namespace fourfold
