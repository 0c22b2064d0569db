// Based on
//   S. Yim et al.: Pipette, arXiv 2405.18093: hand-overs on the critical path
//   DeepSeek-AI: DeepSeek-V3, arXiv 2412.19437, section 3.2.1: pairs of a forward and a backward pass that hide each other's traffic
#include <algorithm>

#include "plan/schedule.h"

namespace fourfold {

double OpTimes::pair(std::size_t forward_piece, std::size_t backward_piece, int hand_overs) const {
    const double both = forward[forward_piece] + backward[backward_piece] + weight[backward_piece];
    if (forward_traffic.empty()) return std::max(both, hand_overs * transfer);
    const bool all = forward_hidden.empty();
    return std::max(
        both - (all ? forward_traffic : forward_hidden)[forward_piece] - (all ? backward_traffic : backward_hidden)[backward_piece],
        forward_traffic[forward_piece] + backward_traffic[backward_piece] + hand_overs * transfer);
}

namespace {

// A stage's piece of the model among those that a micro-batch passes one after the other.
struct Piece {
    std::size_t place = 0;  // of its results; the neighbours' are before and behind it
    bool first = false, last = false;
    bool sends_on = false, sends_back = false;  // the next, the previous piece lies on another stage
};

Piece piece_of(const Schedule& s, std::int32_t stage, std::int32_t chunk) {
    const std::int32_t at = s.position(stage, chunk), way = s.route == Route::two_ways ? chunk : 0;
    const bool first = at == 0, last = at + 1 == s.pieces();
    // in a V the last stage, and where it turns again the first one, hands to itself
    const bool turns = s.route == Route::v_shaped || s.stages == 1;
    const bool down = chunk % 2 == 0;
    const bool at_turn = stage == (down ? s.stages - 1 : 0), at_turn_before = stage == (down ? 0 : s.stages - 1);
    return {static_cast<std::size_t>(way * s.stages + at), first, last, !last && !(turns && at_turn), !first && !(turns && at_turn_before)};
}

// Each stage works down its list; a stage that cannot go on is taken up again when a neighbour has finished something.
class Player {
 public:
    Player(const Schedule& schedule, const OpTimes& times)
        : s_(schedule), times_(times), stages_(static_cast<std::size_t>(s_.stages)), chunks_(static_cast<std::size_t>(s_.chunks)) {
        for (std::int32_t stage = 0; stage < s_.stages; ++stage)
            for (std::int32_t chunk = 0; chunk < s_.chunks; ++chunk) pieces_.push_back(piece_of(s_, stage, chunk));
        const auto results = pieces_.size() * static_cast<std::size_t>(s_.micro_batches);
        forward_.assign(results, kNever);
        backward_.assign(results, kNever);
        next_.assign(stages_, 0);
        played_.start.resize(stages_);
        played_.end.resize(stages_);
        for (std::size_t stage = 0; stage < stages_; ++stage) {
            played_.start[stage].reserve(s_.ops[stage].size());
            played_.end[stage].reserve(s_.ops[stage].size());
        }
        played_.busy.assign(stages_, 0);
        free_.assign(stages_, 0);
    }
    std::optional<Played> run() {
        std::size_t left = 0;
        for (const auto& ops : s_.ops) left += ops.size();
        for (std::size_t before = left + 1; left > 0 && left < before;) {
            before = left;
            for (std::size_t stage = 0; stage < stages_; ++stage)
                while (const std::size_t done = step(stage)) left -= done;
        }
        if (left > 0) return std::nullopt;
        return std::move(played_);
    }

 private:
    static constexpr double kNever = -1;

    std::size_t result(const Piece& piece, std::int32_t micro_batch) const {
        return piece.place * static_cast<std::size_t>(s_.micro_batches) + static_cast<std::size_t>(micro_batch);
    }
    std::size_t piece_at(std::size_t stage, const Op& op) const { return stage * chunks_ + static_cast<std::size_t>(op.chunk); }
    double seconds(std::size_t stage, const Op& op) const {
        const double usual = seconds(piece_at(stage, op), op.kind);
        const auto& shares = times_.slice_shares;
        return shares.empty() ? usual : usual * shares[static_cast<std::size_t>(op.micro_batch) % shares.size()];
    }
    double seconds(std::size_t piece, OpKind kind) const {
        return kind == OpKind::forward ? times_.forward[piece] : kind == OpKind::backward ? times_.backward[piece] : times_.weight[piece];
    }

    // When the data for `op` is there; kNever while it is not. What the stage itself has done before is there in any case.
    double ready(std::size_t stage, const Op& op) const {
        const Piece& piece = pieces_[piece_at(stage, op)];
        const std::size_t own = result(piece, op.micro_batch), m = static_cast<std::size_t>(s_.micro_batches);
        switch (op.kind) {
            case OpKind::forward:
                return piece.first ? 0 : forward_[own - m];
            case OpKind::backward:
                if (forward_[own] == kNever) return kNever;
                return piece.last ? 0 : backward_[own + m];
            case OpKind::weight:
                break;
        }
        return op.joined || backward_[own] != kNever ? 0 : kNever;
    }

