#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "pools/split.h"

using namespace fourfold;

TEST_CASE("split: layers by hand") {
    // A stage takes 3 s a layer and the other 1 s: of 8 layers 2 and 6 take 6 s each.
    const std::vector<StageCost> two{{0, 0, 3, 8}, {1, 0, 1, 8}};
    CHECK(split_layers(two, 8, 0, 1) == std::vector<std::int64_t>{2, 6});
    // Where the sum counts as much as the slowest: 1 and 7 take 3 + 7 + 7 = 17 s; 2 and 6 take 6 + 6 + 6 = 18 s.
    CHECK(split_layers(two, 8, 1, 1) == std::vector<std::int64_t>{1, 7});
    // The fast one holds at most 5: 3 and 5, 9 s.
    CHECK(split_layers({{0, 0, 3, 8}, {1, 0, 1, 5}}, 8, 0, 1) == std::vector<std::int64_t>{3, 5});
    // A head of 3 s on the last of two equal stages, 4 layers of 2 s: 3 and 1 take 6 and 5 s, 2 and 2 take 4 and 7 s; the sums are equal.
    CHECK(split_layers({{0, 0, 2, 4}, {0, 3, 2, 4}}, 4, 1, 7) == std::vector<std::int64_t>{3, 1});
    CHECK(split_layers(two, 8, 1, 0) == std::vector<std::int64_t>{1, 7});  // one micro-batch: the sum alone; ends behind the last limit
    CHECK(split_layers(two, 1, 0, 1).empty());                             // fewer layers than stages
    CHECK(split_layers({{0, 0, 3, 2}, {1, 0, 1, 5}}, 8, 0, 1).empty());    // more than they hold
    CHECK(split_layers({{0, 0, 3, 0}, {1, 0, 1, 9}}, 8, 0, 1).empty());    // one holds none
}

TEST_CASE("split: no other way to split layers is better") {
    std::mt19937 random(17);
    const auto draw = [&](int least, int most) { return std::uniform_int_distribution(least, most)(random); };
    for (int trial = 0; trial < 500; ++trial) {
        const int kinds = draw(1, 3), count = draw(2, 4), layers = draw(count, 12);
        std::vector<double> each(static_cast<std::size_t>(kinds));
        for (double& one : each) one = draw(1, 40) * 0.25;
        std::vector<StageCost> stages;
        for (int s = 0; s < count; ++s) {
            const auto kind = static_cast<std::size_t>(draw(0, kinds - 1));
            stages.push_back({kind, s == 0 || s == count - 1 ? draw(0, 20) * 0.25 : 0, each[kind], draw(1, 12)});
        }
        const double sum_work = draw(0, 4), most_work = draw(1, 30);
        double least = INFINITY;
        std::vector<std::int64_t> held(stages.size());
        const auto work = [&](const std::vector<std::int64_t>& split) {
            double sum = 0, most = 0;
            for (std::size_t s = 0; s < split.size(); ++s) {
                sum += stages[s].seconds(split[s]);
                most = std::max(most, stages[s].seconds(split[s]));
            }
            return sum_work * sum + most_work * most;
        };
        const auto every = [&](auto&& self, std::size_t s, std::int64_t left) -> void {
            if (s + 1 == stages.size()) {
                held[s] = left;
                if (left >= 1 && left <= stages[s].most) least = std::min(least, work(held));
                return;
            }
            for (held[s] = 1; held[s] <= std::min(left, stages[s].most); ++held[s]) self(self, s + 1, left - held[s]);
        };
        every(every, 0, layers);
        const std::vector<std::int64_t> found = split_layers(stages, layers, sum_work, most_work);
        REQUIRE(found.empty() == std::isinf(least));
        if (found.empty()) continue;
        CHECK(std::accumulate(found.begin(), found.end(), std::int64_t{0}) == layers);
        CHECK(work(found) == doctest::Approx(least).epsilon(1e-8));
    }
}

TEST_CASE("split: micro-batches by hand") {
    class Takes final : public CopyCost {
     public:
        Takes(std::int64_t copies, double fixed, double each) : CopyCost(copies), fixed_(fixed), each_(each) {}
        double seconds(std::int64_t n) override { return fixed_ + each_ * static_cast<double>(n); }

     private:
        const double fixed_, each_;
    };
    const auto deal = [](Takes a, Takes b, std::int64_t micro_batches) { return deal_micro_batches({&a, &b}, micro_batches); };
    // One copy takes 3 s a micro-batch, one 1 s: of 8 they do 2 and 6, in 6 s.
    const auto two = deal({1, 0, 3}, {1, 0, 1}, 8);
    CHECK((two[0].each == 2 && two[1].each == 6 && two[0].more == 0 && two[1].more == 0));
    // Two copies of each and 17: two of 2 s and two of 6 s would be 4 + 12 = 16; the odd one goes to a fast copy, 7 s.
    const auto odd = deal({2, 0, 3}, {2, 0, 1}, 17);
    CHECK((odd[0].each == 2 && odd[0].more == 0 && odd[1].each == 6 && odd[1].more == 1 && odd[1].most() == 7));
    // A start of 9 s on the fast one: 4 and 4 take 12 and 13 s, 5 and 3 take 15 and 12.
    const auto late = deal({1, 0, 3}, {1, 9, 1}, 8);
    CHECK((late[0].each == 4 && late[1].each == 4));
    // One each at least, however slow.
    const auto least = deal({1, 0, 100}, {1, 0, 1}, 8);
    CHECK((least[0].each == 1 && least[1].each == 7));
}
