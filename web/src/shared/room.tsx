// A room of the page: what lies below the first screen, with its heading. On a phone the heading opens and closes it.
import type { ComponentChildren, Ref } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ROOM_PARAMETERS } from '../state/view';

const narrowScreen = () => matchMedia('screen and (max-width: 45rem)'); // as in plans.css
// What the reader opened stays open when a room is drawn anew. A link into a room, or with what stands in it, opens it.
const opened = new Set<string>();
const isLinked = (id: string): boolean =>
    location.hash === `#${id}` || (ROOM_PARAMETERS.includes(id) && new URLSearchParams(location.search).has(id));

// The built page knows no width: nothing is closed in it. Where the screen becomes narrow, what is open stays open.
function useNarrow(id: string): boolean {
    const [narrow, setNarrow] = useState(() => typeof matchMedia !== 'undefined' && narrowScreen().matches);
    useEffect(() => {
        const query = narrowScreen();
        const changed = () => {
            if (query.matches) opened.add(id);
            setNarrow(query.matches);
        };
        query.addEventListener('change', changed);
        return () => query.removeEventListener('change', changed);
    }, [id]);
    return narrow;
}

interface Props {
    id: string;
    title: ComponentChildren;
    class?: string;
    aside?: boolean;
    focusable?: boolean;
    box?: Ref<HTMLElement>;
    children: ComponentChildren;
}

export function Room({ id, title, class: name, aside = false, focusable = false, box, children }: Props) {
    const narrow = useNarrow(id);
    const [, redraw] = useState(0);
    const turn = (open: boolean): void => {
        if (open) opened.add(id);
        else opened.delete(id);
        redraw((times) => times + 1);
    };
    useEffect(() => {
        const look = (): void => {
            if (isLinked(id)) turn(true);
        };
        look();
        addEventListener('hashchange', look);
        return () => removeEventListener('hashchange', look);
    }, [id]);
    const open = !narrow || opened.has(id);
    const Box = aside ? 'aside' : 'section';
    return (
        <Box ref={box as never} id={id} class={name} aria-labelledby={`${id}-title`} tabIndex={focusable ? -1 : undefined}>
            <h2 id={`${id}-title`}>
                {narrow ? (
                    <button type="button" class="room-door" aria-expanded={open} onClick={() => turn(!open)}>
                        {title}
                    </button>
                ) : (
                    title
                )}
            </h2>
            {open && children}
        </Box>
    );
}
