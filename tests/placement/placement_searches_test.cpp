// Several searches at once, as the page has them (web/src/placement/search.ts): what is known after one second.
#include <doctest/doctest.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

#include "placement/cases.h"

using namespace fourfold;
using tests::geometric_mean;

namespace {

struct Known {
    std::string name;
    PlacementShape shape;
    double best_seconds;
};
std::vector<Known> tuned() {
    std::vector<Known> list;
    for (const tests::PublishedCase& c : tests::published_cases())
        list.push_back({"pipette", pipette_shape(c.numbers, c.links), c.best / 1000});
    return list;
}
std::vector<Known> held_out() {
    std::vector<Known> list;
    for (const tests::HeldOutCase& c : tests::held_out_cases()) list.push_back({c.name, c.shape, c.best_known});
    return list;
}

// Of this thread, so that what else the machine does takes nothing away.
double now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// One search for so many seconds: rounds as search.ts has them, the best of which counts. `seed` and `step` give each round its own.
double search(const PlacementShape& shape, double seconds, std::uint64_t seed, std::uint64_t step) {
    constexpr std::int64_t kFirstMoves = 60'000, kGrowth = 16;
    constexpr double kLeastPart = 0.2;
    struct Deadline {
        double start, seconds;
    } deadline{now(), seconds};
    const GoOn go_on{[](void* context, std::int64_t, double) {
                         const Deadline& d = *static_cast<Deadline*>(context);
                         return now() < d.start + d.seconds;
                     },
                     &deadline};
    double best = INFINITY;
    for (std::int64_t moves = kFirstMoves;; seed += step) {
        const double begun = (now() - deadline.start);
        const AnnealingResult found = anneal(shape, {.seed = seed, .moves = moves, .restarts = 4}, go_on);
        best = std::min(best, found.seconds);
        const double left = seconds - (now() - deadline.start),
                     rate = static_cast<double>(found.moves) / ((now() - deadline.start) - begun);
        const auto room = static_cast<std::int64_t>(rate * left);
        if (left < kLeastPart * seconds || room < kFirstMoves) return best;
        moves = room < 2 * moves * kGrowth ? room : moves * kGrowth;
    }
}

struct Outcome {
    std::vector<double> ratios;
    std::string agreed;  // of each case, how many searches found a placement within the tie width of the best
};
// `workers` side by side (here one after the other), each of `share` searches in a row.
Outcome after(const std::vector<Known>& cases, double seconds, std::uint64_t workers, std::uint64_t share) {
    constexpr double kTie = 1e-3;
    Outcome outcome;
    for (const Known& c : cases) {
        std::vector<double> found;
        for (std::uint64_t i = 0; i < workers * share; ++i)
            found.push_back(search(c.shape, seconds / static_cast<double>(share), 1 + i, workers * share));
        const double best = *std::min_element(found.begin(), found.end());
        outcome.ratios.push_back(best / c.best_seconds);
        outcome.agreed += std::to_string(std::count_if(found.begin(), found.end(), [&](double s) { return s <= best * (1 + kTie); })) + " ";
    }
    return outcome;
}

}  // namespace

// Four searches that are a quarter as long, as one worker makes them, and a budget that every machine has: what they come to is counted in
// moves.
TEST_CASE("placement: the best of four short searches against the best known" * doctest::test_suite("quality")) {
    constexpr std::int64_t kMoves = 750'000;  // about a tenth of a second
    for (const auto& [name, cases] : {std::pair{"tuned on", tuned()}, {"held out", held_out()}}) {
        std::vector<double> ratios;
        for (const Known& c : cases) {
            double best = INFINITY;
            for (std::uint64_t seed = 1; seed <= 4; ++seed)
                best = std::min(best, anneal(c.shape, {.seed = seed, .moves = kMoves, .restarts = 4}).seconds);
            ratios.push_back(best / c.best_seconds);
        }
        MESSAGE(std::string(name), ": geometric mean ", geometric_mean(ratios), ", most ", *std::max_element(ratios.begin(), ratios.end()));
        CHECK(geometric_mean(ratios) <= 1.005);
    }
}

// Four minutes: fourfold_tests -ns -tc='*after one second*'
TEST_CASE("placement: after one second of four searches, and of fewer workers" * doctest::skip()) {
    for (const auto& [name, cases] : {std::pair{"tuned on", tuned()}, {"held out", held_out()}})
        for (const auto& [workers, share] : {std::pair{4, 1}, {1, 1}, {1, 4}, {1, 2}}) {
            const Outcome found = after(cases, 1, static_cast<std::uint64_t>(workers), static_cast<std::uint64_t>(share));
            MESSAGE(std::string(name), ", ", workers, " workers, ", share, " searches each: geometric mean ", geometric_mean(found.ratios),
                    ", most ", *std::max_element(found.ratios.begin(), found.ratios.end()), "; agreed ", found.agreed);
            CHECK(geometric_mean(found.ratios) <= 1.005);
        }
}
