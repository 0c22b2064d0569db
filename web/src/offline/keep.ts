// The page's side of the service worker (worker.ts): it is registered once the page has all it needs, and a newer build that is whole
// is offered to the reader, never forced.
const HOUR_MS = 3_600_000; // a tab that is looked at again after so long asks whether there is a newer build

// The files that this page was made of.
const filesHere = (): string[] =>
    [...document.querySelectorAll<HTMLScriptElement | HTMLLinkElement>('script[src], link[rel=stylesheet]')]
        .map((element) => ('src' in element ? element.src : element.href))
        .filter((address) => address.includes('/assets/'));

const isOfThisBuild = (waiting: ServiceWorker): Promise<boolean> =>
    new Promise((resolve) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = ({ data }) => resolve(data === true);
        waiting.postMessage({ files: filesHere() }, [port2]);
    });

const reload = (): void => location.reload();

// A build that waits for the tabs of the one before. Of this page's own build it is when the network had it first.
async function look({ waiting }: ServiceWorkerRegistration, offer: (reload: () => void) => void): Promise<void> {
    if (!waiting) return;
    const takeOver = (): void => waiting.postMessage({ takeOver: true });
    if (await isOfThisBuild(waiting)) return takeOver();
    offer(() => {
        if (waiting.state !== 'installed') return reload(); // another tab was first
        navigator.serviceWorker.addEventListener('controllerchange', reload, { once: true });
        takeOver();
    });
}

// `offer` gets what loads the newer build.
export async function keepOffline(offer: (reload: () => void) => void): Promise<void> {
    const registration = await navigator.serviceWorker.register('./sw.js', { updateViaCache: 'none' });
    let asked = performance.now();
    // Another tab has let a newer build take over.
    navigator.serviceWorker.addEventListener('controllerchange', async () => {
        const { controller } = navigator.serviceWorker;
        if (controller && !(await isOfThisBuild(controller))) offer(reload);
    });
    registration.addEventListener('updatefound', () => {
        const { installing } = registration;
        installing?.addEventListener('statechange', () => installing.state === 'installed' && look(registration, offer));
    });
    document.addEventListener('visibilitychange', () => {
        if (document.visibilityState !== 'visible' || performance.now() - asked < HOUR_MS) return;
        asked = performance.now();
        registration.update().catch(() => {}); // no network
    });
    await look(registration, offer);
}
