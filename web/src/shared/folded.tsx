// What is folded away until the reader opens it.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

// The example drawn at build time leaves out what is folded away: nobody sees it, and everybody would download it.
const IN_BROWSER = typeof document !== 'undefined';

interface Props {
    title: string;
    mark?: string | false;
    late?: boolean; // what is inside is made when it is opened first
    children: ComponentChildren;
}

export function Folded({ title, mark, late = false, children }: Props) {
    const [opened, open] = useState(!late);
    const box = useRef<HTMLDetailsElement>(null);
    // Opened in the built page, before anything could hear of it.
    useEffect(() => {
        if (box.current?.open) open(true);
    }, []);
    return (
        <details ref={box} class="more" onToggle={({ currentTarget }) => currentTarget.open && open(true)}>
            <summary>
                {title} {mark && <small>{mark}</small>}
            </summary>
            {IN_BROWSER && opened && children}
        </details>
    );
}
