// Based on
//   rooflines: Cost::gemm and Cost::collective (transfers.h)
//   V. Korthikanti et al., arXiv 2205.05198: tensor and sequence parallel traffic
//   S. Bekman et al.: Arctic Long Sequence Training, arXiv 2506.13996: feed-forward parts in tiles of tokens, computed again one by one
//   S. Singh et al.: A 4D Hybrid Algorithm to Scale Parallel Training (AxoNN), arXiv 2305.13525: a matrix k x n lies split both ways; its
//     output is added up along one axis, the gradient of its input along the other, and the matrices of a block take turns. Norms and
//     residuals have h / tensor_columns values of every token; attention and what lies between the two matrices of a feed-forward part are
//     split over tensor_parallel alone, and each column computes them again. The third axis is zero "weights". (derived: no measured run)
//   Megatron-LM, core/transformer/transformer_config.py, recompute_modules: what each module's name computes again
//   DeepSeek-V3, arXiv 2412.19437, section 2.2: layers that predict further tokens
// Symbols: plan/symbols.h; those of machine and constants: machine.cpp, constants.h, constants.cpp.
#include "time/layer_time.h"

#include <algorithm>
#include <initializer_list>

#include "time/attention_core.h"
#include "time/context_traffic.h"
#include "time/element_wise.h"
#include "time/ends_time.h"
#include "time/frozen.h"
#include "time/host_time.h"
#include "time/lost_operations.h"
#include "time/token_exchange.h"

namespace fourfold {

namespace {

// The weight matrices; those of experts are in transfers.h.
constexpr Part kLinearIn{"i", "linear_in"}, kLinearOut{"j", "linear_out"}, kLinearGates{"g", "linear_gates"}, kQkv{"q", "qkv"},
    kOutput{"o", "attention_output"}, kUp{"u", "feed_forward_in"}, kDown{"d", "feed_forward_out"}, kQueryDown{"r", "query_down"},
    kQuery{"q", "query"}, kKvDown{"l", "kv_down"}, kKvUp{"k", "kv_up"}, kSharedUp{"s", "shared_in"}, kSharedDown{"z", "shared_out"};

template <class N>
class LayerCost : TimeSymbols<N> {
 public:
    LayerCost(const Model& model, const Plan& plan, const Framework& framework, const Machine& machine, const Timing& timing)
        : TimeSymbols<N>(model, plan, machine, timing),
          fw_(framework),
          frozen_cost_(model, plan, machine, timing),
          attention_core_(model, plan, framework, machine, timing),
          element_wise_(model, plan, framework, machine, timing),
          token_exchange_(model, plan, framework, machine, timing),
          context_traffic_(model, plan, machine, timing),
          host_time_(model, plan, machine, timing) {}

    LayerTimesOf<N> run(const LayerTimesOf<N>* alike) {
        LayerTimesOf<N> all;
        if (alike == nullptr)
            work_out(false, all.dense, all.parameters_dense, all.frozen_dense);
        else
            all.dense = alike->dense, all.parameters_dense = alike->parameters_dense, all.frozen_dense = alike->frozen_dense;
        if (m_.experts.count > 0) work_out(true, all.expert, all.parameters_expert, all.frozen_expert);
        return all;
    }

 private:
    using T = TimeSymbols<N>;
    using L = Symbols<N>;
    using L::as_double, L::m_, L::p_, L::number;
    using T::hw_, T::on_, T::h_, T::t_, T::M_, T::seconds, T::width, T::nope, T::rope, T::value_width;

    bool splits_sequence() const { return L::sequence_parallel(); }
    bool fits_in_node(const N& gpus) const { return value_of(gpus) <= as_double(hw_.gpus_per_node); }
    static N total(std::initializer_list<N> terms) {
        N sum = 0.0;
        for (const N& term : terms) add(sum, term);
        return sum;
    }
    N of_kind(const char* letter, const char* meaning, const N& value) const {
        return named<N>({letter, meaning, "seconds", kind_}, value);
    }

