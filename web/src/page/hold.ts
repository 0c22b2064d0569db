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
    const keep = (): void => {
        // Another one in the address, or the way back: the browser goes there. Its event comes too late where a part has just filled.
        if (held !== location.hash.slice(1)) held = '';
        const to = held && document.getElementById(held);
        if (!to) return;
        to.scrollIntoView({ behavior: 'instant' });
        // The link is gone with the plain screen: who hears the page or has no mouse goes on from here.
        if (document.activeElement !== document.body) return;
        to.tabIndex = -1;
        to.focus({ preventScroll: true });
    };
    if (main) new ResizeObserver(keep).observe(main);
}
