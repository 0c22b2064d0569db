// The search's columns, made ready to be shown: which entries belong to which row, and which rows hold a plan that fits. Runs in the
// search's worker, so that the page itself never walks through more rows than are on the screen.
import type { Degree, SearchColumns, SearchSummary } from './api';

export interface Heat {
    summary: SearchSummary;
    columns: SearchColumns;
    first: Int32Array; // entries of row r: first[r] up to first[r + 1]
    fitting: Int32Array; // the rows with at least one plan that fits
    quickest: number; // tokens per second and GPU, of what fits
    choices: Record<Degree, number[]>; // every value of each degree among all legal plans, filtered or not
}

export type HeatFilter = Readonly<Partial<Record<Degree, number>>>;

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

export function quickestOf(columns: SearchColumns): number {
    let most = 0;
    columns.tokens_per_s_per_gpu.forEach((speed, i) => {
        if (columns.class[i] === FITS) most = Math.max(most, speed);
    });
    return most;
}

// Five shades of speed, as shares of the quickest that fits: the first step that a plan reaches.
export const PACES = [0.95, 0.85, 0.7, 0.5, 0] as const;
export const paceOf = (speed: number, quickest: number): number => PACES.findIndex((share) => speed >= share * quickest);
