// How a training run is split over GPUs, and the rules that such a split must keep (Megatron-style training).
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include "base/fields.h"
#include "model/hardware.h"
#include "model/model.h"
#include "plan/layout.h"
#include "plan/schedule.h"

namespace fourfold {

// ---- choices. Their texts are in plan.cpp; order as in the enum.
enum class FrameworkKind { megatron_2025, megatron_2024, pytorch, nanotron, megatron_deepspeed, hai_llm, litgpt, transformers, count };
enum class Attention { automatic, flash, cudnn, plain };
enum class Loss { automatic, plain, native_fused, te_fused, gathered, chunked, tiled, parallel };
enum class Zero { none, optimizer, gradients, weights };
// operations: every layer again, but for what attention, exchanges and every second matrix return (kept_outputs.h).
enum class Recompute { none, selective, full, block, operations };
enum class Precision { bf16, fp16, fp8, fp8_weights };
inline bool is_fp8(Precision precision) { return precision == Precision::fp8 || precision == Precision::fp8_weights; }
enum class Moments { fp32, bits16, bits8 };
enum class SiteKind { measured, quiet, shared, own };
// How tokens reach their experts: as fast as the framework can on the card; every copy in an all-to-all of NCCL's; once to each node, then
// on inside (DeepEP).
enum class ExpertDispatch : std::uint8_t { automatic, all_to_all, deepep };
// What the CPU launches from recordings (CUDA graphs): nothing, the parts of layers whose sizes are fixed, or the whole step. Names and
// parts: Megatron Core, docs/user-guide/features/cuda_graph.md.
enum class CudaGraphs : std::uint8_t { none, layers, step };
// Whether all parameters learn, or only small matrices beside frozen ones (LoRA, arXiv 2106.09685); how the frozen ones are stored (nf4: 4
// bits, and a scale of 8 bits per 64 values; nf4_single: a scale of 32 bits. QLoRA, arXiv 2305.14314); and what updates those that learn.
enum class TrainedPart : std::uint8_t { full, lora };
enum class FrozenWeights : std::uint8_t { bf16, fp8, nf4, nf4_single };
enum class Optimizer : std::uint8_t { adam, adam_8bit, muon, sgd };
// How attention reaches the parts of a sequence that lie on other GPUs (context parallelism): keys and values go round (Ring Attention,
// arXiv 2310.01889), or all GPUs swap parts of the sequence for heads and back (DeepSpeed-Ulysses, arXiv 2309.14509).
enum class ContextKind : std::uint8_t { ring, all_to_all };
// Where an offloaded optimizer's state lies; and whether its update waits for every transfer, runs beneath them, or leaves some groups of
// parameters to the GPU meanwhile (time/offload.h).
enum class OffloadTarget : std::uint8_t { host, nvme };
enum class OffloadOverlap : std::uint8_t { none, overlapped, interleaved };
enum class Habit : std::uint8_t { automatic, on, off };  // automatic: as the framework does (framework.h)
// Bits of Plan::recompute_modules, by the names of Megatron's --recompute-modules.
enum RecomputeModule : std::uint32_t {
    core_attn = 1,
    layernorm = 2,
    mlp = 4,
    moe_act = 8,
    moe = 16,
    shared_experts = 32,
    mla_up_proj = 64
};
// Bits of Plan::lora_targets: the matrices that have an adapter.
enum LoraTarget : std::uint32_t {
    lora_query = 1,
    lora_key = 2,
    lora_value = 4,
    lora_output = 8,
    lora_gate = 16,
    lora_up = 32,
    lora_down = 64,
    lora_all = 127
};

extern const std::span<const Choice> kFrameworkChoices, kAttentionChoices, kLossChoices, kScheduleChoices, kZeroChoices, kRecomputeChoices,
    kPrecisionChoices, kMomentsChoices, kModuleChoices, kSiteChoices, kHabitChoices, kDispatchChoices, kTrainedChoices, kFrozenChoices,
    kOptimizerChoices, kTargetChoices, kOffloadTargetChoices, kOffloadOverlapChoices, kContextChoices, kGraphChoices;

// What else than whole numbers may be "auto": bits of Plan::open.
enum Open : std::uint32_t {
    open_schedule = 1,
    open_layout = 2,
    open_zero = 4,
    open_recompute = 8,
    open_moments = 16,
    open_sequence_parallel = 32,
    open_activation_offload = 64,
    open_recompute_modules = 128,
    open_expert_overlap = 256,
    open_pipeline_overlap = 512,
    open_shard_replicas = 1024,
    open_everything = 2047
};

// Every whole number that may be "auto" may be kAuto, and every other field may have its bit set in `open`, until search.h has chosen it.
struct Plan {
    std::int64_t gpus = 8;
    std::int64_t gpus_per_node = kAuto;
    std::int64_t sequence_length = 8'192;  // tokens
    std::int64_t global_batch = 1'024;     // sequences per optimizer step
    std::int64_t document_length = 0;      // tokens of those packed into a sequence (document()); 0: it is one
    std::int64_t tensor_parallel = kAuto;
    std::int64_t tensor_columns = 1;  // the other way in which matrices are split, beside TP (a grid: arXiv 2305.13525)
    std::int64_t context_parallel = kAuto;
    std::int64_t pipeline_parallel = kAuto;
    std::int64_t micro_batch = kAuto;                            // sequences that pass through a GPU at once
    std::int64_t virtual_stages = 1;                             // model chunks per GPU in the interleaved schedule
    std::int64_t virtual_stage_group = kAuto;                    // micro-batches that pass through a chunk before the next chunk's turn
    std::int64_t first_stage_layers = 0, last_stage_layers = 0;  // 0 = as many as the other stages
    std::int64_t expert_parallel = 1;                            // a request that does not set it means "auto" (job.h)
    std::int64_t expert_tensor_parallel = 1;
    std::int64_t shard_replicas = 1;     // copies of what ZeRO shares out (HSDP; Megatron: distributed-optimizer instances)
    std::int64_t recompute_layers = 1;   // full: layers per unit; block: layers of each chunk
    double expert_imbalance = 1;         // fullest GPU's routed tokens over the average
    double optimizer_offload = 0;        // fraction of the optimizer's state that lies in host memory, or on NVMe
    double activation_offload = 0;       // fraction of what layers keep for their backward pass that waits in host memory
    bool weights_offload = false;        // where ZeRO shares out weights, they wait in host memory for their layer's turn
    bool optimizer_in_backward = false;  // where micro-batches are not added up, each weight is updated once its gradient is there
    bool optimizer_foreach = false;      // PyTorch's Adam over lists of tensors: an update holds a copy of one average
    Habit offload_master_weights = Habit::automatic;  // whether those of an offloaded optimizer leave the GPU; automatic: they do
    std::int64_t feed_forward_tiles = 1;  // pieces of the tokens, one after the other, in dense feed-forward parts (arXiv 2506.13996)
    std::int64_t token_slices = 1;        // pieces of every sequence, one after the other through the pipeline (token_slices.h)
    double nvme_rate = 6;    // GB/s of a node's drives, reading and writing: MLP-Offload's node, 6.9 and 5.3 (arXiv 2509.02480)
    double host_memory = 0;  // GiB of a node; 0: not known
    std::uint32_t open = 0;  // bits of Open
    std::int64_t lora_rank = 16;
    std::uint32_t lora_targets = LoraTarget::lora_all;
    TrainedPart trained = TrainedPart::full;
    FrozenWeights frozen_weights = FrozenWeights::bf16;
    Optimizer optimizer = Optimizer::adam;
    Habit master_weights = Habit::automatic;  // of 32 bits beside those that learn; automatic: they exist
    bool lora_dropout = false;                // of what an adapter reads
    bool frozen_in_fp32 = false;              // what is not packed, beside packed matrices (PEFT: prepare_model_for_kbit_training)
    LayoutPointer layout;                     // layers chunk by chunk; none: as `split` says
    Split split = Split::equal;
    FrameworkKind framework = FrameworkKind::megatron_2025;
    Attention attention = Attention::automatic;
    Loss loss = Loss::automatic;
    ExpertDispatch expert_dispatch = ExpertDispatch::automatic;
    CudaGraphs cuda_graphs = CudaGraphs::none;
    ContextKind context_parallel_kind = ContextKind::ring;
    OffloadTarget optimizer_offload_target = OffloadTarget::host;
    OffloadOverlap optimizer_offload_overlap = OffloadOverlap::none;
    // Where a run differs from what its framework does.
    Habit transformer_engine = Habit::automatic;           // its layers, or the framework's own
    Habit gradient_fusion = Habit::automatic;              // weight gradients are added in place, or exist in bf16 for a moment
    Habit softmax_fusion = Habit::automatic;               // mask and softmax in one kernel, in the framework's own layers
    Habit activation_fusion = Habit::automatic;            // of gated experts
    Habit grouped_gemm = Habit::automatic;                 // all experts of a GPU in one call
    Habit large_workspaces = Habit::automatic;             // of cuBLAS; automatic: on Hopper alone
    Habit attention_mask = Habit::automatic;               // one of b*s*s bytes comes with every micro-batch
    Habit deferred_embedding_gradient = Habit::automatic;  // computed at the end of the step
    Habit fully_shard = Habit::automatic;                  // ZeRO-2 and 3 as PyTorch's FSDP of the second version
    Habit sync_each_micro_batch = Habit::automatic;        // gradients that are shared out travel after each; else once, whole until then
    Habit gathered_inputs = Habit::automatic;              // matrices that TP splits by columns keep them, or gather them again
    ScheduleKind schedule = kUsualSchedule;
    Zero zero = Zero::optimizer;
    Recompute recompute = Recompute::none;
    Precision precision = Precision::bf16;
    Moments moments = Moments::fp32;
    std::uint32_t recompute_modules = RecomputeModule::core_attn;  // what "selective" recomputes
    bool count_embedding_as_layer = false, count_loss_as_layer = false;
    SiteKind site = SiteKind::measured;  // as fitted to the cluster's runs, where there are any
    // A calibration with the user's own runs (calibration.h): a factor on every time, and what SiteKind::own takes for the site. Their
    // defaults are those of a quiet site (constants.cpp).
    double time_factor = 1;
    double site_network = 0.7, site_pipeline = 0.5;  // shares of the network's rate: collectives, point-to-point
    double site_fixed = 0.1, site_stall = 0.025e-3;  // seconds per step; seconds per micro-batch and group of GPUs
    // Where a stack differs from what is known of its framework: times as much of the CPU's time and of element-wise work, times the rate
    // of the link inside a node; seconds more for a tensor-parallel collective per further node; and how much wider the band is.
    double time_host = 1, time_link = 1, time_element = 1, time_spanning = 0, time_spread = 1;
    // What the reader measured of the links, 0: nothing. GB/s of a GPU in an all_reduce inside a node; of a node in one over several nodes;
    // seconds of latency between nodes, per doubling of the GPUs.
    double measured_intra = 0, measured_inter = 0, measured_latency = 0;
    // Of memory: times as much, and GiB more than estimated on every GPU.
    double memory_factor = 1, memory_extra = 0;
    std::int64_t time_runs = 0, memory_runs = 0;  // that either rests on; no number depends on them
    bool tensor_overlap = false, overlap_gradients = true, overlap_parameters = true, overlap_pipeline = false;
    bool expert_overlap = false;  // tokens on their way to experts, beneath the work of another micro-batch
    bool gradients_in_fp32 = true;
    bool hidden_dropout = false;
    bool attention_dropout = false;
    bool fused_norms = true;        // otherwise plain PyTorch's, which keep copies in fp32
    bool sequence_parallel = true;  // has an effect with tensor parallelism alone

