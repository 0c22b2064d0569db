import { expect, test } from 'vitest';
import type { Timeline, TimelineStage } from '../core/api';
import { clockOf, markText } from './clock';
import { marksBetween, momentAt, mostZoom, moved, passesIn, scrolled, unitOf, waitAfter, waitsIn } from './passes';

const stage = {
    start: [2, 3, 6, 10],
    end: [3, 5, 8, 12],
    kind: ['F', 'F', 'B', 'B'],
    micro_batch: [0, 1, 0, 1],
    chunk: [0, 0, 0, 0],
} as unknown as TimelineStage;
const line = { drawn_seconds: 16, stages: [stage] } as unknown as Timeline;

test('the passes in view are those that touch it', () => {
    expect(passesIn(stage, 0, 16)).toEqual([0, 4]);
    expect(passesIn(stage, 4, 6)).toEqual([1, 3]);
    expect(passesIn(stage, 3, 3)).toEqual([1, 2]);
    expect(passesIn(stage, 8.5, 9.5)).toEqual([3, 3]);
    expect(passesIn(stage, 13, 16)).toEqual([4, 4]);
    expect(passesIn(stage, 0, 1)).toEqual([0, 0]);
});

test('slices of micro-batches are numbered on: which one of which', () => {
    const sliced = { ...stage, micro_batch: [0, 5, 6, 11] };
    const units = (slices: number) => [0, 1, 2, 3].map((pass) => unitOf({ ...line, slices }, sliced, pass));
    expect(units(1).map(({ batch }) => batch)).toEqual([1, 6, 7, 12]);
    expect(units(4).map(({ batch, slice }) => [batch, slice])).toEqual([
        [1, 1],
        [2, 2],
        [2, 3],
        [3, 4],
    ]);
    expect([1, 4].map((slices) => units(slices)[0]?.slices)).toEqual([false, true]);
});

test('a stage works or waits', () => {
    expect([1, 2, 2.9, 3, 5.5, 7, 9, 15].map((time) => momentAt(stage, time))).toEqual([
        { pass: -1, waits: true },
        { pass: 0, waits: false },
        { pass: 0, waits: false },
        { pass: 1, waits: false },
        { pass: 1, waits: true },
        { pass: 2, waits: false },
        { pass: 2, waits: true },
        { pass: 3, waits: true },
    ]);
});

test('waiting lies before, between and after the passes', () => {
    expect([-1, 0, 1, 2, 3].map((pass) => waitAfter(line, stage, pass))).toEqual([
        [0, 2],
        [3, 3],
        [5, 6],
        [8, 10],
        [12, 16],
    ]);
    expect(waitsIn(line, stage, 0, 16)).toEqual([
        [0, 2],
        [5, 6],
        [8, 10],
        [12, 16],
    ]);
    expect(waitsIn(line, stage, 8.5, 9)).toEqual([[8, 10]]);
    expect(waitsIn(line, stage, 6, 8)).toEqual([]);
});

test('zooming keeps what stands at the anchor, within the drawing', () => {
    expect(mostZoom(line)).toBe(4);
    expect(mostZoom({ ...line, stages: [] })).toBe(1);
    expect(scrolled(0, 50, 100, 1, 2)).toBe(50);
    expect(scrolled(50, 50, 100, 2, 4)).toBe(150);
    expect(scrolled(150, 50, 100, 4, 1)).toBe(0);
    expect(scrolled(0, 100, 100, 1, 2)).toBe(100);
});

test('keys lead along a stage, and to what another one does meanwhile', () => {
    const two = { drawn_seconds: 16, stages: [stage, { ...stage, start: [0, 8, 9, 13], end: [1, 9, 13, 16] }] } as Timeline;
    const at = (stage: number, pass: number, waits = false) => ({ stage, pass, waits });
    expect(moved(two, at(0, 1), 'ArrowRight')).toEqual(at(0, 2));
    expect(moved(two, at(0, 3), 'ArrowRight')).toEqual(at(0, 3));
    expect(moved(two, at(0, 0), 'PageUp')).toEqual(at(0, 0));
    expect(moved(two, at(0, 1, true), 'ArrowLeft')).toEqual(at(0, 1));
    expect(moved(two, at(0, -1, true), 'ArrowRight')).toEqual(at(0, 0));
    expect(moved(two, at(0, 1), 'End')).toEqual(at(0, 3));
    expect(moved(two, at(0, 3), 'ArrowDown')).toEqual(at(1, 2));
    expect(moved(two, at(1, 0), 'ArrowUp')).toEqual(at(0, 0)); // before its first pass
    expect(moved(two, at(1, 0), 'ArrowDown')).toEqual(at(1, 0));
    expect(moved(two, at(1, 0), 'x')).toBeNull();
});

test('marks are round, and inside', () => {
    expect(marksBetween(0, 10, 5)).toEqual({ step: 2, marks: [0, 2, 4, 6, 8, 10] });
    expect(marksBetween(3.1, 4.05, 4).marks).toEqual([3.5, 4]);
    expect(marksBetween(5, 5, 4).marks).toEqual([5]);
});

test('points in time are as fine as they differ', () => {
    const written = (seconds: number, longest: number, finest: number) =>
        `${clockOf(longest, finest).text(seconds)} ${clockOf(longest, finest).unit}`;
    expect(written(0.0121, 1, 0.0019)).toBe('12.1 ms');
    expect(written(0.1214, 1, 0.019)).toBe('121 ms');
    expect(written(1.23456, 9, 0.0004)).toBe('1.23456 s');
    expect(written(12.345, 60, 0.3)).toBe('12.35 s');
    expect(written(12.345, 60, 0.0001)).toBe('12.34500 s');
    expect(written(0.5, 1, 0)).toBe('500.000 ms');
    expect(written(5, 9.2, 1)).toBe('5.0 s');
    expect(written(1500, 3600, 60)).toBe('25.0 min');
    expect(written(1500, 3600, 5)).toBe('1,500.0 s');
});

test('marks have the decimals that their steps have', () => {
    expect([markText(5, 1), markText(2.5, 0.5), markText(1234, 2), markText(0.1, 0.05)]).toEqual(['5', '2.5', '1,234', '0.10']);
});
