import { useEffect, useRef, useState } from 'preact/hooks';

// Round marks for a scale from nothing to `end`, about `wanted` of them.
export function marks(end: number, wanted: number): number[] {
    const rough = end / wanted;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
    return Array.from({ length: Math.floor(end / step + 1e-9) + 1 }, (_, i) => i * step);
}

// Charts drawn in pixels of the room there is.
export function useWidth() {
    const box = useRef<HTMLDivElement>(null);
    const [width, setWidth] = useState(640);
    useEffect(() => {
        // a folded part has no room: nothing is drawn there, and nothing is divided by it
        const watcher = new ResizeObserver(
            ([entry]) => entry && entry.contentRect.width > 0 && setWidth(Math.max(1, Math.round(entry.contentRect.width))),
        );
        if (box.current) watcher.observe(box.current);
        return () => watcher.disconnect();
    }, []);
    return { box, width };
}
