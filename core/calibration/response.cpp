#include "calibration/response.h"

#include <algorithm>
#include <cmath>

namespace fourfold {

// Bounds and spreads, assumed: of the site about twice as wide as what the sites of the published fits span, in parts of the network's rate
// and seconds; of the others about twice as wide as what the frameworks span (constants.cpp), in times the usual and seconds.
const std::array<FittedConstant, kFittedConstants> kFitted = {{
    {"site_network", &Plan::site_network, 0.1, 1, 1, true},
    {"site_pipeline", &Plan::site_pipeline, 0.03, 1, 1.5, false},
    {"site_fixed", &Plan::site_fixed, 1e-3, 10, 2.5, false},
    {"site_stall", &Plan::site_stall, 1e-6, 10e-3, 3, false},
    {"time_host", &Plan::time_host, 0.2, 8, 1, true},
    {"time_link", &Plan::time_link, 0.2, 1.4, 0.5, true},
    {"time_element", &Plan::time_element, 0.4, 6, 0.7, true},
    {"time_spanning", &Plan::time_spanning, 10e-6, 5e-3, 3, true},
}};

namespace {

constexpr double kLeastShare = 1e-3;  // of a run's usual time: sums of changes never go below

double at_knot(const Responses& all, std::size_t constant, std::size_t knot) {
    return all.low[constant] + (all.high[constant] - all.low[constant]) * static_cast<double>(knot) / (kKnots - 1);
}

// The same plan with the constants of its site written out.
Plan with_own_site(const Job& job, Plan plan) {
    const Timing usual = job.timed(plan).timing;
    plan.site = SiteKind::own;
    plan.site_network = usual.network, plan.site_pipeline = usual.pipeline;
    plan.site_fixed = usual.fixed, plan.site_stall = usual.stall;
    return plan;
}

void respond(const Job& job, const Plan& plan, std::size_t constant, Responses& all, Response& run) {
    Plan changed = plan;
    const auto change_at = [&](std::size_t knot) {
        changed.*kFitted[constant].of_plan = std::exp(at_knot(all, constant, knot));
        return run.change[constant][knot] = job.timed(changed).step().seconds - run.base;
    };
    const double first = change_at(0), last = change_at(kKnots - 1);
    if (first == last) {  // it has no part in this run
        run.change[constant].fill(0);
        return;
    }
    for (std::size_t knot = 1; knot + 1 < kKnots; ++knot) change_at(knot);
    const auto [least, most] = std::minmax_element(run.change[constant].begin(), run.change[constant].end());
    if (*most - *least > kNoise * run.base) all.matters[constant] = true;
}

}  // namespace

Responses responses_of(const Job& job, const std::vector<FitRow>& rows) {
    Responses all;
    for (std::size_t c = 0; c < kFittedConstants; ++c) all.low[c] = std::log(kFitted[c].low), all.high[c] = std::log(kFitted[c].high);
    for (const FitRow& row : rows) {
        const Plan plan = with_own_site(job, row.plan);
        Response run;
        run.base = row.estimated;
        run.log_measured = std::log(row.measured);
        for (std::size_t c = 0; c < kFittedConstants; ++c) {
            all.start[c] = std::clamp(std::log(plan.*kFitted[c].of_plan), all.low[c], all.high[c]);
            respond(job, plan, c, all, run);
        }
        all.runs.push_back(run);
    }
    return all;
}

double log_ratio(const Responses& all, const Response& run, const std::vector<std::size_t>& constants, const Point& at) {
    double seconds = run.base;
    for (const std::size_t c : constants) {
        const double place = std::clamp((at[c] - all.low[c]) / (all.high[c] - all.low[c]), 0.0, 1.0) * (kKnots - 1);
        const auto knot = std::min(static_cast<std::size_t>(place), kKnots - 2);
        const double part = place - static_cast<double>(knot);
        seconds += (1 - part) * run.change[c][knot] + part * run.change[c][knot + 1];
    }
    return run.log_measured - std::log(std::max(seconds, kLeastShare * run.base));
}

}  // namespace fourfold
