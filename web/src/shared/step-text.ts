import { format } from '../format/format';
import { spaced } from '../format/numbers';

// Four significant digits, for lists of steps that differ little: 128.2 s.
export function stepText(seconds: number): string {
    const [value, unit] = seconds >= 1 ? [seconds, 's'] : [seconds * 1000, 'ms'];
    return spaced(format.fixed(value, value >= 1000 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3), unit);
}
