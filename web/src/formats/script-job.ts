import type { Catalog, ImportedPlan } from '../core/api';
import { allAuto, type Job, withConfig } from '../state/state';

// The job of the page with what a script says in it. What the script leaves open is searched; the GPU and the prices stay.
export function jobOfScript(job: Job, catalog: Catalog, { job: said }: ImportedPlan): Job {
    const { model, ...rest } = said;
    const plain = Object.fromEntries(Object.entries(rest).filter(([, value]) => typeof value !== 'object'));
    const next = { ...job, ...allAuto(catalog), ...plain } as Job;
    if (model !== null && typeof model === 'object') return withConfig(next, model);
    return typeof model === 'string' ? { ...next, model } : next;
}
