// What a stage holds at once: counted along its list of operations, in closed form, and as the formulas that the page shows. Based on
//   D. Narayanan et al., arXiv 2104.04473, section 2.2: micro-batches in flight of 1F1B, interleaved or not
//   Y. Huang et al.: GPipe, arXiv 1811.06965
// Other schedules, and chunks of a stage that differ, have no closed form here: they are counted.
#include "plan/in_flight.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace fourfold {

// ---- closed forms: micro-batches that stage i of p holds, each of its chunks counted as one
namespace closed_form {

template <class N>
static N until_the_end(const PlaceOf<N>& at) {
    using std::min;
    return min(at.p - at.i, at.m);
}
// Interleaved: so many forwards come before the first backward pass.
template <class N>
static N first_forwards(const PlaceOf<N>& at) {
    using std::min;
    N first = 2 * (at.p - at.i - 1) + (at.V - 1) * at.g + 1;
    add(first, at.e);
    return min(first, at.m * at.V);
}

Traced all(const PlaceOf<Traced>& place) { return place.m; }
Traced stages_to_the_end(const PlaceOf<Traced>& place) { return until_the_end(place); }
Traced in_turns(const PlaceOf<Traced>& place) { return first_forwards(place); }

void all(const ScheduleShape& shape, std::int32_t, std::span<std::int32_t> counts) { counts[0] = shape.micro_batches; }

void stages_to_the_end(const ScheduleShape& shape, std::int32_t stage, std::span<std::int32_t> counts) {
    counts[0] = until_the_end(PlaceOf<std::int32_t>{shape.stages, stage, shape.micro_batches, 1, 1, 0});
}

void in_turns(const ScheduleShape& shape, std::int32_t stage, std::span<std::int32_t> counts) {
    const Turns turns(shape.stages, shape.chunks, shape.micro_batches, stage, shape.group, shape.early);
    for (std::int32_t chunk = 0; chunk < shape.chunks; ++chunk) counts[static_cast<std::size_t>(chunk)] = turns.alive_at_first(chunk);
}

}  // namespace closed_form

// ---- counts
// More micro-batches only repeat the same moments.
static std::int32_t most_that_differ(ScheduleKind kind, std::int32_t stages) {
    const std::int32_t most = 3 * stages + 3, by = row_of(kind).batches_by;
    return (most + by - 1) / by * by;
}

std::vector<InFlight> fullest_moments(ScheduleKind kind, std::int32_t stages, std::int32_t chunks, std::int32_t micro_batches,
                                      std::int32_t stage) {
    const ScheduleRow& row = row_of(kind);
    Schedule schedule{stages, chunks, std::min(micro_batches, most_that_differ(kind, stages)), row.splits_backward, stages, row.route, {}};
    schedule.ops.resize(static_cast<std::size_t>(stages));
    row.generate(schedule, stage, schedule.ops[static_cast<std::size_t>(stage)]);
    const auto nowhere_more = [](const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
        for (std::size_t i = 0; i < a.size(); ++i)
            if (a[i] > b[i]) return false;
        return true;
    };
    const auto within = [&](const InFlight& a, const InFlight& b) {
        return nowhere_more(a.until_backward, b.until_backward) && nowhere_more(a.until_weight, b.until_weight);
    };
    std::vector<InFlight> moments;
    constexpr std::int32_t kMostCompared = 128;  // stages; longer pipelines exist on paper alone: their two extreme moments do
    if (stages > kMostCompared) {
        moments.resize(2, InFlight{std::vector<std::int32_t>(static_cast<std::size_t>(chunks)),
                                   std::vector<std::int32_t>(static_cast<std::size_t>(chunks))});
        const auto more = [](const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
            return std::accumulate(a.begin(), a.end(), 0) - std::accumulate(b.begin(), b.end(), 0);
        };
        count_in_flight(schedule, stage, [&](std::size_t, const InFlight& now) {
            const std::int32_t alive[] = {more(now.until_backward, moments[0].until_backward),
                                          more(now.until_backward, moments[1].until_backward)};
            const std::int32_t waiting[] = {more(now.until_weight, moments[0].until_weight),
                                            more(now.until_weight, moments[1].until_weight)};
            if (alive[0] > 0 || (alive[0] == 0 && waiting[0] > 0)) moments[0] = now;
            if (waiting[1] > 0 || (waiting[1] == 0 && alive[1] > 0)) moments[1] = now;
        });
        return moments;
    }
    count_in_flight(schedule, stage, [&](std::size_t, const InFlight& now) {
        for (const InFlight& known : moments)
            if (within(now, known)) return;
        std::size_t kept = 0;
        for (std::size_t i = 0; i < moments.size(); ++i)
            if (!within(moments[i], now)) std::swap(moments[kept++], moments[i]);
        moments.resize(kept);
        moments.push_back(now);
    });
    return moments;
}

