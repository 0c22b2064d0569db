import { expect, test } from 'vitest';
import { besides } from './plan-words';
import { catalog } from './test-data';

test('slices are named where a sequence is cut, and not where it is whole', () => {
    expect(besides(catalog, { token_slices: 1 })).toBe('');
    expect(besides(catalog, { token_slices: 4 })).toBe('4 token slices');
});

test('gradients that travel often to fit are named', () => {
    expect(besides(catalog, { sync_each_micro_batch: 'auto' })).toBe('');
    expect(besides(catalog, { sync_each_micro_batch: 'on' })).toBe('send gradients after every micro-batch');
});

test('what the copies share has its short name, where it is not the usual', () => {
    expect(besides(catalog, { zero: 'optimizer' })).toBe('');
    expect(besides(catalog, { zero: 'none' })).toBe('no ZeRO');
    expect(besides(catalog, { zero: 'weights' })).toBe('ZeRO-3');
});
