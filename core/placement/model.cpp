// Based on
//   S. Yim et al.: Pipette, DATE 2024, arXiv 2405.18093: critical path and rings over measured links; its objective
//   D. Narayanan et al., arXiv 2104.04473: which ranks form which group (Megatron-LM)
#include "placement/model.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "time/step_time.h"

namespace fourfold {

RankGrid rank_grid(const Plan& plan, bool units_are_gpus) {
    return {plan.gpus, units_are_gpus ? 1 : plan.gpus_per_node, plan.gpus / plan.pipeline_parallel};
}

namespace {

// To 36 binary digits. What went through pow or log2 differs between libraries in the 53rd; then two searches with the same seed would
// part.
double steady(double value) {
    int exponent = 0;
    const double digits = std::frexp(value, &exponent);
    return std::ldexp(std::nearbyint(std::ldexp(digits, 36)), exponent - 36);
}

using Positions = std::vector<std::uint32_t>;

// ---- who talks to whom
void add_pipelines(const Plan& plan, const RankGrid& grid, PlacementShape& shape) {
    shape.stages = static_cast<std::uint32_t>(plan.pipeline_parallel);
    Positions last;
    for (std::int64_t rank = 0; rank < grid.per_stage; ++rank) {
        Positions line;
        for (std::int64_t stage = 0; stage < plan.pipeline_parallel; ++stage) line.push_back(grid.position(stage * grid.per_stage + rank));
        if (line == last) continue;  // ranks of one node take the same way
        shape.pipelines.insert(shape.pipelines.end(), line.begin(), line.end());
        last = std::move(line);
    }
}

void add_rings(const Plan& plan, const RankGrid& grid, std::int64_t stages, PlacementShape& shape) {
    for (std::int64_t stage = 0; stage < stages; ++stage) {
        Positions last;
        for (std::int64_t tensor = 0; tensor < plan.tensor_grid(); ++tensor) {
            Positions ring;
            for (std::int64_t rank = tensor; rank < grid.per_stage; rank += plan.tensor_grid()) {
                const std::uint32_t position = grid.position(stage * grid.per_stage + rank);
                if (ring.empty() || ring.back() != position) ring.push_back(position);
            }
            if (ring.size() < 2 || ring == last) continue;
            shape.rings.push_back({static_cast<std::int32_t>(stage), ring});
            last = std::move(ring);
        }
    }
}

// Tensor-parallel neighbours are next to each other, context-parallel ones TP apart.
void add_groups(const Plan& plan, const RankGrid& grid, PlacementShape& shape) {
    const std::int64_t t = plan.tensor_grid(), size = t * plan.context_parallel;
    for (std::int64_t first = 0; first < plan.gpus; first += size) {
        PlacementGroup group;
        const auto link = [&](std::int64_t from, std::int64_t to) {
            const std::pair<std::uint32_t, std::uint32_t> pair(grid.position(first + from), grid.position(first + to));
            if (pair.first != pair.second && std::find(group.links.begin(), group.links.end(), pair) == group.links.end())
                group.links.push_back(pair);
        };
        for (std::int64_t rank = 0; rank < size; ++rank) {
            link(rank, rank / t * t + (rank + 1) % t);
            link(rank, (rank + t) % size);
            const std::uint32_t position = grid.position(first + rank);
            if (group.positions.empty() || group.positions.back() != position) group.positions.push_back(position);
        }
        if (group.positions.size() > 1) shape.groups.push_back(std::move(group));
    }
}

double slower(const Links& links, std::size_t a, std::size_t b) { return 1 / std::min(links.rate(a, b), links.rate(b, a)); }

void add_links(const Links& links, PlacementShape& shape) {
    const std::size_t n = links.size();
    shape.units = static_cast<std::uint32_t>(n);
    shape.link.assign(n * n, 0);
    for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = 0; b < n; ++b)
            if (a != b) shape.link[a * n + b] = slower(links, a, b);
}

// A plan's times with what was measured: shares of 1, since the rates are what messages reached.
struct MeasuredPlan : TimedPlan<> {
    MeasuredPlan(const Job& job, const Plan& p, const Links& links) : TimedPlan<>(job.timed(p)) {
        timing.pipeline = timing.network = timing.ring_network = 1;
        machine.measured_node = machine.measured_latency = 0;  // the links say more
        if (links.gpus) machine.gpus_per_node = 1;
        time_layers();
    }
    // On a network of this rate.
    TimedPlan<> at(double byte_per_s) const {
        TimedPlan<> other = *this;
        other.machine.node = byte_per_s;
        other.time_layers();
        return other;
    }
};

void add_hops(const Job& job, const Plan& plan, const Links& links, const MeasuredPlan& measured, PlacementShape& shape) {
    if (plan.pipeline_parallel == 1) {
        shape.hop.assign(shape.link.size(), 0);
        return;
    }
    const std::size_t n = links.size();
    const double near = 2 * transfer_seconds_inside(job.model, plan, measured.machine, measured.timing);
    Timing timing = measured.timing;
    Machine machine = measured.machine;
    const auto one_way = [&](std::size_t from, std::size_t to) {
        if (!links.latency_s.empty()) timing.network_latency = links.latency(from, to);
        machine.node = links.rate(from, to);
        return transfer_seconds(job.model, plan, machine, timing);
    };
    shape.hop.assign(n * n, near);
    for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = 0; b < a; ++b) shape.hop[a * n + b] = shape.hop[b * n + a] = one_way(a, b) + one_way(b, a);
}

