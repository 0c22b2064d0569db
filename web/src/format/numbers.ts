// Numbers without a unit, and shares.
export interface Numbers {
    count(value: number): string; // 8,192
    number(value: number): string; // any number of a formula, as exact as it is: 1.5
    tenth(value: number): string; // at most one decimal: 17.8
    short(value: number): string; // 8.03 billion
    dollars(value: number): string; // $3.99, $96,000, $12.4 million
    rounded(value: number): string; // three significant digits, grouped: 77,300; 1.23 million
    measured(value: number): string; // a number of a time formula: whole numbers exactly, others to four digits; 9.894×10¹⁴
    percent(share: number): string; // 70 %
    percentTenth(share: number): string; // 1.5 %
    off(ratio: number): string; // how far from 1, signed: +12 %, −0.4 %
}

const NARROW = '\u202f'; // between a number and its unit, so that they never part at a line's end
export const spaced = (text: string, unit: string): string => `${text}${NARROW}${unit}`;
export const signed = (value: number, text: string): string => (value > 0 ? '+' : '−') + text;

// How the reader's locale writes numbers; every other part of the format is made of these.
export type Digits = ReturnType<typeof digitsOf>;
export function digitsOf(locale: string) {
    const decimals = (digits: number) => new Intl.NumberFormat(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits });
    const fixed = [decimals(0), decimals(1), decimals(2)] as const;
    return {
        decimals,
        fixed,
        exact: new Intl.NumberFormat(locale, { maximumSignificantDigits: 15 }),
        // Three significant digits whose trailing zeros stay (12.0): a column of numbers keeps its rhythm, and the reader sees how precise
        // a figure is.
        three(value: number): string {
            const size = Math.abs(value);
            return (size >= 99.95 ? fixed[0] : size >= 9.995 ? fixed[1] : fixed[2]).format(value);
        },
        significant: (digits: number) => new Intl.NumberFormat(locale, { maximumSignificantDigits: digits }),
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
const raised = (power: number): string => [...String(power)].map((digit) => (digit === '-' ? '⁻' : '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)])).join('');

// `language` has the words for millions.
export function numbersFormat(locale: string, language: string, { fixed, exact, significant }: Digits): Numbers {
    const oneDecimal = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });
    const compact = new Intl.NumberFormat(language, { notation: 'compact', compactDisplay: 'long', maximumSignificantDigits: 3 });
    const [three, four] = [significant(3), significant(4)];
    const dollars = new Intl.NumberFormat(locale, { style: 'currency', currency: 'USD', maximumSignificantDigits: 3 });
    return {
        count: (value) => fixed[0].format(value),
        number: (value) => exact.format(value),
        tenth: (value) => oneDecimal.format(value),
        short: (value) => compact.format(value),
        dollars: (value) => (value < 1e6 ? dollars.format(value) : `$${compact.format(value)}`),
        rounded: (value) => (value < 1e6 ? three : compact).format(value),
        measured(value) {
            const power = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value)));
            if (power >= 10 || power < -6) return `${four.format(value / 10 ** power)}×10${raised(power)}`;
            return (Number.isInteger(value) ? exact : four).format(value);
        },
        percent: (share) =>
            share > 0 && share < 0.0005
                ? spaced(`< ${fixed[1].format(0.1)}`, '%')
                : spaced(fixed[shareDigits(share)]?.format(share * 100) ?? '', '%'),
        percentTenth: (share) => spaced(oneDecimal.format(share * 100), '%'),
        off(ratio) {
            const percent = Math.abs(ratio - 1) * 100;
            if (percent < 0.05) return spaced('±0', '%');
            return signed(ratio - 1, spaced(fixed[percent < 9.95 ? 1 : 0].format(percent), '%'));
        },
    };
}
