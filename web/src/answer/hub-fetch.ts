// config.json of a repository of the Hugging Face hub: the one request that leaves the page, after a click that says so.
import { MAX_CONFIG } from '../state/state';
import { configAddress } from './hub-id';

export const PATIENCE_MS = 20_000;

// Why there is none.
export type Failure =
    | 'gated' // its owners give it to people whom they know
    | 'hidden' // no such name, or not for everybody
    | 'no_config' // the repository has no such file
    | 'busy' // too many requests from this address
    | 'status' // another status
    | 'unreachable' // no answer: offline, blocked, or an answer that the browser does not hand on
    | 'slow'
    | 'too_large'
    | 'no_json';

export type Fetched = { ok: true; text: string } | { ok: false; why: Failure; status: number };

const failed = (why: Failure, status = 0): Fetched => ({ ok: false, why, status });

// The hub tells in a header of its own what a status means, and names it among those that a page may read. Without being logged in, a
// name that does not exist is a 401 too, without that header: huggingface_hub, utils/_http.py.
function refusal({ status, headers }: Response): Failure {
    const code = headers.get('X-Error-Code');
    if (code === 'GatedRepo' || (code === null && status === 403)) return 'gated';
    if (code === 'EntryNotFound' || code === 'RevisionNotFound') return 'no_config';
    if (code === 'RepoNotFound' || status === 401 || status === 404) return 'hidden';
    return status === 429 ? 'busy' : 'status';
}

// Null: it is longer than a config may be.
async function textOf(response: Response): Promise<string | null> {
    const reader = response.body?.getReader();
    if (!reader) return '';
    const decoder = new TextDecoder();
    let text = '';
    for (let bytes = 0; ; ) {
        const { done, value } = await reader.read();
        if (done) return text + decoder.decode();
        bytes += value.length;
        if (bytes > MAX_CONFIG) {
            await reader.cancel();
            return null;
        }
        text += decoder.decode(value, { stream: true });
    }
}

function isObject(text: string): boolean {
    try {
        const value: unknown = JSON.parse(text);
        return value !== null && typeof value === 'object' && !Array.isArray(value);
    } catch {
        return false;
    }
}

async function ask(repository: string, signal: AbortSignal): Promise<Fetched> {
    const response = await fetch(configAddress(repository), {
        credentials: 'omit',
        referrerPolicy: 'no-referrer',
        mode: 'cors',
        signal,
    });
    if (!response.ok) return failed(refusal(response), response.status);
    const text = await textOf(response);
    if (text === null) return failed('too_large');
    return isObject(text) ? { ok: true, text } : failed('no_json');
}

// Null: it was stopped.
export async function fetchConfig(repository: string, stop: AbortSignal, patience = PATIENCE_MS): Promise<Fetched | null> {
    const ended = new AbortController();
    const end = (): void => ended.abort();
    stop.addEventListener('abort', end);
    let late = false;
    const timer = setTimeout(() => {
        late = true;
        end();
    }, patience);
    try {
        return await ask(repository, ended.signal);
    } catch {
        if (stop.aborted) return null;
        return failed(late ? 'slow' : 'unreachable');
    } finally {
        clearTimeout(timer);
        stop.removeEventListener('abort', end);
    }
}