    // The next operation of a stage with those joined to it: how many that were, 0 when they have to wait.
    std::size_t step(std::size_t stage) {
        const auto& ops = s_.ops[stage];
        const std::size_t first = next_[stage];
        if (first == ops.size()) return 0;
        double data = ready(stage, ops[first]);
        if (data == kNever) return 0;
        const double free = free_[stage];
        if (first + 1 == ops.size() || !ops[first + 1].joined) {
            single(stage, ops[first], std::max(data, free));
            next_[stage] = first + 1;
            return 1;
        }
        std::size_t behind = first + 1;
        for (; behind < ops.size() && ops[behind].joined; ++behind) {
            const double other = ready(stage, ops[behind]);
            if (other == kNever) return 0;
            data = std::max(data, other);
        }
        joined(stage, std::span(ops).subspan(first, behind - first), std::max(data, free));
        next_[stage] = behind;
        return behind - first;
    }

    void single(std::size_t stage, const Op& op, double start) {
        const double duration = seconds(stage, op), end = start + duration;
        note(stage, start, end);
        played_.busy[stage] += duration;
        hand_over(stage, op, end);
    }
    void joined(std::size_t stage, std::span<const Op> ops, double start) {
        const bool pair = ops.front().kind == OpKind::forward;
        double apart = 0;
        for (const Op& op : ops) apart += seconds(piece_at(stage, op), op.kind);
        const std::size_t front = piece_at(stage, ops.front());
        const double together = pair ? times_.pair(front, piece_at(stage, ops[1]),
                                                   int{pieces_[front].sends_on} + int{pieces_[piece_at(stage, ops[1])].sends_back})
                                     : apart;
        const double end = start + together, share = apart > 0 ? together / apart : 0;
        for (std::size_t i = 0; i < ops.size(); ++i) {
            const double from = i == 0 ? start : played_.end[stage].back();
            note(stage, from, i + 1 == ops.size() ? end : std::min(end, from + share * seconds(piece_at(stage, ops[i]), ops[i].kind)));
        }
        played_.busy[stage] += together;
        for (const Op& op : ops) hand_over(stage, op, end, pair);
    }
    void note(std::size_t stage, double start, double end) {
        played_.start[stage].push_back(start);
        played_.end[stage].push_back(end);
        played_.makespan = std::max(played_.makespan, end);
    }
    // In a pair, sends run beside the work.
    void hand_over(std::size_t stage, const Op& op, double end, bool pair = false) {
        free_[stage] = std::max(free_[stage], end);
        if (op.kind == OpKind::weight) return;
        const Piece& piece = pieces_[piece_at(stage, op)];
        const bool forward = op.kind == OpKind::forward, sends = !pair && (forward ? piece.sends_on : piece.sends_back);
        (forward ? forward_ : backward_)[result(piece, op.micro_batch)] = end + (sends ? times_.transfer : 0);
        // an end waits with the pass that it hands on; where chunks take turns, which keep step, with the other one
        const bool turns = s_.chunks > 1 && s_.route == Route::straight,
                   waits = turns ? !sends : sends && (forward ? piece.first : piece.last);
        free_[stage] += (sends ? times_.sending : 0) + (waits ? times_.at_ends : 0);
    }

    const Schedule& s_;
    const OpTimes& times_;
    std::size_t stages_, chunks_;
    std::vector<Piece> pieces_;               // stage*chunks + chunk
    std::vector<double> forward_, backward_;  // when the results are where they are needed next; by place and micro-batch
    std::vector<double> free_;                // when a stage can go on
    std::vector<std::size_t> next_;
    Played played_;
};

}  // namespace

std::optional<Played> play(const Schedule& schedule, const OpTimes& times) { return Player(schedule, times).run(); }

double repeating_seconds(ScheduleKind kind, std::int32_t stages, std::int32_t chunks, const OpTimes& times, std::int32_t stage) {
    const ScheduleRow& row = row_of(kind);
    const auto first = static_cast<std::size_t>(stage) * static_cast<std::size_t>(chunks);
    double sum = 0;
    if (!row.overlaps) {
        for (std::size_t i = first; i < first + static_cast<std::size_t>(chunks); ++i)
            sum += times.forward[i] + times.backward[i] + times.weight[i];
        return sum;
    }
    const Schedule shape{stages, chunks, 1, true, stages, row.route, {}};
    const Piece one = piece_of(shape, stage, 0), other = piece_of(shape, stage, 1);
    sum = times.pair(first, first + 1, int{one.sends_on} + int{other.sends_back}) +
          times.pair(first + 1, first, int{other.sends_on} + int{one.sends_back});
    return sum / row.copies;
}

}  // namespace fourfold
