// Runs of the user's own: read, completed by the search where they leave something out, and put beside their estimates.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "calibration/columns.h"
#include "calibration/measures.h"
#include "job/job.h"

namespace fourfold {

inline constexpr std::size_t kMostRuns = 500;

// On the fullest GPU.
struct MeasuredMemory {
    std::string_view measure;  // in which it was given
    double bytes = 0;          // 0: not measured
    bool reserved = false;     // else allocated
    double allocated = 0;      // where reserved was measured: what is then estimated to be allocated
    double estimated = 0;      // allocated bytes, without any calibration
};

struct MeasuredRun {
    std::size_t index = 0;     // in the request
    Text name;                 // "Run 4", "Line 5"
    std::string key;           // of the plan: the same for the same one
    Plan plan;                 // no kAuto, no calibration of its own
    Json filled;               // what the search chose, as settings
    std::string_view measure;  // in which the time was given; "": it was not
    double measured = 0;       // seconds of a step
    double estimated = 0;      // seconds, without any calibration
    bool fits = true;          // by the estimate of its memory
    MeasuredMemory memory{};

    bool has_time() const { return measured > 0; }
    bool has_memory() const { return memory.bytes > 0; }
};

struct RunsRead {
    std::vector<MeasuredRun> runs;  // those without a problem
    RunColumns columns;             // of "runs_text", else the usual ones
    bool asks_convention = false;   // some rate counts FLOP
};

// The plan without what an earlier calibration put there.
Plan uncalibrated(const Plan& plan);

// Reads a request's "runs" (list of objects) or "runs_text" (CSV or TSV with a header); every row that is wrong, absurd, illegal or
// contradicts another is a problem whose field is "runs[3].…" and whose message begins with the row's name.
RunsRead read_runs(const Json& request, const Job& job, Problems& problems);

}  // namespace fourfold
