// What the page adds to the contract (api.ts): what its threads tell each other, and what it hands on in a form of its own.
import type { ChosenKey, Estimate, Group, LinksRead, LinksRequest, Placed, UnitGiven } from './api';

// The keys of a job that a ranked plan sets, in the order in which they are listed.
export const RANKED_KEYS = [
    'tensor_parallel',
    'pipeline_parallel',
    'context_parallel',
    'micro_batch',
    'expert_parallel',
    'expert_tensor_parallel',
    'virtual_stages',
    'schedule',
    'layout',
    'recompute',
    'recompute_modules',
    'recompute_layers',
    'zero',
    'shard_replicas',
    'moments',
    'sequence_parallel',
    'activation_offload',
    'token_slices',
    'expert_overlap',
    'sync_each_micro_batch',
] as const satisfies readonly ChosenKey[];
export type RankedKey = ChosenKey;

// An answer that says how its numbers come about (EstimateRequest): all of it, or nothing.
type Why = 'curve' | 'comparison' | 'used' | 'assumed' | 'not_counted';
export type WholeEstimate = Estimate & Required<Pick<Estimate, Why>>;
export const isWhole = (answer: Estimate): answer is WholeEstimate => answer.comparison !== undefined;

// A group, or what lies beside them all.
export type ShownGroup = Omit<Group, 'id'> & { id: Group['id'] | 'outside' };

// A request as the reader has it. What was typed and is no number stays text: the core says what is wrong with it.
export type AsTyped<Request> = { [Key in keyof Request]: Request[Key] | string | boolean };

// What a reader says of a text; "auto": nothing.
export type LinksSaid = Required<Pick<LinksRequest, 'unit' | 'units'>>;
// As the page keeps it: a matrix of a thousand nodes has a million numbers, so that it crosses as columns.
export interface LinkColumns {
    names: string[];
    gpus: boolean; // its units are GPUs instead of nodes
    rates: Float64Array; // GB/s, row = sender; NaN on the diagonal
    latencies: Float64Array | null; // µs
}
export type Measured = Omit<LinksRead, 'links'> & LinkColumns;

// A node (or GPU) that differs from what the profile says.
export type UnitSaid = AsTyped<Omit<UnitGiven, 'name'>> & Pick<UnitGiven, 'name'>;

// A placement, and how many moves a second it took: the worker adds that, once the measurement is read.
export type PlacedHere = Placed & { moves_per_s?: number };
