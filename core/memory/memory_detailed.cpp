// Every item of every pipeline stage. Based on
//   V. Korthikanti et al.: Reducing Activation Recomputation in Large Transformer Models, arXiv 2205.05198 (2022), sections 4 and 5: what a
//     layer keeps, and what is left of it under recomputation
//   D. Narayanan et al., arXiv 2104.04473 (2021), P. Qi et al., arXiv 2401.10241 (2023), and schedule.h: how many micro-batches are alive
// and on what Megatron-Core and Transformer Engine allocate, established on measured runs (tests/evidence/megatron-ci.jsonl): what has no
// other source below is from there. Numbers in front of symbols are bytes: 2 for a value in bf16, 4 in fp32, 1 in fp8. Symbols:
// plan/symbols.h; what is alive: plan/in_flight.cpp
#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "memory/gathered.h"
#include "memory/head_moment.h"
#include "memory/inputs_before.h"
#include "memory/kept.h"
#include "memory/late_gradients.h"
#include "memory/layer_kept.h"
#include "memory/memory.h"
#include "memory/slice_keys.h"
#include "memory/states.h"
#include "memory/waiting.h"
#include "memory/workspaces.h"
#include "plan/in_flight.h"
#include "plan/parameters.h"

namespace fourfold {

namespace {

constexpr double kOffloadBuffers = 2;                                    // layers
constexpr double kTensorsOnTheWay = 2, kTensorsOnTheWayInterleaved = 3;  // between two stages

template <class N>
class Estimate : Symbols<N> {
 public:
    Estimate(const Model& model, const Plan& plan, const Framework& framework, const Stage& stage, StageMemory<N>& result)
        : Symbols<N>(model, plan, stage.longest_slice),
          fw_(framework),
          stage_(stage),
          layer_(model, plan, framework, stage),
          parameters_(model, plan, stage_),
          result_(result),
          items_(result.items) {}

    KeptBytes kept() const { return {value_of(layer_.bytes(false)), value_of(layer_.bytes(true)), value_of(flowing())}; }
    void run() {
        between_steps_ = States<N>(m_, p_, fw_, stage_, parameters_, result_).run();
        buffers();
        result_.static_bytes = items_.total() + between_steps_;
        const double without = items_.total();
        activations();
        const double kept = items_.total() - without;
        temporaries();
        if (value_of(result_.late_gradients) > 0)
            add_late_gradients(p_, parameters_, value_of(stage_.unit > 0 ? flowing() : layer_.bytes(stage_.last_is_expert)),
                               kept + result_.cast_weights, result_);
        // with few activations the moment between two steps can be the fuller one
        if (result_.static_bytes > items_.total())
            items_.add(Item::between_steps, number("M", "between_steps", "bytes", result_.static_bytes - items_.total()));
        if (value_of(result_.at_update) > 0) update();
        if (p_.has_calibrated_memory()) calibrate(memory_calibration(p_, items_.total()));
        result_.peak_bytes = items_.total();
    }

 private:
    using L = Symbols<N>;
    using L::as_double, L::m_, L::p_, L::number, L::tokens, L::split_tokens, L::sequence_parallel, L::routed_tokens;
    using L::h, L::f, L::a, L::d, L::t, L::b, L::s, L::v, L::e, L::fan, L::expert_ffn;

    using Kept = typename LayerKept<N>::Kept;
    using PerLayer = typename LayerKept<N>::PerLayer;

    bool is_dense() const { return m_.experts.count == 0; }

    // As far as it exceeds the peak of both passes.
    [[gnu::noinline]] void update() {
        const N whole = number("M_s", "held_between_steps", "bytes", result_.static_bytes) + result_.at_update;
        const double passes = items_.total();
        if (value_of(whole) <= passes) return;
        items_.add(Item::update, whole - number("M_p", "held_in_passes", "bytes", passes));
        result_.beyond_passes = value_of(whole) - passes;
    }

    // ---- workspaces and buffers
    N flowing() const { return flow_bytes(p_) * split_tokens() * h(); }  // the tensor between two layers or stages

    void buffers() {
        if (fw_.caches_dummy_gradients && !p_.freezes()) {
            N elements = 0.0;
            if (stage_.has_head) add(elements, parameters_.vocabulary());
            for (const N& size : parameters_.shapes()) add(elements, size);
            items_.add(Item::dummy_gradients, 2 * named<N>({"Z", "distinct_weights", ""}, elements));
        }
        items_.add(Item::library_workspaces, library_workspaces<N>(m_, fw_));
        const N gather = 2 * tokens() * h();
        const bool gathers = sequence_parallel() && stage_.has_head;
        if (fw_.attention == AttentionKernel::local) {
            const N all_scores = 2 * layer_.scores();
            items_.add(Item::global_buffer, gathers && value_of(gather) > value_of(all_scores) ? gather : all_scores);
        } else if (gathers)
            items_.add(Item::global_buffer, gather);
        if (p_.pipeline_parallel > 1) between_steps_ += 2 * as_double(p_.pieces_per_stage()) * value_of(flowing());
    }

