// Which runs the constants were fitted to: published step times of Megatron-LM (tests/measured/runs.json: the runs beside arXiv 2411.06465
// on ABCI's A100 and TSUBAME4's H100, NVIDIA dgxc-benchmarking, Korthikanti et al., vTrain), in one joint least-squares fit; those marked
// "measured" come from benchmarks of single kernels on A100. Which families were in the fit and which are predicted is told apart in
// tests/time/step_time_test.cpp. The ring's constants (context_correction, ring_link) are fitted to the 63 of these runs with context
// parallelism: one share of the link for A100 and H100 alike. A ring's steps are sends between two GPUs and do not have the latency of a
// collective, which absorbs its members' skew; nor do the runs show a cost of what attention hides, or of launching more kernels. Between
// nodes, 12 runs of Llama 3 405B (TP 8, CP 2) send 2 MB a step, in about as long as attention takes: they tell its time alone. The rate is
// told by long sequences: Qwen3 235B at 65,536 and 131,072 tokens, Llama 2 7B to 1,048,576, whose steps of 67 MB attention hides.
// What differs from cluster to cluster stands in the cluster's profile (core/data/clusters).
#include "time/constants.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "time/machine.h"

namespace fourfold {

namespace {

constexpr Timing kAmpere = {
    .gemm = 0.827,
    .eight_bits = 1,
    .tile_fill = 138,
    .wave_mix = 0.36,    // measured
    .small_tile = 0.85,  // measured
    .unaligned = 0.097,  // three runs of BLOOM with heads 108 wide; on other cards assumed
    .grouped = 1,        // assumed: no run on Hopper tells it
    .grouped_waves = 0.36,
    .attention = 0.635,
    .attention_backward = 0.82,  // measured
    .attention_tail = 1.67,      // measured
    .attention_start = 0,        // assumed: no run with FlashAttention-2 tells it
    .attention_narrow = 0,       // likewise
    .element_wise = 0.929,
    .plain_norms = 1,
    .cross_entropy = 46.5,
    .link = 0.95,
    .link_latency = 72e-6,
    .network = 0.7,
    .network_latency = 25e-6,
    .spanning_latency = 0,
    .spanning_network = 0,
    .shard_latency = 0,
    .bucket_latency = 0,
    .tensor_exposed = 0.615,
    .tensor_overlap_exposed = 0.289,
    .data_exposed = 0.202,
    .context_correction = 1.77,
    .ring_link = 0.368,
    .ring_latency = 10e-6,  // assumed: from 3 to 20 us the runs fit alike
    .ring_network = 0.367,
    .ring_network_latency = 180e-6,
    .host_layer = 1.15e-3,
    .host_experts = 3.25e-3,
    .host_expert = 0,
    // Fitted to eight runs ("linear attention" in tests/fit): 13.1 ms, 7.1 to 23. Those models read pictures, too, and their encoder's work
    // is in that: shipped is what the run on H100 without CUDA graphs says if all else is right, in the interval's lower part.
    .host_linear = 8.4e-3,
    .host_adapter = 0,
    .host_shard = 0,
    .host_partition = 0,
    .graphed_host = 0.3,  // assumed: from 0.12 to 0.78 the runs fit alike (tests/fit)
    .fixed = 0.1,
    .straggler = 0.00103,
    .stall = 0.025e-3,  // assumed: a quiet site
    // Chosen by hand among 50 to 1,000, with the guards of tests/evidence and DeepSeek-V3's published step in view, some of which 100
    // missed. Runs hardly tell it ("noise" in tests/fit): with every site's stalls fitted beside it, 250 of them allow 0.6 to 250.
    .noise_groups = 200,
    .pipeline = 0.5,
    .accumulation = 2.38,
    .micro_batch = 2.89e-3,
};

// Fitted in one problem of tests/fit, "Megatron-LM on H100": 102 runs in 16 bits. The ratio of FlashAttention-2's passes is that of kernels
// on H100 without a mask, heads 128 wide: 322 over 370 TFLOP/s with 16,384 tokens (FlashAttention-3, arXiv 2407.08608, figures 5 and 6).
Timing hopper() {
    Timing t = kAmpere;
    t.gemm = 0.73;
    t.attention = 0.35;
    t.attention_backward = 0.867;
    t.link = 0.737;
    t.host_layer = 0.434e-3;
    return t;
}
// Heads 64 wide reach three quarters of the rate of 128: fitted to 18 single kernels on H100 and H200
// (tests/evidence/made/attention.py; 20.7 % off without it, 10.3 % with it).
constexpr double kNarrow = 56;
// cuDNN's kernel there. By length, 512 to 16,384 tokens, the same figures say 315, 410, 484, 518, 529 and 539 TFLOP/s forward with a causal
// mask and 305, 408, 465, 499, 518 and 516 backward without: 561 / (1 + 388 / s) and 542 / (1 + 376 / s) within 2 %. With what the longest
// block costs there (1.108 and 1.043 times) that is a share of 0.628, backward 0.91 of it, at a clock of 1,830 MHz that training does not
// hold. The fit tells the two only together; with the backward pass at 0.91 it says 0.572 to 0.698. Shipped is the lower end of that: 22
// runs in fp8, whose attention is the same kernel, say 0.39 (0.31 to 0.50). No run of more than 8,192 tokens was fitted to.
void cudnn_on_hopper(Timing& t) {
    t.attention = 0.573;
    t.attention_backward = 0.91;
    t.attention_start = 380;
    t.attention_narrow = kNarrow;
}
// H20's multiprocessors have a quarter of H100's tensor cores and all else, so that attention comes nearer to their peak. Kernels alone, of
// 148 TFLOP/s: FlashAttention-2 reaches 83.7 without a mask, 65.9 with a causal one where the longest block costs 1.254 times; cuDNN's
// 129.1 and 107.8, at 2,048 tokens (Dao-AILab/flash-attention, issue 1310). No card of Hopper's computes scores more slowly than that one.
void as_on_h20(Timing& t, const Machine& machine, AttentionKernel kernel) {
    constexpr double kPeak = 148e12 / 78;  // FLOP/s of a multiprocessor
    const double share = kernel == AttentionKernel::cudnn ? 0.9 : 0.56;
    if (machine.peak_16 > 0) t.attention = std::max(t.attention, share * std::min(1.0, kPeak * machine.processors / machine.peak_16));
}
// In 16 bits and of attention, the two shares that Megatron-LM's runs on a node of eight B200 tell apart (SimuMax, release v1.2, 16 runs of
// Llama 3 70B with 12 layers, 4,096 to 131,072 tokens); all else is Hopper's. Fitted to the runs with TP >= 4 alone, those with TP 1 and 2
// come out within 5 %. That node's own benchmark of single multiplications reaches 0.45 to 0.51 where they are large, 0.65 where they are
// small (SimuMax, configs/system/b200_bf16_ceperm.json): others reach more (0.776 at best, ml-engineering 18fa0175), and no run in 16 bits
// on another B200 tells it. In 8 bits: 11 runs of NVIDIA's ("B200" in tests/fit: 1.15, from 1.10 to 1.21).
Timing blackwell() {
    Timing t = hopper();
    t.gemm = 0.493;
    t.eight_bits = 1.15;
    t.attention = 0.473;
    t.attention_backward = kAmpere.attention_backward;
    t.attention_narrow = kNarrow;  // assumed: the runs have heads 128 wide
    return t;
}
// B300 and GB300: ten runs of Llama 3 8B to 405B on GB300 and 18 of models with experts on both (Megatron-Bridge), in one fit, 27 of them
// in 8 bits. GB300 may draw 1,400 W where B200 draws 1,000. Experts' multiplications reach 0.79 of that (0.58 to 1). Attention is not told
// to be faster (from 0.32 to 0.51 in the ten).
Timing blackwell_ultra() {
    Timing t = blackwell();
    t.gemm = 0.717;
    t.eight_bits = 1;
    t.grouped = 0.79;
    return t;
}
// Cards that no run supports (assumed): Hopper's shares, times how a benchmark of large matrix multiplications compares with H100's 795 of
// 989 TFLOP/s: 668 and 785 of 1,307 on MI300X and MI325X, 1,565 of 2,500 on MI355X (ml-engineering 744d01e18, compute/accelerator).
Timing unmeasured(double reached) {
    constexpr double kOfHopper = 795 / 989.4;
    Timing t = hopper();
    t.gemm *= reached / kOfHopper;
    t.attention *= reached / kOfHopper;
    return t;
}
constexpr double kCdna3Reached = 726.5 / 1307.4, kCdna4Reached = 1565.0 / 2500;

// FlashAttention-2 has one kernel for Ampere and Ada (its README), so that Ampere's shares of the peak are taken. Tensor cores that add up
// in 32 bits at half their rate (GeForce, L20) are not slowed down by their power: cuBLAS reaches 105 to 115 of L20's 119.5 TFLOP/s
// (CUDA-Learn-Notes, kernels/hgemm), of which the middle is taken. Chosen with 11 steps of QLoRA on RTX 4090 in view, fitted to none.
Timing ada(const Machine& machine) {
    constexpr double kFullRate = 2e12;  // FLOP/s of a multiprocessor: 1.2 to 1.3 at half the rate, 2.5 at the whole
    Timing t = hopper();
    t.attention = kAmpere.attention;
    t.attention_backward = kAmpere.attention_backward;
    if (machine.peak_16 < kFullRate * machine.processors) t.gemm = 110 / 119.5;
    return t;
}

// Timing::host_experts where the CPU is a Grace (fitted: 28 runs on GB200 and GB300; 32 beside x86, to which 3.25 ms belong, say 3.2
// to 4.1).
constexpr double kGraceExperts = 4.54e-3;
// Timing::gemm of GB200, which draws 1,200 W (fitted: 41 runs, most of them in 8 bits, "GB200" in tests/fit: 0.54 to 0.80 and 0.65 to 1.01;
// six runs of Grok-1, which are not among them, say 0.60 to 0.94 and 0.54 to 0.89 with these).
constexpr double kGraceGemm = 0.64, kGraceEightBits = 0.82;
constexpr double kSharedStall = 0.5e-3;  // Timing::stall of a cluster that others use at the same time (assumed)

// What a framework does in another way than Megatron-LM.
enum class Where { everywhere, ampere, hopper };
struct OwnConstant {
    FrameworkKind framework;
    double Timing::*constant;
    double value;
    Where where = Where::everywhere;
    // cuDNN's kernel is the same one in every framework; what was fitted to a framework's runs is of the kernel that these had.
    bool holds(const Machine& machine, const Plan& plan, AttentionKernel kernel) const {
        const Architecture only = where == Where::ampere ? Architecture::ampere : Architecture::hopper;
        return plan.framework == framework && (where == Where::everywhere || machine.architecture == only) &&
               (constant != &Timing::attention || kernel != AttentionKernel::cudnn);
    }
};
// From tests/fit (problems.json says which rows): only what those rows tell.
constexpr OwnConstant kOwn[] = {
    // eager frameworks in plain PyTorch. A100: 220 runs of Hagemann et al., llm-foundry, torchtitan; H100: 27 of llm-foundry
    {FrameworkKind::pytorch, &Timing::cross_entropy, 30.3},
    {FrameworkKind::pytorch, &Timing::plain_norms, 5.84},
    {FrameworkKind::pytorch, &Timing::element_wise, 1.92, Where::ampere},
    {FrameworkKind::pytorch, &Timing::gemm, 0.773, Where::ampere},
    {FrameworkKind::pytorch, &Timing::attention, 0.399, Where::ampere},
    {FrameworkKind::pytorch, &Timing::element_wise, 1.02, Where::hopper},
    {FrameworkKind::pytorch, &Timing::gemm, 0.645, Where::hopper},
    {FrameworkKind::pytorch, &Timing::attention, 0.189, Where::hopper},
    // Hugging Face's transformers, on an H200. Bytes of norms (both passes in one factor) and of the loss, and the CPU's time, are measured
    // by themselves (tests/evidence/made/operations.py); so is the rate of matrices, 0.62 to 0.84 of the peak, of which 0.82 is chosen, and
    // that of experts in one launch, 0.79 to 0.92 of it (experts.py, there), of which 0.84 is chosen. Element-wise work and the seconds of
    // a step are fitted to 34 steps; experts' CPU time is chosen where 58 steps allow 1.6 to 2.9 ms. What FSDP asks of the CPU is chosen
    // with three short steps in view. What DeepSpeed's ZeRO-3 asks for each weight: six steps of Qwen 72B with LoRA on four A100 allow 0.15
    // to 0.30 ms, if a layer has 21 such weights as in Qwen1.5's code (Qwen's own joins queries, keys and values). The one run of experts
    // called in turn, 18,432 matrices of them, says five times as much and is not among them.
    {FrameworkKind::transformers, &Timing::gemm, 0.82, Where::hopper},
    {FrameworkKind::transformers, &Timing::grouped, 0.84, Where::hopper},
    {FrameworkKind::transformers, &Timing::grouped_waves, 1},
    {FrameworkKind::transformers, &Timing::plain_norms, 6.5},
    {FrameworkKind::transformers, &Timing::element_wise, 1.26},
    {FrameworkKind::transformers, &Timing::cross_entropy, 58.6},
    {FrameworkKind::transformers, &Timing::host_layer, 0.83e-3},
    {FrameworkKind::transformers, &Timing::host_adapter, 0.115e-3},
    {FrameworkKind::transformers, &Timing::host_shard, 1.9e-3},
    {FrameworkKind::transformers, &Timing::host_experts, 2e-3},
    {FrameworkKind::transformers, &Timing::host_partition, 0.2e-3},
    {FrameworkKind::transformers, &Timing::fixed, 7.9e-3},
    // Measured by others: Qwen1.5-MoE-A2.7B, 24 layers of 60 experts, 512 copies of tokens: 480.2 and 487 ms a forward pass with experts
    // one by one, 76.5 with all at once (Hugging Face, docs-benchmarks/experts-backends 7c30f77, experts_benchmark_bs1_seq128.csv;
    // transformers, pull request 42697). With 2,048 copies 523 and 80: 0.308 ms.
    {FrameworkKind::transformers, &Timing::host_expert, (480.2e-3 - 76.5e-3) / (24 * 60)},
    // 143 runs on H100
    {FrameworkKind::nanotron, &Timing::host_layer, 1.89e-3},
    {FrameworkKind::nanotron, &Timing::spanning_latency, 0.485e-3},
    {FrameworkKind::nanotron, &Timing::spanning_network, 0.69},
    {FrameworkKind::nanotron, &Timing::shard_latency, 45e-6},
    {FrameworkKind::nanotron, &Timing::bucket_latency, 0.38e-3},
    {FrameworkKind::nanotron, &Timing::gemm, 0.545},
    {FrameworkKind::nanotron, &Timing::tensor_exposed, 0.27},
    {FrameworkKind::nanotron, &Timing::link, 1},
    // BLOOM: 22 runs on A100; no sequence parallelism
    {FrameworkKind::megatron_deepspeed, &Timing::gemm, 0.65},
    {FrameworkKind::megatron_deepspeed, &Timing::link, 0.56},
    // ZeRO-3 of Narayanan et al. 2021: 3 runs on 140 to 280 nodes
    {FrameworkKind::megatron_deepspeed, &Timing::network, 0.164},
};

// What a calibration multiplies.
constexpr std::pair<double Timing::*, double Plan::*> kCalibrated[] = {
    {&Timing::host_layer, &Plan::time_host},     {&Timing::host_experts, &Plan::time_host}, {&Timing::host_linear, &Plan::time_host},
    {&Timing::host_expert, &Plan::time_host},    {&Timing::host_adapter, &Plan::time_host}, {&Timing::host_shard, &Plan::time_host},
    {&Timing::host_partition, &Plan::time_host}, {&Timing::link, &Plan::time_link},         {&Timing::element_wise, &Plan::time_element},
};

struct TimingSymbol {
    double Timing::*constant;
    Symbol symbol;
};
constexpr TimingSymbol kSymbols[] = {
    {&Timing::gemm, {"e_g", "gemm_share", ""}},
    {&Timing::eight_bits, {"e_8", "eight_bits_ratio", ""}},
    {&Timing::tile_fill, {"k_0", "tile_fill", ""}},
    {&Timing::wave_mix, {"w_0", "wave_mix", ""}},
    {&Timing::small_tile, {"e_t", "small_tile_share", ""}},
    {&Timing::unaligned, {"e_o", "unaligned_share", ""}},
    {&Timing::grouped, {"e_k", "grouped_share", ""}},
    {&Timing::grouped_waves, {"w_x", "wave_mix", ""}},
    {&Timing::attention, {"e_a", "attention_share", ""}},
    {&Timing::attention_backward, {"e_b", "attention_backward_share", ""}},
    {&Timing::attention_tail, {"j_a", "attention_longest_block", ""}},
    {&Timing::attention_start, {"s_0", "attention_start", "tokens"}},
    {&Timing::attention_narrow, {"d_0", "attention_narrow", "values"}},
    {&Timing::element_wise, {"e_w", "element_factor", ""}},
    {&Timing::plain_norms, {"e_v", "plain_norms_factor", ""}},
    {&Timing::cross_entropy, {"j_l", "loss_bytes", "bytes"}},
    {&Timing::link, {"e_l", "link_share", ""}},
    {&Timing::link_latency, {"l_l", "link_latency", "seconds"}},
    {&Timing::network, {"e_n", "network_share", ""}},
    {&Timing::network_latency, {"l_n", "network_latency", "seconds"}},
    {&Timing::spanning_latency, {"l_s", "spanning_latency", "seconds"}},
    {&Timing::spanning_network, {"e_y", "spanning_network_share", ""}},
    {&Timing::shard_latency, {"l_z", "shard_latency", "seconds"}},
    {&Timing::bucket_latency, {"l_k", "bucket_latency", "seconds"}},
    {&Timing::tensor_exposed, {"u_t", "tensor_exposed", ""}},
    {&Timing::tensor_overlap_exposed, {"u_o", "tensor_overlap_exposed", ""}},
    {&Timing::data_exposed, {"u_d", "data_exposed", ""}},
    {&Timing::context_correction, {"j_c", "rescaling_factor", ""}},
    {&Timing::ring_link, {"e_c", "ring_link_share", ""}},
    {&Timing::ring_latency, {"l_r", "ring_latency", "seconds"}},
    {&Timing::ring_network, {"e_r", "ring_network_share", ""}},
    {&Timing::ring_network_latency, {"l_x", "ring_network_latency", "seconds"}},
    {&Timing::host_layer, {"c_l", "host_layer", "seconds"}},
    {&Timing::host_experts, {"c_x", "host_experts", "seconds"}},
    {&Timing::host_expert, {"c_e", "host_expert", "seconds"}},
    {&Timing::host_linear, {"c_d", "host_linear", "seconds"}},
    {&Timing::host_adapter, {"c_a", "host_adapter", "seconds"}},
    {&Timing::host_shard, {"c_s", "host_shard", "seconds"}},
    {&Timing::host_partition, {"c_p", "host_partition", "seconds"}},
    {&Timing::graphed_host, {"c_g", "graphed_host", ""}},
    {&Timing::fixed, {"f_0", "fixed_seconds", "seconds"}},
    {&Timing::straggler, {"u_s", "straggler", ""}},
    {&Timing::stall, {"j_s", "stall_seconds", "seconds"}},
    {&Timing::noise_groups, {"j_n", "noise_groups", ""}},
    {&Timing::pipeline, {"e_p", "send_network_share", ""}},
    {&Timing::accumulation, {"j_g", "accumulation_bytes", "bytes"}},
    {&Timing::micro_batch, {"c_m", "host_micro_batch", "seconds"}},
};
static_assert(sizeof kSymbols / sizeof(TimingSymbol) == sizeof(Timing) / sizeof(double));

}  // namespace

static Timing of_architecture(const Machine& machine) {
    switch (machine.architecture) {
        case Architecture::ampere:
            return kAmpere;
        case Architecture::blackwell:
            return blackwell();
        case Architecture::blackwell_ultra:
            return blackwell_ultra();
        case Architecture::cdna3:
            return unmeasured(kCdna3Reached);
        case Architecture::cdna4:
            return unmeasured(kCdna4Reached);
        case Architecture::ada:
            return ada(machine);
        case Architecture::hopper:
            break;
    }
    return hopper();
}

Timing timing_of(const Machine& machine, const Cluster* cluster, const Plan& plan, AttentionKernel attention) {
    Timing t = of_architecture(machine);
    if (machine.architecture == Architecture::hopper && attention == AttentionKernel::cudnn) cudnn_on_hopper(t);
    if (machine.beside_grace && machine.architecture == Architecture::blackwell) t.gemm = kGraceGemm, t.eight_bits = kGraceEightBits;
    if (machine.beside_grace) t.host_experts = kGraceExperts, t.host_linear *= kGraceExperts / kAmpere.host_experts;
    for (const OwnConstant& own : kOwn)
        if (own.holds(machine, plan, attention)) t.*own.constant = own.value;
    if (calls_experts_in_turn(plan)) t.grouped_waves = t.wave_mix;  // as of any other matrix
    if (machine.architecture == Architecture::hopper) as_on_h20(t, machine, attention);
    if (plan.cuda_graphs == CudaGraphs::step) t.micro_batch = 0;
    if (plan.site == SiteKind::shared) t.stall = kSharedStall;
    if (plan.site == SiteKind::own)
        t.spanning_network = 0, t.network = plan.site_network, t.fixed = plan.site_fixed, t.stall = plan.site_stall,
        t.pipeline = plan.site_pipeline;
    if (cluster != nullptr && cluster->site && plan.site == SiteKind::measured) {
        const Site& fitted = *cluster->site;
        t.network = fitted.network_share, t.fixed = fitted.fixed_s, t.stall = fitted.stall_s, t.pipeline = fitted.send_share;
    }
    for (const auto& [constant, times] : kCalibrated) t.*constant *= plan.*times;
    t.spanning_latency += plan.time_spanning;
    return t;
}

std::vector<double Timing::*> timing_constants() {
    std::vector<double Timing::*> all;
    for (const TimingSymbol& one : kSymbols) all.push_back(one.constant);
    return all;
}

const Symbol& symbol_of(double Timing::*constant) {
    return std::find_if(std::begin(kSymbols), std::end(kSymbols), [&](const auto& row) { return row.constant == constant; })->symbol;
}

}  // namespace fourfold
