// Every measured run as a request of api.h beside what was measured, and what the core answers to it: tests/evidence/*.jsonl.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/words.h"
#include "plan/plan.h"

namespace fourfold::tests {

// A measured run. 0 = not measured.
struct EvidenceRow {
    std::string id, outcome;  // ran, oom, dash (out of memory or never run), failed (for another reason)
    std::int64_t job = 0;     // rows of one job differ in the plan alone
    Json row;                 // as the file has it
    Json request;             // whole: the source's part, the model, the row's part
    double step_seconds = 0;
    bool ran() const { return outcome == "ran"; }
};
struct EvidenceSource {
    std::string name;  // of the file
    // Its first line: source, url, stack, standing (fit, seen, blind; memory_standing where that of peak memory is another), request,
    // assumed, models.
    Json head;
    std::vector<EvidenceRow> rows;
};
// The files of a folder by name; what cannot be read is told and left out.
std::vector<EvidenceSource> read_evidence(const std::string& folder, std::vector<std::string>& defects);

// What the core says of a row, through api::estimate.
struct Answered {
    double seconds = 0, low = 0, high = 0;  // of a step; the band that is told
    std::int64_t basis_runs = 0;
    std::string basis;                                    // words of the runs behind the band
    std::string verdict;                                  // fits, at_risk, does_not_fit
    double probability = -1, share = 0, whole_bytes = 0;  // to run; of the card; with what lies outside the allocator
    Plan plan;                                            // as the core read it
    std::string model, framework, precision;              // the model as it is called
    double parameters = 0;
    bool experts = false;
    std::vector<double> peak_bytes, static_bytes;  // of every stage
};
// nullopt: the core refuses it; `problem` says why.
std::optional<Answered> answer_to(const Json& request, std::string& problem);

}  // namespace fourfold::tests
