import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Part } from '../words/parts';
import { fetchWords, say } from '../words/words';
import { Room } from './room';

interface Props<View> {
    id: 'placement' | 'phases' | 'pools';
    parameter?: string; // of a link that opens the room
    texts: { intro: string; open: string };
    words: Part;
    load: () => Promise<View>;
    children: (view: View) => VNode;
}

// A room that few enter: its view comes in a file of its own, with the button that asks for it, or with a link to the room.
export function Door<View>({ id, parameter, texts, words, load, children }: Props<View>) {
    const [opened, open] = useState(false);
    const [failed, fail] = useState(false);
    const [view, show] = useState<{ of: View } | null>(null);
    const box = useRef<HTMLElement>(null);
    const start = (): void => {
        open(true);
        Promise.all([load(), fetchWords(words)]).then(
            ([of]) => show({ of }),
            () => fail(true),
        );
    };
    useEffect(() => {
        const look = (): void => {
            const asked = parameter !== undefined && new URLSearchParams(location.search).has(parameter);
            if (location.hash === `#${id}` || asked) start();
        };
        look();
        addEventListener('hashchange', look);
        return () => removeEventListener('hashchange', look);
    }, []);
    // The button that was pressed is gone: who goes on by keyboard, goes on from here.
    const enter = (): void => {
        box.current?.focus({ preventScroll: true });
        start();
    };
    const waiting = (): ComponentChildren => <p class="note">{failed ? say('notice.missing') : say('later.coming')}</p>;
    return (
        <Room id={id} class={`plans ${id}`} title={say(`section.${id}`)} box={box} focusable>
            <p class="note intro">{texts.intro}</p>
            {!opened && (
                <p class="acts">
                    <button type="button" onClick={enter}>
                        {texts.open}
                    </button>
                </p>
            )}
            {opened && (view ? children(view.of) : waiting())}
        </Room>
    );
}
