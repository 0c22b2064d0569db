// What the core is asked about a run in phases.
import type { PhasesRequest } from '../core/api';
import type { Core } from '../core/client';
import { type Job, request } from '../state/state';
import type { Phased } from './link';

export type Phaser = Pick<Core, 'phases' | 'pools' | 'stop'>; // both rooms ask one thread

// What was typed and is no number goes to the core as it is: it says what is wrong with it.
export function askedOf(job: Job, { rows, ...rest }: Phased): PhasesRequest {
    return { ...request(job), ...rest, phases: rows } as unknown as PhasesRequest;
}

export const rowOf = (job: Job): Phased['rows'][number] => ({
    tokens: typeof job.token_budget === 'number' && job.token_budget > 0 ? job.token_budget : 1e12,
    sequence_length: job.sequence_length ?? '',
    tokens_per_step: Number(job.sequence_length) * Number(job.global_batch) || '',
    gpus: job.gpus ?? '',
});
