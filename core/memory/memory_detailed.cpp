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
#include "memory/memory.h"
#include "memory/single_operations.h"
#include "memory/slice_keys.h"
#include "memory/states.h"
#include "memory/waiting.h"
#include "memory/workspaces.h"
#include "plan/in_flight.h"
#include "plan/parameters.h"

namespace fourfold {

namespace {

constexpr double kRouterBytes = 14;  // per token and expert
// Per attention score: of a fused softmax and of single operations; and what dropout adds to each.
constexpr double kScoreBytes = 2, kScoreDropoutBytes = 3, kScoreCopiesBytes = 6, kScoreCopiesDropoutBytes = 1;
constexpr double kOffloadBuffers = 2;                                    // layers
constexpr double kTensorsOnTheWay = 2, kTensorsOnTheWayInterleaved = 3;  // between two stages

template <class N>
class Estimate : Symbols<N> {
 public:
    Estimate(const Model& model, const Plan& plan, const Framework& framework, const Stage& stage, StageMemory<N>& result)
        : Symbols<N>(model, plan, stage.longest_slice),
          fw_(framework),
          stage_(stage),
          parameters_(model, plan, stage_),
          result_(result),
          items_(result.items) {}

    KeptBytes kept() {
        attention_kept();
        feed_forward_kept();
        return {value_of(layer_bytes(false)), value_of(layer_bytes(true)), value_of(flowing())};
    }
    void run() {
        between_steps_ = States<N>(m_, p_, fw_, stage_, parameters_, result_).run();
        buffers();
        result_.static_bytes = items_.total() + between_steps_;
        attention_kept();
        feed_forward_kept();
        const double without = items_.total();
        activations();
        const double kept = items_.total() - without;
        temporaries();
        if (value_of(result_.late_gradients) > 0)
            add_late_gradients(p_, parameters_, value_of(stage_.unit > 0 ? flowing() : layer_bytes(stage_.last_is_expert)),
                               kept + result_.cast_weights, result_);
        // with few activations the moment between two steps can be the fuller one
        if (result_.static_bytes > items_.total())
            items_.add(Item::between_steps, number("M", "between_steps", "bytes", result_.static_bytes - items_.total()));
        if (p_.has_calibrated_memory()) calibrate(memory_calibration(p_, items_.total()));
        result_.peak_bytes = items_.total();
    }

 private:
    using L = Symbols<N>;
    using L::as_double, L::m_, L::p_, L::number, L::tokens, L::split_tokens, L::sequence_parallel, L::routed_tokens, L::latent;
    using L::h, L::f, L::a, L::k, L::d, L::t, L::c, L::b, L::s, L::v, L::e, L::fan, L::norm_parameters, L::experts, L::expert_ffn,
        L::shared_ffn;

    bool is_dense() const { return m_.experts.count == 0; }
    bool keeps_scores() const { return fw_.attention == AttentionKernel::unfused || fw_.attention == AttentionKernel::local; }
    bool fp8() const { return is_fp8(p_.precision); }
    double matrix_input() const { return fp8() && fw_.stores_fp8 ? 1 : 2; }  // bytes per value

    // ---- workspaces and buffers
    N flowing() const { return (casts_weights(p_) ? 4 : 2) * split_tokens() * h(); }  // the tensor between two layers or stages
    N scores() const { return b() * a() / t() * squared(s()) / c(); }

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
            const N all_scores = 2 * scores();
            items_.add(Item::global_buffer, gathers && value_of(gather) > value_of(all_scores) ? gather : all_scores);
        } else if (gathers)
            items_.add(Item::global_buffer, gather);
        if (p_.pipeline_parallel > 1) between_steps_ += 2 * as_double(p_.pieces_per_stage()) * value_of(flowing());
    }

    // ---- what a layer keeps for its backward pass (Korthikanti et al., section 4), or would keep if it were not recomputed
    enum class Kept { every_layer, dense, experts };
    struct PerLayer {
        Item item;
        Kept kept;
        N bytes;
    };
    // `part` of a layer is kept, unless its module is recomputed; then it exists for one layer alone, in the backward pass.
    void keep(Item item, Kept kept, const N& bytes, bool recomputed = false) {
        if (!recomputed) {
            per_layer_[kept_count_++] = {item, kept, bytes};
            return;
        }
        if (kept != Kept::every_layer && (kept == Kept::experts) != stage_.last_is_expert) return;
        // a moment at which no such layer is alive (all wait for their weight gradients) has no backward pass that would need it
        if ((stage_.last_is_expert ? stage_.experts.alive : stage_.dense.alive) < 1) return;
        N& again = item >= Item::qkv_activations && item <= Item::attention_scores ? again_attention_ : again_feed_forward_;
        again = value_of(again) > 0 ? again + bytes : bytes;
    }

