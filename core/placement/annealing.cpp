// Based on
//   S. Kirkpatrick, C. Gelatt, M. Vecchi: Optimization by Simulated Annealing, Science 220 (1983)
//   S. Yim et al.: Pipette, DATE 2024, arXiv 2405.18093: its moves on the list of workers: migrate, swap, reverse
#include "placement/annealing.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/random.h"

namespace fourfold {

namespace {

// -ln((i + 1/2) / 1024), from additions, multiplications and divisions alone: libraries' logarithms differ in the last bit, and with it
// the native build's result from the module's.
std::array<double, 1024> make_thresholds() {
    std::array<double, 1024> table{};
    for (std::size_t i = 0; i < table.size(); ++i) {
        double x = (static_cast<double>(i) + 0.5) / 1024, powers = 0;
        while (x < 0.70710678118654752) x *= 2, powers += 1;
        const double z = (x - 1) / (x + 1), square = z * z;
        double sum = 0, term = z;
        for (int k = 1; k < 24; k += 2) sum += term / k, term *= square;
        table[i] = powers * 0.69314718055994531 - 2 * sum;
    }
    return table;
}

class Annealer {
 public:
    Annealer(const PlacementShape& shape, const AnnealingBudget& budget, const GoOn& go_on)
        : shape_(shape), budget_(budget), go_on_(go_on), cost_(shape), random_(budget.seed), thresholds_(make_thresholds()) {
        // Lines along which segments move: the pipelines one after the other, and the positions as they are numbered.
        for (std::uint32_t i = 0; i < shape.positions; ++i) by_number_.push_back(i);
        std::vector<bool> seen(shape.positions);
        for (const std::uint32_t position : shape.pipelines)
            if (!seen[position]) seen[position] = true, by_pipeline_.push_back(position);
        for (std::uint32_t i = 0; i < shape.positions; ++i)
            if (!seen[i]) by_pipeline_.push_back(i);
    }

    AnnealingResult run() {
        for (std::uint32_t i = 0; i < shape_.units; ++i) at_.push_back(i);
        now_ = cost_.reset(at_);
        keep();
        improved_ = false;
        result_.default_seconds = result_.seconds;
        result_.default_misfits = result_.misfits;
        result_.curve.emplace_back(0, result_.seconds);
        if (shape_.units < 2) return result_;
        if (!budget_.start.empty())
            begin_at(budget_.start);
        else
            begin_at(chain());
        const std::int64_t restarts = std::max<std::int64_t>(1, std::min(budget_.restarts, budget_.moves / kFewestMoves));
        for (std::int64_t i = 0; i < restarts && !result_.stopped; ++i) {
            if (i > 0) shuffle();
            const std::int64_t first = result_.moves, until = budget_.moves * (i + 1) / restarts;
            // Downhill first, so that something better than the given order is there at once.
            for (const std::int64_t down = first + (until - first) / 32; result_.moves < down && !result_.stopped;) one_move(0);
            add_point();
            cool(until - result_.moves);
            result_.restarts = i + 1;
        }
        if (!result_.stopped) descend();
        add_point();
        return result_;
    }

 private:
    static constexpr std::int64_t kAskEvery = 16'384;
    static constexpr std::uint32_t kLongestSegment = 16;
    // Of a restart: what it takes to begin (a random order, its cost, typical_change) must not outweigh the search, nor go on unasked.
    static constexpr std::int64_t kFewestMoves = 512;

    // Of use even where no move follows: the result is then this order, or the default one where that costs no more.
    void begin_at(const Placement& start) {
        at_ = start;
        now_ = cost_.reset(at_);
        if (now_ < best_) keep();
    }

