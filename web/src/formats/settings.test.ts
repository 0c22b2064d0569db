import { expect, test } from 'vitest';
import type { Setting } from '../core/api';
import { formatOf, readSettings } from './settings';

const REFERENCE = `\${multiply:4, \${.tp}}`;

const entries = async (text: string): Promise<Setting[]> => {
    const read = await readSettings(text);
    if (!('request' in read)) throw new Error(JSON.stringify(read));
    return read.request.entries ?? [];
};
const brief = async (text: string): Promise<string[]> =>
    (await entries(text)).map(({ key, value, line }) => `${line} ${key} ${JSON.stringify(value)}`);
const problem = async (text: string): Promise<string> => {
    const read = await readSettings(text);
    if (!('problems' in read)) return 'none';
    const [first] = read.problems;
    return `${first?.field} ${first?.rule} ${first?.message.id} ${JSON.stringify(first?.message.args)}`;
};

test.each([
    ['#!/bin/bash\nTP: 8', 'text'],
    ['torchrun --nnodes 4 pretrain_gpt.py \\\n  --num-layers 32', 'text'],
    ['model.tensor_model_parallel_size=8', 'text'],
    ['from nemo.collections import llm\nrecipe = llm.llama3_8b.pretrain_recipe(\n  name="x",\n)', 'text'],
    ['# comment\nparallelism:\n  tp: 8\n', 'yaml'],
    ['BEFORE: |\n  export A=1\n  bash x.sh \\\n    --a\nMODEL_ARGS:\n  --num-layers: 32\n', 'yaml'],
    ['[training]\nseq_len = 8192\n', 'toml'],
    ['{"zero_optimization": {"stage": 3}}', 'json'],
    ['# a comment\n{\n "pipe-parallel-size": 4, # stages\n}', 'json'],
    ['', 'text'],
])('%j is %s', (text, format) => expect(formatOf(text)).toBe(format));

test('YAML: lines, lists, aliases, merges, the later of two equal keys last', async () => {
    const text = [
        'base: &base',
        '  tp: 4 # comment',
        '  pp: 2',
        'parallelism:',
        '  <<: *base',
        '  pp: 8',
        'modules: [mlp, moe_act]',
        'datasets:',
        '  - path: a',
        'length: 500_000',
        'again: 1',
        'again: 2',
        `size: ${REFERENCE}`,
        'off: null',
        '--num-layers: 32',
    ].join('\n');
    expect(await brief(text)).toEqual([
        '2 base.tp 4',
        '3 base.pp 2',
        '2 parallelism.tp 4',
        '3 parallelism.pp 2',
        '6 parallelism.pp 8',
        '7 modules ["mlp","moe_act"]',
        '9 datasets.0.path "a"',
        '10 length 500000',
        '11 again 1',
        '12 again 2',
        `13 size "${REFERENCE}"`,
        '14 off null',
        '15 --num-layers 32',
    ]);
});

test('TOML and JSON: lines of keys', async () => {
    expect(await brief('# x\n[model]\nname = "llama3"\nflavor = "70B"\n\n[training]\nseq_len = 8_192\nconverters = ["float8"]\n')).toEqual([
        '3 model.name "llama3"',
        '4 model.flavor "70B"',
        '7 training.seq_len 8192',
        '8 training.converters ["float8"]',
    ]);
    expect(await brief('{\n\t"zero_optimization": {\n\t\t"stage": 3\n\t},\n\t"bf16": {"enabled": true}\n}')).toEqual([
        '3 zero_optimization.stage 3',
        '5 bf16.enabled true',
    ]);
});

test('JSON with comments, a comma at its end and True', async () => {
    expect(await brief('# x\n{\n  "num-layers": 44, # all\n  "flag": True,\n}\n')).toEqual(['3 num-layers 44', '4 flag true']);
});

test('a script goes to the core as it is', async () => {
    expect(await readSettings('torchrun x.py', { TP: '8' })).toEqual({ request: { text: 'torchrun x.py', set: { TP: '8' } } });
});

test('what cannot be read is said with its place', async () => {
    expect(await problem('a: 1\nb: [1, 2\nc: 3\n')).toMatch(/^text syntax problem\.import_syntax \{"format":"YAML","line":[23],/);
    expect(await problem('[a]\nb = = 1\n')).toMatch(/^text syntax problem\.import_syntax \{"format":"TOML","line":2,/);
    expect(await problem('{\n "a": [1,\n}')).toMatch(/^text syntax problem\.import_syntax \{"format":"JSON","line":[23],/);
    expect(await problem('a: 1\n---\na: 2\n')).toBe('text documents problem.import_documents {"count":2}');
});

test('what grows without end is refused', async () => {
    const bomb = ['a0: &a0 [{x: 1}, {x: 1}]', ...Array.from({ length: 30 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`)].join('\n');
    expect(await problem(bomb)).toBe('text too_large problem.import_too_much {"most":20000}');
    expect(await problem('a: &a\n  b: *a\n')).toBe('text too_large problem.import_too_much {"most":20000}');
    expect(await problem(`a: ${'['.repeat(60)}{x: 1}${']'.repeat(60)}`)).toBe('text too_large problem.import_too_much {"most":20000}');
    expect(await problem(`{"a": ${'['.repeat(60)}{}${']'.repeat(60)}}`)).toBe('text too_large problem.import_too_much {"most":20000}');
    expect(await problem(`a: ${'{b: '.repeat(200_000)}`)).toBe('text too_large problem.import_too_much {"most":20000}');
    expect(await problem(`a: ${'x'.repeat(1_000_001)}`)).toMatch(/^text too_large problem\.too_large/);
});
