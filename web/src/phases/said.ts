// A run in phases in words, for the page and the command line.
import type { Catalog, PhasedRun } from '../core/api';
import { format } from '../format/format';
import { wholePlan } from '../shared/plan-words';
import { say, sentences } from '../words/words';

export const daysOf = (days: number): string => format.training(days, days, days)[0];

export const sumText = ({ total }: PhasedRun): string =>
    say('phases.sum', { computing: daysOf(total.computing_days), usual: daysOf(total.days) });

export function lossText({ total, kept, keeps_degrees }: PhasedRun): string {
    const degrees = kept && { tp: kept.tensor_parallel, pp: kept.pipeline_parallel, time: daysOf(Math.max(0, kept.more_days)) };
    return sentences(
        say('phases.lost', { changes: daysOf(total.change_days), failures: daysOf(total.failure_days) }),
        total.cost === null ? '' : say('phases.cost', { cost: format.dollars(total.cost) }),
        total.energy_kwh === null ? '' : say('phases.energy', { energy: format.energy(total.energy_kwh) }),
        degrees ? say('phases.kept', { ...degrees, state: keeps_degrees ? 'on' : 'off' }) : say('phases.none_kept'),
    );
}

export const headCells = (): string[] => (['phase', 'plan', 'step', 'days', 'usual', 'memory'] as const).map((key) => say(`phases.${key}`));

// A row of the table, below headCells().
export const cellsOf = (answer: PhasedRun, catalog: Catalog): string[][] =>
    answer.phases.map((one, i) => [
        String(i + 1),
        wholePlan(catalog, one.plan, one.plan.data_parallel),
        say('phases.step_time', { time: one.step_seconds }),
        daysOf(one.run.days),
        daysOf(one.days),
        say('phases.share', { share: one.share, fits: one.class, decides: i === answer.fullest ? 'yes' : 'no' }),
    ]);
