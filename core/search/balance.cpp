#include "search/balance.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "memory/memory.h"
#include "plan/stage.h"

namespace fourfold {

namespace {

// Seconds of one micro-batch, both passes.
struct StageWork {
    double layer = 0;            // one layer, of the kind that most layers are
    double first = 0, last = 0;  // what the ends have besides
    double with(std::int64_t stage, std::int64_t stages, std::int64_t layers) const {
        return static_cast<double>(layers) * layer + (stage == 0 ? first : 0) + (stage + 1 == stages ? last : 0);
    }
};

StageWork work_of(const Model& model, const LayerTimes& t) {
    const double dense = t.dense.forward + t.dense.backward, expert = t.expert.forward + t.expert.backward;
    const auto experts = static_cast<double>(model.expert_layers.count());
    if (experts == 0) return {dense, t.embedding, t.head};
    // dense layers at the beginning stand on the first stage; where kinds alternate the mean counts
    const auto first = std::find(model.expert_layers.begin(), model.expert_layers.end(), 1) - model.expert_layers.begin();
    const auto count = static_cast<double>(model.expert_layers.size());
    if (static_cast<double>(first) + experts == count) return {expert, t.embedding + static_cast<double>(first) * (dense - expert), t.head};
    return {(experts * expert + (count - experts) * dense) / count, t.embedding, t.head};
}

Layout listed(const Model& model, const std::vector<std::int64_t>& stages) {
    return Layout(std::vector<std::int32_t>(stages.begin(), stages.end()), model.multi_token_layers);
}

bool is_equal(const Layout& layout) {
    for (std::size_t i = 1; i < layout.chunks(); ++i)
        if (layout.at(i) != layout.at(0)) return false;
    return true;
}

// Fewest layers of a stage: one, but none beside the embedding or the loss.
std::int64_t fewest(std::int64_t stage, std::int64_t stages) { return stage == 0 || stage + 1 == stages ? 0 : 1; }

// With several chunks per stage: in each round of the pipeline all stages work on chunks of one size, or they would wait for the largest;
// only the chunks of the embedding and of the loss may hold fewer. Later rounds hold the one layer more, since fewer micro-batches wait in
// them.
LayoutPointer interleaved_layout(const Model& model, const Plan& plan, const StageWork& work) {
    const std::int64_t stages = plan.pipeline_parallel, chunks = plan.virtual_stages;
    const std::int64_t each = (model.layers + stages - 1) / stages, missing = each * stages - model.layers;  // of a stage between the ends
    const std::int64_t small = each / chunks, large = small + (each % chunks > 0 ? 1 : 0);
    if (small == 0 || missing > small + large) return nullptr;
    // what is missing comes off the ends, so that the longer of them is as short as possible
    std::int64_t first = 0;
    double least = INFINITY;
    for (std::int64_t from_first = std::max<std::int64_t>(0, missing - large); from_first <= std::min(missing, small); ++from_first) {
        const double longer = std::max(work.with(0, stages, each - from_first), work.with(stages - 1, stages, each - missing + from_first));
        if (longer < least * (1 - 1e-12)) least = longer, first = from_first;
    }
    std::vector<std::int32_t> list;
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
        for (std::int64_t stage = 0; stage < stages; ++stage)
            list.push_back(static_cast<std::int32_t>(chunk >= chunks - each % chunks ? small + 1 : small));
    list.front() -= static_cast<std::int32_t>(first);
    list.back() -= static_cast<std::int32_t>(missing - first);
    Layout layout(list, model.multi_token_layers);
    return is_equal(layout) ? nullptr : std::make_shared<const Layout>(std::move(layout));
}

class Balance {
 public:
    Balance(const Model& model, const Plan& plan, const StageWork& work) : model_(model), work_(work), stages_(plan.pipeline_parallel) {}

