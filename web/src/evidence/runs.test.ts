import { expect, test } from 'vitest';
import { catalog, goodOf } from '../shared/test-data';
import {
    type Alike,
    alikeOf,
    byDistance,
    CUTOFF,
    differences,
    distance,
    errorOf,
    errorsOf,
    isNear,
    outcomesOf,
    type Run,
    runsOf,
    worstFirst,
} from './runs';
import { table } from './table';

const runs = runsOf(catalog);
const timed = runs.filter(({ seconds }) => seconds);

const base: Alike = {
    parameters: 8e9,
    gpus: 8,
    tensor_parallel: 2,
    pipeline_parallel: 1,
    context_parallel: 1,
    micro_batch: 1,
    sequence_length: 8192,
    experts: false,
    architecture: 'hopper',
    eight_bit: false,
    framework: 'megatron-2025',
};

test('a doubling of any size is as far as another framework; another kind is never near', () => {
    expect(distance(base, base)).toBe(0);
    expect(distance(base, { ...base, gpus: 16 })).toBe(1);
    expect(distance(base, { ...base, parameters: 2e9, micro_batch: 2 })).toBe(3);
    expect(distance(base, { ...base, framework: 'nanotron' })).toBe(1);
    const others: Partial<Alike>[] = [{ experts: true }, { architecture: 'ampere' }, { eight_bit: true }];
    for (const other of others) expect(distance(base, { ...base, ...other })).toBeGreaterThan(CUTOFF);
    expect(distance({ ...base, gpus: 64 }, base)).toBe(distance(base, { ...base, gpus: 64 }));
});

// Their hosts decide, so that they are near no job without.
const OFFLOADED = ['a800-offload', 'deep-optimizer-states', 'easycontext', 'fsdp-qlora-host', 'megatron-offload', 'mlp-offload'];

test('the file has every run of the table with a time, those of a slow network or with an offloaded optimizer aside', () => {
    const counted = Object.entries(table.time).filter(([family]) => family !== 'nanotron-slow-network' && !OFFLOADED.includes(family));
    expect(timed.length).toBe(counted.reduce((sum, [, { rows }]) => sum + rows, 0));
    const mean = errorsOf(timed.map(({ seconds }) => seconds))?.mean ?? 0;
    expect(mean).toBeCloseTo(counted.reduce((sum, [, one]) => sum + one.mean * one.rows, 0) / timed.length, 3);
    const { ran, failed, ran_no, failed_fits } = outcomesOf(runs);
    const sum = (key: 'ran' | 'failed' | 'does_not_fit_ran' | 'fits' | 'fits_ran'): number =>
        Object.entries(table.verdict).reduce((total, [name, one]) => total + (OFFLOADED.includes(name) ? 0 : one[key]), 0);
    expect(ran).toBe(sum('ran'));
    expect(ran_no).toBe(sum('does_not_fit_ran'));
    expect(failed_fits).toBeLessThanOrEqual(sum('fits') - sum('fits_ran'));
    expect(failed).toBeLessThanOrEqual(sum('failed')); // the table counts "out of memory or never run" too
});

test('errors, what was said of known outcomes, and the worst first', () => {
    expect(errorsOf([[1.1, 1], null, [0.9, 1]])).toEqual({
        count: 2,
        mean: expect.closeTo(0.1),
        low: expect.closeTo(-0.1),
        high: expect.closeTo(0.1),
    });
    expect(errorsOf([null])).toBeNull();
    const run = (index: number, more: Partial<Run>): Run => ({ ...base, index, seconds: null, gib: null, outcome: null, ...more }) as Run;
    const some = [
        run(0, { seconds: [1.1, 1] }),
        run(1, { seconds: [0.7, 1], outcome: { ran: true, said: 'fits' } }),
        run(2, { outcome: { ran: false, said: 'fits' } }),
        run(3, { outcome: { ran: true, said: 'does_not_fit' } }),
    ];
    expect(outcomesOf(some)).toEqual({ ran: 2, ran_no: 1, failed: 1, failed_fits: 1 });
    expect(worstFirst(some).map(({ index }) => index)).toEqual([2, 3, 1, 0]);
    expect(differences(base, run(4, { gpus: 16, framework: 'nanotron' }))).toEqual(['gpus', 'framework']);
    // 70.6 billion parameters are no other size than 70.55 billion.
    expect([8.05e9, 8.2e9].map((parameters) => differences(base, run(5, { parameters })))).toEqual([[], ['parameters']]);
});

