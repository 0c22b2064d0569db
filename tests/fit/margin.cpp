// What the margin of a calibration (calibration/corrections.cpp) rests on: of every job in tests/evidence, so many runs are drawn at
// random, again and again; each correction is fitted to them and predicts the job's other runs.
//   fourfold_margin EVIDENCE_FOLDER
// A line a draw and correction, tab separated: source, job, runs, layouts, draw, correction, error of runs left out of the fit (what a
// calibration sees), error of the runs that were not drawn (what its reader gets).
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>

#include "calibration/calibration.h"
#include "evidence/evidence.h"
#include "random_cases.h"

using namespace fourfold;
using namespace fourfold::tests;

using Kind = Correction::Kind;

namespace {

constexpr int kDraws = 20;
constexpr std::size_t kFewestOthers = 3;

struct Measured {
    std::unique_ptr<Job> first;  // whose model and GPU are everyone's
    std::vector<FitRow> rows;
};

// "mpt-7b@2048" and "mpt-7b@4096" differ in the longest sequence alone, which takes no time.
std::string job_of(const EvidenceRow& row) {
    const std::string model = row.row.value("model", "");
    return model.substr(0, model.find('@')) + " " + row.request.value("gpu", "") + " " + row.row.value("network", "");
}

std::map<std::string, Measured> jobs_of(const EvidenceSource& source) {
    std::map<std::string, Measured> jobs;
    for (const EvidenceRow& row : source.rows) {
        if (!row.ran() || row.step_seconds <= 0) continue;
        Problems problems;
        auto job = read_parsed_job(row.request, Request::estimate, problems);
        if (!job || !resolve(*job, problems)) continue;
        Measured& all = jobs[job_of(row)];
        const Plan plan = uncalibrated(job->plan);
        if (all.first == nullptr) all.first = std::make_unique<Job>(std::move(*job));
        all.rows.push_back({plan, row.step_seconds, all.first->timed(plan).step().seconds});
    }
    return jobs;
}

std::string name_of(const Correction& what) {
    if (what.kind == Kind::none) return "none";
    if (what.kind == Kind::factor) return "factor";
    if (what.kind == Kind::constant) return std::string(kFitted[what.constants[0]].key);
    return what.with_factor ? "site and factor" : "site";
}

void draw_runs(const std::string& source, const std::string& name, const Measured& all, std::size_t count, Random& random) {
    for (int draw = 0; draw < kDraws; ++draw) {
        std::vector<FitRow> rows = all.rows;
        for (std::size_t i = 0; i < count; ++i)
            std::swap(
                rows[i],
                rows[static_cast<std::size_t>(random.from(static_cast<std::int64_t>(i), static_cast<std::int64_t>(rows.size()) - 1))]);
        const std::vector<FitRow> drawn(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(count));
        for (const Correction& what : corrections(*all.first, drawn)) {
            double error = 0, logs = 0;
            for (std::size_t i = count; i < rows.size(); ++i) {
                const double ratio = rows[i].measured / all.first->timed(what.applied_to(rows[i].plan)).step().seconds;
                error += std::abs(ratio - 1), logs += std::abs(std::log(ratio));
            }
            std::printf("%s\t%s\t%zu\t%zu\t%d\t%s\t%.6f\t%.6f\t%.6f\t", source.c_str(), name.c_str(), count, layouts_of(drawn), draw,
                        name_of(what).c_str(), what.held_out, error / static_cast<double>(rows.size() - count),
                        logs / static_cast<double>(rows.size() - count));
            for (const double ratio : what.ratios) std::printf("%.5f ", ratio);
            std::printf("\n");
        }
    }
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) return std::fprintf(stderr, "fourfold_margin EVIDENCE_FOLDER\n"), 2;
    std::vector<std::string> defects;
    Random random(3);
    for (const EvidenceSource& source : read_evidence(arguments[1], defects))
        for (const auto& [name, all] : jobs_of(source))
            for (const std::size_t runs : {3, 4, 5, 7, 10, 14})
                if (all.rows.size() >= runs + kFewestOthers) draw_runs(source.name, name, all, runs, random);
    return 0;
}
