// The answer in words, for the headline, the title and for sharing.
import type { Estimate, Problem, Rate, Run } from '../core/api';
import type { ShownGroup } from '../core/types';
import { format } from '../format/format';
import { sumOf } from '../format/sums';
import { CUSTOM_GPU, CUSTOM_MODEL, configOf } from '../state/state';
import type { Page } from '../store/page';
import { say, sentences, tell } from '../words/words';

// Memory of the fullest GPU and the size of its card, as the headline writes them.
export const sizesOf = (bytes: number, { card_bytes, gpu }: Estimate): { used: string; card: string; share: number } => ({
    used: format.headline(bytes, card_bytes),
    card: format.nominal(gpu.memory_gib),
    share: bytes / card_bytes,
});
// One number stands for the memory of a run: all that its fullest GPU holds, as the bar shows it and the verdict weighs it.
export const sizes = (answer: Estimate) => sizesOf(answer.whole_bytes, answer);

// Chosen: a band that reaches so many times as far to one side as to the other is told by its ends, a more even one by its larger side.
const UNEVEN = 1.25;

export function stepOf({ time, class: fit }: Estimate): string {
    const { step_seconds: seconds, low_seconds: low, high_seconds: high } = time;
    const step = { would: fit === 'does_not_fit', time: seconds, speed: format.rounded(time.tokens_per_s) };
    return Math.max(high - seconds, seconds - low) > UNEVEN * Math.min(high - seconds, seconds - low)
        ? say('step.takes_range', { ...step, low, high })
        : say('step.takes', { ...step, margin: format.margin(seconds, low, high) });
}

// How long a step takes and, when the reader has said how much to train, the whole run with what it costs.
export function timeOf(answer: Estimate): string {
    const { run } = answer.time;
    return run ? sentences(stepOf(answer), wholeRun(run), ...costOf(answer.job, run)) : stepOf(answer);
}

// Where the verdict changes, as a share of the card. What is shown of another stage than the fullest is what is allocated alone.
export const lineOf = (answer: Estimate): number => (answer.stage === answer.worst_stage ? answer.line_share : answer.line_allocated_share);
export const lineText = (answer: Estimate): string =>
    say('bar.line', { size: format.safe(lineOf(answer) * answer.card_bytes, answer.card_bytes, answer.whole_bytes) });

// A list price is in US dollars; a price of the reader's own has any currency.
interface Priced {
    price_per_gpu_hour?: unknown;
}
const isListed = ({ price_per_gpu_hour: price }: Priced): boolean => price === 'auto';
export const moneyOf = (job: Priced, cost: number): string =>
    (isListed(job) ? format.dollars : format.rounded)(Number(cost.toPrecision(3)));

function wholeRun(run: Run): string {
    const [time, low, high] = format.training(run.days, run.low_days, run.high_days);
    return say('step.run', { tokens: format.short(run.tokens).replace(' ', '\u00a0'), time, low, high });
}

const costOf = (job: Estimate['job'], { cost, energy_kwh }: Run): (string | false)[] => [
    cost !== null && say(isListed(job) ? 'step.cost' : 'step.cost_own', { cost: moneyOf(job, cost) }),
    energy_kwh !== null && say('step.energy', { energy: format.energy(energy_kwh) }),
];

// TFLOP/s and MFU by the convention that the reader has chosen.
export const rateOf = ({ time }: Estimate, page: Page): Rate => time.rates.find(({ id }) => id === page.rate) ?? (time.rates[0] as Rate);

// What lies between the allocator and the whole card, as one more part. It belongs to the fullest stage alone.
export function outsideOf({ outside, stage, worst_stage }: Estimate): ShownGroup | null {
    if (outside.length === 0 || stage !== worst_stage) return null;
    return { id: 'outside', items: outside, ...sumOf(outside) };
}

// Beside frozen weights adapters alone learn: another run than that of the whole model, wherever its answer stands.
export const isTuned = ({ trained }: { trained?: unknown }): boolean => trained === 'lora';

const tunedName = (model: string, job: { trained?: unknown }): string => (isTuned(job) ? say('answer.adapters', { model }) : model);

type Spoken = Pick<Page, 'answer' | 'problems' | 'job' | 'catalog'>;

// Stands alone: in the title bar, in a message to a colleague.
export function summaryOf(page: Spoken): string {
    const { answer, problems, job } = page;
    const [problem] = problems;
    if (problem && isReading(problem)) return sentences(verdictOf(problem), tell(problem.message));
    if (problem) {
        const [gpus, tokens] = [Number(job.gpus), Number(job.sequence_length)];
        return say('answer.cannot_sentence', {
            model: tunedName(modelLabel(page), job),
            gpus,
            gpu: gpuLabel(page),
            tokens,
            why: tell(problem.message),
        });
    }
    if (!answer) return say('page.name');
    const model = answer.model.label || say('form.own_model');
    return say('answer.sentence', {
        model: tunedName(model, answer.job),
        gpus: Number(answer.job.gpus),
        gpu: answer.gpu.label,
        tokens: Number(answer.job.sequence_length),
        fit: answer.class,
        ...sizes(answer),
    });
}

// The whole answer in words: for the ear, and for a message to a colleague.
export const spokenOf = (page: Spoken): string =>
    page.answer && page.problems.length === 0 ? sentences(summaryOf(page), timeOf(page.answer)) : summaryOf(page);

export const titleOf = (page: Page): string => say('page.title', { summary: summaryOf(page), name: say('page.name') });

// Broken rules make a plan impossible; everything else only means that the request could not be read.
const READING = new Set(['syntax', 'type', 'range', 'missing', 'unknown', 'unsupported', 'version', 'too_large']);
const isReading = (problem: Problem): boolean => READING.has(problem.rule);
export const verdictOf = (problem: Problem): string => (isReading(problem) ? say('answer.unreadable') : say('answer.cannot'));

// Below the width in which the estimate cannot tell two plans apart, a difference is none.
export const isEqual = (seconds: number, than: number, width: number): boolean => Math.abs(seconds - than) <= width * than;
export const stepChange = (seconds: number, than: number, width: number): string =>
    isEqual(seconds, than, width) ? say('plan.equal') : say('plan.a_step', { change: format.slower(seconds, than) });

// The model's name as the form shows it, known before any answer; of a repository that of the model, as the core says it.
export function modelLabel({ catalog, job }: Pick<Page, 'catalog' | 'job'>): string {
    if (job.model === CUSTOM_MODEL) return String(configOf(job)?._name_or_path ?? say('form.own_model')).replace(/.*\//, '');
    return catalog.models.find((model) => model.id === job.model)?.label ?? String(job.model);
}

// The profile behind a run's GPU: its own, or of what the reader's own GPU is like.
export const profileOf = ({ catalog, job }: Pick<Page, 'catalog' | 'job'>) =>
    catalog.gpus.find(({ id }) => id === (job.gpu === CUSTOM_GPU ? job['gpu.base'] : job.gpu));

export function gpuLabel({ catalog, job }: Pick<Page, 'catalog' | 'job'>): string {
    if (job.gpu === CUSTOM_GPU) return String(job['gpu.name'] || say('form.own_gpu'));
    return profileOf({ catalog, job })?.label ?? String(job.gpu);
}
