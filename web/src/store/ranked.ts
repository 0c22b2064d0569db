// The list of the best plans as the store keeps it, and its columns as rows.
import type { Degree, Only as Filters, Problem, Ranked, RankedPlan, Refusal, Versus } from '../core/api';
import type { AsTyped, RankedKey } from '../core/types';
import { RANKED_KEYS } from '../core/types';
import type { Value } from '../state/state';

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
export type Only = Readonly<AsTyped<Filters>>;

export const MEMORY_FILTER = 'memory_at_most_gib' satisfies keyof Only;

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
