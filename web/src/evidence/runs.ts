// Measured runs like the plan shown: tests/evidence/runs.json, where every run stands with its estimate. Fetched in a file of its own.
import data from '../../../tests/evidence/runs.json';
import type { Catalog, Estimate, Json } from '../core/api';
import { hasExperts } from '../shared/model-kind';
import { baseOf } from '../state/state';
import type { Standing } from './table';

// What makes runs alike. Sizes are told apart by doublings, kinds as the same or another.
const SIZES = ['parameters', 'gpus', 'tensor_parallel', 'pipeline_parallel', 'context_parallel', 'micro_batch', 'sequence_length'] as const;
export type Size = (typeof SIZES)[number];
const KINDS = ['experts', 'architecture', 'eight_bit', 'framework'] as const;
export type Kind = (typeof KINDS)[number];

export type Alike = Readonly<Record<Size, number>> & {
    readonly experts: boolean;
    readonly architecture: string; // of the GPU
    readonly eight_bit: boolean; // does it multiply in fp8
    readonly framework: string;
};
export interface Run extends Alike {
    index: number;
    model: string;
    gpu: string;
    precision: string;
    source: { title: string; url: string };
    standing: Standing;
    seconds: [measured: number, estimated: number] | null;
    gib: [measured: number, estimated: number] | null; // the peak of one GPU
    outcome: { ran: boolean; said: Estimate['class'] } | null; // where the source says which runs did not fit
}

interface Table {
    sources: Run['source'][];
    models: { label: string; parameters: number; experts: boolean }[];
    gpus: string[];
    frameworks: string[];
    precisions: string[];
    lengths: number[]; // of sequences
    standings: Standing[];
    verdicts: Estimate['class'][];
    slow_network: number;
    columns: { [name: string]: number[] }; // value, how many times, value, …
}
const table = data as unknown as Table;
const spread = (column: readonly number[]): number[] =>
    column.flatMap((value, at) => (at % 2 === 0 ? new Array<number>(column[at + 1] ?? 0).fill(value) : []));
const columns: Readonly<Record<string, number[]>> = Object.fromEntries(
    Object.entries(table.columns).map(([name, column]) => [name, spread(column)]),
);
export const leftOut = table.slow_network;

const isEightBit = (precision: string): boolean => precision.startsWith('fp8');
const pair = (measured = 0, estimated = 0): [number, number] | null => (measured > 0 ? [measured, estimated] : null);

function runAt(index: number, catalog: Catalog): Run {
    const at = (name: string): number => columns[name]?.[index] ?? 0;
    const of = <Type>(list: readonly Type[], name: string): Type => list[at(name)] as Type;
    const model = of(table.models, 'model');
    const gpu = catalog.gpus.find(({ id }) => id === of(table.gpus, 'gpu'));
    const precision = of(table.precisions, 'precision');
    const said = of(table.verdicts, 'verdict') as Estimate['class'] | undefined;
    return {
        index,
        ...(Object.fromEntries(SIZES.map((size) => [size, at(size)])) as Record<Size, number>),
        model: model.label,
        parameters: model.parameters,
        sequence_length: of(table.lengths, 'sequence_length'),
        experts: model.experts,
        gpu: gpu?.label ?? of(table.gpus, 'gpu'),
        architecture: gpu?.architecture ?? '',
        precision,
        eight_bit: isEightBit(precision),
        framework: of(table.frameworks, 'framework'),
        source: of(table.sources, 'source'),
        standing: of(table.standings, 'standing'),
        seconds: pair(at('seconds'), at('estimated_seconds')),
        gib: pair(at('gib'), at('estimated_gib')),
        outcome: said ? { ran: at('out_of_memory') === 0, said } : null,
    };
}
export const runsOf = (catalog: Catalog): Run[] => (columns.gpus ?? []).map((_, index) => runAt(index, catalog));

// The plan shown, as the runs are told.
export function alikeOf({ model, job }: Estimate, catalog: Catalog): Alike {
    const size = (key: Exclude<Size, 'parameters'>): number => Number(job[key]);
    return {
        parameters: model.parameters,
        gpus: size('gpus'),
        tensor_parallel: size('tensor_parallel'),
        pipeline_parallel: size('pipeline_parallel'),
        context_parallel: size('context_parallel'),
        micro_batch: size('micro_batch'),
        sequence_length: size('sequence_length'),
        experts: hasExperts(model.config as unknown as Record<string, Json>),
        architecture: catalog.gpus.find(({ id }) => id === baseOf(job.gpu))?.architecture ?? '',
        eight_bit: isEightBit(String(job.precision)),
        framework: String(job.framework),
    };
}

