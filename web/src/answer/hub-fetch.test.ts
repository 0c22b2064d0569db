import { afterEach, expect, test, vi } from 'vitest';
import { MAX_CONFIG } from '../state/state';
import { fetchConfig } from './hub-fetch';

afterEach(() => vi.unstubAllGlobals());

const answering = (body: BodyInit | null, init: ResponseInit = {}) => {
    const fetch = vi.fn(async (_address: string, _init: RequestInit) => new Response(body, init));
    vi.stubGlobal('fetch', fetch);
    return fetch;
};
const asked = (patience?: number) => fetchConfig('Qwen/Qwen3-8B', new AbortController().signal, patience);
const why = async () => {
    const answer = await asked();
    return answer && !answer.ok ? answer.why : answer;
};

test('one request: the name, and neither cookies nor where it comes from', async () => {
    const fetch = answering('{"hidden_size": 4096}');
    expect(await asked()).toEqual({ ok: true, text: '{"hidden_size": 4096}' });
    expect(fetch).toHaveBeenCalledTimes(1);
    const [address, init] = fetch.mock.calls[0] ?? [];
    expect(address).toBe('https://huggingface.co/Qwen/Qwen3-8B/resolve/main/config.json');
    const { signal: _, ...rest } = init as RequestInit;
    expect(rest).toEqual({ credentials: 'omit', referrerPolicy: 'no-referrer', mode: 'cors' });
});

// Statuses and X-Error-Code as the hub gives them to somebody who is not logged in.
test.each([
    [401, 'GatedRepo', 'gated'],
    [403, 'GatedRepo', 'gated'],
    [403, null, 'gated'],
    [401, null, 'hidden'], // "Invalid username or password.": there is no such name, or it is private
    [401, 'RepoNotFound', 'hidden'],
    [404, 'RepoNotFound', 'hidden'],
    [404, null, 'hidden'],
    [404, 'EntryNotFound', 'no_config'],
    [404, 'RevisionNotFound', 'no_config'], // no branch "main"
    [429, null, 'busy'],
    [500, null, 'status'],
    [418, null, 'status'],
])('status %i with %s is "%s"', async (status, code, wanted) => {
    answering('no', { status, headers: code === null ? {} : { 'X-Error-Code': code } });
    expect(await asked()).toEqual({ ok: false, why: wanted, status });
});

test.each(['<html>', '', '[1, 2]', 'null', '"text"', '{'])('%j is no config', async (body) => {
    answering(body);
    expect(await why()).toBe('no_json');
});

test('what is longer than a config may be is not read to its end', async () => {
    const chunk = new Uint8Array(MAX_CONFIG / 4).fill(32);
    let sent = 0;
    const endless = new ReadableStream({
        pull(controller) {
            sent += 1;
            controller.enqueue(chunk);
        },
    });
    answering(endless);
    expect(await why()).toBe('too_large');
    expect(sent).toBeLessThan(8); // five are too many, and a stream reads ahead
    answering(`{"a": "${'x'.repeat(MAX_CONFIG - 9)}"}`); // exactly as long as it may be
    expect((await asked())?.ok).toBe(true);
});

test('no answer: offline, blocked, or not for this page', async () => {
    vi.stubGlobal('fetch', async () => {
        throw new TypeError('Failed to fetch');
    });
    expect(await why()).toBe('unreachable');
});

// A fetch that ends only when it is told to.
const silent = () =>
    vi.stubGlobal(
        'fetch',
        (_: string, { signal }: RequestInit) =>
            new Promise((_, fail) => signal?.addEventListener('abort', () => fail(new DOMException('', 'AbortError')))),
    );

test('after its time it is ended', async () => {
    silent();
    expect(await asked(5)).toEqual({ ok: false, why: 'slow', status: 0 });
});

test('who stops it gets no answer', async () => {
    silent();
    const stop = new AbortController();
    const answer = fetchConfig('Qwen/Qwen3-8B', stop.signal);
    stop.abort();
    expect(await answer).toBe(null);
});
