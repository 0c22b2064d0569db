#include "phases/failures.h"

#include <cmath>

namespace fourfold {

namespace {

constexpr double kGiga = 1e9;

Traced restart_time(const Troubles& troubles) { return Traced::symbol({"R", "restart_seconds", "seconds"}, troubles.restart_seconds); }

Traced storage_rate(const Trained& trained, const Troubles& troubles) {
    const Symbol symbol{"v", "storage_rate", "bytes_per_s"};
    if (troubles.storage_gbyte_per_s != kAutoNumber) return Traced::symbol(symbol, troubles.storage_gbyte_per_s * kGiga);
    return Traced::named(symbol, Traced::symbol({"G", "gpus", ""}, trained.gpus) *
                                     Traced::symbol({"v_G", "storage_rate_per_gpu", "bytes_per_s"}, kStoragePerGpu * kGiga));
}

// The optimizer's weights in fp32, its averages, and the weights in bf16; gradients are made anew.
Traced write_time(const Trained& trained, const Troubles& troubles) {
    const Traced count = Traced::symbol({"N", "parameters", ""}, trained.parameters);
    const Traced averages = Traced::symbol({"m", "average_bytes", "bytes"}, trained.average_bytes);
    const Traced bytes = Traced::named({"B", "checkpoint_bytes", "bytes"}, count * (Traced(4) + averages + 2));
    return Traced::named({"W", "write_seconds", "seconds"}, bytes / storage_rate(trained, troubles));
}

// The work between two checkpoints that loses least (Daly 2006); where writing takes next to nothing, Young's sqrt(2·W·M).
Traced checkpoint_interval(const Traced& write, const Traced& between, const Troubles& troubles) {
    const Symbol symbol{"c", "checkpoint_interval", "seconds"};
    if (troubles.checkpoint_seconds != kAutoNumber) return Traced::symbol(symbol, troubles.checkpoint_seconds);
    if (write.value() >= 2 * between.value()) return Traced::named(symbol, between);
    const Traced part = write / (2 * between);
    return Traced::named(symbol, sqrt(2 * write * between) * (1 + sqrt(part) / 3 + part / 9) - write);
}

}  // namespace

Traced change_seconds(const Trained& trained, const Troubles& troubles) {
    return 2 * write_time(trained, troubles) + restart_time(troubles);
}

// A failure comes every M seconds of work, and takes half of an interval, the reading of the last checkpoint and a restart.
UsefulShare useful_share(const Trained& trained, const Troubles& troubles) {
    if (troubles.failure_hours_per_gpu <= 0) return {Traced(1), 0, 0, 0};
    const Traced write = write_time(trained, troubles);
    const Traced between =
        Traced::named({"M", "failure_seconds", "seconds"},
                      Traced::symbol({"h", "failure_time_per_gpu", "seconds"}, troubles.failure_hours_per_gpu * kSecondsPerHour) /
                          Traced::symbol({"G", "gpus", ""}, trained.gpus));
    const Traced interval = checkpoint_interval(write, between, troubles);
    const Traced share = 1 / (1 + write / interval + (interval / 2 + write + restart_time(troubles)) / between);
    return {share, write.value(), interval.value(), between.value()};
}

}  // namespace fourfold
