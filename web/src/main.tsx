import './page/index.css';
import { render } from 'preact';
import { withKnownModel } from './answer/known-model';
import { fetchBehind } from './answer/later';
import { whenIdle } from './boot/load';
import type { Example } from './boot/types';
import { Core } from './core/client';
import { createThread, secondCode } from './core/thread';
import type { Prover } from './evidence/prove';
import { format } from './format/format';
import type { Asker } from './gpus/market';
import { App } from './page/app';
import { holdSection } from './page/hold';
import { fetchMore } from './page/later';
import type { Phaser } from './phases/ask';
import type { Placing } from './placement/search';
import { titleOf } from './shared/answer-words';
import { speakTo } from './shared/speak-to';
import { type Depth, openingDepth, rememberDepth } from './state/depth';
import { formatLink, type Job, MAX_LOG, type Pin, parseLink } from './state/state';
import { DEPTH_PARAMETER, ROOM_PARAMETERS, withView } from './state/view';
import { emptyPage, type How, type Page } from './store/page';
import { createStore } from './store/store';
import { LANGUAGE_PARAMETER, type Language, rememberLanguage } from './words/language';
import { fetchWords } from './words/words';

const MOST_PLACERS = 4; // workers that search for a placement; each starts when it is first needed
const TYPING_MS = 300; // browsers refuse a page that rewrites its address with every key
const root = document.getElementById('app') as HTMLElement;
const { boot } = window;
type Store = ReturnType<typeof createStore>;

interface Cores {
    estimates: Core;
    searches: Core;
    maps: Core;
    reverse: Core;
    placing: Placing;
    prover: Prover;
    market: Asker;
    phaser: Phaser;
}

// Each starts its thread with its first question; the estimates' is on its way while the module still comes.
function createCores(): Cores {
    const create = (): Core => new Core(createThread, boot.module, secondCode);
    const estimates = create();
    estimates.start();
    const searches = create();
    // Instances of their own: a search of 30 seconds must not keep a ranking waiting, and its memory goes back with them.
    const placers = Array.from({ length: Math.max(1, Math.min(MOST_PLACERS, navigator.hardwareConcurrency - 1)) }, create);
    return {
        estimates,
        searches,
        maps: create(),
        reverse: create(),
        placing: { measure, placers, exportPlan },
        prover: create(),
        market: create(),
        phaser: create(),
    };
}

// Writes the job into the address. A language that came with the link stays in it; so does a depth, or one that the reader chose here.
function createAddress(catalog: Example['catalog']) {
    let timer = 0;
    const given = new URLSearchParams(location.search);
    const view = new Map([LANGUAGE_PARAMETER, DEPTH_PARAMETER].map((name) => [name, given.get(name)] as const));
    const viewed = (link: string): string => {
        const now = new URLSearchParams(location.search);
        const ofRooms = ROOM_PARAMETERS.map((name) => [name, now.get(name)] as const); // their rooms write them
        return [...view, ...ofRooms].reduce((whole, [name, value]) => withView(whole, name, value), link);
    };
    let typed = Number.NEGATIVE_INFINITY; // when the address was last rewritten for typing
    let typing: Element | null = document.body; // the field that is typed into in this step of the history
    addEventListener('focusout', () => {
        if (typing !== document.body) typing = null; // who comes back to the field types anew
    });
    const changed = (job: Job, how: How, pins: readonly Pin[]): void => {
        clearTimeout(timer);
        const before = typing;
        typing = how === 'type' ? document.activeElement : null;
        const url = viewed(formatLink(job, catalog, pins)) + location.hash;
        const replace = (): void => {
            typed = performance.now();
            history.replaceState(null, '', url);
        };
        if (!typing || typing !== before) history.pushState(null, '', url);
        else if (performance.now() - typed > TYPING_MS) replace();
        else timer = window.setTimeout(replace, TYPING_MS);
    };
    const show = (name: string, value: string | null): void => {
        view.set(name, value);
        history.replaceState(history.state, '', viewed(location.search) + location.hash);
    };
    const speaks = (language: Language): void => {
        if (view.get(LANGUAGE_PARAMETER) !== null) show(LANGUAGE_PARAMETER, language);
    };
    const deepened = (depth: Depth): void => {
        rememberDepth(depth);
        show(DEPTH_PARAMETER, depth === 'plain' ? null : depth);
    };
    const follow = (store: Store): void =>
        addEventListener('popstate', () => {
            clearTimeout(timer);
            typing = null;
            const { job, pins } = parseLink(location.search, catalog);
            if (formatLink(job, catalog) !== formatLink(store.current().job, catalog)) store.restore(job);
            store.restorePins(pins);
            // Back from a section, for which the page showed every detail.
            const depth = openingDepth(location);
            if (location.hash === '' && depth !== store.current().depth) store.actions.deepen(depth, false);
        });
    return { changed, follow, speaks, deepened };
}