// The data traffic of the step time, for every stage. Copies of shards (HSDP), and those that hold the same experts, are parts of one ring
// here: its slowest link counts for all that they send.
void add_data(const Job& job, const Plan& p, const MeasuredPlan& measured, const LayerTimes& layers, const StepTime<double>& step,
              PlacementShape& shape) {
    const Stages stages(job.model, p);
    const Cost<double> cost(measured.machine, measured.timing);
    const DataTraffic<double> data(p, measured.machine, cost);
    for (std::int32_t stage = 0; stage < p.pipeline_parallel; ++stage) {
        const HeldWeights<double> held = stage_weights(job.model, p, measured.machine, measured.timing, layers, stages.at_rest(stage));
        std::vector<DataLeg> legs;
        for (const DataMessages& sent : data_messages(p)) {
            if (sent.reductions + sent.gatherings == 0) continue;
            DataLeg leg{.hides = sent.overlaps ? steady(sent.in_forward ? step.forward : step.backward) : 0,
                        .exposed = measured.timing.data_exposed,
                        .extra = sent.has_last_bucket ? kLastBucket.value : 0,
                        .times = times(sent.when, number(p.units()))};
            const auto flows = data.flows(sent, held);
            double fixed = flows[0].across > 0 ? bucket_seconds(cost, sent, held.parameters) : 0;
            for (std::size_t i = 0; i < flows.size(); ++i) {
                leg.flows[i] = {flows[i].inside, flows[i].across};
                fixed += flows[i].fixed + flows[i].before;
            }
            leg.fixed = steady(fixed);
            legs.push_back(leg);
        }
        shape.data.push_back(std::move(legs));
    }
}

// Where every tensor has a collective of its own: latencies that no link changes (step_time.cpp). Of a step.
double one_after_the_other(const TimedPlan<>& like, const Plan& plan) {
    const double latency = like.timing.shard_latency;
    if (latency == 0 || !plan.shards_optimizer()) return 0;
    const Cost<double> cost(like.machine, like.timing);
    const double sharers = DataTraffic<double>(plan, like.machine, cost).sharers();
    const Pace pace = pace_of(like.model, plan, like.machine, like.timing, like.layers, Stages(like.model, plan), false);
    return sharers > 1 ? latency * pace.slowest.layers() * sharers * (plan.zero == Zero::weights ? number(plan.units()) : 1) : 0;
}

