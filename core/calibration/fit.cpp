// Based on
//   P. J. Huber: Robust estimation of a location parameter, 1964: small residuals count squared, large ones in proportion
//   J. A. Nelder, R. Mead: A simplex method for function minimization, 1965
// Residuals are logarithms of measured over predicted, so that twice as long and half as long are equally wrong.
#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "calibration/calibration.h"
#include "plan/framework.h"
#include "time/step_time.h"

namespace fourfold {

// Bounds and spreads, assumed: about twice as wide as what the sites of the published fits span (timing_of). In parts of the
// network's rate, and seconds.
const std::array<SiteConstant, kSiteConstants> kSite = {{
    {"site_network", &Plan::site_network, &Timing::network, 0.1, 1, 1},
    {"site_pipeline", &Plan::site_pipeline, &Timing::pipeline, 0.03, 1, 1.5},
    {"site_fixed", &Plan::site_fixed, &Timing::fixed, 1e-3, 10, 2.5},
    {"site_stall", &Plan::site_stall, &Timing::stall, 1e-6, 10e-3, 3},
}};

HeldOut factor_held_out(const std::vector<FitRow>& rows) {
    HeldOut held;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        std::vector<double> others;
        for (std::size_t k = 0; k < rows.size(); ++k)
            if (k != i) others.push_back(rows[k].measured / rows[k].estimated);
        const double ratio = rows[i].measured / rows[i].estimated;
        held.none += std::abs(ratio - 1) / static_cast<double>(rows.size());
        held.factor += std::abs(ratio / median(std::move(others)) - 1) / static_cast<double>(rows.size());
    }
    return held;
}

namespace {

constexpr std::size_t kKnots = 33;  // of a constant's range; between them a straight line
constexpr std::size_t kMostFolds = 10;
constexpr double kLeastShare = 1e-3;  // of a run's usual time: sums of changes never go below
// The simplex: its steps at most, its first sides (as logarithms), the difference of costs at which it has converged, and where a corner
// goes as J. A. Nelder and R. Mead chose: mirrored at the middle of the others, twice as far, or halfway.
constexpr int kSimplexSteps = 160;
constexpr double kSides[] = {0.7, 0.2}, kConverged = 1e-7;
constexpr double kMirrored = 2, kFurther = 3, kHalfway = 0.5;
constexpr double kNoise = 0.04;  // of measured steps against the model: from here on a residual counts in proportion only, and a constant
                                 // whose whole range changes less of any step cannot be told

using Point = std::array<double, kSiteConstants>;  // logarithms

// Step seconds of a run while one constant changes. Each constant has terms of its own in a step (network: gradients, and tensor-parallel
// traffic between nodes; pipeline: transfers; fixed; stalls), so that changes of several add up.
struct Response {
    double base = 0, log_measured = 0;
    std::array<std::array<double, kKnots>, kSiteConstants> change{};
};

struct Tabulated {
    std::vector<Response> runs;
    Point start{}, low{}, high{};
    std::array<bool, kSiteConstants> free{};
};

double at_knot(const Tabulated& p, std::size_t constant, std::size_t knot) {
    return p.low[constant] + (p.high[constant] - p.low[constant]) * static_cast<double>(knot) / (kKnots - 1);
}

Tabulated tabulate(const Job& job, const std::vector<FitRow>& rows) {
    Tabulated p;
    for (std::size_t c = 0; c < kSiteConstants; ++c) p.low[c] = std::log(kSite[c].low), p.high[c] = std::log(kSite[c].high);
    for (const FitRow& row : rows) {
        const TimedPlan<> usual = job.timed(row.plan);
        Response response;
        response.base = row.estimated;
        response.log_measured = std::log(row.measured);
        for (std::size_t c = 0; c < kSiteConstants; ++c) {
            p.start[c] = std::clamp(std::log(usual.timing.*kSite[c].of_timing), p.low[c], p.high[c]);
            double least = INFINITY, most = 0;
            for (std::size_t knot = 0; knot < kKnots; ++knot) {
                TimedPlan<> changed = usual;
                changed.timing.*kSite[c].of_timing = std::exp(at_knot(p, c, knot));
                if (kSite[c].of_timing == &Timing::network) changed.time_layers();
                const double seconds = changed.step().seconds;
                response.change[c][knot] = seconds - row.estimated;
                least = std::min(least, seconds);
                most = std::max(most, seconds);
            }
            if (most - least > kNoise * row.estimated) p.free[c] = true;
        }
        p.runs.push_back(response);
    }
    return p;
}

double log_ratio(const Tabulated& p, const Response& run, const Point& at) {
    double seconds = run.base;
    for (std::size_t c = 0; c < kSiteConstants; ++c) {
        if (!p.free[c]) continue;
        const double place = std::clamp((at[c] - p.low[c]) / (p.high[c] - p.low[c]), 0.0, 1.0) * (kKnots - 1);
        const auto knot = std::min(static_cast<std::size_t>(place), kKnots - 2);
        const double part = place - static_cast<double>(knot);
        seconds += (1 - part) * run.change[c][knot] + part * run.change[c][knot + 1];
    }
    return run.log_measured - std::log(std::max(seconds, kLeastShare * run.base));
}

struct Fitted {
    Point at{};
    double log_factor = 0;
};

// One fit to the runs that `used` names.
class RobustFit {
 public:
    RobustFit(const Tabulated& problem, std::vector<std::size_t> used, bool with_factor)
        : p_(problem), used_(std::move(used)), with_factor_(with_factor) {
        for (std::size_t c = 0; c < kSiteConstants; ++c)
            if (p_.free[c]) free_.push_back(c);
    }

