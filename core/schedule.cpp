// Based on
//   GPipe               Huang et al. 2019, arXiv 1811.06965
//   1F1B                Narayanan et al. 2019 (PipeDream, SOSP), with the flush of Narayanan et al. 2021, arXiv 2104.04473
//   interleaved 1F1B    Narayanan et al. 2021, arXiv 2104.04473, section 2.2
//   ZB-H1, ZB-V         Qi et al. 2023 (Zero Bubble Pipeline Parallelism), arXiv 2401.10241, sections 2.2 and 6
#include "schedule.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace fourfold {

static constexpr std::array<ScheduleText, kScheduleKinds> kTexts = {{
    {"gpipe", "GPipe", "All forward passes, then all backward passes: simple, and every micro-batch is kept.",
     "https://arxiv.org/abs/1811.06965"},
    {"1f1b", "1F1B", "Each stage alternates one forward and one backward pass, so that few micro-batches are kept.",
     "https://arxiv.org/abs/2104.04473"},
    {"interleaved", "Interleaved 1F1B", "Every GPU holds several smaller pieces of the model: less waiting, more traffic and memory.",
     "https://arxiv.org/abs/2104.04473"},
    {"zb-h1", "Zero bubble H1", "The backward pass is split in two; the half that nobody waits for fills the gaps. Memory as 1F1B.",
     "https://arxiv.org/abs/2401.10241"},
    {"zb-v", "Zero bubble V", "Two pieces per GPU in a V, backward passes split: hardly any waiting, memory even over the stages.",
     "https://arxiv.org/abs/2401.10241"},
}};
const ScheduleText& text(ScheduleKind kind) { return kTexts[static_cast<std::size_t>(kind)]; }

std::string_view schedule_obstacle(ScheduleKind kind, std::int64_t stages, std::int64_t chunks, std::int64_t micro_batches) {
    if (kind == ScheduleKind::interleaved) {
        if (stages < 2) return "the interleaved schedule needs at least two stages";
        if (micro_batches % stages != 0) return "the interleaved schedule needs the micro-batches to be a multiple of the stages";
        return "";
    }
    if (kind == ScheduleKind::zero_bubble_v) {
        if (chunks != 2) return "the V schedule has two pieces per GPU";
        if (micro_batches < 2 * stages) return "the V schedule needs at least twice as many micro-batches as stages";
        return "";
    }
    return chunks == 1 ? "" : "only the interleaved and the V schedule have several pieces per GPU";
}

namespace {

// Appends operations of one stage, numbering the micro-batches of each kind and chunk as they come.
class Writer {
 public:
    explicit Writer(std::vector<Op>& ops) : ops_(ops) {}
    void forward(std::int32_t chunk = 0) { add(OpKind::forward, chunk); }
    void backward(std::int32_t chunk = 0) { add(OpKind::backward, chunk); }
    void weight(std::int32_t chunk = 0) { add(OpKind::weight, chunk); }
    std::int32_t done(OpKind kind, std::int32_t chunk = 0) const {
        return next_[static_cast<std::size_t>(kind)][static_cast<std::size_t>(chunk)];
    }

