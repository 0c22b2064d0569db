import { expect, test } from 'vitest';
import type { Catalog, Ranked, RankedPlan } from '../core/api';
import { activeKeys, filterKeys, folded, inOrder, type ListRow, type SortKey, withFilter } from './list';

const row = (rank: number, tensor_parallel: number, whole_bytes: number): ListRow => ({
    rank,
    plan: { tensor_parallel, whole_bytes, step_seconds: rank, tokens_per_s: 100 - rank } as RankedPlan,
});
const list = [row(1, 8, 30), row(2, 2, 60), row(3, 8, 20), row(4, 2, 60), row(5, 4, 10)];
const ranks = (by: SortKey, down: boolean) => inOrder(list, { by, down }).map(({ rank }) => rank);

test('every column orders the rows, both ways; equal rows stay by rank either way', () => {
    expect(ranks('rank', false)).toEqual([1, 2, 3, 4, 5]);
    expect(ranks('rank', true)).toEqual([5, 4, 3, 2, 1]);
    expect(ranks('step_seconds', false)).toEqual([1, 2, 3, 4, 5]);
    expect(ranks('tokens_per_s', false)).toEqual([5, 4, 3, 2, 1]);
    expect(ranks('whole_bytes', false)).toEqual([5, 3, 1, 2, 4]);
    expect(ranks('whole_bytes', true)).toEqual([2, 4, 1, 3, 5]);
    expect(ranks('tensor_parallel', false)).toEqual([2, 4, 5, 1, 3]);
    expect(ranks('tensor_parallel', true)).toEqual([1, 3, 5, 2, 4]);
    expect(list.map(({ rank }) => rank)).toEqual([1, 2, 3, 4, 5]); // the given rows are left as they are
});

test('plans of one speed that differ only in their chunks are one, and the first in the list stands for them', () => {
    const plan = (rank: number, tie: number, virtual_stages: number, layout: string, zero = 'optimizer'): ListRow => ({
        rank,
        plan: { tie, virtual_stages, layout, zero, tensor_parallel: 2, step_seconds: 1 } as unknown as RankedPlan,
    });
    const plans = [plan(1, 0, 2, 'equal'), plan(2, 0, 1, 'equal', 'none'), plan(3, 0, 3, 'Et|tL'), plan(4, 1, 4, 'equal')];
    const ranksOf = (all: ListRow[]) => folded(all).map((fold) => fold.map(({ rank }) => rank));
    expect(ranksOf(plans)).toEqual([[1, 3], [2], [4]]);
    expect(ranksOf([...plans].reverse())).toEqual([[4], [3, 1], [2]]);
});

const fields = ['tensor_parallel', 'virtual_stages', 'schedule', 'zero', 'recompute'].map((key) => ({ key }));
const catalog = { fields } as unknown as Catalog;

test('offered is what differs among the plans, and what is filtered by already', () => {
    const choices = { tensor_parallel: [1, 2], recompute: ['full', 'none'], zero: ['optimizer'], virtual_stages: [1, 2] };
    const ranked = { choices } as unknown as Ranked;
    expect(filterKeys(catalog, ranked, {})).toEqual(['virtual_stages', 'recompute']);
    expect(filterKeys(catalog, ranked, { zero: 'none' })).toEqual(['virtual_stages', 'zero', 'recompute']);
});

test('a degree is filtered for map and list, anything else for the list alone', () => {
    expect(withFilter({}, {}, 'tensor_parallel', 8)).toEqual([{ tensor_parallel: 8 }, {}]);
    expect(withFilter({ tensor_parallel: 8 }, {}, 'recompute', 'full')).toEqual([{ tensor_parallel: 8 }, { recompute: 'full' }]);
    expect(withFilter({ tensor_parallel: 8 }, { zero: 'none' }, 'tensor_parallel', undefined)).toEqual([{}, { zero: 'none' }]);
    const degrees = { tensor_parallel: 8 };
    expect(withFilter(degrees, { sequence_parallel: false }, 'sequence_parallel', undefined)[0]).toBe(degrees); // the map has nothing to ask
    expect(activeKeys(catalog, { recompute: 'full', memory_at_most_gib: 60, micro_batch: 1, schedule: '1f1b' })).toEqual([
        'micro_batch',
        'memory_at_most_gib',
        'schedule',
        'recompute',
    ]);
});
