import { useEffect, useState } from 'preact/hooks';
import { whenIdle } from '../boot/load';
import { fetchPart, useFetched } from '../shared/fetched';
import { say } from '../words/words';
import { unusualOf } from './whose';

// The doors to what stands behind an answer (behind.ts), with the names that it says.
type Behind = typeof import('./behind');
const loadBehind = (): Promise<Behind> => import('./behind');
export const fetchBehind = (): Promise<Behind> => fetchPart(loadBehind, 'names');
const useBehind = (wanted = true) => useFetched(loadBehind, 'names', wanted);

const waiting = (failed: boolean): string => (failed ? say('notice.missing') : say('later.coming'));

export function LaterChanges(props: Parameters<Behind['Changes']>[0]) {
    const { view } = useBehind();
    return view ? <view.Changes {...props} /> : <div class="changes" />; // nobody misses them before the answer has been read, but their room is kept
}

export function LaterBest(props: Parameters<Behind['Best']>[0]) {
    const { view } = useBehind();
    return view ? <view.Best {...props} /> : null;
}

export function LaterProblems(props: Parameters<Behind['Problems']>[0]) {
    const { view } = useBehind(props.page.problems.length > 0); // what is wrong is not drawn before this is there (main.tsx)
    return view ? <view.Problems {...props} /> : null;
}

export function LaterBesides(props: Parameters<Behind['Besides']>[0]) {
    const { job, host } = props.answer;
    const [idle, rest] = useState(false); // what paper needs besides is asked for when nothing else is
    useEffect(() => whenIdle(() => rest(true)), []);
    const { view } = useBehind(idle || host !== null || unusualOf(props.page).length + Number(job.time_runs) + Number(job.memory_runs) > 0);
    return view ? <view.Besides {...props} /> : null;
}

export function LaterWarnings(props: Parameters<Behind['Warnings']>[0]) {
    const { view } = useBehind();
    return view ? <view.Warnings {...props} /> : null;
}

export function LaterPinButton(props: Parameters<Behind['PinButton']>[0]) {
    const { view } = useBehind();
    return view ? <view.PinButton {...props} /> : null;
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
