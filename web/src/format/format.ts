// The only place where a number of the core becomes text, or a text of the reader a number. Nothing else on the page calculates
// with bytes, shares or counts.
import { digitsOf, lazily, type Numbers, numbersFormat } from './numbers';
import { type Sizes, sizesFormat } from './sizes';
import { type Times, timesFormat } from './times';
import { type Typed, typedFormat } from './typed';

export interface Format extends Numbers, Sizes, Times, Typed {
    enumerate(names: readonly string[]): string; // A, B, and C
}

// The reader's locale writes the digits; the language of the page has the words beside them: days, millions, "and".
export function createFormat(locale: string, language = 'en'): Format {
    const digits = digitsOf(locale);
    const decimal = lazily(
        () =>
            digits
                .decimals(1)
                .formatToParts(0.5)
                .find(({ type }) => type === 'decimal')?.value ?? '.',
    );
    const list = lazily(() => new Intl.ListFormat(language, { type: 'conjunction' }));
    return {
        ...numbersFormat(locale, language, digits),
        ...sizesFormat(digits),
        ...timesFormat(language, digits),
        ...typedFormat(decimal),
        enumerate: (names) => list().format(names),
    };
}

// English until the reader is known: while the page is drawn at build time, and in tests.
export let format = createFormat('en');

export function formatFor(locale: string, language: string): void {
    format = createFormat(locale, language);
}
