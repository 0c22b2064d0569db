import { useEffect, useState } from 'preact/hooks';
import { Room } from '../shared/room';
import { MAX_PINS } from '../state/state';
import type { Actions, Page } from '../store/page';
import { say } from '../words/words';

// The table comes in a file of its own: who pins nothing goes without it.
let table: typeof import('./table') | undefined;

function useTable(wanted: boolean): { table: typeof table; failed: boolean } {
    const [failed, fail] = useState(false);
    const [, redraw] = useState(table);
    useEffect(() => {
        if (!wanted) return;
        import('./table').then(
            (fetched) => {
                table = fetched;
                redraw(fetched);
            },
            () => fail(true),
        );
    }, [wanted]);
    return { table, failed };
}

function Empty({ page, act }: { page: Page; act: Actions }) {
    const { answer, problems } = page;
    return (
        <>
            <p>{say('compare.empty', { button: say('pins.pin'), most: MAX_PINS })}</p>
            {answer && problems.length === 0 && (
                <p class="acts">
                    <button type="button" onClick={() => act.pin(answer.job)}>
                        {say('compare.pin_this')}
                    </button>
                </p>
            )}
        </>
    );
}

// Where pinned plans stand beside the one shown, and how to pin one.
export function Compare({ page, act }: { page: Page; act: Actions }) {
    const some = page.pins.length > 0;
    const { table, failed } = useTable(some);
    return (
        <Room id="compare" class={some ? 'plans compare' : 'plans'} title={say('section.compare')} focusable>
            {!some && <Empty page={page} act={act} />}
            {some &&
                (table ? (
                    <table.CompareTable page={page} act={act} />
                ) : (
                    <p class="note">{failed ? say('notice.missing') : say('later.coming')}</p>
                ))}
        </Room>
    );
}
