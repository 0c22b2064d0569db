// Every item of a step's time once, worked by hand (time/small_machine.h), and the constants that stand behind it.
#include <doctest/doctest.h>

#include <cmath>

#include "time/op_times.h"
#include "time/small_machine.h"

using namespace fourfold;
using namespace fourfold::tests::by_hand;

namespace {

// A layer of invented times: forward 2.5, backward 5.5 seconds, half a second each of them waiting for the CPU.
LayerTimes invented() {
    LayerTimes l;
    LayerTime& d = l.dense;
    d.multiply_forward = 1, d.multiply_backward = 2, d.attention_forward = 0.25, d.attention_backward = 0.75;
    d.element_forward = 0.125, d.element_backward = 0.25, d.tensor_forward = 0.375, d.tensor_backward = 0.75;
    d.context_forward = 0.0625, d.context_backward = 0.1875, d.expert_forward = 0.1875, d.expert_backward = 0.3125;
    d.recomputed = 0.75;
    d.forward = 2.5, d.backward = 5.5;
    l.head = 3, l.embedding = 1.5;
    l.parameters_dense = 1'000;
    return l;
}
double item(const StepTime<double>& step, TimeItem which) { return step.items[static_cast<std::size_t>(which)]; }
StepTime<double> step_of(const Case& c, const LayerTimes& layers) {
    return step_time<double>(c.model, c.plan, c.framework(), c.hw, c.k, layers);
}

}  // namespace

TEST_CASE("by hand: the items of a step") {
    Case c = dense();  // 8 GPUs: t = 2, p = 2, 2 copies; 4 micro-batches; three layers a stage
    const LayerTimes layers = invented();
    c.k.micro_batch = 0.25;
    StepTime<double> step = step_of(c, layers);
    // stages: 3 * 8 s, adding up 3 * 1,000 gradients of 3 bytes, 0.25 of the CPU; the first one 1.5 more, the last one 3
    const double adding = 3'000.0 * 3 / kH, first = 24 + adding + 0.25 + 1.5, last = 24 + adding + 0.25 + 3;
    CHECK(item(step, TimeItem::multiplications) == near(4 * 3 * 3.0));
    CHECK(item(step, TimeItem::attention) == near(4 * 3 * 1.0));
    CHECK(item(step, TimeItem::element_wise) == near(4 * 3 * 0.375));
    CHECK(item(step, TimeItem::recomputation) == near(4 * 3 * 0.75));
    CHECK(item(step, TimeItem::tensor_traffic) == near(4 * 3 * 1.125));
    CHECK(item(step, TimeItem::context_traffic) == near(4 * 3 * 0.25));
    CHECK(item(step, TimeItem::expert_traffic) == near(4 * 3 * 0.5));
    // 8 - (3 + 1 + 0.375 + 1.125 + 0.25 + 0.5 + 0.75) = 1 second of a layer is waiting, and 0.25 of a micro-batch
    CHECK(item(step, TimeItem::host) == near(4 * (3 * 1.0 + 0.25)));
    CHECK(item(step, TimeItem::accumulation) == near(4 * adding));
    CHECK(item(step, TimeItem::head) == near(4 * 3.0));
    CHECK(item(step, TimeItem::bubble) == near(first));  // all stages, and three times the slowest, less four times it
    // 2 * 60 * 48 / 2 = 2,880 bytes; two nodes: 2e-3 + 2,880 * 4 / (0.5 * 5e6); min(4, 8 / 2) GPUs send at once
    const double send = 2e-3 + 2'880.0 * 4 / 2.5e6;
    CHECK(transfer_seconds(c.model, c.plan, c.hw, c.k) == near(send));
    CHECK(item(step, TimeItem::pipeline_traffic) == near((2 + 3) * send));
    CHECK(step.forward == 7.5);
    CHECK(step.backward == 16.5);
    // the last stage holds most: 3,000 and the head's 6,144. Two copies: floor(4 / 2) = 2 in a node, one group of 2 beside: all within
    const double P = 9'144, latency = 8 * 2e-3;
    const double reduce = 4 * P / 2 / (0.5 * 2e6) + latency, gather = 2 * P / 2 / (0.5 * 2e6) + latency;
    CHECK(item(step, TimeItem::data_traffic) == near(0.2 * reduce + reduce / 8 + 0.2 * gather));
    CHECK(item(step, TimeItem::optimizer) == near((34 * P / 2 + 12 * P) / (0.8 * kH / 0.85)));
    CHECK(item(step, TimeItem::fixed) == 0.125);
    double sum = 0;
    for (const double one : step.items) sum += one;
    CHECK(step.seconds == near(sum));
    // two nodes: one doubling, a hundredth slower
    const double before = 4 * last + first + 5 * send + item(step, TimeItem::data_traffic) + item(step, TimeItem::optimizer) + 0.125;
    CHECK(step.seconds == near(1.01 * before));
    CHECK(item(step, TimeItem::stalls) == near(0.01 * before));
}

