import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { say } from '../words/words';

interface Props<Fetched> {
    label: string;
    prime?: boolean;
    fetch(): Promise<Fetched>;
    draw(fetched: Fetched, close: () => void): ComponentChildren; // the dialog
}

// A button that opens a dialog. What stands in it is fetched with each press; when it closes, the button has the focus again.
export function DialogDoor<Fetched>({ label, prime = false, fetch, draw }: Props<Fetched>) {
    const [state, setState] = useState<'closed' | 'coming' | 'failed' | { fetched: Fetched }>('closed');
    const button = useRef<HTMLButtonElement>(null);
    const open = async () => {
        setState('coming');
        setState(
            await fetch().then(
                (fetched) => ({ fetched }),
                () => 'failed' as const,
            ),
        );
    };
    const close = () => {
        setState('closed');
        button.current?.focus();
    };
    const opened = typeof state === 'object';
    return (
        <>
            <button
                ref={button}
                type="button"
                {...(prime && { class: 'prime' })}
                aria-haspopup="dialog"
                aria-expanded={opened}
                aria-busy={state === 'coming'}
                onClick={open}
            >
                {label}
            </button>
            {state === 'failed' && (
                <span class="note" role="alert">
                    {say('notice.missing')}
                </span>
            )}
            {opened && draw(state.fetched, close)}
        </>
    );
}
