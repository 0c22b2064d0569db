// The service worker: keeps one whole build of the page, so that it works without a network. A build is kept only when every file of it
// came with the content that the build has; what is newest on the network always comes first, and no two builds are ever mixed, because
// a page names its files by their content.
declare const FILES: Readonly<Record<string, string>>; // the files of this build and their SHA-256; plugins/offline.ts writes it

const PREFIX = 'fourfold-';
const PAGE = 'index.html';
const PATIENCE_MS = 4000; // for a network that is there and does not answer

interface Extendable extends Event {
    waitUntil(done: Promise<unknown>): void;
}
interface Fetching extends Extendable {
    readonly request: Request;
    respondWith(response: Promise<Response>): void;
}
interface Worker extends EventTarget {
    readonly registration: { readonly scope: string };
    readonly clients: { claim(): Promise<void> };
    skipWaiting(): Promise<void>;
}
const worker = self as unknown as Worker;
const { scope } = worker.registration;
const here = (path: string): string => new URL(path, scope).href;
const own = PREFIX + FILES[PAGE];
const ours = async (): Promise<string[]> => (await caches.keys()).filter((name) => name.startsWith(PREFIX));

async function hashOf(response: Response): Promise<string> {
    const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', await response.clone().arrayBuffer()));
    return btoa(String.fromCharCode(...hash));
}

// In any build that is kept: a name says the content.
async function kept(address: string): Promise<Response | undefined> {
    for (const name of [own, ...(await ours()).reverse()]) {
        const found = await (await caches.open(name)).match(address, { ignoreVary: true });
        if (found) return found;
    }
    return undefined;
}

async function take([path, hash]: [string, string], into: Cache): Promise<void> {
    const address = here(path);
    const before = await kept(address);
    const response = before && (await hashOf(before)) === hash ? before : await fetch(address, { cache: 'no-cache' });
    if (!response.ok || (await hashOf(response)) !== hash) throw new Error(`${path} is of another build`);
    await into.put(address, response);
}

async function takeAll(): Promise<void> {
    const into = await caches.open(own);
    try {
        await Promise.all(Object.entries(FILES).map((file) => take(file, into)));
    } catch (error) {
        await caches.delete(own);
        throw error;
    }
}

// The build before this one stays: a tab may still show it, and open parts of it.
async function clean(): Promise<void> {
    const others = (await ours()).filter((name) => name !== own);
    await Promise.all(others.slice(0, -1).map((name) => caches.delete(name)));
    await worker.clients.claim();
}

async function page(request: Request): Promise<Response> {
    const network = fetch(request);
    const late = new Promise<null>((resolve) => setTimeout(resolve, PATIENCE_MS, null));
    const response = await Promise.race([network, late]).catch(() => null);
    return response?.ok ? response : ((await kept(here(PAGE))) ?? network);
}

function answer(event: Fetching): void {
    const { request } = event;
    const [path = ''] = request.url.split(/[?#]/);
    if (request.method !== 'GET' || !path.startsWith(scope)) return;
    if (request.mode === 'navigate') {
        if (path === scope || path === here(PAGE)) event.respondWith(page(request));
    } else if (path.startsWith(here('assets/'))) event.respondWith(kept(path).then((found) => found ?? fetch(request)));
    else if (path.slice(scope.length) in FILES) event.respondWith(fetch(request).catch(async () => (await kept(path)) ?? Response.error()));
}

worker.addEventListener('install', (event) => (event as Extendable).waitUntil(takeAll()));
worker.addEventListener('activate', (event) => (event as Extendable).waitUntil(clean()));
worker.addEventListener('fetch', (event) => answer(event as Fetching));
// A page asks whether this build is its own, or lets it take over.
worker.addEventListener('message', (event) => {
    const { data, ports } = event as MessageEvent<{ files?: string[]; takeOver?: boolean }>;
    if (data.files) ports[0]?.postMessage(data.files.every((file) => file.slice(scope.length) in FILES));
    if (data.takeOver) worker.skipWaiting();
});
