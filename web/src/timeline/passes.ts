// Where the passes of a timeline lie: what is in view, what is under a pointer, how zooming moves the view.
import type { Timeline, TimelineStage } from '../core/api';

// Of an ascending list: how many entries are at most `value`.
function atMost(list: number[], value: number): number {
    let [low, high] = [0, list.length];
    while (low < high) {
        const middle = (low + high) >> 1;
        if ((list[middle] ?? 0) <= value) low = middle + 1;
        else high = middle;
    }
    return low;
}

// The passes that touch the time between `from` and `to`: [first, one behind the last).
export function passesIn({ start, end }: TimelineStage, from: number, to: number): [first: number, behind: number] {
    const first = atMost(end, from);
    return [first, Math.max(first, atMost(start, to))];
}

// What a stage does at a time: a pass, or waiting after that pass (-1: before the first one).
export function momentAt({ start, end }: TimelineStage, time: number): { pass: number; waits: boolean } {
    const pass = atMost(start, time) - 1;
    return { pass, waits: pass < 0 || time >= (end[pass] ?? 0) };
}

// The stretch in which a stage waits after a pass (-1: before the first); its length may be nothing.
export function waitAfter({ drawn_seconds }: Timeline, { start, end }: TimelineStage, pass: number): [from: number, to: number] {
    const from = end[pass] ?? 0;
    return [from, Math.max(from, start[pass + 1] ?? drawn_seconds)];
}

// Every stretch of waiting that touches the view.
export function waitsIn(line: Timeline, stage: TimelineStage, from: number, to: number): [from: number, to: number][] {
    const [first, behind] = passesIn(stage, from, to);
    const found: [number, number][] = [];
    for (let pass = first - 1; pass < behind; ++pass) {
        const wait = waitAfter(line, stage, pass);
        if (wait[1] > wait[0] && wait[1] > from && wait[0] < to) found.push(wait);
    }
    return found;
}

// At its largest the longest pass fills half the view.
export function mostZoom({ drawn_seconds, stages }: Timeline): number {
    let longest = 0;
    for (const { start, end } of stages)
        for (let i = 0; i < start.length; ++i) longest = Math.max(longest, (end[i] ?? 0) - (start[i] ?? 0));
    return longest > 0 ? Math.max(1, drawn_seconds / (2 * longest)) : 1;
}

// How far the drawing must be scrolled after zooming, so that what stands at `anchor` pixels of the view stays there.
export function scrolled(left: number, anchor: number, width: number, before: number, after: number): number {
    const most = width * (after - 1);
    return Math.max(0, Math.min(most, ((left + anchor) * after) / before - anchor));
}

// Round marks for a scale between two times, about `wanted` of them, and how far they lie apart.
export function marksBetween(from: number, to: number, wanted: number): { step: number; marks: number[] } {
    const rough = (to - from) / Math.max(1, wanted);
    if (!(rough > 0)) return { step: 1, marks: [from] };
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough * (1 - 1e-9)) ?? 10) * power;
    const first = Math.ceil(from / step - 1e-9);
    const last = Math.floor(to / step + 1e-9);
    return { step, marks: Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => (first + i) * step) };
}

// The micro-batch of a pass, from 1, and the slice of it.
export function unitOf({ slices }: Timeline, stage: TimelineStage, pass: number): { batch: number; slice: number; slices: boolean } {
    const unit = stage.micro_batch[pass] ?? 0;
    return { batch: Math.floor(unit / slices) + 1, slice: (unit % slices) + 1, slices: slices > 1 };
}

// What a reader points at or has moved to.
export interface Place {
    stage: number;
    pass: number;
    waits: boolean; // the time behind that pass
}
export const stageOf = (line: Timeline, index: number): TimelineStage => line.stages[index] as TimelineStage;

export const spanOf = (line: Timeline, { stage, pass, waits }: Place): [from: number, to: number] =>
    waits ? waitAfter(line, stageOf(line, stage), pass) : [stageOf(line, stage).start[pass] ?? 0, stageOf(line, stage).end[pass] ?? 0];

export function middleOf(line: Timeline, place: Place): number {
    const [from, to] = spanOf(line, place);
    return (from + to) / 2;
}

// Where a key leads from a place; null for a key that does not move.
export function moved(line: Timeline, now: Place, key: string): Place | null {
    const last = stageOf(line, now.stage).start.length - 1;
    const along: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10, Home: -last, End: last };
    const across: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const within = (value: number, most: number): number => Math.max(0, Math.min(most, value));
    const step = along[key];
    if (step !== undefined) {
        const back = now.waits && step < 0 ? 1 : 0; // from a wait to the pass before it
        return { ...now, pass: within(now.pass + step + back, last), waits: false };
    }
    const rows = across[key];
    if (rows === undefined) return null;
    const stage = within(now.stage + rows, line.stages.length - 1);
    return { stage, pass: Math.max(0, momentAt(stageOf(line, stage), middleOf(line, now)).pass), waits: false };
}
