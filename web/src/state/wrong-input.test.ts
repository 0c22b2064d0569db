// What nobody can read as a number stays as it was typed, in the job, in the link and in the request: the core says what is wrong with it
// (tests/api/wrong_input_test.cpp), and the last good answer stays (store/store.test.ts).
import { expect, test } from 'vitest';
import type { FieldKey } from '../core/api';
import { format } from '../format/format';
import { catalog } from '../shared/test-data';
import { kindOf } from './kind';
import { defaults, formatLink, parseLink, request } from './state';

const ROWS: [FieldKey, string][] = [
    ['sequence_length', '8kk'],
    ['sequence_length', 'k'],
    ['sequence_length', '8 apples'],
    ['sequence_length', '8k sequences'],
    ['sequence_length', '8-16k'],
    ['sequence_length', '~8k'],
    ['sequence_length', '1,00,00'],
    ['sequence_length', '8_k_'],
    ['sequence_length', '0x2000'],
    ['sequence_length', '八千'],
    ['gpus', 'a lot'],
    ['gpus', '32 x'],
    ['gpus', '32 x 8 x 2'],
    ['gpus', '8 H100'],
    ['gpus', 'NaN'],
    ['gpus', 'Infinity'],
    ['gpus', '1e999'],
    ['global_batch', '4M apples'],
    ['global_batch', 'tokens'],
    ['tensor_parallel', 'two'],
    ['tensor_parallel', '2 or 4'],
    ['token_budget', '15 T T'],
    ['token_budget', 'as many as possible'],
    ['token_budget', '1 gazillion'],
    ['price_per_gpu_hour', 'cheap'],
    ['price_per_gpu_hour', '$'],
    ['price_per_gpu_hour', '2.50 per month'],
    ['watts_per_gpu', '700 volts'],
    ['optimizer_offload', 'half'],
];

test.each(ROWS)('%s: %s', (key, text) => {
    const start = defaults(catalog);
    expect(
        format.read(
            text,
            kindOf(catalog, key, (other) => start[other]),
        ),
    ).toBe(text);
    const job = { ...start, [key]: text };
    const { job: again, unknown } = parseLink(formatLink(job, catalog), catalog);
    expect({ again, unknown }).toEqual({ again: job, unknown: [] });
    expect(request(again)).toMatchObject({ [key]: text });
});

test('a number that is far too large is a number, in the link too: the core says how large it may be', () => {
    for (const key of ['gpus', 'token_budget'] as const) {
        const job = { ...defaults(catalog), [key]: 1e20 };
        expect(parseLink(formatLink(job, catalog), catalog).job).toEqual(job);
    }
});

test('links say numbers as people do, too', () => {
    const read = (link: string) => parseLink(link, catalog).job;
    expect(read('?seq=128k&gpus=32x8&tokens=15T&price=$2.50')).toMatchObject({
        sequence_length: 131072,
        gpus: 256,
        token_budget: 1.5e13,
        price_per_gpu_hour: 2.5,
    });
    expect(read('?batch=4M tokens&seq=8k')).toMatchObject({ global_batch: 512, sequence_length: 8192 });
    expect(read('?gpus=32 nodes&node=4')).toMatchObject({ gpus: 128 });
    expect(read('?gpus=32 nodes')).toMatchObject({ gpus: '32 nodes' }); // of how many GPUs, the core alone knows
});
