import { useEffect, useRef, useState } from 'preact/hooks';
import type { Value } from '../state/state';
import { withView } from '../state/view';

// Numbers as they were typed, in a link.
export const readValue = (text: string): Value => (text && Number.isFinite(Number(text)) ? Number(text) : text);
export const writeValue = (value: Value): string => encodeURIComponent(String(value));

// `typed`: the field that is typed into.
type Change<T> = (next: T, typed?: string) => void;

// What a room keeps in the link alone. A change is a step of the history, as one of the run is; all that is typed into a field, one step.
export function useLinked<T>(parameter: string, read: (text: string | null) => T, write: (value: T) => string): [T, Change<T>] {
    const now = (): T => read(new URLSearchParams(location.search).get(parameter));
    const [value, set] = useState<T>(now);
    const latest = useRef(now);
    latest.current = now;
    const typing = useRef<string | undefined>(undefined);
    useEffect(() => {
        const follow = (): void => {
            typing.current = undefined;
            const linked = latest.current();
            set((shown) => (write(shown) === write(linked) ? shown : linked)); // a way to a section is no change
        };
        const left = (): void => {
            typing.current = undefined;
        };
        addEventListener('popstate', follow);
        addEventListener('focusout', left);
        return () => {
            removeEventListener('popstate', follow);
            removeEventListener('focusout', left);
        };
    }, []);
    const change: Change<T> = (next, typed) => {
        set(next);
        const goesOn = typed !== undefined && typed === typing.current;
        typing.current = typed;
        const link = withView(location.search, parameter, write(next)) + location.hash;
        if (goesOn) history.replaceState(history.state, '', link);
        else history.pushState(null, '', link);
    };
    return [value, change];
}
