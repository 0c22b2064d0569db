// A pipeline schedule is, per stage, an ordered list of operations. Everything else is read off it: how many micro-batches a stage holds at
// once by counting along the list, step time and bubble by playing it. Closed forms from papers are tests (tests/schedule_test.cpp).
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace fourfold {

enum class OpKind : std::uint8_t {
    forward,   // F
    backward,  // B: gradient of the activations; in schedules that do not split the backward pass, of the weights too
    weight     // W: gradient of the weights
};

struct Op {
    OpKind kind;
    std::int32_t micro_batch;  // 0 … micro_batches-1
    std::int32_t chunk;        // which of the stage's pieces of the model, 0 … chunks-1
    bool operator==(const Op&) const = default;
};

enum class ScheduleKind : std::uint8_t { gpipe, one_f_one_b, interleaved, zero_bubble_h1, zero_bubble_v };

struct Schedule {
    std::int32_t stages = 1;         // p
    std::int32_t chunks = 1;         // V, pieces of the model per stage
    std::int32_t micro_batches = 1;  // m
    bool splits_backward = false;    // B and W are operations of their own
    bool v_shaped = false;           // the second chunk runs through the stages backwards, so that the last stage is the first GPU
    std::vector<std::vector<Op>> ops;

    // Where in the model the piece (stage, chunk) lies: 0 is the embedding's, stages*chunks-1 the head's.
    std::int32_t position(std::int32_t stage, std::int32_t chunk) const {
        return v_shaped && chunk % 2 == 1 ? (chunk + 1) * stages - 1 - stage : chunk * stages + stage;
    }
};

// One row per schedule; a new one is one generator and one row.
struct ScheduleText {
    std::string_view id, label, summary, source;
};
const ScheduleText& text(ScheduleKind kind);
inline constexpr std::int32_t kScheduleKinds = 5;

// Why such a schedule does not exist, or "": interleaving needs p > 1 and m a multiple of p; ZB-V has two chunks and needs m >= 2p.
std::string_view schedule_obstacle(ScheduleKind kind, std::int64_t stages, std::int64_t chunks, std::int64_t micro_batches);

// The operations of every stage; the caller has checked schedule_obstacle. O(p*V*m) time and memory.
Schedule make_schedule(ScheduleKind kind, std::int32_t stages, std::int32_t chunks, std::int32_t micro_batches);

// ---- counting
// What a stage holds, per chunk: micro-batches whose forward has run and whose B (their activations) or W (what W needs) has not.
struct InFlight {
    std::vector<std::int32_t> until_backward;  // per chunk
    std::vector<std::int32_t> until_weight;    // per chunk; B done, W not; all 0 in schedules that do not split the backward pass
};
// After each operation of `stage`, in order; `visit(index of the operation, in flight while it runs)`. An activation counts from the start
// of its forward to the end of its last operation.
template <class Visit>
void count_in_flight(const Schedule& schedule, std::int32_t stage, Visit&& visit) {
    const auto chunks = static_cast<std::size_t>(schedule.chunks);
    InFlight now{std::vector<std::int32_t>(chunks), std::vector<std::int32_t>(chunks)};
    const auto& ops = schedule.ops[static_cast<std::size_t>(stage)];
    for (std::size_t i = 0; i < ops.size(); ++i) {
        const auto chunk = static_cast<std::size_t>(ops[i].chunk);
        if (ops[i].kind == OpKind::forward) ++now.until_backward[chunk];
        visit(i, now);
        if (ops[i].kind == OpKind::backward) {
            --now.until_backward[chunk];
            if (schedule.splits_backward) ++now.until_weight[chunk];
        }
        if (ops[i].kind == OpKind::weight) --now.until_weight[chunk];
    }
}

// Most micro-batches that a stage holds at once, over all chunks, each chunk counted as one (until B).
std::int32_t most_in_flight(const Schedule& schedule, std::int32_t stage);

// The closed forms for what most_in_flight returns, per chunk at that moment, without building a schedule: the search's short cut.
// GPipe m; 1F1B min(p-i, m); interleaved the chunks of the first min((p-i-1)*2 + (V-1)*p + 1, m*V) forwards; ZB-H1 min(p-i, m) until B.
// `counts` has one place per chunk.
void in_flight_closed_form(ScheduleKind kind, std::int32_t stages, std::int32_t chunks, std::int32_t micro_batches, std::int32_t stage,
                           std::span<std::int32_t> counts);

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
        ScheduleKind kind = ScheduleKind::gpipe;
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
    double transfer = 0;  // delays the receiver; does not occupy either stage
};
struct Played {
    std::vector<std::vector<double>> start, end;  // seconds, per stage and operation
    double makespan = 0;
    std::vector<double> busy;  // seconds of work per stage
};
// Runs every list as early as its own order and the data allow. nullopt = deadlock: some stage waits for what can never come.
std::optional<Played> play(const Schedule& schedule, const OpTimes& times);

}  // namespace fourfold
