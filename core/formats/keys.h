// Keys that readers and writers share. Where several mean the same, the first one is written.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace fourfold {

struct KeyRow {
    const char *key, *field;
};
const char *key_of(std::span<const KeyRow> rows, std::string_view field);

// Megatron-LM's names with underscores, which Megatron Core, Megatron-Bridge and NeMo have too.
inline constexpr KeyRow kMegatronKeys[] = {
    {"seq_length", "sequence_length"},
    {"encoder_seq_length", "sequence_length"},
    {"micro_batch_size", "micro_batch"},
    {"global_batch_size", "global_batch"},
    {"tensor_model_parallel_size", "tensor_parallel"},
    {"model_parallel_size", "tensor_parallel"},
    {"intra_layer_model_parallel_size", "tensor_parallel"},
    {"pipeline_model_parallel_size", "pipeline_parallel"},
    {"inter_layer_model_parallel_size", "pipeline_parallel"},
    {"context_parallel_size", "context_parallel"},
    {"ds_sequence_parallel_size", "context_parallel"},  // Megatron-DeepSpeed
    {"expert_model_parallel_size", "expert_parallel"},
    {"moe_expert_parallel_size", "expert_parallel"},  // Megatron-DeepSpeed
    {"num_distributed_optimizer_instances", "shard_replicas"},
    {"microbatch_group_size_per_virtual_pipeline_stage", "virtual_stage_group"},
    {"microbatch_group_size_per_vp_stage", "virtual_stage_group"},  // of Megatron Core
    {"decoder_first_pipeline_num_layers", "first_stage_layers"},
    {"num_layers_in_first_pipeline_stage", "first_stage_layers"},
    {"decoder_last_pipeline_num_layers", "last_stage_layers"},
    {"num_layers_in_last_pipeline_stage", "last_stage_layers"},
};
inline constexpr KeyRow kMegatronSwitches[] = {
    {"sequence_parallel", "sequence_parallel"},
    {"overlap_grad_reduce", "overlap_gradients"},
    {"overlap_param_gather", "overlap_parameters"},
    {"tp_comm_overlap", "tensor_overlap"},
    {"overlap_moe_expert_parallel_comm", "expert_overlap"},
    {"account_for_embedding_in_pipeline_split", "count_embedding_as_layer"},
    {"account_for_loss_in_pipeline_split", "count_loss_as_layer"},
};

inline constexpr KeyRow kTorchtitanKeys[] = {
    {"training.seq_len", "sequence_length"},
    {"training.max_context_length", "sequence_length"},
    {"parallelism.tensor_parallel_degree", "tensor_parallel"},
    {"parallelism.context_parallel_degree", "context_parallel"},
    {"parallelism.pipeline_parallel_degree", "pipeline_parallel"},
    {"parallelism.expert_parallel_degree", "expert_parallel"},
    {"parallelism.expert_tensor_parallel_degree", "expert_tensor_parallel"},
    {"training.tensor_parallel_degree", "tensor_parallel"},  // before [parallelism]
    {"training.pipeline_parallel_degree", "pipeline_parallel"},
    {"experimental.pipeline_parallel_degree", "pipeline_parallel"},
    {"experimental.context_parallel_degree", "context_parallel"},
    {"training.context_parallel_degree", "context_parallel"},
    {"training.expert_parallel_degree", "expert_parallel"},  // of forks
    {"experimental.expert_parallel_degree", "expert_parallel"},
};

struct DegreeRow {
    const char *key, *field;
    std::int64_t usual;  // where it is not said
};
inline constexpr DegreeRow kNanotronDegrees[] = {
    // config.py, ParallelismArgs
    {"parallelism.dp", "data_parallel", 0},
    {"parallelism.tp", "tensor_parallel", 0},
    {"parallelism.pp", "pipeline_parallel", 0},
    {"parallelism.context_parallel_size", "context_parallel", 1},
    {"parallelism.expert_parallel_size", "expert_parallel", 1},
};

}  // namespace fourfold
