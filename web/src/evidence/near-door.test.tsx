import { afterEach, expect, test, vi } from 'vitest';
import { pageOf } from '../shared/test-data';
import { fresh, later, press, settle, show } from '../shared/test-view';

const cancel = vi.fn();
afterEach(() => vi.unstubAllGlobals());

test('until somebody reads the page and the browser is idle, a link stands there; then the runs come', { timeout: 20_000 }, async () => {
    let idle = (): void => {};
    vi.stubGlobal('requestIdleCallback', (go: () => void) => {
        idle = go;
        return 1;
    });
    globalThis.cancelIdleCallback = cancel; // for longer than the test: the view is taken down after it
    const { NearRuns } = await fresh(() => import('./near-door'));
    const { find, text } = show(<NearRuns page={pageOf()} />);
    press(document.body, 'Tab');
    await settle();
    expect(find('link', 'Measured runs like this one').getAttribute('href')).toBe('#evidence');
    idle();
    await expect.poll(text, { timeout: 15_000 }).toMatch(/ measured runs are like this one: /);
});

test('without that call it comes after a while', { timeout: 20_000 }, async () => {
    vi.useFakeTimers();
    vi.stubGlobal('requestIdleCallback', undefined);
    const { NearRuns } = await fresh(() => import('./near-door'));
    const { text } = show(<NearRuns page={pageOf()} />);
    expect(text()).toBe('Measured runs like this one');
    press(document.body, 'Tab');
    await later(2000);
    vi.useRealTimers();
    await expect.poll(text, { timeout: 15_000 }).toMatch(/ measured runs are like this one: /);
});
