#include "search/candidates.h"

#include <algorithm>
#include <bit>

#include "search/search.h"

namespace fourfold {

static constexpr Choice kLeftOut[] = {
    {"interleaving"}, {"zero_bubble"},        {"recompute"},     {"sharding"},     {"uneven_layers"},
    {"small_states"}, {"activation_offload"}, {"megatron_fsdp"}, {"shard_copies"},
};
const std::span<const Choice> kLeftOutChoices = kLeftOut;

// Whether a search that may choose the schedule tries this one.
static bool is_tried(const ScheduleRow& row, Tried when, FrameworkKind framework) {
    return row.tried == when && (row.libraries & row_of(framework).library) != 0;
}
bool has_zero_bubble(FrameworkKind framework) {
    return std::any_of(kScheduleRows.begin(), kScheduleRows.end(),
                       [&](const ScheduleRow& row) { return is_tried(row, Tried::as_zero_bubble, framework); });
}
Zero deepest_tried(FrameworkKind framework, std::uint32_t left_out) {
    const FrameworkRow& row = row_of(framework);
    if ((left_out & without_sharding) != 0) return Zero::optimizer;
    return row.has_megatron_fsdp && (left_out & without_megatron_fsdp) == 0 ? Zero::weights : row.deepest_zero;
}

namespace {

constexpr std::int64_t kMostChunks = 32;  // per GPU
constexpr std::int64_t kMostSlices = 16;  // of a sequence

template <class Keep>
std::vector<std::int64_t> values(std::int64_t set, std::int64_t most, Keep&& keep) {
    if (set != kAuto) return {set};
    std::vector<std::int64_t> list;
    for (std::int64_t v = 1; v <= most; ++v)
        if (keep(v)) list.push_back(v);
    return list;
}

// Divisors of `whole` up to `most`.
std::vector<std::int64_t> divisors(std::int64_t set, std::int64_t whole, std::int64_t most) {
    if (set != kAuto) return {set};
    std::vector<std::int64_t> low, high;
    for (std::int64_t v = 1; v * v <= whole; ++v) {
        if (whole % v != 0) continue;
        if (v <= most) low.push_back(v);
        if (v * v != whole && whole / v <= most) high.push_back(whole / v);
    }
    for (; !high.empty(); high.pop_back()) low.push_back(high.back());
    return low;
}

std::vector<PipelineForm> forms(const SearchSpace& space) {
    const Plan& p = space.plan;
    const std::uint32_t out = space.exploration.left_out;
    std::vector<PipelineForm> list;
    std::vector<LayerSplit> splits = {LayerSplit::given};
    if ((p.open & open_layout) != 0 && !has_uneven_ends(p)) {
        const Split own = row_of(p.framework).split;
        splits = {own == Split::weights ? LayerSplit::weights : LayerSplit::equal};
        if (own == Split::front) splits.push_back(LayerSplit::front);  // where they do not divide
        if ((out & without_uneven_layers) == 0 && row_of(p.framework).any_layout) splits.push_back(LayerSplit::balanced);
    }
    const auto add = [&](ScheduleKind schedule, std::int64_t chunks) {
        if (p.virtual_stages != kAuto && p.virtual_stages != chunks) return;
        const bool bends = row_of(schedule).route == Route::v_shaped;
        for (const LayerSplit split : splits)
            list.push_back({schedule, chunks, split == LayerSplit::balanced && bends ? LayerSplit::front : split});
    };
    // With one number of chunks, or, where it may have several, with every number that it may have.
    const auto add_schedule = [&](ScheduleKind schedule, std::int64_t chunks) {
        if (!row_of(schedule).with_chunks) return add(schedule, chunks);
        const std::int64_t set = p.virtual_stages == kAuto ? 1 : p.virtual_stages;
        const ScheduleRow& interleaved = row_of(*row_of(schedule).with_chunks);
        const bool may_have_several =
            p.virtual_stages == kAuto && (out & without_interleaving) == 0 && (interleaved.libraries & row_of(p.framework).library) != 0;
        const std::int64_t most = may_have_several ? std::min(kMostChunks, space.model.layers) : set;
        for (std::int64_t v = set; v <= most; ++v) add(schedule, v);
    };
    if ((p.open & open_schedule) == 0) {
        add_schedule(p.schedule, p.virtual_stages != kAuto ? p.virtual_stages : row_of(p.schedule).chunks);
        return list;
    }
    for (const Tried when : {Tried::always, Tried::as_zero_bubble})
        for (std::size_t i = 0; i < kScheduleRows.size(); ++i)
            if (is_tried(kScheduleRows[i], when, p.framework) && (when == Tried::always || (out & without_zero_bubble) == 0))
                add_schedule(static_cast<ScheduleKind>(i), kScheduleRows[i].chunks);
    return list;
}

}  // namespace

// Some plan of the space fits although no sequence is split.
static bool fits_in_one_piece(const SearchSpace& space) {
    Plan plan = space.plan;
    plan.context_parallel = 1;
    return has_plan({space.model, plan, space.gpu, space.method, space.cluster, space.exploration});
}
[[gnu::noinline]] static std::int64_t most_context(const SearchSpace& space, const Plan& p) {
    const FrameworkRow& row = row_of(p.framework);
    const bool is_all_to_all = p.context_parallel_kind == ContextKind::all_to_all;
    if (row.rings == Proposed::never && !(is_all_to_all && row.splits_models)) return 1;
    if (row.rings == Proposed::if_nothing_else_fits && !is_all_to_all && fits_in_one_piece(space)) return 1;
    return std::min(p.gpus, kMostContext);
}
// Copies of shards need more memory, but where the experts of a layer are one tensor: there no share is smaller than one expert (shares.h),
// and what is gathered grows with the GPUs. They are hardly ever faster: gathered in fewer nodes, but reduced twice.
bool may_choose_copies(const SearchSpace& space) {
    const Plan& plan = space.plan;
    const Proposed when = row_of(plan.framework).shard_copies;
    return (plan.open & open_shard_replicas) != 0 && ((plan.open & open_zero) != 0 || plan.shards_optimizer()) &&
           (when == Proposed::if_nothing_else_fits ||
            (when == Proposed::always && (space.exploration.left_out & without_shard_copies) == 0));
}
[[gnu::noinline]] static std::vector<std::int64_t> copies_of(const SearchSpace& space) {
    Plan plain = space.plan;
    const bool is_set = (plain.open & open_shard_replicas) == 0;
    if (!may_choose_copies(space)) return {is_set ? plain.shard_replicas : 1};
    plain.open &= ~open_shard_replicas, plain.shard_replicas = 1;
    const FrameworkRow& row = row_of(plain.framework);
    if (plain.context_parallel == kAuto && row.rings == Proposed::if_nothing_else_fits) plain.context_parallel = 1;
    const bool only_to_fit = row.shard_copies == Proposed::if_nothing_else_fits;
    if (only_to_fit && has_plan({space.model, plain, space.gpu, space.method, space.cluster, space.exploration})) return {1};
    return divisors(kAuto, plain.gpus, std::max<std::int64_t>(plain.gpus / 2, 1));
}
// Whether every copy has as many GPUs of each part of a sequence, and these share something out; and whether it holds all experts
// (torchtitan, distributed/parallel_dims.py).
static bool copies_divide(const Plan& p) {
    return p.data_parallel() % p.shard_replicas == 0 && p.data_parallel() * p.context_parallel > p.shard_replicas;
}
static bool copies_hold_experts(const Model& m, const Plan& p) {
    return m.experts.count == 0 || p.gpus / (p.expert_parallel * p.expert_tensor_parallel * p.pipeline_parallel) % p.shard_replicas == 0;
}
bool Candidates::take(const Model& m, const Plan& p) const {
    return !is_copied(p) || (p.shards_optimizer() && copies_divide(p) && copies_hold_experts(m, p));
}
static MostTried most_but_context(const Model& m, const Plan& p) {
    const std::int64_t ranks = row_of(p.framework).splits_models ? p.gpus : 1;  // of a split model
    return {.tensor = std::min(p.gpus_per_node, ranks),
            .context = 1,
            .pipeline = std::min(m.layers, ranks),
            .micro_batch = std::min(p.global_batch, kMostMicroBatch),
            .expert = std::min(std::max<std::int64_t>(m.experts.count, 1), ranks)};
}
MostTried most_tried(const SearchSpace& space, const Plan& p) {
    MostTried most = most_but_context(space.model, p);
    most.context = most_context(space, p);
    return most;
}

Candidates candidates(const SearchSpace& space) {
    const Plan& p = space.plan;
    const Model& m = space.model;
    const MostTried most = most_but_context(m, p);
    const auto every = [](std::int64_t) { return true; };
    Candidates all;
    all.tensor = values(p.tensor_parallel, most.tensor, every);
    all.context = divisors(p.context_parallel, p.gpus, p.context_parallel == kAuto ? most_context(space, p) : 1);
    all.pipeline = values(p.pipeline_parallel, most.pipeline, every);
    all.micro_batch = divisors(p.micro_batch, p.global_batch, most.micro_batch);
    const auto divides = [](std::int64_t whole) { return [whole](std::int64_t v) { return whole % v == 0; }; };
    all.slices = values(p.token_slices, kMostSlices, [](std::int64_t v) { return std::has_single_bit(static_cast<std::uint64_t>(v)); });
    all.expert_tensor = p.expert_tensor_parallel;
    all.expert = values(p.expert_parallel, most.expert, divides(std::max<std::int64_t>(m.experts.count, 1)));
    all.forms = forms(space);
    all.sequence_parallel = {p.sequence_parallel};
    if ((p.open & open_sequence_parallel) != 0) all.sequence_parallel = {true, false};
    all.zero = {p.zero};
    if ((p.open & open_zero) != 0) {
        all.zero = {Zero::optimizer};
        // ZeRO-1 never needs more than none (a test) but beside torch.autocast, and is never slower where the passes hide its traffic
        if (!row_of(p.framework).hides_shards || row_of(p.framework).autocast) all.zero.push_back(Zero::none);
        const bool muon = p.optimizer == Optimizer::muon && row_of(p.framework).library == kMegatronCore;  // arguments.py refuses FSDP
        for (const Zero deeper : {Zero::gradients, Zero::weights})
            if (!muon && deeper <= deepest_tried(p.framework, space.exploration.left_out)) all.zero.push_back(deeper);
    }
    all.copies = copies_of(space);
    all.zero_in_pipelines = all.zero;
    if ((p.open & open_zero) != 0 && !row_of(p.framework).shards_in_pipelines)
        std::erase_if(all.zero_in_pipelines, [](Zero zero) { return zero == Zero::gradients || zero == Zero::weights; });
    return all;
}

std::vector<std::int64_t> expert_tensor_values(const Candidates& all, const Model& model, std::int64_t tensor_parallel) {
    if (all.expert_tensor != kAuto) return {all.expert_tensor};
    if (model.experts.count == 0 || tensor_parallel == 1) return {1};
    return {1, tensor_parallel};
}

// As set. Where it is open: attention, Megatron's own default; or everything whose output alone is dropped, which costs hardly any
// multiplication. Megatron-LM, core/transformer/transformer_config.py, recompute_modules.
ModuleSets sets_of_modules(const SearchSpace& space) {
    const Plan& plan = space.plan;
    const bool is_open = (plan.open & open_recompute_modules) != 0;
    const std::uint32_t dropped = (space.model.experts.count > 0 ? moe_act : 0U) | (space.model.latent.kv_rank > 0 ? mla_up_proj : 0U);
    ModuleSets sets;
    sets.add(is_open ? std::uint32_t{core_attn} : plan.recompute_modules);
    if (is_open && row_of(plan.framework).names_modules && dropped != 0) sets.add(layernorm | dropped);
    return sets;
}

bool may_choose_modules(const SearchSpace& space) {
    const Plan& plan = space.plan;
    return ((plan.open & open_recompute) != 0 || plan.recompute == Recompute::selective) && sets_of_modules(space).size() > 1;
}

bool may_choose_overlap(const SearchSpace& space) {
    const Plan& plan = space.plan;
    return (plan.open & open_expert_overlap) != 0 && space.model.experts.count > 0 && plan.expert_parallel != 1 &&
           row_of(plan.framework).overlaps_experts;
}

std::uint32_t without_choice(const SearchSpace& space) {
    return (may_choose_modules(space) ? 0U : std::uint32_t{open_recompute_modules}) |
           (may_choose_copies(space) ? 0U : std::uint32_t{open_shard_replicas}) |
           (may_choose_overlap(space) ? 0U : std::uint32_t{open_expert_overlap});
}

void set_form(Plan& plan, const PipelineForm& form) {
    plan.schedule = form.schedule;
    plan.virtual_stages = form.virtual_stages;
    if (form.split == LayerSplit::given) return;
    plan.layout = nullptr;
    plan.split = form.split == LayerSplit::equal ? Split::equal : form.split == LayerSplit::weights ? Split::weights : Split::front;
}

// ---- counting
namespace {

// Of one TP, CP and PP: candidates of schedules, chunks, layers and micro-batches that break no rule, and those that break one.
struct InnerCounts {
    std::int64_t legal = 0;
    std::array<std::int64_t, static_cast<std::size_t>(Rule::count)> rejected{};
};

class Counter {
    template <class List>
    static std::int64_t size(const List& list) {
        return static_cast<std::int64_t>(list.size());
    }
    template <class Rejected>
    static auto rejecting(Rejected& rejected, std::int64_t weight) {
        return [&rejected, weight](Rule rule, bool holds) {
            if (!holds) rejected[static_cast<std::size_t>(rule)] += weight;
            return holds;
        };
    }