std::int32_t most_in_flight(const Schedule& schedule, std::int32_t stage) {
    std::int32_t most = 0;
    count_in_flight(schedule, stage, [&](std::size_t, const InFlight& now) {
        std::int32_t sum = 0;
        for (const std::int32_t count : now.until_backward) sum += count;
        most = std::max(most, sum);
    });
    return most;
}

Turns::Turns(std::int32_t stages, std::int32_t chunks, std::int32_t micro_batches, std::int32_t stage, std::int32_t group,
             std::int32_t early)
    : chunks_(chunks),
      group_(group == 0 ? stages : group),
      all_(std::int64_t{micro_batches} * chunks),
      ahead_(closed_form::first_forwards(PlaceOf<std::int64_t>{stages, stage, micro_batches, chunks_, group_, early})),
      whole_(micro_batches / group_ * group_),
      last_size_(micro_batches % group_) {}

std::int64_t Turns::done(std::int64_t passes, std::int64_t turn) const {
    if (passes <= 0) return 0;
    const std::int64_t first = std::min(passes / (group_ * chunks_) * group_, whole_), size = first < whole_ ? group_ : last_size_;
    return first + std::clamp<std::int64_t>(passes - first * chunks_ - turn * size, 0, size);
}

std::int64_t Turns::turn_of(std::int64_t pass) const {
    const std::int64_t last = pass - whole_ * chunks_;
    return last < 0 ? pass / group_ % chunks_ : last / last_size_;
}

std::int64_t Turns::end_of(std::int64_t pass) const {
    const std::int64_t last = pass - whole_ * chunks_;
    return last < 0 ? (pass / group_ + 1) * group_ : whole_ * chunks_ + (last / last_size_ + 1) * last_size_;
}

const std::vector<InFlight>& KnownMoments::of(ScheduleKind kind, std::int32_t stages, std::int32_t chunks, std::int32_t micro_batches,
                                              std::int32_t stage) {
    constexpr std::size_t kPlaces = 1'024;
    if (known_.empty()) known_.resize(kPlaces);
    const std::int32_t enough = std::min(micro_batches, most_that_differ(kind, stages));
    Known& known = known_[static_cast<std::size_t>(stage + 131 * stages + 29 * enough + 13 * static_cast<std::int32_t>(kind)) % kPlaces];
    if (known.kind != kind || known.stages != stages || known.chunks != chunks || known.micro_batches != enough || known.stage != stage)
        known = {kind, stages, chunks, enough, stage, fullest_moments(kind, stages, chunks, enough, stage)};
    return known.moments;
}

// ---- formulas
namespace {

constexpr Part kDenseLayer{"d", "dense_layer"}, kExpertLayer{"e", "expert_layer"};

Traced traced_number(const char* letter, const char* meaning, const char* unit, double value) {
    return Traced::symbol({letter, meaning, unit}, value);
}
Traced traced_number(const char* letter, const char* meaning, const char* unit, std::int64_t value) {
    return traced_number(letter, meaning, unit, static_cast<double>(value));
}
double sum_of(const std::vector<std::int32_t>& counts) { return std::accumulate(counts.begin(), counts.end(), 0.0); }

// A formula that does not give what was counted is not shown.
Traced agreed(const Symbol& symbol, const Traced& formula, double known) {
    return formula.value() == known ? Traced::named(symbol, formula) : Traced::symbol(symbol, known);
}

}  // namespace

Alive<Traced>::Alive(const Model& model, const Plan& plan, const Stage& stage)
    : plan_(plan), stage_(stage), in_chunks_(plan.pieces_per_stage() > 1) {
    if (stage.moment < 0) return;
    const Stages stages(model, plan);
    counts_ = stages.in_flight(stage);
    for (std::int32_t chunk = 0; chunk < static_cast<std::int32_t>(plan.pieces_per_stage()); ++chunk)
        pieces_.push_back(stages.piece(stages.position(stage.index, chunk)));
    in_flight_ = in_flight();
    waiting_ = traced_number("A_w", "waiting_in_flight", "", sum_of(counts_.until_weight));
}

Traced Alive<Traced>::in_flight() const {
    if (stage_.slices > 0) {  // not whole ones: slices differ in length
        const double tokens = std::round(stage_.slices * stage_.longest_slice);
        return Traced::named({"A", "slices_in_flight", ""}, traced_number("s_A", "tokens_in_flight", "tokens", tokens) /
                                                                traced_number("l_1", "longest_slice", "tokens", stage_.longest_slice));
    }
    const double counted = sum_of(counts_.until_backward);
    if (const InFlightFormula form = row_of(plan_.running_schedule()).in_flight_formula; form != nullptr) {
        const Traced formula = form({traced_number("p", "pipeline_parallel", "stages", plan_.pipeline_parallel),
                                     traced_number("i", "stage_index", "", std::int64_t{stage_.index}),
                                     traced_number("m", "micro_batches", "", plan_.micro_batches()),
                                     traced_number("V", "virtual_stages", "", plan_.virtual_stages),
                                     traced_number("g_m", "group_size", "", plan_.group_of_micro_batches()),
                                     traced_number("e_f", "early_forwards", "", std::int64_t{plan_.early_forwards()})});
        if (formula.value() == counted) return Traced::named({"A", in_chunks_ ? "in_flight_chunks" : "in_flight", ""}, formula);
    }
    return traced_number("A", "in_flight_counted", "", counted);
}

