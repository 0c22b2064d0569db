import { useFetched } from '../shared/fetched';
import { say } from '../words/words';

// The doors to what stands behind an answer (behind.ts), with the names that it says.
type Behind = typeof import('./behind');
export const loadBehind = (): Promise<Behind> => import('./behind');
const useBehind = () => useFetched(loadBehind, 'names', true);

const waiting = (failed: boolean): string => (failed ? say('later.failed') : say('later.coming'));

export function LaterChanges(props: Parameters<Behind['Changes']>[0]) {
    const { view } = useBehind();
    return view ? <view.Changes {...props} /> : null; // nobody misses them before the answer has been read
}

export function LaterTerms(props: Parameters<Behind['Terms']>[0]) {
    const { view } = useBehind();
    return view ? <view.Terms {...props} /> : null;
}

export function LaterWhy(props: Parameters<Behind['Why']>[0]) {
    const { view, failed } = useBehind();
    return view ? <view.Why {...props} /> : <span>{waiting(failed)}</span>;
}

export function LaterGrounds(props: Parameters<Behind['Grounds']>[0]) {
    const { view, failed } = useBehind();
    return view ? <view.Grounds {...props} /> : <p class="note">{waiting(failed)}</p>;
}
