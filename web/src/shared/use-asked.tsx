import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { say } from '../words/words';

// What a room has to say of a question that is asked by a press: nothing yet, that it is being worked on, that it failed, or the answer.
export type Asked<T> = T | 'working' | 'failed' | null;

// `ask` begins the work, `end` ends it. What is changed in `about` makes the answer one to another question: it goes, and one that is still
// to come is not heard.
export function useAsked<T>(ask: () => Promise<T>, end: () => void, about: readonly unknown[]): [Asked<T>, () => void, () => void] {
    const [answer, tell] = useState<Asked<T>>(null);
    const asked = useRef(0);
    const forget = (): void => {
        asked.current += 1;
        tell(null);
    };
    useEffect(forget, about);
    useEffect(() => () => end(), []);
    const start = (): void => {
        asked.current += 1;
        const mine = asked.current;
        tell('working');
        const done = (result: Asked<T>): void => {
            if (mine === asked.current) tell(() => result);
        };
        ask().then(done, () => done('failed'));
    };
    const stop = (): void => {
        forget();
        end();
    };
    return [answer, start, stop];
}

interface AskProps<T> {
    answer: Asked<T>;
    ask(): void;
    stop(): void;
    label: string;
}

export function AskButton<T>({ answer, ask, stop, label }: AskProps<T>) {
    return answer === 'working' ? (
        <button type="button" onClick={stop}>
            {say('phases.stop')}
        </button>
    ) : (
        <button type="button" class="prime" onClick={ask}>
            {label}
        </button>
    );
}

// What a screen reader hears of it as well; `working`: what is being done.
export function AskStatus<T>({ answer, working, children }: { answer: Asked<T>; working: string; children: ComponentChildren }) {
    const note = answer === 'working' ? working : answer === 'failed' ? say('phases.failed') : null;
    return (
        <div role="status">
            {note !== null && <p class="note">{note}</p>}
            {children}
        </div>
    );
}
