// One instance of the core in a thread of its own. One message brings the compiled module; every other one is a question, answered under
// the same id. Questions may come before the module.
import type {
    CollectivesRead,
    Fourfold,
    LinksGiven,
    LinksRead,
    LinksRequest,
    Placed,
    PlaceProgress,
    Refusal,
    SearchColumns,
    SearchSummary,
} from './api';
import { choicesOf, type HeatFilter, indexRows, quickestOf } from './heat';
import { instantiate } from './instantiate';
import type { LinkColumns, LinksSaid, Measured } from './types';

export type Call =
    | 'catalog'
    | 'import_config'
    | 'estimate'
    | 'timeline'
    | 'import_plan'
    | 'export_plan'
    | 'search'
    | 'alternatives'
    | 'rank'
    | 'versus'
    | 'limits'
    | 'calibrate'
    | 'read_links'
    | 'measure'
    | 'place';
export interface Question {
    id: number;
    call: Call;
    text: string;
    filter?: HeatFilter;
    said?: LinksSaid; // of a measurement
    links?: LinkColumns; // a measurement that is not in the text
    seconds?: number; // when a placement must be done
}
export type Reply = { id: number; value: unknown } | { id: number; progress: unknown } | { id: number; crash: string } | { lock: string }; // held as long as this thread lives

let start = (_: WebAssembly.Module): void => {};
const core = new Promise<WebAssembly.Module>((resolve) => {
    start = resolve;
}).then(instantiate);
core.catch(() => {}); // every question meets it

function search(fourfold: Fourfold, text: string, filter: HeatFilter) {
    const all = fourfold.search(text);
    const filtered = Object.keys(filter).length > 0;
    const shown = filtered ? fourfold.search(JSON.stringify({ ...JSON.parse(text), ...filter })) : all;
    const { columns } = shown;
    const summary = JSON.parse(shown.summary) as SearchSummary | Refusal;
    return { summary, columns, ...indexRows(columns), quickest: quickestOf(columns), choices: choicesOf(all.columns) };
}

// A measurement as typed or dropped. The page draws the numbers and hands them on.
function measure(fourfold: Fourfold, text: string, said?: LinksSaid): Measured | CollectivesRead | Refusal {
    const request: LinksRequest = { text, ...said };
    const answer = JSON.parse(fourfold.read_links(JSON.stringify(request))) as LinksRead | CollectivesRead | Refusal;
    if (!answer.ok || 'collectives' in answer) return answer;
    const { links, ...facts } = answer;
    const gpus = 'gpus' in links;
    const names = gpus ? links.gpus : links.nodes;
    const column = (rows: (number | null)[][]): Float64Array => {
        const all = new Float64Array(names.length ** 2);
        rows.forEach((row, from) => {
            all.set(
                row.map((value, to) => (from === to ? Number.NaN : (value ?? Number.NaN))),
                from * names.length,
            );
        });
        return all;
    };
    return { ...facts, names, gpus, rates: column(links.gbyte_per_s), latencies: links.latency_us ? column(links.latency_us) : null };
}

const TOLD_MS = 100; // from one word of progress to the next

const movesOf = (progress: string): number => (JSON.parse(progress) as PlaceProgress).moves;

// The core has no clock: it asks whether to go on, and is stopped at the end of its time.
function place(fourfold: Fourfold, { id, text, links, seconds = Number.POSITIVE_INFINITY }: Question): unknown {
    const named: LinksGiven | undefined = links && (links.gpus ? { gpus: links.names } : { nodes: links.names });
    const request = named ? JSON.stringify({ ...JSON.parse(text), links: named }) : text;
    const started = performance.now();
    let told = started;
    let first: { moves: number; at: number } | null = null;
    const goOn = (progress: string): boolean => {
        const now = performance.now();
        first ??= { moves: movesOf(progress), at: now };
        if (now - told >= TOLD_MS) {
            told = now;
            postMessage({ id, progress: JSON.parse(progress) } satisfies Reply);
        }
        return now - started < seconds * 1000;
    };
    const answer = JSON.parse(fourfold.place(request, goOn, links?.rates ?? null, links?.latencies ?? null)) as Placed | Refusal;
    // How fast it goes once a large matrix is read: that takes longer than many moves.
    const begun = first as { moves: number; at: number } | null;
    if (!answer.ok || !begun || !links) return answer;
    return { ...answer, moves_per_s: (answer.moves - begun.moves) / Math.max((performance.now() - begun.at) / 1000, 1e-3) };
}

async function answer(question: Question): Promise<unknown> {
    const { call, text, filter = {}, said } = question;
    const fourfold = await core;
    if (call === 'search') return search(fourfold, text, filter);
    if (call === 'measure') return measure(fourfold, text, said);
    if (call === 'place') return place(fourfold, question);
    return call === 'catalog' ? fourfold.catalog() : fourfold[call](text);
}

// Large columns change hands instead of being copied.
const transferable = (value: unknown): Transferable[] => {
    const { columns, rates, latencies } = value as Partial<LinkColumns> & { columns?: SearchColumns };
    if (rates) return [rates, latencies].flatMap((column) => (column ? [column.buffer as ArrayBuffer] : []));
    return columns ? Object.values(columns as unknown as Record<string, { buffer: ArrayBuffer }>).map((column) => column.buffer) : [];
};

addEventListener('message', async ({ data }: MessageEvent<WebAssembly.Module | Question | null>) => {
    if (data instanceof WebAssembly.Module) return start(data);
    if (typeof data?.id !== 'number') return; // not from the page's own side
    try {
        const value = await answer(data);
        postMessage({ id: data.id, value } satisfies Reply, { transfer: transferable(value) });
    } catch (error) {
        postMessage({ id: data.id, crash: String(error) } satisfies Reply);
    }
});

// The browser gives the lock to the page, which waits for it, when this thread has ended, however that came about: see alive.ts. Without
// locks (an insecure address, a frame of no origin) the page has to go by how long nothing is heard.
function holdLock(): void {
    const lock = `fourfold-${crypto.randomUUID()}`;
    const forever = new Promise<never>(() => {});
    navigator.locks
        .request(lock, () => {
            postMessage({ lock } satisfies Reply);
            return forever;
        })
        .catch(() => {});
}
if ('locks' in navigator && 'randomUUID' in crypto) holdLock();
