// The only place where a number of the core becomes text, or a text of the reader a number. Nothing else on the page calculates
// with bytes, shares or counts.

import type { TimeItem, TimeKind } from '../core/api';
import { usableLocale } from './locale';

const GIB = 2 ** 30;
const HOUR = 3600;
const DAY = 24 * HOUR;
const NARROW = '\u202f'; // between a number and its unit, so that they never part at a line's end

// Points in time in one unit, as finely as neighbours differ.
export interface Clock {
    unit: string;
    text(seconds: number): string;
}

export interface Format {
    count(value: number): string; // 8,192
    number(value: number): string; // any number of a formula, as exact as it is: 1.5
    tenth(value: number): string; // at most one decimal: 17.8
    nominal(gib: number): string; // the size in a card's name: 80
    short(value: number): string; // 8.03 billion
    gb(bytes: number): string; // three significant digits, no unit: 56.3
    headline(bytes: number, card: number): string; // whole GB from 10 on, unless that would read as the card's size: 56, 80.2
    change(bytes: number): string; // signed: +24.3, −1.20, ±0
    gib(bytes: number): string; // for tables: two decimals
    bytes(bytes: number): string; // exact: 60,450,574,336
    raw(bytes: number): string; // exact, for a spreadsheet: 60450574336
    percent(share: number): string; // 70 %
    percentTenth(share: number): string; // 1.5 %
    off(ratio: number): string; // how far from 1, signed: +12 %, −0.4 %
    rounded(value: number): string; // three significant digits, grouped: 77,300; 1.23 million
    measured(value: number): string; // a number of a time formula: whole numbers exactly, others to four digits; 9.894×10¹⁴
    duration(seconds: number): string; // 850 ms, 42.3 s, 1 min 49 s, 12.4 hours, 150 days
    step(seconds: number): string; // four significant digits, for lists of steps that differ little: 128.2 s
    margin(seconds: number, low: number, high: number): string; // how far the band reaches, as fine as the duration is written
    clock(longest: number, finest: number): Clock; // for points in time up to so many seconds that lie so many apart
    slower(seconds: number, than: number): string; // signed: +7.60 s, −1 min 2 s
    training(days: number, low: number, high: number): [main: string, low: string, high: string]; // one unit for the three
    energy(kwh: number): string;
    difference(bytes: number, than: number): string; // signed, of two sizes
    parseAmount(text: string): number | string; // "1,000,000,000,000", "1e12", "2.5" -> the number; "" -> 0
    megabytes(characters: number): string; // the size of a pasted text
    parseDecimal(text: string): number | string; // "0,5" -> 0.5
    parsePercent(text: string): number | string; // "50", "50 %" -> 0.5
    parse(text: string): number | string; // "8,192" -> 8192; what is no whole number stays the text it is
}

// Decimals enough that a value never reads as one of the verdict's borders (80.3 % is not 80 %) or as nothing.
function shareDigits(share: number): number {
    const rounded = Math.round(share * 100);
    if (share > 0 && share < 0.01) return 1;
    const onBorder = rounded === 80 || rounded === 100;
    return onBorder && Math.abs(share * 100 - rounded) > 1e-9 ? 1 : 0;
}

