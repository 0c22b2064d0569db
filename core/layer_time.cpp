// Based on
//   rooflines: gemm_seconds and collective_seconds (cost.h)
//   T. Dao: FlashAttention-2, arXiv 2307.08691: attention without its table of scores, and how its work is split
//   V. Korthikanti et al., arXiv 2205.05198: tensor and sequence parallel traffic;  H. Liu et al.: Ring Attention, arXiv 2310.01889
// Legend as in letters.h; M = s*b/c tokens of a GPU and micro-batch
#include "layer_time.h"

#include <algorithm>
#include <cmath>

namespace fourfold {

namespace {

double number(std::int64_t value) { return static_cast<double>(value); }

class LayerCost {
 public:
    LayerCost(const Model& model, const Plan& plan, const Framework& framework, const Machine& machine, const Timing& timing)
        : m_(model), p_(plan), fw_(framework), hw_(machine), k_(timing) {}

    LayerTimes run() {
        LayerTimes all;
        all.dense = layer(false);
        all.parameters_dense = parameters_;
        if (m_.experts.count > 0) {
            all.expert = layer(true);
            all.parameters_expert = parameters_;
        }
        head(all);
        return all;
    }

 private:
    double effective_memory() const { return 0.85 * hw_.memory; }
    bool splits_sequence() const { return p_.sequence_parallel && t_ > 1; }
    bool crosses_nodes() const { return p_.tensor_parallel * p_.context_parallel > hw_.gpus_per_node; }

    // Forward, gradient of the input, gradient of the weights of one matrix (rows x columns on this GPU); counts its parameters.
    void multiply(double tokens, double columns, double rows, bool gathers_input) {
        const double input = gemm_seconds(hw_, k_, tokens, rows, columns);
        const double weight = gemm_seconds(hw_, k_, rows, columns, tokens, p_.gradients_in_fp32 ? 8 : 4);
        now_.multiply_forward += gemm_seconds(hw_, k_, tokens, columns, rows);
        now_.multiply_backward += input + weight;
        if (gathers_input) hides_input_ += input, hides_weight_ += weight;
        parameters_ += columns * rows;
    }

    void attention_matrices() {
        if (m_.latent.kv_rank > 0) {
            const LatentAttention& l = m_.latent;
            const double qk = number(l.nope_dim + l.rope_dim);
            if (l.q_rank > 0) multiply(M_, number(l.q_rank), h_, false);
            multiply(M_, a_ * qk / t_, l.q_rank > 0 ? number(l.q_rank) : h_, true);
            multiply(M_, number(l.kv_rank + l.rope_dim), h_, false);
            multiply(M_, a_ * number(l.nope_dim + l.value_dim) / t_, number(l.kv_rank), true);
            multiply(M_, h_, a_ * number(l.value_dim) / t_, false);
            return;
        }
        multiply(M_, (a_ + 2 * std::max(g_, t_)) * d_ / t_, h_, true);
        multiply(M_, h_, a_ * d_ / t_, false);
    }

    void feed_forward_matrices(bool expert) {
        const double wide = m_.gated ? 2 : 1;
        if (!expert) {
            multiply(M_, wide * f_ / t_, h_, true);
            multiply(M_, h_, f_ / t_, false);
            return;
        }
        const double here = number(m_.experts.count / p_.expert_parallel), e = number(p_.expert_tensor_parallel);
        const double copies = M_ / t_ * number(m_.experts.per_token) * e * p_.expert_imbalance;  // that reach this GPU's experts
        LayerTime outside = now_;
        const double hidden_before[] = {hides_input_, hides_weight_};
        multiply(copies / here, wide * number(m_.experts.ffn) / e, h_, false);  // of one expert
        multiply(copies / here, h_, number(m_.experts.ffn) / e, false);
        now_.multiply_forward = outside.multiply_forward + here * (now_.multiply_forward - outside.multiply_forward);
        now_.multiply_backward = outside.multiply_backward + here * (now_.multiply_backward - outside.multiply_backward);
        parameters_ += (here - 1) * (wide + 1) * h_ * number(m_.experts.ffn) / e;
        hides_input_ = hidden_before[0], hides_weight_ = hidden_before[1];
        if (m_.experts.shared_ffn > 0) {
            multiply(M_, wide * number(m_.experts.shared_ffn) / t_, h_, true);
            multiply(M_, h_, number(m_.experts.shared_ffn) / t_, false);
        }
        if (p_.expert_parallel > 1) now_.expert_forward = now_.expert_backward = 2 * exchange_seconds(2 * copies * h_);
    }

