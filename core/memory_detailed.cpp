// Every item of every pipeline stage. Based on
//   V. Korthikanti et al.: Reducing Activation Recomputation in Large Transformer Models, arXiv 2205.05198 (2022), section 4: what a layer
//   keeps S. Rajbhandari et al.: ZeRO, arXiv 1910.02054 (2019): what an optimizer holds and how it is shared out D. Narayanan et al., arXiv
//   2104.04473 (2021), and schedule.h: how many micro-batches are alive
// and on what Megatron-Core and Transformer Engine allocate, established on measured runs (tests/measured/memory_runs.json).
// Legend
//   s sequence   b micro-batch   h hidden   f feed-forward width   a, k heads, KV heads   d head width   v padded vocabulary
//   t, c, D, p tensor, context, data, pipeline parallel   N = s*b/c tokens of a rank   Ns = N/t of them in the sequence-parallel regions
//   K layers times micro-batches alive (Kd dense, Ke with experts)   e tensor parallel of experts   E experts   T token copies that reach a
//   rank
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "memory.h"
#include "schedule.h"

namespace fourfold {

namespace {

// Layers of a stage, and layers times micro-batches alive at the moment when it holds most.
struct Alive {
    double dense_layers = 0, expert_layers = 0;
    double dense = 0, experts = 0;
    double first_chunk = 0;  // micro-batches of the first chunk
    bool last_is_expert = false;
};

Alive count_alive(const Model& model, const Plan& plan, const StageLayers& layers, std::int32_t stage) {
    const auto stages = static_cast<std::int32_t>(plan.pipeline_parallel), chunks = static_cast<std::int32_t>(plan.virtual_stages);
    const auto m = static_cast<std::int32_t>(std::min<std::int64_t>(plan.micro_batches(), 1'000'000));
    const auto in_flight =
        stages == 1 ? std::vector<std::int32_t>(1, 1)
                    : in_flight_closed_form(chunks > 1 ? ScheduleKind::interleaved : ScheduleKind::one_f_one_b, stages, chunks, m, stage);
    Alive alive;
    alive.first_chunk = in_flight[0];
    std::size_t layer = 0;
    for (std::int32_t chunk = 0; chunk < chunks; ++chunk)
        for (std::int32_t other = 0; other < stages; ++other) {
            const std::int64_t here = layers.empty() ? model.layers / (std::int64_t{stages} * chunks)
                                                     : layers[static_cast<std::size_t>(other)][static_cast<std::size_t>(chunk)];
            for (std::int64_t i = 0; i < here; ++i, ++layer) {
                if (other != stage) continue;
                const bool expert = !model.expert_layers.empty() && model.expert_layers[layer] != 0;
                (expert ? alive.expert_layers : alive.dense_layers) += 1;
                (expert ? alive.experts : alive.dense) += in_flight[static_cast<std::size_t>(chunk)];
                alive.last_is_expert = expert;
            }
        }
    return alive;
}

enum class Weight {
    query_down,
    query,
    kv_down,
    kv_up,
    qkv,
    projection,
    fc1,
    fc2,
    expert_fc1,
    expert_fc2,
    shared_fc1,
    shared_fc2,
    multi_token,
    count
};

template <class N>
class Estimate {
 public:
    Estimate(const Model& model, const Plan& plan, const Framework& framework, const Workspaces& workspaces, const StageLayers& layers,
             std::int32_t stage)
        : m_(model),
          p_(plan),
          fw_(framework),
          ws_(workspaces),
          alive_(count_alive(model, plan, layers, stage)),
          first_(stage == 0),
          last_(stage + 1 == plan.pipeline_parallel) {}

    StageMemory<N> run() {
        StageMemory<N> result;
        states();
        buffers();
        result.static_bytes = items_.total() + between_steps_;
        activations();
        temporaries();
        result.items = items_;
        result.peak_bytes = std::max(items_.total(), result.static_bytes);
        return result;
    }

