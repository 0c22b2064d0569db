import { describe, expect, test } from 'vitest';
import type { Catalog, EstimateRequest, Field, FieldKey } from '../core/api';
import { chosenKeys, configOf, defaults, formatLink, type Job, parseLink, pinOf, request, unknownParts, withConfig } from './state';
import { boolean, catalog, integer } from './test-first';

const DEGREES_IN_ORDER = ['tensor_parallel', 'context_parallel', 'pipeline_parallel', 'micro_batch'];
const initial = defaults(catalog);

test('a key that no field has is an error of the compiler', () => {
    // @ts-expect-error
    const misspelt: Job = { tensor_paralel: 8 };
    // @ts-expect-error
    const asked: EstimateRequest = { ...request(misspelt), stag: 1 };
    expect(asked).toMatchObject({ stag: 1 });
});

describe('historical links', () => {
    const links: [link: string, changed: object][] = [
        ['', {}],
        ['?v=1&model=llama-3.1-8b&gpu=h100-sxm-80gb&gpus=8&seq=8192&batch=1024', {}],
        [
            '?v=1&model=llama-3.1-70b&gpu=a100-sxm-40gb&gpus=64&seq=4096&batch=512',
            { model: 'llama-3.1-70b', gpu: 'a100-sxm-40gb', gpus: 64, sequence_length: 4096, global_batch: 512 },
        ],
        ['?v=1&tp=2&pp=4&cp=1&mb=auto', { tensor_parallel: 2, pipeline_parallel: 4, context_parallel: 1, micro_batch: 'auto' }],
        [
            '?v=1&distopt=false&grad32=0&drop=true&attndrop=1',
            { distributed_optimizer: false, gradients_in_fp32: false, hidden_dropout: true, attention_dropout: true },
        ],
        [
            '?v=1&attn=plain&vp=2&node=4&cluster=tsubame4&method=fujii2024',
            { attention: 'plain', virtual_stages: 2, gpus_per_node: 4, cluster: 'tsubame4' },
        ],
        [
            '?v=1&model=custom&model.hidden_size=2048&model.tie_word_embeddings=true',
            { model: 'custom', 'model.hidden_size': 2048, 'model.tie_word_embeddings': true },
        ],
        ['?gpus=abc&seq=&tp=3.5', { gpus: 'abc', sequence_length: '', tensor_parallel: '3.5' }],
    ];
    test.each(links)('%s', (link, changed) => {
        expect(parseLink(link, catalog)).toEqual({ job: { ...initial, ...changed }, pins: [], unknown: [], newer: false, widened: false });
    });
});

// The fields as version 2 had them first, as far as they differ: what the core can choose is "auto", and "default_1" is what its absence
// meant before. Never brought up to date either.
const open = (field: Field, default_1?: string | number | boolean): Field =>
    ({ ...field, default: 'auto', auto: true, ...(default_1 !== undefined && { default_1 }) }) as Field;
const choice = (key: string, link: string, initial: string): Field => ({
    key: key as FieldKey, // or one of an older version
    link,
    type: 'choice',
    unit: '',
    default: initial,
    choices: [],
});
const leaveOut = ['interleaving', 'zero_bubble', 'recompute', 'sharding', 'uneven_layers', 'small_states'];
const second: Catalog = {
    ...catalog,
    methods: [{ id: 'detailed', source: { title: '', url: '' }, limits: [] }],
    fields: [
        ...catalog.fields.slice(0, 3),
        ...['tp', 'cp', 'pp', 'mb'].map((link, i) => open(integer(DEGREES_IN_ORDER[i] ?? '', link, 'auto'))),
        open(integer('virtual_stages', 'vp', 'auto'), 1),
        integer('gpus_per_node', 'node', 'auto'),
        open(choice('schedule', 'sched', 'auto'), '1f1b'),
        open({ ...choice('layout', 'layout', 'auto'), type: 'text' } as Field, 'equal'),
        open(integer('virtual_stage_group', 'vgroup', 'auto')),
        integer('first_stage_layers', 'first', 0),
        integer('last_stage_layers', 'last', 0),
        boolean('count_embedding_as_layer', 'embl', false),
        boolean('count_loss_as_layer', 'lossl', false),
        open(choice('zero', 'zero', 'auto'), 'optimizer'),
        open(choice('recompute', 'rc', 'auto'), 'none'),
        open(integer('recompute_layers', 'rcl', 'auto'), 1),
        open(choice('moments', 'adam', 'auto'), 'fp32'),
        open(integer('expert_parallel', 'ep', 'auto')),
        open(integer('expert_tensor_parallel', 'etp', 'auto'), 1),
        open(boolean('sequence_parallel', 'sp', false), true),
        boolean('gradients_in_fp32', 'grad32', true),
        {
            ...choice('leave_out', 'left_out', ''),
            type: 'set',
            default: 'zero_bubble,small_states',
            choices: leaveOut.map((id) => ({ id })),
        },
        { key: 'risk', link: 'risk', type: 'number', unit: '', default: 0.05, min: 0, max: 1 },
    ],
};

