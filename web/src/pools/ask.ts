// What the core is asked about further GPUs of other kinds.
import type { PoolsRequest } from '../core/api';
import type { Core } from '../core/client';
import { type Job, request } from '../state/state';
import type { More } from './link';

export type Mixer = Pick<Core, 'pools' | 'stop'>;

// What was typed and is no number goes to the core as it is: it says what is wrong with it.
export const askedOf = (job: Job, more: readonly More[]): PoolsRequest =>
    ({ ...request(job), more_pools: more }) as unknown as PoolsRequest;