 private:
    static N number(const char* letter, const char* meaning, const char* unit, double value) {
        return quantity<N>({letter, meaning, unit}, value);
    }
    static double as_double(std::int64_t value) { return static_cast<double>(value); }

    // ---- letters
    N h() const { return number("h", "hidden size", "values per token", as_double(m_.hidden)); }
    N f() const { return number("f", "feed-forward width", "values per token", as_double(m_.ffn)); }
    N a() const { return number("a", "attention heads", "", as_double(m_.heads)); }
    N k() const {  // Megatron copies KV heads where there are fewer than tensor ranks
        return number("k", "KV heads, at least one per tensor-parallel GPU", "",
                      as_double(std::max(m_.kv_heads, std::min(p_.tensor_parallel, m_.heads))));
    }
    N d() const { return number("d", "head width", "values", as_double(m_.head_dim)); }
    N t() const { return number("t", "tensor parallel (TP)", "GPUs", as_double(p_.tensor_parallel)); }
    N c() const { return number("c", "context parallel (CP)", "GPUs", as_double(p_.context_parallel)); }
    N b() const { return number("b", "micro-batch", "sequences", as_double(p_.micro_batch)); }
    N s() const { return number("s", "sequence length", "tokens", as_double(p_.sequence_length)); }
    N v() const {
        return number("v", "vocabulary, padded to a multiple of 128·t", "words", as_double(padded_vocabulary(m_, p_.tensor_parallel)));
    }
    N tokens() const { return named<N>({"N", "tokens of a micro-batch on one GPU", "tokens"}, s() * b() / c()); }
    bool sequence_parallel() const { return p_.sequence_parallel && p_.tensor_parallel > 1; }
    N split_tokens() const {
        return sequence_parallel() ? named<N>({"N_s", "tokens of a GPU where sequence parallelism splits them", "tokens"}, tokens() / t())
                                   : tokens();
    }
    N fan() const { return number("g", "matrices that widen the feed-forward part (2 when gated)", "", m_.gated ? 2 : 1); }
    N norm_parameters() const { return number("n", "parameters of a norm per hidden value", "", m_.layer_norm ? 2 : 1); }
    N alive_layers() const { return number("K", "layers of the stage times micro-batches in flight", "", alive_.dense + alive_.experts); }
    N alive_dense() const { return number("K_d", "dense layers times micro-batches in flight", "", alive_.dense); }
    N alive_experts() const { return number("K_e", "expert layers times micro-batches in flight", "", alive_.experts); }
    N e() const { return number("e", "tensor parallel of experts (ETP)", "GPUs", as_double(p_.expert_tensor_parallel)); }
    N experts() const { return number("E", "experts", "", as_double(m_.experts.count)); }
    N expert_ffn() const { return number("f_e", "width of an expert", "values per token", as_double(m_.experts.ffn)); }
    N shared_ffn() const { return number("f_s", "width of the shared experts", "values per token", as_double(m_.experts.shared_ffn)); }
    N routed_tokens() const {  // balanced routing
        const N visits = number("q", "experts per token", "", as_double(m_.experts.per_token));
        const bool whole = p_.tensor_parallel > 1 && !sequence_parallel();
        return named<N>({"T", "token copies that reach the experts of a GPU, evenly shared", "tokens"},
                        whole ? tokens() * visits : split_tokens() * visits * e());
    }
    bool latent() const { return m_.latent.kv_rank > 0; }
    bool keeps_scores() const { return fw_.attention == AttentionKernel::unfused || fw_.attention == AttentionKernel::local; }

