import { expect, test } from 'vitest';
import type { Fourfold } from '../core/api';
import { catalog } from '../shared/test-data';
import { tell } from '../words/words';
import type { Given } from './arguments';
import { inputOf, isLink, readInput } from './input';
import { jobKey, withOptions } from './job';

test.each([
    ['https://example.org/?v=2&model=llama-3.1-8b#best', { kind: 'link', query: '?v=2&model=llama-3.1-8b' }],
    [' ?gpus=8\n', { kind: 'link', query: '?gpus=8' }],
    ['{"gpus": 8}', { kind: 'job', text: '{"gpus": 8}' }],
    ['{"gpus": 8', { kind: 'job', text: '{"gpus": 8' }],
    ['{"model_type": "llama"}', { kind: 'config', text: '{"model_type": "llama"}' }],
    ['{"hidden_size": 4096, "attention_dropout": 0}', { kind: 'config', text: '{"hidden_size": 4096, "attention_dropout": 0}' }],
    // gpt-neox: JSON without a comment, with sizes of a model; its keys may be written with "-"
    ['{"pipe_parallel_size": 8, "hidden_size": 4096}', { kind: 'import', text: '{"pipe_parallel_size": 8, "hidden_size": 4096}' }],
    ['{"model-parallel-size": 2, "hidden-size": 4096}', { kind: 'import', text: '{"model-parallel-size": 2, "hidden-size": 4096}' }],
    // … and, as most of them, with comments
    ['{\n# sizes\n"pipe-parallel-size": 0,\n}', { kind: 'import', text: '{\n# sizes\n"pipe-parallel-size": 0,\n}' }],
    ['{"dim": 256, "n_layers": 8}', { kind: 'config', text: '{"dim": 256, "n_layers": 8}' }],
    ['torchrun train.py --x=1', { kind: 'import', text: 'torchrun train.py --x=1' }],
])('%s', (text, input) => expect(inputOf(text)).toEqual(input));

test('an argument is a link or a file', () => {
    expect(['?gpus=8', 'https://example.org/?gpus=8', 'job.json', '-', 'https://example.org/'].map(isLink)).toEqual([
        true,
        true,
        false,
        false,
        false,
    ]);
});

test('what a config.json was taken for is said, class defaults are not', async () => {
    const why = { id: 'import.unknown_type', args: { type: 'new', like: 'llama' } };
    const assumed = [
        { key: 'model_type', value: 'llama', why },
        { key: 'tie_word_embeddings', value: false, why: { id: 'import.class_default', args: { type: 'llama' } } },
    ];
    const reader = { import_config: () => JSON.stringify({ ok: true, model: { model_type: 'llama' }, assumed }) } as unknown as Fourfold;
    const read = await readInput('config.json', '{"model_type": "new"}', reader, catalog, {} as never);
    expect(read.job).toEqual({ model: { model_type: 'llama' } });
    expect(read.notes).toEqual([`model_type: ${tell(why)}`]);
});

test('a field by its name, by its short one, or by none', () => {
    expect(['tensor_parallel', 'tp', 'model', 'tensor_paralel'].map((key) => jobKey(key, catalog))).toEqual([
        'tensor_parallel',
        'tensor_parallel',
        'model',
        null,
    ]);
});

const asked: string[] = [];
const core = {
    estimate: (text: string) => {
        asked.push(text);
        return JSON.stringify({ ok: true, job: { gpus_per_node: 8 } });
    },
} as unknown as Fourfold;
const jobOf = (options: Record<string, string>, base = {}) => {
    const given: Given[] = Object.entries(options).map(([key, text]) => ({ option: `--${key}`, key, text }));
    return withOptions(base, given, catalog, core);
};

test('numbers as people write them', () => {
    expect(jobOf({ seq: '8k', batch: '4M tokens', tokens: '1.4T', offload: '0.5' })).toEqual({
        sequence_length: 8192,
        global_batch: 512,
        token_budget: 1.4e12,
        optimizer_offload: 0.5,
    });
    expect(jobOf({ gpus: '1,024', tp: 'auto', sp: 'false', zero: 'weights' })).toEqual({
        gpus: 1024,
        tensor_parallel: 'auto',
        sequence_parallel: false,
        zero: 'weights',
    });
    expect(asked).toEqual([]);
});

test('a batch in tokens is counted with the sequence of the file', () => {
    expect(jobOf({ batch: '4M tokens' }, { sequence_length: 4096 })).toEqual({ sequence_length: 4096, global_batch: 1024 });
});

test('how many GPUs a node has, the core says where the job does not', () => {
    expect(jobOf({ gpus: '32 nodes', node: '4' })).toEqual({ gpus: 128, gpus_per_node: 4 });
    expect(jobOf({ gpus: '32 nodes', gpu: 'h100-sxm-80gb' })).toEqual({ gpus: 256, gpu: 'h100-sxm-80gb' });
    expect(asked).toEqual(['{"gpu":"h100-sxm-80gb"}']);
});

test('what is no number, and what is no field, stays for the core to judge', () => {
    expect(jobOf({ tp: 'many', tensor_paralel: '2' })).toEqual({ tensor_parallel: 'many', tensor_paralel: '2' });
});