    Fitted run() {
        Point best = p_.start;
        for (const double side : kSides) best = simplex(best, side);
        return {best, log_factor(best)};
    }

 private:
    double log_factor(const Point& at) const {
        if (!with_factor_) return 0;
        std::vector<double> ratios(used_.size());
        for (std::size_t i = 0; i < used_.size(); ++i) ratios[i] = log_ratio(p_, p_.runs[used_[i]], at);
        return median(std::move(ratios));
    }

    double cost(const Point& at) const {
        const double factor = log_factor(at);
        double sum = 0;
        for (const std::size_t i : used_) {
            const double off = std::abs(log_ratio(p_, p_.runs[i], at) - factor) / kNoise;
            sum += off <= 1 ? off * off / 2 : off - 0.5;
        }
        for (const std::size_t c : free_) {
            const double far = (at[c] - p_.start[c]) / kSite[c].spread;
            sum += far * far / 2;
        }
        return sum;
    }

    struct Corner {
        Point at{};
        double cost = 0;
    };
    Corner corner(Point at) const {
        for (const std::size_t c : free_) at[c] = std::clamp(at[c], p_.low[c], p_.high[c]);
        return {at, cost(at)};
    }
    // The point `by` of the way from `from` through `to`.
    Corner between(const Point& from, const Point& to, double by) const {
        Point at = to;
        for (const std::size_t c : free_) at[c] = from[c] + (to[c] - from[c]) * by;
        return corner(at);
    }

    Point simplex(const Point& start, double side) const {
        const auto cheaper = [](const Corner& a, const Corner& b) { return a.cost < b.cost; };
        std::vector<Corner> corners = {corner(start)};
        for (const std::size_t c : free_) {
            Point moved = start;
            moved[c] += moved[c] + side > p_.high[c] ? -side : side;
            insert_sorted(corners, corner(moved), cheaper);
        }
        for (int i = 0; i < kSimplexSteps && corners.size() > 1; ++i) {
            const Corner worst = corners.back();
            corners.pop_back();
            if (worst.cost - corners.front().cost < kConverged) return corners.front().at;
            Point middle = start;
            for (const std::size_t c : free_) {
                middle[c] = 0;
                for (const Corner& one : corners) middle[c] += one.at[c] / static_cast<double>(corners.size());
            }
            Corner next = between(worst.at, middle, kMirrored);
            if (next.cost < corners.front().cost) {
                const Corner further = between(worst.at, middle, kFurther);
                if (further.cost < next.cost) next = further;
            } else if (next.cost >= corners.back().cost) {
                next = between(next.cost < worst.cost ? next.at : worst.at, middle, kHalfway);
                if (next.cost >= worst.cost) {  // everything towards the best
                    std::vector<Corner> smaller = {corners.front()};
                    for (std::size_t k = 1; k < corners.size(); ++k)
                        insert_sorted(smaller, between(corners[k].at, corners.front().at, kHalfway), cheaper);
                    next = between(worst.at, corners.front().at, kHalfway);
                    corners = std::move(smaller);
                }
            }
            insert_sorted(corners, next, cheaper);
        }
        return corners.front().at;
    }

    const Tabulated& p_;
    std::vector<std::size_t> used_, free_;
    bool with_factor_;
};

// Mean error of runs that the fit did not see: every run once, in at most kMostFolds parts.
double held_out(const Tabulated& problem, bool with_factor) {
    const std::size_t runs = problem.runs.size(), folds = std::min(runs, kMostFolds);
    double sum = 0;
    for (std::size_t fold = 0; fold < folds; ++fold) {
        std::vector<std::size_t> used;
        for (std::size_t i = 0; i < runs; ++i)
            if (i % folds != fold) used.push_back(i);
        const Fitted fitted = RobustFit(problem, std::move(used), with_factor).run();
        for (std::size_t i = fold; i < runs; i += folds)
            sum += std::abs(std::exp(log_ratio(problem, problem.runs[i], fitted.at) - fitted.log_factor) - 1);
    }
    return sum / static_cast<double>(runs);
}

}  // namespace

SiteFit fit_site(const Job& job, const std::vector<FitRow>& rows) {
    const Tabulated problem = tabulate(job, rows);
    SiteFit fit;
    const HeldOut simple = factor_held_out(rows);
    fit.held_out_none = simple.none;
    fit.held_out_factor = simple.factor;
    const double site = held_out(problem, false), both = held_out(problem, true);
    fit.held_out_site = std::min(site, both);
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < rows.size(); ++i) all.push_back(i);
    const Fitted fitted = RobustFit(problem, std::move(all), both < site).run();
    fit.factor = significant(std::exp(fitted.log_factor), kProposedDigits);
    fit.identified = problem.free;
    for (std::size_t c = 0; c < kSiteConstants; ++c) fit.values[c] = significant(std::exp(fitted.at[c]), kProposedDigits);
    return fit;
}

}  // namespace fourfold