    // ---- parameters
    N attention_parameters() {
        const LatentAttention& l = m_.latent;
        const double qk = as_double(l.nope_dim + l.rope_dim);
        if (latent()) {
            const N q = l.q_rank > 0 ? weight(Weight::query_down, h() * as_double(l.q_rank)) +
                                           weight(Weight::query, as_double(l.q_rank) * a() * qk / t())
                                     : weight(Weight::query, h() * a() * qk / t());
            const N kv = weight(Weight::kv_down, h() * as_double(l.kv_rank + l.rope_dim)) +
                         weight(Weight::kv_up, as_double(l.kv_rank) * a() * as_double(l.nope_dim + l.value_dim) / t());
            N all = q + kv + weight(Weight::projection, a() * as_double(l.value_dim) * h() / t());
            if (m_.attention_out_bias) all = all + h();
            if (m_.qk_norm) all = all + norm_parameters() * as_double(l.q_rank + l.kv_rank);
            return all;
        }
        const N columns = (a() + 2 * k()) * d() / t();
        N all = weight(Weight::qkv, h() * columns) + weight(Weight::projection, a() * d() / t() * h());
        if (m_.qkv_bias) all = all + columns;
        if (m_.attention_out_bias) all = all + h();
        if (m_.qk_norm) all = all + 2 * norm_parameters() * d();
        return all;
    }
    N mlp_parameters(Weight first, const N& width, const N& ranks) {
        const auto second = static_cast<Weight>(static_cast<int>(first) + 1);
        N all = weight(first, h() * width * fan() / ranks) + weight(second, width / ranks * h());
        if (m_.mlp_bias) all = all + width * fan() / ranks + h();
        return all;
    }
    // Parameters that data-parallel ranks share, of layers outside the experts.
    N layer_parameters(double dense_layers, double expert_layers) {
        N all = (dense_layers + expert_layers) * (attention_parameters() + m_.norms_per_layer * norm_parameters() * h());
        if (dense_layers > 0) all = all + dense_layers * mlp_parameters(Weight::fc1, f(), t());
        if (expert_layers > 0) {
            N beside = h() * experts();  // router
            if (m_.experts.shared_ffn > 0) {
                beside = beside + mlp_parameters(Weight::shared_fc1, shared_ffn(), t());
                if (m_.experts.shared_gate) beside = beside + h();
            }
            all = all + expert_layers * beside;
        }
        return all;
    }
    N expert_parameters(double expert_layers) {
        const double here = as_double(m_.experts.count / p_.expert_parallel);
        return expert_layers * here * mlp_parameters(Weight::expert_fc1, expert_ffn(), e());
    }
    // Notes a weight matrix's size under its name, for the dummy gradients and the largest unfused one: the layers' weights share them.
    N weight(Weight which, const N& size) {
        weights_[static_cast<std::size_t>(which)] = value_of(size);
        return size;
    }

    void states() {
        const bool separate_head = p_.pipeline_parallel > 1 || !m_.tied;
        N dense = layer_parameters(alive_.dense_layers, alive_.expert_layers);
        N routed = alive_.expert_layers > 0 ? expert_parameters(alive_.expert_layers) : N(0.0);
        bool has_experts = alive_.expert_layers > 0;
        const N vocabulary = v() / t() * h();
        if (first_) {
            dense = dense + vocabulary;
            if (m_.learned_positions) dense = dense + as_double(m_.max_positions) * h();
        }
        if (last_) {
            dense = dense + norm_parameters() * h();
            if (separate_head) dense = dense + vocabulary;
            for (int i = 0; i < m_.multi_token_layers; ++i) {
                const bool expert = !m_.expert_layers.empty() && m_.expert_layers.back() != 0;
                dense = dense + layer_parameters(expert ? 0 : 1, expert ? 1 : 0) + weight(Weight::multi_token, 2 * squared(h()) / t()) +
                        3 * norm_parameters() * h();
                if (expert) routed = routed + expert_parameters(1), has_experts = true;
                if (p_.pipeline_parallel > 1) dense = dense + vocabulary;
            }
        }
        const N P = named<N>({"P", "parameters of this GPU, without experts", ""}, dense);
        add_rounding(value_of(dense), separate_head);
        const double world = as_double(p_.gpus);
        const auto share = [&](double ranks) { return std::max(1.0, std::floor(ranks / as_double(p_.optimizer_instances))); };
        const N S = number("S", "GPUs that share the optimizer's state", "GPUs",
                           p_.distributed_optimizer ? share(world / as_double(p_.tensor_parallel * p_.pipeline_parallel)) : 1);
        const double gradient = p_.gradients_in_fp32 ? 4 : 2;
        if (!has_experts) {
            items_.add(Item::weights, 2 * P);
            items_.add(Item::gradients, gradient * P);
            items_.add(Item::master_weights, 4 * P / S);
            items_.add(Item::moments, 8 * P / S);
            if (!p_.gradients_in_fp32) between_steps_ += value_of(4 * P / S);
            return;
        }
        const N X = named<N>({"X", "parameters of this GPU's experts", ""}, routed);
        const N R = number(
            "R", "GPUs that share the optimizer's state of the same experts", "GPUs",
            p_.distributed_optimizer ? share(world / as_double(p_.expert_tensor_parallel * p_.expert_parallel * p_.pipeline_parallel)) : 1);
        items_.add(Item::weights, 2 * (P + X));
        items_.add(Item::gradients, gradient * (P + X));
        items_.add(Item::master_weights, 4 * (P / S + X / R));
        items_.add(Item::moments, 8 * (P / S + X / R));
        if (!p_.gradients_in_fp32) between_steps_ += value_of(4 * (P / S + X / R));
    }

