// What the measured runs say of the estimates, family by family: the one table that README, page and tests read (table.json).
#pragma once
#include <map>
#include <string>
#include <vector>

#include "evidence/evidence.h"

namespace fourfold::tests {

struct AnsweredRow {
    const EvidenceSource* source;
    const EvidenceRow* row;
    Answered answer;
};
std::string family_of(const AnsweredRow& row);
std::string standing_of(const AnsweredRow& row);  // fit, seen or blind: of its family, where that stands otherwise than its source
bool is_timed(const AnsweredRow& row);
bool on_stalled_network(const AnsweredRow& row);  // no estimate is meant for such a network
// Every row that the core answers; the others are defects.
std::vector<AnsweredRow> answer_all(const std::vector<EvidenceSource>& sources, std::vector<std::string>& defects);

// Of a family's step times: measured over estimated, less 1.
struct TimeErrors {
    std::int64_t rows = 0;
    double mean = 0, median = 0, bias = 0, most = 0;  // of |error|; bias: the median of the error itself
    double inside = 0;                                // part of the rows within the band that is told
    // The first of a job's plans in the page's order against the best measured: 1 - best time / its time, the mean of the jobs with three
    // plans or more; and that of the rule of thumb, the smallest split and with it the largest micro-batch. In how many jobs the best
    // measured is among the first three.
    std::int64_t jobs = 0, in_first_three = 0;
    double regret = 0, rule_regret = 0;
};
// Of a source's runs that ran or ran out of memory.
struct VerdictErrors {
    std::int64_t ran = 0, failed = 0;
    double area = 0;  // how often a run that ran has a lower estimate than one that failed; 0 where none failed
    std::int64_t fits = 0, fits_ran = 0, no = 0, no_ran = 0;
};
std::map<std::string, TimeErrors> time_errors(const std::vector<AnsweredRow>& rows);
std::map<std::string, VerdictErrors> verdict_errors(const std::vector<AnsweredRow>& rows);

Json table_of(const std::vector<EvidenceSource>& sources, const std::vector<AnsweredRow>& rows);

}  // namespace fourfold::tests