describe('links of version 1 in a page that chooses more', () => {
    const start = defaults(second);
    const then: Job = {
        virtual_stages: 1,
        schedule: '1f1b',
        layout: 'equal',
        zero: 'optimizer',
        recompute: 'none',
        recompute_layers: 1,
        moments: 'fp32',
        expert_tensor_parallel: 1,
        sequence_parallel: true,
    };
    // [link, what of the job differs from the defaults, whether more is chosen now than then]
    const links: [link: string, changed: Job, widened: boolean][] = [
        ['', {}, false],
        ['?gpus=64&tp=8', { gpus: 64, tensor_parallel: 8 }, false],
        ['?v=2&gpus=64&tp=8', { gpus: 64, tensor_parallel: 8 }, false],
        ['?v=1', {}, true],
        ['?v=1&model=llama-3.1-70b&gpu=h100-sxm-80gb&gpus=64&seq=8192&batch=1024', { model: 'llama-3.1-70b', gpus: 64 }, true],
        ['?v=1&gpus=64&node=4&grad32=false', { gpus: 64, gpus_per_node: 4, gradients_in_fp32: false }, true],
        ['?v=1&tp=auto&pp=auto', {}, true],
        ['?v=1&tp=8', { ...then, tensor_parallel: 8 }, false],
        [
            '?v=1&model=llama-3.1-70b&gpu=h100-sxm-80gb&gpus=64&tp=8&pp=4&cp=1&mb=2&vp=2&zero=none&rc=selective',
            {
                ...then,
                model: 'llama-3.1-70b',
                gpus: 64,
                tensor_parallel: 8,
                pipeline_parallel: 4,
                context_parallel: 1,
                micro_batch: 2,
                virtual_stages: 2,
                zero: 'none',
                recompute: 'selective',
            },
            false,
        ],
        ['?v=1&sched=zb-h1', { ...then, schedule: 'zb-h1' }, false],
        ['?v=1&sp=false&adam=16-bit', { ...then, sequence_parallel: false, moments: '16-bit' }, false],
        ['?v=1&ep=8&etp=2', { ...then, expert_parallel: 8, expert_tensor_parallel: 2 }, false],
        ['?v=1&pp=4&embl=1&lossl=1', { ...then, pipeline_parallel: 4, count_embedding_as_layer: true, count_loss_as_layer: true }, false],
        ['?v=1&first=7', { ...then, first_stage_layers: 7 }, false],
        ['?v=1&vary=virtual_stages,recompute,stage_layers', { leave_out: 'zero_bubble,sharding,small_states' }, true],
        [
            '?v=1&tp=8&vary=virtual_stages,schedule,recompute,zero,sequence_parallel,expert_parallel,stage_layers&risk=0.2',
            { ...then, tensor_parallel: 8, leave_out: 'small_states', risk: 0.2 },
            false,
        ],
        ['?v=1&vary=', { leave_out: leaveOut.join(',') }, true],
        ['?v=1&vary=schedule&without=recompute', { leave_out: 'recompute,megatron_fsdp,shard_copies' }, true],
        ['?v=2&without=', { leave_out: 'megatron_fsdp,shard_copies' }, false],
        ['?v=2&left_out=', { leave_out: '' }, false],
    ];
    test.each(links)('%s', (link, changed, widened) => {
        expect(parseLink(link, second)).toEqual({ job: { ...start, ...changed }, pins: [], unknown: [], newer: false, widened });
    });
    test.each(links)('%s, written anew, is the same', (link) => {
        const { job } = parseLink(link, second);
        const again = formatLink(job, second);
        expect(again).toMatch(/^\?v=2&/);
        expect(parseLink(again, second)).toMatchObject({ job, unknown: [], widened: false });
    });

    const pin = 'model=llama-3.1-8b;gpu=h100-sxm-80gb;gpus=8;seq=8192;batch=1024;tp=2;cp=1;pp=4;mb=1;node=8;ep=1';
    test('a pin is the plan that it was, and is written with all of it', () => {
        const { pins, unknown } = parseLink(`?v=1&gpus=8&pin=${pin}`, second);
        expect(unknown).toEqual([]);
        expect(pins[0]?.job).toMatchObject({ ...then, tensor_parallel: 2, pipeline_parallel: 4 });
        expect(pins[0]?.text).toContain(';vp=1;node=8;sched=1f1b;layout=equal;zero=optimizer;rc=none;rcl=1;adam=fp32;ep=1;etp=1;sp=true');
        const link = formatLink(start, second, pins);
        expect(parseLink(link, second).pins).toEqual(pins);
    });
    test('a pin with a layout of its own comes back the same', () => {
        const resolved = { ...start, ...then, tensor_parallel: 8, context_parallel: 1, pipeline_parallel: 16, micro_batch: 1 };
        const pins = [pinOf({ ...resolved, layout: 'Et*7|(t*8|)*14t*7L' }, second)];
        const link = formatLink({ ...start, layout: 'Et*7|(t*8|)*14t*7L' }, second, pins);
        expect(parseLink(link, second)).toMatchObject({ job: { layout: 'Et*7|(t*8|)*14t*7L' }, pins });
        expect(new URL(link, 'https://example.org/').searchParams.get('layout')).toBe('Et*7|(t*8|)*14t*7L');
    });
});

