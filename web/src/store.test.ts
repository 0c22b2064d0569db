import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Catalog, Estimate, Limits, Problem, Refusal } from './api';
import { CoreCrash } from './core';
import type { Heat } from './heat';
import type { Job } from './state';
import { createStore, emptyPage, type How, type Page } from './store';

const catalog = { version: 1, gpus: [], clusters: [], models: [], methods: [], fields: [], rules: [] } as Catalog;
const job: Job = {
    model: 'm',
    gpu: 'g',
    gpus: 8,
    tensor_parallel: 2,
    context_parallel: 'auto',
    pipeline_parallel: 'auto',
    micro_batch: 'auto',
};
const good = (gpus: unknown) => ({ ok: true, job: { gpus } }) as unknown as Estimate;
const problem: Problem = { field: 'gpus', rule: 'type', value: null, message: 'no number', suggestion: '', nearest: null };

// A store whose core answers at once: whole numbers of GPUs are fine, anything else is a problem.
function fakeStore() {
    const pages: Page[] = [];
    const links: [Job, How][] = [];
    const estimate = vi.fn(async (asked: object): Promise<Estimate | Refusal> => {
        const { gpus } = asked as { gpus: unknown };
        return typeof gpus === 'number' ? good(gpus) : { ok: false, problems: [problem] };
    });
    const search = vi.fn(async (_: object) => ({ summary: { ok: true, gpu_counts: [4, 8, 16] } }) as Heat);
    const limits = vi.fn(async (asked: object): Promise<Limits | Refusal> => {
        const { days } = asked as { days: unknown };
        if (typeof days !== 'number') return { ok: false, problems: [{ ...problem, field: 'days' }] };
        return { ok: true, job: asked, days } as unknown as Limits;
    });
    const store = createStore(emptyPage(catalog, job), {
        estimates: { estimate },
        searches: { search, limits },
        draw: (page) => pages.push(page),
        jobChanged: (changed, how) => links.push([changed, how]),
    });
    return { store, estimate, search, limits, links, pages };
}
const settle = () => vi.advanceTimersByTimeAsync(1);

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test('a choice is answered, and told to the history', async () => {
    const { store, links } = fakeStore();
    store.actions.change({ gpus: 16 }, 'choose');
    await settle();
    expect(store.current()).toMatchObject({ job: { gpus: 16 }, answer: good(16), problems: [], late: false });
    expect(links).toEqual([[{ ...job, gpus: 16 }, 'choose']]);
});

test('a mistake keeps the last good answer; while typing it waits before it speaks', async () => {
    const { store } = fakeStore();
    store.restore(job);
    await settle();
    store.actions.change({ gpus: 'x' }, 'type');
    await settle();
    expect(store.current()).toMatchObject({ job: { gpus: 'x' }, answer: good(8), problems: [] });
    await vi.advanceTimersByTimeAsync(1000);
    expect(store.current()).toMatchObject({ answer: good(8), problems: [problem] });
    store.actions.change({ gpus: 16 }, 'type');
    await settle();
    expect(store.current()).toMatchObject({ answer: good(16), problems: [] });
});

test('a mistake that is mended in time is never shown', async () => {
    const { store, pages } = fakeStore();
    store.actions.change({ gpus: '' }, 'type');
    await settle();
    store.actions.change({ gpus: 64 }, 'type');
    await vi.advanceTimersByTimeAsync(5000);
    expect(pages.every((page) => page.problems.length === 0)).toBe(true);
});

test('the map searches all degrees, and keeps its columns while the number of GPUs is among them', async () => {
    const { store, search } = fakeStore();
    store.restore(job);
    await settle();
    expect(search.mock.calls[0]?.[0]).toMatchObject({ gpus: 8, tensor_parallel: 'auto' });
    expect(search.mock.calls[0]?.[0]).not.toHaveProperty('gpu_counts');
    store.actions.change({ gpus: 16 }, 'choose');
    await settle();
    expect(search.mock.calls[1]?.[0]).toMatchObject({ gpus: 16, gpu_counts: [4, 8, 16] });
    store.actions.change({ gpus: 64 }, 'choose');
    await settle();
    expect(search.mock.calls[2]?.[0]).not.toHaveProperty('gpu_counts');
});

