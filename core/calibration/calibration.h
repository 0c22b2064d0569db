// The step-time model brought into line with steps that the user measured. What may explain them (a factor on every time, one constant,
// from 10 plans on the constants of the site) is tried on plans left out, and must predict these clearly better than the estimate as it is.
// One plan alone never changes anything: on published runs that made the others' predictions worse.
#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calibration/runs.h"
#include "job/job.h"

namespace fourfold {

inline constexpr std::size_t kFewestForFactor = 3, kFewestForSite = 10;
inline constexpr int kProposedDigits = 4;  // of a factor or a constant

// ---- what may explain the runs
inline constexpr std::size_t kSiteConstants = 4, kFittedConstants = 8;
struct FittedConstant {
    std::string_view key;
    double Plan::*of_plan;
    double low, high;  // where a fit looks
    double spread;     // how far, as a logarithm, it may well lie from the usual value
    bool alone;        // whether it may explain the runs alone: the others did not help on published runs
};
extern const std::array<FittedConstant, kFittedConstants> kFitted;  // the site's first
using FittedValues = std::array<double, kFittedConstants>;

// Into how many parts the runs are divided, each predicted from the others.
inline constexpr std::size_t kMostFolds = 10;

// One plan and its time: the mean of its repetitions.
struct FitRow {
    Plan plan;
    double measured = 0, estimated = 0;
};

// What is changed so that the estimate agrees with the runs: nothing, a factor on every time, one constant, or those of the site.
struct Correction {
    enum class Kind { none, factor, constant, site };
    Kind kind = Kind::none;
    std::vector<std::size_t> constants;  // of kFitted
    bool with_factor = false;
    FittedValues values{};  // of those, and what the others of the site are without
    double factor = 1;
    double held_out = 0;              // mean |measured / predicted - 1| of plans predicted from the others
    std::vector<double> ratios = {};  // of these: measured / predicted, row by row

    Plan applied_to(Plan plan) const;
};
// All that may be, the simplest first: Kind::none always, then those whose constants change any of the rows. Rows in an order that does not
// depend on the request's. Bounded work: about a millisecond per row natively.
std::vector<Correction> corrections(const Job& job, const std::vector<FitRow>& rows);

// ---- memory
// What makes the estimated bytes of the fullest GPU agree with the runs: nothing, a factor, or a constant.
struct MemoryCorrection {
    enum class Kind { none, factor, extra };
    Kind kind = Kind::none;
    double factor = 1, extra = 0;  // the second in GiB
    double held_out = 0;           // as Correction's
    std::vector<double> ratios{};

    Plan applied_to(Plan plan) const;
    double bytes(double estimated) const;
};
// All that may be, Kind::none first; of rows in allocated bytes.
std::vector<MemoryCorrection> memory_corrections(const std::vector<FitRow>& rows);

struct MemoryProposal {
    MemoryCorrection how;
    std::vector<Text> why;  // sentences
};
// Of rows, one per plan, from so many runs.
MemoryProposal propose_memory(const std::vector<FitRow>& rows, std::size_t runs);

// ---- which of them
// Plans that differ in more than the number of GPUs and the batch.
std::size_t layouts_of(const std::vector<FitRow>& rows);
// The one to propose: the best of those that predict clearly better than the first, which is none.
const Correction& best_of(const std::vector<Correction>& all, std::size_t layouts);
const MemoryCorrection& best_of(const std::vector<MemoryCorrection>& all, std::size_t layouts);

// ---- how wide the band is
// How far a ratio of measured to estimated time lies from 1, in widths of the plan's published band on that side, as logarithms.
double distance_from_band(const Job& job, const Plan& plan, double ratio);

struct Scatter {
    std::size_t outside = 0;  // of the band
    double spread = 1;        // for the band; 1: as it is
};
Scatter scatter_of(std::vector<double> distances);

// The keys of a plan that carry a calibration.
inline constexpr std::string_view kCalibrationKeys[] = {"time_factor", "site",      "site_network",  "site_pipeline", "site_fixed",
                                                        "site_stall",  "time_host", "time_link",     "time_element",  "time_spanning",
                                                        "time_spread", "time_runs", "memory_factor", "memory_extra",  "memory_runs"};

// ---- the answer
// As core/contract/api.md describes it.
Json calibration_answer(const Json& request, const Job& job, Problems& problems);

}  // namespace fourfold
