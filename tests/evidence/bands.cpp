#include "evidence/bands.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>

namespace fourfold::tests {

namespace {

constexpr double kInside = 0.9, kTail = (1 - kInside) / 2, kMostInside = 0.95;
constexpr double kMostOfFamily = 10;

struct Run {
    std::string family;
    double ratio;      // measured over estimated
    double low, high;  // the band that is told, over the estimate
    bool inside() const { return ratio >= low && ratio <= high; }
};
struct Basis {
    std::vector<Run> runs;
    std::int64_t told = 0;
    std::map<std::string, double> in_family;
};
using Weight = double (*)(double runs_of_family);

double each_the_same(double) { return 1; }
double at_most_ten(double runs) { return std::min(runs, kMostOfFamily) / runs; }

double weight_inside(const Basis& basis, Weight weight) {
    double all = 0, inside = 0;
    for (const Run& run : basis.runs) {
        const double its = weight(basis.in_family.at(run.family));
        all += its, inside += run.inside() ? its : 0;
    }
    return inside / all;
}

// The ratio that `share` of the runs' weight does not exceed.
double quantile(const Basis& basis, Weight weight, double share) {
    std::vector<std::pair<double, double>> sorted;
    double all = 0, below = 0;
    for (const Run& run : basis.runs) {
        sorted.emplace_back(run.ratio, weight(basis.in_family.at(run.family)));
        all += sorted.back().second;
    }
    std::sort(sorted.begin(), sorted.end());
    for (const auto& [ratio, its] : sorted)
        if ((below += its) >= share * all * (1 - 1e-9)) return ratio;
    return sorted.back().first;
}

bool is_true(const Basis& basis) {
    if (basis.told != 0 && basis.told != static_cast<std::int64_t>(basis.runs.size())) return false;  // 0: assumed, which its words say
    return weight_inside(basis, each_the_same) >= kInside && weight_inside(basis, at_most_ten) >= kInside;
}

}  // namespace

int untrue_bands(const std::vector<AnsweredRow>& rows) {
    std::map<std::string, Basis> bases;
    for (const AnsweredRow& row : rows) {
        const Answered& a = row.answer;
        if (!is_timed(row) || standing_of(row) == "blind" || on_stalled_network(row) || a.basis == "band.calibrated") continue;
        Basis& basis = bases[a.basis];
        basis.runs.push_back({family_of(row), row.row->step_seconds / a.seconds, a.low / a.seconds, a.high / a.seconds});
        basis.told = a.basis_runs;
        ++basis.in_family[family_of(row)];
    }
    std::printf("\n%-28s %5s %5s %9s %12s %12s %7s %7s\n", "band", "runs", "told", "families", "told", "asked", "inside", "by ten");
    int count = 0;
    double all = 0, inside = 0;
    for (const auto& [name, basis] : bases) {
        all += static_cast<double>(basis.runs.size());
        inside += weight_inside(basis, each_the_same) * static_cast<double>(basis.runs.size());
        const auto end = [&basis = basis](double share, auto&& outer) {
            return outer(quantile(basis, each_the_same, share), quantile(basis, at_most_ten, share));
        };
        const double low = end(kTail, [](double a, double b) { return std::min(a, b); }),
                     high = end(1 - kTail, [](double a, double b) { return std::max(a, b); });
        const bool good = is_true(basis);
        std::printf("%-28s %5zu %5lld %9zu %5.3f-%6.3f %5.3f-%6.3f %7.3f %7.3f%s\n", name.c_str(), basis.runs.size(),
                    static_cast<long long>(basis.told), basis.in_family.size(), basis.runs.front().low, basis.runs.front().high, low, high,
                    weight_inside(basis, each_the_same), weight_inside(basis, at_most_ten), good ? "" : "  missed");
        count += good ? 0 : 1;
    }
    std::printf("in their bands: %.3f of %d runs%s\n", inside / all, static_cast<int>(all), inside > kMostInside * all ? "  missed" : "");
    return count + (inside > kMostInside * all ? 1 : 0);
}

}  // namespace fourfold::tests
