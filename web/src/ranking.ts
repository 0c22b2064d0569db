// The best configurations: the space of plans is cut into parts, which several instances of the core work through, each on its own.
import type { Degree, Problem, Ranked, RankedKey, RankedPlan, Refusal, Versus } from './api';
import { RANKED_KEYS } from './api';
import { type Core, CoreCrash } from './core';
import { AUTO_DEGREES, type Value } from './state';

export type Ranker = Pick<Core, 'rank' | 'mergeRankings' | 'stop' | 'end'>;

export interface Ranking {
    ranked: Ranked | null; // the last whole one
    stale: boolean; // it belongs to the job before the last change
    progress: { parts: number; of: number; seconds: number | null } | null; // while it runs and has taken long enough to say so
    stopped: boolean; // by the reader
    only: Only; // the filters of the last whole one
    problems: Problem[]; // why there is no newer one
    lead: Versus | null; // the first against the second
    asked: Partial<Record<Degree, Value>> | null; // "why not …?"
    answer: Versus | Refusal | null;
}
export const noRanking: Ranking = {
    ranked: null,
    stale: false,
    progress: null,
    stopped: false,
    only: {},
    problems: [],
    lead: null,
    asked: null,
    answer: null,
};

// What a ranking leaves out, under the core's own keys ("only"): a plan must have these values, and at most so much memory.
export type Only = Readonly<Record<string, Value>>;
export const MEMORY_FILTER = 'memory_at_most_gib';

const PARTS = 8; // whatever the number of workers: the answer is the same, and a stop waits for one of them at most
const SHARED_MS = 60; // what is left and would take longer is shared: starting an instance takes half as long, and 10 MB

export const rows = ({ plans }: Ranked): number => plans.order?.length ?? 0;

// The columns as rows, made once: several views go through all of them with every change of the page.
const plansOf = new WeakMap<Ranked, RankedPlan[]>();
export function planAt(ranked: Ranked, row: number): RankedPlan {
    let plans = plansOf.get(ranked);
    if (!plans) {
        const columns = Object.entries(ranked.plans);
        plans = Array.from(
            { length: rows(ranked) },
            (_, i) => Object.fromEntries(columns.map(([key, column]) => [key, column[i]])) as never,
        );
        plansOf.set(ranked, plans);
    }
    return plans[row] as RankedPlan;
}

// What a job must set to be that plan.
export const settingsOf = (plan: RankedPlan): Record<RankedKey, Value> =>
    Object.fromEntries(RANKED_KEYS.map((key) => [key, plan[key]])) as Record<RankedKey, Value>;

// null when it was stopped. The first ranker begins; the others join a ranking that takes long, and end with it.
export async function rankInParts(
    rankers: readonly Ranker[],
    job: object,
    told: (parts: number, of: number, seconds: number | null) => void,
    signal: AbortSignal,
): Promise<Ranked | Refusal | null> {
    const [first, ...others] = rankers;
    if (!first) return null;
    let join = (): void => {};
    const joining = new Promise<void>((resolve) => {
        join = resolve;
    });
    const answers: string[] = [];
    let refusal: Refusal | null = null;
    let next = 0;
    let fastest: number | null = null;
    const stop = () => {
        for (const ranker of rankers) ranker.stop();
    };
    signal.addEventListener('abort', stop, { once: true });
    const work = async (ranker: Ranker): Promise<void> => {
        while (next < PARTS && !refusal && !signal.aborted) {
            const begun = performance.now();
            const text = await ranker.rank({ ...job, part: next++, parts: PARTS });
            const answer = JSON.parse(text) as Ranked | Refusal;
            if (!answer.ok) {
                refusal = answer;
                return;
            }
            answers.push(text);
            const [seconds = Number.POSITIVE_INFINITY] = answer.plans.step_seconds ?? [];
            if (seconds < (fastest ?? Number.POSITIVE_INFINITY)) fastest = seconds;
            told(answers.length, PARTS, fastest);
            if ((performance.now() - begun) * (PARTS - next) > SHARED_MS) join();
        }
    };
    try {
        await Promise.all([work(first).then(join), ...others.map((other) => joining.then(() => work(other)))]);
        return signal.aborted ? null : (refusal ?? (await first.mergeRankings(answers)));
    } catch (error) {
        if (signal.aborted && error instanceof CoreCrash) return null;
        throw error;
    } finally {
        signal.removeEventListener('abort', stop);
        if (!signal.aborted) for (const other of others) other.end();
    }
}

interface Surroundings {
    rankers: readonly Ranker[];
    searches: Pick<Core, 'versus'>;
    asked(): object; // the request as it is now, without filters
    only(): Only;
    ranking(): Ranking;
    update(changes: Partial<Ranking>): void;
    recover(error: unknown, again: () => void): void;
}

const LATE_MS = 150;

export function createRankings({ rankers, searches, asked, only, ranking, update, recover }: Surroundings) {
    let answered = ''; // the request that the ranking answers, or is about to
    let running: AbortController | null = null;

    const compareFirstTwo = async (request: object, ranked: Ranked, mine: AbortController): Promise<void> => {
        if (rows(ranked) < 2) return;
        const lead = await searches.versus({ ...request, ...settingsOf(planAt(ranked, 0)), other: settingsOf(planAt(ranked, 1)) });
        if (mine === running && lead.ok) update({ lead });
    };

    const ask = async (): Promise<void> => {
        const request = asked();
        const filters = only();
        const text = JSON.stringify([request, filters]);
        if (text === answered) return;
        answered = text;
        running?.abort();
        const mine = new AbortController();
        running = mine;
        const started = performance.now();
        const told = (parts: number, of: number, seconds: number | null): void => {
            if (mine === running && performance.now() - started > LATE_MS) update({ progress: { parts, of, seconds } });
        };
        update({ stale: ranking().ranked !== null, progress: null, stopped: false, problems: [] });
        try {
            const ranked = await rankInParts(rankers, { ...request, only: filters }, told, mine.signal);
            if (mine !== running) return;
            if (!ranked?.ok) return update({ progress: null, problems: ranked?.problems ?? [] });
            update({ ...noRanking, ranked, only: filters });
            await compareFirstTwo(request, ranked, mine);
        } catch (error) {
            if (mine !== running) return;
            answered = '';
            recover(error, ask);
        }
    };

    const stop = (): void => {
        running?.abort();
        running = null;
        answered = '';
        update({ progress: null, stopped: true });
    };

    // The best plan of the ranking against the best one with these degrees.
    const whyNot = async (degrees: Ranking['asked']): Promise<void> => {
        const { ranked } = ranking();
        if (!degrees || !ranked || rows(ranked) === 0) return update({ asked: null, answer: null });
        update({ asked: degrees, answer: null });
        const other = { ...AUTO_DEGREES, expert_parallel: 'auto', ...degrees };
        try {
            const answer = await searches.versus({ ...asked(), ...settingsOf(planAt(ranked, 0)), other });
            if (ranking().asked === degrees) update({ answer });
        } catch (error) {
            recover(error, () => whyNot(degrees));
        }
    };
    return { ask, stop, whyNot };
}