test('what the core chooses are the fields of the plan: not the machine, not a habit of the framework', () => {
    const attention = { ...choice('attention', 'attn', 'auto'), auto: true, choices: [{ id: 'auto' }] } as Field;
    const keys = chosenKeys({ ...second, fields: [...second.fields, attention] });
    expect(keys).toContain('layout');
    expect(keys).toContain('sequence_parallel');
    expect(keys).not.toContain('gpus_per_node');
    expect(keys).not.toContain('attention');
});

test('keys of no version are named and kept out; those that other sites append are not worth a word', () => {
    const { job, unknown } = parseLink('?gpus=8&speed=9&model.hidden_size=1&utm_source=x&fbclid=y', catalog);
    expect(unknown).toEqual(['speed', 'model.hidden_size']);
    expect(job).toEqual(initial);
});

test('a link of a newer version is recognised', () => {
    expect(parseLink('?v=3', catalog).newer).toBe(true);
    expect(parseLink('?v=2', catalog).newer).toBe(false);
    expect(parseLink('?v=1', catalog).newer).toBe(false);
    expect(parseLink('?v=x', catalog).newer).toBe(false);
});

test('a link holds the five main values and whatever is not the default', () => {
    expect(formatLink(initial, catalog)).toBe('?v=2&model=llama-3.1-8b&gpu=h100-sxm-80gb&gpus=8&seq=8192&batch=1024');
    expect(formatLink({ ...initial, tensor_parallel: 2, hidden_dropout: true }, catalog)).toBe(
        '?v=2&model=llama-3.1-8b&gpu=h100-sxm-80gb&gpus=8&seq=8192&batch=1024&tp=2&drop=true',
    );
});

describe('what is written reads back the same', () => {
    const config = { model_type: 'llama', hidden_size: 4096, tie_word_embeddings: false, head_dim: null, rms_norm_eps: 1e-5 };
    const names = ['true', '12', 'null', '"quoted"', '"', 'a & b = c + d', '模型 モデル', '', ' '];
    const jobs: [string, Job][] = [
        ['defaults', initial],
        ['a mistyped number', { ...initial, gpus: '8 or 9', micro_batch: '' }],
        ['a pasted model', withConfig(initial, config)],
        ...names.map((name): [string, Job] => [`a model named ${name}`, withConfig(initial, { _name_or_path: name })]),
    ];
    test.each(jobs)('%s', (_, job) => {
        const { job: again, unknown } = parseLink(formatLink(job, catalog), catalog);
        expect(again).toEqual(job);
        expect(unknown).toEqual([]);
    });
});

