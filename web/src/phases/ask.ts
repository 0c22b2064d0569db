// What the core is asked about a run in phases.
import type { PhasesRequest } from '../core/api';
import type { Core } from '../core/client';
import { type Job, request } from '../state/state';
import type { Page } from '../store/page';
import type { Phased } from './link';

export type Phaser = Pick<Core, 'phases' | 'pools' | 'stop'>; // both rooms ask one thread

// What was typed and is no number goes to the core as it is: it says what is wrong with it.
export function askedOf(job: Job, { rows, ...rest }: Phased): PhasesRequest {
    return { ...request(job), ...rest, phases: rows } as unknown as PhasesRequest;
}

// The run as it is, in one phase: as many tokens as its sentence says.
export const rowOf = ({ job, answer }: Pick<Page, 'job' | 'answer'>): Phased['rows'][number] => ({
    tokens:
        typeof job.token_budget === 'number' && job.token_budget > 0
            ? job.token_budget
            : Number((answer?.time.run?.tokens ?? 1e12).toPrecision(3)),
    sequence_length: job.sequence_length ?? '',
    tokens_per_step: Number(job.sequence_length) * Number(job.global_batch) || '',
    gpus: job.gpus ?? '',
});
