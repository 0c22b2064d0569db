import { expect, test } from 'vitest';
import { goodOf } from '../shared/test-data';
import { memoryBar } from './bar';

test('a run that fits: the parts follow one another, the card is the whole length', () => {
    const answer = goodOf('estimate', 'default');
    const { parts, card, line } = memoryBar(answer);
    expect([card, line]).toEqual([1, answer.line_share]);
    expect(parts.map(({ group }) => group.id)).toContain('outside');
    for (const [i, part] of parts.entries()) {
        const before = parts[i - 1];
        expect(part.from).toBeCloseTo(before ? before.from + before.width : 0, 12);
        expect(part.width).toBe(part.group.share);
    }
});

test('a run that does not fit is as long as it is: the card ends before it', () => {
    const { parts, card } = memoryBar(goodOf('estimate', 'does-not-fit'));
    const last = parts.at(-1);
    expect(card).toBeLessThan(1);
    expect((last?.from ?? 0) + (last?.width ?? 0)).toBeCloseTo(1 / 1.04, 12);
});
