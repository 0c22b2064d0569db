// The step-time model brought into line with steps that the user measured: from 3 plans on one factor for every time, from 10 on the site's
// own constants where they predict better. One plan alone never rescales: on published runs that made the others' predictions worse.
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

// ---- the constants of a site
inline constexpr std::size_t kSiteConstants = 4;
struct SiteConstant {
    std::string_view key;
    double Plan::*of_plan;
    double Timing::*of_timing;
    double low, high;  // where a fit looks
    double spread;     // how far, as a logarithm, a site may well lie from the usual value
};
extern const std::array<SiteConstant, kSiteConstants> kSite;
using SiteValues = std::array<double, kSiteConstants>;

// One plan and its time: the mean of its repetitions.
struct FitRow {
    Plan plan;
    double measured = 0, estimated = 0;
};

struct SiteFit {
    SiteValues values{};
    std::array<bool, kSiteConstants> identified{};  // the others do not matter in these runs and keep their value
    double factor = 1;
    // Mean |measured / predicted - 1| of plans predicted from the others
    double held_out_none = 0, held_out_factor = 0, held_out_site = 0;
};

// Mean |measured / predicted - 1| of every row when the others' median factor predicts it, and without any factor.
struct HeldOut {
    double none = 0, factor = 0;
};
HeldOut factor_held_out(const std::vector<FitRow>& rows);

// A robust fit of the site's constants, with a factor beside them where that predicts plans left out better. Rows in an order that does not
// depend on the request's. Bounded work: about 0.5 ms per row natively.
SiteFit fit_site(const Job& job, const std::vector<FitRow>& rows);

// The keys of a plan that carry a calibration.
inline constexpr std::string_view kCalibrationKeys[] = {"time_factor", "site", "site_network", "site_pipeline", "site_fixed", "site_stall"};

// ---- the answer
// As core/contract/api.md describes it.
Json calibration_answer(const Json& request, const Job& job, Problems& problems);

}  // namespace fourfold
