// The answer in words, for the headline, the title and for sharing.
import type { Catalog, Degree, Estimate, Field, Group, Json, Problem, RankedKey, Rate, Run } from '../core/api';
import { format, sumOf } from '../format/format';
import { t } from '../i18n';
import { layerRuns, parseLayout } from '../state/layout';
import { CUSTOM_MODEL, configOf, DEGREES, LEAVE_OUT } from '../state/state';
import type { Page } from '../store/page';

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

// In the middle of a sentence.
export const lower = (label: string): string => (/^[A-Z][a-z]/.test(label) ? label.charAt(0).toLowerCase() + label.slice(1) : label);

// Below the width in which the estimate cannot tell two plans apart, a difference is none.
export const stepChange = (seconds: number, than: number, width: number): string =>
    Math.abs(seconds - than) <= width * than ? t.tie.equal : t.time.aStep(format.slower(seconds, than));

export const tieOf = (count: number): string => t.tie.plans(count, format.count(count));

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

// ---- what a plan sets beside its degrees
type Plan = { readonly [key in RankedKey]?: Json };

export const choiceLabel = ({ fields }: Catalog, key: string, id: string): string => {
    const field = fields.find((one) => one.key === key);
    return (field && 'choices' in field && field.choices?.find((choice) => choice.id === id)?.label) || id;
};

const MOST_RUNS = 5;

// "layers 7 | 14 × 8 | 7"
export function layersText(layout: string): string {
    const chunks = parseLayout(layout);
    if (!chunks) return layout === 'front' ? t.plan.front : t.plan.uneven;
    const runs = layerRuns(chunks);
    if (runs.length > MOST_RUNS) return t.plan.uneven;
    const texts = runs.map(({ layers, count }) =>
        count > 1 ? t.plan.run(format.count(count), format.count(layers)) : format.count(layers),
    );
    return t.plan.layers(texts.join(' | '));
}

function recomputeText({ recompute, recompute_layers }: Plan): string {
    const layers = Number(recompute_layers);
    const texts: Record<string, string> = {
        none: t.plan.kept,
        selective: t.plan.selective,
        block: t.plan.block(layers, format.count(layers)),
        full: t.plan.full,
    };
    return texts[String(recompute)] ?? '';
}

// As far as it is not the plainest: what plans were before there was a choice.
export function besides(catalog: Catalog, plan: Plan): string {
    const plainest = new Map(catalog.fields.map((field) => [field.key, field.default_1]));
    const differs = (key: RankedKey): boolean => plan[key] !== undefined && plan[key] !== plainest.get(key);
    const [chunks, expertTensor] = [Number(plan.virtual_stages ?? 1), Number(plan.expert_tensor_parallel ?? 1)];
    return [
        differs('schedule') && choiceLabel(catalog, 'schedule', String(plan.schedule)),
        plan.schedule === '1f1b' && chunks > 1 && t.plan.chunks(format.count(chunks)),
        differs('layout') && layersText(String(plan.layout)),
        differs('recompute') && recomputeText(plan),
        differs('zero') && choiceLabel(catalog, 'zero', String(plan.zero)),
        differs('moments') && choiceLabel(catalog, 'moments', String(plan.moments)),
        plan.sequence_parallel === false && Number(plan.tensor_parallel) > 1 && t.plan.noSequence,
        expertTensor > 1 && t.plan.expertTensor(format.count(expertTensor)),
    ]
        .filter(Boolean)
        .join(', ');
}

export const wholePlan = (catalog: Catalog, plan: Plan, data?: number): string =>
    [degreeList(plan, data), besides(catalog, plan)].filter(Boolean).join(', ');

// What the search leaves out, by the labels of the catalogue.
export function leftOut({ catalog, job }: Page): { id: string; label: string }[] {
    const field = catalog.fields.find(({ key }) => key === LEAVE_OUT);
    const ids = String(job[LEAVE_OUT] ?? '').split(',');
    return field?.type === 'set' ? field.choices.filter(({ id }) => ids.includes(id)) : [];
}

export const leftOutText = (page: Page): string => {
    const labels = leftOut(page).map(({ label }) => lower(label));
    return labels.length > 0 ? t.search.leftOut(labels.join(', ')) : t.search.nothingLeftOut;
};
