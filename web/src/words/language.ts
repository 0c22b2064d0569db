// The languages of the page, and which of them the reader wants: by the link, by an earlier choice, by the browser.
export const LANGUAGES = { en: 'English', ja: '日本語', zh: '中文' } as const;
export type Language = keyof typeof LANGUAGES;

export const LANGUAGE_PARAMETER = 'lang'; // of a link
const KEY = 'fourfold-language';

const known = (tag: string | null | undefined): Language | undefined => {
    const base = tag?.toLowerCase().split(/[-_]/)[0] ?? '';
    return base in LANGUAGES ? (base as Language) : undefined;
};

function stored(): string | null {
    try {
        return localStorage.getItem(KEY);
    } catch {
        return null; // storage may be forbidden, in an embedded page for one
    }
}

export function languageOf(query: string, remembered: string | null, tags: readonly string[]): Language {
    const linked = new URLSearchParams(query).get(LANGUAGE_PARAMETER);
    return known(linked) ?? known(remembered) ?? tags.map(known).find((one) => one !== undefined) ?? 'en';
}

export const readersLanguage = (): Language => languageOf(location.search, stored(), navigator.languages);

export function rememberLanguage(language: Language): void {
    try {
        localStorage.setItem(KEY, language);
    } catch {
        // Then the choice holds until the page is closed.
    }
}
