// all_reduce over all GPUs, as nccl-tests measures it: what every estimate takes from it.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "base/fields.h"

namespace fourfold {

struct TimedSize {
    double bytes, seconds;
};
// seconds + bytes * seconds_per_byte
struct TimeLine {
    double seconds = 0, seconds_per_byte = 0;
};
// The line that lies nearest to what was measured: the least sum of relative errors, without their signs, so that a few odd times do not
// move it. Of the messages of 1 MiB and more, as training sends them, where there are three sizes of them; else of all. nullopt: none.
std::optional<TimeLine> time_line(std::vector<TimedSize> measured);

// One run of all_reduce_perf.
struct AllReduce {
    std::size_t nodes = 0, gpus = 0;
    TimeLine line;
    bool spans() const { return nodes > 1; }
    double bus_rate() const;  // byte/s, as nccl-tests counts them
    // Byte/s of a GPU where there is one node; of several, what a node sends.
    double rate() const;
    double latency() const;  // seconds, of one of its two collectives, per doubling of the GPUs
};

// The runs that count: of those in one node the slowest, of those over nodes the slowest with most nodes; as fields of a job.
Json settings_of(const std::vector<AllReduce>& runs);
Json to_json(const AllReduce& run);

}  // namespace fourfold
