// What a run printed, and what that says about the plan that was counted.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "formats/printed/printed.h"
#include "model/hardware.h"

namespace fourfold {

inline constexpr std::size_t kMaxPrintedBytes = 32'000'000;  // of a request

// The answer to read_run() of api.h, or problems.
Json printed_answer(const Json& request, Problems& problems);

// What estimate() and alternatives() answered for the plan that ran.
struct Counted {
    double card_bytes = 0, total_bytes = 0, reserved_bytes = 0, whole_bytes = 0;
    double step_seconds = 0, low_seconds = 0, high_seconds = 0;
    std::int64_t gpus = 1, sequence_length = 1, global_batch = 1, stage = 0;
    struct Part {
        std::string id;
        double bytes;
    };
    std::vector<Part> items;  // of the fullest stage
    Json change;              // the text of the first change; null: none
    double saved_bytes = 0;
};
std::optional<Counted> read_counted(const Json& given, Problems& problems);

// Of all lines that say how long a step took.
struct Series {
    Printer printer = Printer::count;
    Quantity quantity = Quantity::count;
    double median = 0, lowest = 0, highest = 0;
    std::int64_t count = 0, left_out = 0, first_line = 0, last_line = 0;
};
struct Steps {
    std::vector<Series> series;  // the one that times a run first
    double global_batch = 0;     // 0 = not said
    std::vector<Text> notes;
    double seconds(const Counted* counted) const;  // of one step; 0 = the lines do not tell
};
Steps steps_of(const PrintedRun& run);

// What the program's own list of arguments says of the plan, as calibrate() takes it, null where it leaves something open; empty without
// one.
std::vector<std::pair<std::string, Json>> planned_run(const PrintedRun& run);

// What was measured of the run, as calibrate() takes it; empty where nothing of it can be used.
Json measured_run(const PrintedRun& run, const Steps& steps, const Counted* counted);

// What nvidia-smi shows of a node.
struct PrintedCards {
    const Gpu* gpu = nullptr;  // of the catalogue; nullptr: none, several kinds, or one that is not there
    std::int64_t count = 0;    // 0: not said
};
PrintedCards cards_of(const PrintedRun& run);

struct RunVerdict {
    const char* cause = nullptr;  // why it died
    std::vector<Text> texts;
};
RunVerdict verdict_of(const PrintedRun& run, const Steps& steps, const Counted* counted);
// The one of several that held most; nullptr: it did not run out of memory.
const OutOfMemory* fullest_death(const PrintedRun& run);

}  // namespace fourfold