// A whole number as an exponent.
const raised = (power: number): string => [...String(power)].map((digit) => (digit === '-' ? '⁻' : '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)])).join('');

export function createFormat(locale: string): Format {
    const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
    const exact = new Intl.NumberFormat(locale, { maximumSignificantDigits: 15 });
    const oneDecimal = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });
    const compact = new Intl.NumberFormat('en', { notation: 'compact', compactDisplay: 'long', maximumSignificantDigits: 3 });
    const decimals = (digits: number) => new Intl.NumberFormat(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits });
    const fixed = [decimals(0), decimals(1), decimals(2)] as const;
    // Trailing zeros stay (12.0): a column of numbers keeps its rhythm, and the reader sees how precise a figure is.
    const three = (value: number): string => {
        const size = Math.abs(value);
        return (size >= 99.95 ? fixed[0] : size >= 9.995 ? fixed[1] : fixed[2]).format(value);
    };
    const sig = new Intl.NumberFormat(locale, { maximumSignificantDigits: 3 });
    const sig4 = new Intl.NumberFormat(locale, { maximumSignificantDigits: 4 });
    const spaced = (text: string, unit: string): string => `${text}${NARROW}${unit}`;
    // Days above 2 days, hours above 2 hours.
    const long = (seconds: number): readonly [size: number, one: string, many: string] | null =>
        seconds >= 2 * DAY ? [DAY, 'day', 'days'] : seconds >= 2 * HOUR ? [HOUR, 'hour', 'hours'] : null;
    const duration = (seconds: number): string => {
        const unit = long(seconds);
        if (unit) return `${sig.format(seconds / unit[0])}\u00a0${unit[2]}`;
        const exact = Math.round(seconds);
        if (exact >= 600) return spaced(fixed[0].format(seconds / 60), 'min');
        if (seconds >= 59.95)
            return [spaced(fixed[0].format(Math.floor(exact / 60)), 'min'), exact % 60 > 0 && spaced(fixed[0].format(exact % 60), 's')]
                .filter(Boolean)
                .join('\u00a0');
        return seconds >= 1 ? spaced(three(seconds), 's') : spaced(sig.format(seconds * 1000), 'ms');
    };
    const parseDecimal = (text: string): number | string => {
        // No such field reaches a thousand: the one separator that there may be is the decimals'.
        const bare = text.trim().replace(',', '.');
        return /^-?(\d{1,9}(\.\d{0,9})?|\.\d{1,9})$/.test(bare) ? Number(bare) : text.trim();
    };
    const change = (bytes: number): string => (bytes === 0 ? '±0' : (bytes > 0 ? '+' : '−') + three(Math.abs(bytes) / GIB));
    return {
        off: (ratio) => {
            const percent = Math.abs(ratio - 1) * 100;
            if (percent < 0.05) return spaced('±0', '%');
            return `${ratio > 1 ? '+' : '−'}${spaced(fixed[percent < 9.95 ? 1 : 0].format(percent), '%')}`;
        },
        rounded: (value) => (value < 1e6 ? sig : compact).format(value),
        measured: (value) => {
            const power = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value)));
            if (power >= 10 || power < -6) return `${sig4.format(value / 10 ** power)}×10${raised(power)}`;
            return (Number.isInteger(value) ? exact : sig4).format(value);
        },
        duration,
        step: (seconds) => {
            const [value, unit] = seconds >= 1 ? [seconds, 's'] : [seconds * 1000, 'ms'];
            return spaced(decimals(value >= 1000 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3).format(value), unit);
        },
        margin: (seconds, low, high) => {
            const width = Math.max(high - seconds, seconds - low);
            return seconds >= 59.95 && width >= 1 && width < 60 ? spaced(fixed[0].format(width), 's') : duration(width);
        },
        clock: (longest, finest) => {
            const [size, unit] = longest >= 10 ? [1, 's'] : [1e-3, 'ms'];
            const digits = Math.max(0, Math.min(3, Math.ceil(-Math.log10(finest / size)) + 1));
            const written = decimals(digits);
            return { unit, text: (seconds) => written.format(seconds / size) };
        },
        slower: (seconds, than) => {
            const more = seconds - than;
            // Less than a thousandth of a step is no difference that the estimate could tell.
            if (Math.abs(more) < than / 1000) return spaced('±0', 's');
            return `${more > 0 ? '+' : '−'}${duration(Math.abs(more))}`;
        },
        training: (days, low, high) => {
            const [size, , many] = long(days * DAY) ?? [60, '', 'minutes'];
            const [main, least, most] = [days, low, high].map((value) => sig.format((value * DAY) / size));
            return [`${main}\u00a0${many}`, least ?? '', most ?? ''];
        },
        energy: (kwh) =>
            kwh >= 1e6
                ? spaced(sig.format(kwh / 1e6), 'GWh')
                : kwh >= 1e3
                  ? spaced(sig.format(kwh / 1e3), 'MWh')
                  : spaced(sig.format(kwh), 'kWh'),
        difference: (bytes, than) => change(bytes - than),
        count: (value) => whole.format(value),
        number: (value) => exact.format(value),
        tenth: (value) => oneDecimal.format(value),
        nominal: (gib) => exact.format(gib),
        short: (value) => compact.format(value),
        gb: (bytes) => three(bytes / GIB),
        headline: (bytes, card) =>
            bytes >= 9.5 * GIB && Math.abs(bytes - card) >= GIB ? fixed[0].format(bytes / GIB) : three(bytes / GIB),
        change,
        gib: (bytes) => fixed[2].format(bytes / GIB),
        bytes: (bytes) => whole.format(bytes),
        raw: (bytes) => bytes.toFixed(0),
        percent: (share) =>
            share > 0 && share < 0.0005
                ? spaced(`< ${fixed[1].format(0.1)}`, '%')
                : spaced(fixed[shareDigits(share)]?.format(share * 100) ?? '', '%'),
        percentTenth: (share) => spaced(oneDecimal.format(share * 100), '%'),
        megabytes: (characters) => fixed[1].format(characters / 1e6),
        parseDecimal,
        parsePercent: (text) => {
            const percent = parseDecimal(text.replace(/\s*%\s*$/, ''));
            return typeof percent === 'number' ? percent / 100 : percent;
        },
        parseAmount: (text) => {
            const bare = text.trim();
            if (bare === '') return 0;
            // Groups of three with one and the same separator are thousands; a single other comma or point is the decimals'.
            const digits = /^\d{1,3}([,.'’_\s])\d{3}(?:\1\d{3})*$/u.test(bare) ? bare.replace(/\D/g, '') : bare.replace(',', '.');
            return /^\d{1,17}(\.\d{0,9})?(e\d{1,2})?$/i.test(digits) ? Number(digits) : bare;
        },
        parse: (text) => {
            const bare = text.trim();
            // Any one separator is taken for the thousands' one where the digits stand in its groups (three, or India's two and three):
            // every size here is a whole number, so that "8.192" can mean nothing else.
            const grouped = /^\d{1,3}([,.'’_\s])(?:\d{2,3}\1)*\d{3}$/u.test(bare);
            const digits = grouped ? bare.replace(/\D/g, '') : bare;
            return /^\d{1,15}$/.test(digits) ? Number(digits) : bare;
        },
    };
}

// Fixed English while the page is drawn at build time, the reader's own in the browser.
export const format = createFormat(usableLocale(typeof document === 'undefined' ? [] : [navigator.language, ...navigator.languages]));

// A part of the card that the core gives item by item only.
export const sumOf = <Part extends { bytes: number; share: number }>(parts: Part[]): { bytes: number; share: number } => ({
    bytes: parts.reduce((sum, part) => sum + part.bytes, 0),
    share: parts.reduce((sum, part) => sum + part.share, 0),
});

const KINDS: readonly TimeKind[] = ['compute', 'tensor', 'context', 'pipeline', 'data', 'bubble', 'other'];

// The items of a step, one sum for each kind.
export function kindsOf(items: TimeItem[]): { kind: TimeKind; seconds: number; share: number }[] {
    return KINDS.flatMap((kind) => {
        const inside = items.filter((item) => item.kind === kind);
        return inside.length === 0
            ? []
            : {
                  kind,
                  seconds: inside.reduce((sum, item) => sum + item.seconds, 0),
                  share: inside.reduce((sum, item) => sum + item.share, 0),
              };
    });
}
