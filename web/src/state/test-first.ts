// The catalogue of the first version, for the tests of links.
import type { Catalog, Field, FieldKey } from '../core/api';

export const integer = (key: string, link: string, initial: number | 'auto'): Field => ({
    key: key as FieldKey, // or one of an older version
    link,
    type: 'integer',
    unit: '',
    default: initial,
    min: 1,
    max: 1e6,
    auto: initial === 'auto',
});
export const boolean = (key: string, link: string, initial: boolean): Field => ({
    key: key as FieldKey, // or one of an older version
    link,
    type: 'boolean',
    unit: '',
    default: initial,
});

// The fields as the first version had them: links made then must read the same for ever, so this list is never brought up to date.
export const catalog: Catalog = {
    version: 2,
    gpus: [],
    clusters: [],
    models: [],
    methods: [{ id: 'fujii2024', source: { title: '', url: '' }, limits: [] }],
    config_formats: [],
    fields: [
        integer('gpus', 'gpus', 8),
        integer('sequence_length', 'seq', 8192),
        integer('global_batch', 'batch', 1024),
        integer('tensor_parallel', 'tp', 'auto'),
        integer('context_parallel', 'cp', 'auto'),
        integer('pipeline_parallel', 'pp', 'auto'),
        integer('micro_batch', 'mb', 'auto'),
        integer('virtual_stages', 'vp', 1),
        integer('gpus_per_node', 'node', 'auto'),
        boolean('distributed_optimizer', 'distopt', true),
        boolean('gradients_in_fp32', 'grad32', true),
        { key: 'attention', link: 'attn', type: 'choice', unit: '', default: 'flash', choices: [] },
        boolean('hidden_dropout', 'drop', false),
        boolean('attention_dropout', 'attndrop', false),
    ],
    gpu_fields: [],
    rules: [],
};
