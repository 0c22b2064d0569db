// When the module and the example come, and how.
import type { Example } from './types';

const SIGNS = ['pointermove', 'pointerdown', 'keydown', 'scroll', 'focusin', 'dragenter', 'popstate'];
const LATEST_IDLE_MS = 2000;

// With the first sign of a reader, at the latest when the page is loaded and the browser idle; for a link to a run of its own, at once.
// Whoever asked the browser to save data gets it with the first sign only.
export function whenWanted(link: boolean): Promise<void> {
    if (link) return Promise.resolve();
    return new Promise((resolve) => {
        // What happens while the page still comes must not delay it: a browser tells of a mouse that merely rests there, too.
        const sign = (): void => {
            if (document.readyState !== 'complete') addEventListener('load', begin, { once: true });
            else begin();
        };
        const begin = (): void => {
            for (const name of SIGNS) removeEventListener(name, sign);
            resolve();
        };
        for (const name of SIGNS) addEventListener(name, sign, { passive: true });
        const { connection } = navigator as { connection?: { saveData?: boolean } };
        if (!connection?.saveData) addEventListener('load', () => whenIdle(begin), { once: true });
    });
}

export function whenIdle(then: () => void): void {
    if (typeof requestIdleCallback === 'function') requestIdleCallback(then, { timeout: LATEST_IDLE_MS });
    else setTimeout(then, LATEST_IDLE_MS / 10); // Safari
}

// Compiles while it is fetched. A host that serves .wasm under another type, or a line that broke, gets a second, slower try.
export async function compileModule(url: string): Promise<WebAssembly.Module> {
    try {
        return await WebAssembly.compileStreaming(fetch(url));
    } catch {
        const response = await fetch(url);
        if (!response.ok) throw new Error(`${response.status} for ${url}`);
        return WebAssembly.compile(await response.arrayBuffer());
    }
}

export async function fetchExample(url: string): Promise<Example | null> {
    try {
        const response = await fetch(url);
        return response.ok ? await response.json() : null;
    } catch {
        return null;
    }
}
