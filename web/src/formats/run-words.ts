// What was read of a run's lines, in words: for the page and the command line.
import type { Catalog, Change, Fit, PrintedNumber, PrintedSeries, RunRead } from '../core/api';
import { format } from '../format/format';
import { gpuLabel, modelLabel, profileOf } from '../shared/answer-words';
import type { Job } from '../state/state';
import type { Page } from '../store/page';
import { listed, say, tell } from '../words/words';

const TERA = 1e12;

export const quantityName = ({ quantity }: PrintedNumber | PrintedSeries): string => tell({ id: `read_run.quantity.${quantity}` });

function valueText(value: number, unit: PrintedSeries['unit']): string {
    if (unit === 's') return format.duration(value);
    if (unit === 'FLOP/s') return `${format.rounded(value / TERA)} TFLOP/s`;
    return format.rounded(value);
}

// "1.1 s (median of 3 lines, 1.0 to 1.4 s)"
export const seriesText = ({ median, lowest, highest, count, unit }: PrintedSeries): string =>
    say('run.series', { median: valueText(median, unit), low: valueText(lowest, unit), high: valueText(highest, unit), count });

export const numberRows = ({ numbers }: RunRead): string[][] =>
    numbers.map((one) => [
        String(one.line),
        quantityName(one),
        one.unit === 'bytes' && /^[\d.,]+$/.test(one.written) ? `${one.written} (${format.bytes(one.value)})` : one.written,
        one.rank === null ? '' : String(one.rank),
    ]);

// The page whose run it is compared with, or that as the script of the same text sets it; null: with none.
export type Against = (Pick<Page, 'job' | 'catalog' | 'alternatives' | 'answer'> & { script?: true }) | null;

// The run that it is compared with.
export const againstArgs = (against: { job: Job; catalog: Catalog }) => ({
    model: modelLabel(against),
    gpus: Number(against.job.gpus),
    gpu: gpuLabel(against),
    tokens: Number(against.job.sequence_length),
});

export type Cards = Pick<Job, 'gpu' | 'gpus'>;
type Shown = Pick<Page, 'job' | 'catalog'>;

// The GPUs that nvidia-smi or its like shows, where the run has others: another card, or another number. It shows those of one node.
export function otherCards({ gpu, gpus }: RunRead, { job, catalog }: Shown): Cards | null {
    if (gpu === null) return null;
    const [had, count] = [Number(job.gpus), gpus ?? Number(job.gpus)];
    const isNode = count >= (profileOf({ catalog, job })?.gpus_per_node ?? 1) && had % count === 0;
    return gpu === job.gpu && (count === had || isNode) ? null : { gpu, gpus: count };
}

export const cardsArgs = (
    { gpu, gpus, cards, printers }: Pick<RunRead, 'gpu' | 'gpus' | 'cards' | 'printers'>,
    { job, catalog }: Shown,
) => ({
    tool: printers.find((one) => one.endsWith('-smi')) ?? '',
    count: gpus === null || cards.length > 1 ? 0 : gpus,
    gpu: gpu === null ? listed(cards) : gpuLabel({ catalog, job: { ...job, gpu } }),
});

// What nvidia-smi or its like shows. `compared`: with the run of the page.
export const cardTexts = (run: RunRead, page: Shown, compared: boolean): string[] =>
    run.cards.length === 0 ? [] : [say('run.cards', { ...cardsArgs(run, page), other: compared && otherCards(run, page) !== null })];

// Where the log lists its arguments and they are of another number of GPUs.
export function otherGpus({ runs_text }: RunRead, { gpus }: Job): string[] {
    const [head = '', row = ''] = runs_text.split('\n');
    const printed = Number(row.split(',')[head.split(',').indexOf('gpus')] || gpus);
    return printed === gpus ? [] : [say('run.other_gpus', { printed, gpus: Number(gpus) })];
}

// What a run needed that died of memory, for each byte that is counted, where its log shows more than that; else 1.
export function neededPerCounted({ verdict }: RunRead): number {
    const share = verdict.find(({ id }) => /counted_less|another_run/.test(id))?.args?.share;
    return typeof share === 'number' ? 1 + share : 1;
}

// What a change comes to by what the log shows. `line`: the share of the GPU up to which a plan fits.
function withChange(changes: readonly Change[], times: number, line: number) {
    const fitOf = (change: Change): Fit => {
        const share = ((change.share * change.whole_bytes) / change.total_bytes) * times; // of the whole GPU, as the line is
        if (times === 1 || change.class === 'does_not_fit') return change.class;
        return share > 1 ? 'does_not_fit' : share > line ? 'at_risk' : change.class;
    };
    const change = changes.find((one) => fitOf(one) === 'fits') ?? changes[0];
    return change && { change, fit: fitOf(change), used: change.whole_bytes * times };
}

// The verdict, sentence by sentence. Of the changes the first that is enough; that is the first one where the log shows no more than counted.
export function verdictTexts(run: RunRead, changes: readonly Change[], line: number): string[] {
    const found = withChange(changes, neededPerCounted(run), line);
    return run.verdict.flatMap((text) => {
        if (text.id !== 'read_run.verdict.change' || !found) return [tell(text)];
        const { change, fit, used } = found;
        const first = tell({ ...text, args: { change: change.label, saved: change.saved_bytes } });
        return fit === 'fits' ? [first] : [first, say('run.not_enough', { fit, used })];
    });
}
