// What was read of a run's lines, in words: for the page and the command line.
import type { PrintedNumber, PrintedSeries, RunRead } from '../core/api';
import { format } from '../format/format';
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
