// Which published runs ran and which failed, against both estimates. Families of rows, with thresholds that can fail. Nothing of the
// estimators is fitted to these rows; the verdict's two residuals are, and verdict_test.cpp says which rows those are.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "memory/judged_runs.h"

using namespace fourfold;
using tests::JudgedRun;

namespace {

// Area under the ROC curve: how often a run that ran has a lower estimate than one that failed. 1 = perfect order, 0.5 = chance.
double area(const std::vector<double>& ran, const std::vector<double>& failed) {
    double ordered = 0;
    for (const double a : ran)
        for (const double b : failed) ordered += a < b ? 1 : a == b ? 0.5 : 0;
    return ordered / (static_cast<double>(ran.size()) * static_cast<double>(failed.size()));
}

struct Separation {
    double area = 0, cut = 0, right = 0;  // best single cut, as a share of the card, and the part of the rows it puts right
    std::size_t ran = 0, failed = 0;
};

template <class Share>
Separation separate(const std::vector<JudgedRun>& runs, Share&& share) {
    std::vector<double> ran, failed;
    for (const JudgedRun& run : runs) (run.run.ran() ? ran : failed).push_back(share(run));
    Separation s{area(ran, failed), 0, 0, ran.size(), failed.size()};
    for (const auto* list : {&ran, &failed})
        for (const double cut : *list) {
            const auto below = std::count_if(ran.begin(), ran.end(), [&](double x) { return x <= cut; });
            const auto above = std::count_if(failed.begin(), failed.end(), [&](double x) { return x > cut; });
            const double right = static_cast<double>(below + above) / static_cast<double>(ran.size() + failed.size());
            if (right > s.right) s.right = right, s.cut = cut;
        }
    return s;
}

struct Both {
    Separation paper, detailed, whole;
};
Both separations(const std::string& name, const std::vector<JudgedRun>& runs) {
    const Both both{separate(runs, [](const JudgedRun& r) { return r.fujii_share; }),
                    separate(runs, [](const JudgedRun& r) { return r.share; }),
                    separate(runs, [](const JudgedRun& r) { return r.whole_share; })};
    const auto text = [](const Separation& s) {
        return "area " + std::to_string(s.area) + ", best cut at " + std::to_string(100 * s.cut) + " % of the card puts " +
               std::to_string(100 * s.right) + " % right";
    };
    MESSAGE(name << ": " << both.paper.ran << " ran, " << both.paper.failed << " did not. fujii2024: " << text(both.paper)
                 << "; detailed, allocated: " << text(both.detailed) << "; detailed, whole GPU: " << text(both.whole));
    return both;
}

std::vector<JudgedRun> runs_of(std::string_view family, std::string_view gpu = "") {
    std::vector<JudgedRun> list;
    for (const JudgedRun& run : tests::judged_runs())
        if (run.run.family == family && (gpu.empty() || run.run.gpu == gpu)) list.push_back(run);
    return list;
}

struct Outcome {
    std::int64_t rows = 0, over_85 = 0, from_80_to_85 = 0, up_to_80 = 0;
};
Outcome paper_rows(std::string_view gpu, bool ran) {
    Outcome result;
    double most = 0;
    for (const JudgedRun& run : runs_of("fujii", gpu)) {
        if (run.run.ran() != ran) continue;
        CHECK(run.legal);
        ++result.rows;
        ++(run.fujii_share > 0.85 ? result.over_85 : run.fujii_share > 0.8 ? result.from_80_to_85 : result.up_to_80);
        most = std::max(most, run.fujii_share);
    }
    MESSAGE(std::string(gpu) << std::string(ran ? ", ran: " : ", dash: ") << result.rows << " runs; fujii2024 puts " << result.up_to_80
                             << " up to 80 % of the card, " << result.from_80_to_85 << " from 80 to 85 %, " << result.over_85
                             << " above; the largest " << most * 100 << " %");
    return result;
}

}  // namespace

TEST_CASE("the paper's table: of the runs that ran, none over 85 % of the card by fujii2024") {
    const Outcome a100 = paper_rows("a100-sxm-40gb", true), h100 = paper_rows("h100-sxm-94gb", true);
    CHECK(a100.rows == 34);
    CHECK(h100.rows == 66);
    CHECK(a100.over_85 + h100.over_85 == 0);
    CHECK(a100.from_80_to_85 == 0);
    CHECK(h100.from_80_to_85 == 5);
}

// A dash in the table is "failed or not run": the counts are reported and held, not judged.
TEST_CASE("the paper's table: seven of the 43 dashes, all on A100, lie below the 80 % line") {
    const Outcome a100 = paper_rows("a100-sxm-40gb", false), h100 = paper_rows("h100-sxm-94gb", false);
    CHECK(a100.rows == 43);
    CHECK(h100.rows == 0);
    CHECK(a100.up_to_80 == 7);
}

TEST_CASE("ran or failed: Hagemann et al., arXiv 2311.05610") {
    const Both both = separations("Hagemann", runs_of("hagemann"));
    CHECK(both.detailed.ran == 134);
    CHECK(both.detailed.failed == 175);
    CHECK(both.detailed.area >= 0.95);
    CHECK(both.whole.area >= 0.95);
    CHECK(both.detailed.area > both.paper.area);
}

TEST_CASE("ran or failed: the paper's A100 rows, with and without the three series whose dashes look like \"not run\"") {
    const std::vector<JudgedRun> all = runs_of("fujii", "a100-sxm-40gb");
    const Both both = separations("paper, A100", all);
    CHECK(both.whole.area >= 0.967);
    CHECK(both.whole.area > both.paper.area);
    std::vector<JudgedRun> rest;
    std::copy_if(all.begin(), all.end(), std::back_inserter(rest), [](const JudgedRun& r) { return !r.dash_looks_not_run; });
    CHECK(all.size() - rest.size() == 7);
    CHECK(separations("paper, A100, without the three series", rest).whole.area >= 0.995);
}

TEST_CASE("ran or failed: torchtitan") {
    const Both both = separations("torchtitan", runs_of("torchtitan"));
    CHECK(both.detailed.ran == 5);
    CHECK(both.detailed.failed == 2);
    CHECK(both.whole.area == 1);
}
