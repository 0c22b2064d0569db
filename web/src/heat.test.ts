import { expect, test } from 'vitest';
import type { SearchColumns, SearchSummary } from './api';
import { choicesOf, entryAt, indexRows, leadsOf, sizesOf, speedsOf } from './heat';

const ints = (...values: number[]) => Int32Array.from(values);
const columns: SearchColumns = {
    row: ints(0, 0, 1, 2, 2),
    gpus: ints(8, 16, 16, 8, 16),
    tensor_parallel: ints(1, 1, 1, 2, 2),
    context_parallel: ints(1, 1, 4, 1, 1),
    pipeline_parallel: ints(1, 1, 1, 1, 1),
    micro_batch: ints(1, 1, 1, 2, 2),
    data_parallel: ints(8, 16, 4, 4, 8),
    expert_parallel: ints(8, 16, 4, 4, 8),
    total_bytes: Float64Array.of(5, 4, 3, 2, 1),
    share: Float64Array.of(2, 0.9, 0.7, 0.9, 0.5),
    step_seconds: Float64Array.of(8, 5, 4, 9, 6),
    class: Uint8Array.of(2, 1, 0, 1, 0),
};
const summary = {
    job: { global_batch: 10, sequence_length: 100, token_budget: 0, price_per_gpu_hour: 0 },
    ranking: [
        { gpus: 4, fastest: [], front: [] },
        { gpus: 8, fastest: [0], front: [0] },
        { gpus: 16, fastest: [2, 1, 4], front: [2, 4] },
    ],
} as unknown as SearchSummary;
const empty = Object.fromEntries(Object.entries(columns).map(([key, values]) => [key, values.slice(0, 0)])) as unknown as SearchColumns;

test('rows know their entries, and which hold a plan that fits', () => {
    const { first, fitting } = indexRows(columns);
    expect([...first]).toEqual([0, 2, 3, 5]);
    expect([...fitting]).toEqual([1, 2]);
    expect([...indexRows(empty).first]).toEqual([0]);
});

test('an entry is found by its number of GPUs, or not at all', () => {
    const heat = {
        columns,
        ...indexRows(columns),
        choices: choicesOf(columns),
        summary,
        ...speedsOf(summary, columns),
        leads: [],
        sizes: [],
    };
    expect([0, 1, 2].map((row) => [8, 16, 32].map((gpus) => entryAt(heat, row, gpus)))).toEqual([
        [0, 1, -1],
        [-1, 2, -1],
        [3, 4, -1],
    ]);
});

test('the choices of each degree', () => {
    expect(choicesOf(columns)).toEqual({ tensor_parallel: [1, 2], context_parallel: [1, 4], pipeline_parallel: [1], micro_batch: [1, 2] });
});

test('speed follows from the tokens of a step', () => {
    const { speed, speedPerGpu } = speedsOf(summary, columns);
    expect([...speed.slice(0, 3)]).toEqual([125, 200, 250]);
    expect([...speedPerGpu.slice(0, 3)]).toEqual([15.625, 12.5, 15.625]);
});

test('how far the fastest is ahead; a single one is ahead of nobody', () => {
    expect(leadsOf(summary, columns)).toEqual([{ gpus: 16, seconds: 1, bytes: -1 }]);
});

test('more GPUs, relative to the fewest with which a plan fits', () => {
    const sizes = sizesOf(summary, columns);
    expect(sizes.map(({ gpus, entry, efficiency }) => [gpus, entry, efficiency])).toEqual([
        [4, -1, 0],
        [8, 0, 1],
        [16, 2, 1],
    ]);
    expect(sizes.every(({ run }) => run === null)).toBe(true);
    // 2,500 tokens are three steps of 1,000, at 4 s each on 16 GPUs.
    const asked = { ...summary, job: { ...summary.job, token_budget: 2500, price_per_gpu_hour: 3 } };
    const run = sizesOf(asked, columns)[2]?.run;
    expect(run?.days).toBeCloseTo(12 / 86400, 12);
    expect(run?.gpu_hours).toBeCloseTo((12 / 3600) * 16, 12);
    expect(run?.cost).toBeCloseTo((12 / 3600) * 16 * 3, 12);
});
