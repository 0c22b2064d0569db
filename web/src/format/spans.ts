// Time as people write it, for a field that has one unit: "10 min", "1 h 30 min", "2 日".
import { format } from './format';

const UNITS: readonly [RegExp, number][] = [
    [/^ms$/, 1e-3],
    [/^(?:s(?:ec(?:ond)?s?)?|秒)$/, 1],
    [/^(?:m(?:in(?:ute)?s?)?|分[間钟]?)$/, 60],
    [/^(?:h(?:(?:ou)?rs?)?|時間?|小?时)$/, 3600],
    [/^(?:d(?:ays?)?|日間?|天)$/, 86_400],
];
// An "M" alone is a million.
const secondsOf = (unit: string): number | undefined =>
    unit === 'M' ? undefined : UNITS.find(([pattern]) => pattern.test(unit.toLowerCase()))?.[1];

// The number in units of `seconds`, as a text; any other text as it is.
export const spanIn =
    (seconds: number) =>
    (text: string): string => {
        const parts = [...text.normalize('NFKC').matchAll(/\s*(\d[\d.,'’\s]*k?)\s*([^\d\s.,]+)|\S/gi)].map(([, written, unit]) => {
            const number = written && format.read(written, {});
            const size = unit && secondsOf(unit);
            return typeof number === 'number' && size ? number * size : Number.NaN;
        });
        const sum = parts.reduce((all, part) => all + part, 0);
        return parts.length > 0 && !Number.isNaN(sum) ? format.number(sum / seconds) : text;
    };
