import { useRef, useState } from 'preact/hooks';
import type { Page } from '../store/page';
import { fetchWords, say } from '../words/words';

// The button that shares the answer shown. What it opens comes in a file of its own, with the first press.
type Panel = typeof import('./panel');
let fetched: Panel | undefined;

async function fetchPanel(): Promise<Panel> {
    const [panel] = await Promise.all([import('./panel'), fetchWords('share')]);
    fetched = panel;
    return panel;
}

export function Share({ page }: { page: Page }) {
    const [state, setState] = useState<'closed' | 'coming' | 'open' | 'failed'>('closed');
    const button = useRef<HTMLButtonElement>(null);
    const open = async () => {
        setState(fetched ? 'open' : 'coming');
        setState(
            await fetchPanel().then(
                () => 'open' as const,
                () => 'failed' as const,
            ),
        );
    };
    const close = () => {
        setState('closed');
        button.current?.focus();
    };
    return (
        <>
            <button
                ref={button}
                type="button"
                class="prime"
                aria-haspopup="dialog"
                aria-expanded={state === 'open'}
                aria-busy={state === 'coming'}
                onClick={open}
            >
                {say('answer.share')}
            </button>
            {state === 'failed' && (
                <span class="note" role="alert">
                    {say('later.failed')}
                </span>
            )}
            {state === 'open' && fetched && page.answer && <fetched.SharePanel page={page} answer={page.answer} close={close} />}
        </>
    );
}
