import { expect, test, vi } from 'vitest';
import { CoreCrash } from '../core/client';
import { catalog, goodOf } from '../shared/test-data';
import { chosenKeys, formatLink, parseLink, request } from '../state/state';
import { famousRuns, jobOf, type Progress, prove, type Run, secondsOf } from './prove';

const good = goodOf('estimate', 'default');
const proverOf = (estimate: () => Promise<unknown>) => ({ estimate: vi.fn(estimate) as never, stop: vi.fn(), end: vi.fn() });
const settle = () => new Promise((done) => setTimeout(done));

// Which layers a stage recomputes, and how many micro-batches a chunk takes in a row, follow from the rest.
const FOLLOWS = ['recompute_layers', 'virtual_stage_group', 'shard_replicas'];

test('a famous run is known to the catalogue, and nothing of its plan is left to the search', () => {
    for (const run of famousRuns) {
        const job = jobOf(run, catalog);
        const open = chosenKeys(catalog).filter((key) => job[key] === 'auto' && !FOLLOWS.includes(key));
        expect([run.id, open]).toEqual([run.id, []]);
        expect(catalog.gpus.map(({ id }) => id)).toContain(job.gpu);
        const known = new Set<string>(['model', 'gpu', 'cluster', 'method', ...catalog.fields.map(({ key }) => key)]);
        expect(Object.keys(run.request).filter((key) => !known.has(key))).toEqual([]);
        for (const field of catalog.fields)
            if (field.type === 'choice') expect(['auto', ...field.choices.map(({ id }) => id)]).toContain(job[field.key]);
    }
});

test('its link opens the page on the very run that is calculated', () => {
    for (const run of famousRuns) {
        const job = jobOf(run, catalog);
        const { job: opened, unknown } = parseLink(formatLink(job, catalog), catalog);
        expect([unknown, request(opened)]).toEqual([[], request(job)]);
    }
});

test('each has a source, and one published speed', () => {
    expect(new Set(famousRuns.map(({ id }) => id)).size).toBe(famousRuns.length);
    for (const { source, published } of famousRuns) {
        expect(source.url).toMatch(/^https:\/\//);
        const { seconds, tflops, tokens_per_s_per_gpu } = published;
        expect([seconds, tflops, tokens_per_s_per_gpu].filter((one) => one !== undefined)).toHaveLength(1);
        expect(published.rate !== undefined).toBe(tflops !== undefined);
    }
});

test('a published speed as the time of a step', () => {
    const { time } = good;
    const run = (published: Run['published']): Run => ({ ...(famousRuns[0] as Run), request: { gpus: 8 }, published });
    expect(secondsOf(run({ seconds: 3 }), good)).toBe(3);
    expect(secondsOf(run({ tokens_per_s_per_gpu: time.tokens_per_s_per_gpu }), good)).toBeCloseTo(time.step_seconds, 6);
    const [rate] = time.rates;
    expect(secondsOf(run({ tflops: (rate?.tflop_per_s_per_gpu ?? 0) / 2, rate: 'full' }), good)).toBeCloseTo(2 * time.step_seconds, 6);
    expect(secondsOf(run({ tflops: 100, rate: 'unknown' }), good)).toBeNull();
});

test('one after the other, then the instance goes', async () => {
    const prover = proverOf(async () => good);
    const told: Progress[] = [];
    prove(prover, catalog, {}, (progress) => told.push(progress));
    await settle();
    expect(prover.estimate).toHaveBeenCalledTimes(famousRuns.length);
    expect(told.at(-1)?.state).toBe('done');
    expect(Object.keys(told.at(-1)?.answers ?? {})).toEqual(famousRuns.map(({ id }) => id));
    expect(prover.end).toHaveBeenCalledTimes(1);
});

test('stopped: what is known stays, and only the rest is asked for again', async () => {
    let asked = 0;
    const prover = proverOf(() => (++asked === 2 ? new Promise(() => {}) : Promise.resolve(good)));
    const told: Progress[] = [];
    const stop = prove(prover, catalog, {}, (progress) => told.push(progress));
    await settle();
    stop();
    expect(prover.stop).toHaveBeenCalledTimes(1);
    const last = told.at(-1) as Progress;
    expect([last.state, Object.keys(last.answers)]).toEqual(['stopped', [famousRuns[0]?.id]]);
    const again = proverOf(async () => good);
    prove(again, catalog, last.answers, () => {});
    await settle();
    expect(again.estimate).toHaveBeenCalledTimes(famousRuns.length - 1);
});

test('a core that crashes says so', async () => {
    const told: Progress[] = [];
    prove(
        proverOf(() => Promise.reject(new CoreCrash('crash.no_file'))),
        catalog,
        {},
        (progress) => told.push(progress),
    );
    await settle();
    expect(told.map(({ state }) => state)).toEqual(['failed']);
});
