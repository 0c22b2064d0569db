// The questions the other way round: the fewest GPUs, the longest sequence, the largest batch and model.
import type { Brief, Catalog, InTime, Largest, Limits, LimitsRequest, Refusal, WholePlan } from '../core/api';
import { format } from '../format/format';
import { moneyOf } from '../shared/answer-words';
import { wholePlan } from '../shared/plan-words';
import { say, sentences, tell } from '../words/words';
import { type Asked, DOES_NOT_FIT, type Done, FITS, refused } from './asked';
import { numberOf } from './own';

const INDENT = '  ';

const planText = (catalog: Catalog, plan: WholePlan, brief: Brief): string =>
    INDENT +
    say('limits.plan', { plan: wholePlan(catalog, plan, plan.data_parallel), memory: brief.whole_bytes, time: brief.step_seconds });
const gpusText = (count: number): string => say('limits.gpus', { count });

function fewest({ fewest_gpus: found, searched }: Limits, catalog: Catalog): string[] {
    if (!found) return [say('limits.fewest_none', { most: searched.to_gpus })];
    return [say('limits.fewest', { gpus: gpusText(found.gpus) }), planText(catalog, found.plan, found)];
}

function atLeast({ gpus, safe_gpus: safe }: InTime): string {
    const least = gpusText(gpus);
    if (safe === null) return say('limits.at_least_unsafe', { gpus: least });
    return safe === gpus ? say('limits.at_least', { gpus: least }) : say('limits.at_least_safe', { gpus: least, safe: gpusText(safe) });
}

function inTime({ fewest_in_time: found, days, searched, job }: Limits, catalog: Catalog): string[] {
    if (days === 0) return [];
    const budget = job.token_budget;
    const tokens = typeof budget === 'number' ? format.short(budget) : 'auto';
    const answer = found ? atLeast(found) : say('limits.in_time_none', { most: searched.to_gpus });
    const finding = say('cli.in_time', { tokens, days, answer });
    if (!found) return [finding];
    const [time, low, high] = format.training(found.days, found.low_days, found.high_days);
    const run = { days: time, low, high, hours: format.rounded(found.gpu_hours) };
    const takes = found.cost === null ? say('limits.run', run) : say('limits.run_cost', { ...run, cost: moneyOf(job, found.cost) });
    return [finding, INDENT + takes, planText(catalog, found.plan, found)];
}

// `none`: nothing fits; `endless`: said where the end of the field is no answer worth taking.
const largest = (catalog: Catalog, found: Largest | null, text: (answer: Largest) => string, none: string, endless?: string): string[] => {
    if (!found) return [none];
    if (endless && found.limited_by === 'range') return [endless];
    return [text(found), planText(catalog, found.plan, found), ...found.notes.map((note) => INDENT + tell(note))];
};

function linesOf(answer: Limits, catalog: Catalog): string[] {
    const [gpus, count] = [Number(answer.job.gpus), answer.models.length];
    const sequences = (value: number): string => say('limits.sequences', { count: value });
    const model = answer.models.find(({ fits }) => fits);
    return [
        ...fewest(answer, catalog),
        ...inTime(answer, catalog),
        ...largest(
            catalog,
            answer.largest_sequence,
            ({ value, limited_by }) =>
                say('limits.sequence', { gpus, answer: say('limits.sequence_value', { tokens: value, more: limited_by === 'range' }) }),
            say('limits.sequence_none', { gpus }),
        ),
        ...largest(
            catalog,
            answer.largest_micro_batch,
            ({ value }) => say('limits.micro_batch', { answer: sequences(value) }),
            say('limits.micro_batch_none', { gpus }),
        ),
        ...largest(
            catalog,
            answer.largest_batch,
            ({ value }) => say('limits.batch', { answer: sequences(value) }),
            say('limits.batch_none', { gpus }),
            say('limits.batch_endless'),
        ),
        model ? say('limits.model', { gpus, count, answer: model.label }) : say('limits.model_none', { gpus, count }),
        sentences(...answer.searched.notes.map(tell)),
    ].filter(Boolean);
}

export function limits({ core, catalog, request, own }: Asked): Done {
    const days = own.days === undefined ? {} : ({ days: numberOf(own.days, 'days') } as Pick<LimitsRequest, 'days'>);
    const text = core.limits(JSON.stringify({ ...request, ...days }));
    const answer = JSON.parse(text) as Limits | Refusal;
    if (!answer.ok) return refused(text);
    return { status: answer.fewest_gpus ? FITS : DOES_NOT_FIT, answer: text, text: linesOf(answer, catalog).join('\n'), notes: [] };
}
