// Fits constants of the time model to measured step times, by damped least squares of ln(measured / estimated).
//   fourfold_fit EVIDENCE_FOLDER PROBLEMS.json [NAME | --check]
// Each problem of the file names its sources, which of their rows count, and the constants. Printed per constant: shipped, fitted, its 95 %
// interval, and whether the data tell it at all; and the error with each whole job left out. --check, without the latter, fails where a
// constant that is shipped lies outside its interval.
// "attention_share of cudnn" is that constant in runs with cuDNN's kernel alone, "of flash" in those with FlashAttention-2's: one problem
// may have both.
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

struct Problem {
    std::string name;
    std::vector<double Timing::*> constants;
    std::vector<std::optional<AttentionKernel>> kernels;  // of each constant: in the runs with this kernel alone
    std::vector<std::string> names;
    std::vector<Run> runs;
};

bool holds(const Problem& problem, std::size_t constant, const Platform& platform) {
    const auto& kernel = problem.kernels[constant];
    return !kernel || platform.framework.attention == *kernel;
}

double estimated(const Run& run, const Problem& problem, const std::vector<double>& values) {
    TimedPlan<double> timed(run.job->model, *run.job->gpu, run.job->cluster, run.job->plan);
    for (std::size_t i = 0; i < values.size(); ++i)
        if (holds(problem, i, timed)) timed.timing.*problem.constants[i] = values[i];
    timed.time_layers();
    return timed.step().seconds;
}

// Outliers count less: beyond this residual linearly, as a median.
constexpr double kHuber = 0.1;
double weight_of(double residual) { return std::abs(residual) <= kHuber ? 1 : kHuber / std::abs(residual); }

using Matrix = std::vector<std::vector<double>>;
// Solves A x = b for a small symmetric A; also inverts it where `inverse` is asked for.
std::vector<double> solve(Matrix a, std::vector<double> b, Matrix* inverse = nullptr) {
    const std::size_t n = b.size();
    Matrix unit(n, std::vector<double>(n, 0));
    for (std::size_t i = 0; i < n; ++i) unit[i][i] = 1;
    for (std::size_t c = 0; c < n; ++c) {
        std::size_t pivot = c;
        for (std::size_t r = c + 1; r < n; ++r)
            if (std::abs(a[r][c]) > std::abs(a[pivot][c])) pivot = r;
        std::swap(a[c], a[pivot]), std::swap(b[c], b[pivot]), std::swap(unit[c], unit[pivot]);
        const double by = a[c][c];
        for (std::size_t k = 0; k < n; ++k) a[c][k] /= by, unit[c][k] /= by;
        b[c] /= by;
        for (std::size_t r = 0; r < n; ++r) {
            if (r == c) continue;
            const double times = a[r][c];
            for (std::size_t k = 0; k < n; ++k) a[r][k] -= times * a[c][k], unit[r][k] -= times * unit[c][k];
            b[r] -= times * b[c];
        }
    }
    if (inverse != nullptr) *inverse = unit;
    return b;
}

