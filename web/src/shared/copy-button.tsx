import { useState } from 'preact/hooks';
import { t } from '../i18n';

// Copies a text made at the click, and says that it did.
export function CopyButton({ label, text }: { label: string; text: () => string }) {
    const [done, setDone] = useState<string | null>(null);
    const copy = async () => {
        try {
            await navigator.clipboard.writeText(text());
            setDone(t.items.copied);
        } catch {
            setDone(t.items.copyFailed);
        }
        setTimeout(() => setDone(null), 2000);
    };
    return (
        <button type="button" aria-live="polite" onClick={copy}>
            {done ?? label}
        </button>
    );
}
