// The only place where a number of the core becomes text, or a text of the reader a number. Nothing else on the page calculates
// with bytes, shares or counts.

const GIB = 2 ** 30;
const NARROW = '\u202f'; // between a number and its unit, so that they never part at a line's end

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
    megabytes(characters: number): string; // the size of a pasted text
    parseDecimal(text: string): number | string; // "0,5" -> 0.5
    parse(text: string): number | string; // "8,192" -> 8192; what is no whole number stays the text it is
}

// Decimals enough that a value never reads as one of the verdict's borders (80.3 % is not 80 %) or as nothing.
function shareDigits(share: number): number {
    const rounded = Math.round(share * 100);
    if (share > 0 && share < 0.01) return 1;
    const onBorder = rounded === 80 || rounded === 100;
    return onBorder && Math.abs(share * 100 - rounded) > 1e-9 ? 1 : 0;
}

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
    return {
        count: (value) => whole.format(value),
        number: (value) => exact.format(value),
        tenth: (value) => oneDecimal.format(value),
        nominal: (gib) => exact.format(gib),
        short: (value) => compact.format(value),
        gb: (bytes) => three(bytes / GIB),
        headline: (bytes, card) =>
            bytes >= 9.5 * GIB && Math.abs(bytes - card) >= GIB ? fixed[0].format(bytes / GIB) : three(bytes / GIB),
        change: (bytes) => (bytes === 0 ? '±0' : (bytes > 0 ? '+' : '−') + three(Math.abs(bytes) / GIB)),
        gib: (bytes) => fixed[2].format(bytes / GIB),
        bytes: (bytes) => whole.format(bytes),
        raw: (bytes) => bytes.toFixed(0),
        percent: (share) => `${fixed[shareDigits(share)]?.format(share * 100)}${NARROW}%`,
        megabytes: (characters) => fixed[1].format(characters / 1e6),
        parseDecimal: (text) => {
            // No such field reaches a thousand: the one separator that there may be is the decimals'.
            const bare = text.trim().replace(',', '.');
            return /^-?(\d{1,9}(\.\d{0,9})?|\.\d{1,9})$/.test(bare) ? Number(bare) : text.trim();
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
export const format = createFormat(typeof document === 'undefined' ? 'en' : navigator.language);

// A part of the card that the core gives item by item only.
export const sumOf = <Part extends { bytes: number; share: number }>(parts: Part[]): { bytes: number; share: number } => ({
    bytes: parts.reduce((sum, part) => sum + part.bytes, 0),
    share: parts.reduce((sum, part) => sum + part.share, 0),
});
