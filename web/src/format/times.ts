// Times and energy, in the unit that a reader would use.
import { type Digits, lazily, signed, spaced } from './numbers';

export interface Times {
    duration(seconds: number): string; // 850 ms, 42.3 s, 1 min 49 s, 12.4 min, 12.4 hours, 150 days, 42.2 years
    margin(seconds: number, low: number, high: number): string; // how far the band reaches, in the unit and the decimals of the duration
    slower(seconds: number, than: number): string; // signed: +7.60 s, −1 min 2 s
    training(days: number, low: number, high: number): [main: string, low: string, high: string, highest: string]; // one unit; low and high without it
    energy(kwh: number): string; // 850 kWh, 12.3 MWh, 4.5 TWh
    mass(kg: number): string; // 850 kg, 174 t, 12.3 kt
    month(yearAndMonth: string): string; // 2026-09: September 2026
    date(day: Date): string; // 22 November 2026
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365.25 * DAY;

type Unit = 'year' | 'day' | 'hour' | 'minute' | 'second';

const isHan = ({ value }: { value: string }): boolean => /\p{Script=Han}/u.test(value);

// "12.4 hours" in the words of the language, the number as the reader's locale writes it.
function inWords(language: string, write: (value: number) => string, unit: Unit): (value: number) => string {
    const digits = { minimumSignificantDigits: 3, maximumSignificantDigits: 3 } as const; // 1.00 years
    const words = lazily(() => new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long', ...digits }));
    return (value) => {
        const parts = words().formatToParts(value);
        const number = parts.findIndex(({ type }) => type === 'integer');
        const blank = parts.some(isHan) ? '' : '\u00a0'; // 8.51年
        return parts
            .map(({ type, value: text }, i) =>
                i === number ? write(value) : type === 'literal' || type === 'unit' ? text.replace(' ', blank) : '',
            )
            .join('');
    };
}

// "2 min 5 s" is read everywhere; a language with letters of its own for these has them: 2分5秒, 30.1秒.
function short(language: string, unit: 'minute' | 'second' | 'millisecond', symbol: string): (text: string) => string {
    const own = lazily(() => {
        const parts = new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'short' }).formatToParts(1);
        return parts.find((part) => part.type === 'unit' && isHan(part))?.value ?? '';
    });
    return (text) => (own() ? text + own() : spaced(text, symbol));
}

export function timesFormat(language: string, { decimals, decimalsOf, three, rounded }: Digits): Times {
    const monthName = lazily(() => new Intl.DateTimeFormat(language, { year: 'numeric', month: 'long', timeZone: 'UTC' }));
    const dates = lazily(() => new Intl.DateTimeFormat(language, { dateStyle: 'long' }));
    const named = Object.fromEntries(
        (['year', 'day', 'hour', 'minute', 'second'] as const).map((unit) => [unit, inWords(language, rounded, unit)]),
    ) as Record<Unit, ReturnType<typeof inWords>>;
    // Years from a year on, days above 2 days, hours above 2 hours.
    const long = (seconds: number): [size: number, unit: Unit] | null =>
        seconds >= YEAR ? [YEAR, 'year'] : seconds >= 2 * DAY ? [DAY, 'day'] : seconds >= 2 * HOUR ? [HOUR, 'hour'] : null;
    const inMinutes = short(language, 'minute', 'min');
    const [inSeconds, inMilliseconds] = [short(language, 'second', 's'), short(language, 'millisecond', 'ms')];
    const minutes = (whole: number): string => {
        const [first, rest] = [inMinutes(decimals(0).format(Math.floor(whole / MINUTE))), whole % MINUTE];
        if (rest === 0) return first;
        const last = inSeconds(decimals(0).format(rest));
        return whole < MINUTE ? last : first + (isHan({ value: first }) ? '' : '\u00a0') + last;
    };
    // In the largest of these units of which there is a whole one, each a thousand of the one before it.
    const inUnit = (value: number, units: readonly string[]): string => {
        const step = Math.max(0, Math.min(units.length - 1, Math.floor(Math.log10(value) / 3)));
        return value > 0 ? spaced(rounded(value / 1000 ** step), units[step] ?? '') : spaced('0', units[1] ?? '');
    };
    // The unit of a duration, and how a number of it is written.
    const unitOf = (seconds: number): [size: number, write: (value: number) => string] => {
        const [size, unit] = long(seconds) ?? [];
        if (size && unit) return [size, named[unit]];
        if (Math.round(seconds) >= 10 * MINUTE) return [MINUTE, (value) => inMinutes(rounded(value))];
        if (seconds >= 59.95) return [1, (value) => minutes(Math.round(value))];
        return seconds >= 1 ? [1, (value) => inSeconds(three(value, seconds))] : [1e-3, (value) => inMilliseconds(rounded(value))];
    };
    const duration = (seconds: number): string => {
        const [size, write] = unitOf(seconds);
        return write(seconds / size);
    };
    return {
        duration,
        margin(seconds, low, high) {
            const [size, write] = unitOf(seconds);
            const width = Math.max(high - seconds, seconds - low);
            const digits = size === 1 && seconds >= 59.95 ? 0 : decimalsOf(seconds / size); // "1 min 49 s" has no tenths
            const rounded = Number((width / size).toFixed(digits));
            return rounded > 0 ? write(rounded) : duration(width);
        },
        slower(seconds, than) {
            const more = seconds - than;
            // Less than a thousandth of a step is no difference that the estimate could tell.
            return Math.abs(more) < than / 1000 ? inSeconds('±0') : signed(more, duration(Math.abs(more)));
        },
        training(days, low, high) {
            const [size, unit] = long(days * DAY) ?? (days * DAY >= 2 * MINUTE ? [MINUTE, 'minute'] : [1, 'second']);
            const [least, most] = [(low * DAY) / size, (high * DAY) / size];
            return [named[unit]((days * DAY) / size), rounded(least), rounded(most), named[unit](most)];
        },
        date: (day) => dates().format(day),
        energy: (kwh) => inUnit(kwh * 1e3, ['Wh', 'kWh', 'MWh', 'GWh', 'TWh']),
        mass: (kg) => inUnit(kg * 1e3, ['g', 'kg', 't', 'kt', 'Mt']),
        month: (text) => monthName().format(new Date(`${text}-15T12:00:00Z`)),
    };
}
