// Numbers without a unit, and shares.
export interface Numbers {
    count(value: number): string; // 8,192
    number(value: number): string; // any number of a formula, as exact as it is: 1.5
    fixed(value: number, digits: number): string; // so many decimals
    times(value: number): string; // two significant digits: 3.2, 580
    short(value: number, digits?: number): string; // 8.03 billion, in three digits or as many as are asked for
    dollars(value: number): string; // $0.30, $3.99, $96,000, $12.4 M, $149万
    rounded(value: number): string; // three significant digits, grouped: 77,300; 1.23 million
    measured(value: number): string; // a number of a time formula: whole numbers exactly, others to four digits; 9.894×10¹⁴
    percent(share: number): string; // 70 %
}

const NARROW = '\u202f'; // between a number and its unit, so that they never part at a line's end
export const spaced = (text: string, unit: string): string => `${text}${NARROW}${unit}`;
export const signed = (value: number, text: string): string => (value > 0 ? '+' : '−') + text;

// Made when it is first asked for, once for each number of digits: a browser takes milliseconds for one.
export function lazily<Made>(make: (digits: number) => Made): (digits?: number) => Made {
    const made: Made[] = [];
    return (digits = 0) => {
        made[digits] ??= make(digits);
        return made[digits];
    };
}

// Of three significant digits.
const decimalsOf = (value: number): number => (Math.abs(value) >= 99.95 ? 0 : Math.abs(value) >= 9.995 ? 1 : 2);

// How the reader's locale writes numbers; every other part of the format is made of these.
export type Digits = ReturnType<typeof digitsOf>;
export function digitsOf(locale: string) {
    const decimals = lazily((digits) => new Intl.NumberFormat(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits }));
    const significant = lazily((digits) => new Intl.NumberFormat(locale, { maximumSignificantDigits: digits }));
    return {
        decimals,
        significant,
        // Three significant digits whose trailing zeros stay (12.0): a column of numbers keeps its rhythm, and the reader sees how precise
        // a figure is.
        // `like`: what it stands beside.
        three: (value: number, like = value): string => decimals(decimalsOf(like)).format(value),
        decimalsOf,
        // The same, but what is whole stays so: 10 min that somebody has set.
        rounded: (value: number): string => (Number.isInteger(value) ? significant(3) : decimals(decimalsOf(value))).format(value),
        exact: (value: number): string => significant(15).format(value),
    };
}

// Decimals enough that a value never reads as one of the verdict's borders (80.3 % is not 80 %) or as nothing.
function shareDigits(share: number): number {
    const rounded = Math.round(share * 100);
    if (share > 0 && share < 0.01) return 1;
    const onBorder = rounded === 80 || rounded === 100;
    return onBorder && Math.abs(share * 100 - rounded) > 1e-9 ? 1 : 0;
}

// A whole number as an exponent.
const raised = (power: number): string => String(power).replace(/./g, (sign) => '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'['-0123456789'.indexOf(sign)] ?? '');

// `language` has the words for millions.
export function numbersFormat(locale: string, language: string, { decimals, exact, significant }: Digits): Numbers {
    const inMillions = (compactDisplay: 'long' | 'short', most: number, least: number) =>
        new Intl.NumberFormat(language, {
            notation: 'compact',
            compactDisplay,
            minimumSignificantDigits: least,
            maximumSignificantDigits: most,
            useGrouping: 'always', // 1,610億
        });
    const compact = lazily((digits) => inMillions('long', digits || 3, 1));
    const large = lazily(() => inMillions('short', 3, 3));
    const dollars = lazily(() => new Intl.NumberFormat(locale, { style: 'currency', currency: 'USD', maximumSignificantDigits: 3 }));
    const cents = lazily(() => new Intl.NumberFormat(locale, { style: 'currency', currency: 'USD' }));
    const symbol = lazily(
        () =>
            dollars()
                .formatToParts(0)
                .find(({ type }) => type === 'currency')?.value ?? '$',
    );
    return {
        count: (value) => decimals(0).format(value),
        number: exact,
        fixed: (value, digits) => decimals(digits).format(value),
        times: (value) => significant(2).format(value),
        short: (value, digits) => compact(digits).format(value),
        dollars: (value) =>
            value >= 999_500
                ? symbol() +
                  large()
                      .format(value)
                      .replace(/\d(?=[A-Z])/, spaced('$&', ''))
                : (value >= 0.01 && value < 99.995 ? cents() : dollars()).format(value),
        rounded: (value) => (value < 1e6 ? significant(3) : compact()).format(value),
        measured(value) {
            const rounded = Math.abs(Number(value.toPrecision(4))); // 99,999,999,999 is 1×10¹¹
            const power = value === 0 ? 0 : Math.floor(Math.log10(rounded));
            if (power >= 10 || power < -6) return `${significant(4).format(value / 10 ** power)}×10${raised(power)}`;
            return Number.isInteger(value) ? exact(value) : significant(Math.max(4, power + 2)).format(value); // never as if it were whole
        },
        percent: (share) =>
            share > 0 && share < 0.0005
                ? spaced(`< ${decimals(1).format(0.1)}`, '%')
                : spaced(decimals(shareDigits(share)).format(share * 100), '%'),
    };
}
