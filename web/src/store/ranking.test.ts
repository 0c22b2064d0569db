import { expect, test, vi } from 'vitest';
import type { Problem, Ranked, Refusal, Versus } from '../core/api';
import { CoreCrash } from '../core/client';
import { noRanking, type Only, planAt, type Ranking, rows, settingsOf } from './ranked';
import { createRankings } from './ranking';

const list = (seconds: number[], equally_good = 1): Ranked => ({
    ok: true,
    version: 2,
    gpus: 8,
    candidates: 10,
    legal: 5,
    slower: 0,
    filtered: 0,
    ranked: seconds.length,
    does_not_fit: 5 - seconds.length,
    looked_at: 5,
    equally_good,
    tie_width: 0.015,
    rejected: [],
    choices: {} as Ranked['choices'],
    excluding: [],
    plans: { step_seconds: seconds, tensor_parallel: seconds.map((_, i) => 2 ** i), tie: seconds.map(() => 0) },
    front: [],
    closest: null,
});
const settle = () => new Promise((done) => setTimeout(done));

// A desk whose core answers with `answer`.
function desk(answer: (asked: { only: Only }) => Ranked | Refusal) {
    const state = { request: { gpus: 8 }, only: {} as Only, ranking: noRanking as Ranking, crashes: 0 };
    const rank = vi.fn(async (asked: object) => answer(asked as { only: Only }));
    const versus = vi.fn(async (_: object) => ({ ok: true, outcome: 'slower' }) as Versus);
    const rankings = createRankings({
        searches: { rank, versus },
        asked: () => state.request,
        auto: () => ({ tensor_parallel: 'auto', layout: 'auto' }),
        only: () => state.only,
        ranking: () => state.ranking,
        update: (changes) => {
            state.ranking = { ...state.ranking, ...changes };
        },
        recover: (_, again) => {
            if (++state.crashes === 1) again();
        },
    });
    return { state, rank, versus, ...rankings };
}

test('a plan of the list sets every key that it was ranked with', () => {
    const plan = planAt(list([4, 5]), 1);
    expect(plan.step_seconds).toBe(5);
    expect(settingsOf(plan)).toMatchObject({ tensor_parallel: 2 });
});

test('the same request is not ranked twice; another one takes its place, and the older list is marked meanwhile', async () => {
    const { state, rank, ask } = desk(() => list([1, 2, 3]));
    ask();
    ask();
    await settle();
    expect(rank).toHaveBeenCalledTimes(1);
    expect(state.ranking.ranked && rows(state.ranking.ranked)).toBe(3);
    for (const gpus of [16, 32, 64]) {
        state.request = { gpus };
        ask();
    }
    expect(state.ranking).toMatchObject({ stale: true, ranked: { gpus: 8 } });
    await settle();
    expect(rank.mock.calls.map(([asked]) => asked)).toMatchObject([{ gpus: 8 }, { gpus: 16 }, { gpus: 64 }]);
    expect(state.ranking.stale).toBe(false);
});

test('the first plan is compared with the first one that is not as fast; a comparison has no filters', async () => {
    for (const [ties, wanted] of [
        [1, 2],
        [2, 4],
    ] as const) {
        const { state, versus, ask } = desk(() => list([1, 1, 2], ties));
        state.only = { recompute: 'full' };
        ask();
        await settle();
        expect(versus.mock.calls).toEqual([
            [expect.objectContaining({ gpus: 8, tensor_parallel: 1, other: expect.objectContaining({ tensor_parallel: wanted }) })],
        ]);
        expect(versus.mock.calls[0]?.[0]).not.toHaveProperty('only');
        expect(state.ranking.lead).toMatchObject({ outcome: 'slower' });
    }
    const { versus, ask } = desk(() => list([1, 1, 2], 3));
    ask();
    await settle();
    expect(versus).not.toHaveBeenCalled();
});

test('why not: what is not asked for is chosen', async () => {
    const { versus, ask, whyNot } = desk(() => list([1]));
    ask();
    await settle();
    await whyNot({ tensor_parallel: 8 });
    expect(versus).toHaveBeenLastCalledWith(expect.objectContaining({ gpus: 8, other: { tensor_parallel: 8, layout: 'auto' } }));
});

test('a filter that the core refuses keeps the list, with the reason', async () => {
    const problem: Problem = {
        field: 'only.memory_at_most_gib',
        rule: 'type',
        value: 'much',
        message: { id: '' },
        suggestion: null,
        nearest: null,
    };
    const { state, rank, ask } = desk(({ only }) =>
        only.memory_at_most_gib === 'much' ? { ok: false, version: 2, problems: [problem] } : list([1]),
    );
    const asked = async (only: Only) => {
        state.only = only;
        ask();
        await settle();
    };
    await asked({ schedule: 'zb-v' });
    expect(rank).toHaveBeenLastCalledWith({ gpus: 8, only: { schedule: 'zb-v' } });
    await asked({ memory_at_most_gib: 'much' });
    expect(state.ranking).toMatchObject({ stale: true, problems: [problem], only: { schedule: 'zb-v' } });
    await asked({});
    expect(state.ranking).toMatchObject({ stale: false, problems: [], only: {} });
});

test('after a crash the same request is asked once more', async () => {
    const { state, rank, ask } = desk(() => list([1]));
    rank.mockRejectedValueOnce(new CoreCrash('gone'));
    ask();
    await settle();
    expect(rank).toHaveBeenCalledTimes(2);
    expect(state.ranking.ranked).not.toBeNull();
});
