// Which constants a plan takes, framework by framework, card by card and site by site. The numbers are those that the fits give
// (core/time/constants.cpp says from which rows, tests/fit repeats them).
#include <doctest/doctest.h>

#include "time/small_machine.h"

using namespace fourfold;
using namespace fourfold::tests::by_hand;

namespace {

Timing constants(Architecture card, FrameworkKind framework, AttentionKernel kernel = AttentionKernel::flash) {
    Machine m;
    m.architecture = card;
    Plan plan;
    plan.framework = framework;
    return timing_of(m, nullptr, plan, kernel);
}

}  // namespace

TEST_CASE("constants: eager PyTorch on A100 and H100, with cuDNN's attention as anywhere") {
    const Timing a = constants(Architecture::ampere, FrameworkKind::pytorch), h = constants(Architecture::hopper, FrameworkKind::pytorch);
    for (const Timing* both : {&a, &h}) {
        CHECK(both->cross_entropy == 30.3);
        CHECK(both->plain_norms == 5.84);
    }
    CHECK(a.element_wise == 1.92);
    CHECK(a.gemm == 0.773);
    CHECK(a.attention == 0.399);
    CHECK(h.element_wise == 1.02);
    CHECK(h.gemm == 0.645);
    CHECK(h.attention == 0.189);
    CHECK(constants(Architecture::hopper, FrameworkKind::pytorch, AttentionKernel::cudnn).attention == 0.573);
    const Timing b = constants(Architecture::blackwell, FrameworkKind::pytorch);  // neither: the card's
    CHECK(b.cross_entropy == 30.3);
    CHECK(b.gemm == 0.493);
    CHECK(b.element_wise == 0.929);
}

