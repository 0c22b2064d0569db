import { formatFor } from '../format/format';
import { localeFor } from '../format/locale';
import type { Language } from '../words/language';
import { speak } from '../words/words';

// The words of a language, and the numbers in the way of the reader's locale.
export async function speakTo(language: Language): Promise<void> {
    await speak(language);
    formatFor(localeFor(language, [navigator.language, ...navigator.languages]), language);
}
