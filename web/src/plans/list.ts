// The list of best configurations: the order that the reader gives its rows, and what can be filtered by. A filter is answered by the core
// over all plans, sorting orders the rows that came.
import type { Catalog, Degree, OnlyKey, Ranked, RankedPlan } from '../core/api';
import type { HeatFilter } from '../core/heat';
import { RANKED_KEYS, type RankedKey } from '../core/types';
import type { Sorting } from '../shared/sort';
import { DEGREES, type Value } from '../state/state';
import { MEMORY_FILTER, type Only } from '../store/ranked';

export interface ListRow {
    plan: RankedPlan;
    rank: number; // by the core: 1 is the best
}

export type SortKey = 'rank' | Degree | 'data_parallel' | 'step_seconds' | 'tokens_per_s' | 'whole_bytes';
export const IN_RANK: Sorting<SortKey> = { by: 'rank', down: false };

// Rows that are equal in the column stay in the order of their rank, whichever way the column runs.
export function inOrder(list: readonly ListRow[], { by, down }: Sorting<SortKey>): ListRow[] {
    const value = ({ plan, rank }: ListRow): number => (by === 'rank' ? rank : Number(plan[by]));
    return [...list].sort((a, b) => (down ? value(b) - value(a) : value(a) - value(b)) || a.rank - b.rank);
}

// Plans that the estimate calls equally fast and that differ only in how the layers are cut into chunks: the first in the list stands for
// them. Each with the first of them before the others.
const OF_CHUNKS: readonly RankedKey[] = ['virtual_stages', 'layout'];
const OTHERWISE = RANKED_KEYS.filter((key) => !OF_CHUNKS.includes(key));
export function folded(list: readonly ListRow[]): ListRow[][] {
    const folds = new Map<string, ListRow[]>();
    for (const row of list) {
        const same = JSON.stringify([row.plan.tie, ...OTHERWISE.map((key) => row.plan[key])]);
        const fold = folds.get(same);
        if (fold) fold.push(row);
        else folds.set(same, [row]);
    }
    return [...folds.values()];
}

export const isDegree = (key: string): key is Degree => (DEGREES as readonly string[]).includes(key);

// Fields beside the degrees that differ among the plans, or that the reader filters by, in the order of the catalogue.
export const filterKeys = (catalog: Catalog, { choices }: Ranked, filter: Only): OnlyKey[] =>
    catalog.fields
        .map(({ key }) => key)
        .filter((key): key is OnlyKey => key in choices)
        .filter((key) => !isDegree(key) && (key in filter || choices[key].length > 1));

// The filters with this one at that value; undefined lets it go.
export function withFilter(degrees: HeatFilter, list: Only, key: keyof Only, value: Value | undefined): [HeatFilter, Only] {
    const change = <Filter extends object>(filter: Filter): Filter => {
        const { [key as keyof Filter]: _, ...rest } = filter;
        return (value === undefined ? rest : { ...rest, [key]: value }) as Filter;
    };
    return isDegree(key) ? [change(degrees), list] : [degrees, change(list)];
}

// In the order in which they stand on the page: the degrees, the memory, the rest.
export const activeKeys = (catalog: Catalog, only: Only): (keyof Only)[] =>
    [...DEGREES, MEMORY_FILTER, ...catalog.fields.map(({ key }) => key).filter((key) => !isDegree(key))].filter(
        (key): key is keyof Only => key in only,
    );