test('the request carries a pasted model as an object', () => {
    const job = withConfig({ ...initial, gpus: 16 }, { hidden_size: 2048, rope_scaling: { factor: 8 } });
    expect(configOf(job)).toEqual({ hidden_size: 2048 });
    expect(request(job)).toMatchObject({ version: 2, model: { hidden_size: 2048 }, gpus: 16, tensor_parallel: 'auto' });
    expect(Object.keys(request(job)).some((key) => key.startsWith('model.'))).toBe(false);
});

test('another pasted model leaves nothing of the one before', () => {
    const job = withConfig(withConfig(initial, { hidden_size: 1, head_dim: 2 }), { hidden_size: 3 });
    expect(configOf(job)).toEqual({ hidden_size: 3 });
});

test('fractions and sets stand in a link as a reader would write them, and read back the same', () => {
    const base = { label: '', help: '', unit: '' };
    const choices = ['core_attn', 'layernorm', 'mlp'].map((id) => ({ id, label: id, help: '' }));
    const newer: Catalog = {
        ...catalog,
        fields: [
            ...catalog.fields,
            { ...base, key: 'optimizer_offload', link: 'offload', type: 'number', default: 0, min: 0, max: 1 },
            { ...base, key: 'recompute_modules', link: 'rcm', type: 'set', default: 'core_attn', choices },
        ],
    };
    const start = defaults(newer);
    const job = { ...start, optimizer_offload: 0.25, recompute_modules: 'core_attn,layernorm' };
    expect(formatLink(job, newer)).toContain('&offload=0.25&rcm=core_attn,layernorm');
    for (const recompute_modules of ['', 'mlp', 'core_attn,mlp', 'no such, part']) {
        for (const optimizer_offload of [0, 0.1, 1, 1e-7, -1, 'half', '0,5']) {
            const one = { ...start, optimizer_offload, recompute_modules };
            expect(parseLink(formatLink(one, newer), newer)).toEqual({ job: one, pins: [], unknown: [], newer: false, widened: false });
        }
    }
});

test('a budget is written with all its digits', () => {
    const base = { label: '', help: '', unit: '', type: 'number', default: 0, min: 0 } as const;
    const fields: Field[] = [
        { ...base, key: 'token_budget', link: 'tokens', max: 1e16 },
        { ...base, key: 'price_per_gpu_hour', link: 'price', max: 1e4 },
        { ...base, key: 'watts_per_gpu', link: 'watts', max: 1e4 },
    ];
    const asked = { ...catalog, fields: [...catalog.fields, ...fields] };
    for (const token_budget of [1e12, 1.5e13, 1e16, 1]) {
        const job = { ...defaults(asked), token_budget, price_per_gpu_hour: 2.5, watts_per_gpu: 1200 };
        expect(formatLink(job, asked)).toContain(`&tokens=${token_budget}&price=2.5&watts=1200`);
        expect(parseLink(formatLink(job, asked), asked).job).toEqual(job);
    }
    expect(parseLink('?tokens=1e12', asked).job.token_budget).toBe(1e12);
});

test('a notice names the first unknown parts of a link, each cut short', () => {
    expect(unknownParts(['speed', 'model.hidden_size'])).toBe('speed, model.hidden_size');
    expect(unknownParts(['x'.repeat(1_000)])).toBe(`${'x'.repeat(60)}…`);
    const query = Array.from({ length: 5_000 }, (_, i) => `nobody-${i}-${'k'.repeat(100)}=1`).join('&');
    const { unknown } = parseLink(`?${query}`, catalog);
    expect(unknown.length).toBe(5_000);
    expect(unknownParts(unknown).length).toBeLessThan(700);
    expect(unknownParts(unknown)).toMatch(/, … \(\+4990\)$/);
});
