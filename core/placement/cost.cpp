// Based on
//   S. Yim et al.: Pipette, DATE 2024, arXiv 2405.18093: the slowest pipeline and the slowest link of a ring set the pace
#include "placement/cost.h"

#include <algorithm>

namespace fourfold {

static constexpr double kCharge = 10;  // times the seconds of the first order that is evaluated

PlacementCost::PlacementCost(const PlacementShape& shape)
    : shape_(shape), units_(shape.units), stages_(shape.stages), works_(!shape.work.empty()) {
    pipeline_.resize(shape.pipelines.size() / stages_);
    ring_.resize(shape.rings.size());
    group_.resize(shape.groups.size());
    pipeline_stamp_.resize(pipeline_.size());
    ring_stamp_.resize(ring_.size());
    group_stamp_.resize(group_.size());
    misfit_.resize(shape.misfit.empty() ? 0 : shape.positions);
    ring_start_.push_back(0);
    for (const PlacementRing& ring : shape.rings) {
        ring_list_.insert(ring_list_.end(), ring.positions.begin(), ring.positions.end());
        ring_start_.push_back(static_cast<std::uint32_t>(ring_list_.size()));
    }
    invert();
}

void PlacementCost::invert() {
    const auto fill = [this](Members& members, auto each) {
        std::vector<std::vector<std::uint32_t>> lists(shape_.positions);
        each([&](std::uint32_t position, std::size_t index) {
            auto& list = lists[position];
            if (list.empty() || list.back() != index) list.push_back(static_cast<std::uint32_t>(index));
        });
        members.start.push_back(0);
        for (const auto& list : lists) {
            members.list.insert(members.list.end(), list.begin(), list.end());
            members.start.push_back(static_cast<std::uint32_t>(members.list.size()));
        }
    };
    fill(pipelines_of_, [this](auto add) {
        for (std::size_t i = 0; i < shape_.pipelines.size(); ++i) add(shape_.pipelines[i], i / stages_);
    });
    fill(rings_of_, [this](auto add) {
        for (std::size_t i = 0; i < shape_.rings.size(); ++i)
            for (const std::uint32_t position : shape_.rings[i].positions) add(position, i);
    });
    fill(groups_of_, [this](auto add) {
        for (std::size_t i = 0; i < shape_.groups.size(); ++i)
            for (const std::uint32_t position : shape_.groups[i].positions) add(position, i);
    });
}

double PlacementCost::group_seconds_per_byte(const Placement& at, std::size_t group) const {
    double most = 0;
    for (const auto& [from, to] : shape_.groups[group].links) most = std::max(most, shape_.link[at[from] * units_ + at[to]]);
    return most;
}

// Seconds of a micro-batch; between the points at which it is known, on the line through both.
double PlacementCost::work(const Placement& at, std::uint32_t position, std::size_t stage) const {
    const double speed = shape_.speed.empty() ? 1 : shape_.speed[at[position]];
    const auto& points = shape_.group_x;
    if (points.empty()) return shape_.work[stage] / speed;
    double x = 0;
    for (const std::uint32_t group : groups_of_.of(position)) x = std::max(x, group_[group]);
    const double* known = &shape_.work[stage * points.size()];
    const auto after = static_cast<std::size_t>(std::lower_bound(points.begin(), points.end(), x) - points.begin());
    if (after == 0) return known[0] / speed;
    if (after == points.size()) return known[after - 1] / speed;
    const double part = (x - points[after - 1]) / (points[after] - points[after - 1]);
    return (known[after - 1] + part * (known[after] - known[after - 1])) / speed;
}

double PlacementCost::pipeline_seconds(const Placement& at, std::size_t pipeline) const {
    const std::uint32_t* position = &shape_.pipelines[pipeline * stages_];
    const double* hops = shape_.hop.data();
    double sum = 0, most = 0;
    std::size_t here = at[position[0]];
    for (std::size_t stage = 1; stage < stages_; ++stage) {
        const std::size_t next = at[position[stage]];
        const double hop = hops[here * units_ + next];
        sum += hop;
        most = std::max(most, hop);
        here = next;
    }
    if (shape_.closed && stages_ > 1) most = std::max(most, hops[here * units_ + at[position[0]]]);
    double seconds = shape_.sum_hops * sum + shape_.most_hops * most;
    if (works_) {
        sum = most = 0;
        for (std::size_t stage = 0; stage < stages_; ++stage) {
            const double seconds_here = work(at, position[stage], stage);
            sum += seconds_here;
            most = std::max(most, seconds_here);
        }
        seconds += shape_.sum_work * sum + shape_.most_work * most;
    }
    return seconds;
}

double PlacementCost::ring_seconds(const Placement& at, std::size_t ring) const {
    const double* links = shape_.link.data();
    double most = 0;
    std::size_t here = at[ring_list_[ring_start_[ring + 1] - 1]];
    for (std::uint32_t i = ring_start_[ring]; i < ring_start_[ring + 1]; ++i) {
        const std::size_t next = at[ring_list_[i]];
        most = std::max(most, links[here * units_ + next]);
        here = next;
    }
    double seconds = 0;
    for (const DataLeg& leg : shape_.data[static_cast<std::size_t>(shape_.rings[ring].stage)]) seconds += leg.seconds(most);
    return seconds;
}

double PlacementCost::reset(const Placement& at) {
    old_pipelines_.clear();
    old_rings_.clear();
    old_groups_.clear();
    slowest_pipeline_ = slowest_ring_ = 0;
    holder_pipeline_ = holder_ring_ = 0;
    for (std::size_t i = 0; i < group_.size(); ++i) group_[i] = group_seconds_per_byte(at, i);
    for (std::uint32_t i = 0; i < pipeline_.size(); ++i) {
        pipeline_[i] = pipeline_seconds(at, i);
        if (pipeline_[i] > slowest_pipeline_) slowest_pipeline_ = pipeline_[i], holder_pipeline_ = i;
    }
    for (std::uint32_t i = 0; i < ring_.size(); ++i) {
        ring_[i] = ring_seconds(at, i);
        if (ring_[i] > slowest_ring_) slowest_ring_ = ring_[i], holder_ring_ = i;
    }
    if (shape_.misfit.empty()) return seconds();
    misfits_ = 0;
    for (std::uint32_t k = 0; k < shape_.positions; ++k) misfits_ += misfit_[k] = shape_.misfit[at[k] * shape_.positions + k];
    if (charge_ == 0) charge_ = kCharge * seconds();
    return charged();
}

void PlacementCost::count_misfits(const Placement& at, std::span<const std::uint32_t> positions) {
    old_misfit_.clear();
    old_misfits_ = misfits_;
    for (const std::uint32_t k : positions) {
        const std::uint8_t now = shape_.misfit[at[k] * shape_.positions + k];
        if (now == misfit_[k]) continue;
        old_misfit_.push_back({k, static_cast<double>(misfit_[k])});
        misfits_ += now - misfit_[k];
        misfit_[k] = now;
    }
}

void PlacementCost::touch_pipelines(const Placement& at, std::uint32_t position) {
    for (const std::uint32_t pipeline : pipelines_of_.of(position)) {
        if (pipeline_stamp_[pipeline] == stamp_) continue;
        pipeline_stamp_[pipeline] = stamp_;
        old_pipelines_.push_back({pipeline, pipeline_[pipeline]});
        pipeline_[pipeline] = pipeline_seconds(at, pipeline);
    }
}

// The largest value after some changed; all are read only where the largest one was among them and fell.
void PlacementCost::settle(const std::vector<double>& values, const std::vector<Old>& changed, double& most, std::uint32_t& holder) {
    bool fell = false;
    for (const Old& old : changed) {
        if (values[old.index] >= most)
            most = values[old.index], holder = old.index, fell = false;
        else if (old.index == holder)
            fell = true;
    }
    if (!fell) return;
    most = 0;
    for (std::uint32_t i = 0; i < values.size(); ++i)
        if (values[i] > most) most = values[i], holder = i;
}

double PlacementCost::update(const Placement& at, std::span<const std::uint32_t> positions) {
    if (++stamp_ == 0) {  // after 4 billion moves
        for (auto* stamps : {&pipeline_stamp_, &ring_stamp_, &group_stamp_}) std::fill(stamps->begin(), stamps->end(), 0);
        stamp_ = 1;
    }
    old_pipelines_.clear();
    old_rings_.clear();
    old_groups_.clear();
    old_slowest_pipeline_ = slowest_pipeline_, old_holder_pipeline_ = holder_pipeline_;
    old_slowest_ring_ = slowest_ring_, old_holder_ring_ = holder_ring_;
    for (const std::uint32_t position : positions) {
        for (const std::uint32_t group : groups_of_.of(position)) {
            if (group_stamp_[group] == stamp_) continue;
            group_stamp_[group] = stamp_;
            old_groups_.push_back({group, group_[group]});
            group_[group] = group_seconds_per_byte(at, group);
        }
        for (const std::uint32_t ring : rings_of_.of(position)) {
            if (ring_stamp_[ring] == stamp_) continue;
            ring_stamp_[ring] = stamp_;
            old_rings_.push_back({ring, ring_[ring]});
            ring_[ring] = ring_seconds(at, ring);
        }
    }
    for (const std::uint32_t position : positions) touch_pipelines(at, position);
    for (const Old& old : old_groups_)
        if (group_[old.index] != old.value)
            for (const std::uint32_t position : shape_.groups[old.index].positions) touch_pipelines(at, position);
    settle(pipeline_, old_pipelines_, slowest_pipeline_, holder_pipeline_);
    settle(ring_, old_rings_, slowest_ring_, holder_ring_);
    if (shape_.misfit.empty()) return seconds();
    count_misfits(at, positions);
    return charged();
}

void PlacementCost::undo() {
    for (const Old& old : old_pipelines_) pipeline_[old.index] = old.value;
    for (const Old& old : old_rings_) ring_[old.index] = old.value;
    for (const Old& old : old_groups_) group_[old.index] = old.value;
    slowest_pipeline_ = old_slowest_pipeline_, holder_pipeline_ = old_holder_pipeline_;
    slowest_ring_ = old_slowest_ring_, holder_ring_ = old_holder_ring_;
    if (shape_.misfit.empty()) return;
    for (const Old& old : old_misfit_) misfit_[old.index] = static_cast<std::uint8_t>(old.value);
    misfits_ = old_misfits_;
}

}  // namespace fourfold
