#include "evidence/longest.h"

#include <cmath>

#include "answer/limits.h"
#include "job/job.h"

namespace fourfold::tests {

std::vector<LongestRow> longest_rows(const std::vector<AnsweredRow>& rows) {
    std::vector<LongestRow> found;
    for (const AnsweredRow& one : rows) {
        const double published = one.row->row.value("longest_sequence", 0.0);
        if (published <= 0) continue;
        Problems problems;
        const auto job = read_parsed_job(one.row->request, Request::limits, problems);
        const auto longest = job ? largest_sequence(job->space()) : std::nullopt;
        found.push_back({&one, published, longest ? static_cast<double>(longest->value) : 0});
    }
    return found;
}

std::map<std::string, LongestErrors> longest_errors(const std::vector<LongestRow>& rows) {
    std::map<std::string, LongestErrors> families;
    for (const LongestRow& one : rows) {
        LongestErrors& e = families[one.row->row->row.value("family", one.row->source->name)];
        const double error = one.estimated / one.published - 1;
        ++e.rows;
        e.within += std::abs(error) <= kAskedOfLongest ? 1 : 0;
        e.mean += std::abs(error), e.bias += error;
        if (std::abs(error) > e.most) e.most = std::abs(error), e.worst = one.row->row->id;
    }
    for (auto& [name, e] : families) e.within /= e.rows, e.mean /= e.rows, e.bias /= e.rows;
    return families;
}

}  // namespace fourfold::tests
