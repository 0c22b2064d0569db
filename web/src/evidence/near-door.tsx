import { useEffect, useState } from 'preact/hooks';
import { useFetched } from '../shared/fetched';
import type { Page } from '../store/page';
import { say } from '../words/words';

const load = () => import('./near');

const PATIENCE_MS = 2000; // a browser that is never idle
const SIGNS = ['pointermove', 'pointerdown', 'keydown', 'focusin', 'scroll'] as const;

// Once there is nothing else to do.
function whenIdle(go: () => void): () => void {
    if (typeof requestIdleCallback === 'function') {
        const asked = requestIdleCallback(go, { timeout: PATIENCE_MS });
        return () => cancelIdleCallback(asked);
    }
    const timer = setTimeout(go, PATIENCE_MS);
    return () => clearTimeout(timer);
}

// With the first sign of a reader, and then when the browser is idle.
function whenRead(go: () => void): () => void {
    let end = (): void => {};
    const seen = (): void => {
        forget();
        end = whenIdle(go);
    };
    const forget = (): void => {
        for (const sign of SIGNS) removeEventListener(sign, seen);
    };
    for (const sign of SIGNS) addEventListener(sign, seen, { passive: true });
    return () => {
        forget();
        end();
    };
}

// Where the measured runs nearest to the plan shown will stand: they come in a file of their own, and nothing waits for it.
export function NearRuns({ page }: { page: Page }) {
    const [wanted, want] = useState(false);
    const { view, failed } = useFetched(load, 'evidence', wanted);
    useEffect(() => (view ? undefined : whenRead(() => want(true))), []);
    if (view && page.answer) return <view.Near page={page} answer={page.answer} />;
    return <p class="near">{failed ? say('later.failed') : <a href="#evidence">{say('near.title')}</a>}</p>;
}
