// How a training framework does what the plan asks for, as far as memory depends on it. These are inputs of the estimate with a preset per
// framework, never constants of the model: the same plan holds more or less in another framework or version.
#pragma once
#include <array>
#include <optional>
#include <string_view>

#include "model/hardware.h"
#include "model/model.h"
#include "plan/plan.h"

namespace fourfold {

enum class AttentionKernel : std::uint8_t {
    flash,    // flash-attn: keeps the output and log-sum-exp; a transposed copy of the output when the micro-batch is larger than 1
    cudnn,    // fused kernel of cuDNN: the same without the copy
    unfused,  // scores kept, softmax fused
    local     // the framework's own layers: scores kept, gathered in a global buffer
};
enum class LossKernel : std::uint8_t {
    plain,         // 6 bytes per logit at the worst point: bf16 logits and their fp32 copy
    native_fused,  // 10
    te_fused,      // 2: works in place on the bf16 logits
    gathered,      // 14, and on every GPU the whole vocabulary: bf16 logits, fp32 copy, log-softmax, its gradient
    chunked,       // 4: bf16 logits and their bf16 log-softmax; everything else exists for a few tokens alone
    tiled,         // no logits but those of a tile of tokens, whose gradients take their place
    parallel       // as gathered; 16 where each GPU has its share of the vocabulary (PyTorch, distributed/tensor/parallel/loss.py)
};

// What a run does. A request can set all of it: by its framework and GPU, and by the fields of the plan that framework_of reads.
struct Framework {
    AttentionKernel attention = AttentionKernel::flash;
    LossKernel loss = LossKernel::plain;
    bool transformer_engine = true;       // otherwise the framework's own layers
    bool engine_routes = false;           // the router of experts multiplies by Transformer Engine, in whatever layers
    bool gradient_fusion = true;          // weight gradients are added in place; otherwise a bf16 one exists for a moment
    bool gradients_twice = false;         // where copies are averaged: in 16 bits beside their fp32 sums
    bool caches_dummy_gradients = false;  // Transformer Engine >= 2, with gradient fusion: a bf16 dummy gradient per weight shape
    bool softmax_fusion = true;           // otherwise the scores are kept in more copies
    bool activation_fusion = true;        // of gated experts: otherwise the product is kept before it is scaled
    bool plain_norms = false;             // single operations, which keep copies in fp32
    bool attention_mask = false;          // b*s*s bytes at the peak
    bool deferred_embedding_gradient = false;
    bool fully_shard = false;  // PyTorch's FSDP of the second version shares out each parameter by itself (memory/gathered.h)
    // ZeRO-2 and 3 send and share out gradients after each micro-batch, as DeepSpeed does; otherwise once per step. Until then they are
    // whole (transformers, trainer.py: accelerator.no_sync unless DeepSpeed; PyTorch, FullyShardedDataParallel.no_sync and
    // FSDPModule.set_requires_gradient_sync).
    bool sync_each_micro_batch = true;
    // With sequence parallelism a matrix split by its columns keeps what it gathered; otherwise its share, and gathers again in the
    // backward pass (Megatron-Core, tensor_parallel/layers.py; nanotron, parallel/tensor_parallel/functional.py: tp_recompute_allgather).
    bool gathered_inputs = false;
    bool grouped_gemm = false;  // of experts: more workspaces
    bool engine_groups = true;  // by Transformer Engine; otherwise by PyTorch, without them
    bool sends_once = false;    // a token goes once to each node with experts of its, then on inside (DeepEP); else every copy by itself
    // What DeepSeek's report tells of fp8 (arXiv 2412.19437, section 3.3.3): experts, activation functions and matrices that wait
    // for their weight gradients keep what these need in one byte per value, attention keeps its output in a byte and a half; what
    // activation functions write is computed again; one copy of the weights; tokens leave for their experts in one byte.
    bool stores_fp8 = false;
    bool large_workspaces = true;  // cuBLAS: 2 x 32 MiB (Hopper, or where a setting or determinism asks for it) instead of 2 x 8.125
    double engine_workspace = 32.0 * 1024 * 1024;  // bytes of one workspace of Transformer Engine, by GPU
    bool operator==(const Framework&) const = default;
};

// How runs lie around an estimate of their memory (memory/verdict.h).
struct Residual {
    double middle = 0;               // share of the card at which half of the runs fail
    double spread = 0;               // standard deviation of ln(share)
    int runs = 0;                    // to which both are fitted; none: what is known of the other frameworks counts
    std::string_view evidence = {};  // ends the id of the words that say which runs
};
// Between which factors of an estimated step time nine of ten measured runs lie (tests/evidence/bands.h).
struct Band {
    double low, high;
    std::string_view basis;  // which runs: words band.<basis>
    int runs = 0;            // how many
    bool of_all = false;     // models with experts, and adapters, are among them
};

// Whether a search proposes what a plan may set.
enum class Proposed : std::uint8_t { always, if_nothing_else_fits, never };

// One row per framework, in the order of the enum. Everything else asks the row.
struct FrameworkRow {
    std::string_view id;
    Framework habits;                                          // where a request leaves it to the framework
    AttentionKernel plain_attention = AttentionKernel::local;  // of its own layers
    ScheduleLibrary library = kMegatronCore;                   // whose schedules it has
    bool splits_models = true;                                 // in pipelines, TP, CP and EP; otherwise no search proposes them
    Proposed rings = Proposed::always;                         // context parallelism of that kind
    Proposed shard_copies = Proposed::never;                   // of what ZeRO shares out, each among fewer GPUs (HSDP); always: if let in
    bool syncs_to_fit = false;                                 // sends gradients after each micro-batch where nothing else fits
    bool shards_in_pipelines = false;                          // gradients and weights; otherwise no search proposes it
    Split split = Split::equal;                                // how it shares out layers where nothing is said
    bool any_layout = true;                                    // a chunk may hold any number of layers
    bool names_modules = false;                                // selective recomputation computes again what it is told
    bool any_group = false;                                    // chunks may take turns in groups of any size
    bool overlaps_experts = false;                             // tokens travel beneath the work of another micro-batch (rules.h)
    bool overlaps_sends = false;                               // between stages, where chunks take turns, if nothing is said
    Zero deepest_zero = Zero::optimizer;                       // what it shares out by itself
    bool has_megatron_fsdp = false;                            // --use-megatron-fsdp shares out the rest, if asked
    bool fused_host_adam = true;                               // an offloaded optimizer's Adam is one loop (time/offload.h)
    bool casts_on_host = false;                                // gradients for the host, there from 16 to 32 bits (time/offload.h)
    bool offloads_weights_alone = false;                       // to the host, while the optimizer stays (DeepSpeed: offload_param)
    bool hides_shards = true;                                  // the passes hide what ZeRO-1 and 2 send
    bool launches_ahead = false;                               // the CPU never waits for the GPU within a step (time/layer_time.cpp)
    bool joins_adapters = true;                                // one of LoRA for matrices that lie side by side (plan/adapters.h)
    bool flat_gradients = false;                               // of FSDP: as long as a unit, frozen or not (memory/gathered.h)
    bool keeps_root = false;                                   // of FSDP's first version: what is in no layer (memory/gathered.h)
    bool keeps_unpacked_inputs = false;                        // of matrices in 4 bits (plan/adapters.h)
    bool stable_embedding = false;                             // beside matrices in 4 bits (memory/states.h)
    bool logits_in_fp32 = false;                               // the model hands them over so
    bool frees_logits = false;                                 // before the loss's backward pass begins
    bool single_operations = false;                            // norms, rotary positions, softmax and gates are each several kernels
    bool joins_experts = false;                                // of a layer in one tensor (plan/shares.h)
    bool autocast = false;                                     // torch.autocast chooses the precision of each operation (below)
    bool masks_windows = false;                                // attention with a window reads a mask (memory/single_operations.h)
    bool adapters_cast = false;                                // each adapter copies what it reads (plan/adapters.h)
    bool checkpoints_in_python = false;                        // torch.utils.checkpoint keeps the CPU busy (time/layer_time.cpp)
    bool scaled_dot_product = false;                           // PyTorch chooses the kernel of attention (framework.cpp)
    bool copies_heads = false;                                 // rotated queries and keys, and grouped ones (memory/layer_kept.h)
    bool recomputes_parts = true;                              // some layers, or parts of each; otherwise no search proposes it
    bool recomputes_operations = false;                        // one by one, as torchtitan does (kept_outputs.h)
    bool averages_in_buckets = false;                          // copies' gradients, beside each copy's own (DistributedDataParallel)
    bool frees_gradients = false;                              // once the weights are updated (memory/late_gradients.h)
    Residual residual{};
    std::optional<Band> band = std::nullopt;       // of its step times; none: as the GPU's
    std::optional<Band> elsewhere = std::nullopt;  // of them on anything but one GPU of Hopper; none: as `band`
};
inline constexpr auto kFrameworkKinds = static_cast<std::size_t>(FrameworkKind::count);
extern const std::array<FrameworkRow, kFrameworkKinds> kFrameworkRows;
inline const FrameworkRow& row_of(FrameworkKind kind) { return kFrameworkRows[static_cast<std::size_t>(kind)]; }

// What the plan's framework, attention and loss, and what it sets of the framework's habits, mean for that model on that card.
Framework framework_of(const Model& model, const Plan& plan, const Gpu& gpu);

// Whether a copy in fp32 stands beside the weights that learn.
inline bool keeps_master(const Plan& p) { return p.master_weights != Habit::off; }
// torch.autocast: weights that learn are in 32 bits, multiplications in 16; the weights' copies are made in each forward pass. Where FSDP
// or DeepSpeed shares something out, it makes them itself.
inline bool casts_what_learns(const Plan& p) { return row_of(p.framework).autocast && keeps_master(p) && p.zero == Zero::none; }
// Where all weights learn, what flows between layers is in 32 bits too.
inline bool casts_weights(const Plan& p) { return casts_what_learns(p) && !p.freezes(); }
// Whether a weight is cast to 8 bits anew for each multiplication (torchao, float8/float8_linear.py).
inline bool casts_to_8_bits(const Plan& p, const Framework& f) {
    return p.precision == Precision::fp8 && !f.transformer_engine && !f.stores_fp8;
}

// PEFT 0.18, utils/other.py, prepare_model_for_kbit_training: embedding, head and norms are in 32 bits. So is then what flows between
// layers, and what packed matrices return: in the format of what they read (bitsandbytes 0.49, nn/modules.py, Linear4bit.forward). TRL
// leaves it out where FSDP or DeepSpeed share weights out (pull request 1416).
inline bool frozen_in_32_bits(const Plan& p) {
    return p.frozen_in_fp32 && row_of(p.framework).autocast && p.freezes() && p.frozen_weights != FrozenWeights::bf16 &&
           (p.zero == Zero::none || p.gpus == 1);
}
inline double flow_bytes(const Plan& p) { return casts_weights(p) || frozen_in_32_bits(p) ? 4 : 2; }  // of a value between layers

// Whether a layer can be computed again operation by operation: estimated where all weights learn, in whole matrices,
// and layers have both parts.
inline bool may_recompute_operations(const Model& m, const Plan& p) {
    return row_of(p.framework).recomputes_operations && !p.freezes() && p.feed_forward_tiles == 1 && p.tensor_columns == 1 && !m.one_part;
}

// A habit that does not depend on the GPU.
bool habit_of(const Plan& p, Habit Plan::*asked, bool Framework::*usual);
// Transformers before 5, and its experts_implementation "eager": a loop in Python over the experts that tokens reach, each of which looks
// up its tokens and waits for their number (models/qwen3_moe/modeling_qwen3_moe.py, Qwen3MoeSparseMoeBlock.forward, 4.51).
inline bool calls_experts_in_turn(const Plan& p) {
    return row_of(p.framework).joins_experts && !habit_of(p, &Plan::grouped_gemm, &Framework::grouped_gemm);
}
// Whether FSDP of the second version shares out weights and gradients.
bool fully_shards(const Plan& p);
// Whether weights are gathered one by one: DeepSpeed's ZeRO-3, which sends gradients after each micro-batch. FSDP of the first version
// gathers whole layers; told to send as often, it is taken for DeepSpeed (assumed).
bool gathers_by_weight(const Plan& p);
// Whether a search may let shared out gradients travel after each micro-batch, where nothing else fits or is as fast: FSDP of the second
// version.
inline bool may_sync_to_fit(const Plan& p) {
    return row_of(p.framework).syncs_to_fit && p.sync_each_micro_batch == Habit::automatic && p.fully_shard != Habit::off;
}
// Whether each GPU keeps the gradients of all weights until the last micro-batch of a step, although they are shared out then; PyTorch's
// pipelines do so with FSDP (distributed/pipelining/stage.py, backward_maybe_with_nosync).
bool adds_up_whole_gradients(const Plan& p);

// The plan with what the framework decides by itself written out.
Plan with_habits(Plan plan);

// Whether the plan sets any habit itself.
bool sets_habits(const Plan& plan);

// Of the two norms before a layer's attention and feed-forward part, how many selective recomputation computes again. Transformer Engine
// joins a norm to the matrix behind it (Megatron-Core, gpt_layer_specs.py): such a norm is recomputed with its matrix alone. Apart stand
// those in front of latent attention and of experts.
int norms_recomputed(const Model& model, const Plan& plan, const Framework& framework, bool expert_layer);

}  // namespace fourfold
