import { afterEach, expect, test } from 'vitest';
import { formatFor } from '../format/format';
import { off } from './off';

afterEach(() => formatFor('en', 'en'));

test('a ratio is told by how far it is from 1', () => {
    expect([1.123, 0.9, 2.5, 1.0004, 0.9996].map(off)).toEqual(['+12\u202f%', '−10\u202f%', '+150\u202f%', '±0\u202f%', '±0\u202f%']);
    formatFor('de', 'en');
    expect(off(1.034)).toBe('+3,4\u202f%');
});
