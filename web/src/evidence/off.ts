import { format } from '../format/format';
import { signed, spaced } from '../format/numbers';

// How far a ratio is from 1, signed: +12 %, −0.4 %.
export function off(ratio: number): string {
    const percent = Math.abs(ratio - 1) * 100;
    if (percent < 0.05) return spaced('±0', '%');
    return signed(ratio - 1, spaced(format.fixed(percent, percent < 9.95 ? 1 : 0), '%'));
}