    std::int64_t tensor_grid() const { return tensor_parallel * tensor_columns; }  // GPUs that share a matrix
    std::int64_t model_parallel() const { return tensor_grid() * context_parallel * pipeline_parallel; }
    std::int64_t data_parallel() const { return gpus / model_parallel(); }
    std::int64_t chunks() const { return pipeline_parallel * virtual_stages; }  // of the whole pipeline
    // kAuto: as many as there are stages; where groups of these do not hold the micro-batches, the fewest that do, if the framework has
    // such.
    std::int64_t group_of_micro_batches() const;
    std::int64_t micro_batches() const { return global_batch / (micro_batch * data_parallel()); }  // per step and pipeline
    // What passes through a pipeline one after the other, in one direction: micro-batches, or their slices.
    std::int64_t units() const { return micro_batches_per_direction() * token_slices; }
    // Tokens of what attention stays inside: the mean over the tokens of a sequence, sum d^2 / sum d, so that operations of attention are
    // exact whatever the lengths d. A document never reaches into the next sequence.
    std::int64_t document() const { return document_length > 0 ? std::min(document_length, sequence_length) : sequence_length; }
    bool is_calibrated() const {
        return time_factor != 1 || site == SiteKind::own || time_host != 1 || time_link != 1 || time_element != 1 || time_spanning != 0 ||
               time_spread != 1;
    }
    bool measures_links() const { return measured_intra > 0 || measured_inter > 0 || measured_latency > 0; }
    bool has_calibrated_memory() const { return memory_factor != 1 || memory_extra != 0; }
    bool swaps_heads() const { return context_parallel > 1 && context_parallel_kind == ContextKind::all_to_all; }
    // Whether the exchange of tokens waits for the work of another micro-batch; schedules that work in pairs hide it themselves.
    bool hides_exchange() const { return expert_overlap && !row_of(schedule_kind()).overlaps; }
    // Schedule::early; without an exchange there is nothing to hide
    std::int32_t early_forwards() const { return hides_exchange() && expert_parallel > 1 && row_of(running_schedule()).turns ? 1 : 0; }
    bool overlaps_sends() const;  // between stages, beneath the chunks' work; "auto": as the framework does (framework.cpp)
    bool freezes() const { return trained == TrainedPart::lora; }
    bool weights_on_host() const { return weights_offload && zero == Zero::weights; }
    bool moves_in_passes() const { return activation_offload > 0 || weights_on_host(); }  // between GPU and host
    bool adds_up() const { return pipeline_parallel > 1 || micro_batches() > 1; }         // gradients of several micro-batches
    bool updates_in_backward() const { return optimizer_in_backward && !adds_up(); }
    bool updates_by_lists() const {
        return optimizer_foreach && optimizer == Optimizer::adam && optimizer_offload < 1 && !updates_in_backward();
    }
    bool master_on_host() const { return offload_master_weights != Habit::off; }
    bool shards_optimizer() const { return zero != Zero::none; }
    bool shards_gradients() const { return zero == Zero::gradients || zero == Zero::weights; }
    bool recomputes(RecomputeModule module) const { return recompute == Recompute::selective && (recompute_modules & module) != 0; }
    // Scores are kept unless attention never writes them or they are computed again.
    bool keeps_scores() const { return attention == Attention::plain && !recomputes(core_attn); }
    ScheduleKind schedule_kind() const { return virtual_stages > 1 ? row_of(schedule).with_chunks.value_or(schedule) : schedule; }
    // What the stages run.
    ScheduleKind running_schedule() const { return pipeline_parallel == 1 ? kAlone : schedule_kind(); }
    // Copies of the weights that the stages of a pipeline hold together (DualPipe: one per direction).
    std::int64_t weight_copies() const { return row_of(schedule).copies; }
    std::int64_t pieces_per_stage() const { return virtual_stages * weight_copies(); }
    std::int64_t micro_batches_per_direction() const { return micro_batches() / weight_copies(); }
};

// Whether norms and residuals work on parts of the sequence (arXiv 2205.05198); in a grid they work on parts of the hidden values.
inline bool splits_sequence(const Plan& p) { return p.sequence_parallel && p.tensor_parallel > 1 && p.tensor_columns == 1; }

// Rows of the embedding as Megatron pads them, so that every GPU of a tensor group gets a multiple of 128.
inline std::int64_t padded_vocabulary(const Model& model, std::int64_t tensor_parallel) {
    const std::int64_t multiple = 128 * tensor_parallel;
    return (model.vocabulary + multiple - 1) / multiple * multiple;
}

// Layers of a chunk in the first, in the middle, and in the last stage, where all chunks are equal or the older fields move layers between
// the ends: uneven ends are given as layers of the stage (Megatron: --decoder-first-pipeline-num-layers), or come from counting the
// embedding or the loss as a layer (--account-for-embedding-in-pipeline-split), which takes one layer from the very first or the very last
// chunk. nullopt when the layers cannot be shared out so.
struct LayersPerChunk {
    std::int64_t first, middle, last;
};
inline bool has_uneven_ends(const Plan& p) {
    return p.first_stage_layers > 0 || p.last_stage_layers > 0 || p.count_embedding_as_layer || p.count_loss_as_layer;
}
inline std::optional<LayersPerChunk> layers_per_chunk(const Model& m, const Plan& p) {
    const std::int64_t V = p.virtual_stages, first = p.first_stage_layers, last = p.last_stage_layers;
    const std::int64_t middle = p.pipeline_parallel - (first > 0 ? 1 : 0) - (last > 0 ? 1 : 0);
    const std::int64_t extra = (p.count_embedding_as_layer ? 1 : 0) + (p.count_loss_as_layer ? 1 : 0);
    if (first == 0 && last == 0) {  // the usual case, and the search's
        if ((m.layers + extra) % p.chunks() != 0) return std::nullopt;
        const std::int64_t each = (m.layers + extra) / p.chunks();
        return LayersPerChunk{each, each, each};
    }
    const std::int64_t rest = m.layers - first - last;
    if (extra > 0 || middle < 0 || rest < middle * V || first % V != 0 || last % V != 0) return std::nullopt;
    if (middle == 0 ? rest != 0 : rest % (middle * V) != 0) return std::nullopt;
    if (p.pipeline_parallel == 1) return LayersPerChunk{m.layers, m.layers, m.layers};  // the first stage is the last, too
    const std::int64_t each = middle == 0 ? 0 : rest / (middle * V);
    return LayersPerChunk{first > 0 ? first / V : each, each, last > 0 ? last / V : each};
}
// Whether the plan's chunks hold the model's layers, each once.
inline bool holds_layers(const Model& m, const Plan& p) {
    if (p.layout) return static_cast<std::int64_t>(p.layout->chunks()) == p.chunks() && p.layout->layers() == m.layers;
    return p.split != Split::equal && !has_uneven_ends(p) ? p.chunks() <= m.layers : layers_per_chunk(m, p).has_value();
}

// "layout" of a request: "auto", an id of kSplitChoices, or Megatron's notation.
void set_notation(Plan& plan, const std::string& text, Problems& problems);
std::string notation_of(const Plan& plan);

// The largest values that can be entered; a search goes no further.
inline constexpr std::int64_t kMaxGpus = 1'048'576, kMostMicroBatch = 65'536, kMostBatch = 16'777'216, kMostSequence = 16'777'216,
                              kMostContext = 4'096;

// How people write them: 32 nodes, 8k, 4M tokens.
inline constexpr Reading kInNodes{.also = "nodes", .times = "gpus_per_node"}, kBinary{.thousand = 1'024},
    kInTokens{.also = "tokens", .per = "sequence_length"};

// The one list of the plan's fields (FieldReader, FieldWriter, FieldDescriber).
template <class AnyPlan, class Visitor>
void visit_fields(AnyPlan& p, Visitor&& v) requires std::is_same_v<std::remove_const_t<AnyPlan>, Plan> {
    v.integer({"gpus|gpus|gpus", &kInNodes}, p.gpus, {1, kMaxGpus});
    v.integer({"sequence_length|seq|tokens", &kBinary}, p.sequence_length, {1, kMostSequence});
    v.integer({"document_length|doc|tokens", &kBinary}, p.document_length, {0, kMostSequence});
    v.integer({"global_batch|batch|sequences", &kInTokens}, p.global_batch, {1, kMostBatch});
    v.integer({"tensor_parallel|tp|gpus"}, p.tensor_parallel, {1, 1'024}, true);
    v.integer({"tensor_columns|tpc|gpus"}, p.tensor_columns, {1, 1'024});
    v.integer({"context_parallel|cp|gpus"}, p.context_parallel, {1, kMostContext}, true);
    v.integer({"pipeline_parallel|pp|stages"}, p.pipeline_parallel, {1, 2'000}, true);
    v.integer({"micro_batch|mb|sequences"}, p.micro_batch, {1, kMostMicroBatch}, true);
    v.integer({"virtual_stages|vp|chunks"}, p.virtual_stages, {1, 128}, true);
    v.integer({"virtual_stage_group|vgroup|micro_batches"}, p.virtual_stage_group, {1, 65'536}, true);
    v.integer({"gpus_per_node|node|gpus"}, p.gpus_per_node, {1, 256}, true);
    v.choice({"schedule|sched"}, p.schedule, kScheduleChoices, p.open, open_schedule);
    v.notation({"layout|layout"}, p, kSplitChoices);
    v.integer({"first_stage_layers|first|layers"}, p.first_stage_layers, {0, 2'000});
    v.integer({"last_stage_layers|last|layers"}, p.last_stage_layers, {0, 2'000});
    v.boolean({"count_embedding_as_layer|embl"}, p.count_embedding_as_layer);
    v.boolean({"count_loss_as_layer|lossl"}, p.count_loss_as_layer);
    v.choice({"zero|zero"}, p.zero, kZeroChoices, p.open, open_zero);
    v.integer({"shard_replicas|hsdp|copies"}, p.shard_replicas, {1, 1'048'576}, p.open, open_shard_replicas);
    v.choice({"recompute|rc"}, p.recompute, kRecomputeChoices, p.open, open_recompute);
    v.set({"recompute_modules|rcm"}, p.recompute_modules, kModuleChoices, p.open, open_recompute_modules);
    v.integer({"recompute_layers|rcl|layers"}, p.recompute_layers, {1, 2'000}, true);
    v.choice({"precision|dtype"}, p.precision, kPrecisionChoices);
    v.boolean({"gradients_in_fp32|grad32"}, p.gradients_in_fp32);
    v.choice({"moments|adam"}, p.moments, kMomentsChoices, p.open, open_moments);
    v.choice({"optimizer|opt"}, p.optimizer, kOptimizerChoices);
    v.choice({"master_weights|master"}, p.master_weights, kHabitChoices);
    v.number({"optimizer_offload|offload|fraction"}, p.optimizer_offload, {0, 1});
    v.choice({"trained|train"}, p.trained, kTrainedChoices);
    v.integer({"lora_rank|lorarank"}, p.lora_rank, {1, 65'536});
    v.set({"lora_targets|loratargets"}, p.lora_targets, kTargetChoices);
    v.boolean({"lora_dropout|loradrop"}, p.lora_dropout);
    v.choice({"frozen_weights|frozen"}, p.frozen_weights, kFrozenChoices);
    v.boolean({"frozen_in_fp32|frozen32"}, p.frozen_in_fp32);
    v.choice({"optimizer_offload_target|offto"}, p.optimizer_offload_target, kOffloadTargetChoices);
    v.choice({"optimizer_offload_overlap|offov"}, p.optimizer_offload_overlap, kOffloadOverlapChoices);
    v.choice({"offload_master_weights|offmaster"}, p.offload_master_weights, kHabitChoices);
    v.boolean({"weights_offload|woff"}, p.weights_offload);
    v.boolean({"optimizer_in_backward|optbwd"}, p.optimizer_in_backward);
    v.boolean({"optimizer_foreach|foreach"}, p.optimizer_foreach);
    v.number({"activation_offload|actoff|fraction"}, p.activation_offload, {0, 1}, p.open, open_activation_offload);
    v.choice({"context_parallel_kind|cpkind"}, p.context_parallel_kind, kContextChoices);
    v.integer({"feed_forward_tiles|tiles"}, p.feed_forward_tiles, {1, 4'096});
    v.integer({"token_slices|slices"}, p.token_slices, {1, 1'024}, true);
    v.number({"nvme_gbyte_per_s|nvme|gbyte_per_s"}, p.nvme_rate, {0.1, 1e3});
    v.number({"host_memory_gib|hostmem|gib"}, p.host_memory, {0, 1e6});
    v.integer({"expert_parallel|ep|gpus"}, p.expert_parallel, {1, 4'096}, true);
    v.integer({"expert_tensor_parallel|etp|gpus"}, p.expert_tensor_parallel, {1, 1'024}, true);
    v.number({"expert_imbalance|imbalance|times"}, p.expert_imbalance, {1, 64});
    v.choice({"expert_dispatch|dispatch"}, p.expert_dispatch, kDispatchChoices);
    v.boolean({"expert_overlap|epov"}, p.expert_overlap, p.open, open_expert_overlap);
    v.choice({"cuda_graphs|graphs"}, p.cuda_graphs, kGraphChoices);
    v.choice({"framework|fw"}, p.framework, kFrameworkChoices);
    v.choice({"attention|attn"}, p.attention, kAttentionChoices);
    v.choice({"loss|loss"}, p.loss, kLossChoices);
    v.choice({"transformer_engine|te"}, p.transformer_engine, kHabitChoices);
    v.choice({"gradient_fusion|gradfuse"}, p.gradient_fusion, kHabitChoices);
    v.choice({"softmax_fusion|smfuse"}, p.softmax_fusion, kHabitChoices);
    v.choice({"activation_fusion|actfuse"}, p.activation_fusion, kHabitChoices);
    v.choice({"grouped_gemm|ggemm"}, p.grouped_gemm, kHabitChoices);
    v.choice({"large_workspaces|cublas"}, p.large_workspaces, kHabitChoices);
    v.choice({"attention_mask|mask"}, p.attention_mask, kHabitChoices);
    v.choice({"deferred_embedding_gradient|defer"}, p.deferred_embedding_gradient, kHabitChoices);
    v.choice({"fully_shard|fsdp2"}, p.fully_shard, kHabitChoices);
    v.choice({"sync_each_micro_batch|sync"}, p.sync_each_micro_batch, kHabitChoices);
    v.choice({"gathered_inputs|gathered"}, p.gathered_inputs, kHabitChoices);
    v.boolean({"sequence_parallel|sp"}, p.sequence_parallel, p.open, open_sequence_parallel);
    v.choice({"site|site"}, p.site, kSiteChoices);
    // a calibration, so that a link carries it too
    v.number({"time_factor|factor"}, p.time_factor, {0.2, 5});
    v.number({"site_network|net|fraction"}, p.site_network, {0.01, 1});
    v.number({"site_pipeline|p2p|fraction"}, p.site_pipeline, {0.01, 1});
    v.number({"site_fixed|fixed|seconds"}, p.site_fixed, {0, 60});
    v.number({"site_stall|stall|seconds"}, p.site_stall, {0, 1});
    v.number({"time_host|host|times"}, p.time_host, {0.1, 10});
    v.number({"time_link|nvlink|times"}, p.time_link, {0.1, 2});
    v.number({"time_element|element|times"}, p.time_element, {0.1, 10});
    v.number({"time_spanning|span|seconds"}, p.time_spanning, {0, 0.1});
    v.number({"time_spread|spread|times"}, p.time_spread, {1, 20});
    v.number({"measured_intra_gb_s|intra|gbyte_per_s"}, p.measured_intra, {0, 1e6});
    v.number({"measured_inter_gb_s|inter|gbyte_per_s"}, p.measured_inter, {0, 1e6});
    v.number({"measured_inter_latency_s|interlat|seconds"}, p.measured_latency, {0, 0.1});
    v.integer({"time_runs|truns"}, p.time_runs, {0, 500});
    v.number({"memory_factor|memfactor"}, p.memory_factor, {0.5, 2});
    v.number({"memory_extra|memextra|gib"}, p.memory_extra, {-32, 32});
    v.integer({"memory_runs|memruns"}, p.memory_runs, {0, 500});
    v.boolean({"tensor_overlap|tpov"}, p.tensor_overlap);
    v.boolean({"overlap_gradients|ovg"}, p.overlap_gradients);
    v.boolean({"overlap_parameters|ovp"}, p.overlap_parameters);
    v.boolean({"overlap_pipeline|ovpp"}, p.overlap_pipeline, p.open, open_pipeline_overlap);
    v.boolean({"fused_norms|norms"}, p.fused_norms);
    v.boolean({"hidden_dropout|drop"}, p.hidden_dropout);
    v.boolean({"attention_dropout|attndrop"}, p.attention_dropout);
}

// Every field that is open but the degrees of TP, CP, PP, EP and the micro-batch, as it was meant before it could be chosen: 1F1B, one
// chunk per GPU, equal layers, ZeRO-1, nothing recomputed. What the framework decides by itself stays open: it needs no choice.
void close_options(Plan& plan);

}  // namespace fourfold
