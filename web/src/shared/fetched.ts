import { useEffect, useState } from 'preact/hooks';
import type { Part } from '../words/parts';
import { fetchWords } from '../words/words';

type Load<View> = () => Promise<View>;
const known = new Map<Load<unknown>, unknown>();

export async function fetchPart<View>(load: Load<View>, words: Part): Promise<View> {
    const [view] = await Promise.all([load(), fetchWords(words)]);
    known.set(load, view);
    return view;
}

// A part in a file of its own, with its words: fetched once it is wanted, and there at once ever after. `load` must stay the same function.
export function useFetched<View>(load: Load<View>, words: Part, wanted: boolean): { view: View | undefined; failed: boolean } {
    const [view, draw] = useState(known.get(load) as View | undefined);
    const [failed, fail] = useState(false);
    useEffect(() => {
        if (view || !wanted) return;
        fetchPart(load, words).then(draw, () => fail(true));
    }, [wanted]);
    return { view, failed };
}