test('the plan of an answer is as the runs are told', () => {
    expect(alikeOf(goodOf('estimate', 'mixtral-64-b200'), catalog)).toMatchObject({ gpus: 64, experts: true, architecture: 'blackwell' });
    expect(alikeOf(goodOf('estimate', 'llama-70b-64-h100'), catalog)).toMatchObject({
        parameters: 70553706496,
        tensor_parallel: 8,
        pipeline_parallel: 4,
        experts: false,
        architecture: 'hopper',
        eight_bit: false,
    });
});

// ---- is a run that is near off alike? Every timed run is left out in turn.
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const ranks = (values: readonly number[]): number[] => {
    const order = values.map((value, i) => [value, i] as const).sort(([a], [b]) => a - b);
    const rank: number[] = [];
    for (const [place, [, i]] of order.entries()) rank[i] = place;
    return rank;
};
function correlation(a: readonly number[], b: readonly number[]): number {
    const [x, y] = [mean(a), mean(b)];
    const sum = (values: (i: number) => number): number => a.reduce((total, _, i) => total + values(i), 0);
    const [da, db] = [(i: number) => (a[i] ?? 0) - x, (i: number) => (b[i] ?? 0) - y];
    return sum((i) => da(i) * db(i)) / Math.sqrt(sum((i) => da(i) ** 2) * sum((i) => db(i) ** 2));
}

const error = ({ seconds }: Run): number => (seconds ? errorOf(seconds) : 0);
const size = (run: Run): number => Math.abs(error(run));

interface Told {
    runs: number;
    ranks: number; // correlation of a run's |error| with the mean of those near it
    near: number; // how far that mean is from the run's own |error|
    all: number; // how far the mean of all runs is
    corrected: number; // |error| that is left when the mean error of those near is taken off
    left: number; // and as it is
}
type Among = (apart: number, run: Run, other: Run) => boolean;
function told(least: number, among: Among): Told {
    const found = timed.flatMap((run) => {
        const near = timed.filter((other) => other !== run && among(distance(run, other) - 1e-9, run, other));
        return near.length >= least
            ? [{ size: size(run), error: error(run), sizes: mean(near.map(size)), errors: mean(near.map(error)) }]
            : [];
    });
    const usual = mean(timed.map(size));
    const own = found.map((one) => one.size);
    return {
        runs: found.length,
        ranks: correlation(ranks(own), ranks(found.map(({ sizes }) => sizes))),
        near: mean(found.map((one) => Math.abs(one.size - one.sizes))),
        all: mean(own.map((one) => Math.abs(one - usual))),
        corrected: mean(found.map((one) => Math.abs(one.error - one.errors))),
        left: mean(own),
    };
}
const line = (name: string, one: Told): string =>
    `${name}: ${one.runs} runs, rank correlation ${one.ranks.toFixed(2)}; |error| missed by ` +
    `${(100 * one.near).toFixed(1)} %, by the mean of all runs by ${(100 * one.all).toFixed(1)} %; ` +
    `corrected ${(100 * one.corrected).toFixed(1)} %, as it is ${(100 * one.left).toFixed(1)} %`;

test('the errors of near runs tell how far a run is off, those of far ones do not', { timeout: 60_000 }, () => {
    const ring = (to: number): Told => told(1, (apart) => apart <= to && (to === 1 || apart > to - 1));
    const rings = [1, 2, 3, 4, 5, 6].map((to) => [to, ring(to)] as const);
    const near = told(3, (apart) => apart <= CUTOFF);
    const others = told(1, (apart, run, other) => apart <= CUTOFF && run.source !== other.source);
    const lines = rings.map(([to, one]) => line(`${to} doublings`, one));
    console.log([...lines, line('all that are near', near), line('near, of other sources', others)].join('\n'));
    const orders = (at: number): number => rings.find(([to]) => to === at)?.[1].ranks ?? 0;
    expect(orders(CUTOFF)).toBeGreaterThan(0.2);
    expect(orders(2 * CUTOFF)).toBeLessThan(orders(CUTOFF) / 2);
    expect(near.runs).toBeGreaterThan(timed.length / 2);
    // 0.39 of 845 runs; 0.40 before experts' gradients went their own way in time, which took away errors that near runs shared
    expect(near.ranks).toBeGreaterThan(0.38);
    expect(near.near).toBeLessThan(0.95 * near.all);
});

test('the nearest stands first, and near is what the cutoff says', () => {
    const alike = alikeOf(goodOf('estimate', 'default'), catalog);
    const found = byDistance(alike, runs);
    expect(found.length).toBe(runs.length);
    expect(found.every((one, i) => i === 0 || one.distance >= (found[i - 1]?.distance ?? 0))).toBe(true);
    for (const near of found.filter(isNear)) expect(near.run.architecture).toBe(alike.architecture);
});
