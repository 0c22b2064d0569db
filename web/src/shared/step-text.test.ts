import { expect, test } from 'vitest';
import { stepText } from './step-text';

test('steps of a list have four significant digits', () => {
    expect([1.2345, 12.345, 128.23, 1234.5, 0.04567].map((seconds) => stepText(seconds).replace(/\s/g, ' '))).toEqual([
        '1.235 s',
        '12.35 s',
        '128.2 s',
        '1,235 s',
        '45.67 ms',
    ]);
});
