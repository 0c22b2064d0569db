import { afterEach, expect, test, vi } from 'vitest';
import { pageOf } from '../shared/test-data';
import { settle, show } from '../shared/test-view';
import { Evidence } from './door';

afterEach(() => vi.unstubAllGlobals());

test('it comes when the reader comes near, and nothing is calculated before', async () => {
    let near = (_: { isIntersecting: boolean }[]): void => {};
    class Watch {
        constructor(seen: typeof near) {
            near = seen;
        }
        observe = () => {};
        disconnect = () => {};
    }
    vi.stubGlobal('IntersectionObserver', Watch);
    const estimate = vi.fn(() => new Promise<never>(() => {}));
    const { all, names, text } = show(<Evidence page={pageOf()} prover={{ estimate, stop: () => {}, end: () => {} }} />);
    expect(names('heading')).toEqual(['Evidence: measured against estimated']);
    near([{ isIntersecting: false }]);
    await settle();
    expect(text()).toContain('One moment…');
    expect(estimate).not.toHaveBeenCalled();
    near([{ isIntersecting: true }]);
    await expect.poll(() => all('table').length).toBe(4);
    await expect.poll(() => estimate.mock.calls.length).toBe(1);
});