// ---- how near a run is: doublings between the sizes, all together; another framework counts as one of them, another kind of model, of GPU
// or of format as more than any run that is called near.
const FAR = 4;
const COSTS: Readonly<Record<Kind, number>> = { experts: FAR, architecture: FAR, eight_bit: FAR, framework: 1 };

export function distance(one: Alike, other: Alike): number {
    const sizes = SIZES.reduce((sum, size) => sum + Math.abs(Math.log2(one[size] / other[size])), 0);
    return KINDS.reduce((sum, kind) => sum + (one[kind] === other[kind] ? 0 : COSTS[kind]), sizes);
}

// Up to three doublings a run counts as near. Found by leaving each timed run out in turn and looking at the others (runs.test.ts prints all
// of it): how far the runs at one, two, three, four and six doublings are off is ordered as how far this one is off, with rank correlations
// of 0.6, 0.4, 0.3, 0.3 and 0. Up to three together they tell it an eighth better than the mean of all runs does. They do not say in which
// direction: their mean error, taken as a correction, makes the estimate worse. And where all of them come from other sources they tell no
// more than the mean of all runs. So near runs are shown as what they are, and the band stays that of the core.
export const CUTOFF = 3;

export interface Near {
    run: Run;
    distance: number;
}
// Nearest first.
export const byDistance = (alike: Alike, runs: readonly Run[]): Near[] =>
    runs.map((run) => ({ run, distance: distance(alike, run) })).sort((a, b) => a.distance - b.distance);

export const isNear = (near: Near): boolean => near.distance <= CUTOFF + 1e-9;

// Measured over estimated, less 1.
export const errorOf = (pair: readonly [measured: number, estimated: number]): number => pair[0] / pair[1] - 1;

// How far off the estimates were for some runs.
export interface Errors {
    count: number;
    mean: number; // of |error|
    low: number;
    high: number;
}
export function errorsOf(pairs: readonly (readonly [number, number] | null)[]): Errors | null {
    const errors = pairs.flatMap((one) => (one ? [errorOf(one)] : []));
    if (errors.length === 0) return null;
    const mean = errors.reduce((sum, error) => sum + Math.abs(error), 0) / errors.length;
    return { count: errors.length, mean, low: Math.min(...errors), high: Math.max(...errors) };
}

// What was said of runs that are known to have run, or not.
export interface Outcomes {
    ran: number;
    ran_no: number; // of them, said not to fit
    failed: number;
    failed_fits: number; // of them, said to fit
}
export function outcomesOf(runs: readonly Run[]): Outcomes {
    const count = (ran: boolean, said?: Estimate['class']): number =>
        runs.filter(({ outcome }) => outcome && outcome.ran === ran && (said === undefined || outcome.said === said)).length;
    return { ran: count(true), ran_no: count(true, 'does_not_fit'), failed: count(false), failed_fits: count(false, 'fits') };
}

// The largest error first, then wrong verdicts.
const wrongness = ({ seconds, gib, outcome }: Run): number =>
    Math.max(
        seconds ? Math.abs(errorOf(seconds)) : 0,
        gib ? Math.abs(errorOf(gib)) : 0,
        outcome && ((outcome.ran && outcome.said === 'does_not_fit') || (!outcome.ran && outcome.said === 'fits')) ? 1 : 0,
    );
export const worstFirst = (runs: readonly Run[]): Run[] => [...runs].sort((a, b) => wrongness(b) - wrongness(a) || a.index - b.index);

// Chosen: models nearer than this are of the same size; another vocabulary makes as much of a difference.
const SAME_SIZE = 0.01;

// In what a run differs.
export const differences = (alike: Alike, run: Run): (Size | Kind)[] => [
    ...SIZES.filter((size) => Math.abs(run[size] / alike[size] - 1) > (size === 'parameters' ? SAME_SIZE : 0)),
    ...KINDS.filter((kind) => run[kind] !== alike[kind]),
];
