#include "answer/changes.h"

#include "job/job.h"
#include "plan/adapters.h"
#include "plan/rules.h"
#include "plan/shares.h"
#include "search/scorer.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace fourfold {

namespace {

constexpr double kNoTime = 0.001;       // of a step, chosen: less is no difference that the estimate could tell
constexpr double kLeastSaved = 0.01;    // of the card, chosen: less is not worth a proposal
constexpr std::size_t kMostPaired = 6;  // changes that are tried two by two, chosen
constexpr std::int64_t kMostTimes = 4;  // a degree grows to so many times its value at most

bool host_holds(const SearchSpace& space, const Plan& plan) { return Scorer(space, plan).host_holds(plan); }

class Proposals {
 public:
    Proposals(const SearchSpace& space, const Plan& shown, const Estimated& now)
        : space_(space), shown_(shown), now_(now), host_is_short_(!host_holds(space, shown)) {}

    // `change` edits a copy of the plan as it was asked for.
    template <class Edit>
    void add(Text label, Text touches, Edit&& change) {
        Plan plan = space_.plan;
        change(plan);
        if (auto made = change_of(std::move(label), std::move(touches), plan)) insert(std::move(*made));
    }
    // Two of those that do not make it fit alone, on the same GPUs, of those that save most. Only pairs that do are kept.
    void add_pairs() {
        std::vector<const Change*> first;
        for (const Change& one : list)
            if (!one.set.contains("gpus")) insert_sorted(first, &one, saves_more);
        if (first.size() > kMostPaired) first.resize(kMostPaired);
        std::vector<Change> pairs;
        for (std::size_t i = 0; i < first.size(); ++i)
            for (std::size_t j = i + 1; j < first.size(); ++j) {
                Plan plan = space_.plan;
                for (const Change* one : {first[i], first[j]}) {
                    Problems none;
                    FieldReader reader(one->set, none);
                    visit_fields(plan, reader);
                }
                auto pair = change_of(Text("change.both").with("first", first[i]->label).with("second", first[j]->label), {}, plan);
                if (pair && makes_fit(*pair)) pairs.push_back(std::move(*pair));
            }
        for (Change& pair : pairs) insert(std::move(pair));
    }
    // The next larger value of a degree that keeps every rule, of those that a search tries.
    void grow(std::int64_t Plan::*degree, std::int64_t most, const char* label, const char* touches) {
        Plan trial = shown_;
        const std::int64_t now = trial.*degree;
        for (std::int64_t value = now + 1; value <= std::min(most, kMostTimes * now); ++value) {
            trial.*degree = value;
            if (!is_legal(space_.model, trial)) continue;
            return add(Text(label).with("value", value), touches, [&](Plan& p) { p.*degree = value; });
        }
    }
    bool any_fits() const { return now_.verdict.fit == Fit::fits || (!list.empty() && makes_fit(list.front())); }
    // On as many GPUs.
    bool any_fits_here() const {
        return now_.verdict.fit == Fit::fits ||
               std::any_of(list.begin(), list.end(), [this](const Change& one) { return makes_fit(one) && !one.set.contains("gpus"); });
    }
    std::vector<Change> list;

