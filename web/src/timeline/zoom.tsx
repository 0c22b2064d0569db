import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Timeline } from '../core/api';
import { useWidth } from '../shared/drawing';
import { say } from '../words/words';
import { mostZoom, scrolled } from './passes';

export const STEP = 1.6; // of a zoom

// How much of the drawing the window shows, in pixels and seconds. The window scrolls by itself; here it only learns where it must stand
// after zooming.
export function useZoom(line: Timeline) {
    const { box, width } = useWidth();
    const [zoom, setZoom] = useState(1);
    const [left, setLeft] = useState(0); // px scrolled
    const wanted = useRef<number | null>(null); // where to scroll once the drawing is as wide as the new zoom asks
    const most = useMemo(() => mostZoom(line), [line]);
    const scale = Math.min(zoom, most);
    const inner = Math.max(width, Math.floor(width * scale));
    const total = line.drawn_seconds;
    useLayoutEffect(() => {
        const frame = box.current;
        if (!frame || wanted.current === null) return;
        frame.scrollLeft = wanted.current;
        wanted.current = null;
        setLeft(frame.scrollLeft);
    });
    return {
        box,
        width,
        inner,
        scale,
        most,
        setLeft,
        timeAt: (px: number): number => ((left + px) / inner) * total,
        pxAt: (time: number): number => (time / total) * inner - left,
        // `anchor`: px of the view that stay where they are
        zoomTo(next: number, anchor: number) {
            const bounded = Math.max(1, Math.min(most, next));
            wanted.current = scrolled(left, anchor, width, scale, bounded);
            setZoom(bounded);
        },
        show(from: number, to: number) {
            const next = Math.max(1, Math.min(most, total / Math.max(to - from, total / most)));
            wanted.current = ((from + to) / 2 / total) * width * next - width / 2;
            setZoom(next);
        },
    };
}
export type Zoom = ReturnType<typeof useZoom>;

// The wheel zooms with Ctrl alone, so that the page can be scrolled over the drawing. A listener set by Preact could not hold the page.
export function useWheel({ box, scale, zoomTo }: Zoom): void {
    const act = useRef<(event: WheelEvent) => void>(() => {});
    act.current = (event) => {
        if (!event.ctrlKey || !box.current) return;
        event.preventDefault();
        zoomTo(scale * STEP ** (-event.deltaY / 100), event.clientX - box.current.getBoundingClientRect().left);
    };
    useEffect(() => {
        const frame = box.current;
        const listener = (event: WheelEvent) => act.current(event);
        frame?.addEventListener('wheel', listener, { passive: false });
        return () => frame?.removeEventListener('wheel', listener);
    }, []);
}

export function Buttons({ zoom: { scale, most, zoomTo }, anchor }: { zoom: Zoom; anchor(): number }) {
    const button = (label: string, sign: string, able: boolean, act: () => void) => (
        <button type="button" aria-label={label} aria-disabled={!able} onClick={() => able && act()}>
            {sign}
        </button>
    );
    return (
        // biome-ignore lint/a11y/useSemanticElements: three buttons, no form
        <div class="acts" role="group" aria-label={say('timeline.zoom')}>
            {button(say('timeline.zoom_out'), '−', scale > 1, () => zoomTo(scale / STEP, anchor()))}
            {button(say('timeline.zoom_in'), '+', scale < most, () => zoomTo(scale * STEP, anchor()))}
            {button(say('timeline.whole'), say('timeline.whole'), scale > 1, () => zoomTo(1, 0))}
        </div>
    );
}
