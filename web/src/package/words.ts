// All words at once, in one language at a time.
import { formatFor } from '../format/format';
import type { Language } from '../words/language';
import { PARTS } from '../words/parts';
import { fetchWords, speak } from '../words/words';

export async function speakAll(language: Language): Promise<void> {
    await speak(language);
    await fetchWords(...PARTS);
    formatFor(language, language);
}