    // ---- matrix multiplications
    struct Passes {
        N forward, backward;
    };
    // Of a frozen matrix (frozen.h).
    [[gnu::noinline]] Passes multiply_frozen(const Part& matrix, const N& rate, const N& tokens, const N& columns, const N& rows,
                                             bool gathers_input) {
        auto both = frozen_cost_.of_matrix(matrix, rate, tokens, columns, rows);
        both.forward = in_part(both.forward), both.backward = in_part(both.backward);
        adapters(both);
        if (gathers_input) add(hides_input_, both.backward);
        add(frozen_, in_part(columns * rows));
        return {both.forward, both.backward};
    }
    [[gnu::noinline]] void adapters(const typename FrozenCost<N>::Passes& passes) {
        add(now_.multiply_forward, passes.forward);
        add(now_.multiply_backward, passes.backward);
        add(parameters_, passes.parameters);
    }

    // Forward, gradient of the input, gradient of the weights of one matrix (rows x columns on this GPU); counts its parameters.
    Passes multiply(const Part& matrix, const N& tokens, const N& columns, const N& rows, bool gathers_input) {
        return multiply_at(rate_, matrix, tokens, columns, rows, gathers_input);
    }
    Passes multiply_at(const N& rate, const Part& matrix, const N& tokens, const N& columns, const N& rows, bool gathers_input) {
        if (p_.freezes()) return multiply_frozen(matrix, rate, tokens, columns, rows, gathers_input);
        const N input = on_.gemm(Pass::input, matrix, rate, tokens, rows, columns);
        const N weight = on_.gemm(Pass::weight, matrix, rate, rows, columns, tokens, T::added_gradient_bytes());
        const N part = T::cast_before(matrix, tokens), in = gathers_input ? part : tokens, out = gathers_input ? tokens : part;
        const Passes passes{in_part(on_.cast(on_.gemm(Pass::forward, matrix, rate, tokens, columns, rows), in, rows)),
                            in_part(on_.cast(input + weight, out, columns))};
        add(now_.multiply_forward, passes.forward);
        add(now_.multiply_backward, passes.backward);
        if (gathers_input) add(hides_input_, in_part(input)), add(hides_weight_, in_part(weight));
        add(parameters_, in_part(columns * rows));
        return passes;
    }
    // What only a part of the layers has, averaged over all.
    N in_part(const N& value) const { return value_of(part_) == 1 ? value : part_ * value; }
    [[gnu::noinline]] void both_attentions() {
        part_ = L::full_part();
        attention_matrices();
        part_ = L::linear_part();
        lost_.of(LayerMatrix::query, multiply(kLinearIn, M_, width(kLinearIn, L::linear_in() / t_), h_, true).forward);
        if (m_.linear.is_kimi()) {
            const N rank = L::linear_value_dim(), columns = L::linear_heads() * (L::linear_key_dim() + rank) / t_;
            lost_.of(LayerMatrix::query, multiply(kLinearGates, M_, width(kLinearGates, columns), rank, false).forward);
        }
        lost_.of(LayerMatrix::output, multiply(kLinearOut, M_, h_, width(kLinearOut, L::linear_values() / t_), false).forward);
        part_ = 1.0;
    }

    void attention_matrices() {
        if (!L::latent()) {
            const Passes qkv = multiply(kQkv, M_, width(kQkv, L::qkv_heads() * d_ / t_), h_, true);
            lost_.of({{LayerMatrix::query, a_}, {LayerMatrix::key, L::k()}, {LayerMatrix::value, L::k()}}, qkv.forward);
            return attention_output(width(kOutput, a_ * d_ / t_));
        }
        const N q_rank = number("r_q", "query_rank", "values", as_double(m_.latent.q_rank)),
                kv_rank = number("r_k", "kv_rank", "values", as_double(m_.latent.kv_rank));
        if (m_.latent.q_rank > 0) lost_.of(LayerMatrix::query_down, multiply(kQueryDown, M_, q_rank, h_, false).forward);
        const Passes query = multiply(kQuery, M_, width(kQuery, a_ * (nope() + rope()) / t_), m_.latent.q_rank > 0 ? q_rank : h_, true);
        lost_.of(LayerMatrix::query, query.forward);
        lost_.of(LayerMatrix::kv_down, multiply(kKvDown, M_, width(kKvDown, kv_rank + rope()), h_, false).forward);
        const Passes kv_up = multiply(kKvUp, M_, width(kKvUp, a_ * (nope() + value_width()) / t_), kv_rank, true);
        of_up_projections_ = query.forward + kv_up.forward;
        lost_.of(LayerMatrix::kv_up, kv_up.forward);
        attention_output(width(kOutput, a_ * value_width() / t_));
    }
    void attention_output(const N& rows) { lost_.of(LayerMatrix::output, multiply(kOutput, M_, h_, rows, false).forward); }

