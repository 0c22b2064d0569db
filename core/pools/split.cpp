#include "pools/split.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fourfold {

namespace {

class Layers {
 public:
    Layers(const std::vector<StageCost>& stages, std::int64_t layers) : stages_(stages), all_(layers), held(stages.size(), 1) {
        std::vector<double> each;
        for (const StageCost& stage : stages) {
            if (std::find(fastest_first_.begin(), fastest_first_.end(), stage.kind) != fastest_first_.end()) continue;
            std::size_t at = 0;
            while (at < each.size() && each[at] <= stage.each) ++at;
            each.insert(each.begin() + static_cast<std::ptrdiff_t>(at), stage.each);
            fastest_first_.insert(fastest_first_.begin() + static_cast<std::ptrdiff_t>(at), stage.kind);
        }
    }
    // The slowest stage is as fast as can be. false: they cannot hold them all.
    bool hold_evenly() {
        return begin(INFINITY) && fill([](std::size_t) { return true; }, INFINITY) == 0;
    }
    // No stage takes longer than the limit, and their sum is least: layers go to the fastest kind first, and evenly within a kind. false:
    // it cannot be kept.
    bool hold_within(double limit) {
        if (!begin(limit)) return false;
        for (const std::size_t kind : fastest_first_)
            if (fill([&](std::size_t s) { return stages_[s].kind == kind; }, limit) == 0) return true;
        return false;
    }
    // The next larger one at which a stage may hold more.
    double next_limit(double limit) const {
        double next = INFINITY;
        for (const StageCost& stage : stages_) {
            const std::int64_t n = std::max(std::int64_t{1}, static_cast<std::int64_t>((limit - stage.fixed) / stage.each));
            for (const std::int64_t more : {n, n + 1, n + 2})
                if (more <= stage.most && stage.seconds(more) > limit) next = std::min(next, stage.seconds(more));
        }
        return next;
    }
    double sum() const {
        double sum = 0;
        for (std::size_t s = 0; s < held.size(); ++s) sum += stages_[s].seconds(held[s]);
        return sum;
    }
    double slowest() const {
        double most = 0;
        for (std::size_t s = 0; s < held.size(); ++s) most = std::max(most, stages_[s].seconds(held[s]));
        return most;
    }

 private:
    bool begin(double limit) {
        held.assign(stages_.size(), 1);
        left_ = all_ - static_cast<std::int64_t>(held.size());
        return left_ >= 0 &&
               std::all_of(stages_.begin(), stages_.end(), [&](const StageCost& s) { return s.most >= 1 && s.seconds(1) <= limit; });
    }
    // The next layer goes to the stage of these that would then be the fastest. Returns how many layers are left.
    template <class Takes>
    std::int64_t fill(const Takes& takes, double limit) {
        while (left_ > 0) {
            std::size_t next = held.size();
            double least = INFINITY;
            for (std::size_t s = 0; s < held.size(); ++s) {
                if (!takes(s) || held[s] == stages_[s].most) continue;
                if (const double then = stages_[s].seconds(held[s] + 1); then <= limit && then < least) least = then, next = s;
            }
            if (next == held.size()) break;
            ++held[next];
            --left_;
        }
        return left_;
    }
    const std::vector<StageCost>& stages_;
    const std::int64_t all_;
    std::int64_t left_ = 0;
    std::vector<std::size_t> fastest_first_;  // kinds

 public:
    std::vector<std::int64_t> held;
};

// Near the end of dealing: every copy has what it does within the same time, and one less.
std::vector<Dealt> nearly_dealt(const std::vector<CopyCost*>& kinds, std::int64_t micro_batches, std::int64_t copies) {
    double sum = static_cast<double>(micro_batches), rate = 0;
    std::vector<double> fixed, each;
    const std::int64_t average = std::max<std::int64_t>(1, micro_batches / copies);
    for (CopyCost* kind : kinds) {
        const double here = kind->seconds(average), more = kind->seconds(average + 1) - here;
        each.push_back(more);
        fixed.push_back(here - more * static_cast<double>(average));
        sum += static_cast<double>(kind->count) * fixed.back() / more;
        rate += static_cast<double>(kind->count) / more;
    }
    const double together = sum / rate;
    std::vector<Dealt> dealt(kinds.size());
    std::int64_t begun = 0;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        dealt[i].each = std::max<std::int64_t>(1, static_cast<std::int64_t>((together - fixed[i]) / each[i]) - 1);
        begun += kinds[i]->count * dealt[i].each;
    }
    return begun > micro_batches ? std::vector<Dealt>(kinds.size()) : dealt;
}

}  // namespace

std::vector<std::int64_t> split_layers(const std::vector<StageCost>& stages, std::int64_t layers, double sum_work, double most_work) {
    Layers split(stages, layers);
    if (!split.hold_evenly()) return {};
    const double first = split.slowest();
    split.hold_within(INFINITY);
    const double least_sum = split.sum();
    std::vector<std::int64_t> best;
    double least = INFINITY;
    // Where the slowest stage counts for nothing (one micro-batch), every limit is looked at; behind the last one there is none.
    for (double limit = first; std::isfinite(limit) && most_work * limit + sum_work * least_sum < least; limit = split.next_limit(limit)) {
        split.hold_within(limit);
        const double work = most_work * split.slowest() + sum_work * split.sum();
        if (work < least * (1 - 1e-9)) least = work, best = split.held;
    }
    return best;
}

// The next micro-batch goes to the kind that would then be done first. As a step takes longer with every micro-batch, no other way of
// dealing has a faster slowest copy.
std::vector<Dealt> deal_micro_batches(const std::vector<CopyCost*>& kinds, std::int64_t micro_batches) {
    const auto add = [](std::int64_t n, const CopyCost* kind) { return n + kind->count; };
    std::vector<Dealt> dealt = nearly_dealt(kinds, micro_batches, std::accumulate(kinds.begin(), kinds.end(), std::int64_t{0}, add));
    std::int64_t left = micro_batches;
    for (std::size_t i = 0; i < kinds.size(); ++i) left -= kinds[i]->count * dealt[i].each;
    while (left > 0) {
        std::size_t first = 0;
        double least = INFINITY;
        for (std::size_t i = 0; i < kinds.size(); ++i)
            if (const double then = kinds[i]->seconds(dealt[i].each + 1); then < least) least = then, first = i;
        const std::int64_t copies = kinds[first]->count, now = std::min(left, copies - dealt[first].more);
        dealt[first].more += now;
        left -= now;
        if (dealt[first].more == copies) ++dealt[first].each, dealt[first].more = 0;
    }
    return dealt;
}

}  // namespace fourfold
