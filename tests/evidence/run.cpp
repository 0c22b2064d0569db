// Runs every measured row of tests/evidence through api::estimate.
//   fourfold_evidence FOLDER          prints the table, family by family, and fails where a threshold of thresholds.json is missed, or
//                                     where table.json or runs.json, which README and page read, is not of this run
//   fourfold_evidence FOLDER --write  writes table.json and runs.json
//   fourfold_evidence FOLDER --rows   prints a line a row, tab separated
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include "evidence/bands.h"
#include "evidence/columns.h"
#include "evidence/longest.h"
#include "evidence/memory_rows.h"
#include "evidence/table.h"
#include "memory/residual_fit.h"
#include "model/catalog.h"

using namespace fourfold;
using namespace fourfold::tests;

namespace {

constexpr double kGibi = 1024.0 * 1024 * 1024;

Json read_json(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return Json::parse(text.str(), nullptr, false);
}

void print_rows(const std::vector<AnsweredRow>& rows) {
    for (const auto& [source, row, a] : rows) {
        double most = 0;
        for (const double bytes : a.peak_bytes) most = std::max(most, bytes);
        std::printf("%s\t%s\t%lld\t%s\t%.6g\t%.6g\t%.6g\t%.6g\t%s\t%.4f\t%.6g\t%.6g\t%.6g\t%.6g\t%s\n", source->name.c_str(),
                    row->id.c_str(), static_cast<long long>(row->job), row->outcome.c_str(), row->step_seconds, a.seconds, a.low, a.high,
                    a.verdict.c_str(), a.probability, most / kGibi, a.whole_bytes / kGibi, a.peak_bytes.front() / kGibi,
                    a.static_bytes.front() / kGibi, a.basis.c_str());
    }
}

void print_longest(const std::vector<AnsweredRow>& rows) {
    for (const auto& [row, published, estimated] : longest_rows(rows))
        std::printf("%s\t%s\tlongest\t%.6g\t%.6g\t%+.3f\n", row->source->name.c_str(), row->row->id.c_str(), published, estimated,
                    estimated / published - 1);
}

void print_table(const Json& table) {
    std::printf("%-26s %5s %7s %7s %7s %7s %6s %7s %7s\n", "step time", "runs", "mean %", "median", "bias", "most", "band %", "regret",
                "rule");
    for (const auto& [name, e] : table["time"].items()) {
        const auto percent = [&entry = e](const char* key) { return 100 * entry[key].get<double>(); };
        std::printf("%-26s %5d %7.1f %7.1f %7.1f %7.1f %6.0f", name.c_str(), e["rows"].get<int>(), percent("mean"), percent("median"),
                    percent("bias"), percent("most"), percent("inside_band"));
        if (e.contains("jobs")) std::printf(" %7.1f %7.1f", percent("regret"), percent("rule_regret"));
        std::printf("\n");
    }
    for (const auto& [name, e] : table["longest"].items())
        std::printf("\nlongest sequence: %s, %d rows, %.0f %% within %.0f %%, mean %.1f %%, bias %+.1f %%, most %.1f %%\n", name.c_str(),
                    e["rows"].get<int>(), 100 * e["within"].get<double>(), 100 * kAskedOfLongest, 100 * e["mean"].get<double>(),
                    100 * e["bias"].get<double>(), 100 * e["most"].get<double>());
    std::printf("\n%-26s %5s %6s %7s %14s %22s\n", "fits or not", "ran", "failed", "area", "\"fits\" ran", "\"does not fit\" ran");
    for (const auto& [name, e] : table["verdict"].items())
        std::printf("%-26s %5d %6d %7.4f %6d of %5d %10d of %5d\n", name.c_str(), e["ran"].get<int>(), e["failed"].get<int>(),
                    e["area"].get<double>(), e["fits_ran"].get<int>(), e["fits"].get<int>(), e["does_not_fit_ran"].get<int>(),
                    e["does_not_fit"].get<int>());
}

// nanotron's residual is the most likely one of its runs that ran or ran out of memory.
int untrue_residual(const std::vector<AnsweredRow>& rows) {
    std::vector<Outcome> outcomes;
    for (const auto& [source, row, answer] : rows)
        if (source->name == "ultrascale2024" && row->outcome != "failed")
            outcomes.push_back({answer.whole_bytes / catalog().gpu(row->request.value("gpu", ""))->memory_bytes, row->ran()});
    const Residual best = most_likely(outcomes), shipped = row_of(FrameworkKind::nanotron).residual;
    std::printf("nanotron: %zu runs, most likely middle %g, spread %g; shipped %g, %g\n", outcomes.size(), best.middle, best.spread,
                shipped.middle, shipped.spread);
    const bool alike = std::abs(best.middle - shipped.middle) < 0.011 && std::abs(best.spread - shipped.spread) < 0.011;
    return alike && outcomes.size() == static_cast<std::size_t>(shipped.runs) ? 0 : 1;
}

// Of each part of the table and family: "key": the most (or, for rows and what is better when it is larger, the least) that it may be.
int missed(const Json& table, const Json& thresholds) {
    int count = 0;
    if (!thresholds.is_object()) return std::printf("no thresholds.json\n"), 1;
    for (const auto& [part, families] : thresholds.items())
        for (const auto& [family, limits] : families.items())
            for (const auto& [key, limit] : limits.items()) {
                const bool least = key == "inside_band" || key == "area" || key == "rows" || key == "within" || key == "in_first_three";
                const Json* entry = table[part].contains(family) ? &table[part][family] : nullptr;
                const double value = entry != nullptr && entry->contains(key) ? (*entry)[key].get<double>() : NAN;
                if (least ? value >= limit.get<double>() : value <= limit.get<double>()) continue;
                std::printf("missed: %s of %s is %g, asked is %s %g\n", key.c_str(), family.c_str(), value, least ? "at least" : "at most",
                            limit.get<double>());
                ++count;
            }
    return count;
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 2 || count > 3) return std::fprintf(stderr, "fourfold_evidence FOLDER [--write | --rows]\n"), 2;
    const std::string folder = arguments[1], mode = count == 3 ? arguments[2] : "";
    std::vector<std::string> defects;
    const std::vector<EvidenceSource> sources = read_evidence(folder, defects);
    const std::vector<AnsweredRow> rows = answer_all(sources, defects);
    for (const std::string& defect : defects) std::fprintf(stderr, "%s\n", defect.c_str());
    if (mode == "--rows") return print_rows(rows), print_longest(rows), 0;
    const Json table = table_of(sources, rows), runs = columns_of(rows);
    if (mode == "--write") {
        std::ofstream(folder + "/table.json") << table.dump(1) << "\n";
        std::ofstream(folder + "/runs.json") << runs.dump() << "\n";
        return 0;
    }
    print_table(table);
    std::printf("\n%s\n", memory_table(memory_residuals(rows)).c_str());
    int failures = missed(table, read_json(folder + "/thresholds.json"));
    failures += untrue_bands(rows) + untrue_residual(rows);
    if (read_json(folder + "/table.json") != table) std::printf("table.json is not of this run: --write it\n"), ++failures;
    if (read_json(folder + "/runs.json") != runs) std::printf("runs.json is not of this run: --write it\n"), ++failures;
    std::printf("\n%d failures\n", failures);
    return failures == 0 ? 0 : 1;
}