    void feed_forward_matrices(bool expert) {
        const N g = L::fan();
        if (!expert) {
            if (m_.one_part) part_ = L::feed_forward_part();
            const N tokens = tiled_tokens(), columns = width(kUp, g * f_ / t_), rows = width(kDown, f_ / t_);
            const Passes up = multiply(kUp, tokens, columns, h_, true);
            const Passes down = multiply(kDown, tokens, h_, rows, false);
            part_ = 1.0;
            of_feed_forward_ = up.forward + down.forward;
            lost_.of_feed_forward(up.forward, down.forward);
            if (p_.feed_forward_tiles > 1) in_tiles(up.backward + down.backward);
            return;
        }
        const N here = number("n_x", "gpu_experts", "", as_double(m_.experts.count / p_.expert_parallel)), e = L::e();
        N copies = M_ / t_ * visits() * e;
        if (p_.expert_imbalance != 1) copies = copies * number("w", "expert_imbalance", "", p_.expert_imbalance);
        copies = named<N>({"T", "routed_tokens", "tokens"}, copies);
        const N each = named<N>({"T_x", "expert_tokens", "tokens"}, copies / here);
        const N forward_before = now_.multiply_forward, backward_before = now_.multiply_backward;
        const N rate = grouped_rate(), reads = L::expert_h();
        const Passes up = multiply_at(rate, kExpertUp, each, width(kExpertUp, g * L::expert_ffn() / e), reads, false);
        const Passes down = multiply_at(rate, kExpertDown, each, reads, width(kExpertDown, L::expert_ffn() / e), false);
        // one expert's: in doubles what the sums have grown by
        const N forward = named<N>({"Q_f", "expert_forward", "seconds"}, up.forward + down.forward,
                                   value_of(now_.multiply_forward) - value_of(forward_before));
        const N backward = named<N>({"Q_b", "expert_backward", "seconds"}, up.backward + down.backward,
                                    value_of(now_.multiply_backward) - value_of(backward_before));
        now_.multiply_forward = forward_before + here * forward;
        now_.multiply_backward = backward_before + here * backward;
        of_feed_forward_ = here * forward;
        lost_.of_experts(of_feed_forward_);
        now_.routed_forward = value_of(here) * value_of(forward);
        now_.routed_backward = value_of(here) * value_of(backward);
        add(p_.freezes() ? frozen_ : parameters_, (here - 1) * (g + 1) * reads * L::expert_ffn() / e);
        if (m_.experts.latent > 0) latent_matrices(reads);
        if (p_.freezes()) adapters(frozen_cost_.of_experts(copies));
        if (m_.experts.shared_ffn > 0) {
            const Passes wider = multiply(kSharedUp, M_, width(kSharedUp, g * L::shared_ffn() / t_), h_, true);
            const Passes narrower = multiply(kSharedDown, M_, h_, width(kSharedDown, L::shared_ffn() / t_), false);
            of_shared_experts_ = wider.forward + narrower.forward;
            lost_.of_feed_forward(wider.forward, narrower.forward);
        }
        if (p_.expert_parallel > 1) {
            const bool in_fp8 = fw_.stores_fp8 && is_fp8(p_.precision);  // there, not back
            const N one = seconds("J_1", "token_exchange",
                                  token_exchange_.seconds(in_fp8 ? on_.of(kDispatchedBytes) * copies * reads : 2 * copies * reads));
            now_.expert_forward = now_.expert_backward = 2 * one;
        }
    }
    // On every GPU whole, for its part of the tokens.
    [[gnu::noinline]] void latent_matrices(const N& reads) {
        const N tokens = L::sequence_parallel() ? M_ / t_ : M_;
        multiply(kLatentIn, tokens, reads, h_, false);
        multiply(kLatentOut, tokens, h_, reads, false);
    }
    N grouped_rate() const {
        const N share = on_.of(&Timing::grouped);
        return value_of(share) == 1 ? rate_ : named<N>({"R_k", "grouped_rate", "flop_per_s"}, share * rate_);
    }
    N tiles() const { return number("n_t", "feed_forward_tiles", "", as_double(p_.feed_forward_tiles)); }
    N tiled_tokens() const { return p_.feed_forward_tiles > 1 ? named<N>({"M_t", "tile_tokens", "tokens"}, M_ / tiles()) : M_; }
    // All tiles but the first, which is counted; in the backward pass each is computed again before. (What tensor-parallel traffic can hide
    // beneath is the work of one tile.)
    [[gnu::noinline]] void in_tiles(const N& backward) {
        const N one = of_feed_forward_;
        of_feed_forward_ = tiles() * one;
        add(now_.multiply_forward, (tiles() - 1) * one);
        add(now_.multiply_backward, (tiles() - 1) * backward + of_feed_forward_);
    }
    N visits() const { return number("q", "experts_per_token", "", as_double(m_.experts.per_token)); }