struct Fitted {
    std::vector<double> logs;   // of the constants
    std::vector<double> error;  // standard errors of the logs
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

constexpr double kPrior = 1e-3;  // pulls towards what is shipped, the middle of an interval too; its width is the data's own
Fitted fit(const Problem& p, const std::vector<double>& start, std::int64_t without = -1) {
    Fitted f{start, {}, 0};
    const std::size_t n = start.size();
    std::vector<double> residuals, shifted;
    double damping = 1e-2;
    const auto whole = [&](const std::vector<double>& logs, std::vector<double>* r) {
        double loss = loss_of(p, logs, without, r);
        for (std::size_t i = 0; i < n; ++i)
            loss += kPrior * (logs[i] - start[i]) * (logs[i] - start[i]) / 2 * static_cast<double>(p.runs.size());
        return loss;
    };
    f.loss = whole(f.logs, &residuals);
    Matrix normal;
    for (int step = 0; step < 40; ++step) {
        Matrix jacobian;
        for (std::size_t i = 0; i < n; ++i) {
            std::vector<double> logs = f.logs;
            constexpr double kStep = 1e-4;
            logs[i] += kStep;
            loss_of(p, logs, without, &shifted);
            std::vector<double> column(residuals.size());
            for (std::size_t k = 0; k < column.size(); ++k) column[k] = (residuals[k] - shifted[k]) / kStep;  // d ln(estimated)
            jacobian.push_back(std::move(column));
        }
        normal.assign(n, std::vector<double>(n, 0));
        std::vector<double> right(n, 0);
        for (std::size_t k = 0; k < residuals.size(); ++k) {
            const double w = weight_of(residuals[k]);
            for (std::size_t i = 0; i < n; ++i) {
                right[i] += w * jacobian[i][k] * residuals[k];
                for (std::size_t j = 0; j < n; ++j) normal[i][j] += w * jacobian[i][k] * jacobian[j][k];
            }
        }
        for (std::size_t i = 0; i < n; ++i) {
            normal[i][i] += kPrior * static_cast<double>(p.runs.size());
            right[i] -= kPrior * static_cast<double>(p.runs.size()) * (f.logs[i] - start[i]);
        }
        bool better = false;
        for (int tries = 0; tries < 8 && !better; ++tries) {
            Matrix damped = normal;
            for (std::size_t i = 0; i < n; ++i) damped[i][i] *= 1 + damping;
            const std::vector<double> move = solve(damped, right);
            std::vector<double> logs = f.logs;
            for (std::size_t i = 0; i < n; ++i) logs[i] += std::clamp(move[i], -1.0, 1.0);
            std::vector<double> r;
            const double loss = whole(logs, &r);
            if (loss < f.loss - 1e-9) {
                better = true;
                f.logs = logs, f.loss = loss, residuals = r;
                damping /= 3;
            } else
                damping *= 4;
        }
        if (!better) break;
    }
    for (std::size_t i = 0; i < n; ++i) normal[i][i] -= kPrior * static_cast<double>(p.runs.size());
    Matrix inverse;
    solve(normal, std::vector<double>(n, 0), &inverse);
    double variance = 0;
    for (const double r : residuals) variance += weight_of(r) * r * r;
    variance /= std::max(1.0, static_cast<double>(residuals.size() - n));
    for (std::size_t i = 0; i < n; ++i) f.error.push_back(std::sqrt(variance * inverse[i][i]));
    return f;
}

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

Problem read_problem(const Json& json, const std::vector<EvidenceSource>& evidence) {
    Problem p;
    p.name = json["name"];
    for (const Json& name : json["parameters"]) {
        p.names.push_back(name);
        const std::size_t of = p.names.back().find(" of ");
        p.constants.push_back(constant_named(p.names.back().substr(0, of)));
        p.kernels.push_back(std::nullopt);
        if (of != std::string::npos)
            p.kernels.back() = p.names.back().substr(of + 4) == "cudnn" ? AttentionKernel::cudnn : AttentionKernel::flash;
        if (p.constants.back() == nullptr) std::fprintf(stderr, "no constant %s\n", p.names.back().c_str()), std::exit(2);
    }
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

// Prints the fit; the number of shipped constants that lie outside its intervals.
int report(const Problem& p, bool leave_out) {
    if (p.runs.empty()) return std::printf("\n%s: no runs\n", p.name.c_str()), 1;
    std::vector<double> start;  // as shipped for the first run that each holds in
    for (std::size_t i = 0; i < p.constants.size(); ++i)
        for (const Run& run : p.runs) {
            const Platform platform(*run.job->gpu, run.job->cluster, run.job->plan);
            if (!holds(p, i, platform)) continue;
            start.push_back(std::log(std::max(platform.timing.*p.constants[i], 1e-9)));
            break;
        }
    if (start.size() < p.constants.size()) return std::printf("\n%s: no run for a constant\n", p.name.c_str()), 1;
    const Fitted best = fit(p, start);
    const Error before = error_at(p, start), after = error_at(p, best.logs);
    std::printf("\n%s: %zu runs; mean error %.2f %% (median %.2f) shipped, %.2f %% (%.2f) fitted\n", p.name.c_str(), p.runs.size(),
                100 * before.mean, 100 * before.median, 100 * after.mean, 100 * after.median);
    int outside = 0;
    for (std::size_t i = 0; i < start.size(); ++i) {
        const double e = 1.96 * best.error[i];
        const bool told = e <= 0.7 && !std::isnan(e), inside = std::abs(best.logs[i] - start[i]) <= e;
        outside += told && !inside ? 1 : 0;
        const char* note = !told ? "   the data do not tell it" : inside ? "" : "   SHIPPED IS OUTSIDE";
        std::printf("  %-24s shipped %-12.5g fitted %-12.5g from %.5g to %.5g%s\n", p.names[i].c_str(), std::exp(start[i]),
                    std::exp(best.logs[i]), std::exp(best.logs[i] - e), std::exp(best.logs[i] + e), note);
    }
    std::int64_t groups = 0;
    for (const Run& run : p.runs) groups = std::max(groups, run.group + 1);
    if (!leave_out || groups < 2 || groups > 60) return outside;
    std::vector<double> ratios;
    for (std::int64_t g = 0; g < groups; ++g) error_at(p, fit(p, best.logs, g).logs, g, &ratios);
    const Error out = error_of(ratios);
    std::printf("  each job left out: mean error %.2f %% (median %.2f)\n", 100 * out.mean, 100 * out.median);
    return outside;
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
    int outside = 0;
    for (const Json& problem : problems)
        if (only.empty() || only == "--check" || problem["name"] == only)
            outside += report(read_problem(problem, evidence), only != "--check");
    std::printf("\n%d shipped constants outside their intervals\n", outside);
    return only == "--check" && outside > 0 ? 1 : 0;
}