// When what was just drawn is on the screen, which is a frame after the one that paints it: the threads of what follows would take the
// processor from it. For a page that nobody looks at, at once.
function afterPaint(then: () => void): void {
    if (document.hidden) then();
    else requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(then)));
}

// The buttons of the answer speak of the run above it: pressed before the answer to a change is there, one waits for it.
function holdButtons(job: () => Job) {
    let last = { answer: null, problems: [] } as Pick<Page, 'answer' | 'problems'>;
    let answered: Job | null = null;
    const held = new Set<HTMLButtonElement>();
    const hold = (event: MouseEvent): void => {
        const button = event.target instanceof Element ? event.target.closest<HTMLButtonElement>('#answer button') : null;
        if (!button || job() === answered) return;
        event.stopPropagation();
        event.preventDefault();
        button.setAttribute('aria-busy', 'true');
        held.add(button);
    };
    addEventListener('click', hold, true);
    return {
        drawn(page: Page): void {
            if (page.answer === last.answer && page.problems === last.problems) return;
            last = page;
            answered = page.job;
            queueMicrotask(() => {
                for (const button of held) {
                    held.delete(button);
                    button.removeAttribute('aria-busy');
                    if (button.isConnected) button.click();
                }
            });
        },
    };
}

// What writes a plan, or reads a measurement, comes with the first one.
const exportPlan: Core['exportPlan'] = async (job) => (await import('./formats/reader')).exportPlan(job);
const measure: Core['measure'] = async (text, said) => (await import('./formats/reader')).measure(text, said);

function drawApp(page: Page, { actions }: Store, { estimates, searches, placing, prover, market, phaser }: Cores): void {
    const { importConfig, estimate, alternatives, rank } = estimates;
    document.documentElement.lang = page.language;
    document.documentElement.dataset.depth = page.depth;
    render(
        <App
            page={page}
            act={actions}
            asks={{ importConfig, estimate, alternatives, rank, exportPlan }}
            timeline={estimates.timeline}
            calibrate={searches.calibrate}
            placing={placing}
            prover={prover}
            market={market}
            phaser={phaser}
        />,
        root,
    );
}

// The words for what is wrong with a request, and what stands behind an answer, come when nothing else does, or with the first thing that is
// wrong, which waits for them. Where they cannot be had, it is named by its id.
function createAside(again: () => void) {
    let waits = false;
    let done = false;
    const fetch = async (): Promise<void> => {
        await Promise.all([fetchWords('wrong'), fetchBehind()]).catch(() => {});
        done = true;
        if (waits) again();
        waits = false;
    };
    return {
        fetch,
        isLacking(): boolean {
            if (!done && !waits) {
                waits = true;
                fetch();
            }
            return !done;
        },
    };
}

// Draws once for all that an event or an answer changed. A view may ask for something while it is being drawn: what follows from that is
// drawn afterwards, never in between. `drawn`: for the first time.
function createDrawing(cores: Cores, words: Promise<void>, store: () => Store, drawn: () => void): (page: Page) => void {
    let newest: Page | null = null;
    let speaks = false;
    let first = true;
    const buttons = holdButtons(() => store().current().job);
    const app = (page: Page): void => drawApp(page, store(), cores);
    const draw = (page: Page): void => {
        if (!newest) queueMicrotask(drawNewest);
        newest = page;
    };
    const aside = createAside(() => draw(store().current()));
    const drawNewest = (): void => {
        const page = newest;
        if (!page || !speaks) return; // the words are on their way
        newest = null;
        if (page.problems.length > 0 && aside.isLacking()) return;
        // What was built stays on the screen until the first answer can take its place.
        if (!page.answer && page.problems.length === 0) return;
        document.title = titleOf(page);
        if ((page.ranking.ranked && page.limits) || page.problems.length > 0) delete document.documentElement.dataset.filling;
        buttons.drawn(page);
        if (!first) {
            app(page);
            return;
        }
        first = false;
        boot.ready(() => app(page));
        drawn();
        whenIdle(aside.fetch);
        // The views of every detail come behind the module, the first screen goes without. Who needs one sooner asks again, and says so when
        // it cannot be had.
        if (page.depth === 'detail')
            boot.module()
                .then(fetchMore)
                .catch(() => {});
    };
    words.then(
        () => {
            speaks = true;
            drawNewest();
        },
        () => {}, // start() says so
    );
    return draw;
}