 private:
    std::optional<Change> change_of(Text label, Text touches, const Plan& plan) const {
        const auto chosen = choose({space_.model, plan, space_.gpu, space_.method, space_.cluster, space_.exploration});
        if (!chosen) return std::nullopt;
        const Estimated& after = chosen->estimate;
        const double saved = now_.verdict.whole_bytes - after.verdict.whole_bytes;
        // where the host is too small, more on the GPU may help; what leaves it too small does not
        const bool helps_host = host_is_short_ && after.verdict.fit == Fit::fits;
        if (saved < kLeastSaved * space_.gpu.memory_bytes && !helps_host) return std::nullopt;
        if (!host_holds(space_, after.plan)) return std::nullopt;
        return Change{difference(plan), std::move(label), std::move(touches), after, saved, after.seconds - now_.seconds};
    }
    void insert(Change change) {
        insert_sorted(list, std::move(change), [this](const Change& a, const Change& b) { return is_before(a, b); });
    }
    static bool saves_more(const Change* a, const Change* b) { return a->saved_bytes > b->saved_bytes; }
    bool is_before(const Change& a, const Change& b) const {
        const bool a_helps = makes_fit(a), b_helps = makes_fit(b);
        if (a_helps != b_helps) return a_helps;
        const bool a_here = !a.set.contains("gpus"), b_here = !b.set.contains("gpus");
        if (a_helps && a_here != b_here) return a_here;
        if (a_helps && a.lost_seconds != b.lost_seconds) return a.lost_seconds < b.lost_seconds;
        const double free = kNoTime * now_.seconds;
        const bool a_free = a.lost_seconds <= free, b_free = b.lost_seconds <= free;
        if (a_free != b_free) return a_free;
        return a_free ? a.saved_bytes > b.saved_bytes : a.saved_bytes * b.lost_seconds > b.saved_bytes * a.lost_seconds;
    }
    bool makes_fit(const Change& change) const { return now_.verdict.fit != Fit::fits && change.after.verdict.fit == Fit::fits; }
    Json difference(const Plan& plan) const {
        Json before = Json::object(), after = Json::object(), changed = Json::object();
        visit_fields(space_.plan, FieldWriter(before));
        visit_fields(plan, FieldWriter(after));
        for (auto entry = after.begin(); entry != after.end(); ++entry)
            if (before[entry.key()] != entry.value()) changed[entry.key()] = entry.value();
        return changed;
    }
    const SearchSpace& space_;
    const Plan& shown_;
    const Estimated& now_;
    const bool host_is_short_;
};

// A field that may be open is set.
Plan& close(Plan& plan, std::uint32_t bit) {
    plan.open &= ~bit;
    return plan;
}

void propose_degrees(Proposals& propose, const SearchSpace& space, const Plan& plan) {
    const MostTried most = most_tried(space, plan);
    propose.grow(&Plan::tensor_parallel, most.tensor, "change.tensor_parallel", "touches.group_traffic");
    propose.grow(&Plan::pipeline_parallel, most.pipeline, "change.pipeline_parallel", "touches.stages_wait");
    propose.grow(&Plan::context_parallel, most.context, "change.context_parallel", "touches.group_traffic");
    propose.grow(&Plan::expert_parallel, most.expert, "change.expert_parallel", "touches.expert_traffic");
    for (std::int64_t smaller = plan.micro_batch - 1; smaller >= 1; --smaller) {
        if (plan.micro_batch % smaller != 0) continue;
        propose.add(Text("change.micro_batch").with("value", smaller), "touches.small_pieces", [&](Plan& p) { p.micro_batch = smaller; });
        break;
    }
    Plan sliced = plan;  // TeraPipe: for batches smaller than the pipeline; of its stages' number of slices most of the gain
    sliced.token_slices = plan.pipeline_parallel;
    if (plan.token_slices == 1 && plan.micro_batches() < plan.pipeline_parallel && has_slices(sliced))
        propose.add(Text("change.token_slices").with("value", sliced.token_slices), "touches.needs_token_slices",
                    [&](Plan& p) { p.token_slices = sliced.token_slices; });
    propose.add(Text("change.gpus").with("value", 2 * plan.gpus), "touches.twice_the_gpus", [](Plan& p) { p.gpus *= 2; });
    if (plan.virtual_stages > 1) propose.add("change.no_interleaving", "touches.ends_wait", [](Plan& p) { p.virtual_stages = 1; });
    if (plan.schedule != kUsualSchedule)
        propose.add("change.one_f_one_b", {}, [](Plan& p) { close(p, open_schedule).schedule = kUsualSchedule; });
}

void propose_recomputation(Proposals& propose, const Model& model, const Plan& plan) {
    if (plan.recompute == Recompute::none && row_of(plan.framework).recomputes_parts) {
        propose.add("change.recompute_attention", "touches.few_percent_computing",
                    [](Plan& p) { close(p, open_recompute | open_recompute_modules).recompute = Recompute::selective; });
        propose.add("change.recompute_half", "touches.sixth_computing", [&](Plan& p) {
            close(p, open_recompute | open_recompute_modules).recompute = Recompute::block;
            p.recompute_layers = std::max<std::int64_t>(1, model.layers / plan.chunks() / 2);
        });
    }
    if (plan.recompute == Recompute::none && may_recompute_operations(model, plan))
        propose.add("change.recompute_operations", "touches.sixth_computing",
                    [](Plan& p) { close(p, open_recompute | open_recompute_modules).recompute = Recompute::operations; });
    if (plan.recompute != Recompute::full)
        propose.add("change.recompute_all", "touches.third_computing", [](Plan& p) {
            close(p, open_recompute | open_recompute_modules).recompute = Recompute::full;
            p.recompute_layers = 1;
        });
}

void propose_states(Proposals& propose, const Model& model, const Plan& plan, bool asks_micro_batch) {
    const auto zero = [&](Zero stage, const char* label, const char* touches) {
        if (plan.zero < stage) propose.add(label, touches, [&](Plan& p) { close(p, open_zero).zero = stage; });
    };
    zero(Zero::optimizer, "change.zero_optimizer", "touches.weights_once");
    const FrameworkRow& row = row_of(plan.framework);
    if (row.deepest_zero == Zero::weights && (plan.pipeline_parallel == 1 || row.shards_in_pipelines)) {
        zero(Zero::gradients, "change.zero_gradients", "touches.gradients_often");
        zero(Zero::weights, "change.zero_weights", "touches.weights_often");
    }
    Plan sums = plan;  // of two micro-batches; smaller ones may be chosen once it costs no memory
    if (asks_micro_batch) sums.global_batch *= 2;
    const bool has_setting = row.syncs_to_fit || row.habits.sync_each_micro_batch;
    if (adds_up_whole_gradients(sums))
        propose.add("change.sync_each_micro_batch", has_setting ? "touches.gradients_often" : "touches.gradients_often_by_hand",
                    [](Plan& p) { p.sync_each_micro_batch = Habit::on; });
    // what FSDP leaves on the host is all of its share, optimizer and all; DeepSpeed's offload_param stands alone
    if (row.deepest_zero == Zero::weights && plan.zero == Zero::weights && !plan.weights_offload) {
        const bool alone = row.offloads_weights_alone || plan.optimizer_offload > 0;
        propose.add(alone ? "change.weights_offload" : "change.all_offload", "touches.pcie_weights", [&](Plan& p) {
            p.weights_offload = true;
            if (!alone) p.optimizer_offload = 1;
        });
    }
    Plan sharded = plan;
    sharded.zero = Zero::weights, sharded.shard_replicas = 1;
    const double padding = expert_padding(model, sharded);
    const auto copies = static_cast<std::int64_t>(std::ceil(padding));
    if (row.shard_copies != Proposed::never && plan.shards_gradients() && plan.shard_replicas == 1 && padding > 1 &&
        plan.data_parallel() % copies == 0)
        propose.add(Text("change.shard_replicas").with("value", copies), "touches.shard_replicas",
                    [&](Plan& p) { close(p, open_shard_replicas).shard_replicas = copies; });
    if (row.habits.fully_shard && padding > 1)
        propose.add("change.flat_shards", "touches.flat_shards",
                    [](Plan& p) { p.fully_shard = Habit::off, p.sync_each_micro_batch = Habit::on; });
    if (plan.shard_replicas > 1)
        propose.add("change.one_copy_of_shards", "touches.data_traffic", [](Plan& p) { close(p, open_shard_replicas).shard_replicas = 1; });
    if (plan.gradients_in_fp32)
        propose.add("change.gradients_16_bit", "touches.gradient_digits", [](Plan& p) { p.gradients_in_fp32 = false; });
    if (plan.moments == Moments::fp32)
        propose.add("change.moments_16_bit", "touches.needs_optimizer", [](Plan& p) { close(p, open_moments).moments = Moments::bits16; });
    if (plan.activation_offload < 1)
        propose.add("change.activation_offload", "touches.pcie_activations",
                    [](Plan& p) { close(p, open_activation_offload).activation_offload = 1; });
}

// The optimizer to the host; where that has too little memory, as much as it holds, or to drives, or back.
void propose_offload(Proposals& propose, const SearchSpace& space, const Plan& plan) {
    constexpr int kParts = 10;
    const double now = plan.optimizer_offload;
    const auto holds = [&](int parts) {
        Plan trial = plan;
        trial.optimizer_offload = static_cast<double>(parts) / kParts;
        return host_holds(space, trial);
    };
    const auto add = [&](Text label, Text touches, double part, OffloadTarget target) {
        propose.add(std::move(label), std::move(touches),
                    [&](Plan& p) { p.optimizer_offload = part, p.optimizer_offload_target = target; });
    };
    if (holds(kParts)) {
        if (now < 1) add("change.optimizer_offload", "touches.pcie", 1, plan.optimizer_offload_target);
        return;
    }
    int parts = kParts - 1;
    while (parts > 0 && !holds(parts)) --parts;
    const double part = static_cast<double>(parts) / kParts;
    if (part > 0 && part != now)
        add(Text("change.optimizer_offload_part").with("share", part), "touches.pcie", part, plan.optimizer_offload_target);
    if (plan.optimizer_offload_target == OffloadTarget::host) add("change.optimizer_nvme", "touches.pcie", 1, OffloadTarget::nvme);
    if (now > 0) add("change.optimizer_on_gpu", {}, 0, plan.optimizer_offload_target);
}

void propose_kernels(Proposals& propose, const Plan& plan) {
    if (plan.attention == Attention::plain) propose.add("change.flash_attention", {}, [](Plan& p) { p.attention = Attention::flash; });
    const FrameworkRow& row = row_of(plan.framework);
    if (row.habits.transformer_engine && plan.loss != Loss::te_fused)
        propose.add("change.fused_loss", "touches.needs_transformer_engine", [](Plan& p) { p.loss = Loss::te_fused; });
    if (row.library == kPyTorch && plan.loss != Loss::tiled)
        propose.add("change.tiled_loss", "touches.needs_liger", [](Plan& p) { p.loss = Loss::tiled; });
    if (!plan.sequence_parallel)
        propose.add("change.sequence_parallel", {}, [](Plan& p) { close(p, open_sequence_parallel).sequence_parallel = true; });
    if (!plan.fused_norms) propose.add("change.fused_norms", {}, [](Plan& p) { p.fused_norms = true; });
}

// All that the reader has set of the split, left to the search.
void propose_search(Proposals& propose, const Plan& asked) {
    const Plan open = open_plan();
    Plan trial = asked;
    for (std::int64_t Plan::*degree : {&Plan::tensor_parallel, &Plan::context_parallel, &Plan::pipeline_parallel, &Plan::micro_batch,
                                       &Plan::virtual_stages, &Plan::expert_parallel, &Plan::expert_tensor_parallel})
        trial.*degree = open.*degree;
    trial.open |= open_schedule | open_layout;
    propose.add("change.search_split", "touches.whole_split", [&](Plan& p) { p = trial; });
}

// Another training. Only where nothing else makes the run fit: who asks for all weights wants them. Who trains adapters may keep the rest
// in fewer bits.
void propose_adapters(Proposals& propose, const Plan& asked) {
    constexpr const char* kLabels[] = {"change.adapters", "change.adapters_nf4"};
    if (asked.freezes() && !is_packed(asked)) propose.add(kLabels[1], {}, [](Plan& p) { p.frozen_weights = FrozenWeights::nf4; });
    for (const FrozenWeights frozen : {FrozenWeights::bf16, FrozenWeights::nf4})
        if (!asked.freezes() && !propose.any_fits())
            propose.add(kLabels[frozen == FrozenWeights::nf4], "touches.adapters",
                        [&](Plan& p) { p.trained = TrainedPart::lora, p.frozen_weights = frozen; });
}

}  // namespace

std::vector<Change> changes_that_save(const SearchSpace& space, const Plan& shown, const Estimated& now) {
    Proposals propose(space, shown, now);
    propose_search(propose, space.plan);
    propose_degrees(propose, space, shown);
    propose_recomputation(propose, space.model, shown);
    propose_states(propose, space.model, shown, space.plan.micro_batch == kAuto);
    propose_offload(propose, space, shown);
    propose_kernels(propose, shown);
    if (!propose.any_fits_here()) propose.add_pairs();
    propose_adapters(propose, space.plan);
    return std::move(propose.list);
}

}  // namespace fourfold