    N all_layers(const PerLayer& one) const {
        if (one.kept == Kept::experts) return one.bytes * alive_.expert_layers();  // none in a model without them
        return one.bytes * (one.kept == Kept::every_layer || is_dense() ? alive_.layers() : alive_.dense_layers());
    }

    // ---- activations that wait on the host (time/swap.h)
    N part_on_host() const { return number("o_a", "activations_on_host", "", p_.activation_offload); }
    void keep_on_gpu(Item item, const N& bytes) {
        if (p_.activation_offload == 0) return items_.add(item, bytes);
        leaves_ += value_of(part_on_host() * bytes);
        if (p_.activation_offload < 1) items_.add(item, (1 - part_on_host()) * bytes);
    }
    // One layer's on their way out or in, and one's that is at work; at most what leaves.
    [[gnu::noinline]] void offloaded() {
        using std::min;
        const N on_host = number("A_o", "offloaded_activations", "bytes", leaves_);
        const N one =
            stage_.checkpoints > 0 && stage_.dense.alive + stage_.experts.alive == 0 ? flowing() : layer_.bytes(stage_.last_is_expert);
        items_.add(Item::offload_buffers, min(kOffloadBuffers * one, on_host));
        result_.host_bytes = value_of(result_.host_bytes) > 0 ? result_.host_bytes + on_host : on_host;
        result_.pcie_bytes += 2 * p_.activation_offload * kept().of_micro_batch(stage_, p_) * as_double(p_.micro_batches());
    }

    void activations() {
        const std::span<const PerLayer> all = layer_.items();
        for (std::size_t i = 0; i < all.size(); ++i) {
            N bytes = all_layers(all[i]);
            // an item of both kinds of layers stands in two neighbouring rows
            if (i + 1 < all.size() && all[i + 1].item == all[i].item) add(bytes, all_layers(all[++i]));
            if (value_of(bytes) > 0) keep_on_gpu(all[i].item, bytes);
        }
        if (stage_.checkpoints > 0) keep_on_gpu(Item::checkpoints, flowing() * alive_.checkpoints());
        if (leaves_ > 0) offloaded();
        if (stage_.dense.waiting + stage_.experts.waiting > 0 && !p_.freezes())
            items_.add(Item::waiting_activations,
                       WaitingForWeights<N>(m_, p_, stage_, alive_).bytes(is_fp8(p_.precision) ? 1 : 2, layer_.matrix_input()));
        if (p_.token_slices > 1) items_.add(Item::slice_keys, SliceKeys<N>(m_, p_, stage_).bytes());
        if (stage_.first_chunk > 0 && p_.hidden_dropout)
            items_.add(Item::embedding_dropout_mask, split_tokens() * h() * alive_.first_chunk());
    }
    // ---- the worst moment
    // The first layer of the backward pass: its feed-forward part, then its attention; what was not kept is computed again.
    N first_backward_bytes() const {
        const double value = layer_.matrix_output();
        N inner = value * tokens() * f() * fan();
        if (!keeps_input(p_, lora_down)) inner = inner + value * tokens() * f();  // the product's, whose place nothing has kept
        N feed_forward =
            stage_.last_is_expert ? routed_tokens() * (value * expert_ffn() * fan() / e() + value * L::expert_h()) : inner / t();
        if (!stage_.last_is_expert && layer_.tiled()) feed_forward = inner / (t() * layer_.tiles());
        feed_forward = feed_forward + 2 * value * split_tokens() * h();
        if (value_of(layer_.again_feed_forward()) > 0)
            feed_forward = feed_forward + named<N>({"A_f", "feed_forward_again", "bytes"}, layer_.again_feed_forward());
        N attention = layer_.keeps_scores() ? 4 * layer_.scores() : 4 * split_tokens() * h() + fused_attention_bytes();
        if (value_of(layer_.again_attention()) > 0)
            attention = attention + named<N>({"A_a", "attention_again", "bytes"}, layer_.again_attention());
        if (L::has_linear() && value_of(layer_.linear_backward()) > value_of(attention)) attention = layer_.linear_backward();
        N bytes = value_of(attention) > value_of(feed_forward) ? attention : feed_forward;
        if (!fw_.gradient_fusion && !p_.freezes() && !fully_shards(p_))
            bytes = bytes + 2 * named<N>({"Y", "largest_weight", ""}, parameters_.largest_shape());
        return bytes;
    }

