import type { ButtonHTMLAttributes } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

// A button that goes once it has done what it says. Who pressed it stands before the answer then, not at the top of the page.
export function Press(props: ButtonHTMLAttributes<HTMLButtonElement>) {
    const own = useRef<HTMLButtonElement>(null);
    useLayoutEffect(() => {
        const { current } = own;
        return () => {
            if (document.activeElement === current) document.getElementById('answer')?.focus({ preventScroll: true });
        };
    }, []);
    return <button type="button" ref={own} {...props} />;
}