    SingleOperations<N> single() const { return {m_, p_, stage_}; }
    // Single operations keep copies, and what each matrix reads.
    [[gnu::noinline]] void single_norms() {
        const N statistics = 4 * m_.norms_per_layer * norm_parameters() * split_tokens();
        keep(Item::norm_copies, Kept::every_layer, single().norm_copies() + statistics, p_.recomputes(layernorm));
        if (!p_.freezes()) norm_outputs(single().norm_outputs());
    }
    void norms_kept() {
        const auto add = [&](Item item, const N& bytes, bool recomputed = false) { keep(item, Kept::every_layer, bytes, recomputed); };
        if (p_.freezes()) adapter_inputs();
        if (row_.single_operations && fw_.plain_norms) return single_norms();
        // each of the two norms keeps what it reads and what it writes; further norms behind the blocks only what they read
        const N outputs = (fp8() ? 1 : 2) * std::min(m_.norms_per_layer, 2) * split_tokens() * h();
        const N statistics = 4 * m_.norms_per_layer * norm_parameters() * split_tokens();
        if (p_.freezes() && fw_.plain_norms)  // one by one, and frozen, they keep their input in fp32 alone
            add(Item::norm_copies, 4 * m_.norms_per_layer * split_tokens() * h() + statistics, p_.recomputes(layernorm));
        else
            add(Item::norm_activations, (4 + 2 * (m_.norms_per_layer - 2)) * split_tokens() * h() + statistics);
        if (p_.freezes()) return;
        norm_outputs(outputs);
        // one by one, the operations keep the input in fp32 and the normalised value before it is scaled
        if (fw_.plain_norms) add(Item::norm_copies, 6 * m_.norms_per_layer * split_tokens() * h(), p_.recomputes(layernorm));
    }
    void attention_kept() {
        const auto add = [&](Item item, const N& bytes, bool recomputed = false) { keep(item, Kept::every_layer, bytes, recomputed); };
        const LatentAttention& l = m_.latent;
        norms_kept();
        N out_width = d();
        if (latent()) {
            out_width = N(as_double(l.value_dim));
            const double copies = m_.qk_norm ? 2 : 1;
            add(Item::latent_activations, 2 * split_tokens() * (copies * as_double(l.q_rank + l.kv_rank) + as_double(l.rope_dim)));
            add(Item::qkv_activations,
                2 * tokens() * a() * (2 * as_double(l.nope_dim + l.rope_dim) + as_double(l.nope_dim + l.value_dim)) / t(),
                p_.recomputes(mla_up_proj));
        } else {
            add(Item::qkv_activations, 2 * tokens() * kept_heads() * d() / t());
            if (m_.qk_norm && row_.single_operations)
                add(Item::qk_norm_activations, single().query_and_key_norms());
            else if (m_.qk_norm)
                add(Item::qk_norm_activations,
                    2 * tokens() * (a() + 2 * number("k_m", "kv_heads", "", as_double(m_.kv_heads))) * d() / t() +
                        8 * norm_parameters() * tokens() * a() / t());
        }
        const N output = 2 * tokens() * a() * out_width / t();
        // the projection keeps an fp8 copy of its own, or shares one of 12 bits; where it is frozen, attention's backward pass alone reads
        // it
        const bool projects = keeps_input(p_, lora_output);
        if (projects || !keeps_scores()) add(Item::attention_output, !fp8() || !projects ? output : (fw_.stores_fp8 ? 0.75 : 1.5) * output);
        const double copies = (p_.context_parallel > 1 ? 1 : 0) + (copies_output(projects) ? 1 : 0);
        if (copies > 0) add(Item::attention_output_copy, copies * output, p_.recomputes(core_attn));
        if (keeps_scores()) {
            const bool in_copies = row_.single_operations || (fw_.attention == AttentionKernel::local && !fw_.softmax_fusion);
            const double kept = in_copies ? kScoreCopiesBytes : kScoreBytes;
            const double dropped = in_copies ? kScoreCopiesDropoutBytes : kScoreDropoutBytes;
            add(Item::attention_scores, (kept + (p_.attention_dropout ? dropped : 0)) * scores(), p_.recomputes(core_attn));
        } else
            add(Item::log_sum_exp, 4 * tokens() * a() / t(), p_.recomputes(core_attn));
        if (p_.hidden_dropout) add(Item::dropout_masks, 2 * split_tokens() * h());
    }

