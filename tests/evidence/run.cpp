// Runs every measured row through api::estimate and prints what comes out, a line a row (tab separated).
//   fourfold_evidence FOLDER
#include <cstdio>

#include "evidence/evidence.h"

using namespace fourfold::tests;

int main(int count, char** arguments) {
    if (count != 2) return std::fprintf(stderr, "fourfold_evidence FOLDER\n"), 2;
    std::vector<std::string> defects;
    for (const EvidenceSource& source : read_evidence(arguments[1], defects))
        for (const EvidenceRow& row : source.rows) {
            std::string problem;
            const auto answer = answer_to(row.request, problem);
            if (!answer) {
                defects.push_back(source.name + " " + row.id + ": " + problem);
                continue;
            }
            double most = 0;
            for (const double bytes : answer->peak_bytes) most = bytes > most ? bytes : most;
            std::printf("%s\t%s\t%lld\t%s\t%.6g\t%.6g\t%.6g\t%.6g\t%s\t%.4f\t%.6g\t%.6g\t%.6g\t%.6g\t%s\n", source.name.c_str(),
                        row.id.c_str(), static_cast<long long>(row.job), row.outcome.c_str(), row.step_seconds, answer->seconds,
                        answer->low, answer->high, answer->verdict.c_str(), answer->probability, most / 1073741824,
                        answer->whole_bytes / 1073741824, answer->peak_bytes.front() / 1073741824,
                        answer->static_bytes.front() / 1073741824, answer->basis.c_str());
        }
    for (const std::string& defect : defects) std::fprintf(stderr, "%s\n", defect.c_str());
    return defects.empty() ? 0 : 1;
}
