// What a search varies: every field of the plan that is "auto", and the values that it may take.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "memory/memory.h"
#include "plan/plan.h"
#include "plan/rules.h"
#include "search/filter.h"

namespace fourfold {

// What a search may leave out, although the fields are "auto". A value that the job sets is kept all the same.
enum LeftOut : std::uint32_t {
    without_interleaving = 1,
    without_zero_bubble = 2,
    without_recompute = 4,
    without_sharding = 8,
    without_uneven_layers = 16,
    without_small_states = 32,
    without_activation_offload = 64,
    without_megatron_fsdp = 128,
    without_shard_copies = 256
};
extern const std::span<const Choice> kLeftOutChoices;
// Whether a framework has a schedule that "zero_bubble" lets in.
bool has_zero_bubble(FrameworkKind framework);
// The most that a search which leaves that out shares out among the copies of a model.
Zero deepest_tried(FrameworkKind framework, std::uint32_t left_out);

struct Exploration {
    std::uint32_t left_out =
        without_zero_bubble | without_small_states | without_activation_offload | without_megatron_fsdp | without_shard_copies;
    double risk = 0.05;  // of running out of memory that a plan may bear
};
template <class AnyExploration, class Visitor>
void visit_fields(AnyExploration& e, Visitor&& v) requires std::is_same_v<std::remove_const_t<AnyExploration>, Exploration> {
    v.set({"leave_out|left_out"}, e.left_out, kLeftOutChoices);
    v.number({"risk|risk"}, e.risk, {0.01, 0.98});
}

// A question to the search. Fields of `plan` that are "auto" are searched, the others are kept.
struct SearchSpace {
    const Model& model;
    const Plan& plan;
    const Gpu& gpu;
    Method method;
    const Cluster* cluster = nullptr;  // may be none
    Exploration exploration{};
};

// The layers over the chunks: as the plan says, equal, as balanced as the times of layers, embedding and loss allow (balance.h), or, where
// a pipeline bends back, the longer chunks first.
enum class LayerSplit : std::uint8_t { given, equal, balanced, front, weights };

// One way to run a pipeline.
struct PipelineForm {
    ScheduleKind schedule = kUsualSchedule;
    std::int64_t virtual_stages = 1;
    LayerSplit split = LayerSplit::equal;
};

// TP within a node, token slices (where they are open) 1, 2, 4, 8, 16, CP and micro-batch whatever divides sequence and batch, PP up to the
// layers, chunks per GPU up to 32. Recomputation, activations on the host and 16-bit states are no lists: a plan takes as little of them as
// it needs to fit (search.h). Copies of shards, let in or where nothing else fits: what divides the GPUs.
struct Candidates {
    std::vector<std::int64_t> tensor, expert, context, pipeline, micro_batch, slices;
    std::int64_t expert_tensor = kAuto;  // left open: 1, and TP, which is Megatron's default
    std::vector<PipelineForm> forms;
    std::vector<Zero> zero, zero_in_pipelines;
    const std::vector<Zero>& zeros(std::int64_t pipeline_parallel) const { return pipeline_parallel == 1 ? zero : zero_in_pipelines; }
    std::vector<std::int64_t> copies;  // of what ZeRO shares out
    bool is_copied(const Plan& plan) const { return copies.size() > 1 && plan.shard_replicas > 1; }
    // Whether the plan, with all its degrees, can have as many copies of its shards; where they are set the rules say so.
    bool take(const Model& model, const Plan& plan) const;
    // Whether `visit()` says so of the plan with some ZeRO and number of copies of its shards.
    template <class Visit>
    bool any_sharing(const Model& model, Plan& plan, Visit&& visit) const {
        for (const std::int64_t number : copies)
            for (const Zero one : zeros(plan.pipeline_parallel)) {
                plan.shard_replicas = number, plan.zero = one;
                if (take(model, plan) && visit()) return true;
            }
        return false;
    }
    std::vector<std::uint8_t> sequence_parallel;  // without tensor parallelism the first alone: it has no effect there
};
Candidates candidates(const SearchSpace& space);
// The largest value of each degree that is tried for this model, batch and number of GPUs. What is proposed or shown beside a plan goes as
// far and no further: else a proposal could be faster than the plan that was called the fastest.
struct MostTried {
    std::int64_t tensor, context, pipeline, micro_batch, expert;
};
MostTried most_tried(const SearchSpace& space, const Plan& plan);
// The parts that selective recomputation may compute again, as bits of RecomputeModule: one set or another.
class ModuleSets {
 public:
    void add(std::uint32_t modules) { sets_[count_++] = modules; }
    const std::uint32_t* begin() const { return sets_.data(); }
    const std::uint32_t* end() const { return begin() + count_; }
    std::size_t size() const { return count_; }

 private:
    std::array<std::uint32_t, 2> sets_{};
    std::size_t count_ = 0;
};
ModuleSets sets_of_modules(const SearchSpace& space);
// Whether what is computed again is open, and there is a choice.
bool may_choose_modules(const SearchSpace& space);
// Bits of what is open but leaves the search no choice, with this model and framework.
std::uint32_t without_choice(const SearchSpace& space);
// Whether it is open if tokens on their way to experts travel beneath the work of another micro-batch, and some plan has that.
bool may_choose_overlap(const SearchSpace& space);
// Whether it is open how many copies of its shards ZeRO keeps, and the framework has a choice. Where ZeRO itself is set, they are not asked
// for: one copy is what such a plan has always meant.
bool may_choose_copies(const SearchSpace& space);
// Expert tensor parallelism beside so much tensor parallelism.
std::vector<std::int64_t> expert_tensor_values(const Candidates& all, const Model& model, std::int64_t tensor_parallel);
// Writes one candidate into a plan. `balanced` layouts are still to be made.
void set_form(Plan& plan, const PipelineForm& form);
// What becomes of every candidate: how many there are, and by how many of them each rule is broken first.
struct SearchCounts {
    std::int64_t candidates = 0, legal = 0;
    std::array<std::int64_t, static_cast<std::size_t>(Rule::count)> rejected{};
};
// `choices`, where wanted, notes every value that a legal plan has.
SearchCounts count_candidates(const SearchSpace& space, const Candidates& all, FilterChoices* choices = nullptr);

}  // namespace fourfold
