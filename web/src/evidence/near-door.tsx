import { useEffect, useState } from 'preact/hooks';
import type { Page } from '../store/page';
import { fetchWords, say } from '../words/words';

type View = typeof import('./near');
let fetched: View | undefined;

const PATIENCE_MS = 2000; // a browser that is never idle

// Once there is nothing else to do.
function whenIdle(go: () => void): () => void {
    if (typeof requestIdleCallback === 'function') {
        const asked = requestIdleCallback(go, { timeout: PATIENCE_MS });
        return () => cancelIdleCallback(asked);
    }
    const timer = setTimeout(go, PATIENCE_MS);
    return () => clearTimeout(timer);
}

// Where the measured runs nearest to the plan shown will stand: they come in a file of their own, and nothing waits for it.
export function NearRuns({ page }: { page: Page }) {
    const [view, draw] = useState(fetched);
    const [failed, fail] = useState(false);
    useEffect(() => {
        if (view) return;
        return whenIdle(() => {
            Promise.all([import('./near'), fetchWords('evidence')]).then(
                ([module]) => {
                    fetched = module;
                    draw(module);
                },
                () => fail(true),
            );
        });
    }, [view]);
    if (view && page.answer) return <view.Near page={page} answer={page.answer} />;
    return <p class="near">{failed ? say('later.failed') : <a href="#evidence">{say('near.title')}</a>}</p>;
}
