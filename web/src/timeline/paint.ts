import type { PassKind, Timeline } from '../core/api';
import { passesIn, unitOf, waitsIn } from './passes';

// Passes on a canvas: there may be thousands, and a view that moves is drawn anew for every frame.
export interface Rows {
    height: number; // px of a stage
    pitch: number; // px from one stage to the next
}

// As tall as the number of stages allows.
export function rowsFor(stages: number): Rows {
    const height = stages <= 8 ? 28 : stages <= 16 ? 20 : stages <= 32 ? 14 : stages <= 64 ? 9 : 5;
    return { height, pitch: height + (height >= 14 ? 3 : 1) };
}

// Kinds differ in lightness, chunks in hue. Colours are the style sheet's; legend and canvas share this one rule.
const LIGHT: Record<PassKind, number> = { F: 52, B: 0, W: 84 };
export function fillOf(kind: PassKind, chunk: number, chunks: number): string {
    const far = chunks > 1 ? Math.round((100 * chunk) / (chunks - 1)) : 0;
    return `color-mix(in srgb, white ${LIGHT[kind]}%, color-mix(in srgb, var(--last-chunk) ${far}%, var(--compute)))`;
}
const INK: Record<PassKind, string> = { F: '#0b1d2a', B: '#fff', W: '#0b1d2a' };

const HATCH = 5; // px from one stroke to the next
function hatch(context: CanvasRenderingContext2D, colour: string, ratio: number): CanvasPattern | string {
    const tile = document.createElement('canvas');
    tile.width = tile.height = Math.round(HATCH * ratio);
    const pen = tile.getContext('2d');
    if (!pen) return colour;
    const side = tile.width;
    pen.strokeStyle = colour;
    pen.lineWidth = 1.2 * ratio;
    pen.beginPath();
    for (const shift of [-side, 0, side]) {
        pen.moveTo(shift, side);
        pen.lineTo(shift + side, 0);
    }
    pen.stroke();
    const pattern = context.createPattern(tile, 'repeat');
    pattern?.setTransform(new DOMMatrix().scale(1 / ratio));
    return pattern ?? colour;
}

export interface View {
    from: number; // seconds at the left edge
    to: number;
    width: number; // px
}

export function paint(canvas: HTMLCanvasElement, line: Timeline, { from, to, width }: View, { height, pitch }: Rows): void {
    const ratio = devicePixelRatio || 1;
    const tall = line.stages.length * pitch;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(tall * ratio);
    const pen = canvas.getContext('2d');
    if (!pen || width <= 0) return;
    pen.scale(ratio, ratio);
    const style = getComputedStyle(canvas);
    const colour = (text: string): string => text.replace(/var\((--[\w-]+)\)/g, (_, name: string) => style.getPropertyValue(name).trim());
    const x = (time: number): number => ((time - from) / (to - from)) * width;

    // One path per colour: a change of colour costs more than a rectangle.
    const paths = new Map<string, Path2D>();
    const outlines = new Path2D();
    const labels: [text: string, x: number, y: number, kind: PassKind][] = [];
    pen.font = `${height >= 20 ? 11 : 10}px ${style.fontFamily}`;
    const digit = pen.measureText('0').width;
    pen.fillStyle = hatch(pen, colour('var(--bubble)'), ratio);
    line.stages.forEach((stage, row) => {
        const y = row * pitch;
        for (const [begin, end] of waitsIn(line, stage, from, to)) {
            const left = Math.max(-1, x(begin));
            pen.fillRect(left, y, Math.min(width + 1, x(end)) - left, height);
        }
        const [first, behind] = passesIn(stage, from, to);
        for (let i = first; i < behind; ++i) {
            const kind = stage.kind[i] ?? 'F';
            const [left, right] = [x(stage.start[i] ?? 0), x(stage.end[i] ?? 0)];
            const room = right - left;
            const fill = fillOf(kind, stage.chunk[i] ?? 0, line.chunks);
            const path = paths.get(fill) ?? new Path2D();
            paths.set(fill, path);
            path.rect(left, y, room > 3 ? room - 1 : room, height);
            if (kind === 'W' && room > 4) outlines.rect(left + 0.5, y + 0.5, room - 2, height - 1);
            const { batch, slice, slices } = unitOf(line, stage, i);
            const number = slices ? `${batch}.${slice}` : String(batch);
            const words = room > (number.length + 3) * digit + 6 ? `${kind} ${number}` : number;
            const visible = (Math.max(left, 0) + Math.min(right, width)) / 2;
            if (height >= 14 && room > number.length * digit + 3) labels.push([words, visible - 0.5, y + height / 2, kind]);
        }
    });
    for (const [fill, path] of paths) {
        pen.fillStyle = colour(fill);
        pen.fill(path);
    }
    pen.strokeStyle = colour('var(--compute)');
    pen.lineWidth = 1;
    pen.stroke(outlines);
    pen.textAlign = 'center';
    pen.textBaseline = 'middle';
    for (const [text, at, y, kind] of labels) {
        pen.fillStyle = INK[kind];
        pen.fillText(text, at, y + 0.5);
    }
}
