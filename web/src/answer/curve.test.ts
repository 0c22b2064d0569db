import { expect, test } from 'vitest';
import type { Curve } from '../core/api';
import { passAt, peakOf, readoutOf } from './curve';

const curve: Curve = {
    micro_batches: 2,
    cut: false,
    start: [0, 1, 5, 8],
    end: [1, 2, 7, 10],
    bytes: [10, 20, 21, 11],
    after: [10, 20, 10, 1],
    kind: ['F', 'F', 'B', 'B'],
    micro_batch: [0, 1, 0, 1],
    chunk: [0, 0, 0, 0],
};

test('the pass at a time; while the stage waits, the one before', () => {
    expect([-1, 0, 0.9, 1, 3, 5, 7.5, 8, 99].map((time) => passAt(curve, time))).toEqual([0, 0, 0, 1, 1, 2, 2, 3, 3]);
});

test('the first of the highest passes is the peak, counted from one in words', () => {
    expect(peakOf(curve)).toBe(2);
    expect(peakOf({ ...curve, bytes: [5, 5, 5, 5] })).toBe(0);
    expect(readoutOf(curve, 2)).toBe('Backward pass of micro-batch 1: 0.00\u00a0GB');
    expect(readoutOf({ ...curve, chunk: [0, 1, 0, 1] }, 1)).toBe('Forward pass of micro-batch 2, chunk 2: 0.00\u00a0GB');
});
