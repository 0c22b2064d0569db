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