    // What PyTorch's caching allocator adds to a block: from 10 MiB on it takes steps of 2 MiB, and cuts off only more than 1 MiB
    // (c10/cuda/CUDACachingAllocator.cpp: kMinLargeAlloc, kRoundLarge, kSmallSize).
    static double rounding(double bytes) {
        constexpr double kMebi = 1024.0 * 1024.0;
        const double rest = std::ceil(bytes / (2 * kMebi)) * 2 * kMebi - bytes;
        return bytes >= 10 * kMebi && rest <= kMebi ? rest : 0;
    }
    // The gradients lie in one buffer, and so do the weights under the distributed optimizer. Otherwise every tensor has a block of its
    // own; those of the vocabulary are the ones above 10 MiB in small models, and the rest does not matter in large ones.
    void add_rounding(double parameters, bool separate_head) {
        const double gradient = p_.gradients_in_fp32 ? 4 : 2, tensor = value_of(v() / t() * h());
        const int tensors = (first_ ? 1 : 0) + (last_ && separate_head ? 1 : 0);
        double bytes = rounding(gradient * parameters);
        if (p_.distributed_optimizer)
            bytes += rounding(2 * parameters);
        else
            bytes += tensors * (rounding(2 * tensor) + 3 * rounding(4 * tensor));  // weights; precise copy and two averages
        if (bytes > 0) items_.add(Item::allocator_rounding, number("O", "what the allocator adds to large blocks", "bytes", bytes));
    }

    // ---- workspaces and buffers
    N flowing() const { return 2 * split_tokens() * h(); }  // the tensor between two layers or stages
    N score_bytes() const { return b() * a() / t() * squared(s()) / c(); }

    void buffers() {
        if (fw_.caches_dummy_gradients) {
            double elements = last_ ? value_of(v() / t() * h()) : 0;
            for (const double size : weights_) elements += size;
            items_.add(Item::dummy_gradients, 2 * number("Z", "elements of all distinct weight shapes", "", elements));
        }
        const bool has_experts = m_.experts.count > 0, grouped = has_experts && fw_.grouped_gemm;
        const double engines = (fw_.transformer_engine || grouped ? 1 : 0) + (grouped ? 4 : 0);
        const N engine = number("w", "one workspace of Transformer Engine", "bytes", ws_.transformer_engine);
        const N blas = number("u", "one workspace of cuBLAS", "bytes", fw_.large_cublas_workspace ? ws_.cublas_large : ws_.cublas_small);
        items_.add(Item::library_workspaces, engines * engine + 2 * blas);
        const N gather = 2 * tokens() * h();
        const bool gathers = sequence_parallel() && last_;
        if (fw_.attention == AttentionKernel::local) {
            const N scores = 2 * score_bytes();
            items_.add(Item::global_buffer, gathers && value_of(gather) > value_of(scores) ? gather : scores);
        } else if (gathers)
            items_.add(Item::global_buffer, gather);
        if (p_.pipeline_parallel > 1) between_steps_ += 2 * as_double(p_.virtual_stages) * value_of(flowing());
    }

