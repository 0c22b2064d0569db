// Fits constants of the time model to measured step times, by damped least squares of ln(measured / estimated). Nothing pulls a constant
// towards what is shipped; shares end at 1.
//   fourfold_fit EVIDENCE_FOLDER PROBLEMS.json [NAME | --check]
// Each problem of the file names its sources, which of their rows count, and the constants. Printed per constant: shipped, fitted, and the
// interval of values with which the runs agree once all others of the problem are fitted anew; and the error with each whole job left out.
// --check, without the intervals and the latter, fails where the runs disagree with a constant that is shipped.
// Runs agree with a value as long as the loss grows by less than F(0.95; 1, n - constants) allows. Runs of one job err alike: n is not
// their number, but that of as many runs without anything in common (Kish's design effect, with the residuals' correlation within a job).
// "attention_share of cudnn" is that constant in runs with cuDNN's kernel alone, "of flash" in those with FlashAttention-2's;
// "stall_seconds on dgx-h100" is that of this cluster's runs. One problem may have several of them.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>

#include "evidence/evidence.h"
#include "job/job.h"
#include "time/constants.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {

struct Run {
    std::unique_ptr<Job> job;
    std::int64_t group;  // rows of one job stand or fall together
    double seconds;
    Timing shipped{};
};

struct Constant {
    std::string name;
    double Timing::*which = nullptr;
    std::optional<AttentionKernel> kernel;  // in the runs with this kernel alone
    std::string cluster;                    // in the runs on this cluster alone; empty: on any
    bool is_share() const { return name.substr(0, name.find(' ')).ends_with("share"); }
    bool holds(const Job& job, const Platform& platform) const {
        if (kernel && platform.framework.attention != *kernel) return false;
        return cluster.empty() || (job.cluster != nullptr && job.cluster->id == cluster);
    }
};

struct Problem {
    std::string name;
    std::vector<Constant> constants;
    std::vector<Run> runs;
};

double estimated(const Run& run, const Problem& problem, const std::vector<double>& values) {
    TimedPlan<double> timed(run.job->model, *run.job->gpu, run.job->cluster, run.job->plan);
    for (std::size_t i = 0; i < values.size(); ++i)
        if (problem.constants[i].holds(*run.job, timed)) timed.timing.*problem.constants[i].which = values[i];
    timed.time_layers();
    return timed.step().seconds;
}

// Outliers count less: beyond this residual linearly, as a median.
constexpr double kHuber = 0.1;
double weight_of(double residual) { return std::abs(residual) <= kHuber ? 1 : kHuber / std::abs(residual); }

using Matrix = std::vector<std::vector<double>>;
// Solves A x = b for a small symmetric A.
std::vector<double> solve(Matrix a, std::vector<double> b) {
    const std::size_t n = b.size();
    for (std::size_t c = 0; c < n; ++c) {
        std::size_t pivot = c;
        for (std::size_t r = c + 1; r < n; ++r)
            if (std::abs(a[r][c]) > std::abs(a[pivot][c])) pivot = r;
        std::swap(a[c], a[pivot]), std::swap(b[c], b[pivot]);
        const double by = a[c][c];
        for (std::size_t k = 0; k < n; ++k) a[c][k] /= by;
        b[c] /= by;
        for (std::size_t r = 0; r < n; ++r) {
            if (r == c) continue;
            const double times = a[r][c];
            for (std::size_t k = 0; k < n; ++k) a[r][k] -= times * a[c][k];
            b[r] -= times * b[c];
        }
    }
    return b;
}

struct Fitted {
    std::vector<double> logs;  // of the constants
    double loss = 0;
};

double loss_of(const Problem& p, const std::vector<double>& logs, std::int64_t without, std::vector<double>* residuals = nullptr) {
    std::vector<double> values(logs.size());
    for (std::size_t i = 0; i < logs.size(); ++i) values[i] = std::exp(logs[i]);
    double loss = 0;
    if (residuals != nullptr) residuals->clear();
    for (const Run& run : p.runs) {
        if (run.group == without) continue;
        const double r = std::log(run.seconds / estimated(run, p, values)), a = std::abs(r);
        loss += a <= kHuber ? r * r / 2 : kHuber * (a - kHuber / 2);
        if (residuals != nullptr) residuals->push_back(r);
    }
    return loss;
}

