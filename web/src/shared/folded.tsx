// What is folded away until the reader opens it.
import type { ComponentChildren } from 'preact';

// The example drawn at build time leaves out what is folded away: nobody sees it, and everybody would download it.
const IN_BROWSER = typeof document !== 'undefined';

export function Folded({ title, mark, children }: { title: string; mark?: string | false; children: ComponentChildren }) {
    return (
        <details class="more">
            <summary>
                {title} {mark && <small>{mark}</small>}
            </summary>
            {IN_BROWSER && children}
        </details>
    );
}
