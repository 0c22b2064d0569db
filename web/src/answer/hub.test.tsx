import { afterEach, expect, test, vi } from 'vitest';
import { settle, show, tap } from '../shared/test-view';
import { FromHub } from './hub';
import type { Failure } from './hub-fetch';

afterEach(() => vi.unstubAllGlobals());

const ID = 'Qwen/Qwen3-8B';
const ASK = 'Send “Qwen/Qwen3-8B” to huggingface.co and get its config.json';

function shown(answer: () => Promise<Response>, allowed = true) {
    const fetch = vi.fn((_: string, init: RequestInit) => {
        const ended = new Promise<never>((_, fail) =>
            init.signal?.addEventListener('abort', () => fail(new DOMException('', 'AbortError'))),
        );
        return Promise.race([answer(), ended]);
    });
    vi.stubGlobal('fetch', fetch);
    const take = vi.fn();
    return { fetch, take, ...show(<FromHub repository={ID} builtIn={null} take={take} allowed={allowed} />) };
}
const refused = (status: number, code?: string) => async () =>
    new Response('', { status, ...(code && { headers: { 'X-Error-Code': code } }) });

test('nothing is asked before the click, which says what it sends and where', async () => {
    const { fetch, find, take, text } = shown(async () => new Response('{"a": 1}'));
    await settle();
    expect(fetch).not.toHaveBeenCalled();
    expect(text()).toContain('sends the name “Qwen/Qwen3-8B” to huggingface.co and nothing else of what you typed');
    tap(find('button', ASK));
    expect(text()).toContain('Asking huggingface.co for config.json of Qwen/Qwen3-8B');
    await vi.waitFor(() => expect(take).toHaveBeenCalledWith('{"a": 1}'));
    expect(fetch).toHaveBeenCalledTimes(1);
});

const FAILURES: readonly [Failure, () => Promise<Response>, string][] = [
    ['gated', refused(401, 'GatedRepo'), 'is gated'],
    ['hidden', refused(401), 'Check the spelling'],
    ['no_config', refused(404, 'EntryNotFound'), 'has no config.json'],
    ['busy', refused(429), 'Wait a few minutes'],
    ['status', refused(503), 'status 503'],
    ['unreachable', () => Promise.reject(new TypeError('Failed to fetch')), 'You may be offline'],
    ['too_large', async () => new Response('x'.repeat(1_000_001)), 'larger than a config can be'],
    ['no_json', async () => new Response('<html>'), 'is not the JSON of a config'],
];

test.each(FAILURES)('%s: why, and the way by hand', async (_, answer, words) => {
    const { find, fetch, take, text } = shown(answer);
    tap(find('button', ASK));
    await vi.waitFor(() => expect(text()).toContain(words));
    expect(text()).toContain('paste it into the field above');
    const link = find<HTMLAnchorElement>('link', 'open config.json on huggingface.co');
    expect([link.href, link.rel]).toEqual(['https://huggingface.co/Qwen/Qwen3-8B/blob/main/config.json', 'noreferrer']);
    expect(take).not.toHaveBeenCalled();
    tap(find('button', 'Ask again'));
    await vi.waitFor(() => expect(fetch).toHaveBeenCalledTimes(2));
});

test('a slow hub can be stopped, and is given up after its time', async () => {
    vi.useFakeTimers();
    const { find, take, text } = shown(() => new Promise(() => {}));
    tap(find('button', ASK));
    tap(find('button', 'Stop asking'));
    expect(find('button', ASK)).toBeTruthy();
    tap(find('button', ASK));
    await vi.advanceTimersByTimeAsync(21_000);
    vi.useRealTimers();
    await vi.waitFor(() => expect(text()).toContain('took too long'));
    expect(take).not.toHaveBeenCalled();
});

test('a model that is built in needs nobody', () => {
    const use = vi.fn();
    const { find, text } = show(<FromHub repository={ID} builtIn={{ label: 'Qwen3 8B', use }} take={() => {}} />);
    expect(text()).toContain('Qwen/Qwen3-8B is built in: Qwen3 8B');
    tap(find('button', 'Use Qwen3 8B'));
    expect(use).toHaveBeenCalledTimes(1);
});

test('where the page may ask nobody, there is only the way by hand', () => {
    const { all, fetch, text } = shown(refused(500), false);
    expect(all('button')).toEqual([]);
    expect(text()).toContain('asks nobody on the network');
    expect(all('link')).toHaveLength(1);
    expect(fetch).not.toHaveBeenCalled();
});
