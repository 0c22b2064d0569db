// A machine and a model for the times that are worked by hand: sizes and rates are so small that each number can be checked with a pencil;
// the machine and its constants are invented for that.
//   the model: h = 48, f = 80 (gated), a = 6 heads, k = 2 KV heads, d = 10, 256 words; t = 2, s = 20 tokens, b = 3: M = 60 tokens
#pragma once
#include "memory/memory.h"
#include "near.h"
#include "plan/as_requested.h"
#include "time/step_time.h"

namespace fourfold::tests::by_hand {

using tests::near;

inline constexpr double kH = 1e6;  // bytes per second that kernels reach, 0.85 of the machine's

inline Machine machine() {
    Machine m;
    m.peak = m.peak_16 = 1e12;
    m.memory = kH / 0.85;
    m.link = 2e6;
    m.node = 5e6;
    m.host = 1e5;
    m.processors = 10;
    m.gpus_per_node = m.mesh_gpus = 4;
    return m;
}
inline Timing timing() {
    Timing t{};
    t.gemm = 0.5;
    t.eight_bits = 1;
    t.tile_fill = 16;
    t.wave_mix = 0.25;
    t.small_tile = 0.8;
    t.unaligned = 0.5;
    t.grouped = 1;
    t.grouped_waves = 0.25;
    t.attention = 0.4;
    t.attention_backward = 0.8;
    t.attention_tail = 1.5;
    t.element_wise = 0.9;
    t.plain_norms = 1;
    t.cross_entropy = 40;
    t.link = 0.5;
    t.link_latency = 1e-3;
    t.network = 0.4;
    t.network_latency = 2e-3;
    t.tensor_exposed = 0.6;
    t.tensor_overlap_exposed = 0.3;
    t.data_exposed = 0.2;
    t.context_correction = 1.25;
    t.ring_link = 0.25;
    t.ring_latency = 3e-3;
    t.ring_network = 0.3;
    t.ring_network_latency = 5e-3;
    t.host_layer = 0;
    t.host_experts = 0;
    t.host_linear = 0;
    t.fixed = 0.125;
    t.straggler = 0.01;
    t.stall = 0, t.noise_groups = 1;
    t.pipeline = 0.5;
    t.accumulation = 3;
    t.micro_batch = 0;
    return t;
}
struct Case {
    Model model;
    Plan plan;
    Machine hw = machine();
    Timing k = timing();
    Framework framework() const { return framework_of(model, as_requested(plan), Gpu{}); }
    LayerTimes layers() const { return layer_times<double>(model, plan, framework(), hw, k); }
};
inline Case dense() {
    Case c;
    Model& m = c.model;
    m.layers = 6, m.hidden = 48, m.ffn = 80, m.heads = 6, m.kv_heads = 2, m.head_dim = 10, m.vocabulary = 250;
    Plan& p = c.plan;
    p.gpus = 8, p.gpus_per_node = 4, p.sequence_length = 20, p.global_batch = 24;
    p.tensor_parallel = 2, p.context_parallel = 1, p.pipeline_parallel = 2, p.micro_batch = 3;
    p.attention = Attention::cudnn;
    return c;
}

}  // namespace fourfold::tests::by_hand