 private:
    void add(OpKind kind, std::int32_t chunk) {
        ops_.push_back({kind, next_[static_cast<std::size_t>(kind)][static_cast<std::size_t>(chunk)]++, chunk});
    }
    std::vector<Op>& ops_;
    std::array<std::array<std::int32_t, 2>, 3> next_{};  // kind, chunk (schedules numbered this way have at most two)
};

void gpipe(const Schedule& s, std::int32_t, std::vector<Op>& ops) {
    Writer write(ops);
    for (std::int32_t i = 0; i < s.micro_batches; ++i) write.forward();
    for (std::int32_t i = 0; i < s.micro_batches; ++i) write.backward();
}

void one_f_one_b(const Schedule& s, std::int32_t stage, std::vector<Op>& ops) {
    Writer write(ops);
    const std::int32_t warm_up = std::min(s.stages - stage - 1, s.micro_batches);
    for (std::int32_t i = 0; i < warm_up; ++i) write.forward();
    for (std::int32_t i = warm_up; i < s.micro_batches; ++i) {
        write.forward();
        write.backward();
    }
    for (std::int32_t i = 0; i < warm_up; ++i) write.backward();
}

// The i-th forward of a stage: groups of p micro-batches pass through chunk 0, then chunk 1, …; backwards likewise from the last chunk.
Op interleaved_op(const Schedule& s, OpKind kind, std::int32_t i) {
    const std::int32_t group = i / (s.stages * s.chunks), within = i % (s.stages * s.chunks);
    const std::int32_t chunk = within / s.stages;
    return {kind, group * s.stages + within % s.stages, kind == OpKind::forward ? chunk : s.chunks - 1 - chunk};
}

void interleaved(const Schedule& s, std::int32_t stage, std::vector<Op>& ops) {
    const std::int32_t all = s.micro_batches * s.chunks;
    const std::int32_t warm_up = std::min((s.stages - stage - 1) * 2 + (s.chunks - 1) * s.stages, all);
    for (std::int32_t i = 0; i < warm_up; ++i) ops.push_back(interleaved_op(s, OpKind::forward, i));
    for (std::int32_t i = warm_up; i < all; ++i) {
        ops.push_back(interleaved_op(s, OpKind::forward, i));
        ops.push_back(interleaved_op(s, OpKind::backward, i - warm_up));
    }
    for (std::int32_t i = all - warm_up; i < all; ++i) ops.push_back(interleaved_op(s, OpKind::backward, i));
}

// As 1F1B, with every W put off until the stage would hold more than p micro-batches, counted from F to W.
void zero_bubble_h1(const Schedule& s, std::int32_t stage, std::vector<Op>& ops) {
    Writer write(ops);
    const auto held = [&] { return write.done(OpKind::forward) - write.done(OpKind::weight); };
    const std::int32_t warm_up = std::min(s.stages - stage, s.micro_batches);
    for (std::int32_t i = 0; i < warm_up; ++i) write.forward();
    while (write.done(OpKind::backward) < s.micro_batches) {
        write.backward();
        if (held() >= s.stages || write.done(OpKind::forward) == s.micro_batches)
            if (write.done(OpKind::weight) < write.done(OpKind::backward)) write.weight();
        if (write.done(OpKind::forward) < s.micro_batches) write.forward();
    }
    while (write.done(OpKind::weight) < s.micro_batches) write.weight();
}

// Section 6 of the paper: the first forwards fill the V, then both arms alternate; in the end B before W wherever another stage waits.
void zero_bubble_v(const Schedule& s, std::int32_t stage, std::vector<Op>& ops) {
    Writer write(ops);
    const std::int32_t to_tip = s.stages - stage;  // stages from here to the tip of the V, this one included
    for (std::int32_t i = 0; i < 2 * to_tip - 1; ++i) write.forward(0);
    for (std::int32_t i = 0; i < stage; ++i) {
        write.forward(1);
        write.forward(0);
    }
    for (std::int32_t i = 0; i < to_tip; ++i) {
        write.forward(1);
        write.backward(1);
        write.weight(1);
    }
    while (write.done(OpKind::forward, 1) < s.micro_batches) {
        if (write.done(OpKind::forward, 0) < s.micro_batches) write.forward(0);
        write.backward(0);
        write.weight(0);
        write.forward(1);
        write.backward(1);
        write.weight(1);
    }
    for (std::int32_t i = 0; i < stage; ++i) {
        write.backward(0);
        write.backward(1);
    }
    for (std::int32_t i = 0; i < to_tip; ++i) {
        write.backward(0);
        write.weight(0);
    }
    while (write.done(OpKind::weight, 1) < write.done(OpKind::backward, 1)) write.weight(1);
    while (write.done(OpKind::weight, 0) < write.done(OpKind::backward, 0)) write.weight(0);
}

}  // namespace

static constexpr void (*kGenerators[])(const Schedule&, std::int32_t, std::vector<Op>&) = {gpipe, one_f_one_b, interleaved, zero_bubble_h1,
                                                                                           zero_bubble_v};

static Schedule empty_schedule(ScheduleKind kind, std::int32_t stages, std::int32_t chunks, std::int32_t micro_batches) {
    const bool splits = kind == ScheduleKind::zero_bubble_h1 || kind == ScheduleKind::zero_bubble_v;
    Schedule schedule{stages, chunks, micro_batches, splits, kind == ScheduleKind::zero_bubble_v, {}};
    schedule.ops.resize(static_cast<std::size_t>(stages));
    return schedule;
}

Schedule make_schedule(ScheduleKind kind, std::int32_t stages, std::int32_t chunks, std::int32_t micro_batches) {
    Schedule schedule = empty_schedule(kind, stages, chunks, micro_batches);
    for (std::int32_t stage = 0; stage < stages; ++stage)
        kGenerators[static_cast<std::size_t>(kind)](schedule, stage, schedule.ops[static_cast<std::size_t>(stage)]);
    return schedule;
}

// More micro-batches only repeat the same moments.
static std::int32_t most_that_differ(std::int32_t stages) { return 3 * stages + 3; }