    // A second time: an adapter's own, or in another order.
    bool copies_output(bool projects) const {
        if (p_.freezes() && row_.adapters_cast) return (p_.lora_targets & lora_output) != 0;
        if (row_.single_operations) return single().copies_output();
        return fw_.attention == AttentionKernel::flash && p_.micro_batch > 1 && projects && !keeps_unpacked_inputs(p_);
    }

    // LitGPT (model.py) rotates and repeats into new tensors; values that are not repeated keep the whole joint output alive.
    N kept_heads() const {
        if (row_.single_operations) return single().heads(keeps_scores());
        if (!row_of(p_.framework).copies_heads) return a() + 2 * kept_kv_heads();
        return (m_.kv_heads == m_.heads ? 5 : 3) * a();
    }
    // Where heads are swapped, every GPU of a sequence needs one of its own (DeepSpeed-Ulysses, arXiv 2309.14509).
    N kept_kv_heads() const { return p_.swaps_heads() && value_of(k()) < value_of(c() * t()) ? c() * t() : k(); }

    // Of both norms together; layers of the two kinds may recompute different ones.
    void norm_outputs(const N& both) {
        const int dense = norms_recomputed(m_, p_, fw_, false), with_experts = norms_recomputed(m_, p_, fw_, true);
        const auto add = [&](Kept kept, int again) {
            if (again < 2) keep(Item::norm_outputs, kept, again == 0 ? both : both / 2);
            if (again > 0) keep(Item::norm_outputs, kept, again == 2 ? both : both / 2, true);
        };
        if (dense == with_experts) return add(Kept::every_layer, dense);
        add(Kept::dense, dense);
        add(Kept::experts, with_experts);
    }