// From `start`, the constant number `fixed` as it is there, without the runs of one group.
class Fit {
 public:
    Fit(const Problem& p, std::vector<double> start, std::int64_t fixed = -1, std::int64_t without = -1)
        : p_(p), fixed_(fixed), without_(without), n_(start.size()), best_{std::move(start), 0} {}
    Fitted run() {
        best_.loss = loss_of(p_, best_.logs, without_, &residuals_);
        for (int step = 0; step < 60 && moves(); ++step) {
        }
        return best_;
    }

 private:
    // The slope of every residual, constant by constant: d ln(estimated) / d ln(constant).
    Matrix slopes() const {
        constexpr double kStep = 1e-4;
        Matrix jacobian;
        std::vector<double> shifted;
        for (std::size_t i = 0; i < n_; ++i) {
            std::vector<double> logs = best_.logs;
            logs[i] -= kStep;  // a share may be at its end
            loss_of(p_, logs, without_, &shifted);
            std::vector<double> column(residuals_.size());
            for (std::size_t k = 0; k < column.size(); ++k) column[k] = (shifted[k] - residuals_[k]) / kStep;
            jacobian.push_back(std::move(column));
        }
        return jacobian;
    }
    bool is_held(std::size_t i, double slope) const {
        return static_cast<std::int64_t>(i) == fixed_ || (p_.constants[i].is_share() && best_.logs[i] >= 0 && slope > 0);
    }
    // One step of Levenberg and Marquardt; false where none is better.
    bool moves() {
        const Matrix jacobian = slopes();
        Matrix normal(n_, std::vector<double>(n_, 0));
        std::vector<double> right(n_, 0);
        for (std::size_t k = 0; k < residuals_.size(); ++k) {
            const double w = weight_of(residuals_[k]);
            for (std::size_t i = 0; i < n_; ++i) {
                right[i] += w * jacobian[i][k] * residuals_[k];
                for (std::size_t j = 0; j < n_; ++j) normal[i][j] += w * jacobian[i][k] * jacobian[j][k];
            }
        }
        for (std::size_t i = 0; i < n_; ++i) {
            if (!is_held(i, right[i])) continue;
            right[i] = 0;
            for (std::size_t j = 0; j < n_; ++j) normal[i][j] = normal[j][i] = 0;
        }
        for (int tries = 0; tries < 12; ++tries, damping_ *= 4) {
            Matrix damped = normal;
            for (std::size_t i = 0; i < n_; ++i) damped[i][i] = normal[i][i] * (1 + damping_) + 1e-9;
            const std::vector<double> move = solve(std::move(damped), right);
            std::vector<double> logs = best_.logs, residuals;
            for (std::size_t i = 0; i < n_; ++i) {
                logs[i] += std::clamp(move[i], -1.0, 1.0);
                if (p_.constants[i].is_share()) logs[i] = std::min(logs[i], 0.0);
            }
            const double loss = loss_of(p_, logs, without_, &residuals);
            if (!(loss < best_.loss * (1 - 1e-7))) continue;
            best_ = {std::move(logs), loss};
            residuals_ = std::move(residuals);
            damping_ /= 3;
            return true;
        }
        return false;
    }
    const Problem& p_;
    const std::int64_t fixed_, without_;
    const std::size_t n_;
    Fitted best_;
    std::vector<double> residuals_;
    double damping_ = 1e-2;
};

// As many runs without anything in common say as much as these: n / (1 + (n_0 - 1) c), where c is the correlation of residuals within a job
// (one-way analysis of variance) and n_0 the size of a job that a run is in, on average.
double independent_runs(const Problem& p, const std::vector<double>& logs) {
    std::vector<double> residuals;
    loss_of(p, logs, -1, &residuals);
    struct Group {
        double runs = 0, sum = 0, squares = 0;
    };
    std::map<std::int64_t, Group> groups;
    Group all;
    for (std::size_t i = 0; i < residuals.size(); ++i) {
        const double r = std::clamp(residuals[i], -kHuber, kHuber);
        for (Group* one : {&groups[p.runs[i].group], &all}) one->runs += 1, one->sum += r, one->squares += r * r;
    }
    double within = 0, sizes = 0;
    for (const auto& [number, one] : groups) within += one.squares - one.sum * one.sum / one.runs, sizes += one.runs * one.runs;
    const double between = all.squares - all.sum * all.sum / all.runs - within, count = static_cast<double>(groups.size());
    if (count < 2 || all.runs <= count) return all.runs;
    within /= all.runs - count;
    const double size = (all.runs - sizes / all.runs) / (count - 1), common = std::max(0.0, (between / (count - 1) - within) / size);
    const double correlation = common / std::max(common + within, 1e-12);
    return all.runs / (1 + (sizes / all.runs - 1) * correlation);
}

