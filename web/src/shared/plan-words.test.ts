import { expect, test } from 'vitest';
import { besides } from './plan-words';
import { catalog } from './test-data';

test('slices are named where a sequence is cut, and not where it is whole', () => {
    expect(besides(catalog, { token_slices: 1 })).toBe('');
    expect(besides(catalog, { token_slices: 4 })).toBe('4 token slices');
});
