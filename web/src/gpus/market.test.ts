import { expect, test, vi } from 'vitest';
import type { Estimate, JobRefusal } from '../core/api';
import { CoreCrash } from '../core/client';
import { answeredOf, catalog } from '../shared/test-data';
import { defaults, type Job, request } from '../state/state';
import { cardsOf, cheapestWithin, fastestFor, fittingOf, frontOf, type Progress, type Worked, workOut } from './market';

const job: Job = {
    ...defaults(catalog),
    gpus: 8,
    price_per_gpu_hour: 2,
    time_factor: 1.2,
    measured_inter_gb_s: 90,
    memory_extra: 3,
    tensor_parallel: 4,
    cluster: 'dgx-h100',
};

test('every card at the same number of GPUs first, then at fewer and more; the plan is left to the search', () => {
    const cards = cardsOf(job, catalog);
    const { length } = catalog.gpus;
    expect(cards).toHaveLength(7 * length);
    expect(cards.slice(0, length).every(({ gpus }) => gpus === 8)).toBe(true);
    expect([...new Set(cards.map(({ gpus }) => gpus))]).toEqual([8, 1, 2, 4, 16, 32, 64]);
    expect(cards.every((card) => card.job.tensor_parallel === 'auto')).toBe(true);
});

test('the cards with a list price stand first, those without after them, each in the order of the catalogue', () => {
    const priceOf = (id: string) => catalog.gpus.find((gpu) => gpu.id === id)?.usd_per_gpu_hour;
    const ids = cardsOf(job, catalog)
        .slice(0, catalog.gpus.length)
        .map(({ gpu }) => gpu);
    const priced = catalog.gpus.filter((gpu) => gpu.usd_per_gpu_hour !== undefined).map(({ id }) => id);
    expect(priced.length).toBeGreaterThan(5);
    expect(ids.slice(0, priced.length)).toEqual(priced);
    expect(ids.slice(priced.length).map(priceOf)).toEqual(catalog.gpus.slice(priced.length).map(() => undefined));
});

test('the reader’s own GPU has a row of its own before those of the catalogue, with its numbers', () => {
    const mine: Job = { ...job, gpu: 'custom', 'gpu.name': 'Mine', 'gpu.base': 'h100-sxm-80gb', 'gpu.memory_gib': 48 };
    const cards = cardsOf(mine, catalog);
    expect(cards).toHaveLength(7 * (catalog.gpus.length + 1));
    expect(request(cards[0]?.job as Job).gpu).toEqual({ name: 'Mine', base: 'h100-sxm-80gb', memory_gib: 48 });
    expect([cards[0]?.job.time_factor, cards[1]?.job.time_factor]).toEqual([1.2, 1]);
    expect(request(cards[1]?.job as Job).gpu).toBe(catalog.gpus.find((gpu) => gpu.usd_per_gpu_hour !== undefined)?.id);
});

test('what was measured on the own cluster holds for the own card alone', () => {
    const [own, other] = ['h100-sxm-80gb', 'a100-sxm-80gb'].map((id) => cardsOf(job, catalog).find(({ gpu }) => gpu === id)?.job);
    const measured = ['price_per_gpu_hour', 'time_factor', 'measured_inter_gb_s', 'memory_extra', 'cluster'] as const;
    expect(measured.map((key) => own?.[key])).toEqual([2, 1.2, 90, 3, 'dgx-h100']);
    expect(measured.map((key) => other?.[key])).toEqual(['auto', 1, 0, 0, '']);
});

// Days and dollars of cards that fit
const { answer } = answeredOf();
function worked(gpu: string, days: number, cost: number | null, changes: Partial<Estimate> = {}): Worked {
    const run = { ...(answer.time.run as NonNullable<Estimate['time']['run']>), days, cost };
    return { gpu, gpus: 8, job, answer: { ...answer, class: 'fits', time: { ...answer.time, run }, ...changes } as Estimate };
}
const refused: JobRefusal = { ok: false, version: 2, problems: [], job: null };

test('the front holds what nothing beats in both days and money', () => {
    const fitting = fittingOf([
        worked('slow', 30, 100),
        worked('fast', 10, 300),
        worked('worse', 31, 100),
        worked('between', 20, 200),
        worked('dear', 20, 250),
        worked('unpriced', 1, null),
        worked('full', 1, 1, { class: 'does_not_fit' }),
        { gpu: 'refused', gpus: 8, job, answer: refused },
    ]);
    expect(fitting.map(({ gpu }) => gpu)).toEqual(['slow', 'fast', 'worse', 'between', 'dear', 'unpriced']);
    expect([...frontOf(fitting)].map(({ gpu }) => gpu)).toEqual(['slow', 'fast', 'between']);
    expect(cheapestWithin(fitting, 25)?.gpu).toBe('between');
    expect(cheapestWithin(fitting, 5)).toBeUndefined();
    expect(fastestFor(fitting, 260)?.gpu).toBe('between');
    expect(fastestFor(fitting, 50)).toBeUndefined();
});

test('one after the other, until it is stopped or done; a crash is said', async () => {
    const cards = cardsOf(job, catalog).slice(0, 2);
    const asker = { estimate: vi.fn(async () => refused), stop: vi.fn(), end: vi.fn() };
    const said: Progress[] = [];
    workOut(asker, cards, [], (progress) => said.push(progress));
    await expect.poll(() => said.at(-1)?.state).toBe('done');
    expect(said.map(({ worked: so }) => so.length)).toEqual([1, 2, 2]);
    expect(asker.end).toHaveBeenCalledTimes(1);
    const stop = workOut({ ...asker, estimate: () => new Promise<never>(() => {}) }, cards, [], (progress) => said.push(progress));
    stop();
    stop();
    expect(said.at(-1)?.state).toBe('stopped');
    expect(asker.stop).toHaveBeenCalledTimes(1);
    workOut({ ...asker, estimate: () => Promise.reject(new CoreCrash('it ended')) }, cards, [], (progress) => said.push(progress));
    await expect.poll(() => said.at(-1)?.state).toBe('failed');
});
