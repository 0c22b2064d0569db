import { useEffect, useState } from 'preact/hooks';
import { Room } from '../shared/room';
import type { Page } from '../store/page';
import { fetchWords, say } from '../words/words';
import type { Phaser } from './ask';

// Most ask for one phase: the view comes in a file of its own, with the button that asks for it.
let fetched: typeof import('./view') | undefined;

export function Phases({ page, phaser }: { page: Page; phaser: Phaser }) {
    const [opened, open] = useState(false);
    const [failed, fail] = useState(false);
    const [, redraw] = useState(fetched);
    const start = () => {
        open(true);
        Promise.all([import('./view'), fetchWords('phases')]).then(
            ([view]) => {
                fetched = view;
                redraw(view);
            },
            () => fail(true),
        );
    };
    // A link with phases, or to this section, opens it.
    useEffect(() => {
        const look = (): void => {
            if (location.hash === '#phases' || new URLSearchParams(location.search).has('phases')) start();
        };
        look();
        addEventListener('hashchange', look);
        return () => removeEventListener('hashchange', look);
    }, []);
    return (
        <Room id="phases" class="plans phases" title={say('section.phases')}>
            <p class="note intro">{say('phases_door.intro')}</p>
            {!opened && (
                <p class="acts">
                    <button type="button" onClick={start}>
                        {say('phases_door.open')}
                    </button>
                </p>
            )}
            {opened &&
                (fetched ? (
                    <fetched.PhasesView page={page} phaser={phaser} />
                ) : (
                    <p class="note">{failed ? say('later.failed') : say('later.coming')}</p>
                ))}
        </Room>
    );
}
