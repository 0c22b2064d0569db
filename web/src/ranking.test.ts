import { expect, test, vi } from 'vitest';
import type { Problem, Ranked, Refusal } from './api';
import { CoreCrash } from './core';
import { createRankings, noRanking, type Only, planAt, type Ranker, type Ranking, rankInParts, rows, settingsOf } from './ranking';

const part = (seconds: number[]): Ranked => ({
    ok: true,
    gpus: 8,
    candidates: 10,
    legal: 5,
    filtered: 0,
    ranked: seconds.length,
    does_not_fit: 5 - seconds.length,
    rejected: [],
    choices: {},
    excluding: [],
    plans: { order: seconds.map((_, i) => i), step_seconds: seconds, tensor_parallel: seconds.map(() => 2) },
    front: [],
    closest: null,
});

// Rankers that answer after so many turns; merging keeps the answers in a list.
function fakeRankers(count: number, wait = 0) {
    const asked: number[] = [];
    const merged: (readonly string[])[] = [];
    let reject: ((error: Error) => void) | undefined;
    const ranker = (): Ranker => ({
        rank: async (job: object) => {
            const { part: index } = job as { part: number };
            asked.push(index);
            for (let i = 0; i < wait; i++) await Promise.resolve();
            if (wait < 0) {
                await new Promise((_, fail) => {
                    reject = fail;
                });
            }
            return JSON.stringify(part([10 - index]));
        },
        mergeRankings: async (parts) => {
            merged.push(parts);
            return part([1, 2, 3]);
        },
        stop: vi.fn(() => reject?.(new CoreCrash('stopped'))),
        end: vi.fn(),
    });
    return { rankers: Array.from({ length: count }, ranker), asked, merged };
}

