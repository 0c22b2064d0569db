// Based on
//   P. J. Huber: Robust estimation of a location parameter, 1964: small residuals count squared, large ones in proportion
//   J. A. Nelder, R. Mead: A simplex method for function minimization, 1965
// Residuals are logarithms of measured over predicted, so that twice as long and half as long are equally wrong.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/numbers.h"
#include "calibration/response.h"

namespace fourfold {

using Kind = Correction::Kind;

namespace {

// The simplex: its steps at most, its first sides (as logarithms), the difference of costs at which it has converged, and where a corner
// goes as J. A. Nelder and R. Mead chose: mirrored at the middle of the others, twice as far, or halfway.
constexpr int kSimplexSteps = 160;
constexpr double kSides[] = {0.7, 0.2}, kConverged = 1e-7;
constexpr double kMirrored = 2, kFurther = 3, kHalfway = 0.5;

struct Fitted {
    Point at{};
    double log_factor = 0;
};

// One fit to the runs that `used` names.
class RobustFit {
 public:
    RobustFit(const Responses& responses, std::vector<std::size_t> used, const Correction& what)
        : p_(responses), used_(std::move(used)), free_(what.constants), with_factor_(what.with_factor) {}

    Fitted run() {
        Point best = p_.start;
        for (const double side : kSides) best = simplex(best, side);
        return {best, log_factor(best)};
    }

 private:
    double log_factor(const Point& at) const {
        if (!with_factor_) return 0;
        std::vector<double> ratios(used_.size());
        for (std::size_t i = 0; i < used_.size(); ++i) ratios[i] = log_ratio(p_, p_.runs[used_[i]], free_, at);
        return median(std::move(ratios));
    }

    double cost(const Point& at) const {
        const double factor = log_factor(at);
        double sum = 0;
        for (const std::size_t i : used_) {
            const double off = std::abs(log_ratio(p_, p_.runs[i], free_, at) - factor) / kNoise;
            sum += off <= 1 ? off * off / 2 : off - 0.5;
        }
        for (const std::size_t c : free_) {
            const double far = (at[c] - p_.start[c]) / kFitted[c].spread;
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

    const Responses& p_;
    const std::vector<std::size_t> used_, free_;
    const bool with_factor_;
};

// Every run once, in at most kMostFolds parts, predicted by a fit that did not see it.
void hold_out(const Responses& responses, Correction& what) {
    const std::size_t runs = responses.runs.size(), folds = std::min(runs, kMostFolds);
    what.ratios.resize(runs);
    what.held_out = 0;
    for (std::size_t fold = 0; fold < folds; ++fold) {
        std::vector<std::size_t> used;
        for (std::size_t i = 0; i < runs; ++i)
            if (i % folds != fold) used.push_back(i);
        const Fitted fitted = RobustFit(responses, std::move(used), what).run();
        for (std::size_t i = fold; i < runs; i += folds) {
            what.ratios[i] = std::exp(log_ratio(responses, responses.runs[i], what.constants, fitted.at) - fitted.log_factor);
            what.held_out += std::abs(what.ratios[i] - 1) / static_cast<double>(runs);
        }
    }
}

// The corrected values from all runs. false: a constant stands alone at the end of its range: it would have to be what it cannot be.
bool fit_all(const Responses& responses, Correction& what) {
    std::vector<std::size_t> rows(responses.runs.size());
    std::iota(rows.begin(), rows.end(), 0);
    const Fitted fitted = RobustFit(responses, std::move(rows), what).run();
    what.factor = significant(std::exp(fitted.log_factor), kProposedDigits);
    for (std::size_t c = 0; c < kFittedConstants; ++c) what.values[c] = significant(std::exp(fitted.at[c]), kProposedDigits);
    constexpr double kNear = 0.02;  // of an end, as a logarithm
    const std::size_t c = what.kind == Kind::constant ? what.constants[0] : 0;
    return what.kind != Kind::constant || (fitted.at[c] > responses.low[c] + kNear && fitted.at[c] < responses.high[c] - kNear);
}

}  // namespace

Plan Correction::applied_to(Plan plan) const {
    plan.time_factor = factor;
    for (const std::size_t c : constants) {
        plan.*kFitted[c].of_plan = values[c];
        if (c < kSiteConstants) plan.site = SiteKind::own;
    }
    if (plan.site == SiteKind::own)
        for (std::size_t c = 0; c < kSiteConstants; ++c) plan.*kFitted[c].of_plan = values[c];
    return plan;
}

std::vector<Correction> corrections(const Job& job, const std::vector<FitRow>& rows) {
    std::vector<Correction> all;
    const Responses responses = responses_of(job, rows);
    const auto add = [&](Kind kind, const std::vector<std::size_t>& constants, bool with_factor) {
        Correction one{kind, constants, with_factor};
        if (!fit_all(responses, one)) return;
        hold_out(responses, one);
        all.push_back(std::move(one));
    };
    add(Kind::none, {}, false);
    if (rows.size() < kFewestForFactor) return all;
    add(Kind::factor, {}, true);
    for (std::size_t c = 0; c < kFittedConstants; ++c)
        if (kFitted[c].alone && responses.matters[c]) add(Kind::constant, {c}, false);
    std::vector<std::size_t> site;
    for (std::size_t c = 0; c < kSiteConstants; ++c)
        if (responses.matters[c]) site.push_back(c);
    if (rows.size() < kFewestForSite || site.empty()) return all;
    for (const bool with_factor : {false, true}) add(Kind::site, site, with_factor);
    return all;
}

}  // namespace fourfold
