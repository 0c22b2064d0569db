import { useState } from 'preact/hooks';
import { t } from '../i18n';
import { m } from '../i18n/more';
import type { Actions, Page } from '../store/page';
import type { Placing } from './search';

// Few have measured their links: the view comes in a file of its own, with the button that asks for it.
let fetched: typeof import('./view') | undefined;

export function Placement({ page, act, placing }: { page: Page; act: Actions; placing: Placing }) {
    const [opened, open] = useState(false);
    const [failed, fail] = useState(false);
    const [, redraw] = useState(fetched);
    const start = () => {
        open(true);
        import('./view').then(
            (view) => {
                fetched = view;
                redraw(view);
            },
            () => fail(true),
        );
    };
    return (
        <section id="placement" class="plans placement" aria-labelledby="placement-title">
            <h2 id="placement-title">{m.placement.title}</h2>
            <p class="note intro">{m.placement.intro}</p>
            {!opened && (
                <p class="acts">
                    <button type="button" onClick={start}>
                        {m.placement.open}
                    </button>
                </p>
            )}
            {opened &&
                (fetched ? (
                    <fetched.PlacementView page={page} act={act} placing={placing} />
                ) : (
                    <p class="note">{failed ? t.later.failed : t.later.coming}</p>
                ))}
        </section>
    );
}
