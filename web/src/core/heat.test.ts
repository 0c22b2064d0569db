import { expect, test } from 'vitest';
import type { SearchColumns, SearchSummary } from './api';
import { choicesOf, entryAt, indexRows, PACES, paceOf, quickestOf } from './heat';

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
    whole_bytes: Float64Array.of(6, 5, 4, 3, 2),
    share: Float64Array.of(2, 0.9, 0.7, 0.9, 0.5),
    step_seconds: Float64Array.of(8, 5, 4, 9, 6),
    tokens_per_s: Float64Array.of(125, 200, 250, 111, 167),
    tokens_per_s_per_gpu: Float64Array.of(15.6, 12.5, 15.6, 13.9, 10.4),
    class: Uint8Array.of(2, 1, 0, 1, 0),
};
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
        quickest: 1,
        summary: {} as SearchSummary,
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

test('the quickest plan is one that fits; every speed has a shade', () => {
    expect(quickestOf(columns)).toBe(15.6);
    expect(quickestOf(empty)).toBe(0);
    expect([100, 95, 94, 70, 1].map((speed) => paceOf(speed, 100))).toEqual([0, 0, 1, 2, PACES.length - 1]);
});
