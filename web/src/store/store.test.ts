import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Alternatives, Catalog, Estimate, IntegerField, JobRefusal, Limits, Problem, Refusal } from '../core/api';
import { CoreCrash } from '../core/client';
import type { Heat } from '../core/heat';
import { type Job, MAX_PINS } from '../state/state';
import { emptyPage, type How, type Page } from './page';
import { createStore } from './store';

const open = (key: string, link: string) => ({ key, link, type: 'integer', unit: '', default: 'auto', auto: true }) as IntegerField;
const fields = [open('tensor_parallel', 'tp'), open('virtual_stages', 'vp'), open('gpus_per_node', 'node')];
const catalog = { version: 2, gpus: [], clusters: [], models: [], methods: [], fields, rules: [] } as unknown as Catalog;
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
const problem: Problem = { field: 'gpus', rule: 'type', value: null, message: { id: 'no number' }, suggestion: null, nearest: null };
const refuse = (...problems: Problem[]): JobRefusal => ({ ok: false, version: 2, problems, job: null });

// A store whose core answers at once: whole numbers of GPUs are fine, anything else is a problem.
function fakeStore(shown: (then: () => void) => void = (then) => then()) {
    const pages: Page[] = [];
    const links: [Job, How][] = [];
    const answer = async (asked: object): Promise<Estimate | JobRefusal> => {
        const { gpus } = asked as { gpus: unknown };
        return typeof gpus === 'number' ? good(gpus) : refuse(problem);
    };
    const estimate = vi.fn(answer);
    const pinned = vi.fn((asked: object) => answer(asked));
    const linked: string[][] = [];
    const depths: string[] = [];
    const search = vi.fn(async (_: object) => ({ summary: { ok: true, gpu_counts: [4, 8, 16] } }) as Heat);
    const limits = vi.fn(async (asked: object): Promise<Limits | Refusal> => {
        const { days } = asked as { days: unknown };
        if (typeof days !== 'number') return refuse({ ...problem, field: 'days' });
        return { ok: true, job: asked, days } as unknown as Limits;
    });
    const refused: Refusal = { ok: false, version: 2, problems: [] };
    const rank = vi.fn(async (_: object) => refused);
    const alternatives = vi.fn(async (asked: object): Promise<Alternatives | JobRefusal> => {
        await new Promise((answered) => setTimeout(answered, 300));
        return { ok: true, job: asked } as unknown as Alternatives;
    });
    const store = createStore(emptyPage(catalog, job), {
        estimates: { estimate },
        searches: { alternatives, estimate: pinned, rank, versus: async () => refused },
        maps: { search, stop: () => {} },
        reverse: { limits, stop: () => {} },
        draw: (page) => pages.push(page),
        shown,
        jobChanged: (changed, how, pins) => {
            links.push([changed, how]);
            linked.push(pins.map(({ text }) => text));
        },
        deepened: (depth) => depths.push(depth),
        speak: async (language) => {
            if (language === 'zh') throw new Error('its words cannot be had');
        },
    });
    return { store, estimate, pinned, search, rank, alternatives, limits, links, linked, depths, pages };
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

test('what follows from an answer is asked for when that is on the screen, and only of the newest run', async () => {
    const waiting: (() => void)[] = [];
    const { store, rank, search, alternatives } = fakeStore((then) => waiting.push(then));
    store.restore(job);
    await settle();
    expect(store.current().answer).toEqual(good(8));
    expect([rank, search, alternatives].map(({ mock }) => mock.calls.length)).toEqual([0, 0, 0]);
    store.actions.change({ gpus: 16 }, 'choose');
    await settle();
    for (const then of waiting) then();
    expect(search.mock.calls.map(([asked]) => asked)).toMatchObject([{ gpus: 16 }]);
    expect(alternatives).toHaveBeenCalledTimes(1);
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
    store.actions.change({ sequence_length: 4096 }, 'type');
    await settle();
    expect(search.mock.calls[2]?.[0]).toMatchObject({ gpus: 16, gpu_counts: [4, 8, 16] });
    store.actions.change({ gpus: 64 }, 'choose');
    await settle();
    expect(search.mock.calls[3]?.[0]).not.toHaveProperty('gpu_counts');
    store.actions.change({ gpus: 8 }, 'type'); // as a link with 8 GPUs has them
    await settle();
    expect(search.mock.calls[4]?.[0]).toMatchObject({ gpus: 8 });
    expect(search.mock.calls[4]?.[0]).not.toHaveProperty('gpu_counts');
});

test('the map says which job it is of, so that nothing is promised from the one before', async () => {
    const { store, search } = fakeStore();
    store.restore(job);
    await settle();
    expect(store.current().heatOf).toBe(store.current().job);
    const old = store.current().heat;
    search.mockImplementationOnce(async () => {
        await new Promise((answered) => setTimeout(answered, 100));
        return { summary: { ok: true } } as Heat;
    });
    store.actions.change({ gpus: 64 }, 'choose');
    await settle(); // the answer is there, the map not yet; it is too early to mark the old one
    expect(store.current()).toMatchObject({ answer: good(64), heatStale: false });
    expect(store.current().heat).toBe(old);
    expect(store.current().heatOf).not.toBe(store.current().job);
    await vi.advanceTimersByTimeAsync(200);
    expect(store.current().heatOf).toBe(store.current().job);
});

test('map and list look at every plan; the machine is the reader’s', async () => {
    const { store, search, rank, alternatives } = fakeStore();
    store.restore({ ...job, virtual_stages: 2, gpus_per_node: 4 });
    await settle();
    for (const asked of [search, rank])
        expect(asked.mock.calls[0]?.[0]).toMatchObject({ tensor_parallel: 'auto', virtual_stages: 'auto', gpus_per_node: 4 });
    expect(alternatives.mock.calls[0]?.[0]).toMatchObject({ tensor_parallel: 2, virtual_stages: 2, gpus_per_node: 4 });
});

test('alternatives come after the answer; meanwhile the older ones stay, marked; only the newest are asked for', async () => {
    const { store, alternatives } = fakeStore();
    store.restore(job);
    await settle();
    expect(store.current()).toMatchObject({ answer: good(8), alternatives: null, alternativesStale: false });
    await vi.advanceTimersByTimeAsync(1000);
    expect(store.current()).toMatchObject({ alternatives: { job: { gpus: 8 } }, alternativesStale: false });
    for (const gpus of [16, 32, 64]) {
        store.actions.change({ gpus }, 'choose');
        await settle();
    }
    await vi.advanceTimersByTimeAsync(200);
    expect(store.current()).toMatchObject({ answer: good(64), alternatives: { job: { gpus: 8 } }, alternativesStale: true });
    await vi.advanceTimersByTimeAsync(1000);
    expect(store.current()).toMatchObject({ alternatives: { job: { gpus: 64 } }, alternativesStale: false });
    expect(alternatives).toHaveBeenCalledTimes(3); // 8, 16, 64
    store.actions.showStage(1);
    await vi.advanceTimersByTimeAsync(1000);
    expect(alternatives).toHaveBeenCalledTimes(3);
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

test("a filter of the list is the ranking's alone; one of a degree is the map's too; neither is part of the job", async () => {
    const { store, search, rank, links } = fakeStore();
    const asked = () => rank.mock.calls.at(-1)?.[0];
    store.restore(job);
    await settle();
    expect(search).toHaveBeenCalledTimes(1);
    expect(asked()).toMatchObject({ tensor_parallel: 'auto', only: {} });
    const { heatFilter } = store.current();
    store.actions.filter(heatFilter, { recompute: 'full' });
    await settle();
    expect(search).toHaveBeenCalledTimes(1);
    expect(asked()).toMatchObject({ tensor_parallel: 'auto', only: { recompute: 'full' } });
    store.actions.filter({ tensor_parallel: 8 });
    await settle();
    expect(search).toHaveBeenLastCalledWith(expect.anything(), { tensor_parallel: 8 });
    expect(asked()).toMatchObject({ tensor_parallel: 'auto', only: { tensor_parallel: 8, recompute: 'full' } });
    const before = rank.mock.calls.length;
    for (const memory_at_most_gib of [6, 60]) store.actions.filter(store.current().heatFilter, { memory_at_most_gib }, 'type');
    await settle();
    expect(rank).toHaveBeenCalledTimes(before); // not while the reader types
    await vi.advanceTimersByTimeAsync(1000);
    expect(rank).toHaveBeenCalledTimes(before + 1);
    expect(asked()).toMatchObject({ only: { tensor_parallel: 8, memory_at_most_gib: 60 } });
    expect(links).toEqual([]);
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

describe('pinned plans', () => {
    const four = { model: 'm', gpu: 'g', method: 'detailed', tensor_parallel: 4 };
    const two = { ...four, tensor_parallel: 2 };

    test('a pin is linked, worked out beside the searches, and gone with its unpinning; its answer stays', async () => {
        const { store, estimate, pinned, linked } = fakeStore();
        store.actions.pin(four);
        store.actions.pin(two);
        store.actions.pin(four);
        await settle();
        const [first, second] = store.current().pins;
        expect(store.current().pins.map((pin) => pin.job.tensor_parallel)).toEqual([4, 2]);
        expect(linked).toEqual([[first?.text], [first?.text, second?.text]]);
        expect(estimate).not.toHaveBeenCalled();
        expect(pinned.mock.calls.map(([asked]) => asked)).toMatchObject([four, two]);
        expect(Object.keys(store.current().pinAnswers)).toEqual([first?.text, second?.text]);
        if (first) store.actions.unpin(first);
        await settle();
        expect(store.current().pins).toEqual([second]);
        expect(linked.at(-1)).toEqual([second?.text]);
        store.actions.pin(four);
        await settle();
        expect(pinned).toHaveBeenCalledTimes(2);
    });

    test('a change of the job carries the pins along; going back restores them without another question', async () => {
        const { store, pinned, linked, links } = fakeStore();
        store.actions.pin(four);
        await settle();
        const { pins } = store.current();
        store.actions.change({ gpus: 16 }, 'choose');
        expect(linked.at(-1)).toEqual([pins[0]?.text]);
        const told = links.length;
        store.restorePins([]);
        expect(store.current().pins).toEqual([]);
        store.restorePins(pins);
        await settle();
        expect(store.current().pins).toEqual(pins);
        expect(links.length).toBe(told);
        expect(pinned).toHaveBeenCalledTimes(1);
    });

    test('no more than there is room for', () => {
        const { store } = fakeStore();
        for (let degree = 1; degree <= MAX_PINS + 3; ++degree) store.actions.pin({ ...four, tensor_parallel: degree });
        expect(store.current().pins.length).toBe(MAX_PINS);
    });

    test('a plan that is refused keeps its problems; after a crash the others are asked for again, once', async () => {
        const { store, pinned } = fakeStore();
        pinned.mockResolvedValueOnce(refuse(problem));
        pinned.mockRejectedValueOnce(new CoreCrash('gone'));
        store.actions.pin(four);
        store.actions.pin(two);
        await settle();
        const [first, second] = store.current().pins;
        expect(store.current().pinAnswers[first?.text ?? '']).toEqual(refuse(problem));
        expect(store.current().pinAnswers).toHaveProperty([second?.text ?? '']);
        expect(store.current().notices).toMatchObject([{ id: 'crash' }]);
        expect(pinned).toHaveBeenCalledTimes(3);
    });
});

test('the convention of counting FLOP is the page\u2019s, not the job\u2019s', () => {
    const { store, links, estimate } = fakeStore();
    store.actions.showRate('causal');
    expect(store.current().rate).toBe('causal');
    expect(links).toEqual([]);
    expect(estimate).not.toHaveBeenCalled();
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

test('another language shows once its words are there; one that cannot be had is said', async () => {
    const { store } = fakeStore();
    store.actions.speak('ja');
    expect(store.current().language).toBe('en');
    await vi.advanceTimersByTimeAsync(0);
    expect(store.current().language).toBe('ja');
    store.actions.speak('zh');
    await vi.advanceTimersByTimeAsync(0);
    expect([store.current().language, store.current().notices.map(({ id }) => id)]).toEqual(['ja', ['missing']]);
});

test('the depth is drawn at once, closes what is open, and is told', async () => {
    const { store, depths } = fakeStore();
    store.actions.open({ group: 'weights', item: '', at: 'bar' });
    store.actions.deepen('detail');
    expect([store.current().depth, store.current().open, depths]).toEqual(['detail', null, ['detail']]);
    store.actions.deepen('plain');
    store.actions.deepen('detail', false); // a link into a section
    expect([store.current().depth, depths]).toEqual(['detail', ['detail', 'plain']]);
});
