import { useState } from 'preact/hooks';
import { say } from '../words/words';

// Copies a text made at the click, and says that it did.
export function CopyButton({ label, text }: { label: string; text: () => string }) {
    const [done, setDone] = useState<string | null>(null);
    const copy = async () => {
        try {
            await navigator.clipboard.writeText(text());
            setDone(say('copy.done'));
        } catch {
            setDone(say('copy.failed'));
        }
        setTimeout(() => setDone(null), 2000);
    };
    return (
        <button type="button" aria-live="polite" onClick={copy}>
            {done ?? label}
        </button>
    );
}
