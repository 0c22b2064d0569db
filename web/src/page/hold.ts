// A section that the reader went to by its link stays at the top while the parts above it fill, until the reader moves on.
const MOVES = ['wheel', 'touchmove', 'keydown', 'pointerdown'];

export function holdSection(): void {
    const [entry] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
    // Coming back, the browser finds the old place itself; after a reload the page is not tall enough for that.
    let held = entry?.type === 'back_forward' ? '' : location.hash.slice(1);
    const main = document.querySelector('main');
    for (const move of MOVES) {
        addEventListener(
            move,
            () => {
                held = '';
            },
            { capture: true, passive: true },
        );
    }
    addEventListener('click', ({ target }) => {
        const link = target instanceof Element ? target.closest<HTMLAnchorElement>('a[href^="#"]') : null;
        if (link) held = link.hash.slice(1);
    });
    // Another one in the address, or the way back: the browser goes there.
    addEventListener('hashchange', () => {
        if (held !== location.hash.slice(1)) held = '';
    });
    const keep = (): void => {
        if (held) document.getElementById(held)?.scrollIntoView({ behavior: 'instant' });
    };
    if (main) new ResizeObserver(keep).observe(main);
}