// The parts of a link that nobody reads, and which ones were probably meant: said with what is drawn first, so that nothing moves.
async function saidUnknown(unknown: string[], catalog: Page['catalog'], words: Promise<void>, { notify }: Store['actions']): Promise<void> {
    const { search, hash } = location;
    const { mendedLink, saidParts } = await import('./state/meant-part');
    await Promise.all([words, fetchWords('wrong')]);
    const mended = mendedLink(search, unknown, catalog);
    notify('unknown', saidParts(unknown, catalog), { mended: mended && mended + hash });
}

async function start(): Promise<void> {
    holdSection();
    await boot.wanted;
    const words = speakTo(boot.language);
    const cores = createCores();
    // The example is live before the module is there: its answer was worked out when the page was built.
    const example = await boot.example();
    // A link's comes from the module, for which nobody waits who knows that it cannot be had.
    const catalog = example?.catalog ?? (await Promise.all([cores.estimates.catalog(), boot.module()]))[0];
    const link = parseLink(location.search, catalog);
    const job = await withKnownModel(link.job, catalog);
    const address = createAddress(catalog);
    let drawn = (): void => {};
    const stands = new Promise<void>((resolve) => {
        drawn = resolve;
    });
    const draw = createDrawing(cores, words, () => store, drawn);
    const { answer, alternatives } = example ?? { answer: null, alternatives: null };
    const initial: Page = { ...emptyPage(catalog, job), answer, alternatives, language: boot.language, depth: openingDepth(location) };
    const change = async (language: Language): Promise<void> => {
        await speakTo(language);
        rememberLanguage(language);
        address.speaks(language);
    };
    const store = createStore(initial, {
        ...cores,
        draw,
        shown: afterPaint,
        jobChanged: address.changed,
        speak: change,
        deepened: address.deepened,
    });
    store.restore(job);
    if (job !== link.job) address.changed(job, 'type', link.pins);
    store.restorePins(link.pins);
    if (link.unknown.length > 0)
        await saidUnknown(link.unknown, catalog, words, store.actions).catch(() => store.actions.notify('missing'));
    if (link.newer) store.actions.notify('newer');
    if (link.widened) store.actions.notify('widened');
    address.follow(store);
    takeDrops(store.actions);
    // A link into what the first screen does not show.
    addEventListener('hashchange', () => {
        if (location.hash.length > 1 && !document.getElementById(location.hash.slice(1))) store.actions.deepen('detail', false);
    });
    // The example is there without the module, an answer is not: who says so must come after what the words let draw.
    const module = boot.module();
    module.catch(() => {});
    await words;
    await module;
    await stands; // what is behind its numbers, and what the next visit needs, come behind what this one waits for
    afterPaint(() => {
        cores.searches.catalog(true).then(store.know, () => {});
        stay(store.actions);
    });
}

// The next visit needs no network. Nothing depends on it: where it cannot be had, the page works as it is.
function stay(act: Store['actions']): void {
    const { connection } = navigator as { connection?: { saveData?: boolean } };
    if (import.meta.env.DEV || !('serviceWorker' in navigator) || location.protocol === 'file:' || connection?.saveData) return;
    whenIdle(() =>
        import('./offline/keep').then(({ keepOffline }) => keepOffline((reload) => act.notify('update', '', { reload }))).catch(() => {}),
    );
}

// A file dropped anywhere on the page opens the paste dialog with its text.
function takeDrops(act: Store['actions']): void {
    addEventListener('dragover', (event) => event.preventDefault());
    addEventListener('drop', async (event) => {
        event.preventDefault();
        const file = event.dataTransfer?.files[0];
        if (file && file.size > MAX_LOG) act.notify('too_large', format.megabytes(file.size));
        else if (file) act.paste(await file.text());
    });
}

start().catch((error: unknown) => {
    // The example stays readable; the reader learns that it is one.
    boot.failed();
    throw error;
});