    // What the activation function reads, and what the second matrix reads unless it is computed again or frozen. A gate that is not fused
    // with its product keeps both factors.
    N gated_product(const N& width) const {
        N read = matrix_input() * tokens() * width * fan() / t();
        if (m_.gated && !fw_.activation_fusion) read = read + 2 * tokens() * width / t();
        if (row_.single_operations && m_.gelu_steps) read = read + single().gelu_steps(width);
        return (fp8() && fw_.stores_fp8) || !keeps_input(p_, lora_down) ? read : read + (fp8() ? 1 : 2) * tokens() * width / t();
    }
    // What adapters read, and keep for their own weight gradients: their norm's output, gathered where the sequence is split (Megatron-
    // Bridge, peft/utils.py: sequence_parallel_input_regather is off), once for all that read it.
    [[gnu::noinline]] void adapter_inputs() {
        const auto keep_inputs = [&](Kept kept, bool feeds_forward) {
            const double inputs = kept_inputs(m_, p_, kLoraQkv) + (feeds_forward ? kept_inputs(m_, p_, kLoraIn) : 0);
            if (inputs > 0) keep(Item::adapter_inputs, kept, (fp8() ? 1 : 2) * inputs * tokens() * h());
        };
        keep_inputs(Kept::dense, true);
        if (!is_dense()) keep_inputs(Kept::experts, m_.experts.shared_ffn > 0);
    }
    [[gnu::noinline]] void adapters_kept() {
        const Adapters<N> adapters(m_, p_);
        const N attention = adapters.kept(adapters.of_attention(), tokens(), t());
        const auto beside = [&](const N& width, const N& of, const N& ranks) {
            return adapters.kept(adapters.of_feed_forward(width), of, ranks);
        };
        const auto keep_some = [&](Kept kept, const N& bytes) {
            if (value_of(bytes) > 0) keep(Item::adapter_activations, kept, bytes);
        };
        keep_some(Kept::dense, adapters.sum(attention, beside(f(), tokens(), t())));
        if (is_dense()) return;
        const N routed = adapters.sum(attention, beside(expert_ffn(), routed_tokens(), e()));
        keep_some(Kept::experts, m_.experts.shared_ffn > 0 ? adapters.sum(routed, beside(shared_ffn(), tokens(), t())) : routed);
    }
    void feed_forward_kept() {
        if (p_.freezes()) adapters_kept();
        const double product = fp8() ? 1 : 2;  // bytes of what the second matrix reads
        const N gated = gated_product(f());    // of tiles, each is computed again by itself (Bekman et al., arXiv 2506.13996)
        keep(Item::feed_forward_activations, Kept::dense, tiled() ? gated / tiles() : gated, tiled() || p_.recomputes(mlp));
        if (m_.experts.count == 0) return;
        const auto add = [&](Item item, const N& bytes, bool again) { keep(item, Kept::experts, bytes, again || p_.recomputes(moe)); };
        const N T = routed_tokens();
        add(Item::router_activations, kRouterBytes * split_tokens() * experts(), false);
        N per_copy = matrix_input() * expert_ffn() * fan() / e();
        if (keeps_input(p_, kLoraIn)) per_copy = matrix_input() * h() + per_copy;
        per_copy = per_copy + 4;
        if (!(m_.gated && fw_.activation_fusion)) per_copy = per_copy + 2 * expert_ffn() / e();  // the product before the router's weight
        add(Item::expert_activations, T * per_copy, false);
        if (keeps_input(p_, lora_down)) add(Item::expert_products, product * T * expert_ffn() / e(), p_.recomputes(moe_act));
        if (m_.limited_gate) add(Item::limited_activations, 2 * T * expert_ffn() * fan() / e(), p_.recomputes(moe_act));
        if (m_.experts.shared_ffn > 0) add(Item::shared_expert_activations, gated_product(shared_ffn()), p_.recomputes(shared_experts));
    }
    bool tiled() const { return p_.feed_forward_tiles > 1; }
    N tiles() const { return number("n_t", "feed_forward_tiles", "", as_double(p_.feed_forward_tiles)); }
    std::span<const PerLayer> kept_items() const { return std::span(per_layer_).first(kept_count_); }
    bool kept_by(const PerLayer& one, bool expert) const { return one.kept == Kept::every_layer || (one.kept == Kept::experts) == expert; }
    N layer_bytes(bool expert) const {
        N sum = 0.0;
        bool empty = true;
        for (const PerLayer& one : kept_items()) {
            if (!kept_by(one, expert)) continue;
            sum = empty ? one.bytes : sum + one.bytes;
            empty = false;
        }
        return sum;
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
            stage_.checkpoints > 0 && stage_.dense.alive + stage_.experts.alive == 0 ? flowing() : layer_bytes(stage_.last_is_expert);
        items_.add(Item::offload_buffers, min(kOffloadBuffers * one, on_host));
        result_.host_bytes = value_of(result_.host_bytes) > 0 ? result_.host_bytes + on_host : on_host;
        const KeptBytes kept{value_of(layer_bytes(false)), value_of(layer_bytes(true)), value_of(flowing())};
        result_.pcie_bytes += 2 * p_.activation_offload * kept.of_micro_batch(stage_, p_) * as_double(p_.micro_batches());
    }

    void activations() {
        const std::span<const PerLayer> all = kept_items();
        for (std::size_t i = 0; i < all.size(); ++i) {
            N bytes = all_layers(all[i]);
            // an item of both kinds of layers stands in two neighbouring rows
            if (i + 1 < all.size() && all[i + 1].item == all[i].item) add(bytes, all_layers(all[++i]));
            if (value_of(bytes) > 0) keep_on_gpu(all[i].item, bytes);
        }
        if (stage_.checkpoints > 0) keep_on_gpu(Item::checkpoints, flowing() * alive_.checkpoints());
        if (leaves_ > 0) offloaded();
        if (stage_.dense.waiting + stage_.experts.waiting > 0 && !p_.freezes())
            items_.add(Item::waiting_activations, WaitingForWeights<N>(m_, p_, stage_, alive_).bytes(matrix_input()));
        if (p_.token_slices > 1) items_.add(Item::slice_keys, SliceKeys<N>(m_, p_, stage_).bytes());
        if (stage_.first_chunk > 0 && p_.hidden_dropout)
            items_.add(Item::embedding_dropout_mask, split_tokens() * h() * alive_.first_chunk());
    }
    // ---- the worst moment
    // The first layer of the backward pass: its feed-forward part, then its attention; what was not kept is computed again.
    N first_backward_bytes() const {
        N feed_forward =
            stage_.last_is_expert
                ? routed_tokens() * (2 * expert_ffn() * fan() / e() + 2 * h()) + 4 * split_tokens() * h()
                : (tiled() ? 2 * tokens() * f() * fan() / (t() * tiles()) : 2 * tokens() * f() * fan() / t()) + 4 * split_tokens() * h();
        if (value_of(again_feed_forward_) > 0)
            feed_forward = feed_forward + named<N>({"A_f", "feed_forward_again", "bytes"}, again_feed_forward_);
        N attention = keeps_scores() ? 4 * scores() : 4 * split_tokens() * h() + fused_attention_bytes();
        if (value_of(again_attention_) > 0) attention = attention + named<N>({"A_a", "attention_again", "bytes"}, again_attention_);
        N bytes = value_of(attention) > value_of(feed_forward) ? attention : feed_forward;
        if (!fw_.gradient_fusion && !p_.freezes()) bytes = bytes + 2 * named<N>({"Y", "largest_weight", ""}, parameters_.largest_shape());
        return bytes;
    }

