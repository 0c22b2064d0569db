// The runs of a calibration as rows of a table.
import type { Calibration, CalibrationRow, Catalog } from '../core/api';
import { entriesOf } from '../core/keys';
import { format } from '../format/format';
import { bytes } from '../format/in-words';
import { choiceLabel, labelOf } from '../shared/names';
import { degreeList } from '../shared/plan-words';
import { listed, say, tell } from '../words/words';
import { off } from './off';

type Numbers = 'step_seconds' | 'ratio' | 'after_seconds' | 'after_ratio';
type TimedRow = Omit<CalibrationRow, Numbers> & Record<Numbers, number>;
const isTimed = (row: CalibrationRow): row is TimedRow => row.step_seconds !== null;
export const timedRows = ({ rows }: Calibration): TimedRow[] => rows.filter(isTimed);

const nameOfRow = ({ name, plan, outlier }: CalibrationRow): string =>
    say(outlier ? 'calibrate.row_outlier' : 'calibrate.row', { name: tell(name), gpus: plan.gpus, plan: degreeList(plan) });

// What the search chose for a run: every number, and what else is not the plainest.
function filledText(catalog: Catalog, { filled }: CalibrationRow): string {
    const { fields } = catalog;
    const plainest = new Map(fields.map((field) => [field.key, field.default_1 ?? field.default]));
    return listed(
        entriesOf(filled).map(
            ([key, value]) =>
                (typeof value === 'number' ? value !== 1 || key.endsWith('_parallel') : value !== plainest.get(key)) &&
                say('plan.set', {
                    label: labelOf(fields, key),
                    value: typeof value === 'string' ? choiceLabel(catalog, key, value) : String(value),
                }),
        ),
    );
}

const NONE = '–';
const timeCells = (row: CalibrationRow): string[] =>
    isTimed(row)
        ? [
              format.duration(row.step_seconds),
              format.duration(row.estimated_seconds),
              off(row.ratio),
              format.duration(row.after_seconds),
              off(row.after_ratio),
          ]
        : [NONE, format.duration(row.estimated_seconds), NONE, NONE, NONE];
const memoryCells = ({ memory }: CalibrationRow): string[] =>
    memory ? [bytes(memory.bytes), bytes(memory.estimated_bytes), off(memory.ratio), off(memory.after_ratio)] : [NONE, NONE, NONE, NONE];

export function asRows(catalog: Catalog, { rows }: Calibration): string[][] {
    const memory = rows.some((row) => row.memory !== null);
    const filled = rows.some((row) => Object.keys(row.filled).length > 0);
    const head = [
        say('calibrate.run'),
        say('calibrate.measured'),
        say('calibrate.estimated'),
        say('calibrate.error'),
        say('calibrate.after'),
        say('calibrate.after_error'),
        ...(memory
            ? [
                  say('calibrate.memory_measured'),
                  say('calibrate.memory_estimated'),
                  say('calibrate.memory_error'),
                  say('calibrate.memory_after_error'),
              ]
            : []),
        ...(filled ? [say('calibrate.filled')] : []),
    ];
    return [
        head,
        ...rows.map((row) => [
            nameOfRow(row),
            ...timeCells(row),
            ...(memory ? memoryCells(row) : []),
            ...(filled ? [filledText(catalog, row)] : []),
        ]),
    ];
}

// A table as Markdown has it, with tabs; any other text as it is.
export function withTabs(text: string): string {
    const lines = text.trim().split(/\r?\n/);
    const inside = lines.flatMap((line) => /^\s*\|(.*)\|\s*$/.exec(line)?.[1] ?? []);
    if (inside.length < lines.length) return text;
    const rows = inside.filter((line) => !/^[\s|:-]+$/.test(line)); // without the rule below the header
    return rows
        .map(
            (line) =>
                `${line
                    .split('|')
                    .map((cell) => cell.trim())
                    .join('\t')}\n`,
        )
        .join('');
}
