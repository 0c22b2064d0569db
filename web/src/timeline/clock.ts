import { format } from '../format/format';

export interface Clock {
    unit: string;
    size: number; // of the unit, in seconds
    text(seconds: number): string;
}

const UNITS: readonly [unit: string, size: number, digits: number][] = [
    ['min', 60, 2],
    ['s', 1, 6],
    ['ms', 1e-3, 3],
];
const MINUTES_FROM = 600; // seconds: what is shorter is told in them, as a duration is

// Points in time up to `longest` seconds in one unit, as finely as neighbours differ that lie `finest` apart, down to a microsecond; in minutes
// where they lie that far apart.
export function clockOf(longest: number, finest: number): Clock {
    const at = longest >= MINUTES_FROM && finest >= 60 ? 0 : longest > 1 ? 1 : 2;
    const [unit, size, most] = UNITS[at] as (typeof UNITS)[number];
    const digits = Math.max(0, Math.min(most, Math.ceil(-Math.log10(finest / size)) + 1));
    return { unit, size, text: (seconds) => format.fixed(seconds / size, digits) };
}

// A mark on a scale, `step` apart from the next one.
export const markText = (mark: number, step: number): string => format.fixed(mark, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)));