// What the runs say of each constant, the others of the problem fitted anew.
class Agreement {
 public:
    Agreement(const Problem& p, std::vector<double> shipped) : p_(p), shipped_(std::move(shipped)), best_(Fit(p, shipped_).run()) {
        const double left = std::max(1.0, independent_runs(p, best_.logs) - static_cast<double>(shipped_.size()));
        most_ = best_.loss * (1 + f95(left) / left);
    }
    const Fitted& best() const { return best_; }
    bool agrees(std::size_t constant, double log) {
        std::vector<double> start = best_.logs;
        start[constant] = log;
        double loss = Fit(p_, start, static_cast<std::int64_t>(constant)).run().loss;
        start = shipped_, start[constant] = log;  // a second start: the first may end in a hollow
        if (loss > most_) loss = std::min(loss, Fit(p_, start, static_cast<std::int64_t>(constant)).run().loss);
        return loss <= most_;
    }
    // The farthest value with which the runs agree: at most 20 times away, or what is shipped.
    double end(std::size_t constant, double direction) {
        const double to_shipped = direction * (shipped_[constant] - best_.logs[constant]);
        const bool ends_at_1 = p_.constants[constant].is_share() && direction > 0;
        double in = 0, out = ends_at_1 ? -best_.logs[constant] : std::max(std::log(20), to_shipped);
        const auto log = [&](double distance) { return best_.logs[constant] + direction * distance; };
        if (agrees(constant, log(out))) return log(out);
        for (int i = 0; i < 7; ++i) {
            const double middle = (in + out) / 2;
            (agrees(constant, log(middle)) ? in : out) = middle;
        }
        return log(in);
    }

 private:
    // The quantile of F with 1 and n degrees of freedom; Abramowitz and Stegun 26.7.5 for the square root of it, Student's t.
    static double f95(double n) {
        constexpr double z = 1.959964;
        const double t = n < 3 ? (n < 2 ? 12.706 : 4.303)
                               : z + (z * z * z + z) / (4 * n) + (5 * std::pow(z, 5) + 16 * std::pow(z, 3) + 3 * z) / (96 * n * n);
        return t * t;
    }
    const Problem& p_;
    const std::vector<double> shipped_;
    const Fitted best_;
    double most_ = 0;
};

struct Error {
    double mean = 0, median = 0;
};
Error error_of(std::vector<double> ratios) {
    Error e;
    for (double& r : ratios) r = std::abs(r - 1), e.mean += r / static_cast<double>(ratios.size());
    std::sort(ratios.begin(), ratios.end());
    if (!ratios.empty()) e.median = ratios[ratios.size() / 2];
    return e;
}
Error error_at(const Problem& p, const std::vector<double>& logs, std::int64_t only = -1, std::vector<double>* all = nullptr) {
    std::vector<double> values, ratios;
    for (const double one : logs) values.push_back(std::exp(one));
    for (const Run& run : p.runs)
        if (only < 0 || run.group == only) ratios.push_back(run.seconds / estimated(run, p, values));
    if (all != nullptr) all->insert(all->end(), ratios.begin(), ratios.end());
    return error_of(ratios);
}

double Timing::*constant_named(const std::string& name) {
    for (double Timing::*const constant : timing_constants())
        if (symbol_of(constant).meaning == name) return constant;
    return nullptr;
}

bool counts(const Json& where, const Json& row) {
    for (const auto& [key, allowed] : where.items()) {
        const Json& value = row.contains(key) ? row[key] : row["request"].contains(key) ? row["request"][key] : Json();
        if (std::find(allowed.begin(), allowed.end(), value) == allowed.end()) return false;
    }
    return true;
}

Constant read_constant(const std::string& name) {
    Constant one{name, constant_named(name.substr(0, name.find(' '))), std::nullopt, ""};
    if (const std::size_t of = name.find(" of "); of != std::string::npos)
        one.kernel = name.substr(of + 4) == "cudnn" ? AttentionKernel::cudnn : AttentionKernel::flash;
    if (const std::size_t on = name.find(" on "); on != std::string::npos) one.cluster = name.substr(on + 4);
    if (one.which == nullptr) std::fprintf(stderr, "no constant %s\n", name.c_str()), std::exit(2);
    return one;
}