    // Each token copy travels to its expert, and later back: an all-to-all of `bytes` per GPU. Not validated on runs.
    double exchange_seconds(double bytes) const {
        const double members = number(p_.expert_parallel * p_.expert_tensor_parallel), node = number(hw_.gpus_per_node);
        const double moved = bytes * (members - 1) / members;
        if (members <= node) return k_.link_latency + moved / (k_.link * hw_.ring_link(members));
        return k_.network_latency * std::log2(members) + moved * node / (k_.network * hw_.node);  // the node's adapters serve all its GPUs
    }

    void attention_core() {
        const double heads = std::max(1.0, a_ / t_), s = number(p_.sequence_length), b = number(p_.micro_batch),
                     c = number(p_.context_parallel);
        const double width = m_.latent.kv_rank > 0 ? number(m_.latent.nope_dim + m_.latent.rope_dim + m_.latent.value_dim) / 2 : d_;
        const double rate = k_.attention * hw_.peak;
        if (fw_.attention == AttentionKernel::flash || fw_.attention == AttentionKernel::cudnn) {
            const double flop = 2 * b * s * s * heads * width / c;  // causal
            const double tail = k_.attention_tail * hw_.processors * 128 / (b * heads * (s / c));
            now_.attention_forward = flop / rate * (1 + tail);
            now_.attention_backward = 2.5 * flop / (k_.attention_backward * rate) * (1 + 0.4 * tail);
            if (p_.recomputes(core_attn)) now_.recomputed += now_.attention_forward;
            return;
        }
        const double flop = 4 * b * s * s * heads * width, scores = b * heads * s * s;
        const double rate_of_batch = 0.62 * k_.gemm * hw_.peak, memory = 0.8 * hw_.memory;
        const double bytes_forward = (p_.attention_dropout ? 11 : 8) * scores, bytes_backward = (p_.attention_dropout ? 14 : 11) * scores;
        now_.attention_forward = flop / rate_of_batch + bytes_forward / memory;
        now_.attention_backward = 2 * flop / rate_of_batch + bytes_backward / memory;
        if (p_.recomputes(core_attn)) now_.recomputed += flop / rate_of_batch / 2 + bytes_forward / memory;
    }

    void element_wise(bool expert) {
        const double split = splits_sequence() ? t_ : 1, norms = p_.fused_norms ? 1 : 2.5, dropout = p_.hidden_dropout ? 2 * h_ : 0;
        const double rotary = m_.learned_positions ? 0 : 2 * (a_ + g_) * d_;
        const double inner = expert ? number(m_.experts.ffn * m_.experts.per_token + m_.experts.shared_ffn) : f_;
        const double qkv = rotary + 2 * (a_ + 2 * g_) * d_;
        const double forward = 2 * M_ * ((norms * 4 * h_ + 6 * h_ + dropout) / split + (qkv + (m_.gated ? 3 : 2) * inner) / t_);
        const double backward = 2 * M_ * ((norms * 6 * h_ + 6 * h_ + dropout) / split + (qkv + (m_.gated ? 5 : 3.5) * inner) / t_);
        now_.element_forward = forward * k_.element_wise / effective_memory();
        now_.element_backward = backward * k_.element_wise / effective_memory();
    }

    void tensor_traffic() {
        if (t_ <= 1) return;
        const double one = collective_seconds(hw_, k_, 2 * M_ * h_, t_);
        if (p_.tensor_overlap && splits_sequence() && t_ <= number(hw_.gpus_per_node)) {
            const double felt = 8e-6 + k_.tensor_overlap_exposed * (one - k_.link_latency);
            now_.tensor_forward = 4 * felt;
            now_.tensor_backward = 6 * felt;
            return;
        }
        now_.tensor_forward = 4 * one;
        if (!splits_sequence()) {  // all-reduces, which nothing hides
            now_.tensor_backward = 4 * one;
            return;
        }
        const double under_input = std::min(2 * one, hides_input_), under_weight = std::min(2 * one, hides_weight_);
        now_.tensor_backward =
            2 * one + (2 * one - under_input) + (2 * one - under_weight) + k_.tensor_exposed * (under_input + under_weight);
    }