    // ---- recomputation operation by operation
    // With the multiplications all that stands beside them, and of the four exchanges of a forward pass those two that gather; attention
    // only where it is made of single operations. What experts exchange is kept.
    N of_operations() const {
        N sum = total({lost_.sum(), cited(now_.element_forward)});
        if (fw_.attention == AttentionKernel::unfused || fw_.attention == AttentionKernel::local) add(sum, cited(now_.attention_forward));
        if (p_.tensor_parallel > 1) add(sum, cited(now_.tensor_forward) / 2);
        return sum;
    }

    // A weight to 16 bits, and its gradient to 32: 6 bytes each. To 8 bits for each pass: read twice, the first time for the largest.
    [[gnu::noinline]] void cast_weights(double bytes) {
        const N one = bytes * named<N>({"P_l", "layer_parameters", "", kind_}, parameters_) / on_.memory();
        add(now_.element_forward, one);
        add(now_.element_backward, one);
    }

    // ---- selective recomputation
    // What modules computed again cost: their forward pass, as it is counted above. (Recomputing "moe" takes its parts along.)
    N of_modules(bool expert) const {
        const auto again = [&](RecomputeModule module) { return p_.recomputes(module); };
        const bool up = again(mla_up_proj) && L::latent(), whole = again(expert ? moe : mlp);
        const bool shared = expert && !whole && again(shared_experts) && m_.experts.shared_ffn > 0;
        N sum = 0.0;
        if (again(core_attn)) add(sum, now_.recomputed);
        if (again(core_attn) && !L::has_linear()) add(sum, cited(now_.context_forward));
        if (up) add(sum, of_up_projections_);
        if (whole) add(sum, of_feed_forward_);
        if (shared || (whole && expert)) add(sum, of_shared_experts_);
        const N seconds_again = element_wise_.again(expert, kind_, up, whole, shared);
        if (value_of(seconds_again) > 0) add(sum, seconds_again);
        if (whole) add(sum, cited(now_.expert_forward));
        // of the four exchanges of a forward pass one gathers attention's input, two are the feed-forward part's, or all if it is alone
        const double its = m_.one_part ? 4 * (expert ? 1 : feed_forward_part(m_)) : 2;
        const double exchanges = (up ? 1 : 0) + (whole || shared ? its : 0);
        if (exchanges > 0) add(sum, exchanges * cited(now_.tensor_forward) / 4);
        return sum;
    }

