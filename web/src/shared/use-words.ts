import { useEffect, useState } from 'preact/hooks';
import type { Part } from '../words/parts';
import { fetchWords, hasWords } from '../words/words';

// Whether a part of the words is there. A view that asks brings it along, and is drawn again when it comes.
export function useWords(part: Part): boolean {
    const [, arrived] = useState(false);
    const there = hasWords(part);
    useEffect(() => {
        if (!there) fetchWords(part).finally(() => arrived(true));
    }, [there]);
    return there;
}