    // Ring attention: keys and values go round; what attention's own time does not hide is felt.
    void context_traffic() {
        const double c = number(p_.context_parallel);
        if (c <= 1) return;
        const double bytes = 4 * M_ * std::max(1.0, g_ / t_) * d_;
        const double step = crosses_nodes()
                                ? k_.network_latency + bytes * std::min(t_, number(hw_.gpus_per_node)) / (k_.ring_network * hw_.node)
                                : k_.link_latency + bytes / (0.6 * k_.link * hw_.pair_link());
        const double exposed = crosses_nodes() ? k_.context_exposed_network : k_.context_exposed;
        const double rescaling = c * 16 * k_.context_correction * M_ * a_ * d_ / (t_ * effective_memory());
        const auto ring = [&](double transfer, double attention) {
            const double hidden = std::min(transfer, attention / c);
            return (c - 1) * (transfer - hidden + exposed * hidden) + rescaling;
        };
        now_.context_forward = ring(step, now_.attention_forward);
        now_.context_backward = ring(step * (2 * c - 1) / (c - 1), now_.attention_backward);
    }

    // The CPU launches work ahead; when a layer is short it becomes the slower of the two.
    static double with_host(double gpu, double host) {
        const double most = std::max(gpu, host);
        return most <= 0 ? 0 : most * std::pow(std::pow(gpu / most, 4) + std::pow(host / most, 4), 0.25);
    }

    LayerTime layer(bool expert) {
        now_ = LayerTime{};
        parameters_ = hides_input_ = hides_weight_ = 0;
        attention_matrices();
        feed_forward_matrices(expert);
        attention_core();
        element_wise(expert);
        tensor_traffic();
        context_traffic();
        const double forward = now_.multiply_forward + now_.attention_forward + now_.element_forward + now_.tensor_forward +
                               now_.context_forward + now_.expert_forward;
        if (p_.recompute == Recompute::full || p_.recompute == Recompute::block) now_.recomputed = forward;
        const double backward = now_.multiply_backward + now_.attention_backward + now_.element_backward + now_.tensor_backward +
                                now_.context_backward + now_.expert_backward + now_.recomputed;
        const double host = k_.host_layer + (p_.context_parallel > 1 ? k_.host_context * number(p_.context_parallel) : 0);
        now_.forward = with_host(forward, host);
        now_.backward = with_host(backward, (p_.recompute == Recompute::full ? 2.3 : 1.3) * host);
        return now_;
    }

    void head(LayerTimes& all) {
        const double v = number(padded_vocabulary(m_, p_.tensor_parallel)) / t_;
        const double shares = fw_.loss == LossKernel::gathered ? t_ : 1;  // every GPU works through the whole vocabulary
        const double loss =
            M_ * v * shares * (fw_.loss == LossKernel::plain || fw_.loss == LossKernel::gathered ? 1 : 0.5) * k_.cross_entropy;
        const double one = t_ > 1 ? collective_seconds(hw_, k_, 2 * M_ * h_, t_) : 0;
        all.head = gemm_seconds(hw_, k_, M_, v, h_) + gemm_seconds(hw_, k_, M_, h_, v) +
                   gemm_seconds(hw_, k_, h_, v, M_, p_.gradients_in_fp32 ? 8 : 4) + loss / effective_memory() + 3 * one +
                   k_.accumulation * v * h_ / effective_memory();
        all.embedding = 2 * one + 6 * M_ * h_ / (0.5 * hw_.memory) + 14 * v * h_ / effective_memory();
    }

    const Model& m_;
    const Plan& p_;
    const Framework& fw_;
    const Machine& hw_;
    const Timing& k_;
    const double h_ = number(m_.hidden), a_ = number(m_.heads), g_ = number(m_.kv_heads), d_ = number(m_.head_dim), f_ = number(m_.ffn);
    const double t_ = number(p_.tensor_parallel);
    const double M_ = number(p_.sequence_length) * number(p_.micro_batch) / number(p_.context_parallel);
    LayerTime now_;
    double parameters_ = 0;
    double hides_input_ = 0, hides_weight_ = 0;  // work under which tensor-parallel traffic can hide
};

}  // namespace

LayerTimes layer_times(const Model& model, const Plan& plan, const Framework& framework, const Machine& machine, const Timing& timing) {
    return LayerCost(model, plan, framework, machine, timing).run();
}

}  // namespace fourfold
