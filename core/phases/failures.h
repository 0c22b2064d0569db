// What a run loses beside its steps: checkpoints, what breaks, and the changes from one phase to the next.
#pragma once
#include "base/formula.h"
#include "memory/memory.h"

namespace fourfold {

// GPU-hours from one unexpected interruption to the next: 419 in 54 days of 16,384 H100 (The Llama 3 Herd of Models, section 3.3.4).
inline constexpr double kFailureHoursPerGpu = 54.0 * 24 * 16'384 / 419;
// Storage that a cluster of Llama 3 had for each GPU: 2 TB/s sustained for 16,384 (the same, section 3.3.1), in GB/s.
inline constexpr double kStoragePerGpu = 2'000.0 / 16'384;
inline constexpr double kSecondsPerHour = 3'600;

struct Troubles {
    double storage_gbyte_per_s = kAutoNumber;            // for all GPUs together; auto: as Llama 3's, for each GPU
    double restart_seconds = 600;                        // assumed: five to fifteen minutes are usual
    double failure_hours_per_gpu = kFailureHoursPerGpu;  // 0: nothing breaks, and nothing is written between changes
    double checkpoint_seconds = kAutoNumber;             // of work between two checkpoints
};

// What is trained, on how many GPUs.
struct Trained {
    double parameters, gpus, average_bytes;  // the last: of the optimizer's averages, per parameter
};

// Seconds from the last step of a phase to the first one of the next: its states written and read again, and a restart.
Traced change_seconds(const Trained& trained, const Troubles& troubles);

// How much of the time goes into steps that count, with failures that come at any moment alike.
struct UsefulShare {
    Traced share;
    double write_seconds = 0, checkpoint_seconds = 0, failure_seconds = 0;  // the last: from one failure to the next
};
UsefulShare useful_share(const Trained& trained, const Troubles& troubles);

}  // namespace fourfold
