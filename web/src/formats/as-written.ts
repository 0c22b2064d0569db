// What comes of a written file where it runs: a plan is worked out for one framework, and a file cannot say all of it.
import type { Catalog, Estimate, Exported, JobRequest } from '../core/api';
import type { Job } from '../state/state';
import type { Asks } from './find-faster';
import { jobOfScript } from './script-job';

const FAR = 0.01; // of bytes or seconds: nearer than that the file says the same

export const differs = (one: Estimate, other: Estimate): boolean =>
    one.class !== other.class ||
    Math.abs(one.whole_bytes - other.whole_bytes) > FAR * other.whole_bytes ||
    Math.abs(one.time.step_seconds - other.time.step_seconds) > FAR * other.time.step_seconds;

interface Written {
    job: JobRequest; // of the plan that was written
    script: Exported;
    asks: Pick<Asks, 'estimate' | 'importPlan'>;
}

// The job as the file says it, read as a reader's own file would be: what it leaves out is what its framework does then.
export async function asWritten(catalog: Catalog, { job, script: { text, framework }, asks }: Written) {
    const read = await asks.importPlan({ text });
    const here = { ...job, framework } as Job;
    const said = read.ok ? read.jobs[0] : undefined;
    if (!said) return asks.estimate(here as JobRequest);
    const { model: _, ...fields } = said.job; // sizes, where the page knows the model
    return asks.estimate(jobOfScript(here, catalog, { ...said, job: fields }) as JobRequest);
}
