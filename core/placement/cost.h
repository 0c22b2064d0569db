// What a placement costs: seconds of the parts of a step that depend on which unit (node or GPU) stands where, with updates that
// evaluate only what a move touches.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace fourfold {

// A placement: unit at position k; units from shape.positions on are spare.
using Placement = std::vector<std::uint32_t>;

// Traffic of one kind between copies of the model: of each flow max(inside, across * x) seconds, one after the other, and fixed ones, x =
// seconds per byte of the slowest link of the ring; of these, up to `hides` run under other work and are felt to the share `exposed`;
// `extra` more of all of them.
struct DataLeg {
    struct Flow {
        double inside = 0, across = 0;
    };
    std::array<Flow, 4> flows{};
    double fixed = 0, hides = 0, exposed = 1, extra = 0, times = 1;
    double seconds(double x) const {
        double all = fixed;
        for (const Flow& flow : flows) all += flow.across * x > flow.inside ? flow.across * x : flow.inside;
        const double hidden = all < hides ? all : hides;
        const double left = all - hidden + exposed * hidden + extra * all;
        return times * (left < all ? left : all);
    }
};

struct PlacementRing {
    std::int32_t stage = 0;
    std::vector<std::uint32_t> positions;  // in the order of the ranks; the last sends to the first
};

// Groups of units among which tensor- or context-parallel traffic flows inside a layer: pairs of positions.
struct PlacementGroup {
    std::vector<std::uint32_t> positions;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> links;
};

// Everything a cost needs; positions and units are counted from 0.
struct PlacementShape {
    std::uint32_t positions = 0, units = 0, stages = 1;
    std::vector<std::uint32_t> pipelines;  // pipelines * stages positions, stage by stage; equal neighbours: inside a unit
    bool closed = false;                   // the last stage also sends to the first (interleaved schedule)
    std::vector<PlacementRing> rings;
    std::vector<PlacementGroup> groups;

    std::vector<double> hop;             // units * units: seconds of a hand-over there and back; on the diagonal inside a unit
    std::vector<double> link;            // units * units: seconds per byte of the slower direction
    double sum_hops = 1, most_hops = 0;  // a pipeline's seconds: sum_hops * (sum of its hops) + most_hops * (its slowest hop)

    std::vector<std::vector<DataLeg>> data;  // per stage
    // Work, where it depends on the units; empty where it does not: then it is in `rest`.
    std::vector<double> speed;           // per unit, 1 = as the profile says
    std::vector<double> group_x;         // increasing seconds per byte of a group's slowest link, at which the work is known
    std::vector<double> work;            // stage by stage, one per group_x (one where that is empty): seconds of a micro-batch
    double sum_work = 0, most_work = 0;  // as sum_hops and most_hops
    double rest = 0, times = 1;          // whole = (rest + slowest pipeline + slowest ring) * times

    // units * positions: 1 where the unit's memory does not hold what stands there. Empty: every unit fits everywhere.
    std::vector<std::uint8_t> misfit;
};

class PlacementCost {
 public:
    explicit PlacementCost(const PlacementShape& shape);  // keeps a reference
    // Evaluates everything.
    double reset(const Placement& placement);
    // Units that have too little memory where they stand. What reset() and update() return is the time with a charge for each of them that
    // no gain in time outweighs.
    std::int64_t misfits() const { return misfits_; }
    double charged() const { return misfits_ == 0 ? seconds() : seconds() + static_cast<double>(misfits_) * charge_; }
    double seconds() const { return (shape_.rest + slowest_pipeline_ + slowest_ring_) * shape_.times; }
    // After `placement` changed at these positions: the new charged seconds. Either the caller keeps it, or it restores these positions and
    // calls undo().
    double update(const Placement& placement, std::span<const std::uint32_t> positions);
    void undo();

    double pipeline_seconds(const Placement& placement, std::size_t pipeline) const;
    double ring_seconds(const Placement& placement, std::size_t ring) const;
    std::size_t pipelines() const { return pipeline_.size(); }
    std::size_t rings() const { return ring_.size(); }
    const std::vector<double>& pipeline_values() const { return pipeline_; }
    const std::vector<double>& ring_values() const { return ring_; }

 private:
    struct Old {
        std::uint32_t index;
        double value;
    };
    // Which pipelines, rings and groups a position is part of: lists side by side.
    struct Members {
        std::vector<std::uint32_t> start, list;
        std::span<const std::uint32_t> of(std::uint32_t position) const {
            return {list.data() + start[position], list.data() + start[position + 1]};
        }
    };
    void invert();
    double group_seconds_per_byte(const Placement& placement, std::size_t group) const;
    double work(const Placement& placement, std::uint32_t position, std::size_t stage) const;
    void count_misfits(const Placement& placement, std::span<const std::uint32_t> positions);
    void touch_pipelines(const Placement& placement, std::uint32_t position);
    static void settle(const std::vector<double>& values, const std::vector<Old>& changed, double& most, std::uint32_t& holder);

    const PlacementShape& shape_;
    std::size_t units_, stages_;
    bool works_;
    std::vector<double> pipeline_, ring_, group_;
    std::vector<std::uint32_t> ring_start_, ring_list_;
    Members pipelines_of_, rings_of_, groups_of_;
    std::vector<std::uint32_t> pipeline_stamp_, ring_stamp_, group_stamp_;
    std::uint32_t stamp_ = 0;
    std::vector<Old> old_pipelines_, old_rings_, old_groups_;
    double slowest_pipeline_ = 0, slowest_ring_ = 0, old_slowest_pipeline_ = 0, old_slowest_ring_ = 0;
    std::uint32_t holder_pipeline_ = 0, holder_ring_ = 0, old_holder_pipeline_ = 0, old_holder_ring_ = 0;
    std::vector<std::uint8_t> misfit_;  // by position
    std::vector<Old> old_misfit_;
    std::int64_t misfits_ = 0, old_misfits_ = 0;
    double charge_ = 0;
};

}  // namespace fourfold
