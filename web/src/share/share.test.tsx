import { afterEach, expect, test, vi } from 'vitest';
import { pageOf } from '../shared/test-data';
import { fresh, settle, show, tap } from '../shared/test-view';

afterEach(() => void vi.unstubAllGlobals());

test('the first press fetches the dialog and its words; closing it gives the focus back', async () => {
    vi.stubGlobal('location', new URL('https://example.org/'));
    const { Share } = await fresh(() => import('./share'));
    const { all, find } = show(<Share page={pageOf()} />);
    const button = find('button', 'Share');
    expect(all('dialog')).toEqual([]);
    tap(button);
    expect(button.getAttribute('aria-busy')).toBe('true');
    await vi.waitFor(() => settle().then(() => find('heading', 'Share this answer')), { timeout: 20_000 });
    expect(button.getAttribute('aria-expanded')).toBe('true');
    tap(find('button', 'Close'));
    expect(all('dialog')).toEqual([]);
    expect(document.activeElement).toBe(button);
});
