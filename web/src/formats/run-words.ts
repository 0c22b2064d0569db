// What was read of a run's lines, in words: for the page and the command line.
import type { Catalog, Change, PrintedNumber, PrintedSeries, RunRead } from '../core/api';
import { format } from '../format/format';
import { gpuLabel, modelLabel } from '../shared/answer-words';
import type { Job } from '../state/state';
import { say, tell } from '../words/words';

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

// The run that it is compared with.
export const againstArgs = (against: { job: Job; catalog: Catalog }) => ({
    model: modelLabel(against),
    gpus: Number(against.job.gpus),
    gpu: gpuLabel(against),
    tokens: Number(against.job.sequence_length),
});

// Where the log lists its arguments and they are of another number of GPUs.
export function otherGpus({ runs_text }: RunRead, { gpus }: Job): string[] {
    const [head = '', row = ''] = runs_text.split('\n');
    const printed = Number(row.split(',')[head.split(',').indexOf('gpus')] || gpus);
    return printed === gpus ? [] : [say('run.other_gpus', { printed, gpus: Number(gpus) })];
}

// The verdict, sentence by sentence. The first change makes it fit where any does.
export const verdictTexts = ({ verdict }: RunRead, change: Change | undefined): string[] =>
    verdict.flatMap((text) => {
        const isEnough = text.id !== 'read_run.verdict.change' || change === undefined || change.class === 'fits';
        return isEnough ? [tell(text)] : [tell(text), say('run.not_enough', { fit: change.class, used: change.whole_bytes })];
    });