    // Most layers that a stage can hold within `longest` seconds.
    std::int64_t most_within(std::int64_t stage, double longest) const {
        constexpr double kRounding = 1e-9;
        const double left = longest - work_.with(stage, stages_, 0);
        return static_cast<std::int64_t>(std::floor(left / work_.layer * (1 + kRounding) + kRounding));
    }
    // -1: a stage could not hold what it must.
    std::int64_t all_within(double longest) const {
        std::int64_t all = 0;
        for (const auto& [stage, times] : {std::pair(std::int64_t{0}, std::int64_t{1}), std::pair(std::int64_t{1}, stages_ - 2),
                                           std::pair(stages_ - 1, std::int64_t{1})}) {
            if (times <= 0) continue;
            const std::int64_t most = most_within(stage, longest);
            if (most < fewest(stage, stages_)) return -1;
            all += times * most;
        }
        return all;
    }
    // The shortest longest stage with which all layers find a place: it is the time of some stage with a whole number of layers.
    double shortest() const {
        const double average = (static_cast<double>(model_.layers) * work_.layer + work_.first + work_.last) / static_cast<double>(stages_);
        double best = INFINITY;
        for (const std::int64_t stage : {std::int64_t{0}, std::min<std::int64_t>(1, stages_ - 1), stages_ - 1}) {
            const double end = work_.with(stage, stages_, 0);
            double layers = std::max(0.0, std::ceil((average - end) / work_.layer - 1e-9));
            while (end + layers * work_.layer < best && layers <= static_cast<double>(model_.layers) &&
                   all_within(end + layers * work_.layer) < model_.layers)
                ++layers;
            if (layers <= static_cast<double>(model_.layers)) best = std::min(best, end + layers * work_.layer);
        }
        return best;
    }
    LayoutPointer run() const {
        const double longest = shortest();
        if (!(longest < INFINITY)) return nullptr;
        std::vector<std::int64_t> layers(static_cast<std::size_t>(stages_));
        std::int64_t places = 0;
        for (std::int64_t i = 0; i < stages_; ++i) {
            places += layers[static_cast<std::size_t>(i)] = most_within(i, longest);
        }
        // places that stay empty: one on each stage in turn, from the first on
        for (std::int64_t left = places - model_.layers; left > 0;) {
            const std::int64_t before = left;
            for (std::int64_t i = 0; i < stages_ && left > 0; ++i)
                if (layers[static_cast<std::size_t>(i)] > fewest(i, stages_)) --layers[static_cast<std::size_t>(i)], --left;
            if (left == before) return nullptr;
        }
        Layout layout = listed(model_, layers);
        return is_equal(layout) ? nullptr : std::make_shared<const Layout>(std::move(layout));
    }

