#include "pools/split.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fourfold {

namespace {

class Layers {
 public:
    Layers(const std::vector<StageCost>& stages, std::int64_t layers) : stages_(stages), all_(layers), held(stages.size(), 1) {
        for (const StageCost& stage : stages)
            if (std::none_of(fastest_first_.begin(), fastest_first_.end(), [&](const StageCost* one) { return one->kind == stage.kind; }))
                fastest_first_.push_back(&stage);
        std::stable_sort(fastest_first_.begin(), fastest_first_.end(),
                         [](const StageCost* a, const StageCost* b) { return a->each < b->each; });
    }
    // No stage takes longer than the limit, and their sum is least: layers go to the fastest kind first, and evenly within a kind. false:
    // it cannot be kept.
    bool hold_within(double limit) {
        held.assign(stages_.size(), 1);
        for (const StageCost& stage : stages_)
            if (stage.most < 1 || stage.seconds(1) > limit) return false;
        std::int64_t left = all_ - static_cast<std::int64_t>(held.size());
        for (const StageCost* kind : fastest_first_)
            while (left > 0) {
                const std::size_t next = next_of(kind->kind, limit);
                if (next == held.size()) break;
                ++held[next];
                --left;
            }
        return left == 0;
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
    // The stage of this kind that would be fastest with one layer more.
    std::size_t next_of(std::size_t kind, double limit) const {
        std::size_t next = held.size();
        double least = INFINITY;
        for (std::size_t s = 0; s < held.size(); ++s) {
            if (stages_[s].kind != kind || held[s] == stages_[s].most) continue;
            if (const double then = stages_[s].seconds(held[s] + 1); then <= limit && then < least) least = then, next = s;
        }
        return next;
    }
    const std::vector<StageCost>& stages_;
    const std::int64_t all_;
    std::vector<const StageCost*> fastest_first_;  // one of each kind

 public:
    std::vector<std::int64_t> held;
};

// Near the end of dealing: every copy has what it does within the same time, and one less.
std::vector<Dealt> nearly_dealt(const std::vector<CopyCost>& kinds, std::int64_t micro_batches, std::int64_t copies) {
    double sum = static_cast<double>(micro_batches), rate = 0;
    std::vector<double> fixed, each;
    const std::int64_t average = std::max<std::int64_t>(1, micro_batches / copies);
    for (const CopyCost& kind : kinds) {
        const double here = kind.seconds(average), more = kind.seconds(average + 1) - here;
        each.push_back(more);
        fixed.push_back(here - more * static_cast<double>(average));
        sum += static_cast<double>(kind.copies) * fixed.back() / more;
        rate += static_cast<double>(kind.copies) / more;
    }
    const double together = sum / rate;
    std::vector<Dealt> dealt(kinds.size());
    std::int64_t begun = 0;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        dealt[i].each = std::max<std::int64_t>(1, static_cast<std::int64_t>((together - fixed[i]) / each[i]) - 1);
        begun += kinds[i].copies * dealt[i].each;
    }
    return begun > micro_batches ? std::vector<Dealt>(kinds.size()) : dealt;
}

}  // namespace

std::vector<std::int64_t> split_layers(const std::vector<StageCost>& stages, std::int64_t layers, double sum_work, double most_work) {
    Layers split(stages, layers);
    if (!split.hold_within(INFINITY)) return {};
    const double least_sum = split.sum();
    std::vector<double> limits;  // of the slowest stage
    for (const StageCost& stage : stages)
        for (std::int64_t n = 1; n <= std::min(stage.most, layers); ++n) limits.push_back(stage.seconds(n));
    std::sort(limits.begin(), limits.end());
    const auto begin = std::partition_point(limits.begin(), limits.end(), [&](double limit) { return !split.hold_within(limit); });
    std::vector<std::int64_t> best;
    double least = INFINITY;
    for (auto limit = begin; limit != limits.end() && most_work * *limit + sum_work * least_sum < least; ++limit) {
        split.hold_within(*limit);
        const double work = most_work * split.slowest() + sum_work * split.sum();
        if (work < least * (1 - 1e-9)) least = work, best = split.held;
    }
    return best;
}

// The next micro-batch goes to the kind that would then be done first. As a step takes longer with every micro-batch, no other way of
// dealing has a faster slowest copy.
std::vector<Dealt> deal_micro_batches(const std::vector<CopyCost>& kinds, std::int64_t micro_batches) {
    const auto add = [](std::int64_t n, const CopyCost& kind) { return n + kind.copies; };
    std::vector<Dealt> dealt = nearly_dealt(kinds, micro_batches, std::accumulate(kinds.begin(), kinds.end(), std::int64_t{0}, add));
    std::int64_t left = micro_batches;
    for (std::size_t i = 0; i < kinds.size(); ++i) left -= kinds[i].copies * dealt[i].each;
    while (left > 0) {
        std::size_t first = 0;
        double least = INFINITY;
        for (std::size_t i = 0; i < kinds.size(); ++i)
            if (const double then = kinds[i].seconds(dealt[i].each + 1); then < least) least = then, first = i;
        const std::int64_t copies = kinds[first].copies, now = std::min(left, copies - dealt[first].more);
        dealt[first].more += now;
        left -= now;
        if (dealt[first].more == copies) ++dealt[first].each, dealt[first].more = 0;
    }
    return dealt;
}

}  // namespace fourfold
