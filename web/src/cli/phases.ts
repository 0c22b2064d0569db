// A run in phases: the plan of each, the days as they come.
import type { PhasedRun, Refusal } from '../core/api';
import { COLUMNS, LIKE, parsePhases, type Row, unknownOptions } from '../phases/link';
import { cellsOf, headCells, lossText, roundedText, sumText } from '../phases/said';
import { say, tell } from '../words/words';
import { type Asked, complained, DOES_NOT_FIT, type Done, FITS, refused } from './asked';
import { withOptions } from './job';
import { table } from './table';

// A phase as people write it, 15T, 8k, 16M, 2048 nodes. What is no number stays a text: the core says what is wrong with it.
function numbersOf(row: Row, { request, catalog, core }: Asked): Row {
    const read = (key: keyof Row): Row[keyof Row] => {
        const text = row[key];
        if (typeof text !== 'string') return text;
        const value = withOptions(request, [{ option: '--phases', key: LIKE[key], text }], catalog, core)[LIKE[key]];
        return typeof value === 'number' ? value : text;
    };
    return Object.fromEntries(COLUMNS.map((key) => [key, read(key)])) as Row;
}

export function phases(asked: Asked): Done {
    const { core, catalog, request, own } = asked;
    const phased = parsePhases(own.phases ?? null);
    if (!phased) return complained(say('cli.problem', { option: '--phases', text: say('cli.option.phases') }));
    const [unknown] = unknownOptions(own.phases);
    if (unknown !== undefined) {
        const text = tell({ id: 'problem.unknown_field', args: { key: unknown } });
        return complained(say('cli.problem', { option: '--phases', text }));
    }
    const rows = phased.rows.map((row) => numbersOf(row, asked));
    const answer = core.phases(JSON.stringify({ ...request, ...phased, rows: undefined, phases: rows }));
    const run = JSON.parse(answer) as PhasedRun | Refusal;
    if (!run.ok) return refused(answer);
    const fits = run.phases.every((one) => one.class === 'fits');
    const numbers = [0, 2, 3, 4];
    const text = [sumText(run), lossText(run), '', table([headCells(), ...cellsOf(run, catalog)], numbers)].join('\n');
    return { status: fits ? FITS : DOES_NOT_FIT, answer, text, notes: roundedText(run, rows) };
}
