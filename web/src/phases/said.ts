// A run in phases in words, for the page and the command line.
import type { Catalog, Phase, PhasedRun } from '../core/api';
import { format } from '../format/format';
import { moneyOf } from '../shared/answer-words';
import { wholePlan } from '../shared/plan-words';
import { say, sentences } from '../words/words';
import type { Row } from './link';

export const daysOf = (days: number): string => format.training(days, days, days)[0];

export function sumText({ phases, total }: PhasedRun): string {
    const unfit = phases.flatMap((one, i) => (one.class === 'does_not_fit' ? [format.count(i + 1)] : []));
    return sentences(
        unfit.length > 0 && say('phases.unfit', { count: unfit.length, phases: unfit }),
        say('phases.sum', { computing: daysOf(total.computing_days), usual: daysOf(total.days) }),
    );
}

function keptText({ kept, keeps_degrees }: PhasedRun): string {
    if (!kept) return say('phases.none_kept');
    const state = kept.more_days <= 0 ? 'free' : keeps_degrees ? 'on' : 'off';
    return say('phases.kept', { tp: kept.tensor_parallel, pp: kept.pipeline_parallel, time: daysOf(kept.more_days), state });
}

export function lossText(answer: PhasedRun): string {
    const { job, phases, total } = answer;
    const several = phases.length > 1;
    return sentences(
        several && say('phases.changes', { changes: daysOf(total.change_days) }),
        say('phases.lost', { failures: daysOf(total.failure_days) }),
        total.cost !== null && say(job.price_per_gpu_hour === 'auto' ? 'step.cost' : 'step.cost_own', { cost: moneyOf(job, total.cost) }),
        total.energy_kwh !== null && say('step.energy', { energy: format.energy(total.energy_kwh) }),
        several && keptText(answer),
    );
}

// Where a step was asked for that is none of whole sequences.
export const roundedText = ({ phases }: PhasedRun, rows: readonly Row[]): string[] =>
    phases.flatMap(({ sequence_length: length, global_batch: batch }, i) =>
        rows[i]?.tokens_per_step === length * batch ? [] : [say('phases.rounded', { phase: i + 1, tokens: length * batch })],
    );

// Of the whole card, as the answer above says it.
const shareOf = ({ share, total_bytes, whole_bytes }: Phase): number => (share * whole_bytes) / total_bytes;

export const headCells = (): string[] => (['phase', 'plan', 'step', 'days', 'usual', 'memory'] as const).map((key) => say(`phases.${key}`));

// A row of the table, below headCells().
export const cellsOf = (answer: PhasedRun, catalog: Catalog): string[][] =>
    answer.phases.map((one, i) => [
        String(i + 1),
        wholePlan(catalog, one.plan, one.plan.data_parallel),
        say('phases.step_time', { time: one.step_seconds }),
        daysOf(one.run.days),
        daysOf(one.days),
        say('phases.share', { share: shareOf(one), fits: one.class, decides: i === answer.fullest ? 'yes' : 'no' }),
    ]);
