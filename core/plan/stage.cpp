#include "plan/stage.h"

#include <algorithm>
#include <array>
#include <functional>

#include "base/numbers.h"

namespace fourfold {

static constexpr std::size_t kMostOnStage = 128;  // that a stage can have

Stages::Stages(const Model& model, const Plan& plan)
    : model_(model),
      plan_(plan),
      stages_(narrow(plan.pipeline_parallel)),
      chunks_(narrow(plan.pieces_per_stage())),
      micro_batches_(narrow(std::max<std::int64_t>(plan.micro_batches(), 1))),
      pieces_(stages_ * narrow(plan.virtual_stages)),
      group_(narrow(plan.group_of_micro_batches())),
      route_(row_of(plan.schedule_kind()).route) {
    if (plan.layout)
        before_ = plan.layout->before;
    else if (has_uneven_ends(plan))
        list_uneven_ends();
    else if (plan.split == Split::weights)
        uneven_ = weights_layout(model, plan.chunks()).before, before_ = uneven_;
    else
        each_ = model.layers / plan.chunks(), longer_ = model.layers % plan.chunks();
    all_alike_ = before_.empty() && longer_ == 0 && route_ == Route::straight && !model.expert_layers.are_mixed();
}

void Stages::list_uneven_ends() {
    const LayersPerChunk even = layers_per_chunk(model_, plan_).value_or(LayersPerChunk{});
    const std::int32_t all = pieces_;
    uneven_.resize(static_cast<std::size_t>(all) + 1);
    for (std::int32_t stage = 0; stage < stages_; ++stage)
        for (std::int32_t chunk = 0; chunk < narrow(plan_.virtual_stages); ++chunk) {
            const std::int32_t at = position(stage, chunk);
            const std::int64_t each = stage == 0 ? even.first : stage + 1 == stages_ ? even.last : even.middle;
            const bool gives_one = (plan_.count_embedding_as_layer && at == 0) || (plan_.count_loss_as_layer && at + 1 == all);
            const bool gives_both = plan_.count_embedding_as_layer && plan_.count_loss_as_layer && all == 1;
            uneven_[static_cast<std::size_t>(at) + 1] = static_cast<std::int32_t>(each - (gives_both ? 2 : gives_one ? 1 : 0));
        }
    for (std::size_t i = 1; i < uneven_.size(); ++i) uneven_[i] += uneven_[i - 1];
    before_ = uneven_;
}

std::int32_t Stages::position(std::int32_t stage, std::int32_t chunk) const { return position_of(route_, stages_, stage, chunk); }

bool Stages::holds_the_same(std::int32_t stage, std::int32_t other) const {
    for (std::int32_t chunk = 0; chunk < chunks_; ++chunk) {
        const std::int32_t here = position(stage, chunk), there = position(other, chunk), end = pieces_ - 1;
        const std::int64_t layers = layers_at(here);
        if (layers != layers_at(there) || (here == 0) != (there == 0) || (here == end) != (there == end)) return false;
        if (!model_.expert_layers.are_alike(first_layer(here), first_layer(there), layers)) return false;
    }
    return true;
}

std::int32_t Stages::next_different(std::int32_t stage) const {
    std::int32_t next = stage + 1;
    if (all_alike_) return stage == 0 ? next : std::max(next, stages_ - 1);  // but for the ends of the model
    while (next < stages_ && holds_the_same(stage, next)) ++next;
    return next;
}

void Stages::Counts::write(Stage& stage) const {
    const auto add = [](LayerCount& count, const Kind& kind) {
        count = {static_cast<double>(kind.held), static_cast<double>(kind.recomputed), static_cast<double>(kind.alive),
                 static_cast<double>(kind.waiting)};
    };
    add(stage.dense, dense);
    add(stage.experts, experts);
    stage.checkpoints = static_cast<double>(checkpoints);
}

void Stages::count_pieces(Counts& counts, std::int64_t pieces, std::int32_t position, std::int64_t alive, std::int64_t waiting) const {
    const std::int64_t n = plan_.recompute_layers, first = first_layer(position), here = layers_at(position);
    const std::int64_t recomputed = plan_.recompute == Recompute::full ? here : plan_.recompute == Recompute::block ? std::min(n, here) : 0;
    const std::int64_t experts = model_.expert_layers.count(first, here);
    const std::int64_t experts_recomputed = recomputed > 0 ? model_.expert_layers.count(first, recomputed) : 0;
    const auto add = [&](Counts::Kind& kind, std::int64_t held, std::int64_t of_them_recomputed) {
        kind.held += pieces * held;
        kind.recomputed += pieces * of_them_recomputed;
        kind.alive += alive * (held - of_them_recomputed);
        kind.waiting += waiting * held;
    };
    add(counts.dense, here - experts, recomputed - experts_recomputed);
    add(counts.experts, experts, experts_recomputed);
    if (recomputed > 0) counts.checkpoints += alive * (plan_.recompute == Recompute::full ? (here + n - 1) / n : recomputed);
}

bool Stages::pieces_are_alike(std::int32_t stage) const {
    if (all_alike_) return true;
    const bool of_one_kind = !model_.expert_layers.are_mixed();
    const std::int32_t first = position(stage, 0);
    const std::int64_t layers = layers_at(first);
    for (std::int32_t chunk = 1; chunk < chunks_; ++chunk) {
        const std::int32_t here = position(stage, chunk);
        if (layers_at(here) != layers) return false;
        if (!of_one_kind && !model_.expert_layers.are_alike(first_layer(first), first_layer(here), layers)) return false;
    }
    return true;
}

// What depends on the last piece of a stage, as the model goes.
void Stages::set_last(Stage& stage, std::int32_t position, std::int64_t layers) const {
    stage.last_is_expert = model_.expert_layers.has_experts(first_layer(position) + layers - 1);
    // a block that leaves layers alone frees one of those before it needs room for a recomputed one
    stage.unit = plan_.recompute == Recompute::full ? static_cast<double>(std::min(plan_.recompute_layers, layers))
                 : plan_.recompute == Recompute::block && plan_.recompute_layers >= layers ? 1
                                                                                           : 0;
}

Stage Stages::at(std::int32_t stage, std::span<const std::int32_t> alive, std::span<const std::int32_t> waiting) const {
    if (!all_alike_) return at_pieces(stage, alive, waiting);
    const auto sum = [&](std::span<const std::int32_t> each) {
        std::int64_t all = 0;
        if (!each.empty())
            for (std::int32_t chunk = 0; chunk < chunks_; ++chunk) all += each[static_cast<std::size_t>(chunk)];
        return all;
    };
    Counts counts;
    Stage result;
    result.index = stage;
    if (plan_.token_slices > 1) result.longest_slice = static_cast<double>(slices().longest());
    const std::int32_t first = position(stage, 0), last = position(stage, chunks_ - 1);
    count_pieces(counts, chunks_, first, sum(alive), sum(waiting));
    counts.write(result);
    result.has_embedding = first == 0;
    if (first == 0) result.first_chunk = alive[0];
    result.has_head = last + 1 == pieces_;
    if (const std::int64_t layers = layers_at(last); layers > 0) set_last(result, last, layers);
    return result;
}

// Piece by piece.
Stage Stages::at_pieces(std::int32_t stage, std::span<const std::int32_t> alive, std::span<const std::int32_t> waiting) const {
    Stage result;
    result.index = stage;
    if (plan_.token_slices > 1) result.longest_slice = static_cast<double>(slices().longest());
    Counts counts;
    std::int32_t last = -1;  // that holds layers
    for (std::int32_t chunk = 0; chunk < chunks_; ++chunk) {
        const std::int32_t where = position(stage, chunk);
        const std::int32_t now = alive[static_cast<std::size_t>(chunk)],
                           later = waiting.empty() ? 0 : waiting[static_cast<std::size_t>(chunk)];
        count_pieces(counts, 1, where, now, later);
        if (where == 0) {
            result.has_embedding = true;
            result.first_chunk = now;
        }
        if (where + 1 == pieces_) result.has_head = true;
        if (where > last && layers_at(where) > 0) last = where;
    }
    counts.write(result);
    if (last >= 0) set_last(result, last, layers_at(last));
    return result;
}

Stage Stages::at_rest(std::int32_t stage) const {
    static constexpr auto kOnes = [] {
        std::array<std::int32_t, kMostOnStage> ones{};
        ones.fill(1);
        return ones;
    }();
    return at(stage, kOnes, {});
}

TokenSlices Stages::slices() const { return plan_.token_slices > 1 ? TokenSlices(model_, plan_) : TokenSlices(); }

Stage Stages::at_slices(std::int32_t stage, double alive) const {
    Stage result = at_rest(stage);
    for (double* count : {&result.dense.alive, &result.experts.alive, &result.checkpoints, &result.first_chunk}) *count *= alive;
    result.moment = 0;
    result.slices = alive;
    return result;
}

bool Stages::splits_backward() const { return row_of(plan_.running_schedule()).splits_backward; }

Stage Stages::fullest(std::int32_t stage) const {
    std::array<std::int32_t, kMostOnStage> counts;  // filled as far as it is read
    const ScheduleRow& row = row_of(plan_.running_schedule());
    if (plan_.token_slices > 1) {
        const std::int64_t ahead = row.keeps_all ? micro_batches_ * plan_.token_slices : stages_ - stage + plan_.token_slices - 2;
        return at_slices(stage, slices().most_held(ahead, micro_batches_));
    }
    row.in_flight({stages_, chunks_, micro_batches_, group_, plan_.early_forwards()}, stage,
                  std::span(counts).first(static_cast<std::size_t>(chunks_)));
    Stage result = at(stage, counts, {});
    if (!row.splits_backward) result.moment = 0;
    return result;
}

InFlight Stages::in_flight(const Stage& moment) const {
    const ScheduleRow& row = row_of(plan_.running_schedule());
    const auto chunks = static_cast<std::size_t>(chunks_), which = static_cast<std::size_t>(moment.moment);
    if (row.splits_backward) return fullest_moments(plan_.schedule_kind(), stages_, chunks_, micro_batches_, moment.index)[which];
    InFlight now{std::vector<std::int32_t>(chunks), std::vector<std::int32_t>(chunks)};
    if (moment.moment == 0)
        row.in_flight({stages_, chunks_, micro_batches_, group_, plan_.early_forwards()}, moment.index, now.until_backward);
    else {
        const Turns turns(stages_, chunks_, micro_batches_, moment.index, group_, plan_.early_forwards());
        for (std::int32_t chunk = 0; chunk < chunks_; ++chunk)
            now.until_backward[static_cast<std::size_t>(chunk)] = turns.alive(moment.moment, chunk);
    }
    return now;
}

Stage Stages::piece(std::int32_t position) const {
    Stage result;
    Counts counts;
    count_pieces(counts, 1, position, 1, 0);
    counts.write(result);
    return result;
}

// Whether it matters for memory in which piece a micro-batch is.
bool Stages::pieces_differ(std::int32_t stage) const {
    return !pieces_are_alike(stage) || (position(stage, 0) == 0 && plan_.hidden_dropout);  // the embedding keeps a mask
}

bool Stages::has_many_moments(std::int32_t stage) const {
    return splits_backward() || (row_of(plan_.running_schedule()).turns && pieces_differ(stage));
}

// Adds a stage unless another holds as much of everything; takes out those that hold no more than it.
static void add_unless_within(std::vector<Stage>& list, const Stage& stage) {
    const auto within = [](const Stage& a, const Stage& b) {
        return a.dense.alive <= b.dense.alive && a.experts.alive <= b.experts.alive && a.checkpoints <= b.checkpoints &&
               a.first_chunk <= b.first_chunk && a.head_works <= b.head_works;
    };
    for (const Stage& one : list)
        if (within(stage, one)) return;
    std::erase_if(list, [&](const Stage& one) { return within(one, stage); });
    list.push_back(stage);
}

std::vector<Stage> Stages::turning_moments(std::int32_t stage) const {
    const Turns turns(stages_, chunks_, micro_batches_, stage, group_, plan_.early_forwards());
    struct Piece {  // what one micro-batch in it adds
        double dense, experts, checkpoints, first_chunk;
    };
    std::array<Piece, kMostOnStage> pieces;  // both filled as far as they are read
    std::array<std::int32_t, kMostOnStage> alive;
    for (std::int32_t chunk = 0; chunk < chunks_; ++chunk) {
        const auto c = static_cast<std::size_t>(chunk);
        const std::int32_t where = position(stage, chunk);
        const Stage one = piece(where);
        pieces[c] = {one.dense.alive, one.experts.alive, one.checkpoints, where == 0 ? 1.0 : 0.0};
        alive[c] = turns.alive_at_first(chunk);
    }
    Stage now = at(stage, std::span(alive).first(static_cast<std::size_t>(chunks_)), {});
    now.moment = 0;
    now.head_works = turns.last_works_at_first();
    std::vector<Stage> list = {now};
    const auto pass = [&](std::int64_t forward, std::int64_t backward, std::int64_t passes) {
        const Piece &more = pieces[static_cast<std::size_t>(forward)], &less = pieces[static_cast<std::size_t>(backward)];
        const auto count = static_cast<double>(passes);
        now.dense.alive += count * (more.dense - less.dense);
        now.experts.alive += count * (more.experts - less.experts);
        now.checkpoints += count * (more.checkpoints - less.checkpoints);
        now.first_chunk += count * (more.first_chunk - less.first_chunk);
    };
    // What depends on a count's being 0, or on the head's being at work, can be most beside the ends of a turn too.
    const bool looks_beside = now.has_head || now.experts.held > 0;
    turns.visit([&](std::int64_t forward, std::int64_t backward, std::int64_t passes, std::int64_t forwards, bool last_works) {
        const bool last_works_before = forward == chunks_ - 1 || backward == chunks_ - 1;
        std::int64_t left = passes;
        for (const std::int64_t part : {std::int64_t{1}, passes - 2}) {
            if (!looks_beside || part <= 0 || left <= part) continue;
            pass(forward, backward, part);
            left -= part;
            now.moment = static_cast<std::int32_t>(forwards - left);
            now.head_works = last_works_before;
            add_unless_within(list, now);
        }
        pass(forward, backward, left);
        now.moment = static_cast<std::int32_t>(forwards);
        now.head_works = last_works;
        add_unless_within(list, now);
    });
    return list;
}

std::vector<Stage> Stages::moments(std::int32_t stage, KnownMoments* known) const {
    if (!has_many_moments(stage)) return {fullest(stage)};
    if (!splits_backward()) {
        return turning_moments(stage);
    }
    const ScheduleKind kind = plan_.schedule_kind();
    std::vector<Stage> list;
    KnownMoments own;
    for (const InFlight& moment : (known == nullptr ? own : *known).of(kind, stages_, chunks_, micro_batches_, stage))
        list.push_back(at(stage, moment.until_backward, moment.until_weight));
    for (std::size_t i = 0; i < list.size(); ++i) list[i].moment = static_cast<std::int32_t>(i);
    return list;
}

}  // namespace fourfold
