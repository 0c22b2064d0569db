// Runs every measured row of tests/evidence through api::estimate.
//   fourfold_evidence FOLDER          prints the table, family by family, and fails where a threshold of thresholds.json is missed, or
//                                     where table.json, which README and page read, is not of this run
//   fourfold_evidence FOLDER --write  writes table.json
//   fourfold_evidence FOLDER --rows   prints a line a row, tab separated
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include "evidence/memory_rows.h"

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

void print_table(const Json& table) {
    std::printf("%-26s %5s %7s %7s %7s %7s %6s %7s %7s\n", "step time", "runs", "mean %", "median", "bias", "most", "band %", "regret",
                "rule");
    for (const auto& [name, e] : table["time"].items()) {
        const auto percent = [&entry = e](const char* key) { return 100 * entry[key].get<double>(); };
        std::printf("%-26s %5d %7.1f %7.1f %7.1f %7.1f %6.0f", name.c_str(), e["rows"].get<int>(), percent("mean"), percent("median"),
                    percent("bias"), percent("most"), percent("inside_band"));
        if (e["jobs"].get<int>() > 0) std::printf(" %7.1f %7.1f", percent("regret"), percent("rule_regret"));
        std::printf("\n");
    }
    std::printf("\n%-26s %5s %6s %7s %14s %22s\n", "fits or not", "ran", "failed", "area", "\"fits\" ran", "\"does not fit\" ran");
    for (const auto& [name, e] : table["verdict"].items())
        std::printf("%-26s %5d %6d %7.4f %6d of %5d %10d of %5d\n", name.c_str(), e["ran"].get<int>(), e["failed"].get<int>(),
                    e["area"].get<double>(), e["fits_ran"].get<int>(), e["fits"].get<int>(), e["does_not_fit_ran"].get<int>(),
                    e["does_not_fit"].get<int>());
}

// A band tells how many runs stand behind it: as many as there are here.
int miscounted(const std::vector<AnsweredRow>& rows) {
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> behind;  // basis: counted, told
    for (const AnsweredRow& row : rows)
        if (row.row->ran() && row.row->step_seconds > 0 && row.row->row.value("family", "") != "nanotron-slow-network")
            ++behind[row.answer.basis].first, behind[row.answer.basis].second = row.answer.basis_runs;
    int count = 0;
    for (const auto& [basis, runs] : behind)
        if (basis != "band.calibrated" && runs.first != runs.second)
            std::printf("%s tells %lld runs, there are %lld\n", basis.c_str(), static_cast<long long>(runs.second),
                        static_cast<long long>(runs.first)),
                ++count;
    return count;
}

// Of each part of the table and family: "key": the most (or, for inside_band and area, the least) that it may be.
int missed(const Json& table, const Json& thresholds) {
    int count = 0;
    if (!thresholds.is_object()) return std::printf("no thresholds.json\n"), 1;
    for (const auto& [part, families] : thresholds.items())
        for (const auto& [family, limits] : families.items())
            for (const auto& [key, limit] : limits.items()) {
                const bool least = key == "inside_band" || key == "area" || key == "rows";
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
    if (mode == "--rows") return print_rows(rows), 0;
    const Json table = table_of(sources, rows);
    if (mode == "--write") return std::ofstream(folder + "/table.json") << table.dump(1) << "\n", 0;
    print_table(table);
    std::printf("\n%s\n", memory_table(memory_residuals(rows)).c_str());
    int failures = missed(table, read_json(folder + "/thresholds.json"));
    failures += miscounted(rows);
    if (read_json(folder + "/table.json") != table) std::printf("table.json is not of this run: --write it\n"), ++failures;
    std::printf("\n%d failures\n", failures);
    return failures == 0 ? 0 : 1;
}