    // Gradients of the output, and of queries, keys and values. flash-attn (csrc/flash_attn/flash_api.cpp) sums those of the queries up in
    // 32 bits (dq_accum), and writes those of keys and values for every query head before it adds up a group's (dk_expanded).
    [[gnu::noinline]] N fused_attention_bytes() const {
        if (this->latent()) return 0.0;
        const bool grouped = fw_.attention == AttentionKernel::flash && value_of(kept_kv_heads()) < value_of(a());
        return 2 * tokens() * ((grouped ? 4 : 2) * a() + 2 * kept_kv_heads()) * d() / t() + 4 * tokens() * a() * d() / t();
    }

    N largest_matrix() const { return parameters_.largest_matrix(row_of(p_.framework).joins_adapters); }
    // A recomputed unit is alive as a whole before its backward pass; its input is the checkpoint, counted already.
    [[gnu::noinline]] N recomputed_bytes() {
        const N unit = stage_.unit * layer_bytes(stage_.last_is_expert) - flowing();
        return casts_weights(p_) && p_.recompute == Recompute::full
                   ? unit + 2 * stage_.unit * named<N>({"G", "largest_layer", ""}, parameters_.largest_layer())
                   : unit;
    }

    N further_layer_bytes() const { return m_.multi_token_layers > 0 ? layer_bytes(this->multi_token_is_expert()) : N(0.0); }

    void temporaries() {
        if (p_.pipeline_parallel > 1)
            items_.add(Item::pipeline_buffers, (p_.pieces_per_stage() == 1 ? kTensorsOnTheWay : kTensorsOnTheWayInterleaved) * flowing());
        if (fw_.attention_mask) items_.add(Item::attention_mask, b() * squared(s()));
        Gathered<N>(m_, p_, stage_, parameters_, items_).add_items();
        // before a frozen matrix is multiplied it is unpacked to 16 bits, in both passes
        if (is_packed(p_)) items_.add(Item::unpacked_weights, 2 * named<N>({"Y", "largest_weight", ""}, largest_matrix()));
        const bool has_layers = stage_.layers() > 0;
        const N first = first_backward_bytes();
        const N again = has_layers && stage_.unit > 0 ? recomputed_bytes() : N(0.0);
        if (has_layers) result_.at_backward = value_of(first) + value_of(again);
        if (stage_.has_head && stage_.head_works) {
            N head = HeadMoment<N>(m_, p_, fw_, stage_).bytes(further_layer_bytes(), result_.forward_casts);
            Item what = Item::head;
            if (keeps_unpacked_inputs(p_) && has_layers) {
                const N before = InputsBefore<N>(m_, p_, stage_, alive_).bytes();
                if (value_of(before) > value_of(head)) head = before, what = Item::inputs_before;
            }
            result_.at_head = value_of(head);
            if (!has_layers || value_of(head) >= value_of(first) + value_of(again)) return items_.add(what, head);
        }
        if (!has_layers) return;
        items_.add(Item::first_backward, first);
        if (value_of(again) > 0) items_.add(Item::recomputed_unit, again);
    }

    void calibrate(double times) {
        fourfold::calibrate(items_, times);
        for (double* bytes : {&result_.static_bytes, &result_.at_head, &result_.at_backward}) *bytes *= times;
    }

    const Framework& fw_;
    const Stage& stage_;
    const Alive<N> alive_{m_, p_, stage_};
    const FrameworkRow& row_ = row_of(p_.framework);
    Parameters<N> parameters_;
    StageMemory<N>& result_;
    Items<N>& items_;
    std::array<PerLayer, static_cast<std::size_t>(Item::count)> per_layer_;  // no allocation per plan
    std::size_t kept_count_ = 0;
    N again_attention_ = 0.0, again_feed_forward_ = 0.0;  // bytes of one layer that are not kept but computed again
    double between_steps_ = 0;                            // held between steps but not at the peak
    double leaves_ = 0;                                   // bytes of activations on the host
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
