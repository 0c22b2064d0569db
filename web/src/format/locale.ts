// The reader's first language that can be one: some systems say "C", which Intl refuses with an exception.
export function usableLocale(tags: readonly string[]): string {
    for (const tag of tags) {
        try {
            return new Intl.NumberFormat(tag).resolvedOptions().locale;
        } catch {
            // the next one
        }
    }
    return 'en';
}

// Whose digits a page in that language shows: the reader's own. A page in English is read by people of every country; one in another
// language keeps to it.
export function localeFor(language: string, tags: readonly string[]): string {
    const fitting = language === 'en' ? tags : [...tags.filter((tag) => tag.startsWith(language)), language];
    return usableLocale(fitting);
}
