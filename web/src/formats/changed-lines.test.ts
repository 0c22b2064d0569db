import { expect, test } from 'vitest';
import { changedLines } from './changed-lines';

test('lines of only one text, with a sign', () => {
    expect(changedLines('a 1\n  b 2\nc\n', '  a 1\nb 3\nd\nc')).toBe('- b 2\n+ b 3\n+ d');
    expect(changedLines('same\n', 'same')).toBe('');
});
