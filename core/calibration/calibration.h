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

#include "job/job.h"

namespace fourfold {

inline constexpr std::size_t kFewestForFactor = 3, kFewestForSite = 10, kMostRuns = 500;
inline constexpr int kProposedDigits = 4;  // of a factor or a constant

// ---- what was measured
struct MeasuredStep {
    std::size_t index = 0;  // in the request
    Text name;              // "Run 4", "Line 5"
    std::string key;        // of the plan: the same for the same one
    Plan plan;              // no kAuto, no calibration of its own
    double measured = 0;    // seconds
    double estimated = 0;   // seconds, without any calibration
    bool fits = true;       // by the estimate of its memory
};

// The columns of a text of runs, and what lies between them.
struct RunColumns {
    std::vector<std::string> keys;   // of a row, "" where the name is not known
    std::vector<std::string> names;  // as the text has them
    char separator = ',';
    std::string header() const;  // the names in one line
};

struct RunsRead {
    std::vector<MeasuredStep> steps;  // those without a problem
    RunColumns columns;               // of "runs_text", else the usual ones
};

// The plan without what an earlier calibration put there.
Plan uncalibrated(const Plan& plan);

// Reads a request's "runs" (list of objects) or "runs_text" (CSV or TSV with a header); every row that is wrong, absurd, illegal or
// contradicts another is a problem whose field is "runs[3].…" and whose message begins with the row's name.
RunsRead read_runs(const Json& request, const Job& job, Problems& problems);

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
// Plans that differ in more than the number of GPUs and the batch.
std::size_t layouts_of(const std::vector<FitRow>& rows);
// The one to propose.
const Correction& best_of(const std::vector<Correction>& all, std::size_t layouts);

// ---- how wide the band is
// How far a ratio of measured to estimated time lies from 1, in widths of the plan's published band on that side, as logarithms.
double distance_from_band(const Job& job, const Plan& plan, double ratio);

struct Scatter {
    std::size_t outside = 0;  // of the band
    double spread = 1;        // for the band; 1: as it is
};
Scatter scatter_of(std::vector<double> distances);

// The keys of a plan that carry a calibration.
inline constexpr std::string_view kCalibrationKeys[] = {"time_factor",  "site",          "site_network", "site_pipeline",
                                                        "site_fixed",   "site_stall",    "time_host",    "time_link",
                                                        "time_element", "time_spanning", "time_spread"};

// ---- the answer
// As core/contract/api.md describes it.
Json calibration_answer(const Json& request, const Job& job, Problems& problems);

}  // namespace fourfold
