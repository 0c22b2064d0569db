// Nodes (or GPUs) that differ from the others: what the reader typed of them, what the core is asked, and where they end up.
import type { Placed, Problem } from '../core/api';
import type { UnitSaid } from '../core/types';
import { format } from '../format/format';

// A row of the table, as typed. Empty speed and memory: as the others.
export interface UnitRow {
    id: number;
    name: string;
    speed: string; // % of the profile's GPU
    memory: string; // GB of each GPU
}

const freshId = (rows: readonly UnitRow[]): number => Math.max(0, ...rows.map(({ id }) => id)) + 1;

export const blankRow = (rows: readonly UnitRow[]): UnitRow => ({ id: freshId(rows), name: '', speed: '', memory: '' });

// The rows in which something stands: "units" of a request has one entry for each of them, in their order.
export const filledRows = (rows: readonly UnitRow[]): UnitRow[] =>
    rows.filter(({ name, speed, memory }) => [name, speed, memory].some((text) => text.trim() !== ''));

// "50", "50 %": 0.5. What is no number stays the text that it is.
export function shareIn(text: string): number | string {
    const percent = format.read(text.replace(/\s*[%％]\s*$/, ''));
    return typeof percent === 'number' ? percent / 100 : percent;
}

export const unitsOf = (rows: readonly UnitRow[]): UnitSaid[] =>
    filledRows(rows).map(({ name, speed, memory }) => ({
        name: name.trim(),
        ...(speed.trim() !== '' && { speed: shareIn(speed) }),
        ...(memory.trim() !== '' && { memory_gib: format.read(memory, { unit: 'gib' }) }),
    }));

// Lines "name speed memory", parted by tabs, semicolons, blanks or commas. null: one name, to be taken as it is.
export function pastedRows(text: string): Omit<UnitRow, 'id'>[] | null {
    const lines = text
        .replace(/(\d) *(?:%|Gi?B\b)/g, '$1')
        .split(/\r?\n/)
        .filter((line) => line.trim() !== '');
    const cells = lines.map((line) =>
        (/[\t;]/.test(line) ? line.split(/[\t;]/) : line.trim().split(/\s/.test(line.trim()) ? /,?\s+/ : /,/)).map((cell) => cell.trim()),
    );
    const many =
        cells.length > 1 || cells.some(([, ...numbers]) => numbers.length > 0 && numbers.every((cell) => /^-?[\d.,]*$/.test(cell)));
    return many ? cells.map(([name = '', speed = '', memory = '']) => ({ name, speed, memory })) : null;
}

// A row takes the first of several pasted lines, new rows below it the others.
export function withPasted(rows: readonly UnitRow[], id: number, pasted: readonly Omit<UnitRow, 'id'>[]): UnitRow[] {
    const fresh = freshId(rows);
    return rows.flatMap((row) => (row.id === id ? pasted.map((cells, i) => ({ ...cells, id: i === 0 ? id : fresh + i - 1 })) : [row]));
}

// Which row a problem belongs to, and which of its cells: "units[2].memory_gib".
const FIELD = /^units\[(\d+)\](?:\.(\w+))?$/;
export type Cell = 'name' | 'speed' | 'memory';
const CELLS: Readonly<Record<string, Cell>> = { name: 'name', speed: 'speed', memory_gib: 'memory' };

export interface RowProblem {
    cell: Cell;
    problem: Problem;
}

export const isOfRow = ({ field }: Problem): boolean => FIELD.test(field);

// By the id of the row. A row that was changed since it was asked about has none until it is asked about again.
export function problemsByRow(problems: readonly Problem[], asked: readonly UnitRow[], now: readonly UnitRow[]): Map<number, RowProblem[]> {
    const found = new Map<number, RowProblem[]>();
    for (const problem of problems) {
        const [, index, key = ''] = FIELD.exec(problem.field) ?? [];
        const row = index === undefined ? undefined : asked[Number(index)];
        if (row && now.includes(row)) found.set(row.id, [...(found.get(row.id) ?? []), { cell: CELLS[key] ?? 'name', problem }]);
    }
    return found;
}

// ---- in the result
export interface Difference {
    speed: number | null; // null: as the others
    memory_gib: number | null;
}

// By unit, of an answer that was given: names and numbers are right there.
export function differencesOf(units: readonly UnitSaid[], names: readonly string[]): Map<number, Difference> {
    const index = new Map(names.map((name, i) => [name, i]));
    const found = new Map<number, Difference>();
    for (const { name, speed = 1, memory_gib = null } of units) {
        const unit = index.get(name);
        const one = { speed: speed === 1 ? null : Number(speed), memory_gib: memory_gib === null ? null : Number(memory_gib) };
        if (unit !== undefined && (one.speed !== null || one.memory_gib !== null)) found.set(unit, one);
    }
    return found;
}

// The stages that a unit works on; null: it is left out.
export const stagesOf = ({ positions }: Placed, unit: number): [first: number, last: number] | null =>
    positions.find((one) => one.unit === unit)?.stages ?? null;
