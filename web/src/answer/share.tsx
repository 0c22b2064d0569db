import { useState } from 'preact/hooks';
import { spokenOf } from '../shared/answer-words';
import type { Page } from '../store/page';
import { say } from '../words/words';

export function Share({ page }: { page: Page }) {
    const [state, setState] = useState<'shared' | 'share_failed' | null>(null);
    const share = async () => {
        try {
            await navigator.clipboard.writeText(`${spokenOf(page)}\n${location.href}`);
            setState('shared');
        } catch {
            setState('share_failed'); // the clipboard may be forbidden, in an embedded page for one
        }
        setTimeout(() => setState(null), 2500);
    };
    return (
        <button type="button" class="prime" aria-live="polite" onClick={share}>
            {state ? say(`answer.${state}`) : say('answer.share')}
        </button>
    );
}
