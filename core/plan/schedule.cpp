// Based on
//   GPipe               Huang et al. 2019, arXiv 1811.06965
//   1F1B                Narayanan et al. 2019 (PipeDream, SOSP), with the flush of Narayanan et al. 2021, arXiv 2104.04473
//   interleaved 1F1B    Narayanan et al. 2021, arXiv 2104.04473, section 2.2
//   slices of tokens    Sun et al. 2024 (Seq1F1B), arXiv 2406.03488, in 1F1B; Li et al. 2021 (TeraPipe), arXiv 2102.07988
//   ZB-H1, ZB-V         Qi et al. 2023 (Zero Bubble Pipeline Parallelism), arXiv 2401.10241, sections 2.2 and 6
//   DualPipe            DeepSeek-AI 2024 (DeepSeek-V3), arXiv 2412.19437, section 3.2.1 and figure 5;
//   https://github.com/deepseek-ai/DualPipe DualPipeV           the same repository, after Sea AI Lab's "Cut-in-half";
//   torch.distributed.pipelining has it, too
// Which framework has which: Megatron-Core d98e8a64dd, core/pipeline_parallel/schedules.py (1F1B, interleaved);
// torch.distributed.pipelining.schedules (ScheduleGPipe, Schedule1F1B, ScheduleInterleaved1F1B, ScheduleZBVZeroBubble, ScheduleDualPipeV).
#include "plan/schedule.h"

#include <algorithm>
#include <array>
#include <utility>

namespace fourfold {

namespace {

// Appends operations of one stage, numbering the micro-batches of each kind and chunk as they come.
class Writer {
 public:
    explicit Writer(std::vector<Op>& ops, std::int32_t slices = 1) : ops_(ops), slices_(slices) {}
    void forward(std::int32_t chunk = 0) { add(OpKind::forward, chunk); }
    // Slices of a micro-batch from its last one back: each waits for the gradients of its keys and values.
    void backward(std::int32_t chunk = 0, bool joined = false) {
        add(OpKind::backward, chunk, joined);
        if (std::int32_t& i = ops_.back().micro_batch; slices_ > 1) i += slices_ - 1 - 2 * (i % slices_);
    }
    void weight(std::int32_t chunk = 0, bool joined = false) { add(OpKind::weight, chunk, joined); }
    std::int32_t done(OpKind kind, std::int32_t chunk = 0) const {
        return next_[static_cast<std::size_t>(kind)][static_cast<std::size_t>(chunk)];
    }
    // Chunk 1 works on micro-batches from this one on.
    void second_chunk_from(std::int32_t micro_batch) {
        for (auto& of_kind : next_) of_kind[1] = micro_batch;
    }

