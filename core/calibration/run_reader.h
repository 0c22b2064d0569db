// One run after the other: its fields, its plan completed, its measurements in seconds and bytes.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "calibration/runs.h"

namespace fourfold {

// Adds a problem without a nearest value.
void report(Problems& problems, std::string_view field, const char* rule, const Json& value, Text message, Text suggestion);

class RunReader {
 public:
    // Keeps references. `convention`: of runs that name none.
    RunReader(const Job& job, CountedFlop convention, const RunColumns& columns);
    // Whether the run can be used; what is wrong with it is added to `found`.
    bool read(const Json& row, MeasuredRun& run, Problems& found);
    // Whether some run or column counts FLOP.
    bool asks_convention() const { return asks_convention_; }
    // One problem for all runs that count FLOP and say not how.
    void ask_for_convention(const RunColumns& columns, Problems& problems) const;

 private:
    struct Value {
        const Measure* measure;
        double value;
    };
    struct Said {
        std::vector<Value> values;
        std::int64_t data_parallel = kAuto, nodes = kAuto;
        bool gpus = false;  // whether the run says its number of GPUs
        CountedFlop convention;
    };
    void read_fields(const Json& row, MeasuredRun& run, Said& said, Problems& found) const;
    void use_data_parallel(const Said& said, Plan& plan) const;
    void complete_plan(const Said& said, MeasuredRun& run, Problems& found);
    Problems fill(MeasuredRun& run);
    bool convert(const Said& said, MeasuredRun& run, Problems& found);
    void check_time(MeasuredRun& run, Problems& found) const;
    void check_memory(MeasuredRun& run, Problems& found) const;

    const Job& job_;
    const CountedFlop convention_;
    const Plan base_;              // the job's, without any calibration
    const std::string first_key_;  // in what the table's runs are measured
    bool asks_convention_ = false;
    const char* without_convention_ = nullptr;          // the first such measure
    std::size_t illegal_ = 0;                           // rows so far
    std::size_t searches_ = 0;                          // among many plans
    std::vector<std::pair<std::string, Plan>> chosen_;  // by the search, for plans as the runs leave them open
};

}  // namespace fourfold