    // Each position gets the fastest unused neighbour of the unit before it, ring by ring, then along the pipelines; of the chains from the
    // first few units the one that costs least. Islands of fast links stay together so: a ring goes at the pace of its slowest link, and no
    // single move shows the way from a ring across islands to one inside.
    Placement chain() {
        constexpr std::uint32_t kMostStarts = 16;
        constexpr std::size_t kMostLooks = 1 << 24;
        const std::size_t n = shape_.units;
        const std::uint32_t starts = std::clamp(static_cast<std::uint32_t>(kMostLooks / (n * n)), 1U, std::min(kMostStarts, shape_.units));
        std::vector<std::uint32_t> order;
        std::vector<bool> seen(n);
        const auto next = [&](std::uint32_t position) {
            if (!seen[position]) seen[position] = true, order.push_back(position);
        };
        for (const PlacementRing& ring : shape_.rings)
            for (const std::uint32_t position : ring.positions) next(position);
        for (const std::uint32_t position : by_pipeline_) next(position);
        for (std::uint32_t spare = shape_.positions; spare < shape_.units; ++spare) next(spare);
        Placement best, at(n);
        double least = 0;
        std::vector<std::uint32_t> left;
        for (std::uint32_t first = 0; first < starts; ++first) {
            left.clear();
            for (std::uint32_t unit = 0; unit < shape_.units; ++unit)
                if (unit != first) left.push_back(unit);
            std::uint32_t last = first;
            for (const std::uint32_t position : order) {
                at[position] = last;
                if (left.empty()) break;
                const double* links = &shape_.link[last * n];
                std::size_t nearest = 0;
                for (std::size_t i = 1; i < left.size(); ++i)
                    if (links[left[i]] < links[left[nearest]]) nearest = i;
                last = left[nearest];
                left.erase(left.begin() + static_cast<std::ptrdiff_t>(nearest));
            }
            const double cost = cost_.reset(at);
            if (best.empty() || cost < least) best = at, least = cost;
        }
        return best;
    }

    void shuffle() {
        for (std::uint32_t i = shape_.units - 1; i > 0; --i) std::swap(at_[i], at_[random_.below(i + 1)]);
        now_ = cost_.reset(at_);
    }

    // Seconds that a random swap changes, on average.
    double typical_change() {
        constexpr int kTried = 256;
        double sum = 0;
        const double now = cost_.seconds();  // without charges, which would make it too hot
        for (int i = 0; i < kTried; ++i) {
            propose_swap();
            cost_.update(at_, changed_);
            const double change = cost_.seconds() - now;
            sum += change < 0 ? -change : change;
            take_back();
        }
        return sum / kTried;
    }

    // Geometric cooling, in steps; both ends in typical changes, tuned on the cases of tests/measured/placement_cases.json.
    void cool(std::int64_t moves) {
        constexpr double kHot = 0.3, kCold = 0.001;
        constexpr int kHalvings = 9;
        constexpr std::int64_t kSteps = 1 << kHalvings;
        const double scale = typical_change();
        if (scale <= 0 || moves <= 0) return;  // any order costs the same
        double factor = kCold / kHot;          // to the power 1 / kSteps: square roots are exact everywhere, pow is not
        for (int i = 0; i < kHalvings; ++i) factor = std::sqrt(factor);
        double temperature = kHot * scale;
        const std::int64_t first = result_.moves;
        for (std::int64_t step = 0; step < kSteps && !result_.stopped; ++step, temperature *= factor) {
            const std::int64_t until = first + moves * (step + 1) / kSteps;
            while (result_.moves < until && !result_.stopped) one_move(temperature);
            add_point();
        }
    }

    void one_move(double temperature) {
        propose();
        try_it(temperature * thresholds_[random_.next() >> 54]);
    }

    // Keeps what is proposed if it costs at most `more` than now; returns what it changes.
    double try_it(double more) {
        const double then = cost_.update(at_, changed_), change = then - now_;
        ++result_.moves;
        if (then <= now_ + more) {
            now_ = then;
            ++result_.accepted;
            if (now_ < best_) keep();
        } else {
            take_back();
        }
        if (result_.moves % kAskEvery == 0) ask();
        return change;
    }

    void ask() {
        if (go_on_.improved != nullptr && improved_) go_on_.improved(go_on_.context, result_.placement);
        improved_ = false;
        if (go_on_.ask != nullptr && !go_on_.ask(go_on_.context, result_.moves, result_.seconds)) result_.stopped = true;
    }

