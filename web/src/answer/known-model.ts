import type { Catalog } from '../core/api';
import { CUSTOM_MODEL, type Job } from '../state/state';

// A link may name a model that the catalogue lacks. Without what knows it, the core says that there is none.
export async function withKnownModel(job: Job, { models }: Pick<Catalog, 'models'>): Promise<Job> {
    if (job.model === CUSTOM_MODEL || models.some(({ id }) => id === job.model)) return job;
    try {
        return await (await import('./also-known')).withKnown(job);
    } catch {
        return job;
    }
}