    // ---- what a layer keeps for its backward pass
    enum class Kept { every_layer, dense, experts };
    struct PerLayer {
        Item item;
        Kept kept;
        N bytes;
    };

    void attention_kept(std::vector<PerLayer>& list) const {
        const auto add = [&](Item item, const N& bytes) { list.push_back({item, Kept::every_layer, bytes}); };
        const LatentAttention& l = m_.latent;
        add(Item::norm_activations, 8 * split_tokens() * h() + 8 * norm_parameters() * split_tokens());
        N out_width = d();
        if (latent()) {
            out_width = N(as_double(l.value_dim));
            const double copies = m_.qk_norm ? 2 : 1;
            add(Item::latent_activations, 2 * split_tokens() * (copies * as_double(l.q_rank + l.kv_rank) + as_double(l.rope_dim)));
            add(Item::qkv_activations,
                2 * tokens() * a() * (2 * as_double(l.nope_dim + l.rope_dim) + as_double(l.nope_dim + l.value_dim)) / t());
        } else {
            add(Item::qkv_activations, 2 * tokens() * (a() + 2 * k()) * d() / t());
            if (m_.qk_norm)
                add(Item::qk_norm_activations, 2 * tokens() * (a() + 2 * number("k", "KV heads", "", as_double(m_.kv_heads))) * d() / t() +
                                                   8 * norm_parameters() * tokens() * a() / t());
        }
        const N output = 2 * tokens() * a() * out_width / t();
        add(Item::attention_output, output);
        if (p_.context_parallel > 1 || (fw_.attention == AttentionKernel::flash && p_.micro_batch > 1)) {
            const double copies =
                (p_.context_parallel > 1 ? 1 : 0) + (fw_.attention == AttentionKernel::flash && p_.micro_batch > 1 ? 1 : 0);
            add(Item::attention_output_copy, copies * output);
        }
        if (keeps_scores()) {
            const bool copies = fw_.attention == AttentionKernel::local && !fw_.fused_masked_softmax;
            add(Item::attention_scores, ((copies ? 6 : 2) + (p_.attention_dropout ? (copies ? 1 : 3) : 0)) * score_bytes());
        } else
            add(Item::log_sum_exp, 4 * tokens() * a() / t());
        if (p_.hidden_dropout) add(Item::dropout_masks, 2 * split_tokens() * h());
    }

    void feed_forward_kept(std::vector<PerLayer>& list) const {
        list.push_back({Item::feed_forward_activations, Kept::dense, 2 * tokens() * f() * fan() / t() + 2 * tokens() * f() / t()});
        if (m_.experts.count == 0) return;
        const auto add = [&](Item item, const N& bytes) { list.push_back({item, Kept::experts, bytes}); };
        const N T = routed_tokens();
        add(Item::router_activations, 14 * split_tokens() * experts());
        add(Item::expert_activations,
            T * (2 * h() + 2 * expert_ffn() * fan() / e() + (fw_.fused_gated_activation ? 2 : 4) * expert_ffn() / e() + 4));
        if (m_.experts.shared_ffn > 0)
            add(Item::shared_expert_activations, 2 * tokens() * shared_ffn() * fan() / t() + 2 * tokens() * shared_ffn() / t());
    }

    void activations() {
        attention_kept(per_layer_);
        feed_forward_kept(per_layer_);
        for (const PerLayer& one : per_layer_) {
            const N layers = one.kept == Kept::every_layer ? alive_layers() : one.kept == Kept::dense ? alive_dense() : alive_experts();
            if (value_of(layers) > 0) items_.add(one.item, one.bytes * layers);
        }
        if (first_ && p_.hidden_dropout)
            items_.add(Item::embedding_dropout_mask, split_tokens() * h() * number("F", "micro-batches in flight", "", alive_.first_chunk));
    }

