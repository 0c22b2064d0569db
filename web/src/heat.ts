// The search's columns, made ready to be shown: which entries belong to which row, and which rows hold a plan that fits. Runs in the
// search's worker, so that the page itself never walks through more rows than are on the screen.
import type { Degree, Json, SearchColumns, SearchSummary } from './api';

export interface Heat {
    summary: SearchSummary;
    columns: SearchColumns;
    first: Int32Array; // entries of row r: first[r] up to first[r + 1]
    fitting: Int32Array; // the rows with at least one plan that fits
    speed: Float64Array; // of every entry, in tokens per second
    speedPerGpu: Float64Array;
    leads: Lead[];
    sizes: Size[];
    choices: Record<Degree, number[]>; // every value of each degree among all legal plans, filtered or not
}

// How far the fastest plan is ahead of the second on one number of GPUs.
export interface Lead {
    gpus: number;
    seconds: number;
    bytes: number; // that it needs more than the second
}

// The fastest plan on one number of GPUs; no entry where nothing fits.
export interface Size {
    gpus: number;
    entry: number;
    efficiency: number; // speed per GPU, relative to the smallest number on which a plan fits
    run: { days: number; gpu_hours: number; cost: number | null } | null;
}

export type HeatFilter = Partial<Record<Degree, number>>;

const FITS = 0;

export function indexRows(columns: SearchColumns): { first: Int32Array; fitting: Int32Array } {
    const rows = columns.row.length === 0 ? 0 : (columns.row[columns.row.length - 1] ?? 0) + 1;
    const first = new Int32Array(rows + 1).fill(columns.row.length);
    const fits = new Uint8Array(rows);
    for (let i = columns.row.length - 1; i >= 0; i--) {
        const row = columns.row[i] ?? 0;
        first[row] = i;
        if (columns.class[i] === FITS) fits[row] = 1;
    }
    const fitting: number[] = [];
    for (let row = 0; row < rows; row++) if (fits[row]) fitting.push(row);
    return { first, fitting: Int32Array.from(fitting) };
}

const distinct = (values: Int32Array): number[] => [...new Set(values)].sort((a, b) => a - b);

export function choicesOf(columns: SearchColumns): Record<Degree, number[]> {
    return {
        tensor_parallel: distinct(columns.tensor_parallel),
        context_parallel: distinct(columns.context_parallel),
        pipeline_parallel: distinct(columns.pipeline_parallel),
        micro_batch: distinct(columns.micro_batch),
    };
}

// The entry of a row for one number of GPUs; -1 when no such plan is legal.
export function entryAt(heat: Heat, row: number, gpus: number): number {
    const end = heat.first[row + 1] ?? 0;
    for (let i = heat.first[row] ?? 0; i < end; i++) if (heat.columns.gpus[i] === gpus) return i;
    return -1;
}

const tokensPerStep = (job: { [key: string]: Json }): number => Number(job.global_batch) * Number(job.sequence_length);

export function speedsOf({ job }: SearchSummary, columns: SearchColumns): { speed: Float64Array; speedPerGpu: Float64Array } {
    const tokens = tokensPerStep(job);
    const speed = columns.step_seconds.map((seconds) => tokens / seconds);
    return { speed, speedPerGpu: speed.map((value, i) => value / (columns.gpus[i] ?? 1)) };
}

export function leadsOf({ ranking }: SearchSummary, { step_seconds, total_bytes }: SearchColumns): Lead[] {
    return ranking.flatMap(({ gpus, fastest: [first, second] }) => {
        if (first === undefined || second === undefined) return [];
        const more = (values: Float64Array, a: number, b: number): number => (values[a] ?? 0) - (values[b] ?? 0);
        return [{ gpus, seconds: more(step_seconds, second, first), bytes: more(total_bytes, first, second) }];
    });
}

const HOURS_PER_DAY = 24;
const SECONDS_PER_DAY = 86_400;

// As the core's describe_run counts it: whole steps.
function runOf(job: { [key: string]: Json }, seconds: number, gpus: number): Size['run'] {
    const [budget, price] = [Number(job.token_budget ?? 0), Number(job.price_per_gpu_hour ?? 0)];
    if (budget <= 0) return null;
    const days = (Math.ceil(budget / tokensPerStep(job)) * seconds) / SECONDS_PER_DAY;
    const gpu_hours = days * HOURS_PER_DAY * gpus;
    return { days, gpu_hours, cost: price > 0 ? gpu_hours * price : null };
}

export function sizesOf({ job, ranking }: SearchSummary, columns: SearchColumns): Size[] {
    const { speedPerGpu } = speedsOf({ job } as SearchSummary, columns);
    const base = ranking.find(({ fastest }) => fastest.length > 0)?.fastest[0] ?? 0;
    return ranking.map(({ gpus, fastest: [entry = -1] }) => ({
        gpus,
        entry,
        efficiency: entry < 0 ? 0 : (speedPerGpu[entry] ?? 0) / (speedPerGpu[base] ?? 1),
        run: entry < 0 ? null : runOf(job, columns.step_seconds[entry] ?? 0, gpus),
    }));
}
