import { useEffect, useRef, useState } from 'preact/hooks';
import { Room } from '../shared/room';
import type { Page } from '../store/page';
import { fetchWords, say } from '../words/words';
import type { Prover } from './prove';

const NEAR = '600px'; // below the screen: from there on the reader is on the way

let fetched: typeof import('./view') | undefined;

// The section's place. What it holds comes when the reader comes near, and only then is anything calculated for it.
export function Evidence({ page, prover }: { page: Page; prover: Prover }) {
    const place = useRef<HTMLElement>(null);
    const [failed, fail] = useState(false);
    const [view, draw] = useState(fetched);
    useEffect(() => {
        const section = place.current;
        if (view || !section) return;
        const come = (): void => {
            Promise.all([import('./view'), fetchWords('evidence')]).then(
                ([module]) => {
                    fetched = module;
                    draw(module);
                },
                () => fail(true),
            );
        };
        const watch = new IntersectionObserver(
            (entries) => {
                if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
                watch.disconnect();
                come();
            },
            { rootMargin: NEAR },
        );
        watch.observe(section);
        return () => watch.disconnect();
    }, [view]);
    return (
        <Room box={place} id="evidence" class="plans evidence" title={say('section.evidence')}>
            {view ? (
                <view.EvidenceView page={page} prover={prover} />
            ) : (
                <p class="note">{failed ? say('notice.missing') : say('later.coming')}</p>
            )}
        </Room>
    );
}
