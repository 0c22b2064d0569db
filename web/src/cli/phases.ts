// A run in phases: the plan of each, the days as they come.
import type { PhasedRun, Refusal } from '../core/api';
import { parsePhases } from '../phases/link';
import { cellsOf, headCells, lossText, sumText } from '../phases/said';
import { say } from '../words/words';
import { type Asked, complained, DOES_NOT_FIT, type Done, FITS, refused } from './asked';
import { table } from './table';

export function phases({ core, catalog, request, own }: Asked): Done {
    const phased = parsePhases(own.phases ?? null);
    if (!phased) return complained(say('cli.problem', { option: '--phases', text: say('cli.option.phases') }));
    const { rows, ...rest } = phased;
    const answer = core.phases(JSON.stringify({ ...request, ...rest, phases: rows }));
    const run = JSON.parse(answer) as PhasedRun | Refusal;
    if (!run.ok) return refused(answer);
    const fits = run.phases.every((one) => one.class === 'fits');
    const numbers = [0, 2, 3, 4];
    const text = [sumText(run), lossText(run), '', table([headCells(), ...cellsOf(run, catalog)], numbers)].join('\n');
    return { status: fits ? FITS : DOES_NOT_FIT, answer, text, notes: [] };
}
