// The folded groups of settings, in their order. A field that no group names goes to LAST.
export const SITE_CONSTANTS = ['site_network', 'site_pipeline', 'site_fixed', 'site_stall'];
// What a calibration alone sets.
export const CALIBRATED = [
    'time_host',
    'time_link',
    'time_element',
    'time_spanning',
    'time_spread',
    'time_runs',
    'memory_factor',
    'memory_extra',
    'memory_runs',
];

type GroupId = 'cluster' | 'pipeline' | 'sharding' | 'recompute' | 'traffic' | 'trained' | 'formats' | 'experts' | 'kernels' | 'framework';
export const GROUPS: [id: GroupId, keys: string[]][] = [
    ['cluster', ['cluster', 'gpus_per_node', 'measured_intra_gb_s', 'measured_inter_gb_s', 'measured_inter_latency_s']],
    [
        'pipeline',
        [
            'schedule',
            'virtual_stages',
            'virtual_stage_group',
            'token_slices',
            'layout',
            'first_stage_layers',
            'last_stage_layers',
            'count_embedding_as_layer',
            'count_loss_as_layer',
        ],
    ],
    [
        'sharding',
        [
            'zero',
            'shard_replicas',
            'tensor_columns',
            'optimizer_offload',
            'optimizer_offload_target',
            'optimizer_offload_overlap',
            'offload_master_weights',
            'weights_offload',
            'activation_offload',
            'nvme_gbyte_per_s',
            'host_memory_gib',
            'sequence_parallel',
        ],
    ],
    ['recompute', ['recompute', 'recompute_modules', 'recompute_layers', 'feed_forward_tiles']],
    [
        'traffic',
        [
            'site',
            ...SITE_CONSTANTS,
            'time_factor',
            ...CALIBRATED,
            'context_parallel_kind',
            'tensor_overlap',
            'overlap_gradients',
            'overlap_parameters',
            'overlap_pipeline',
        ],
    ],
    [
        'trained',
        [
            'document_length',
            'trained',
            'lora_rank',
            'lora_targets',
            'lora_dropout',
            'frozen_weights',
            'frozen_in_fp32',
            'optimizer',
            'master_weights',
            'optimizer_in_backward',
            'optimizer_foreach',
        ],
    ],
    ['formats', ['precision', 'gradients_in_fp32', 'moments']],
    ['experts', ['expert_parallel', 'expert_tensor_parallel', 'expert_imbalance', 'expert_dispatch', 'expert_overlap']],
    ['kernels', []],
    [
        'framework',
        [
            'transformer_engine',
            'gradient_fusion',
            'softmax_fusion',
            'activation_fusion',
            'grouped_gemm',
            'large_workspaces',
            'attention_mask',
            'deferred_embedding_gradient',
            'fully_shard',
            'sync_each_micro_batch',
            'gathered_inputs',
        ],
    ],
];
const LAST: GroupId = 'kernels';

export const groupOf = (key: string): GroupId => GROUPS.find(([, keys]) => keys.includes(key))?.[0] ?? LAST;
