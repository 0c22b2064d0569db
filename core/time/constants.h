// The constants of the time model: numbers that no formula gives. A formula shows each under its symbol, whose words (symbol.<id>) say
// where it comes from:
//   fitted    joint least-squares fit to published step times of Megatron-LM runs (constants.cpp)
//   measured  benchmarks of single kernels on A100
//   counted   by hand: what the operation must read, write or multiply
//   assumed   plausible; no published run tells it apart
#pragma once
#include <vector>

#include "base/formula.h"
#include "plan/framework.h"
#include "plan/plan.h"

namespace fourfold {

struct Cluster;
struct Machine;

// Bytes of a weight as it is multiplied and sent, and of its gradient.
inline constexpr double kWeightBytes = 2;
inline double gradient_bytes(const Plan& p) { return p.gradients_in_fp32 ? 4 : 2; }

// ---- the same on every machine
// Parts of the data sheet's memory bandwidth: in most kernels; in the optimizer and in attention that is not fused; in the look-up of the
// embedding, which reads single rows. (assumed)
inline constexpr Constant kKernelBandwidth{{"e_h", "kernel_bandwidth_share", ""}, 0.85};
inline constexpr Constant kStreamBandwidth{{"e_s", "stream_bandwidth_share", ""}, 0.8};
inline constexpr Constant kLookUpBandwidth{{"e_m", "look_up_bandwidth_share", ""}, 0.5};
// Rates relative to the usual ones: batched multiplications to large ones; a send between two GPUs of a node to a collective. (assumed)
inline constexpr Constant kBatchedRate{{"e_u", "batched_share", ""}, 0.62};
inline constexpr Constant kSendRate{{"e_d", "send_link_share", ""}, 0.6};

// FlashAttention-2: queries in a block of its work; operations of its backward over its forward pass, five multiplications instead of two
// (counted); the same ratio of the time in which only some multiprocessors still work (assumed).
inline constexpr Constant kAttentionBlock{{"q_b", "attention_block", "tokens"}, 128};
inline constexpr Constant kAttentionBackward{{"o_b", "attention_backward_operations", ""}, 2.5};
inline constexpr Constant kAttentionBackwardTail{{"j_b", "attention_backward_tail", ""}, 0.4};
// Attention that is not fused: bytes moved per score by scale, mask and softmax; and, second, with dropout. (counted)
inline constexpr Constant kScoreForward[] = {{{"i_sf", "score_bytes_forward", "bytes"}, 8}, {{"i_sf", "score_bytes_forward", "bytes"}, 11}};
inline constexpr Constant kScoreBackward[] = {{{"i_sb", "score_bytes_backward", "bytes"}, 11},
                                              {{"i_sb", "score_bytes_backward", "bytes"}, 14}};
// The same in single operations. (measured: H200, transformers 5.17, tests/evidence/made/operations.py)
inline constexpr Constant kSingleScores[] = {{{"i_sf", "score_bytes_forward", "bytes"}, 42},
                                             {{"i_sb", "score_bytes_backward", "bytes"}, 47}};
// With one score more for every query, as gpt-oss has: it is joined by a copy, the largest is taken off, and rows then have an odd length.
// (measured: experts.py, there)
inline constexpr Constant kSinkScores[] = {{{"i_sf", "score_bytes_forward", "bytes"}, 71}, {{"i_sb", "score_bytes_backward", "bytes"}, 58}};
// Attention of PyTorch's with a mask: its rate over the peak, and its backward over its forward pass's. (measured as above, heads 128 wide)
inline constexpr Constant kMaskedRate{{"e_a", "attention_share", ""}, 0.33};
inline constexpr Constant kMaskedBackward{{"e_b", "attention_backward_share", ""}, 0.9};
// Linear attention, by the kernels of flash-linear-attention 0.5.1: operations per second on one multiprocessor; the part of that time in
// which a state is handed from chunk to chunk, how long one hand-over takes at least, and the backward over the forward pass. (measured by
// others: 68 times of 4 to 64 heads on H200, QwenLM/FlashQLA, benchmark/benchmark_results_H200.txt; they are met within 11 % on average:
// tests/time/linear_attention_test.cpp. That other cards differ by the number of their multiprocessors alone is assumed; on GB200 ten of
// those times are met within 9 %.)
inline constexpr Constant kLinearRate{{"R_p", "linear_rate", "flop_per_s"}, 780e9};
inline constexpr Constant kLinearScan{{"x_p", "linear_scan_part", ""}, 0.2};
inline constexpr Constant kLinearStep{{"l_s", "linear_step", "seconds"}, 1.25e-6};
inline constexpr Constant kLinearBackward{{"o_l", "linear_backward", ""}, 3.2};
// The same of Kimi's delta attention. (measured by others: 405e9 forward, heads of 128, on H20, MoonshotAI/FlashKDA 9f54414,
// BENCHMARK_H20.md, column fla_chunk_kda; the backward pass takes 3.3 times as long, BENCHMARK_TRAIN_RTX5090.md.) That of a state space is
// taken for linear attention's: no benchmark of mamba_ssm's kernels gives one. (assumed)
inline constexpr Constant kKimiRate{{"R_p", "kimi_rate", "flop_per_s"}, 405e9};
// A state space: bytes moved for each value of a chunk's state: written and read in 32 bits, their sum in 16. (counted: mamba_ssm,
// ops/triton/ssd_combined.py)
inline constexpr Constant kChunkStateBytes{{"i_s", "state_bytes", "bytes"}, 12};
// Beside them, values of 16 bits read and written per value that the first matrix writes: convolution, norms of queries and keys, copies
// for the heads of the values, norm and gate of the output. (counted: Megatron-LM, core/ssm/gated_delta_net.py)
inline constexpr Constant kLinearValues[] = {{{"i_vf", "linear_values_forward", "values"}, 8},
                                             {{"i_vb", "linear_values_backward", "values"}, 13}};
// The same of a state space, with what its scan reads and writes of x and z. (counted: mamba_ssm, ops/triton/ssd_combined.py)
inline constexpr Constant kStateValues[] = {{{"i_vf", "linear_values_forward", "values"}, 4.5},
                                            {{"i_vb", "linear_values_backward", "values"}, 12}};
// The same of a convolution between two gates: each product reads two and writes one of a third of them, the convolution one and one;
// backward, the three parts of the first matrix' gradient are joined, too. (counted: transformers, models/lfm2/modular_lfm2.py)
inline constexpr Constant kConvolutionValues[] = {{{"i_vf", "linear_values_forward", "values"}, 8.0 / 3},
                                                  {{"i_vb", "linear_values_backward", "values"}, 7}};
// Ring attention: bytes moved to rescale a value of a partial result, four numbers of 32 bits. (counted)
inline constexpr Constant kRescale{{"i_c", "rescale_bytes", "bytes"}, 16};

// GELU in single steps, beside torch.autocast. (counted)
inline constexpr Constant kGeluSteps[] = {{{"i_af", "activation_values_forward", "values"}, 25},
                                          {{"i_ab", "activation_values_backward", "values"}, 45}};
// Element-wise work: values of 16 bits read and written per hidden value by the two norms, fused or not (2.5 times as much), by residuals
// and by dropout; and per feed-forward value by the activation function, without and with a gate. (counted)
inline constexpr Constant kNormForward[] = {{{"i_nf", "norm_values_forward", "values"}, 10},
                                            {{"i_nf", "norm_values_forward", "values"}, 4}};
inline constexpr Constant kNormBackward[] = {{{"i_nb", "norm_values_backward", "values"}, 15},
                                             {{"i_nb", "norm_values_backward", "values"}, 6}};
// Of single operations (memory/single_operations.h): values per gate of the activation function and its product, and per value of queries
// and keys of rotary positions, forward and backward. (measured: H200, transformers 5.17, tests/evidence/made/operations.py)
inline constexpr Constant kSingleGate[] = {{{"i_af", "activation_values_forward", "values"}, 5},
                                           {{"i_ab", "activation_values_backward", "values"}, 8.5}};
inline constexpr Constant kSingleRotary[] = {{{"i_hf", "rotary_values_forward", "values"}, 28},
                                             {{"i_hb", "rotary_values_backward", "values"}, 35}};
// Experts in single operations: tokens sorted, masked and weighted, the gate and its product, per value that an expert reads or holds
// inside. (measured: H200, tests/evidence/made/experts.py; on an H100 they take as long as rotary positions: assumed from four steps)
inline constexpr Constant kSingleExperts[] = {{{"i_rf", "routed_values_forward", "values"}, 19},
                                              {{"i_rb", "routed_values_backward", "values"}, 29}};
// Single operations that calculate as long as they move: the part of their time that a faster memory does not shorten, on the card whose
// memory gives each multiprocessor so many bytes per second: norms, rotary positions, the loss, adapters, Adam. (measured: the same
// operations on H200 and on H100, whose multiplications take equally long: tests/evidence/made/computed.py)
inline constexpr Constant kComputedPart[] = {
    {{"x_n", "computed_part_norms", ""}, 0.41},  {{"x_h", "computed_part_rotary", ""}, 0.82},
    {{"x_l", "computed_part_loss", ""}, 0.23},   {{"x_a", "computed_part_adapters", ""}, 0.38},
    {{"x_u", "computed_part_update", ""}, 0.25}, {{"x_u", "computed_part_update", ""}, 0.53}};  // averages of 32 bits, and of 16
enum ComputedPart : std::size_t {
    kNormsCompute,
    kRotaryComputes,
    kLossComputes,
    kAdaptersCompute,
    kUpdateComputes,
    kUpdateComputesIn16Bits
};
inline constexpr Constant kComputedAt{{"H_1", "computed_at", "bytes_per_s"}, 4800e9 / 132};
// torch.autocast: LayerNorm, which works in 32 bits, per hidden value and two of them; and, where 32 bits flow between layers, what that
// takes more per hidden value: residuals, and a copy for each matrix. (counted)
inline constexpr Constant kCastLayerNorm[] = {{{"i_nf", "norm_values_forward", "values"}, 20},
                                              {{"i_nb", "norm_values_backward", "values"}, 32}};
inline constexpr Constant kCastFlow[] = {{{"i_cf", "cast_values_forward", "values"}, 8}, {{"i_cb", "cast_values_backward", "values"}, 30}};
inline constexpr Constant kResidual{{"i_r", "residual_values", "values"}, 6};
inline constexpr Constant kDropout{{"i_d", "dropout_values", "values"}, 2};
inline constexpr Constant kActivationForward[] = {{{"i_af", "activation_values_forward", "values"}, 2},
                                                  {{"i_af", "activation_values_forward", "values"}, 3}};
inline constexpr Constant kActivationBackward[] = {{{"i_ab", "activation_values_backward", "values"}, 3.5},
                                                   {{"i_ab", "activation_values_backward", "values"}, 5}};

// Experts with biases: values of 16 bits per hidden value of a token's copy, where probabilities have 16 and where they have 32 bits:
// product with the probability, sum, copy that joins the experts, and back to 16 bits; then the gradients of all of these. Experts whose
// gate is limited: per value of it, what the limits and the copy behind them read and write. (counted)
inline constexpr Constant kExpertBias[][2] = {
    {{{"i_xf", "bias_values_forward", "values"}, 6}, {{"i_xf", "bias_values_forward", "values"}, 14}},
    {{{"i_xb", "bias_values_backward", "values"}, 8}, {{"i_xb", "bias_values_backward", "values"}, 20}}};
inline constexpr Constant kLimitedGate[] = {{{"i_gf", "limit_values_forward", "values"}, 8},
                                            {{"i_gb", "limit_values_backward", "values"}, 10}};

// Embedding: bytes per value that it writes, both passes (counted), and per parameter, for its gradient (assumed). Loss: bytes that a fused
// kernel moves, over those of the plain one (assumed).
inline constexpr Constant kEmbeddingValue{{"i_e", "embedding_value_bytes", "bytes"}, 6};
inline constexpr Constant kEmbeddingWeight{{"i_w", "embedding_weight_bytes", "bytes"}, 14};
inline constexpr Constant kFusedLoss{{"j_f", "fused_loss_share", ""}, 0.5};

// Seconds by which tp-comm-overlap delays each piece of work; time of the CPU in a layer's backward over its forward pass, and, second,
// with the forward pass once more. (assumed)
inline constexpr Constant kOverlapLatency{{"l_o", "overlap_latency", "seconds"}, 8e-6};
inline constexpr Constant kHostBackward[] = {{{"c_b", "host_backward", ""}, 1.3}, {{"c_b", "host_backward", ""}, 2.3}};
// Beside torch.utils.checkpoint, whose own work is included: in times of a forward pass without it. (measured: as above)
inline constexpr Constant kHostCheckpoint{{"c_b", "host_backward", ""}, 3.5};

// Tokens between experts. The share of a collective's rate: of NCCL's all-to-all and of DeepEP's kernels, and the part of the time that
// the work of another micro-batch hides. (fitted: tests/time/exchange_test.cpp)
inline constexpr Constant kAllToAllShare{{"e_x", "exchange_share", ""}, 0.75};
inline constexpr Constant kDeepEpShare{{"e_x", "exchange_share", ""}, 0.95};
inline constexpr Constant kHiddenExchange{{"u_x", "hidden_exchange", ""}, 0.6};
// Bytes moved per value that is cast to 8 bits to be multiplied: read in 16, written as it lies and, for the weight gradient, transposed;
// second, where the weights are frozen. (counted: Transformer Engine, pytorch/module/linear.py, rowwise and columnwise usage)
inline constexpr Constant kCastBytes[] = {{{"i_8", "cast_bytes", "bytes"}, 4}, {{"i_8", "cast_bytes", "bytes"}, 3}};
// Bytes of a value on its way to an expert, and on its way back; the first in fp8.
inline constexpr Constant kDispatchedBytes{{"i_x", "dispatched_bytes", "bytes"}, 1.5};

// Sends between stages: the part of one that nothing hides, interleaved with overlap_pipeline. (assumed)
inline constexpr Constant kOverlappedSend{{"u_p", "overlapped_send_exposed", ""}, 0.25};
// Gradients and weights: latencies of the network per doubling of nodes; the last bucket, which is sent after the backward pass. (assumed)
inline constexpr Constant kDataLatencies{{"n_l", "data_latencies", ""}, 8};
inline constexpr Constant kLastBucket{{"u_l", "last_bucket", ""}, 0.125};
// Gradients that PyTorch's DistributedDataParallel adds up at once: bucket_cap_mb, 25 MiB by default.
inline constexpr Constant kBucket{{"i_k", "bucket_bytes", "bytes"}, 25.0 * 1024 * 1024};
// Optimizer, bytes moved: per parameter that it updates, reading gradient (twice: its norm), master weight and two averages in 32 bits,
// writing the three and the weight in 16 (counted); per parameter of the GPU, scaling gradients and setting them to zero (assumed).
inline constexpr Constant kUpdate{{"i_o", "update_bytes", "bytes"}, 34};
inline constexpr Constant kClearing{{"i_p", "clearing_bytes", "bytes"}, 12};

// ---- different from machine to machine
// Each has its unit here and its symbol in constants.cpp.
struct Timing {
    double gemm;                      // asymptotic rate of a matrix multiplication in 16 bits over the peak
    double eight_bits;                // gemm in 8 bits over gemm in 16
    double tile_fill;                 // K-equivalent of filling and draining a tile's pipeline
    double wave_mix;                  // 0: a partly filled wave of tiles costs a whole one, 1: nothing
    double small_tile;                // rate of 128 x 128 tiles over that of 256 x 128
    double unaligned;                 // rate of batched multiplications whose rows start anywhere, over that of those aligned to 16 bytes
    double grouped;                   // rate of experts' multiplications, one group for each expert, over that of a large one
    double grouped_waves;             // wave_mix of these
    double attention;                 // rate of flash attention's forward pass over the peak
    double attention_backward;        // of the backward over the forward pass
    double attention_tail;            // longest block, in blocks
    double attention_start;           // tokens of a GPU's sequence at which attention reaches half its rate
    double attention_narrow;          // values of a head's width: as long as their multiplications takes the rest of a score
    double element_wise;              // bytes of element-wise work over what is counted
    double plain_norms;               // bytes of norms that are not fused, over what is counted
    double cross_entropy;             // bytes per logit, forward and backward
    double link, link_latency;        // share of a link's rate that a collective reaches; seconds
    double network, network_latency;  // the same between nodes
    double spanning_latency;          // seconds: of a tensor-parallel collective, per further node
    double spanning_network;          // share of the network that such a collective reaches; 0: as others
    double shard_latency;             // seconds per layer and copy: ZeRO's collectives, one after the other round the ring of copies
    double bucket_latency;            // seconds per bucket of gradients that are added up between nodes
    double tensor_exposed;            // part of overlapped tensor-parallel traffic that the backward pass does not hide
    double tensor_overlap_exposed;    // with tp-comm-overlap
    double data_exposed;              // of overlapped gradient and weight traffic
    double context_correction;        // rescaling partial attention results, over what is counted
    double ring_link, ring_latency;   // share of the link between two GPUs of a node that a ring reaches; seconds a step
    double ring_network;              // share of the network that a ring reaches
    double ring_network_latency;      // seconds of a step of such a ring beside those of its bytes
    double host_layer;                // seconds of CPU per layer
    double host_experts;              // seconds of CPU more per layer with experts: routing, sorting, counting tokens
    double host_expert;               // seconds of CPU more per expert that is called by itself (plan/framework.h: calls_experts_in_turn)
    double host_linear;               // seconds of CPU more per layer with linear attention: many small operations around its kernels
    double host_adapter;              // seconds of CPU more per adapter of a layer
    double host_shard;                // seconds of CPU more per layer that FSDP's second version gathers
    double host_partition;            // seconds of CPU more per weight that DeepSpeed's ZeRO-3 gathers by itself (host_time.h)
    double graphed_host;              // part of both that is left where parts of layers are launched from CUDA graphs
    double fixed;                     // seconds per step
    double straggler;                 // per doubling of nodes
    double stall;                     // seconds per micro-batch and group of GPUs, the site's noise
    double noise_groups;              // of so many groups, noise delays one in a micro-batch
    double pipeline;                  // share of the network that point-to-point transfers reach
    double accumulation;              // bytes per parameter and micro-batch for adding up gradients
    double micro_batch;               // seconds per micro-batch
};
// `cluster` may be null; where its profile has constants of its own, fitted to its runs, a site that is "measured" takes them.
Timing timing_of(const Machine& machine, const Cluster* cluster, const Plan& plan, AttentionKernel attention);

const Symbol& symbol_of(double Timing::*constant);
// Every constant, in the order of their symbols.
std::vector<double Timing::*> timing_constants();

}  // namespace fourfold
