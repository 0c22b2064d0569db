// What measured runs say of the estimates: tests/evidence/table.json, the same file that README.md is written from. Nothing here
// calculates an estimate; rows are chosen, put in order and summed up.
import data from '../../../tests/evidence/table.json';

export type Standing = 'fit' | 'seen' | 'blind';
export const STANDINGS: readonly Standing[] = ['blind', 'seen', 'fit'];

export interface Source {
    source: string; // its title
    url: string;
    stack: string;
    standing: Standing;
    rows: number;
}
interface TimeErrors {
    source: string;
    standing?: Standing; // of the family; left out: as its source
    rows: number;
    mean: number; // of |measured / estimated - 1|
    median: number;
    most: number;
    inside_band: number; // part of the rows
    jobs?: number; // in which plans were compared; left out with what follows: none
    regret?: number;
    rule_regret?: number;
}
interface FitErrors {
    standing?: Standing; // as above
    ran: number;
    failed: number;
    area: number;
    fits: number;
    fits_ran: number;
    does_not_fit: number;
    does_not_fit_ran: number;
}
interface MemoryErrors {
    source?: string;
    standing?: Standing;
    rows: number;
    mean: number;
    most: number;
}
export interface EvidenceTable {
    sources: { readonly [name: string]: Source };
    time: { readonly [family: string]: TimeErrors };
    verdict: { readonly [name: string]: FitErrors };
    memory?: { readonly [family: string]: MemoryErrors };
}
export const table = data as unknown as EvidenceTable;

// A row as it is shown; null: there is nothing to tell, which is not zero.
interface Row {
    id: string;
    from: Source | undefined;
}
export interface TimeRow extends Row {
    rows: number;
    mean: number;
    median: number;
    most: number;
    inside: number;
    regret: number | null;
    ruleRegret: number | null;
}
export interface FitRow extends Row {
    part: boolean; // one family of several of its source
    ran: number;
    failed: number;
    area: number | null;
    fits: [ran: number, said: number] | null;
    doesNotFit: [ran: number, said: number] | null;
}
export interface MemoryRow extends Row {
    rows: number;
    mean: number;
    most: number;
}

export interface Filter {
    stack: string; // '': all
    standing: Standing | '';
}

export const stacksOf = ({ sources }: EvidenceTable): string[] => [...new Set(Object.values(sources).map(({ stack }) => stack))].sort();

export const isShown =
    ({ stack, standing }: Filter) =>
    ({ from }: Row): boolean =>
        (stack === '' || from?.stack === stack) && (standing === '' || from?.standing === standing);

// A family's source by its own name, or by that of the family.
const sourceOf = ({ sources, time }: EvidenceTable, name: string): Source | undefined => sources[name] ?? sources[time[name]?.source ?? ''];

const standingAs = (source: Source | undefined, standing: Standing | undefined): Source | undefined =>
    source && standing ? { ...source, standing } : source;

export const timeRows = (all: EvidenceTable): TimeRow[] =>
    Object.entries(all.time)
        .map(([id, { source, standing, inside_band, regret, rule_regret, ...told }]) => ({
            ...told,
            id,
            from: standingAs(all.sources[source], standing),
            inside: inside_band,
            regret: regret ?? null,
            ruleRegret: rule_regret ?? null,
        }))
        .sort((a, b) => b.mean - a.mean);

// Part of the sayings that turned out wrong.
const wrongs = ({ fits, fits_ran, does_not_fit, does_not_fit_ran }: FitErrors): number =>
    (fits - fits_ran + does_not_fit_ran) / Math.max(1, fits + does_not_fit);

export const fitRows = (all: EvidenceTable): FitRow[] =>
    Object.entries(all.verdict)
        .sort(([, a], [, b]) => wrongs(b) - wrongs(a) || b.failed - a.failed || b.ran - a.ran)
        .map(([id, one]) => ({
            id,
            from: standingAs(sourceOf(all, id), one.standing),
            part: !(id in all.sources),
            ran: one.ran,
            failed: one.failed,
            area: one.failed > 0 && one.ran > 0 ? one.area : null,
            fits: one.fits > 0 ? [one.fits_ran, one.fits] : null,
            doesNotFit: one.does_not_fit > 0 ? [one.does_not_fit_ran, one.does_not_fit] : null,
        }));

export const memoryRows = (all: EvidenceTable): MemoryRow[] =>
    Object.entries(all.memory ?? {})
        .map(([id, { source, standing, rows, mean, most }]) => ({
            id,
            from: standingAs(sourceOf(all, source ?? id), standing),
            rows,
            mean,
            most,
        }))
        .sort((a, b) => b.mean - a.mean);

export interface Summary {
    families: number;
    runs: number;
    middle: number; // mean error of the middle family
    worst: TimeRow | undefined;
    inside: number; // of all runs
    known: number; // runs that are known to have fitted, or not
    fits: number;
    fitsRan: number;
    doesNotFit: number;
    doesNotFitRan: number;
    blind: number; // families
    fitted: number;
}

function middleOf(values: readonly number[]): number {
    const sorted = [...values].sort((a, b) => a - b);
    const half = sorted.length >> 1;
    return sorted.length % 2 === 1 ? (sorted[half] ?? 0) : ((sorted[half - 1] ?? 0) + (sorted[half] ?? 0)) / 2;
}

// What somebody takes from the tables who reads one sentence of them.
export function summaryOf(all: EvidenceTable): Summary {
    const rows = timeRows(all);
    const verdicts = Object.values(all.verdict);
    const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
    const runs = sum(rows.map((row) => row.rows));
    const standing = (wanted: Standing): number => rows.filter(({ from }) => from?.standing === wanted).length;
    return {
        families: rows.length,
        runs,
        middle: middleOf(rows.map(({ mean }) => mean)),
        worst: rows[0],
        inside: sum(rows.map((row) => row.inside * row.rows)) / Math.max(1, runs),
        known: sum(verdicts.map(({ ran, failed }) => ran + failed)),
        fits: sum(verdicts.map(({ fits }) => fits)),
        fitsRan: sum(verdicts.map(({ fits_ran }) => fits_ran)),
        doesNotFit: sum(verdicts.map(({ does_not_fit }) => does_not_fit)),
        doesNotFitRan: sum(verdicts.map(({ does_not_fit_ran }) => does_not_fit_ran)),
        blind: standing('blind'),
        fitted: standing('fit'),
    };
}