Problem read_problem(const Json& json, const std::vector<EvidenceSource>& evidence) {
    Problem p;
    p.name = json["name"];
    for (const Json& name : json["parameters"]) p.constants.push_back(read_constant(name));
    std::int64_t group = 0;
    std::map<std::string, std::int64_t> groups;
    for (const EvidenceSource& source : evidence) {
        const Json& sources = json["sources"];
        if (std::find(sources.begin(), sources.end(), Json(source.name)) == sources.end()) continue;
        for (const EvidenceRow& row : source.rows) {
            if (!row.ran() || row.step_seconds <= 0 || (json.contains("where") && !counts(json["where"], row.row))) continue;
            Problems problems;
            auto job = read_parsed_job(row.request, Request::estimate, problems);
            if (!job || !resolve(*job, problems)) continue;
            const auto known = groups.emplace(source.name + std::to_string(row.job), group);
            if (known.second) ++group;
            p.runs.push_back({std::make_unique<Job>(std::move(*job)), known.first->second, row.step_seconds});
        }
    }
    return p;
}

std::vector<double> shipped_logs(const Problem& p) {
    std::vector<double> logs;  // as shipped for the first run that each holds in
    for (const Constant& constant : p.constants)
        for (const Run& run : p.runs) {
            const Platform platform(run.job->model, *run.job->gpu, run.job->cluster, run.job->plan);
            if (!constant.holds(*run.job, platform)) continue;
            logs.push_back(std::log(std::max(platform.timing.*constant.which, 1e-9)));
            break;
        }
    return logs;
}

// Prints the fit; the number of shipped constants with which the runs disagree.
int report(const Problem& p, bool whole) {
    const std::vector<double> shipped = shipped_logs(p);
    if (p.runs.empty() || shipped.size() < p.constants.size()) return std::printf("\n%s: no runs\n", p.name.c_str()), 1;
    Agreement agreement(p, shipped);
    const Fitted& best = agreement.best();
    const Error before = error_at(p, shipped), after = error_at(p, best.logs);
    std::printf("\n%s: %zu runs; mean error %.2f %% (median %.2f) shipped, %.2f %% (%.2f) fitted; as good as %.0f\n", p.name.c_str(),
                p.runs.size(), 100 * before.mean, 100 * before.median, 100 * after.mean, 100 * after.median,
                independent_runs(p, best.logs));
    int disagree = 0;
    for (std::size_t i = 0; i < shipped.size(); ++i) {
        const bool agrees = agreement.agrees(i, shipped[i]);
        disagree += agrees ? 0 : 1;
        std::printf("  %-34s shipped %-12.5g fitted %-12.5g", p.constants[i].name.c_str(), std::exp(shipped[i]), std::exp(best.logs[i]));
        if (whole) {
            const double low = agreement.end(i, -1), high = agreement.end(i, 1);
            std::printf(" from %.5g to %.5g%s", std::exp(low), std::exp(high), high - low > std::log(4) ? "   hardly told" : "");
        }
        std::printf("%s\n", agrees ? "" : "   THE RUNS DISAGREE");
    }
    std::int64_t groups = 0;
    for (const Run& run : p.runs) groups = std::max(groups, run.group + 1);
    if (!whole || groups < 2 || groups > 60) return disagree;
    std::vector<double> ratios;
    for (std::int64_t g = 0; g < groups; ++g) error_at(p, Fit(p, best.logs, -1, g).run().logs, g, &ratios);
    const Error out = error_of(ratios);
    std::printf("  each of %lld jobs left out: mean error %.2f %% (median %.2f)\n", static_cast<long long>(groups), 100 * out.mean,
                100 * out.median);
    return disagree;
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 3) return std::fprintf(stderr, "fourfold_fit EVIDENCE_FOLDER PROBLEMS.json [NAME]\n"), 2;
    std::vector<std::string> defects;
    const auto evidence = read_evidence(arguments[1], defects);
    std::ifstream file(arguments[2]);
    std::stringstream text;
    text << file.rdbuf();
    const Json problems = Json::parse(text.str(), nullptr, false);
    const std::string only = count > 3 ? arguments[3] : "";
    int disagree = 0;
    for (const Json& problem : problems)
        if (only.empty() || only == "--check" || problem["name"] == only)
            disagree += report(read_problem(problem, evidence), only != "--check");
    std::printf("\n%d shipped constants with which the runs disagree\n", disagree);
    return only == "--check" && disagree > 0 ? 1 : 0;
}