    void keep() {
        result_.placement = at_;
        result_.seconds = cost_.seconds();
        result_.misfits = cost_.misfits();
        best_ = now_;
        improved_ = true;
    }

    void note(std::uint32_t position) {
        changed_.push_back(position);
        before_.push_back(at_[position]);
    }
    void take_back() {
        cost_.undo();
        for (std::size_t i = changed_.size(); i-- > 0;) at_[changed_[i]] = before_[i];
        if (spare_ != 0) at_[spare_] = spare_before_;
    }
    void begin() {
        changed_.clear();
        before_.clear();
        spare_ = 0;
    }

    void swap(std::uint32_t a, std::uint32_t b) {  // a is used, b may be spare
        note(a);
        if (b < shape_.positions)
            note(b);
        else
            spare_ = b, spare_before_ = at_[b];
        std::swap(at_[a], at_[b]);
    }
    void propose_swap() {
        begin();
        const std::uint32_t a = random_.below(shape_.positions);
        std::uint32_t b = random_.below(shape_.units - 1);
        if (b >= a) ++b;
        swap(a, b);
    }
    // A segment of a line, turned round or moved on by one at either end.
    void propose_segment(bool reverse) {
        begin();
        const auto& line = random_.below(4) == 0 ? by_number_ : by_pipeline_;
        const std::uint32_t most = std::min(kLongestSegment, shape_.positions);
        const std::uint32_t length = 2 + random_.below(most - 1), first = random_.below(shape_.positions - length + 1);
        for (std::uint32_t i = 0; i < length; ++i) note(line[first + i]);
        const std::uint32_t shift = random_.below(2) == 0 ? 1 : length - 1;
        for (std::uint32_t i = 0; i < length; ++i) at_[line[first + i]] = before_[reverse ? length - 1 - i : (i + shift) % length];
    }
    void propose() {
        constexpr std::uint32_t kOf = 16, kSwaps = 10, kReversals = 3;
        const std::uint32_t kind = random_.below(kOf);
        if (kind < kSwaps || shape_.positions < 3)
            propose_swap();
        else
            propose_segment(kind < kSwaps + kReversals);
    }

    // From the best so far: every swap, until none helps.
    void descend() {
        constexpr std::uint32_t kMostUnits = 256;
        if (shape_.units > kMostUnits) return;
        at_ = result_.placement;
        now_ = cost_.reset(at_);
        for (bool better = true; better && !result_.stopped;) {
            better = false;
            for (std::uint32_t a = 0; a < shape_.positions; ++a)
                for (std::uint32_t b = a + 1; b < shape_.units; ++b) {
                    begin();
                    swap(a, b);
                    better = try_it(0) < 0 || better;
                }
        }
    }

    // Of the curve, every other point goes when there are too many.
    void add_point() {
        constexpr std::size_t kMost = 200;
        auto& curve = result_.curve;
        if (curve.back().first == result_.moves) curve.pop_back();
        curve.emplace_back(result_.moves, result_.seconds);
        if (curve.size() < kMost) return;
        std::size_t kept = 0;
        for (std::size_t i = 0; i < curve.size(); i += i + 2 == curve.size() ? 1 : 2) curve[kept++] = curve[i];
        curve.resize(kept);
    }

    const PlacementShape& shape_;
    const AnnealingBudget& budget_;
    const GoOn& go_on_;
    PlacementCost cost_;
    Random random_;
    std::array<double, 1024> thresholds_;
    std::vector<std::uint32_t> by_number_, by_pipeline_, changed_, before_;
    std::uint32_t spare_ = 0, spare_before_ = 0;
    Placement at_;
    double now_ = 0, best_ = 0;  // charged seconds (PlacementCost)
    bool improved_ = false;
    AnnealingResult result_;
};

}  // namespace

AnnealingResult anneal(const PlacementShape& shape, const AnnealingBudget& budget, const GoOn& go_on) {
    return Annealer(shape, budget, go_on).run();
}

}  // namespace fourfold