// Of a micro-batch at each stage of `plan`, which differs from the timed one in its layers per stage at most.
std::vector<double> stage_seconds_of(const TimedPlan<>& like, const Plan& plan) {
    return pace_of(like.model, plan, like.machine, like.timing, like.layers, Stages(like.model, plan), true).stage_seconds;
}

double slowest(const StepTime<double>& step) { return *std::max_element(step.stage_seconds.begin(), step.stage_seconds.end()); }

// At which seconds per byte a group's work is worked out: between the fastest and the slowest link, evenly in the logarithm.
std::vector<double> sample_points(const PlacementShape& shape) {
    constexpr int kPoints = 33;
    double least = INFINITY, most = 0;
    for (std::size_t i = 0; i < shape.link.size(); ++i)
        if (shape.link[i] > 0) least = std::min(least, shape.link[i]), most = std::max(most, shape.link[i]);
    std::vector<double> points = {least};
    for (int i = 1; i < kPoints; ++i)
        if (const double x = i + 1 == kPoints ? most : steady(least * std::pow(most / least, i / (kPoints - 1.0)));
            x > points.back() * (1 + 1e-12))
            points.push_back(x);
    return points;
}

double median_rate(const Links& links) {
    std::vector<double> rates;
    rates.reserve(links.byte_per_s.size());
    for (std::size_t a = 0; a < links.size(); ++a)
        for (std::size_t b = 0; b < links.size(); ++b)
            if (a != b) rates.push_back(links.rate(a, b));
    std::nth_element(rates.begin(), rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2), rates.end());
    return rates[rates.size() / 2];
}

}  // namespace

PlacementShape step_time_shape(const Job& job, const Plan& given, const Links& links, const UnitSpeeds& speeds) {
    PlacementShape shape;
    Plan plan = given;
    plan.time_factor = 1;
    const RankGrid grid = rank_grid(plan, links.gpus);
    shape.positions = static_cast<std::uint32_t>(grid.positions());
    add_links(links, shape);
    add_pipelines(plan, grid, shape);
    add_rings(plan, grid, plan.pipeline_parallel, shape);
    add_groups(plan, grid, shape);
    const MeasuredPlan measured(job, plan, links);
    add_hops(job, plan, links, measured, shape);
    const auto at_rate = [&](double byte_per_s) {
        const TimedPlan<> timed = measured.at(byte_per_s);
        StepTime<double> step = timed.step();
        step.stage_seconds = stage_seconds_of(timed, plan);
        return step;
    };
    const double rate = median_rate(links);
    const StepTime<double> step = at_rate(rate);
    const TimedPlan<> timed = measured.at(rate);
    add_data(job, plan, measured, timed.layers, step, shape);
    const PipelineWeights weights = pipeline_weights(plan);
    shape.sum_hops = weights.sum_transfers, shape.most_hops = weights.most_transfers, shape.closed = weights.closed;
    shape.sum_work = weights.sum_work, shape.most_work = weights.most_work;
    // ---- what no placement changes
    const auto item = [&](TimeItem i) { return step.items[static_cast<std::size_t>(i)]; };
    if (goes_one_way_first(plan))  // how often the longest stage of each way sends
        shape.most_hops = item(TimeItem::pipeline_traffic) / (2 * transfer_seconds(job.model, plan, timed.machine, timed.timing)) -
                          number(plan.pipeline_parallel - 1);
    const double nodes = number(plan.gpus) / number(measured.machine.gpus_per_node);
    const double lag = nodes > 1 ? measured.timing.straggler * std::log2(nodes) : 0;
    shape.times = (1 + lag) * given.time_factor;
    shape.rest = step.seconds / (1 + lag) - item(TimeItem::pipeline_traffic);
    if (!shape.rings.empty())
        shape.rest -= item(TimeItem::data_traffic) + item(TimeItem::weight_traffic) - one_after_the_other(timed, plan);
    if (!shape.groups.empty() || !speeds.empty()) {
        shape.speed = speeds;
        if (!shape.groups.empty()) shape.group_x = sample_points(shape);
        const std::size_t points = std::max<std::size_t>(1, shape.group_x.size()), stages = step.stage_seconds.size();
        shape.work.resize(stages * points);
        for (std::size_t i = 0; i < points; ++i) {
            const auto work = shape.group_x.empty() ? step.stage_seconds : at_rate(1 / shape.group_x[i]).stage_seconds;
            for (std::size_t stage = 0; stage < stages; ++stage) shape.work[stage * points + i] = steady(work[stage]);
        }
        double sum = 0;
        for (const double seconds : step.stage_seconds) sum += seconds;
        shape.rest -= shape.sum_work * sum + shape.most_work * slowest(step);
    }
    shape.rest = steady(shape.rest);
    shape.times = steady(shape.times);
    return shape;
}

