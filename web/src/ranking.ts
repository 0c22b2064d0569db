// The best plans: one question to the core about everything that it can choose, and what the reader asks about its answer.
import type { Degree, Problem, Ranked, RankedKey, RankedPlan, Refusal, Versus } from './api';
import { RANKED_KEYS } from './api';
import type { Core } from './core';
import { latestOnly } from './core';
import type { Value } from './state';

export interface Ranking {
    ranked: Ranked | null; // the last whole one
    stale: boolean; // it belongs to the job before the last change
    only: Only; // the filters of the last whole one
    problems: Problem[]; // why there is no newer one
    lead: Versus | null; // the first plan against the first one that is slower
    asked: Partial<Record<Degree, Value>> | null; // "why not …?"
    answer: Versus | Refusal | null;
}
export const noRanking: Ranking = {
    ranked: null,
    stale: false,
    only: {},
    problems: [],
    lead: null,
    asked: null,
    answer: null,
};

// What a ranking leaves out, under the core's own keys ("only"): a plan must have these values, and at most so much memory.
export type Only = Readonly<Record<string, Value>>;
export const MEMORY_FILTER = 'memory_at_most_gib';

export const rows = ({ plans }: Ranked): number => plans.step_seconds?.length ?? 0;

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

interface Surroundings {
    searches: Pick<Core, 'rank' | 'versus'>;
    asked(): object; // the request as it is now, without filters; what the core can choose is on "auto"
    auto(): Readonly<Record<string, Value>>; // all of that
    only(): Only;
    ranking(): Ranking;
    update(changes: Partial<Ranking>): void;
    recover(error: unknown, again: () => void): void;
}

interface Question {
    request: object;
    filters: Only;
    text: string;
}

export function createRankings({ searches, asked, auto, only, ranking, update, recover }: Surroundings) {
    let answered = ''; // the request that the ranking answers, or is about to

    // The plans that are as fast as the first need no comparison: the next one does.
    const compareWithNext = async ({ request, text }: Question, ranked: Ranked): Promise<void> => {
        const next = Math.max(1, ranked.equally_good);
        if (next >= rows(ranked)) return;
        const lead = await searches.versus({ ...request, ...settingsOf(planAt(ranked, 0)), other: settingsOf(planAt(ranked, next)) });
        if (text === answered && lead.ok) update({ lead });
    };

    const failed = (error: unknown): void => {
        answered = '';
        recover(error, ask);
    };

    const askLatest = latestOnly(
        ({ request, filters }: Question) => searches.rank({ ...request, only: filters }),
        (ranked, question) => {
            if (!ranked.ok) return update({ problems: ranked.problems });
            update({ ...noRanking, ranked, only: question.filters });
            compareWithNext(question, ranked).catch(failed);
        },
        failed,
    );

    const ask = (): void => {
        const request = asked();
        const filters = only();
        const text = JSON.stringify([request, filters]);
        if (text === answered) return;
        answered = text;
        update({ stale: ranking().ranked !== null, problems: [] });
        askLatest({ request, filters, text });
    };

    // The first plan of the list against the best one with these degrees.
    const whyNot = async (degrees: Ranking['asked']): Promise<void> => {
        const { ranked } = ranking();
        if (!degrees || !ranked || rows(ranked) === 0) return update({ asked: null, answer: null });
        update({ asked: degrees, answer: null });
        const other = { ...auto(), ...degrees };
        try {
            const answer = await searches.versus({ ...asked(), ...settingsOf(planAt(ranked, 0)), other });
            if (ranking().asked === degrees) update({ answer });
        } catch (error) {
            recover(error, () => whyNot(degrees));
        }
    };
    return { ask, whyNot };
}