std::vector<InFlight> fullest_moments(ScheduleKind kind, std::int32_t stages, std::int32_t chunks, std::int32_t micro_batches,
                                      std::int32_t stage) {
    Schedule schedule = empty_schedule(kind, stages, chunks, std::min(micro_batches, most_that_differ(stages)));
    kGenerators[static_cast<std::size_t>(kind)](schedule, stage, schedule.ops[static_cast<std::size_t>(stage)]);
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

void in_flight_closed_form(ScheduleKind kind, std::int32_t stages, std::int32_t chunks, std::int32_t micro_batches, std::int32_t stage,
                           std::span<std::int32_t> counts) {
    if (kind != ScheduleKind::interleaved) {
        counts[0] = kind == ScheduleKind::gpipe ? micro_batches : std::min(stages - stage, micro_batches);
        return;
    }
    // groups of p micro-batches pass through chunk 0, then chunk 1, …
    const std::int32_t forwards = std::min((stages - stage - 1) * 2 + (chunks - 1) * stages + 1, micro_batches * chunks);
    const std::int32_t groups = forwards / (stages * chunks), rest = forwards % (stages * chunks);
    for (std::int32_t chunk = 0; chunk < chunks; ++chunk)
        counts[static_cast<std::size_t>(chunk)] = groups * stages + std::clamp(rest - chunk * stages, 0, stages);
}

const std::vector<InFlight>& KnownMoments::of(ScheduleKind kind, std::int32_t stages, std::int32_t chunks, std::int32_t micro_batches,
                                              std::int32_t stage) {
    constexpr std::size_t kPlaces = 64;
    if (known_.empty()) known_.resize(kPlaces);
    const std::int32_t enough = std::min(micro_batches, most_that_differ(stages));
    Known& known = known_[static_cast<std::size_t>(stage + 5 * stages + 29 * enough + 13 * static_cast<std::int32_t>(kind)) % kPlaces];
    if (known.kind != kind || known.stages != stages || known.chunks != chunks || known.micro_batches != enough || known.stage != stage)
        known = {kind, stages, chunks, enough, stage, fullest_moments(kind, stages, chunks, enough, stage)};
    return known.moments;
}

// Each stage works down its list; a stage that cannot go on is taken up again when a neighbour has finished something.
std::optional<Played> play(const Schedule& s, const OpTimes& times) {
    const auto stages = static_cast<std::size_t>(s.stages), m = static_cast<std::size_t>(s.micro_batches);
    const std::size_t positions = stages * static_cast<std::size_t>(s.chunks);
    constexpr double kNever = -1;
    std::vector<double> forward_end(positions * m, kNever), backward_end(positions * m, kNever);  // by position, micro-batch
    Played played;
    played.start.resize(stages);
    played.end.resize(stages);
    played.busy.assign(stages, 0);
    std::vector<std::size_t> next(stages, 0);
    std::vector<std::int32_t> stage_of(positions);
    for (std::int32_t stage = 0; stage < s.stages; ++stage)
        for (std::int32_t chunk = 0; chunk < s.chunks; ++chunk) stage_of[static_cast<std::size_t>(s.position(stage, chunk))] = stage;

    // When the data for `op` is there; kNever while it is not.
    const auto ready = [&](std::int32_t stage, const Op& op) {
        const auto at = static_cast<std::size_t>(s.position(stage, op.chunk)), mb = static_cast<std::size_t>(op.micro_batch);
        const auto arrival = [&](double end, std::size_t from) {
            return end == kNever ? kNever : end + (stage_of[from] == stage ? 0 : times.transfer);
        };
        switch (op.kind) {
            case OpKind::forward:
                return at == 0 ? 0.0 : arrival(forward_end[(at - 1) * m + mb], at - 1);
            case OpKind::backward:
                if (forward_end[at * m + mb] == kNever) return kNever;
                return at + 1 == positions ? forward_end[at * m + mb] : arrival(backward_end[(at + 1) * m + mb], at + 1);
            case OpKind::weight:
                break;
        }
        return backward_end[at * m + mb];
    };

    std::size_t left = 0;
    for (const auto& ops : s.ops) left += ops.size();
    for (bool progress = true; left > 0 && progress;) {
        progress = false;
        for (std::size_t stage = 0; stage < stages; ++stage) {
            while (next[stage] < s.ops[stage].size()) {
                const Op& op = s.ops[stage][next[stage]];
                const double data = ready(static_cast<std::int32_t>(stage), op);
                if (data == kNever) break;
                const std::size_t piece = stage * static_cast<std::size_t>(s.chunks) + static_cast<std::size_t>(op.chunk);
                const double duration = op.kind == OpKind::forward    ? times.forward[piece]
                                        : op.kind == OpKind::backward ? times.backward[piece]
                                                                      : times.weight[piece];
                const double start = std::max(data, played.end[stage].empty() ? 0.0 : played.end[stage].back());
                played.start[stage].push_back(start);
                played.end[stage].push_back(start + duration);
                played.busy[stage] += duration;
                played.makespan = std::max(played.makespan, start + duration);
                const std::size_t slot = static_cast<std::size_t>(s.position(static_cast<std::int32_t>(stage), op.chunk)) * m +
                                         static_cast<std::size_t>(op.micro_batch);
                if (op.kind == OpKind::forward) forward_end[slot] = start + duration;
                if (op.kind == OpKind::backward) backward_end[slot] = start + duration;
                ++next[stage];
                --left;
                progress = true;
            }
        }
    }
    if (left > 0) return std::nullopt;
    return played;
}

}  // namespace fourfold