test('every part is asked for once, however many share them, and all are put together', async () => {
    for (const count of [1, 2, 3, 16]) {
        const { rankers, asked, merged } = fakeRankers(count, 3);
        const told: [number, number, number | null][] = [];
        const answer = await rankInParts(rankers, {}, (...news) => told.push(news), new AbortController().signal);
        expect(answer?.ok && rows(answer)).toBe(3);
        expect([...asked].sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
        expect(merged).toHaveLength(1);
        expect(merged[0]).toHaveLength(8);
        expect(told.at(-1)).toEqual([8, 8, 3]); // 10 - 7 seconds is the best of all
    }
});

test("a short ranking is the first worker's, a long one is shared; what joined is given back", async () => {
    // A clock of the test's own: a slow machine makes no ranking long.
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
    const parts: number[][] = [[], []];
    const ends = [vi.fn(), vi.fn()];
    const rankers = (turn: number): Ranker[] =>
        parts.map((mine, i) => ({
            rank: async (job: object) => {
                mine.push((job as { part: number }).part);
                await new Promise((resolve) => setTimeout(resolve, turn));
                return JSON.stringify(part([1]));
            },
            mergeRankings: async () => part([1]),
            stop: () => {},
            end: ends[i] as () => void,
        }));
    const rank = async (turn: number): Promise<void> => {
        const ranked = rankInParts(rankers(turn), {}, () => {}, new AbortController().signal);
        await vi.runAllTimersAsync();
        await ranked;
    };
    await rank(0);
    expect(parts.map((mine) => mine.length)).toEqual([8, 0]);
    await rank(15);
    expect((parts[0]?.length ?? 0) + (parts[1]?.length ?? 0)).toBe(16);
    expect(parts[1]?.length).toBeGreaterThan(0);
    expect(ends[0]).not.toHaveBeenCalled();
    expect(ends[1]).toHaveBeenCalled();
    vi.useRealTimers();
});

test('a stop is answered at once, and drops the workers', async () => {
    const { rankers } = fakeRankers(2, -1);
    const abort = new AbortController();
    const answer = rankInParts(rankers, {}, () => {}, abort.signal);
    await Promise.resolve();
    abort.abort();
    expect(await answer).toBeNull();
    for (const ranker of rankers) expect(ranker.stop).toHaveBeenCalledTimes(1);
});

test('a refusal ends the search', async () => {
    const refusal: Refusal = { ok: false, problems: [] };
    const ranker: Ranker = {
        rank: async () => JSON.stringify(refusal),
        mergeRankings: async () => part([]),
        stop: () => {},
        end: () => {},
    };
    expect(await rankInParts([ranker], {}, () => {}, new AbortController().signal)).toEqual(refusal);
});

test('a plan of the list sets every key that it was ranked with', () => {
    const plan = planAt(part([4, 5]), 1);
    expect(plan.step_seconds).toBe(5);
    expect(settingsOf(plan)).toMatchObject({ tensor_parallel: 2 });
});

test('the same request is not ranked twice; another one takes its place; stopped, it can be asked again', async () => {
    const { rankers, asked } = fakeRankers(1);
    let request = { gpus: 8 };
    let only: Only = { recompute: 'full', tensor_parallel: 8 };
    let ranking: Ranking = noRanking;
    const versus = vi.fn(async () => ({ ok: false, problems: [] }) as Refusal);
    const desk = createRankings({
        rankers,
        searches: { versus },
        asked: () => request,
        only: () => only,
        ranking: () => ranking,
        update: (changes) => {
            ranking = { ...ranking, ...changes };
        },
        recover: (error) => expect.unreachable(String(error)),
    });
    await desk.ask();
    await desk.ask();
    expect(asked).toHaveLength(8);
    expect(ranking.only).toEqual({ recompute: 'full', tensor_parallel: 8 });
    expect(ranking.ranked && rows(ranking.ranked)).toBe(3);
    expect(versus).toHaveBeenCalledTimes(1);
    expect(versus).toHaveBeenLastCalledWith(expect.not.objectContaining({ only: expect.anything() })); // a comparison has no filters
    only = {};
    await desk.ask();
    expect(asked).toHaveLength(16);
    expect(ranking.only).toEqual({});
    request = { gpus: 16 };
    const next = desk.ask();
    expect(ranking.stale).toBe(true);
    desk.stop();
    await next;
    expect(ranking).toMatchObject({ stopped: true, stale: true });
    await desk.ask();
    expect(ranking).toMatchObject({ stopped: false, stale: false });
    await desk.whyNot({ tensor_parallel: 8 });
    expect(versus).toHaveBeenLastCalledWith(
        expect.objectContaining({ gpus: 16, other: expect.objectContaining({ tensor_parallel: 8, pipeline_parallel: 'auto' }) }),
    );
});

test('filters go with every part; a filter that the core refuses keeps the list, with the reason', async () => {
    const problem: Problem = { field: 'only.memory_at_most_gib', rule: 'type', value: 'much', message: '', suggestion: '', nearest: null };
    const rank = vi.fn(async (job: object): Promise<string> => {
        const { only } = job as { only: Only };
        return JSON.stringify(only.memory_at_most_gib === 'much' ? { ok: false, problems: [problem] } : part([1]));
    });
    let only: Only = { schedule: 'zb-v' };
    let ranking: Ranking = noRanking;
    const desk = createRankings({
        rankers: [{ rank, mergeRankings: async () => part([1]), stop: () => {}, end: () => {} }],
        searches: { versus: async () => ({ ok: false, problems: [] }) },
        asked: () => ({ gpus: 8 }),
        only: () => only,
        ranking: () => ranking,
        update: (changes) => {
            ranking = { ...ranking, ...changes };
        },
        recover: (error) => expect.unreachable(String(error)),
    });
    await desk.ask();
    expect(rank).toHaveBeenCalledTimes(8);
    for (const [job] of rank.mock.calls) expect(job).toMatchObject({ gpus: 8, only: { schedule: 'zb-v' }, parts: 8 });
    only = { memory_at_most_gib: 'much' };
    await desk.ask();
    expect(ranking).toMatchObject({ stale: true, problems: [problem], only: { schedule: 'zb-v' } });
    only = {};
    await desk.ask();
    expect(ranking).toMatchObject({ stale: false, problems: [], only: {} });
});