 private:
    void add(OpKind kind, std::int32_t chunk, bool joined = false) {
        ops_.push_back(
            {kind, next_[static_cast<std::size_t>(kind)][static_cast<std::size_t>(chunk)]++, static_cast<std::int16_t>(chunk), joined});
    }
    std::vector<Op>& ops_;
    const std::int32_t slices_;
    std::array<std::array<std::int32_t, 2>, 3> next_{};  // kind, chunk (schedules numbered this way have at most two)
};

void gpipe(const Schedule& s, std::int32_t, std::vector<Op>& ops) {
    Writer write(ops, s.slices);
    for (std::int32_t i = 0; i < s.micro_batches; ++i) write.forward();
    for (std::int32_t i = 0; i < s.micro_batches; ++i) write.backward();
}

// A micro-batch cut into slices goes back once its last slice is there (Seq1F1B).
void one_f_one_b(const Schedule& s, std::int32_t stage, std::vector<Op>& ops) {
    Writer write(ops, s.slices);
    const std::int32_t warm_up = std::min(s.stages - stage - 1 + s.slices - 1, s.micro_batches);
    for (std::int32_t i = 0; i < warm_up; ++i) write.forward();
    for (std::int32_t i = warm_up; i < s.micro_batches; ++i) {
        write.forward();
        write.backward();
    }
    for (std::int32_t i = 0; i < warm_up; ++i) write.backward();
}

// The i-th forward of a stage: groups of g micro-batches pass through chunk 0, then chunk 1, …; backwards likewise from the last chunk.
// What is left after whole groups is one smaller group.
Op interleaved_op(const Schedule& s, OpKind kind, std::int32_t i) {
    const std::int32_t whole = s.micro_batches / s.group, round = i / (s.group * s.chunks), first = std::min(round, whole) * s.group;
    const std::int32_t size = round < whole ? s.group : s.micro_batches - first, within = i - first * s.chunks;
    const std::int32_t chunk = within / size;
    return {kind, first + within % size, static_cast<std::int16_t>(kind == OpKind::forward ? chunk : s.chunks - 1 - chunk)};
}

void interleaved(const Schedule& s, std::int32_t stage, std::vector<Op>& ops) {
    const std::int32_t all = s.micro_batches * s.chunks;
    const std::int32_t warm_up = std::min((s.stages - stage - 1) * 2 + (s.chunks - 1) * s.group + s.early, all);
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

// What DualPipe and DualPipeV share. `near` is the chunk whose forward comes first on this stage, `far` the other one, in which the same or
// other micro-batches come back.
class DualWriter {
 public:
    DualWriter(std::vector<Op>& ops, std::int32_t near_chunk, std::int32_t second_chunk_from) : write_(ops), near_(near_chunk) {
        write_.second_chunk_from(second_chunk_from);
    }
    enum Which : std::uint8_t { near, far };
    void forward(Which which) { write_.forward(chunk(which)); }
    // Not split, or only its half that others wait for; W then comes with weight().
    void backward(Which which, bool split = false) {
        write_.backward(chunk(which));
        if (split)
            waiting_.push_back(chunk(which));
        else
            write_.weight(chunk(which), true);
    }
    void weight() { write_.weight(waiting_[oldest_++]); }
    void pair(Which forward, Which backward) {
        write_.forward(chunk(forward));
        write_.backward(chunk(backward), true);
        write_.weight(chunk(backward), true);
    }

 private:
    std::int32_t chunk(Which which) const { return which == near ? near_ : 1 - near_; }
    Writer write_;
    std::int32_t near_;
    std::vector<std::int32_t> waiting_;  // chunks of the W to come
    std::size_t oldest_ = 0;
};

// The eight steps of the published code. `depth` stages lie between the end where near micro-batches enter and the point where they turn or
// meet those from the other end; `i` of them lie before this one; `each` micro-batches pass per chunk.
void dual_steps(DualWriter& write, std::int32_t depth, std::int32_t i, std::int32_t each) {
    using enum DualWriter::Which;
    const std::int32_t behind = depth - i - 1;
    for (std::int32_t k = 0; k < 2 * behind; ++k) write.forward(near);
    for (std::int32_t k = 0; k <= i; ++k) {
        write.forward(near);
        write.forward(far);
    }
    for (std::int32_t k = 0; k < behind; ++k) {
        write.backward(far, true);
        write.weight();
        write.forward(far);
    }
    for (std::int32_t k = 0; k < each - 2 * depth + i + 1; ++k) {
        if (k == 0 && behind == 0) {  // not a pair: the neighbour waits for this forward
            write.forward(near);
            write.backward(far);
        } else
            write.pair(near, far);
        write.pair(far, near);
    }
    for (std::int32_t k = 0; k < behind; ++k) {
        write.backward(far);
        write.pair(far, near);
    }
    for (std::int32_t k = 0; k < 2 * (i + 1); ++k)  // the later half split
        write.backward(k % 2 == 0 ? far : near, k >= i + 1);
    for (std::int32_t k = 0; k < behind; ++k) {
        write.weight();
        write.backward(near, true);
    }
    for (std::int32_t k = 0; k <= i; ++k) write.weight();
}

// Both ends feed micro-batches; on the second half of the stages those of the reverse direction come first.
void dualpipe(const Schedule& s, std::int32_t stage, std::vector<Op>& ops) {
    const bool second_half = stage >= s.stages / 2;
    DualWriter write(ops, second_half ? 1 : 0, s.micro_batches / 2);
    dual_steps(write, s.stages / 2, second_half ? s.stages - 1 - stage : stage, s.micro_batches / 2);
}

void dualpipe_v(const Schedule& s, std::int32_t stage, std::vector<Op>& ops) {
    DualWriter write(ops, 0, 0);
    dual_steps(write, s.stages, stage, s.micro_batches);
}

}  // namespace

constexpr std::array<ScheduleRow, kScheduleKinds> kScheduleRows = {{
    {.id = "1f1b",
     .source = "https://arxiv.org/abs/2104.04473",
     .generate = one_f_one_b,
     .in_flight = closed_form::stages_to_the_end,
     .in_flight_formula = closed_form::stages_to_the_end,
     .with_chunks = ScheduleKind::interleaved,
     .tried = Tried::always,
     .slices = true,
     .drawn_each = 2,
     .drawn_more = 2,
     .libraries = kMegatronCore | kPyTorch | kDeepSpeed | kNanotron},
    {.id = "gpipe",
     .source = "https://arxiv.org/abs/1811.06965",
     .generate = gpipe,
     .in_flight = closed_form::all,
     .in_flight_formula = closed_form::all,
     .tried = Tried::never,
     .keeps_all = true,
     .slices = true,
     .libraries = kPyTorch | kNanotron},
    {.id = "zb-h1",
     .source = "https://arxiv.org/abs/2401.10241",
     .generate = zero_bubble_h1,
     .in_flight = closed_form::stages_to_the_end,
     .in_flight_formula = closed_form::stages_to_the_end,
     .splits_backward = true,
     .played = true},
    {.id = "zb-v",
     .source = "https://arxiv.org/abs/2401.10241",
     .generate = zero_bubble_v,
     .route = Route::v_shaped,
     .chunks = 2,
     .splits_backward = true,
     .played = true,
     .fewest_each = 2,
     .libraries = kPyTorch},
    {.id = "dualpipe",
     .source = "https://arxiv.org/abs/2412.19437",
     .generate = dualpipe,
     .route = Route::two_ways,
     .copies = 2,
     .splits_backward = true,
     .overlaps = true,
     .played = true,
     .fewest_each = 2,
     .stages_by = 2,
     .batches_by = 2},
    {.id = "dualpipev",
     .source = "https://github.com/deepseek-ai/DualPipe",
     .generate = dualpipe_v,
     .route = Route::v_shaped,
     .chunks = 2,
     .splits_backward = true,
     .overlaps = true,
     .played = true,
     .fewest_each = 2,
     .libraries = kPyTorch},
    {.id = "interleaved",
     .source = "https://arxiv.org/abs/2104.04473",
     .generate = interleaved,
     .in_flight = closed_form::in_turns,
     .in_flight_formula = closed_form::in_turns,
     .tried = Tried::never,
     .chunks = 0,
     .turns = true,
     .libraries = kMegatronCore | kPyTorch},
}};
static_assert(kScheduleRows.back().generate != nullptr);  // every schedule has a row

bool schedule_exists(ScheduleKind kind, std::int64_t stages, std::int64_t chunks, std::int64_t micro_batches, std::int64_t group) {
    const ScheduleRow& row = row_of(kind);
    return (row.chunks == 0 || chunks == static_cast<std::int64_t>(row.chunks) * row.copies) && stages % row.stages_by == 0 &&
           (!row.turns || stages > 1) && row.takes(stages, micro_batches, group == 0 ? stages : group);
}

Schedule make_schedule(ScheduleKind kind, std::int32_t stages, std::int32_t chunks, std::int32_t micro_batches, std::int32_t group,
                       std::int32_t slices, std::int32_t early) {
    const ScheduleRow& row = row_of(kind);
    Schedule schedule{stages, chunks, micro_batches, row.splits_backward, group == 0 ? stages : group, row.route, {}, slices, early};
    schedule.ops.resize(static_cast<std::size_t>(stages));
    for (std::int32_t stage = 0; stage < stages; ++stage) {
        auto& ops = schedule.ops[static_cast<std::size_t>(stage)];
        ops.reserve(static_cast<std::size_t>(row.operations(1, chunks) * micro_batches));
        row.generate(schedule, stage, ops);
    }
    return schedule;
}

}  // namespace fourfold
