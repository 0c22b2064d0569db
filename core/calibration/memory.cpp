// What measured memory says about the estimate of it: a factor on every byte, or a constant.
#include <algorithm>
#include <cmath>

#include "base/bytes.h"
#include "base/numbers.h"
#include "calibration/calibration.h"

namespace fourfold {

using MemoryKind = MemoryCorrection::Kind;

namespace {

constexpr double kMostExtra = 32, kMostFactor = 2;  // ranges of memory_extra, in GiB, and of memory_factor

void fit(const std::vector<FitRow>& rows, const std::vector<std::size_t>& used, MemoryCorrection& what) {
    std::vector<double> values;
    values.reserve(used.size());
    for (const std::size_t i : used)
        values.push_back(what.kind == MemoryKind::factor ? rows[i].measured / rows[i].estimated
                                                         : (rows[i].measured - rows[i].estimated) / kGibi);
    if (what.kind != MemoryKind::none) (what.kind == MemoryKind::factor ? what.factor : what.extra) = median(std::move(values));
}

// Every run once, in at most kMostFolds parts, predicted from those of the other parts.
void hold_out(const std::vector<FitRow>& rows, MemoryCorrection& what) {
    const std::size_t runs = rows.size(), folds = std::min(runs, kMostFolds);
    what.ratios.resize(runs);
    for (std::size_t fold = 0; fold < folds; ++fold) {
        std::vector<std::size_t> used;
        for (std::size_t i = 0; i < runs; ++i)
            if (i % folds != fold) used.push_back(i);
        MemoryCorrection trial{what.kind};
        fit(rows, used, trial);
        for (std::size_t i = fold; i < runs; i += folds) {
            what.ratios[i] = rows[i].measured / trial.bytes(rows[i].estimated);
            what.held_out += std::abs(what.ratios[i] - 1) / static_cast<double>(runs);
        }
    }
}

}  // namespace

Plan MemoryCorrection::applied_to(Plan plan) const {
    plan.memory_factor = factor, plan.memory_extra = extra;
    return plan;
}

double MemoryCorrection::bytes(double estimated) const { return estimated * memory_calibration(applied_to({}), estimated); }

std::vector<MemoryCorrection> memory_corrections(const std::vector<FitRow>& rows) {
    std::vector<MemoryCorrection> all;
    std::vector<std::size_t> every(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) every[i] = i;
    for (const MemoryKind kind : {MemoryKind::none, MemoryKind::factor, MemoryKind::extra}) {
        if (kind != MemoryKind::none && rows.size() < kFewestForFactor) break;
        MemoryCorrection one{kind};
        fit(rows, every, one);
        one.factor = significant(one.factor, kProposedDigits);
        one.extra = std::copysign(significant(std::abs(one.extra), kProposedDigits), one.extra);
        if (one.factor > kMostFactor || one.factor < 1 / kMostFactor || std::abs(one.extra) > kMostExtra) continue;
        hold_out(rows, one);
        all.push_back(std::move(one));
    }
    return all;
}

MemoryProposal propose_memory(const std::vector<FitRow>& rows, std::size_t runs) {
    MemoryProposal p;
    const auto of_runs = [&](const char* id) { return Text(id).with("runs", runs).with("plans", rows.size()); };
    if (rows.size() < kFewestForFactor) {
        p.why = {of_runs("calibration.memory.few").with("fewest", kFewestForFactor)};
        return p;
    }
    const std::vector<MemoryCorrection> all = memory_corrections(rows);
    p.how = best_of(all, layouts_of(rows));
    if (p.how.kind == MemoryKind::none) {
        p.why = {of_runs("calibration.memory.differs").with("none", all[0].held_out)};
        return p;
    }
    p.why = {p.how.kind == MemoryKind::factor ? of_runs("calibration.memory.factor").with("factor", p.how.factor)
                                              : of_runs("calibration.memory.extra").with("bytes", p.how.extra * kGibi),
             Text("calibration.memory.predicts").with("corrected", p.how.held_out).with("none", all[0].held_out)};
    return p;
}

}  // namespace fourfold