test('another stage is asked for beside the job, needs no other map, and goes with the job', async () => {
    const { store, estimate, search, links } = fakeStore();
    store.restore(job);
    await settle();
    store.actions.showStage(2);
    await settle();
    expect(estimate.mock.calls[1]?.[0]).toMatchObject({ gpus: 8, stage: 2 });
    expect(search).toHaveBeenCalledTimes(1);
    expect(links).toEqual([]);
    store.actions.change({ gpus: 16 }, 'choose');
    await settle();
    expect(store.current().stage).toBe(null);
    expect(estimate.mock.calls[2]?.[0]).not.toHaveProperty('stage');
    expect(search).toHaveBeenCalledTimes(2);
});

test('after a crash the question is asked once more, and the reader is told', async () => {
    const { store, estimate } = fakeStore();
    estimate.mockRejectedValueOnce(new CoreCrash('gone'));
    store.actions.change({ gpus: 16 }, 'choose');
    await settle();
    expect(store.current()).toMatchObject({ answer: good(16), notices: [{ id: 'crash', details: 'gone' }] });
    estimate.mockRejectedValue(new CoreCrash('again'));
    store.actions.change({ gpus: 32 }, 'choose');
    await settle();
    expect(estimate).toHaveBeenCalledTimes(4);
});

test('a model of the catalogue drops the pasted one', async () => {
    const { store } = fakeStore();
    store.actions.replaceJob({ ...job, model: 'custom', 'model.hidden_size': 1 }, 'choose');
    await settle();
    store.actions.change({ model: 'other' }, 'choose');
    expect(store.current().job).toEqual({ ...job, model: 'other' });
});

test('the reverse questions wait until their view is there, the map has answered, and nobody types', async () => {
    const { store, search, limits } = fakeStore();
    store.restore(job);
    await vi.advanceTimersByTimeAsync(1000);
    expect(limits).not.toHaveBeenCalled();
    store.actions.wantLimits();
    expect(store.current()).toMatchObject({ limits: null, limitsStale: true });
    await vi.advanceTimersByTimeAsync(1000);
    expect(store.current()).toMatchObject({ limits: { days: 30 }, limitsStale: false });
    for (const gpus of [1, 16, 160]) {
        store.actions.change({ gpus }, 'type');
        await settle();
    }
    expect(store.current()).toMatchObject({ limits: { job: { gpus: 8 } }, limitsStale: true });
    await vi.advanceTimersByTimeAsync(1000);
    expect(limits).toHaveBeenCalledTimes(2);
    expect(limits.mock.calls[1]?.[0]).toMatchObject({ gpus: 160, days: 30 });
    expect(limits.mock.calls[1]?.[0]).toMatchObject({ tensor_parallel: 2 }); // what the reader has set is kept
    store.actions.filter({ tensor_parallel: 4 }); // another map of the same job needs no other answers
    await vi.advanceTimersByTimeAsync(1000);
    expect(search).toHaveBeenCalledTimes(5);
    expect(limits).toHaveBeenCalledTimes(2);
});

test('other days are asked for alone; a mistake in them keeps the last answers and stands by them', async () => {
    const { store, search, limits, links } = fakeStore();
    store.restore(job);
    store.actions.wantLimits();
    await vi.advanceTimersByTimeAsync(1000);
    store.actions.setDays('soon');
    await vi.advanceTimersByTimeAsync(1000);
    expect(store.current()).toMatchObject({ days: 'soon', limits: { days: 30 }, limitsStale: true, problems: [] });
    expect(store.current().limitsProblems).toHaveLength(1);
    store.actions.setDays(10);
    await vi.advanceTimersByTimeAsync(1000);
    expect(store.current()).toMatchObject({ limits: { days: 10 }, limitsStale: false, limitsProblems: [] });
    expect(limits).toHaveBeenCalledTimes(3);
    expect(search).toHaveBeenCalledTimes(1);
    expect(links).toEqual([]);
});
