import './styles/index.css';
import wasmUrl from 'fourfold-core.wasm?url';
import { render } from 'preact';
import { App } from './app';
import { Core, compileModule } from './core';
import { format } from './format';
import { t } from './i18n';
import { summaryOf } from './sentences';
import { formatLink, type Job, type Pin, parseLink } from './state';
import { createStore, emptyPage, type How, MAX_CONFIG, type Page } from './store';
import { fetchMore } from './views/later';

const MOST_PLACERS = 3; // workers that search for a placement; each starts when it is first needed
const LONG_MEASUREMENT = 100_000; // characters: the instance that read it holds some 100 MB and is not kept
const TYPING_MS = 300; // browsers refuse a page that rewrites its address with every key
const root = document.getElementById('app') as HTMLElement;

const SIGNS = ['pointermove', 'pointerdown', 'keydown', 'scroll', 'focusin', 'dragenter', 'popstate'];

// The finished example needs no module: whoever only reads it is spared the download. It comes with the first sign of a reader, and at
// once for a link to a run of its own.
function firstSign(): Promise<void> {
    return new Promise((resolve) => {
        const seen = () => {
            for (const sign of SIGNS) removeEventListener(sign, seen);
            resolve();
        };
        for (const sign of SIGNS) addEventListener(sign, seen, { passive: true });
    });
}

async function start(): Promise<void> {
    if (location.search.length <= 1) await firstSign();
    const module = await compileModule(wasmUrl);
    const createWorker = () => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
    const estimates = new Core(createWorker, module);
    const searches = new Core(createWorker, module);
    // Instances of their own: a search of 30 seconds must not keep a ranking waiting, and its memory goes back with them.
    const others = Math.min(MOST_PLACERS, navigator.hardwareConcurrency - 1);
    const placers = Array.from({ length: Math.max(1, others) }, () => new Core(createWorker, module));
    const measures = new Core(createWorker, module);
    const measure: Core['measure'] = async (text, said) => {
        const read = await measures.measure(text, said);
        if (text.length > LONG_MEASUREMENT) measures.end();
        return read;
    };
    const placing = { measure, placers };
    const catalog = await estimates.catalog();
    const link = parseLink(location.search, catalog);

    let timer = 0;
    const jobChanged = (job: Job, how: How, pins: readonly Pin[]): void => {
        clearTimeout(timer);
        const url = formatLink(job, catalog, pins) + location.hash;
        if (how === 'choose') history.pushState(null, '', url);
        else timer = window.setTimeout(() => history.replaceState(null, '', url), TYPING_MS);
    };
    // Once for all that an event or an answer changed. A view may ask for something while it is being drawn: what follows from that is
    // drawn afterwards, never in between.
    let newest: Page | null = null;
    const draw = (page: Page): void => {
        if (!newest) queueMicrotask(drawNewest);
        newest = page;
    };
    const drawNewest = (): void => {
        const page = newest as Page;
        newest = null;
        // The example stays on the screen until the first answer can take its place.
        if (!page.answer && page.problems.length === 0) return;
        delete document.documentElement.dataset.pending;
        document.title = `${summaryOf(page)} – ${t.name}`;
        render(
            <App
                page={page}
                act={store.actions}
                importConfig={estimates.importConfig}
                timeline={estimates.timeline}
                calibrate={searches.calibrate}
                placing={placing}
            />,
            root,
        );
    };
    const store = createStore(emptyPage(catalog, link.job), { estimates, searches, draw, jobChanged });
    store.restore(link.job);
    store.restorePins(link.pins);
    if (link.unknown.length > 0) store.actions.notify('unknown', link.unknown.join(', '));
    if (link.newer) store.actions.notify('newer');
    if (link.widened) store.actions.notify('widened');

    addEventListener('popstate', () => {
        clearTimeout(timer);
        const { job, pins } = parseLink(location.search, catalog);
        if (formatLink(job, catalog) !== formatLink(store.current().job, catalog)) store.restore(job);
        store.restorePins(pins);
    });
    takeDrops(store.actions);
    for (const sign of ['pointermove', 'pointerdown', 'keydown']) {
        // Whoever needs it asks again, and says so when it cannot be had.
        addEventListener(sign, () => fetchMore().catch(() => {}), { once: true, passive: true });
    }
}

// A file dropped anywhere on the page opens the paste dialog with its text.
function takeDrops(act: ReturnType<typeof createStore>['actions']): void {
    addEventListener('dragover', (event) => event.preventDefault());
    addEventListener('drop', async (event) => {
        event.preventDefault();
        const file = event.dataTransfer?.files[0];
        if (file && file.size > MAX_CONFIG) act.notify('too_large', format.megabytes(file.size));
        else if (file) act.paste(await file.text());
    });
}

start().catch((error: unknown) => {
    // The example stays readable; the reader learns that it is one.
    delete document.documentElement.dataset.pending;
    const notice = document.createElement('p');
    notice.className = 'failed';
    notice.setAttribute('role', 'alert');
    notice.textContent = t.notices.failed;
    document.getElementById('check')?.prepend(notice);
    throw error;
});