StageWork::StageWork(const Job& job, const Plan& plan, const Links& links) : like_(MeasuredPlan(job, plan, links).at(median_rate(links))) {}
std::vector<double> StageWork::seconds(const Plan& plan) const { return stage_seconds_of(like_, plan); }

PlacementShape pipette_shape(const Job& job, const Plan& plan, const Links& links) {
    PlacementShape shape;
    const RankGrid grid = rank_grid(plan, links.gpus);
    shape.positions = static_cast<std::uint32_t>(grid.positions());
    add_pipelines(plan, grid, shape);
    add_rings(plan, grid, 1, shape);
    const MeasuredPlan measured(job, plan, links);
    const double parameters =
        stage_weights(job.model, plan, measured.machine, measured.timing, measured.layers, Stages(job.model, plan).at_rest(0)).parameters;
    const double tokens = number(plan.sequence_length * plan.micro_batch) / number(plan.context_parallel);
    const double hand_over =
        2 * tokens * number(job.model.hidden) / number(plan.tensor_grid()) * number(std::min(grid.ranks_per_unit, grid.per_stage));
    const DataCollective all = data_collective_parts(plan, measured.machine, measured.timing, gradient_bytes(plan) * parameters);
    const double inside_rate = measured.machine.link;
    const std::size_t n = links.size();
    add_links(links, shape);
    shape.hop.assign(n * n, 2 * hand_over / inside_rate);
    for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = 0; b < n; ++b) {
            if (a == b) continue;
            shape.hop[a * n + b] = 2 * hand_over / links.rate(a, b);
            shape.link[a * n + b] = 1 / links.rate(a, b);
        }
    // an all-reduce moves everything twice; inside a unit at the link's own rate
    shape.data.assign(shape.stages, {});
    shape.data[0] = {DataLeg{.flows = {{{0, 2 * all.across}}}}};
    shape.rest = 2 * all.inside_bytes / inside_rate;
    return shape;
}

PlacementShape pipette_shape(const PipetteNumbers& p, const Links& links) {
    PlacementShape shape;
    shape.positions = static_cast<std::uint32_t>(p.pipelines * p.stages);
    shape.stages = static_cast<std::uint32_t>(p.stages);
    for (std::uint32_t i = 0; i < shape.positions; ++i) shape.pipelines.push_back(i);
    PlacementRing ring;
    for (std::int64_t r = 0; r < p.pipelines; ++r) ring.positions.push_back(static_cast<std::uint32_t>(r * p.stages));
    if (ring.positions.size() > 1) shape.rings.push_back(std::move(ring));
    add_links(links, shape);
    const std::size_t n = links.size();
    shape.hop.assign(n * n, 0);
    for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = 0; b < n; ++b) {
            if (a == b) continue;
            shape.hop[a * n + b] = 2 * p.hand_over_bytes / links.rate(a, b);
            shape.link[a * n + b] = 1 / links.rate(a, b);
        }
    shape.data.assign(shape.stages, {});
    shape.data[0] = {DataLeg{.flows = {{{0, 2 * (number(p.inter_dp) - 1) / number(p.inter_dp) * p.data_bytes}}}}};
    if (p.inner_dp > 1) shape.rest = 2 * (number(p.inner_dp) - 1) / number(p.inner_dp) * p.data_bytes / p.inside_byte_per_s;
    return shape;
}

}  // namespace fourfold
