import { useEffect, useState } from 'preact/hooks';
import { Room } from '../shared/room';
import type { Actions, Page } from '../store/page';
import { fetchWords, say } from '../words/words';
import type { Placing } from './search';

// Few have measured their links: the view comes in a file of its own, with the button that asks for it.
let fetched: typeof import('./view') | undefined;

export function Placement({ page, act, placing }: { page: Page; act: Actions; placing: Placing }) {
    const [opened, open] = useState(false);
    const [failed, fail] = useState(false);
    const [, redraw] = useState(fetched);
    const start = () => {
        open(true);
        Promise.all([import('./view'), fetchWords('placement')]).then(
            ([view]) => {
                fetched = view;
                redraw(view);
            },
            () => fail(true),
        );
    };
    // Who comes by a link to it has measured already.
    useEffect(() => {
        const look = (): void => {
            if (location.hash === '#placement') start();
        };
        look();
        addEventListener('hashchange', look);
        return () => removeEventListener('hashchange', look);
    }, []);
    return (
        <Room id="placement" class="plans placement" title={say('section.placement')}>
            <p class="note intro">{say('placement_door.intro')}</p>
            {!opened && (
                <p class="acts">
                    <button type="button" onClick={start}>
                        {say('placement_door.open')}
                    </button>
                </p>
            )}
            {opened &&
                (fetched ? (
                    <fetched.PlacementView page={page} act={act} placing={placing} />
                ) : (
                    <p class="note">{failed ? say('later.failed') : say('later.coming')}</p>
                ))}
        </Room>
    );
}