 public:
    Counter(const SearchSpace& space, const Candidates& all, FilterChoices* choices)
        : space_(space), all_(all), choices_(choices), plan_(space.plan) {}

    SearchCounts run() {
        const std::int64_t per_split = size(all_.forms) * size(all_.micro_batch);
        for (const std::int64_t copies : all_.copies)
            for (const std::int64_t slices : all_.slices) {
                plan_.shard_replicas = copies, plan_.token_slices = slices;
                count_tensor(per_split);
            }
        return counts_;
    }

 private:
    void count_tensor(std::int64_t per_split) {
        std::int64_t pipelines = 0;  // with each ZeRO
        for (const std::int64_t p : all_.pipeline) pipelines += zeros(p);
        for (const std::int64_t t : all_.tensor) {
            plan_.tensor_parallel = t;
            expert_tensor_ = expert_tensor_values(all_, space_.model, t);
            const std::int64_t experts = size(all_.expert) * size(expert_tensor_);
            sequences_ = t == 1 ? 1 : size(all_.sequence_parallel);
            const std::int64_t below = sequences_ * experts * size(all_.context) * pipelines * per_split;
            counts_.candidates += below;
            if (!check_tensor_rules(space_.model, plan_, rejecting(counts_.rejected, below))) continue;
            for (const std::int64_t p : all_.pipeline) {
                plan_.pipeline_parallel = p;
                count_pipeline(per_split * zeros(p), zeros(p));
            }
        }
    }
    // Without ZeRO there are no shards to copy.
    std::int64_t zeros(std::int64_t pipeline_parallel) const {
        const std::vector<Zero>& list = all_.zeros(pipeline_parallel);
        return size(list) - (all_.is_copied(plan_) ? std::count(list.begin(), list.end(), Zero::none) : 0);
    }
    void count_pipeline(std::int64_t per_split, std::int64_t zeros) {
        std::int64_t expert_ways = 0;
        const std::int64_t legal_before = counts_.legal;
        for (const std::int64_t e : all_.expert)
            for (const std::int64_t et : expert_tensor_) {
                plan_.expert_parallel = e;
                plan_.expert_tensor_parallel = et;
                const auto require = rejecting(counts_.rejected, sequences_ * size(all_.context) * per_split);
                expert_ways += check_expert_rules(space_.model, plan_, require) &&
                               require(Rule::replicas_divide, !all_.is_copied(plan_) || copies_hold_experts(space_.model, plan_));
            }
        if (expert_ways == 0) return;
        for (std::int64_t way = 0; way < sequences_ * size(all_.context); ++way) {
            const std::int64_t c = all_.context[static_cast<std::size_t>(way / sequences_)];
            plan_.context_parallel = c;
            plan_.sequence_parallel = all_.sequence_parallel[static_cast<std::size_t>(way % sequences_)] != 0;
            const auto require = rejecting(counts_.rejected, expert_ways * per_split);
            if (!check_split_rules(space_.model, plan_, require)) continue;
            if (!require(Rule::replicas_divide, !all_.is_copied(plan_) || copies_divide(plan_))) continue;
            const InnerCounts inner = count_inner();
            counts_.legal += inner.legal * expert_ways * zeros;
            for (std::size_t i = 0; i < inner.rejected.size(); ++i) counts_.rejected[i] += inner.rejected[i] * expert_ways * zeros;
            if (inner.legal > 0) note(FilterKey::context_parallel, c);
            if (inner.legal > 0 && plan_.tensor_parallel > 1) note(FilterKey::sequence_parallel, plan_.sequence_parallel);
        }
        if (counts_.legal > legal_before) note_experts();
    }
    void note(FilterKey field, std::int64_t value) {
        if (choices_ != nullptr) choices_->note(field, value);
    }
    // Of a TP and PP that some plan has.
    void note_experts() {
        if (choices_ == nullptr) return;
        note(FilterKey::tensor_parallel, plan_.tensor_parallel);
        note(FilterKey::pipeline_parallel, plan_.pipeline_parallel);
        for (const Zero zero : all_.zeros(plan_.pipeline_parallel)) note(FilterKey::zero, static_cast<std::int64_t>(zero));
        for (const std::int64_t e : all_.expert)
            for (const std::int64_t et : expert_tensor_) {
                plan_.expert_parallel = e;
                plan_.expert_tensor_parallel = et;
                if (!check_expert_rules(space_.model, plan_, [](Rule, bool holds) { return holds; })) continue;
                note(FilterKey::expert_parallel, e);
                note(FilterKey::expert_tensor_parallel, et);
            }
    }
    InnerCounts count_inner() {
        InnerCounts inner;
        std::int64_t divide = 0;
        batches_.clear();
        for (const std::int64_t b : all_.micro_batch) {
            plan_.micro_batch = b;
            if (space_.plan.global_batch % (b * std::max<std::int64_t>(plan_.data_parallel(), 1)) == 0) batches_.push_back(b);
        }
        divide = size(batches_);
        for (const PipelineForm& form : all_.forms) {
            set_form(plan_, form);
            if (!check_pipeline_rules(space_.model, plan_, rejecting(inner.rejected, size(all_.micro_batch)))) continue;
            inner.rejected[static_cast<std::size_t>(Rule::batch_divides)] += size(all_.micro_batch) - divide;
            for (const std::int64_t b : batches_) {
                plan_.micro_batch = b;
                if (!check_schedule_rules(space_.model, plan_, rejecting(inner.rejected, 1))) continue;
                ++inner.legal;
                note(FilterKey::micro_batch, b);
                note(FilterKey::virtual_stages, form.virtual_stages);
                note(FilterKey::schedule, static_cast<std::int64_t>(form.schedule));
            }
        }
        return inner;
    }

    const SearchSpace& space_;
    const Candidates& all_;
    FilterChoices* choices_;
    Plan plan_;
    SearchCounts counts_;
    std::int64_t sequences_ = 1;
    std::vector<std::int64_t> expert_tensor_, batches_;
};

}  // namespace

SearchCounts count_candidates(const SearchSpace& space, const Candidates& all, FilterChoices* choices) {
    return Counter(space, all, choices).run();
}

}  // namespace fourfold