// FlashAttention-2 reaches 65.9 of 148 TFLOP/s with a causal mask, 2,048 tokens and 2 * 16 heads, cuDNN 107.8.
TEST_CASE("constants: attention on H20 is nearer to the peak than on H100, and no card of theirs is slower for more of it") {
    const auto attention = [](double peak, AttentionKernel kernel, FrameworkKind framework = FrameworkKind::megatron_2025) {
        Machine m;
        m.peak_16 = peak, m.processors = 78;
        Plan plan;
        plan.framework = framework;
        return timing_of(m, nullptr, plan, kernel).attention;
    };
    const double tail = 1 + 1.67 * 78 * 128 / (2 * 16 * 2'048);
    for (const FrameworkKind framework : {FrameworkKind::megatron_2025, FrameworkKind::pytorch})
        CHECK(148 * attention(148e12, AttentionKernel::flash, framework) / tail == doctest::Approx(65.9).epsilon(0.01));
    CHECK(148 * attention(148e12, AttentionKernel::cudnn) / tail == doctest::Approx(107.8).epsilon(0.02));
    for (const AttentionKernel kernel : {AttentionKernel::flash, AttentionKernel::cudnn})
        for (double peak = 100e12; peak < 800e12; peak *= 1.1)
            CHECK(1.1 * attention(1.1 * peak, kernel) >= attention(peak, kernel) * (1 - 1e-12));
    CHECK(attention(78 * 7.5e12, AttentionKernel::flash) == 0.35);
}

TEST_CASE("constants: nanotron and Megatron-DeepSpeed, on whatever card") {
    for (const Architecture card : {Architecture::ampere, Architecture::hopper}) {
        const Timing n = constants(card, FrameworkKind::nanotron);
        CHECK(n.host_layer == 1.89e-3);
        CHECK(n.spanning_latency == 0.485e-3);
        CHECK(n.spanning_network == 0.69);
        CHECK(n.shard_latency == 45e-6);
        CHECK(n.bucket_latency == 0.38e-3);
        CHECK(n.gemm == 0.545);
        CHECK(n.tensor_exposed == 0.27);
        CHECK(n.link == 1);
        const Timing d = constants(card, FrameworkKind::megatron_deepspeed);
        CHECK(d.gemm == 0.65);
        CHECK(d.link == 0.56);
        CHECK(d.network == 0.164);
    }
}

TEST_CASE("constants by hand: cards without runs reach what a benchmark of multiplications says beside H100's") {
    // 668 and 785 of 1,307.4 TFLOP/s on the two of CDNA 3, 1,565 of 2,500 on CDNA 4, 795 of 989.4 on H100
    const double of_hopper = 795 / 989.4, third = (668 + 785) / 2.0 / 1'307.4 / of_hopper, fourth = 0.626 / of_hopper;
    CHECK(constants(Architecture::cdna3, FrameworkKind::megatron_2025).gemm == near(0.73 * third));
    CHECK(constants(Architecture::cdna3, FrameworkKind::megatron_2025).attention == near(0.35 * third));
    CHECK(constants(Architecture::cdna4, FrameworkKind::megatron_2025).gemm == near(0.73 * fourth));
    CHECK(constants(Architecture::cdna4, FrameworkKind::megatron_2025).attention == near(0.35 * fourth));
    CHECK(constants(Architecture::ada, FrameworkKind::megatron_2025).gemm == 0.73);
}

TEST_CASE("constants: a cluster's own site, unless the plan says another; CUDA graphs; and what a calibration multiplies") {
    Machine m;
    m.architecture = Architecture::hopper;
    Plan plan;
    Cluster cluster;
    CHECK(timing_of(m, &cluster, plan, AttentionKernel::flash).network == 0.7);
    cluster.site = Site{};
    cluster.site->network_share = 0.4, cluster.site->fixed_s = 0.2, cluster.site->stall_s = 3e-3, cluster.site->send_share = 0.6;
    Timing t = timing_of(m, &cluster, plan, AttentionKernel::flash);
    CHECK(t.network == 0.4);
    CHECK(t.fixed == 0.2);
    CHECK(t.stall == 3e-3);
    CHECK(t.pipeline == 0.6);
    plan.site = SiteKind::quiet;
    t = timing_of(m, &cluster, plan, AttentionKernel::flash);
    CHECK(t.network == 0.7);
    CHECK(t.fixed == 0.1);
    CHECK(t.stall == 0.025e-3);
    CHECK(t.pipeline == 0.5);
    CHECK(t.micro_batch == 2.89e-3);
    plan.cuda_graphs = CudaGraphs::layers;
    CHECK(timing_of(m, nullptr, plan, AttentionKernel::flash).micro_batch == 2.89e-3);
    plan.cuda_graphs = CudaGraphs::step;
    CHECK(timing_of(m, nullptr, plan, AttentionKernel::flash).micro_batch == 0);
    plan.framework = FrameworkKind::transformers;
    plan.time_host = 2, plan.time_link = 0.5, plan.time_element = 3, plan.time_spanning = 0.25;
    t = timing_of(m, nullptr, plan, AttentionKernel::flash);
    CHECK(t.host_layer == near(2 * 0.83e-3));
    CHECK(t.host_experts == near(2 * 2e-3));
    CHECK(t.host_expert == near(2 * 0.28e-3, 2e-3));
    CHECK(t.host_adapter == near(2 * 0.115e-3));
    CHECK(t.host_shard == near(2 * 1.9e-3));
    CHECK(t.host_partition == near(2 * 0.2e-3));
    CHECK(t.link == near(0.737 / 2));
    CHECK(t.element_wise == near(3 * 1.26));
    CHECK(t.spanning_latency == 0.25);
}

TEST_CASE("constants by hand: a host beside the GPU, adapters of its own, measured links") {
    Gpu gpu;
    gpu.architecture = Architecture::hopper;
    gpu.pcie_byte_per_s = 6e10;
    Plan plan;
    plan.gpus_per_node = 4, plan.nvme_rate = 7;
    CHECK_FALSE(machine_of(gpu, nullptr, plan).beside_grace);
    gpu.c2c_byte_per_s = 4.5e11;
    Machine m = machine_of(gpu, nullptr, plan);
    CHECK(m.host == 4.5e11);
    CHECK(m.beside_grace);
    CHECK(m.nvme == 7e9);
    CHECK(m.node == 4 * 5e10);  // 400 Gbit/s each
    gpu.network_byte_per_s = 1e10;
    CHECK(machine_of(gpu, nullptr, plan).node == 4e10);
    Cluster cluster;
    cluster.nic_byte_per_s = 2e10, cluster.nics_per_node = 3;
    CHECK(machine_of(gpu, &cluster, plan).node == 4e10);  // the card's own
    gpu.network_byte_per_s = 0;
    CHECK(machine_of(gpu, &cluster, plan).node == 6e10);
    gpu.topology = Topology::mesh;
    CHECK(machine_of(gpu, nullptr, plan).topology == Topology::mesh);
    plan.measured_intra = 300, plan.measured_inter = 50, plan.measured_latency = 1e-5;
    m = machine_of(gpu, nullptr, plan);
    CHECK(m.measured_link == 3e11);
    CHECK(m.measured_node == 5e10);
    CHECK(m.measured_latency == 1e-5);
}