// The sum over the chunks of what each holds times its micro-batches; `held` is what one holds, where all hold as much.
Traced Alive<Traced>::times(const Symbol& sum, double known, Held of_piece, const std::vector<std::int32_t>& counts, const Traced& held,
                            const Traced& micro_batches) const {
    std::vector<std::pair<double, double>> terms;  // what a chunk holds; micro-batches of the chunks that hold as much
    for (std::size_t chunk = 0; chunk < pieces_.size(); ++chunk) {
        const double one = of_piece(pieces_[chunk]);
        auto term = std::find_if(terms.begin(), terms.end(), [&](const auto& other) { return other.first == one; });
        if (term == terms.end()) term = terms.insert(term, {one, 0});
        term->second += counts[chunk];
    }
    if (terms.size() == 1) return agreed(sum, held * micro_batches, known);
    Traced formula = 0.0;
    for (const auto& [one, count] : terms)
        if (one > 0 && count > 0) formula = formula.value() > 0 ? formula + Traced(one) * count : Traced(one) * count;
    return agreed(sum, formula, known);
}

// Layers of a kind, that keep their activations or that wait, in the chunks of which each holds `of_piece`.
Traced Alive<Traced>::alive_in(const Symbol& sum, const Part* kind, double known, Held of_piece) const {
    if (pieces_.empty()) return Traced::symbol(sum, known);
    const Traced held = Traced::symbol({"n_l", in_chunks_ ? "kept_layers_chunk" : "kept_layers", "", kind}, of_piece(pieces_.front()));
    return times(sum, known, of_piece, counts_.until_backward, held, in_flight_);
}
Traced Alive<Traced>::waiting_in(const Symbol& sum, const Part* kind, double known, Held of_piece) const {
    if (pieces_.empty()) return Traced::symbol(sum, known);
    const Traced held = Traced::symbol({"n_h", in_chunks_ ? "chunk_layers" : "stage_layers", "", kind}, of_piece(pieces_.front()));
    return times(sum, known, of_piece, counts_.until_weight, held, waiting_);
}

Traced Alive<Traced>::layers() const {
    return alive_in({"K", "alive_layers", ""}, nullptr, stage_.dense.alive + stage_.experts.alive,
                    [](const Stage& piece) { return piece.dense.alive + piece.experts.alive; });
}
Traced Alive<Traced>::dense_layers() const {
    return alive_in({"K_d", "alive_dense_layers", ""}, &kDenseLayer, stage_.dense.alive,
                    [](const Stage& piece) { return piece.dense.alive; });
}
Traced Alive<Traced>::expert_layers() const {
    return alive_in({"K_e", "alive_expert_layers", ""}, &kExpertLayer, stage_.experts.alive,
                    [](const Stage& piece) { return piece.experts.alive; });
}
Traced Alive<Traced>::waiting() const {
    return waiting_in({"W", "waiting_layers", ""}, nullptr, stage_.dense.waiting + stage_.experts.waiting,
                      [](const Stage& piece) { return piece.layers(); });
}
Traced Alive<Traced>::waiting_dense_layers() const {
    return waiting_in({"W_d", "waiting_dense_layers", ""}, &kDenseLayer, stage_.dense.waiting,
                      [](const Stage& piece) { return piece.dense.held; });
}
Traced Alive<Traced>::waiting_expert_layers() const {
    return waiting_in({"W_e", "waiting_expert_layers", ""}, &kExpertLayer, stage_.experts.waiting,
                      [](const Stage& piece) { return piece.experts.held; });
}
Traced Alive<Traced>::checkpoints() const {
    const Symbol sum{"Q", "checkpoints", ""};
    if (pieces_.empty()) return Traced::symbol(sum, stage_.checkpoints);
    const Stage& piece = pieces_.front();
    Traced held = traced_number("n_r", in_chunks_ ? "recomputed_layers_chunk" : "recomputed_layers", "",
                                piece.dense.recomputed + piece.experts.recomputed);
    if (plan_.recompute == Recompute::full && plan_.recompute_layers > 1)
        held = ceil(held / traced_number("r", "unit_layers", "", plan_.recompute_layers));
    return times(
        sum, stage_.checkpoints, [](const Stage& one) { return one.checkpoints; }, counts_.until_backward, held, in_flight_);
}
// Other stages hold no embedding.
Traced Alive<Traced>::first_chunk() const {
    return stage_.has_embedding && pieces_.size() == 1 ? in_flight_ : traced_number("F", "first_chunk_in_flight", "", stage_.first_chunk);
}

}  // namespace fourfold