 private:
    const Model& model_;
    const StageWork work_;
    const std::int64_t stages_;
};

}  // namespace

LayoutPointer balanced_layout(const Model& model, const Plan& plan, const LayerTimes& times) {
    if (plan.pipeline_parallel < 2 || plan.chunks() > model.layers + 2) return nullptr;
    const StageWork work = work_of(model, times);
    return plan.virtual_stages > 1 ? interleaved_layout(model, plan, work) : Balance(model, plan, work).run();
}

namespace {

// With one micro-batch in every stage: if the average is too much, moving layers does not help.
bool has_room_on_average(const Model& model, const Plan& plan, const Framework& framework, const std::function<bool(double)>& fits) {
    const Stages given(model, plan);
    const std::int64_t stages = plan.pipeline_parallel;
    double sum = 0;
    for (std::int32_t i = 0, next = 0; i < stages; i = next) {
        next = given.next_different(i);
        sum += (next - i) * detailed<double>(model, plan, framework, given.at_rest(i)).peak_bytes;
    }
    return fits(sum / static_cast<double>(stages));
}

// Moves layers between stages until each fits.
class Relief {
 public:
    Relief(const Model& model, const Plan& plan, const Framework& framework, const StageWork& work, const std::function<bool(double)>& fits,
           KnownMoments* known)
        : model_(model), plan_(plan), framework_(framework), work_(work), fits_(fits), known_(known), stages_(plan.pipeline_parallel) {
        const Stages given(model, plan);
        std::vector<std::int32_t> layers;
        layers.reserve(static_cast<std::size_t>(stages_));
        for (std::int32_t stage = 0; stage < stages_; ++stage) layers.push_back(static_cast<std::int32_t>(given.layers_of(stage, 0)));
        moving_ = std::make_shared<Layout>(layers, model.multi_token_layers);
        trial_.layout = moving_;
    }
    LayoutPointer run() {
        const Stages given(model_, plan_);
        std::int64_t homeless = 0;
        for (std::int32_t i = 0; i < stages_;) {
            const std::int64_t before = layers(i);
            while (!has_room(i)) {
                if (layers(i) <= fewest(i, stages_)) return nullptr;
                add(i, -1);
                ++homeless;
            }
            // those behind it that hold the same keep fewer micro-batches: they have room where it has
            i = layers(i) == before ? given.next_different(i) : i + 1;
        }
        std::vector<std::uint8_t> full(static_cast<std::size_t>(stages_), 0);
        while (homeless > 0) {
            const std::int64_t next = least_busy(full);
            if (next < 0) return nullptr;
            add(next, 1);
            if (has_room(next))
                --homeless;
            else
                add(next, -1), full[at(next)] = 1;
        }
        return is_equal(*moving_) ? nullptr : moving_;
    }

 private:
    static std::size_t at(std::int64_t stage) { return static_cast<std::size_t>(stage); }
    std::int64_t layers(std::int64_t stage) const { return moving_->at(at(stage)); }
    void add(std::int64_t stage, std::int32_t layers) {
        for (std::size_t i = at(stage) + 1; i < moving_->before.size(); ++i) moving_->before[i] += layers;
    }
    bool has_room(std::int64_t stage) {
        const Stages all(model_, trial_);
        const auto which = static_cast<std::int32_t>(stage);
        const auto fits = [&](const Stage& moment) { return fits_(detailed<double>(model_, trial_, framework_, moment).peak_bytes); };
        if (!all.has_many_moments(which)) return fits(all.fullest(which));
        const std::vector<Stage> moments = all.moments(which, known_);
        for (std::size_t i = 0; i < moments.size(); ++i) {  // first the one that was too much before
            const std::size_t at = (i + fullest_) % moments.size();
            if (!fits(moments[at])) return fullest_ = at, false;
        }
        return true;
    }
    // The stage that would work least long with one layer more; of equals the last one, which keeps fewer micro-batches. -1: none has room.
    std::int64_t least_busy(const std::vector<std::uint8_t>& full) const {
        std::int64_t best = -1;
        double least = INFINITY;
        for (std::int64_t i = stages_ - 1; i >= 0; --i) {
            if (full[at(i)]) continue;
            const double seconds = work_.with(i, stages_, layers(i) + 1);
            if (seconds < least * (1 - 1e-12)) least = seconds, best = i;
        }
        return best;
    }
    const Model& model_;
    const Plan& plan_;
    const Framework& framework_;
    const StageWork work_;
    const std::function<bool(double)>& fits_;
    KnownMoments* const known_;
    const std::int64_t stages_;
    std::size_t fullest_ = 0;  // of a stage's moments, the last one that was too much
    std::shared_ptr<Layout> moving_;
    Plan trial_ = plan_;  // with the layers where they are now
};

}  // namespace

LayoutPointer layout_that_fits(const Model& model, const Plan& plan, const Framework& framework, const LayerTimes& times,
                               const std::function<bool(double)>& fits, KnownMoments* known) {
    if (plan.pipeline_parallel < 2 || plan.virtual_stages > 1 || !has_room_on_average(model, plan, framework, fits)) return nullptr;
    return Relief(model, plan, framework, work_of(model, times), fits, known).run();
}

}  // namespace fourfold