    // ---- traffic
    void tensor_traffic() {
        using std::min;
        if (p_.tensor_parallel <= 1) return;
        N one = this->tensor_collective();
        const bool overlaps = p_.tensor_overlap && splits_sequence() && fits_in_node(t_);
        if (overlaps)
            one = seconds("Z_2", "exposed_collective",
                          on_.of(kOverlapLatency) + on_.of(&Timing::tensor_overlap_exposed) * (one - on_.of(&Timing::link_latency)));
        if (m_.one_part) one = one / 2;  // two in the place of four
        now_.tensor_forward = 4 * one;
        if (overlaps || !splits_sequence()) {  // all-reduces, which nothing hides
            now_.tensor_backward = (overlaps ? 6 : 4) * one;
            return;
        }
        // gradients of matrices whose input is gathered
        const N input = cited<N>({"I_g", "input_gradient_time", "seconds", kind_}, hides_input_),
                weight = cited<N>({"W_g", "weight_gradient_time", "seconds", kind_}, hides_weight_);
        const N under_input = of_kind("U_i", "under_input_gradients", min(2 * one, input)),
                under_weight = of_kind("U_w", "under_weight_gradients", min(2 * one, weight));
        now_.tensor_backward =
            2 * one + (2 * one - under_input) + (2 * one - under_weight) + on_.of(&Timing::tensor_exposed) * (under_input + under_weight);
    }

    void column_traffic() {
        N first = L::qkv_heads() * d_, second = a_ * d_;
        if (L::has_linear()) first = L::averaged(first, L::linear_in()), second = L::averaged(second, L::linear_values());
        add(now_.tensor_forward, this->along_columns("Y_f", "column_traffic_forward", first, L::in_some(L::fan() * f_)));
        add(now_.tensor_backward, this->along_columns("Y_b", "column_traffic_backward", second, L::in_some(f_)));
    }

    // ---- layer and ends
    // Gives every part its letter: in other formulas they are given under it.
    void name_parts() {
        const auto name = [&](N& part, const char* letter, const char* meaning, const Part* kind) {
            if (value_of(part) != 0) part = named<N>({letter, meaning, "seconds", kind}, part);
        };
        name(now_.multiply_forward, "G_f", "multiplications_forward", kind_);
        name(now_.multiply_backward, "G_b", "multiplications_backward", kind_);
        name(now_.element_forward, "w_f", "element_wise_forward", kind_);
        name(now_.element_backward, "w_b", "element_wise_backward", kind_);
        name(now_.tensor_forward, "Z_f", "tensor_traffic_forward", kind_);
        name(now_.tensor_backward, "Z_b", "tensor_traffic_backward", kind_);
        name(now_.context_forward, "K_f", "context_traffic_forward", nullptr);
        name(now_.context_backward, "K_b", "context_traffic_backward", nullptr);
        name(now_.expert_forward, "J_f", "expert_traffic_forward", nullptr);
        name(now_.expert_backward, "J_b", "expert_traffic_backward", nullptr);
    }

    // Launched ahead; when a layer is short the CPU becomes the slower of the two. Where it never waits for the GPU, a whole micro-batch is
    // launched ahead (step_time.cpp): 143 runs of nanotron tell it so, 84 of Megatron-LM on A100 and 60 of models with experts do not.
    void launched(const N& forward, const N& backward, const N& cpu_forward, const N& cpu_backward) {
        const bool from_graph = p_.cuda_graphs == CudaGraphs::step, ahead = row_of(p_.framework).launches_ahead;
        now_.forward = of_kind("F", "layer_forward", from_graph || ahead ? cited(forward) : norm4(forward, cpu_forward));
        now_.backward = of_kind("B", "layer_backward", from_graph || ahead ? cited(backward) : norm4(backward, cpu_backward));
        if (!from_graph && !ahead) now_.host_forward = value_of(cpu_forward), now_.host_backward = value_of(cpu_backward);
        if (from_graph || !ahead) return;
        now_.launch_forward = of_kind("C_f", "launch_forward", cpu_forward);
        now_.launch_backward = of_kind("C_b", "launch_backward", cpu_backward);
    }

