// The answer in words, for the headline, the title and for sharing.
import type { Degree, Estimate, Field, Group, Json, Problem, Rate, Run } from './api';
import { format, sumOf } from './format';
import { t } from './i18n';
import { CUSTOM_MODEL, configOf, DEGREES } from './state';
import type { Page } from './store';

export const sizesOf = (bytes: number, share: number, { card_bytes, gpu }: Estimate): [used: string, card: string, percent: string] => [
    format.headline(bytes, card_bytes),
    format.nominal(gpu.memory_gib),
    format.percent(share),
];
export const sizes = (answer: Estimate) => sizesOf(answer.total_bytes, answer.share, answer);

const WIDE = 1.35; // times the estimate: from here on a band is told by its ends, which lie unevenly about it

// How long a step takes and, when the reader has said how much to train, the whole run with what it costs.
export function timeOf({ time, class: fit, job }: Estimate): string {
    const { step_seconds: seconds, low_seconds: low, high_seconds: high, run } = time;
    const takes = fit === 'does_not_fit' ? t.time.wouldTake : t.time.takes;
    const wide = high > WIDE * seconds;
    const band = wide ? t.time.range(format.duration(low), format.duration(high)) : t.time.margin(format.margin(seconds, low, high));
    const step = takes(format.duration(seconds), format.rounded(time.tokens_per_s), band);
    if (!run) return step;
    return `${step} ${t.time.run(format.short(Number(job.token_budget)).replace(' ', '\u00a0'), ...format.training(run.days, run.low_days, run.high_days))}${costOf(run)}`;
}

function costOf({ cost, energy_kwh }: Run): string {
    const parts = [
        ...(cost === null ? [] : [t.time.cost(format.rounded(cost))]),
        ...(energy_kwh === null ? [] : [t.time.energy(format.energy(energy_kwh))]),
    ];
    return parts.length > 0 ? ` ${parts.join(' ')}` : '';
}

// TFLOP/s and MFU by the convention that the reader has chosen.
export const rateOf = ({ time }: Estimate, page: Page): Rate => time.rates.find(({ id }) => id === page.rate) ?? (time.rates[0] as Rate);

// What lies between the allocator and the whole card, as one more part. It belongs to the fullest stage alone.
export function outsideOf({ outside, stage, worst_stage }: Estimate): Group | null {
    if (outside.length === 0 || stage !== worst_stage) return null;
    return { id: 'outside', label: t.outside.label, summary: t.outside.summary, items: outside, ...sumOf(outside) };
}

const runOf = (answer: Estimate): string =>
    t.answer.run(
        answer.model.label,
        format.count(Number(answer.job.gpus)),
        answer.gpu.label,
        format.count(Number(answer.job.sequence_length)),
    );

const askedRun = (page: Page): string =>
    t.answer.run(modelLabel(page), format.count(Number(page.job.gpus)), gpuLabel(page), format.count(Number(page.job.sequence_length)));

// Stands alone: in the title bar, in a message to a colleague.
export function summaryOf(page: Page): string {
    const { answer, problems } = page;
    const [problem] = problems;
    if (problem)
        return isReading(problem) ? `${verdictOf(problem)} ${problem.message}` : t.answer.cannotSentence(askedRun(page), problem.message);
    if (!answer) return t.name;
    return t.answer.sentence(runOf(answer), answer.class, t.answer.numbers(...sizes(answer)));
}

// Broken rules make a plan impossible; everything else only means that the request could not be read.
const READING = new Set(['syntax', 'type', 'range', 'missing', 'unknown', 'unsupported', 'version', 'too_large']);
export const isReading = (problem: Problem): boolean => READING.has(problem.rule);
export const verdictOf = (problem: Problem): string => (isReading(problem) ? t.verdict.unreadable : t.verdict.cannot);

export function labelOf(fields: Field[], key: string): string {
    const own: Record<string, string> = { model: t.form.model, gpu: t.form.gpu, cluster: t.adjust.cluster, method: t.method.title };
    return own[key] ?? fields.find((field) => field.key === key)?.label ?? key;
}

// "tensor 2 · pipeline 1 · …" from any object that has the four degrees, with the derived one where it is known.
export function degreeList(plan: { [key in Degree | 'expert_parallel']?: Json }, data?: number): string {
    const parts = DEGREES.map((key) => `${t.short[key]} ${format.count(Number(plan[key]))}`);
    if (data !== undefined) parts.splice(-1, 0, `${t.short.data_parallel} ${format.count(data)}`);
    const experts = Number(plan.expert_parallel ?? 1);
    if (experts > 1) parts.push(`${t.short.expert_parallel} ${format.count(experts)}`);
    return parts.join(' · ');
}

// The model's name as the form shows it, known before any answer.
export function modelLabel({ catalog, job }: Page): string {
    if (job.model === CUSTOM_MODEL) return String(configOf(job)?._name_or_path ?? t.form.ownModel);
    return catalog.models.find((model) => model.id === job.model)?.label ?? String(job.model);
}

export const gpuLabel = ({ catalog, job }: Page): string => catalog.gpus.find((gpu) => gpu.id === job.gpu)?.label ?? String(job.gpu);
