// A pipeline schedule is, per stage, an ordered list of operations. Everything else is read off it: how many micro-batches a stage holds at
// once by counting along the list, step time and bubble by playing it. Closed forms from papers are tests (tests/plan/schedule_test.cpp).
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace fourfold {

class Traced;  // base/formula.h

enum class OpKind : std::uint8_t {
    forward,   // F
    backward,  // B: gradient of the activations; in schedules that do not split the backward pass, of the weights too
    weight     // W: gradient of the weights
};

struct Op {
    OpKind kind;
    std::int32_t micro_batch;  // 0 … micro_batches-1
    std::int16_t chunk;        // which of the stage's pieces of the model, 0 … chunks-1
    // Runs as one with the operation before it: both start when the data of both are there, and their results leave together. F with B and
    // W joined is an overlapped pair; B with W joined is a backward pass that is not split.
    bool joined = false;
    bool operator==(const Op&) const = default;
};

// A request names one of the first kChosenSchedules; "1f1b" with several chunks is the interleaved one (ScheduleRow::with_chunks).
enum class ScheduleKind : std::uint8_t { one_f_one_b, gpipe, zero_bubble_h1, zero_bubble_v, dualpipe, dualpipe_v, interleaved, count };
inline constexpr auto kChosenSchedules = static_cast<std::int32_t>(ScheduleKind::interleaved),
                      kScheduleKinds = static_cast<std::int32_t>(ScheduleKind::count);
inline constexpr ScheduleKind kUsualSchedule = ScheduleKind::one_f_one_b;  // where a request says nothing
inline constexpr ScheduleKind kAlone = ScheduleKind::one_f_one_b;          // a stage alone works on F and B in turns

// How a micro-batch passes through the stages.
enum class Route : std::uint8_t {
    straight,  // from the first stage to the last, then through the next chunk from the first again
    v_shaped,  // every second chunk backwards, so that the last piece of the model lies on the first stage
    two_ways   // half of the micro-batches from the first stage to the last, the other half from the last to the first, each half through a
               // copy of the model of its own: chunk 0 and chunk 1
};
// Where in the model the piece (stage, chunk) lies: 0 is the embedding's.
constexpr std::int32_t position_of(Route route, std::int32_t stages, std::int32_t stage, std::int32_t chunk) {
    if (route == Route::straight || chunk % 2 == 0) return route == Route::two_ways ? stage : chunk * stages + stage;
    return route == Route::two_ways ? stages - 1 - stage : (chunk + 1) * stages - 1 - stage;
}

struct Schedule {
    std::int32_t stages = 1;         // p
    std::int32_t chunks = 1;         // pieces of the model per stage
    std::int32_t micro_batches = 1;  // m
    bool splits_backward = false;    // B and W are operations of their own
    std::int32_t group = 1;          // where chunks take turns: micro-batches that pass through a chunk in a row
    Route route = Route::straight;
    std::vector<std::vector<Op>> ops;
    std::int32_t slices = 1;  // of every micro-batch: `micro_batches` and Op::micro_batch count slices then (token_slices.h)
    // Where chunks take turns: forwards before the first backward pass besides the usual ones. One where a forward's tokens travel beneath
    // the backward pass of another micro-batch (Megatron-Core, core/pipeline_parallel/schedules.py: overlap_moe_expert_parallel_comm).
    std::int32_t early = 0;

    std::int32_t position(std::int32_t stage, std::int32_t chunk) const { return position_of(route, stages, stage, chunk); }
    // Into how many pieces the model is cut; the last one is the head's.
    std::int32_t pieces() const { return route == Route::two_ways ? stages : stages * chunks; }
};

// Bits of ScheduleRow::libraries.
enum ScheduleLibrary : std::uint8_t { kMegatronCore = 1, kPyTorch = 2, kDeepSpeed = 4, kNanotron = 8 };

// When a search that may choose the schedule tries it, in frameworks that have it.
enum class Tried : std::uint8_t { never, always, as_zero_bubble };

// Most micro-batches that a stage holds at once, per chunk, without building a schedule: the search's short cut. `counts` has one place
// per chunk; `group`: 0 = as many as there are stages.
struct ScheduleShape {
    std::int32_t stages, chunks, micro_batches, group;
    std::int32_t early = 0;  // see Schedule
};
using InFlightForm = void (*)(const ScheduleShape& shape, std::int32_t stage, std::span<std::int32_t> counts);
// The same, summed over the chunks, as the formula that the page shows: for stage i of p, with m micro-batches and V chunks that take turns
// after g micro-batches and, where one passes ahead of its turn, e = 1.
template <class N>
struct PlaceOf {
    N p, i, m, V, g, e;
};
using InFlightFormula = Traced (*)(const PlaceOf<Traced>& place);

// One row per schedule, in the order of the enum; a new one is one generator and one row. Everything else asks the row.
struct ScheduleRow {
    std::string_view id;
    std::string_view source;  // its paper
    void (*generate)(const Schedule& schedule, std::int32_t stage, std::vector<Op>& ops);
    InFlightForm in_flight = nullptr;                        // nullptr: counted along the list alone
    InFlightFormula in_flight_formula = nullptr;             // both or neither
    std::optional<ScheduleKind> with_chunks = std::nullopt;  // what it becomes with several chunks per GPU, where that is another schedule
    Tried tried = Tried::as_zero_bubble;
    Route route = Route::straight;
    std::int32_t chunks = 1;       // Plan::virtual_stages that it takes; 0 = any
    std::int32_t copies = 1;       // of the weights: a stage holds copies * virtual_stages pieces
    bool splits_backward = false;  // B and W are operations of their own
    bool overlaps = false;         // F of one micro-batch and B of another run as a pair, traffic of one under the work of the other
    bool played = false;           // its step time has no closed form
    bool keeps_all = false;        // every micro-batch until the last forward pass is done
    bool slices = false;           // micro-batches may be cut into slices of tokens
    bool turns = false;            // its chunks take turns in groups of micro-batches, as many as there are stages or more
    std::int32_t fewest_each = 0;  // micro-batches per stage that it needs
    std::int32_t stages_by = 1;    // the stages are a multiple of this
    std::int32_t batches_by = 1;   // the micro-batches are a multiple of this
    std::int32_t drawn_each = 3, drawn_more = 0;  // micro-batches that show how it goes on: so many per stage, and so many more
    std::uint8_t libraries = 0;                   // which have it, ScheduleLibrary; 0 = the code of its authors alone

    // Every such number of micro-batches is possible; where chunks take turns, others may be.
    constexpr std::int64_t multiple(std::int64_t stages) const { return turns ? stages : batches_by; }
    // Whether it can work on so many. In turns a group, and what is left after whole groups, is not smaller than the stages.
    constexpr bool takes(std::int64_t stages, std::int64_t micro_batches, std::int64_t group) const {
        if (!turns) return micro_batches % batches_by == 0 && micro_batches >= fewest_each * stages;
        const std::int64_t rest = micro_batches % group;
        return group >= stages && micro_batches >= group && (rest == 0 || rest >= stages);
    }
    constexpr std::int64_t drawn(std::int64_t stages) const { return drawn_each * stages + drawn_more; }
    // Operations of all stages for one micro-batch; `pieces` per stage.
    constexpr std::int64_t operations(std::int64_t stages, std::int64_t pieces) const {
        return stages * pieces / copies * (splits_backward ? 3 : 2);
    }
};
extern const std::array<ScheduleRow, kScheduleKinds> kScheduleRows;
inline const ScheduleRow& row_of(ScheduleKind kind) { return kScheduleRows[static_cast<std::size_t>(kind)]; }

// Whether there is such a schedule. `chunks` are a stage's pieces of the model; `group`, where they take turns: micro-batches that pass
// through a chunk in a row, 0 = as many as there are stages.
bool schedule_exists(ScheduleKind kind, std::int64_t stages, std::int64_t chunks, std::int64_t micro_batches, std::int64_t group = 0);

// The operations of every stage; the caller has asked schedule_exists. O(p*V*m) time and memory.
Schedule make_schedule(ScheduleKind kind, std::int32_t stages, std::int32_t chunks, std::int32_t micro_batches, std::int32_t group = 0,
                       std::int32_t slices = 1, std::int32_t early = 0);

// ---- counting
// What a stage holds, per chunk: micro-batches whose forward has run and whose B (their activations) or W (what W needs) has not.
struct InFlight {
    std::vector<std::int32_t> until_backward;  // per chunk
    std::vector<std::int32_t> until_weight;    // per chunk; B done, W not; all 0 in schedules that do not split the backward pass
};
// What is held once operation `i` is done, given what was held while it ran. A backward pass that is not split leaves nothing behind.
inline void finish(const Schedule& schedule, std::span<const Op> ops, std::size_t i, InFlight& now) {
    const auto chunk = static_cast<std::size_t>(ops[i].chunk);
    if (ops[i].kind == OpKind::weight && !ops[i].joined) --now.until_weight[chunk];
    if (ops[i].kind != OpKind::backward) return;
    const bool whole = i + 1 < ops.size() && ops[i + 1].joined && ops[i + 1].kind == OpKind::weight;
    --now.until_backward[chunk];
    if (schedule.splits_backward && !whole) ++now.until_weight[chunk];
}
// After each operation of `stage`, in order; `visit(index of the operation, in flight while it runs)`. An activation counts from the start
// of its forward to the end of its last operation.
template <class Visit>
void count_in_flight(const Schedule& schedule, std::int32_t stage, Visit&& visit) {
    const auto chunks = static_cast<std::size_t>(schedule.chunks);
    InFlight now{std::vector<std::int32_t>(chunks), std::vector<std::int32_t>(chunks)};
    const auto& ops = schedule.ops[static_cast<std::size_t>(stage)];
    for (std::size_t i = 0; i < ops.size(); ++i) {
        if (ops[i].kind == OpKind::forward) ++now.until_backward[static_cast<std::size_t>(ops[i].chunk)];
        visit(i, now);
        finish(schedule, ops, i, now);
    }
}

// Most micro-batches that a stage holds at once, over all chunks, each chunk counted as one (until B).
std::int32_t most_in_flight(const Schedule& schedule, std::int32_t stage);

// The closed forms for what most_in_flight returns: per chunk at that moment (ScheduleRow::in_flight), and summed as a formula.
namespace closed_form {
void all(const ScheduleShape& shape, std::int32_t stage, std::span<std::int32_t> counts);
Traced all(const PlaceOf<Traced>& place);
void stages_to_the_end(const ScheduleShape& shape, std::int32_t stage, std::span<std::int32_t> counts);  // until B
Traced stages_to_the_end(const PlaceOf<Traced>& place);
void in_turns(const ScheduleShape& shape, std::int32_t stage, std::span<std::int32_t> counts);  // the chunks of the first forwards
Traced in_turns(const PlaceOf<Traced>& place);
}  // namespace closed_form

// Interleaved 1F1B on one stage: groups of g micro-batches pass through piece 0, then piece 1, …, and backwards the other way round; the
// last group may be smaller. Once the first forwards are done, each further one is followed by one backward pass: as many pieces stay
// alive, but others, so that a later moment may hold larger ones.
class Turns {
 public:
    Turns(std::int32_t stages, std::int32_t chunks, std::int32_t micro_batches, std::int32_t stage, std::int32_t group,
          std::int32_t early = 0);
    // Alive in a piece after the first forwards.
    std::int32_t alive_at_first(std::int64_t piece) const { return static_cast<std::int32_t>(done(ahead_, piece)); }
    // And after so many, each of the further ones followed by a backward pass.
    std::int32_t alive(std::int64_t forwards, std::int64_t piece) const {
        return static_cast<std::int32_t>(done(forwards, piece) - done(forwards - ahead_, chunks_ - 1 - piece));
    }
    // From then on, calls visit(forward piece, backward piece, passes, forwards done, last piece works at the end of them): so many times
    // one piece forwards and, before it, one backwards. What repeats from round to round is told once.
    template <class Visit>
    void visit(Visit&& visit) const {
        const std::int64_t round = group_ * chunks_, repeats = last_size_ == 0 ? 0 : (whole_ * chunks_ - ahead_) / round;
        const std::int64_t until = last_size_ == 0 ? std::min(ahead_ + round, all_) : all_;
        for (std::int64_t forwards = ahead_; forwards < until;) {
            if (forwards == ahead_ + round && repeats > 1) forwards += (repeats - 1) * round;
            const std::int64_t next = std::min({end_of(forwards), end_of(forwards - ahead_) + ahead_, until});
            visit(turn_of(forwards), chunks_ - 1 - turn_of(forwards - ahead_), next - forwards, next, works(next));
            forwards = next;
        }
    }
    bool last_works_at_first() const { return works(ahead_); }

 private:
    std::int64_t done(std::int64_t passes, std::int64_t turn) const;  // of so many passes, those of the piece with that turn of a round
    std::int64_t turn_of(std::int64_t pass) const;                    // passes count from 0
    std::int64_t end_of(std::int64_t pass) const;                     // of its turn
    // Whether the last piece is at work after so many forwards: in the latest of them, or in the backward pass that follows.
    bool works(std::int64_t forwards) const { return turn_of(forwards - 1) == chunks_ - 1 || turn_of(forwards - ahead_) == 0; }
    const std::int64_t chunks_, group_, all_, ahead_;
    const std::int64_t whole_, last_size_;  // micro-batches in whole groups, and behind them
};

// Moments of a stage, of a schedule that splits the backward pass, one of which is the fullest: at no other are both more micro-batches
// alive until B and more until W. The same for every number of micro-batches above three per stage (a test), so no more are looked at.
std::vector<InFlight> fullest_moments(ScheduleKind kind, std::int32_t stages, std::int32_t chunks, std::int32_t micro_batches,
                                      std::int32_t stage);

// The same for many plans: what was found is kept.
class KnownMoments {
 public:
    const std::vector<InFlight>& of(ScheduleKind kind, std::int32_t stages, std::int32_t chunks, std::int32_t micro_batches,
                                    std::int32_t stage);

 private:
    struct Known {
        ScheduleKind kind = kUsualSchedule;
        std::int32_t stages = 0, chunks = 0, micro_batches = 0, stage = 0;
        std::vector<InFlight> moments;
    };
    std::vector<Known> known_;  // one place per remainder of what it depends on; the newest stays
};

// ---- playing
// Seconds of one operation of the piece (stage, chunk), and of handing a micro-batch's tensor to the next stage.
struct OpTimes {
    std::vector<double> forward, backward,
        weight;           // index stage*chunks + chunk; `weight` unused unless the schedule splits the backward pass
    double transfer = 0;  // of a result to another stage: delays the receiver
    // Of forward and backward: traffic that the work of another micro-batch can hide (empty = none), and how much sooner they are done
    // without it: less where the CPU is slow (empty = as much).
    std::vector<double> forward_traffic, backward_traffic, forward_hidden = {}, backward_hidden = {};
    // Where micro-batches are cut into slices: the seconds of each over their average, which the others are. Empty = not cut.
    std::vector<double> slice_shares = {};
    // What the sender waits for, too, before it goes on. The ends of the model, which send one way alone, wait so much besides: the step
    // time counts two sends for every further micro-batch, whichever stage sets the pace.
    double sending = 0, at_ends = 0;
    void without_sends() { transfer = sending = at_ends = 0; }

    // Seconds of an overlapped pair: F of one piece with B and W of another, of two micro-batches. Their work takes turns on the GPU; the
    // traffic of both, and handing on the results of `hand_overs` of the two, runs beside it. The longer of the two counts. Derived from
    // arXiv 2412.19437, section 3.2.1: in a pair, all-to-all and pipeline traffic are hidden fully, at a ratio of about 1:1. Without
    // traffic a pair takes F + B + W.
    double pair(std::size_t forward_piece, std::size_t backward_piece, int hand_overs) const;
};
struct Played {
    std::vector<std::vector<double>> start, end;  // seconds, per stage and operation; joined operations share out their time in order
    double makespan = 0;
    std::vector<double> busy;  // seconds of work per stage
};
// Runs every list as early as its own order and the data allow. nullopt = deadlock: some stage waits for what can never come.
std::optional<Played> play(const Schedule& schedule, const OpTimes& times);

// What play() says of interleaved 1F1B, without lists of operations; the shape's group is not 0.
struct PlayedTurns {
    double makespan = 0;
    double group_seconds = 0;  // from the beginning of the last but one group on the first stage to that of the last one
};
PlayedTurns play_turns(const ScheduleShape& shape, const OpTimes& times);

// Seconds for which every further micro-batch occupies a stage once the schedule repeats itself.
double repeating_seconds(ScheduleKind kind, std::int32_t stages, std::int32_t chunks, const OpTimes& times, std::int32_t stage);

}  // namespace fourfold
