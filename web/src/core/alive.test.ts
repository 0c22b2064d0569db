import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { watchOver } from './alive';

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
});

test('without locks, only long silence after a question is death', () => {
    let asked = false;
    const dead = vi.fn();
    const alive = watchOver(() => asked, dead);
    vi.advanceTimersByTime(3_600_000);
    expect(dead).not.toHaveBeenCalled();
    asked = true;
    for (let minute = 0; minute < 60; ++minute) {
        vi.advanceTimersByTime(60_000);
        alive.heard();
    }
    expect(dead).not.toHaveBeenCalled();
    vi.advanceTimersByTime(600_000);
    expect(dead).toHaveBeenCalledTimes(1);
});

test('the lock that a worker held is its death, unless the page ended it; silence no longer counts', () => {
    const waiting: (() => void)[] = [];
    vi.stubGlobal('navigator', { locks: { request: async (_: string, given: () => void) => waiting.push(given) } });
    const dead = vi.fn();
    const [one, other] = [watchOver(() => true, dead), watchOver(() => true, dead)];
    one.holds('a');
    other.holds('b');
    vi.advanceTimersByTime(3_600_000);
    expect(dead).not.toHaveBeenCalled();
    other.end();
    for (const give of waiting) give();
    expect(dead).toHaveBeenCalledTimes(1);
});