TEST_CASE("by hand: traffic between copies over nodes, and without overlap") {
    Case c = dense();
    c.plan.gpus = 32, c.plan.global_batch = 96;  // 8 copies: 2 in each of 4 nodes, where 2 such groups share the network
    const LayerTimes layers = invented();
    const double P = 9'144, latency = 8 * 2e-3 * 2;  // log2(4)
    const auto both = [&](double bytes) { return std::max(bytes / 2 / (0.5 * 2e6), bytes * 2 * 3 / 4 / (0.4 * 5e6)) + latency; };
    const double reduce = both(4 * P), gather = both(2 * P);
    CHECK(item(step_of(c, layers), TimeItem::data_traffic) == near(0.2 * reduce + reduce / 8 + 0.2 * gather));
    c.plan.overlap_gradients = false;
    CHECK(item(step_of(c, layers), TimeItem::data_traffic) == near(reduce + 0.2 * gather));
    c.plan.overlap_parameters = false;
    CHECK(item(step_of(c, layers), TimeItem::data_traffic) == near(reduce + gather));
    c.plan.gradients_in_fp32 = false;
    CHECK(item(step_of(c, layers), TimeItem::data_traffic) == near(2 * gather));
    c.plan.zero = Zero::none;  // an all-reduce is both
    CHECK(item(step_of(c, layers), TimeItem::data_traffic) == near(2 * gather));
    CHECK(item(step_of(c, layers), TimeItem::optimizer) == near((34 * P + 12 * P) / (0.8 * kH / 0.85)));
    c.plan.zero = Zero::weights;  // for every one of the 4 micro-batches: gathered twice, shared out once
    CHECK(item(step_of(c, layers), TimeItem::weight_traffic) == near(4 * 3 * gather));
    CHECK(item(step_of(c, layers), TimeItem::data_traffic) == 0);
    c.plan.zero = Zero::optimizer;
    c.plan.optimizer_offload = 0.5;  // half of the update on the host: offload_test.cpp
    CHECK(item(step_of(c, layers), TimeItem::optimizer) == near((0.5 * 34 * P / 8 + 12 * P) / (0.8 * kH / 0.85)));
    CHECK(item(step_of(c, layers), TimeItem::host_optimizer) > 0);
    const DataCollective parts = data_collective_parts(c.plan, c.hw, c.k, 1'000);
    CHECK(parts.inside == near(500 / (0.5 * 2e6)));
    CHECK(parts.across == near(1'000 * 2 * 3 / 4.0));
    CHECK(parts.fixed == near(latency));
}

TEST_CASE("by hand: schedules") {
    Case c = dense();
    c.plan.gpus = 4, c.plan.global_batch = 12;  // one node: sends go over its links, 2,880 / (0.6 * 0.5 * 2e6)
    const LayerTimes layers = invented();
    const double adding = 9e-3, first = 24 + adding + 1.5, send = 1e-3 + 2'880 / 6e5;
    CHECK(item(step_of(c, layers), TimeItem::pipeline_traffic) == near(5 * send));
    c.plan.virtual_stages = 3;  // a third of the bubble; a micro-batch passes the border three times, both ways
    LayerTimes alike = layers;
    alike.embedding = alike.head = 0;
    CHECK(item(step_of(c, alike), TimeItem::bubble) == near((24 + adding) / 3));
    CHECK(item(step_of(c, layers), TimeItem::bubble) > first / 3);  // the first and the last chunk work longer: schedule_test.cpp
    CHECK(item(step_of(c, layers), TimeItem::pipeline_traffic) == near((2 + 2 * 4 * 3) * send));
    c.plan.overlap_pipeline = true;  // a quarter is felt
    CHECK(item(step_of(c, layers), TimeItem::pipeline_traffic) == near((2 + 2 * 4 * 3) * 0.25 * send));
    c = dense();
    c.plan.gpus = 12, c.plan.pipeline_parallel = 3;  // two layers a stage
    const double stage = 16 + 6e-3;
    const StepTime<double> three = step_of(c, layers);
    CHECK(item(three, TimeItem::bubble) == near(stage + 1.5 + stage));
    const double far = 2e-3 + 2'880.0 * 4 / 2.5e6;
    CHECK(item(three, TimeItem::pipeline_traffic) == near((4 + 2 * 3) * far));
    c.plan.recompute = Recompute::block, c.plan.recompute_layers = 1;  // one of two layers: half of 0.75 more for each
    CHECK(item(step_of(c, layers), TimeItem::recomputation) == near(4 * 2 * 0.375));
    c = dense();
    c.plan.pipeline_parallel = 1, c.plan.gpus = 4;
    const StepTime<double> one = step_of(c, layers);
    CHECK(item(one, TimeItem::bubble) == 0);
    CHECK(item(one, TimeItem::pipeline_traffic) == 0);
    CHECK(item(one, TimeItem::head) == near(4 * 4.5));
    CHECK(item(one, TimeItem::stalls) == 0);
    c.k.stall = 0.1, c.k.noise_groups = 1;  // one other group of GPUs: 0.1 * 1 * ln(1 + 1 / 1) for each of 4 micro-batches
    CHECK(item(step_of(c, layers), TimeItem::stalls) == near(4 * 0.1 * std::log(2)));
    Case alone = c;  // a single GPU waits for nobody
    alone.plan.gpus = alone.plan.tensor_parallel = 1;
    CHECK(item(step_of(alone, layers), TimeItem::stalls) == 0);
    const double seconds = step_of(c, layers).seconds;
    c.plan.time_factor = 1.5;
    CHECK(step_of(c, layers).seconds == near(1.5 * seconds));
    CHECK(step_of(c, layers).forward == near(1.5 * 15));
}

TEST_CASE("by hand: how long each operation of a schedule takes") {
    Case c = dense();
    const LayerTimes layers = invented();
    c.plan.schedule = ScheduleKind::zero_bubble_h1;
    const OpTimes times = op_times(c.model, c.plan, c.hw, c.k, layers, Stages(c.model, c.plan));
    REQUIRE(times.forward.size() == 2);
    // B: half of the backward pass and of what is recomputed or sent to experts, (5.5 + 0.75 + 0.3125) / 2; W: the rest, and adding up
    CHECK(times.forward[0] == near(3 * 2.5 + 0.5));
    CHECK(times.backward[0] == near(3 * 3.28125 + 0.5));
    CHECK(times.weight[0] == near(3 * (2.21875 + 3e-3) + 0.5));
    CHECK(times.forward[1] == near(3 * 2.5 + 1));
    CHECK(times.transfer == near(2e-3 + 2'880.0 * 4 / 2.5e6));
    c.plan.schedule = ScheduleKind::one_f_one_b;
    const OpTimes whole = op_times(c.model, c.plan, c.hw, c.k, layers, Stages(c.model, c.plan));
    CHECK(whole.backward[1] == near(3 * (5.5 + 3e-3) + 2));
    CHECK(whole.weight[1] == 0);
}

TEST_CASE("by hand: a CPU that launches whole micro-batches ahead") {
    Case c = dense();
    LayerTimes layers = invented();
    layers.dense.launch_forward = 4, layers.dense.launch_backward = 4.7;  // 3 layers: 26.1; the stages work 25.509 and 27.009
    const Stages stages(c.model, c.plan);
    const Pace pace = pace_of(c.model, c.plan, c.hw, c.k, layers, stages, true);
    CHECK(pace.stage_seconds[0] == near(26.1));
    CHECK(pace.stage_seconds[1] == near(27.009));
    CHECK(item(step_of(c, layers), TimeItem::host) == 0);
    const OpTimes times = op_times(c.model, c.plan, c.hw, c.k, layers, stages);
    CHECK(times.forward[0] == near((7.5 + 0.5) * 26.1 / 25.509));
    CHECK(times.forward[0] + times.backward[0] == near(26.1));
    CHECK(times.forward[1] + times.backward[1] == near(27.009));
    layers.dense.launch_backward = 5.5;  // 28.5: the head's work is hidden, too
    CHECK(item(step_of(c, layers), TimeItem::host) == near(4 * (28.5 - 25.509)));
    CHECK(step_of(c, layers).forward == near(3 * 4));
}

TEST_CASE("by hand: what the profiles of GPU, cluster and plan make of the machine") {
    Gpu gpu;
    gpu.architecture = Architecture::ampere;
    gpu.bf16_flop_per_s = 3e14, gpu.fp16_flop_per_s = 2e14, gpu.fp8_flop_per_s = 0, gpu.hbm_byte_per_s = 2e12, gpu.link_byte_per_s = 3e11;
    gpu.streaming_multiprocessors = 108;
    Plan plan;
    plan.gpus_per_node = 8;
    Machine m = machine_of(gpu, nullptr, plan);
    CHECK(m.peak == 3e14);
    CHECK(m.node == 8 * 25e9);  // an adapter of 200 Gbit/s per GPU
    CHECK(m.host == 32e9);      // PCIe Gen4 x16
    CHECK(m.topology == Topology::one_switch);
    plan.precision = Precision::fp16;
    CHECK(machine_of(gpu, nullptr, plan).peak == 2e14);
    plan.precision = Precision::fp8;
    CHECK(machine_of(gpu, nullptr, plan).peak == 3e14);  // no fp8 on that card
    gpu.architecture = Architecture::hopper;
    gpu.fp8_flop_per_s = 9e14, gpu.pcie_byte_per_s = 6e10;
    m = machine_of(gpu, nullptr, plan);
    CHECK(m.peak == 9e14);
    CHECK(m.peak_16 == 3e14);
    CHECK(m.multiplies_in_8_bits);
    CHECK(m.node == 8 * 50e9);
    CHECK(m.host == 6e10);
    plan.precision = Precision::fp8_weights;
    CHECK(machine_of(gpu, nullptr, plan).peak == 9e14);
    Cluster cluster;
    cluster.nic_byte_per_s = 1e10, cluster.nics_per_node = 3, cluster.topology = Topology::mesh;
    m = machine_of(gpu, &cluster, plan);
    CHECK(m.node == 3e10);
    CHECK(m.topology == Topology::mesh);
    gpu.topology = Topology::mesh, gpu.gpus_per_node = 8, plan.gpus_per_node = 4;
    CHECK(machine_of(gpu, nullptr, plan).mesh_gpus == 8);
    gpu.pcie_byte_per_s = 3e10;  // no adapter sends more than the card hands it
    CHECK(machine_of(gpu, nullptr, plan).node == 4 * 3e10);
    gpu.topology = Topology::bridges;
    CHECK(machine_of(gpu, nullptr, plan).topology == Topology::bridges);
    cluster.topology = Topology::one_switch;  // the card's own way
    CHECK(machine_of(gpu, &cluster, plan).topology == Topology::bridges);
}

TEST_CASE("the constants are those of the fit, GPU by GPU and site by site") {
    Machine m;
    Plan plan;
    m.architecture = Architecture::ampere;
    const Timing a = timing_of(m, nullptr, plan, AttentionKernel::flash);
    const double ampere[] = {0.827, 1,     138,   0.36, 0.85,  0.097,   1,        0.36,   0.635,   0.82,    1.67,   0,
                             0,     0.929, 1,     46.5, 0.95,  72e-6,   0.7,      25e-6,  0,       0,       0,      0,
                             0.615, 0.289, 0.202, 1.77, 0.368, 10e-6,   0.367,    180e-6, 1.15e-3, 3.25e-3, 0,      8.4e-3,
                             0,     0,     0,     0.3,  0.1,   0.00103, 0.025e-3, 200,    0.5,     2.38,    2.89e-3};
    const double* values = &a.gemm;
    for (std::size_t i = 0; i < sizeof ampere / sizeof(double); ++i) CHECK(values[i] == ampere[i]);
    m.architecture = Architecture::hopper;
    plan.framework = FrameworkKind::transformers;
    const Timing t = timing_of(m, nullptr, plan, AttentionKernel::cudnn);
    CHECK(t.gemm == 0.82);
    CHECK(t.element_wise == 1.26);
    CHECK(t.plain_norms == 6.5);
    CHECK(t.cross_entropy == 58.6);
    CHECK(t.host_layer == 0.83e-3);
    CHECK(t.host_adapter == 0.115e-3);
    CHECK(t.host_shard == 1.9e-3);
    CHECK(t.host_partition == 0.2e-3);
    CHECK(t.host_experts == 2e-3);
    CHECK(t.host_expert == near(0.28e-3, 2e-3));
    CHECK(t.grouped == 0.84);
    CHECK(t.grouped_waves == 1);
    plan.grouped_gemm = Habit::off;
    CHECK(timing_of(m, nullptr, plan, AttentionKernel::cudnn).grouped_waves == t.wave_mix);
    plan.grouped_gemm = Habit::automatic;
    CHECK(t.fixed == 7.9e-3);
    CHECK(t.attention == 0.573);
    plan.framework = Plan().framework;
    const Timing h = timing_of(m, nullptr, plan, AttentionKernel::flash);
    CHECK(h.gemm == 0.73);
    CHECK(h.attention == 0.35);
    CHECK(h.attention_backward == 0.867);
    CHECK(h.attention_start == 0);
    CHECK(h.attention_narrow == 0);
    CHECK(h.link == 0.737);
    CHECK(h.host_layer == 0.434e-3);
    CHECK(timing_of(m, nullptr, plan, AttentionKernel::cudnn).attention == 0.573);
    CHECK(timing_of(m, nullptr, plan, AttentionKernel::cudnn).attention_backward == 0.91);
    CHECK(timing_of(m, nullptr, plan, AttentionKernel::cudnn).attention_start == 380);
    CHECK(timing_of(m, nullptr, plan, AttentionKernel::cudnn).attention_narrow == 56);
    m.architecture = Architecture::blackwell;
    CHECK(timing_of(m, nullptr, plan, AttentionKernel::cudnn).gemm == 0.493);
    CHECK(timing_of(m, nullptr, plan, AttentionKernel::cudnn).eight_bits == 1.15);
    CHECK(timing_of(m, nullptr, plan, AttentionKernel::cudnn).attention == 0.473);
    CHECK(timing_of(m, nullptr, plan, AttentionKernel::cudnn).attention_backward == 0.82);
    CHECK(timing_of(m, nullptr, plan, AttentionKernel::cudnn).attention_start == 0);
    CHECK(timing_of(m, nullptr, plan, AttentionKernel::cudnn).attention_narrow == 56);
    CHECK(timing_of(m, nullptr, plan, AttentionKernel::cudnn).grouped == 1);
    m.architecture = Architecture::blackwell_ultra;
    CHECK(timing_of(m, nullptr, plan, AttentionKernel::cudnn).gemm == 0.717);
    CHECK(timing_of(m, nullptr, plan, AttentionKernel::cudnn).eight_bits == 1);
    CHECK(timing_of(m, nullptr, plan, AttentionKernel::cudnn).grouped == 0.79);
    CHECK(timing_of(m, nullptr, plan, AttentionKernel::cudnn).attention == 0.473);
    CHECK(timing_of(m, nullptr, plan, AttentionKernel::cudnn).host_experts == 3.25e-3);
    m.beside_grace = true;
    CHECK(timing_of(m, nullptr, plan, AttentionKernel::cudnn).host_experts == 4.54e-3);
    CHECK(timing_of(m, nullptr, plan, AttentionKernel::cudnn).host_linear == 8.4e-3 * 4.54e-3 / 3.25e-3);
    m.architecture = Architecture::blackwell;
    CHECK(timing_of(m, nullptr, plan, AttentionKernel::cudnn).gemm == 0.64);
    CHECK(timing_of(m, nullptr, plan, AttentionKernel::cudnn).eight_bits == 0.82);
    plan.site = SiteKind::shared;
    CHECK(timing_of(m, nullptr, plan, AttentionKernel::flash).stall == 0.5e-3);
    plan.site = SiteKind::own;
    plan.site_network = 0.3, plan.site_fixed = 0.2, plan.site_stall = 0.4, plan.site_pipeline = 0.6;
    const Timing own = timing_of(m, nullptr, plan, AttentionKernel::flash);
    CHECK(own.network == 0.3);
    CHECK(own.fixed == 0.2);
    CHECK(own.stall == 0.4);
    CHECK(own.pipeline == 0.6);
}
