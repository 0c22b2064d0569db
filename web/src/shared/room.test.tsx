import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Room } from './room';
import { show, tap } from './test-view';

const room = (id: string) => (
    <Room id={id} title="What is here" class="plans">
        <p>All of it</p>
    </Room>
);
const phone = (narrow: boolean) =>
    vi.stubGlobal('matchMedia', () => ({ matches: narrow, addEventListener: vi.fn(), removeEventListener: vi.fn() }));

beforeEach(() => {
    location.hash = '';
});
afterEach(() => vi.unstubAllGlobals());

test('on a wide screen a room is open, and its heading is no button', () => {
    phone(false);
    const { all, text } = show(room('wide'));
    expect(all('button')).toEqual([]);
    expect(text()).toContain('All of it');
});

test('on a phone the heading opens and closes it, and it stays so when it is drawn anew', () => {
    phone(true);
    const first = show(room('narrow'));
    expect(first.text()).not.toContain('All of it');
    expect(first.find('button', 'What is here').getAttribute('aria-expanded')).toBe('false');
    tap(first.find('button', 'What is here'));
    expect(first.text()).toContain('All of it');
    expect(first.find('button', 'What is here').getAttribute('aria-expanded')).toBe('true');
    const again = show(room('narrow'));
    expect(again.text()).toContain('All of it');
    tap(again.find('button', 'What is here'));
    expect(again.text()).not.toContain('All of it');
});

test('a link to it opens it', async () => {
    phone(true);
    const { text } = show(room('linked'));
    expect(text()).not.toContain('All of it');
    location.hash = '#linked';
    dispatchEvent(new Event('hashchange'));
    await vi.waitFor(() => expect(text()).toContain('All of it'));
});

test('so does a link with what stands in it', () => {
    phone(true);
    history.replaceState(null, '', '?gpus=8&phases=1_4096_4096_2');
    expect(show(room('phases')).text()).toContain('All of it');
    expect(show(room('gpus')).text()).not.toContain('All of it'); // a number of the run
    history.replaceState(null, '', location.pathname);
});