    // ---- the worst moment
    // Kept by one layer of the kind that predicts further tokens.
    N multi_token_layer() const {
        const bool expert = !m_.expert_layers.empty() && m_.expert_layers.back() != 0;
        N sum = 12 * split_tokens() * h();
        for (const PerLayer& one : per_layer_)
            if (one.kept == Kept::every_layer || (one.kept == Kept::experts) == expert) sum = sum + one.bytes;
        return sum;
    }

    N head_bytes() const {
        constexpr double kAtWorst[] = {6, 10, 2}, kKept[] = {4, 4, 2};  // bytes per logit, by LossKernel
        const double worst = kAtWorst[static_cast<int>(fw_.loss)], kept = kKept[static_cast<int>(fw_.loss)];
        const double extra = m_.multi_token_layers;
        const N logits = tokens() * v() / t();
        N loss = 4 * split_tokens() * h() + (worst + extra * kept) * logits;
        N backward = 4 * split_tokens() * h() + (2 + extra * kept) * logits + 2 * tokens() * h();
        if (!fw_.fused_gradient_accumulation) backward = backward + 2 * v() / t() * h();
        N head = value_of(loss) >= value_of(backward) ? loss : backward;
        if (extra > 0) head = head + extra * multi_token_layer();
        if (fw_.deferred_embedding_gradient) head = head + 2 * (2 * logits + 2 * tokens() * h());
        return head;
    }

    N first_backward_bytes() const {
        N bytes = alive_.last_is_expert ? routed_tokens() * (2 * expert_ffn() * fan() / e() + 2 * h()) + 4 * split_tokens() * h()
                                        : 2 * tokens() * f() * fan() / t() + 4 * split_tokens() * h();
        if (keeps_scores() && value_of(4 * score_bytes()) > value_of(bytes)) bytes = 4 * score_bytes();
        if (!fw_.fused_gradient_accumulation)
            bytes = bytes + 2 * number("Y", "elements of the largest weight", "", *std::max_element(weights_.begin(), weights_.end()));
        return bytes;
    }

    void temporaries() {
        if (p_.pipeline_parallel > 1) items_.add(Item::pipeline_buffers, (p_.virtual_stages == 1 ? 2 : 3) * flowing());
        if (fw_.creates_attention_mask) items_.add(Item::attention_mask, b() * squared(s()));
        const N first = first_backward_bytes();
        const bool has_layers = alive_.dense_layers + alive_.expert_layers > 0;
        if (last_) {
            const N head = head_bytes();
            if (!has_layers || value_of(head) >= value_of(first)) return items_.add(Item::head, head);
        }
        if (has_layers) items_.add(Item::first_backward, first);
    }

    const Model& m_;
    const Plan& p_;
    const Framework& fw_;
    const Workspaces& ws_;
    const Alive alive_;
    const bool first_, last_;
    Items<N> items_;
    std::vector<PerLayer> per_layer_;
    std::array<double, static_cast<std::size_t>(Weight::count)> weights_{};
    double between_steps_ = 0;  // held between steps but not at the peak
};

}  // namespace

template <class N>
StageMemory<N> detailed(const Model& model, const Plan& plan, const Framework& framework, const Workspaces& workspaces,
                        const StageLayers& layers, std::int32_t stage) {
    return Estimate<N>(model, plan, framework, workspaces, layers, stage).run();
}
template StageMemory<double> detailed<double>(const Model&, const Plan&, const Framework&, const Workspaces&, const StageLayers&,
                                              std::int32_t);
template StageMemory<Traced> detailed<Traced>(const Model&, const Plan&, const Framework&, const Workspaces&, const StageLayers&,
                                              std::int32_t);

}  // namespace fourfold
