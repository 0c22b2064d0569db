// A plan of the list: is it the one above, and how to take it.

import type { Catalog, RankedPlan } from '../core/api';
import { RANKED_KEYS } from '../core/types';
import { allAuto } from '../state/state';
import type { Actions, Page } from '../store/page';
import { settingsOf } from '../store/ranked';

// Of the page, what the list and its drawing take.
export type Shown = Pick<Page, 'catalog' | 'answer' | 'problems'>;

export function isShown({ answer, problems }: Shown, plan: RankedPlan, gpus: number): boolean {
    if (!answer || problems.length > 0 || answer.job.gpus !== gpus) return false;
    // What has no effect in a plan need not be the same.
    const idle = (key: string): boolean =>
        (key === 'recompute_layers' && plan.recompute !== 'block') ||
        (key === 'recompute_modules' && plan.recompute !== 'selective') ||
        (key === 'sequence_parallel' && plan.tensor_parallel === 1);
    return RANKED_KEYS.every((key) => answer.job[key] === plan[key] || idle(key));
}

// What a plan of the list does not name is chosen to go with it.
export function takeRanked(act: Actions, catalog: Catalog, plan: RankedPlan): void {
    act.change({ ...allAuto(catalog), ...settingsOf(plan) }, 'choose');
    document.getElementById('answer')?.scrollIntoView({ block: 'center' });
}