    // Gradients of the output, and of queries, keys and values. flash-attn (csrc/flash_attn/flash_api.cpp) sums those of the queries up in
    // 32 bits (dq_accum), and writes those of keys and values for every query head before it adds up a group's (dk_expanded).
    [[gnu::noinline]] N fused_attention_bytes() const {
        if (this->latent()) return 0.0;
        const bool grouped = fw_.attention == AttentionKernel::flash && value_of(layer_.kept_kv_heads()) < value_of(a());
        return 2 * tokens() * ((grouped ? 4 : 2) * a() + 2 * layer_.kept_kv_heads()) * d() / t() + 4 * tokens() * a() * d() / t();
    }

    N largest_matrix() const { return parameters_.largest_matrix(row_of(p_.framework).joins_adapters); }
    // A recomputed unit is alive as a whole before its backward pass; its input is the checkpoint, counted already.
    [[gnu::noinline]] N recomputed_bytes() {
        const N unit = stage_.unit * layer_.bytes(stage_.last_is_expert) - flowing();
        return casts_weights(p_) && p_.recompute == Recompute::full
                   ? unit + 2 * stage_.unit * named<N>({"G", "largest_layer", ""}, parameters_.largest_layer())
                   : unit;
    }

    N further_layer_bytes() const { return m_.multi_token_layers > 0 ? layer_.bytes(this->multi_token_is_expert()) : N(0.0); }

    void temporaries() {
        if (p_.pipeline_parallel > 1)
            items_.add(Item::pipeline_buffers, (p_.pieces_per_stage() == 1 ? kTensorsOnTheWay : kTensorsOnTheWayInterleaved) * flowing());
        if (fw_.attention_mask) items_.add(Item::attention_mask, b() * squared(s()));
        Gathered<N> gathered(m_, p_, stage_, parameters_, items_);
        gathered.add_items();
        result_.cast_weights += gathered.freed_by_backward();
        // before a frozen matrix is multiplied it is unpacked to 16 bits, in both passes
        if (is_packed(p_)) items_.add(Item::unpacked_weights, 2 * named<N>({"Y", "largest_weight", ""}, largest_matrix()));
        const bool has_layers = stage_.layers() > 0;
        const N first = first_backward_bytes();
        const N again = has_layers && stage_.unit > 0 ? recomputed_bytes() : layer_.again_operations();
        const bool in_units = fully_shards(p_);
        const bool keeps_inputs = gathered.keeps_inputs();
        const N of_inputs = keeps_inputs ? flowing() * alive_.checkpoints() : N(0.0);
        if (has_layers)
            result_.at_backward =
                value_of(of_inputs) + value_of(first) + value_of(again) + (in_units ? value_of(gathered.at_backward()) : 0);
        if (stage_.has_head && stage_.head_works) {
            N head = HeadMoment<N>(m_, p_, fw_, stage_)
                         .bytes(further_layer_bytes(), result_.forward_casts, in_units ? gathered.at_head() : N(0.0));
            Item what = Item::head;
            if (keeps_unpacked_inputs(p_) && has_layers) {
                const N before = InputsBefore<N>(m_, p_, stage_, alive_).bytes();
                if (value_of(before) > value_of(head)) head = before, what = Item::inputs_before;
            }
            result_.at_head = value_of(head);
            if (!has_layers || result_.at_head >= result_.at_backward) {
                if (in_units) gathered.add_items_of_moment(false);
                return items_.add(what, head);
            }
        }
        if (!has_layers) return;
        if (in_units) gathered.add_items_of_moment(true);
        if (keeps_inputs) items_.add(Item::input_gradients, of_inputs);
        items_.add(Item::first_backward, first);
        if (value_of(again) > 0) items_.add(Item::recomputed_unit, again);
    }

    void calibrate(double times) {
        fourfold::calibrate(items_, times);
        for (double* bytes : {&result_.static_bytes, &result_.at_head, &result_.at_backward, &result_.beyond_passes}) *bytes *= times;
    }

    const Framework& fw_;
    const Stage& stage_;
    const Alive<N> alive_{m_, p_, stage_};
    LayerKept<N> layer_;
    Parameters<N> parameters_;
    StageMemory<N>& result_;
    Items<N>& items_;
    double between_steps_ = 0;  // held between steps but not at the peak
    double leaves_ = 0;         // bytes of activations on the host
};

}  // namespace

template <class N>
StageMemory<N> detailed(const Model& model, const Plan& plan, const Framework& framework, const Stage& stage) {
    StageMemory<N> result;  // filled in place: copying some fifty items costs as much as computing them
    Estimate<N>(model, plan, framework, stage, result).run();
    return result;
}
#ifdef FOURFOLD_TRACED
template StageMemory<Traced> detailed<Traced>(const Model&, const Plan&, const Framework&, const Stage&);
#else
KeptBytes kept_bytes(const Model& model, const Plan& plan, const Framework& framework) {
    StageMemory<double> unused;
    return Estimate<double>(model, plan, framework, Stage{}, unused).kept();
}
template StageMemory<double> detailed<double>(const Model&, const Plan&, const Framework&, const Stage&);
#endif

}  // namespace fourfold