    void work_out(bool expert, LayerTimeOf<N>& times, N& parameters, N& frozen) {
        times = layer(expert), parameters = named<N>({"P_l", "layer_parameters", "", kind_}, parameters_);
        frozen = frozen_cost_.bytes_of(frozen_, kind_);
    }
    LayerTimeOf<N> layer(bool expert) {
        now_ = LayerTimeOf<N>{};
        kind_ = expert ? &kExpertLayer : nullptr;
        parameters_ = frozen_ = hides_input_ = hides_weight_ = of_up_projections_ = of_feed_forward_ = of_shared_experts_ = 0.0;
        lost_.begin(expert);
        const bool mixes = L::has_mixer(expert), linear = L::has_linear() && mixes;
        if (mixes) linear ? both_attentions() : attention_matrices();
        if (expert || L::feeds_forward()) feed_forward_matrices(expert);
        if (p_.freezes()) adapters(frozen_cost_.of_layer(expert));
        if (mixes) {
            attention_core_.add_to(now_);
            context_traffic_.add_to(now_);
            if (linear) attention_core_.average_with_linear(now_);
        }
        element_wise_.add_to(now_, expert, kind_);
        if (casts_weights(p_)) cast_weights(6);
        if (casts_to_8_bits(p_, fw_)) cast_weights(5);
        tensor_traffic();
        if (p_.tensor_columns > 1) column_traffic();
        token_exchange_.hide(now_);
        name_parts();
        const N forward = of_kind("F_0", "layer_work_forward",
                                  total({cited(now_.multiply_forward), cited(now_.attention_forward), cited(now_.element_forward),
                                         cited(now_.tensor_forward), cited(now_.context_forward), cited(now_.expert_forward)}));
        if (p_.recompute == Recompute::full) now_.recomputed = forward;
        if (p_.recompute == Recompute::selective) now_.recomputed = of_modules(expert);
        if (p_.recompute == Recompute::operations) now_.recomputed = of_operations();
        if (value_of(now_.recomputed) != 0) now_.recomputed = of_kind("r", "computed_again", now_.recomputed);
        const N backward = of_kind(
            "B_0", "layer_work_backward",
            total({cited(now_.multiply_backward), cited(now_.attention_backward), cited(now_.element_backward), cited(now_.tensor_backward),
                   cited(now_.context_backward), cited(now_.expert_backward), cited(now_.recomputed)}));
        const N host = host_time_.forward(expert, linear, p_.freezes() ? frozen_cost_.adapters_of_layer(expert) : N(0.0));
        launched(forward, backward, host, host_time_.backward(host));
        if (p_.recompute == Recompute::block) now_.recomputed = of_kind("r", "computed_again", cited(now_.forward));
        return now_;
    }

    const Framework& fw_;
    const N a_ = L::a(), d_ = L::d(), f_ = L::f(), rate_ = on_.rate();
    LayerTimeOf<N> now_;
    const Part* kind_ = nullptr;  // of the layer at hand
    const FrozenCost<N> frozen_cost_;
    const AttentionCore<N> attention_core_;
    const ElementWise<N> element_wise_;
    const TokenExchange<N> token_exchange_;
    const ContextTraffic<N> context_traffic_;
    const HostTime<N> host_time_;
    LostOperations<N> lost_{m_, p_};
    N part_ = 1.0;                                                                 // of the layers that have the matrices at hand
    N parameters_ = 0.0, frozen_ = 0.0;                                            // that learn, and that do not
    N of_up_projections_ = 0.0, of_feed_forward_ = 0.0, of_shared_experts_ = 0.0;  // their multiplications, forward
    N hides_input_ = 0.0, hides_weight_ = 0.0;                                     // work under which tensor-parallel traffic can hide
};

}  // namespace

template <class N>
LayerTimesOf<N> layer_times(const Model& model, const Plan& plan, const Framework& framework, const Machine& machine, const Timing& timing,
                            const LayerTimesOf<N>* alike) {
    LayerTimesOf<N> all = LayerCost<N>(model, plan, framework, machine, timing).run(alike);
    if (plan.activation_offload > 0) all.kept = kept_bytes(model, plan, framework);
    EndsCost<N>(model, plan, framework, machine, timing).add_to(all);
    return all;
}
#ifdef FOURFOLD_TRACED
template LayerTimesOf<Traced> layer_times<Traced>(const Model&, const Plan&, const Framework&, const Machine&, const Timing&,
                                                  const LayerTimesOf<Traced>*);
#else
template LayerTimes layer_times<double>(const Model&, const Plan&, const Framework&, const Machine&, const Timing&, const LayerTimes*);
#endif

}  // namespace fourfold
