// What a run printed, compared with the run that the script beside it starts.
import type { ImportedPlan, RunRead } from '../core/api';
import type { Core } from '../core/client';
import { pinOf, request } from '../state/state';
import type { Page } from '../store/page';
import { countedOf } from './counted';
import { readRun } from './reader';
import { type Against, neededPerCounted } from './run-words';
import { jobOfScript } from './script-job';

export interface Compared {
    run: RunRead;
    against: Against;
    times: number; // bytes that the run needed, by its log, for each one that is counted
}

export type Compares = Pick<Core, 'estimate' | 'alternatives'>;

// `run`: as it is read alone, which is all that can be said where the script's plan cannot be.
export async function comparedWith(
    plan: ImportedPlan,
    text: string,
    run: RunRead,
    { job, catalog }: Pick<Page, 'job' | 'catalog'>,
    { estimate, alternatives }: Compares,
): Promise<Compared> {
    const asked = request(jobOfScript(job, catalog, plan));
    const [answer, others] = await Promise.all([estimate(asked), alternatives(asked)]);
    const found = others.ok ? others : null;
    const read = await readRun({ text, counted: answer.ok ? countedOf(answer, found) : null });
    if (!answer.ok || !read.ok) return { run: read.ok ? read : run, against: null, times: 1 };
    return {
        run: read,
        against: { job: pinOf(answer.job, catalog).job, catalog, answer, alternatives: found, script: true },
        times: neededPerCounted(read),
    };
}
